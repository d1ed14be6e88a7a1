//! `docs-indexer search`: queries from the command line or from a file.
//!
//! In: an index and queries. Out: hits for people, in the form of the server's answer, or one JSON object a query; where
//! it is asked for, with what makes up each score.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::iter;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use docs_index::answer::{self, Found};
use docs_index::{Explanation, Hit, Index, ReadError, SearchRequest, SearchResults};
use serde::{Deserialize, Serialize};

use crate::cli::SearchArgs;
use crate::explain::{self, ExplanationObject};
use crate::output::Output;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<ExplanationObject<'a>>,
}

/// Searches and prints.
///
/// # Errors
/// Where the index is a shard, it or the file of queries cannot be read, or the answers cannot be printed.
pub fn run(arguments: &SearchArgs, output: &mut Output) -> Result<()> {
    let path = &arguments.index;
    let index = open_whole(path)?;
    let request = SearchRequest {
        query: "",
        limit: arguments.k,
        offset: arguments.offset,
        grouped: !arguments.no_group,
        snippet_chars: arguments.snippet_chars,
        path_prefix: arguments.path.as_deref(),
    };
    let search =
        |request: &SearchRequest<'_>| index.search(request).with_context(|| path.display().to_string());
    // One for each hit, or none at all.
    let explain = |request: &SearchRequest<'_>| {
        if arguments.explain {
            index.explain(request).with_context(|| path.display().to_string())
        } else {
            Ok(Vec::new())
        }
    };
    if let Some(file) = &arguments.queries {
        return each_query(file, |line| {
            let request = SearchRequest {
                query: &line.query,
                ..request
            };
            let (results, explanations) = (search(&request)?, explain(&request)?);
            output.json(&answer_line(
                &index,
                Some(&line.id),
                &line.query,
                &results,
                &explanations,
            )?)?;
            Ok(())
        });
    }
    let query = arguments.query.join(" ");
    let request = SearchRequest {
        query: &query,
        ..request
    };
    let (results, explanations) = (search(&request)?, explain(&request)?);
    if arguments.json {
        output.json(&answer_line(&index, None, &query, &results, &explanations)?)?;
        if results.truncated {
            output.note("the query is too long: only its first words were searched");
        }
    } else {
        let found = Found::of(&index, results).with_context(|| path.display().to_string())?;
        // Nobody pays for what people read.
        let answer = answer::search(&found, &request, usize::MAX).text;
        if arguments.explain {
            output.data(&explained(&answer, &found, &request, &explanations))?;
        } else {
            output.data(&answer)?;
        }
    }
    Ok(())
}

/// An answer with what makes up its score below each hit.
fn explained(
    answer: &str,
    found: &Found,
    request: &SearchRequest<'_>,
    explanations: &[Explanation],
) -> String {
    let mut text = String::new();
    let mut rest = answer;
    for (hit, explanation) in found.hits.iter().zip(explanations) {
        let alone = Found {
            hits: vec![hit.clone()],
            ..Found::default()
        };
        let hit = answer::search(&alone, request, usize::MAX).text;
        rest = rest
            .strip_prefix(hit.as_str())
            .unwrap_or(rest)
            .trim_start_matches('\n');
        text.push_str(&hit);
        text.push('\n');
        text.push_str(&explain::for_people(explanation));
        text.push_str("\n\n");
    }
    // What the answer says of the query itself.
    text.push_str(rest);
    text.truncate(text.trim_end().len());
    text
}

/// Opens an index that can be searched: not a shard.
pub(crate) fn open_whole(path: &Path) -> Result<Index> {
    let index = Index::open(path).with_context(|| path.display().to_string())?;
    if let Some((number, count)) = index.summary().shard {
        let path = path.display();
        bail!("{path} is shard {number} of {count}: merge all of them with docs-indexer merge, then search");
    }
    Ok(index)
}

/// The lines of a file of queries; `-` is stdin.
pub(crate) fn open_lines(file: &Path) -> Result<Box<dyn BufRead>> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(file).with_context(|| format!("{} cannot be read", file.display()))?;
    Ok(Box::new(BufReader::new(opened)))
}

/// Calls `answer` for every line of a file of queries.
fn each_query(file: &Path, mut answer: impl FnMut(QueryLine) -> Result<()>) -> Result<()> {
    let shown = file.display();
    for (number, line) in (1..).zip(open_lines(file)?.lines()) {
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
    explanations: &[Explanation],
) -> Result<String> {
    let explanations = explanations.iter().map(Some).chain(iter::repeat(None));
    let hits = results
        .hits
        .iter()
        .zip(explanations)
        .map(|(hit, explanation)| hit_line(index, hit, explanation))
        .collect::<Result<Vec<_>, ReadError>>()?;
    Ok(serde_json::to_string(&AnswerLine { id, query, hits })?)
}

fn hit_line<'a>(
    index: &'a Index,
    hit: &'a Hit,
    explanation: Option<&'a Explanation>,
) -> Result<HitLine<'a>, ReadError> {
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
        explanation: explanation.map(ExplanationObject::from),
    })
}
