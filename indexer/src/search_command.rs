//! `docs-indexer search`: queries from the command line or from a file.
//!
//! In: an index and queries. Out: hits for people, in the form of the server's answer, or one JSON object a query.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use docs_index::{Hit, Index, ReadError, SearchRequest, SearchResults};
use serde::{Deserialize, Serialize};

use crate::cli::SearchArgs;
use crate::output::Output;
use crate::report::on_one_line;

/// A line of a file of queries; its other keys are for other programs.
#[derive(Debug, Deserialize)]
struct QueryLine {
    id: serde_json::Value,
    query: String,
}

/// A line of `search --json`, in the order of its keys.
#[derive(Debug, Serialize)]
struct AnswerLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a serde_json::Value>,
    query: &'a str,
    hits: Vec<HitLine<'a>>,
}

#[derive(Debug, Serialize)]
struct HitLine<'a> {
    id: String,
    path: String,
    heading_path: Vec<&'a str>,
    part: u32,
    line_start: u32,
    line_end: u32,
    score: f32,
    snippet: &'a str,
}

/// Searches and prints.
///
/// # Errors
/// Where the index is a shard, it or the file of queries cannot be read, or the answers cannot be printed.
pub fn run(arguments: &SearchArgs, output: &mut Output) -> Result<()> {
    let path = &arguments.index;
    let index = Index::open(path).with_context(|| path.display().to_string())?;
    if let Some((number, count)) = index.summary().shard {
        let path = path.display();
        bail!("{path} is shard {number} of {count}: merge all of them with docs-indexer merge, then search");
    }
    let search = |query: &str| {
        let request = SearchRequest {
            query,
            limit: arguments.k,
            offset: arguments.offset,
            grouped: !arguments.no_group,
            snippet_chars: arguments.snippet_chars,
            path_prefix: arguments.path.as_deref(),
        };
        index.search(&request).with_context(|| path.display().to_string())
    };
    if let Some(file) = &arguments.queries {
        return each_query(file, |line| {
            let results = search(&line.query)?;
            output.json(&answer_line(&index, Some(&line.id), &line.query, &results)?)?;
            Ok(())
        });
    }
    let query = arguments.query.join(" ");
    let results = search(&query)?;
    if arguments.json {
        output.json(&answer_line(&index, None, &query, &results)?)?;
    } else if results.hits.is_empty() {
        output.data(&no_hits(&results))?;
    } else {
        for (rank, hit) in results.hits.iter().enumerate() {
            if rank > 0 {
                output.data("")?;
            }
            output.data(&hit_for_people(&index, hit)?)?;
        }
    }
    if results.truncated {
        output.note("the query is too long: only its first words were searched");
    }
    Ok(())
}

/// Calls `answer` for every line of a file of queries; `-` is stdin.
fn each_query(file: &Path, mut answer: impl FnMut(QueryLine) -> Result<()>) -> Result<()> {
    let shown = file.display();
    let lines: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(
            File::open(file).with_context(|| format!("{shown} cannot be read"))?,
        ))
    };
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.with_context(|| format!("{shown}:{number} cannot be read"))?;
        if line.trim().is_empty() {
            continue;
        }
        let query = serde_json::from_str(&line)
            .map_err(|error| anyhow!(error))
            .with_context(|| format!("{shown}:{number} is no query; write {{\"id\": …, \"query\": …}}"))?;
        answer(query)?;
    }
    Ok(())
}

fn answer_line(
    index: &Index,
    id: Option<&serde_json::Value>,
    query: &str,
    results: &SearchResults,
) -> Result<String> {
    let hits = results
        .hits
        .iter()
        .map(|hit| hit_line(index, hit))
        .collect::<Result<Vec<_>, ReadError>>()?;
    Ok(serde_json::to_string(&AnswerLine { id, query, hits })?)
}

fn hit_line<'a>(index: &'a Index, hit: &'a Hit) -> Result<HitLine<'a>, ReadError> {
    let record = index.record(hit.record)?;
    Ok(HitLine {
        id: record.id(),
        path: record.document.path_lossy().into_owned(),
        heading_path: record.heading_path()?,
        part: record.part,
        line_start: record.line_start,
        line_end: record.line_end,
        score: hit.score,
        snippet: &hit.snippet,
    })
}

/// `[id] heading path (score)`, and the snippet on a line of its own.
fn hit_for_people(index: &Index, hit: &Hit) -> Result<String, ReadError> {
    let record = index.record(hit.record)?;
    let complete = if hit.complete { ", complete" } else { "" };
    let heading_path = record.heading_path()?.join(" › ");
    let mut text = format!(
        "[{}] {} ({:.1}{complete})",
        record.id(),
        on_one_line(&heading_path),
        hit.score
    );
    if !hit.snippet.is_empty() {
        let _ = write!(text, "\n{}", on_one_line(&hit.snippet));
    }
    Ok(text)
}

fn no_hits(results: &SearchResults) -> String {
    let mut text = "No section matches.".to_owned();
    for unknown in &results.unknown_words {
        let _ = write!(text, "\n{:?} is not in the index", unknown.word);
        if !unknown.nearest.is_empty() {
            let _ = write!(text, "; near it: {}", unknown.nearest.join(", "));
        }
    }
    text
}
