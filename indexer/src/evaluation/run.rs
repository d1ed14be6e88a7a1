//! One run: every golden query asked of an index and judged.
//!
//! In: an index and golden queries. Out: the results of each, and what they come to together, all and by type. Queries are
//! asked in parallel; results stand in the order of the file.

use std::collections::BTreeMap;

use docs_index::{Index, ReadError, SearchRequest};
use rayon::prelude::*;
use serde::Serialize;

use super::cost::{Asking, Cost, cost};
use super::golden::GoldenQuery;
use super::judgement::{Documents, Gain, JUDGED_HITS, Spot};
use super::metrics::{PerMetric, Scores, scores};
use super::statistics::{Estimate, Middle, estimate, float, mean, middle};

/// Hits of a query that are kept to be looked at.
const KEPT_HITS: usize = 10;

/// What came of one query.
#[derive(Debug, Clone, Serialize)]
pub struct QueryResult {
    /// Its id in the golden file.
    pub id: String,
    /// What was asked.
    pub query: String,
    /// Its type, if it has one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How good the ranking is.
    #[serde(flatten)]
    pub scores: Scores,
    /// What an agent spends on it.
    #[serde(flatten)]
    pub cost: Cost,
    /// What is expected, as places of the docs tree.
    pub expect: Vec<String>,
    /// The first ten of the ranking as it was judged.
    pub hits: Vec<JudgedHit>,
}

impl QueryResult {
    /// Whether none of the first five hits is right.
    pub fn failed(&self) -> bool {
        self.scores.recall_5 == 0.0
    }
}

/// A hit and what it earned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedHit {
    /// Section id.
    pub id: String,
    /// Grade of what it meets; 0 if it is not right.
    pub grade: u32,
}

/// A place that is expected and that the index does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingPlace {
    /// The query's id.
    pub id: String,
    /// Line of the golden file.
    pub line: usize,
    /// The place as it is shown.
    pub place: String,
}

/// Several queries together.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Group {
    /// How many.
    pub queries: usize,
    /// The mean of each metric, with its interval.
    #[serde(flatten)]
    pub estimates: PerMetric<Estimate>,
}

/// What the queries cost together.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CostSummary {
    /// How the server was asked.
    #[serde(flatten)]
    pub asking: Asking,
    /// Bytes of a search answer.
    pub answer_bytes: Middle,
    /// Tokens of a search answer.
    pub answer_tokens: Middle,
    /// Tokens until the right section was read.
    pub tokens_to_section: Middle,
    /// Share of queries whose answer had the right section.
    pub in_answer: f64,
}

/// A whole run.
#[derive(Debug, Clone, Serialize)]
pub struct Evaluation {
    /// Names what is in the index.
    pub content_hash: String,
    /// All queries.
    pub all: Group,
    /// Queries of each type, where there are types; those without one are under `-`.
    pub types: BTreeMap<String, Group>,
    /// What it costs to ask.
    pub cost: CostSummary,
    /// What is expected in vain.
    pub missing: Vec<MissingPlace>,
    /// Each query, in the order of the golden file.
    pub results: Vec<QueryResult>,
}

/// Asks and judges.
///
/// # Errors
/// [`ReadError::Damaged`].
pub fn evaluate(index: &Index, queries: &[GoldenQuery], asking: Asking) -> Result<Evaluation, ReadError> {
    let documents = Documents::of(index)?;
    let judged = queries
        .par_iter()
        .map(|query| judge(index, &documents, query, asking))
        .collect::<Result<Vec<_>, ReadError>>()?;
    let (results, missing): (Vec<_>, Vec<_>) = judged.into_iter().unzip();
    let mut by_type: BTreeMap<&str, Vec<&QueryResult>> = BTreeMap::new();
    for result in &results {
        by_type
            .entry(result.kind.as_deref().unwrap_or("-"))
            .or_default()
            .push(result);
    }
    if results.iter().all(|result| result.kind.is_none()) {
        by_type.clear();
    }
    Ok(Evaluation {
        content_hash: index.summary().content_hash,
        all: group(&results.iter().collect::<Vec<_>>()),
        types: by_type
            .into_iter()
            .map(|(kind, results)| (kind.to_owned(), group(&results)))
            .collect(),
        cost: cost_summary(&results, asking),
        missing: missing.into_iter().flatten().collect(),
        results,
    })
}

fn judge(
    index: &Index,
    documents: &Documents<'_>,
    query: &GoldenQuery,
    asking: Asking,
) -> Result<(QueryResult, Vec<MissingPlace>), ReadError> {
    let judgement = documents.judgement(query)?;
    let bare = SearchRequest {
        limit: JUDGED_HITS,
        grouped: false,
        snippet_chars: 0,
        ..SearchRequest::new(&query.query)
    };
    let mut spots = Vec::new();
    let mut ids = Vec::new();
    for hit in index.search(&bare)?.hits {
        let record = index.record(hit.record)?;
        spots.push(Spot::of(&record));
        ids.push(record.id());
    }
    let gains = judgement.gains(&spots);
    let grades: Vec<u32> = gains.iter().map(|gain| gain.grade).collect();
    let hits = gains.iter().take(KEPT_HITS).filter_map(|&Gain { hit, grade }| {
        let id = ids.get(hit)?.clone();
        Some(JudgedHit { id, grade })
    });
    let missing = judgement.missing.iter().map(|place| MissingPlace {
        id: query.id.clone(),
        line: query.line,
        place: place.to_string(),
    });
    let result = QueryResult {
        id: query.id.clone(),
        query: query.query.clone(),
        kind: query.kind.clone(),
        scores: scores(&grades, &judgement.grades()),
        cost: cost(index, &query.query, asking, &judgement)?,
        expect: query.expect.iter().map(|e| e.place.to_string()).collect(),
        hits: hits.collect(),
    };
    Ok((result, missing.collect()))
}

fn group(results: &[&QueryResult]) -> Group {
    let estimates = PerMetric::from_fn(|metric| {
        let values: Vec<f64> = results.iter().map(|result| *result.scores.get(metric)).collect();
        estimate(&values)
    });
    Group {
        queries: results.len(),
        estimates,
    }
}

fn cost_summary(results: &[QueryResult], asking: Asking) -> CostSummary {
    let counts = |count: fn(&Cost) -> usize| -> Middle {
        middle(
            &results
                .iter()
                .map(|result| count(&result.cost))
                .collect::<Vec<_>>(),
        )
    };
    let in_answer: Vec<f64> = results
        .iter()
        .map(|result| float(usize::from(result.cost.in_answer)))
        .collect();
    CostSummary {
        asking,
        answer_bytes: counts(|cost| cost.answer_bytes),
        answer_tokens: counts(|cost| cost.answer_tokens),
        tokens_to_section: counts(|cost| cost.tokens_to_section),
        in_answer: mean(&in_answer),
    }
}
