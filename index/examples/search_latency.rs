//! Measures searches in process: `cargo run --release --example search_latency -- docs.idx queries.txt [rounds]`.
//!
//! In: an index and a file with one query a line. Out: a line of figures in microseconds, of each query's fastest round:
//! a search for five hits with snippets and without, and the median of the first round, in which no text has been read
//! and kept yet. Rounds go through all queries, so that no query is measured on caches that only it has warmed.

use docs_index::{Index, SearchRequest};
use std::{error::Error, path::Path, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [index, queries, rest @ ..] = &arguments[..] else {
        return Err("give an index and a file of queries, one a line".into());
    };
    let rounds: usize = rest.first().map_or(Ok(5), |rounds| rounds.parse())?;
    let index = Index::open(Path::new(index))?;
    let text = std::fs::read_to_string(queries)?;
    let queries: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    for snippet_chars in [200, 0] {
        let mut fastest = vec![f64::INFINITY; queries.len()];
        let mut first = Vec::new();
        for _ in 0..rounds.max(1) {
            for (query, fastest) in queries.iter().zip(&mut fastest) {
                let request = SearchRequest {
                    snippet_chars,
                    ..SearchRequest::new(query)
                };
                let began = Instant::now();
                index.search(&request)?;
                *fastest = fastest.min(began.elapsed().as_secs_f64() * 1e6);
            }
            if first.is_empty() {
                first.clone_from(&fastest);
                first.sort_by(f64::total_cmp);
            }
        }
        fastest.sort_by(f64::total_cmp);
        let at = |share: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a place in a short list"
            )]
            let place = ((fastest.len() as f64 - 1.0) * share).round() as usize;
            fastest[place]
        };
        #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
        let mean = fastest.iter().sum::<f64>() / fastest.len() as f64;
        println!(
            "{} queries, snippets of {snippet_chars}: mean {mean:.0} µs, median {:.0}, p90 {:.0}, p99 {:.0}, slowest {:.0}; first round {:.0}",
            queries.len(),
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0),
            first.get(queries.len() / 2).copied().unwrap_or_default(),
        );
    }
    Ok(())
}
