//! A run for people: a table of the metrics, the cost, and what failed.
//!
//! In: a run, and perhaps a comparison. Out: lines of text.

use std::fmt::Write as _;

use super::comparison::{Change, Comparison};
use super::metrics::Metric;
use super::run::{Evaluation, Group, QueryResult};
use super::statistics::Estimate;
use crate::report::{counted, number, on_one_line};

/// Failed queries, and changed ones, that are shown unless all are asked for.
const SHOWN_QUERIES: usize = 10;
/// Hits that are shown in place of the right one.
const SHOWN_HITS: usize = 3;
/// Characters of a query that are shown.
const QUERY_CHARS: usize = 100;

/// The table, the cost lines, and the queries that failed: the first ten, or all.
pub fn run_lines(run: &Evaluation, show_all: bool) -> Vec<String> {
    let mut rows = vec![header()];
    rows.extend(run.types.iter().map(|(kind, group)| row(kind, group)));
    rows.push(row("all", &run.all));
    let mut lines = aligned(&rows);
    lines.push(String::new());
    lines.extend(cost_lines(run));
    let failed: Vec<&QueryResult> = run.results.iter().filter(|result| result.failed()).collect();
    lines.push(String::new());
    if failed.is_empty() {
        lines.push("Every query has a right section among its first five hits.".to_owned());
        return lines;
    }
    lines.push(format!(
        "{} of {} without a right section among the first five hits:",
        failed.len(),
        queries(run.results.len()),
    ));
    let shown = if show_all { failed.len() } else { SHOWN_QUERIES };
    for result in failed.iter().take(shown) {
        lines.extend(failure(result));
    }
    if failed.len() > shown {
        lines.push(format!(
            "… and {} more; --verbose shows all",
            failed.len() - shown
        ));
    }
    lines
}

/// `1 query`, `2 queries`.
pub fn queries(count: usize) -> String {
    let noun = if count == 1 { "query" } else { "queries" };
    format!("{} {noun}", number(count))
}

fn header() -> Vec<String> {
    let names = Metric::ALL.into_iter().map(|metric| metric.name().to_owned());
    ["type", "queries"]
        .map(str::to_owned)
        .into_iter()
        .chain(names)
        .collect()
}

fn row(name: &str, group: &Group) -> Vec<String> {
    let values = Metric::ALL.into_iter().map(|metric| {
        let Estimate { mean, low, high } = group.estimates.get(metric);
        format!("{mean:.3} {low:.2}–{high:.2}")
    });
    [on_one_line(name).into_owned(), group.queries.to_string()]
        .into_iter()
        .chain(values)
        .collect()
}

/// Columns of equal width; the second one, a count, to the right.
fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                // Writing to a String cannot fail.
                let _ = match column {
                    0 => write!(line, "{cell:<width$}"),
                    1 => write!(line, "  {cell:>width$}"),
                    _ => write!(line, "  {cell:<width$}"),
                };
            }
            line.truncate(line.trim_end().len());
            line
        })
        .collect()
}

fn cost_lines(run: &Evaluation) -> [String; 2] {
    let cost = &run.cost;
    let found = run.results.iter().filter(|result| result.cost.in_answer).count();
    [
        format!(
            "search answer, {} with snippets of {}: {:.0} bytes, {:.0} tokens (median {:.0}, {:.0})",
            counted(cost.asking.k, "hit"),
            counted(cost.asking.snippet_chars, "character"),
            cost.answer_bytes.mean,
            cost.answer_tokens.mean,
            cost.answer_bytes.median,
            cost.answer_tokens.median,
        ),
        format!(
            "to the right section: {:.0} tokens (median {:.0}); it is in the answer for {found} of {}",
            cost.tokens_to_section.mean,
            cost.tokens_to_section.median,
            run.results.len(),
        ),
    ]
}

fn failure(result: &QueryResult) -> [String; 3] {
    let kind = result
        .kind
        .as_ref()
        .map_or_else(String::new, |kind| format!(" ({})", on_one_line(kind)));
    let found: Vec<&str> = result
        .hits
        .iter()
        .take(SHOWN_HITS)
        .map(|hit| hit.id.as_str())
        .collect();
    let found = if found.is_empty() {
        "nothing".to_owned()
    } else {
        found.join(" ")
    };
    [
        format!(
            "  {}{kind} {}",
            on_one_line(&result.id),
            shown_query(&result.query)
        ),
        format!("    wanted {}", on_one_line(&result.expect.join(" "))),
        format!("    found  {}", on_one_line(&found)),
    ]
}

fn shown_query(query: &str) -> String {
    let query = on_one_line(query);
    let mut shown: String = query.chars().take(QUERY_CHARS).collect();
    if shown.len() < query.len() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// What changed since the run in `file`.
pub fn comparison_lines(comparison: &Comparison, file: &str, show_all: bool) -> Vec<String> {
    let mut rows = vec![
        [
            "", "queries", "before", "now", "change", "better", "worse", "same", "p",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for metric in Metric::ALL {
        rows.push(change_row(
            metric.name(),
            comparison.queries,
            comparison.metrics.get(metric),
            3,
        ));
    }
    rows.push(change_row(
        "tokens to section",
        comparison.queries,
        &comparison.tokens_to_section,
        0,
    ));
    let mut lines = vec![format!("Against {file}:")];
    lines.extend(aligned(&rows));
    if comparison.changed.is_empty() {
        return lines;
    }
    lines.push(String::new());
    lines.push("Changed most, by ndcg@10:".to_owned());
    let shown = if show_all {
        comparison.changed.len()
    } else {
        SHOWN_QUERIES
    };
    for query in comparison.changed.iter().take(shown) {
        lines.push(format!(
            "  {:+.3} to {:.3}  {} {}",
            query.now - query.before,
            query.now,
            on_one_line(&query.id),
            shown_query(&query.query)
        ));
    }
    if comparison.changed.len() > shown {
        lines.push(format!(
            "… and {} more; --verbose shows all",
            comparison.changed.len() - shown
        ));
    }
    lines
}

fn change_row(name: &str, queries: usize, change: &Change, digits: usize) -> Vec<String> {
    vec![
        name.to_owned(),
        queries.to_string(),
        format!("{:.digits$}", change.before),
        format!("{:.digits$}", change.now),
        format!("{:+.digits$}", change.now - change.before),
        change.better.to_string(),
        change.worse.to_string(),
        change.same.to_string(),
        format!("{:.4}", change.p),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [
            vec!["type".to_owned(), "queries".to_owned(), "m".to_owned()],
            vec!["é".to_owned(), "7".to_owned(), "0.5 0.1–0.9".to_owned()],
        ];
        assert_eq!(aligned(&rows), ["type  queries  m", "é           7  0.5 0.1–0.9"]);
    }

    #[test]
    fn a_query_is_one_short_line() {
        assert_eq!(shown_query("a\nb"), "\"a\\nb\"");
        let long = shown_query(&"é".repeat(101));
        assert!(long.ends_with("é…\"") && long.chars().count() == 103);
    }
}
