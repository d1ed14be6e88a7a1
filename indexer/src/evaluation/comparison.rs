//! Two runs over the same queries, compared query by query.
//!
//! In: a run, and the JSON of an earlier one. Out: the mean difference of each metric and of the tokens spent, how many
//! queries got better and worse, how probable it is that this is chance, and which queries changed most. Queries that
//! only one of the runs has, or that ask something else under the same id, are named and left out.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::metrics::{Metric, PerMetric, Scores};
use super::run::{Evaluation, QueryResult};
use super::statistics::{chance, float, mean};

/// Differences below this are none: the same numbers, summed in another order.
const SAME: f64 = 1e-9;

/// What is read of an earlier run.
#[derive(Debug, Clone, Deserialize)]
pub struct Baseline {
    results: Vec<BaselineResult>,
}

#[derive(Debug, Clone, Deserialize)]
struct BaselineResult {
    id: String,
    query: String,
    #[serde(flatten)]
    scores: Scores,
    tokens_to_section: usize,
}

/// One number before and now.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// Mean over the queries, before.
    pub before: f64,
    /// Mean over the queries, now.
    pub now: f64,
    /// Queries that got better.
    pub better: usize,
    /// Queries that got worse.
    pub worse: usize,
    /// Queries that stayed.
    pub same: usize,
    /// Probability of such a difference by chance.
    pub p: f64,
}

/// A query whose nDCG@10 changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedQuery {
    /// Its id.
    pub id: String,
    /// What is asked.
    pub query: String,
    /// nDCG@10 before.
    pub before: f64,
    /// nDCG@10 now.
    pub now: f64,
}

/// A run beside an earlier one.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Queries that both have.
    pub queries: usize,
    /// Each metric; more is better.
    #[serde(flatten)]
    pub metrics: PerMetric<Change>,
    /// Tokens to the right section; less is better.
    pub tokens_to_section: Change,
    /// Queries whose nDCG@10 changed, the largest change first.
    pub changed: Vec<ChangedQuery>,
    /// Ids that only the earlier run has.
    pub only_before: Vec<String>,
    /// Ids that only this run has.
    pub only_now: Vec<String>,
    /// Ids under which the two runs asked different things.
    pub asked_otherwise: Vec<String>,
}

/// Compares by id; none if no query is in both.
pub fn compare(run: &Evaluation, baseline: &Baseline) -> Option<Comparison> {
    let mut before: HashMap<&str, &BaselineResult> = baseline
        .results
        .iter()
        .map(|result| (result.id.as_str(), result))
        .collect();
    let mut pairs: Vec<(&BaselineResult, &QueryResult)> = Vec::new();
    let (mut only_now, mut asked_otherwise) = (Vec::new(), Vec::new());
    for result in &run.results {
        match before.remove(result.id.as_str()) {
            None => only_now.push(result.id.clone()),
            Some(earlier) if earlier.query != result.query => asked_otherwise.push(result.id.clone()),
            Some(earlier) => pairs.push((earlier, result)),
        }
    }
    if pairs.is_empty() {
        return None;
    }
    let of_metric = |metric: Metric| {
        let values = pairs
            .iter()
            .map(|(before, now)| (*before.scores.get(metric), *now.scores.get(metric)));
        change(&values.collect::<Vec<_>>(), 1.0)
    };
    let tokens = pairs
        .iter()
        .map(|(before, now)| (float(before.tokens_to_section), float(now.cost.tokens_to_section)));
    let mut changed: Vec<ChangedQuery> = pairs
        .iter()
        .map(|(before, now)| ChangedQuery {
            id: now.id.clone(),
            query: now.query.clone(),
            before: before.scores.ndcg_10,
            now: now.scores.ndcg_10,
        })
        .filter(|query| (query.now - query.before).abs() > SAME)
        .collect();
    changed.sort_by(|a, b| {
        (b.now - b.before)
            .abs()
            .total_cmp(&(a.now - a.before).abs())
            .then_with(|| a.id.cmp(&b.id))
    });
    Some(Comparison {
        queries: pairs.len(),
        metrics: PerMetric::from_fn(of_metric),
        tokens_to_section: change(&tokens.collect::<Vec<_>>(), -1.0),
        changed,
        only_before: baseline
            .results
            .iter()
            .filter(|result| before.contains_key(result.id.as_str()))
            .map(|result| result.id.clone())
            .collect(),
        only_now,
        asked_otherwise,
    })
}

/// Pairs of a value before and now; `better` is the sign of a difference for the better.
fn change(pairs: &[(f64, f64)], better: f64) -> Change {
    let differences: Vec<f64> = pairs.iter().map(|(before, now)| now - before).collect();
    let count = |sign: f64| {
        differences
            .iter()
            .filter(|&&difference| difference * sign > SAME)
            .count()
    };
    let (better, worse) = (count(better), count(-better));
    Change {
        before: mean(&pairs.iter().map(|(before, _)| *before).collect::<Vec<_>>()),
        now: mean(&pairs.iter().map(|(_, now)| *now).collect::<Vec<_>>()),
        better,
        worse,
        same: pairs.len() - better - worse,
        p: chance(&differences),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_both_ways() {
        let found = change(&[(0.5, 1.0), (0.5, 0.25), (0.5, 0.5), (0.0, 1.0)], 1.0);
        assert_eq!((found.better, found.worse, found.same), (2, 1, 1));
        assert!((found.before - 0.375).abs() < 1e-12 && (found.now - 0.6875).abs() < 1e-12);
        assert!(found.p > 0.05 && found.p <= 1.0);
        let tokens = change(&[(900.0, 400.0), (100.0, 120.0)], -1.0);
        assert_eq!((tokens.better, tokens.worse, tokens.same), (1, 1, 0));
    }
}
