//! How good a ranking is, in five numbers from 0 to 1.
//!
//! In: the grades of a query's hits, best hit first, and of all that is expected. Out: a value of each metric.
//!
//! * nDCG@10: grades discounted by log2(rank + 1), over the best order of what is expected (Järvelin and Kekäläinen 2002,
//!   linear gain).
//! * recall@5 and @10: right hits among the first, over the number of expectations.
//! * MRR@10: one over the rank of the first right hit; 0 after the tenth.
//! * success@1: whether the first hit is right.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::statistics::float;

/// A measure of quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Graded order of the first ten.
    Ndcg10,
    /// Share found among the first five.
    Recall5,
    /// Share found among the first ten.
    Recall10,
    /// How far down the first right hit is.
    Mrr10,
    /// Whether the first hit is right.
    Success1,
}

impl Metric {
    /// All, in the order they are shown.
    pub const ALL: [Self; 5] = [
        Self::Ndcg10,
        Self::Recall5,
        Self::Recall10,
        Self::Mrr10,
        Self::Success1,
    ];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ndcg10 => "ndcg@10",
            Self::Recall5 => "recall@5",
            Self::Recall10 => "recall@10",
            Self::Mrr10 => "mrr@10",
            Self::Success1 => "success@1",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// No metric has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no metric is called {0:?}")]
pub struct UnknownMetric(String);

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(name: &str) -> Result<Self, UnknownMetric> {
        let found = Self::ALL
            .into_iter()
            .find(|metric| metric.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownMetric(name.to_owned()))
    }
}

/// A value for each metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PerMetric<T> {
    /// Of [`Metric::Ndcg10`].
    #[serde(rename = "ndcg@10")]
    pub ndcg_10: T,
    /// Of [`Metric::Recall5`].
    #[serde(rename = "recall@5")]
    pub recall_5: T,
    /// Of [`Metric::Recall10`].
    #[serde(rename = "recall@10")]
    pub recall_10: T,
    /// Of [`Metric::Mrr10`].
    #[serde(rename = "mrr@10")]
    pub mrr_10: T,
    /// Of [`Metric::Success1`].
    #[serde(rename = "success@1")]
    pub success_1: T,
}

/// How good one ranking is.
pub type Scores = PerMetric<f64>;

impl<T> PerMetric<T> {
    /// Made one by one.
    pub fn from_fn(mut value: impl FnMut(Metric) -> T) -> Self {
        Self {
            ndcg_10: value(Metric::Ndcg10),
            recall_5: value(Metric::Recall5),
            recall_10: value(Metric::Recall10),
            mrr_10: value(Metric::Mrr10),
            success_1: value(Metric::Success1),
        }
    }

    /// The value of one.
    pub fn get(&self, metric: Metric) -> &T {
        match metric {
            Metric::Ndcg10 => &self.ndcg_10,
            Metric::Recall5 => &self.recall_5,
            Metric::Recall10 => &self.recall_10,
            Metric::Mrr10 => &self.mrr_10,
            Metric::Success1 => &self.success_1,
        }
    }
}

/// The scores of hits with these grades, where `expected` are the grades of all that is right.
pub fn scores(grades: &[u32], expected: &[u32]) -> Scores {
    let mut ideal = expected.to_vec();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let best = discounted(&ideal);
    let recall = |depth: usize| {
        let right = grades.iter().take(depth).filter(|&&grade| grade > 0).count();
        ratio(float(right), float(expected.len()))
    };
    let first = grades.iter().take(10).position(|&grade| grade > 0);
    Scores {
        ndcg_10: ratio(discounted(grades), best),
        recall_5: recall(5),
        recall_10: recall(10),
        mrr_10: first.map_or(0.0, |rank| 1.0 / float(rank + 1)),
        success_1: if first == Some(0) { 1.0 } else { 0.0 },
    }
}

fn discounted(grades: &[u32]) -> f64 {
    let gains = grades.iter().take(10).enumerate();
    gains
        .map(|(rank, &grade)| f64::from(grade) / float(rank + 2).log2())
        // Not `sum`, whose nothing is -0.
        .fold(0.0, |sum, gain| sum + gain)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, want: f64) -> bool {
        (found - want).abs() < 1e-12
    }

    #[test]
    fn the_numbers_are_those_of_the_definitions() {
        let log2_3 = 3.0_f64.log2();
        let cases: &[(&[u32], &[u32], [f64; 5])] = &[
            (&[1], &[1], [1.0; 5]),
            (&[], &[1], [0.0; 5]),
            (&[0; 10], &[1], [0.0; 5]),
            // Right at rank 2: 1 / log2(3).
            (&[0, 1], &[1], [1.0 / log2_3, 1.0, 1.0, 0.5, 0.0]),
            // Right at rank 3 of two expected: (1 / log2(4)) / (1 + 1 / log2(3)).
            (
                &[0, 0, 1],
                &[1, 1],
                [0.5 / (1.0 + 1.0 / log2_3), 0.5, 0.5, 1.0 / 3.0, 0.0],
            ),
            // The lesser first: (1 + 2 / log2(3)) / (2 + 1 / log2(3)).
            (
                &[1, 2],
                &[2, 1],
                [(1.0 + 2.0 / log2_3) / (2.0 + 1.0 / log2_3), 1.0, 1.0, 1.0, 1.0],
            ),
            // Rank 6 is in recall@10 alone: 1 / log2(7).
            (
                &[0, 0, 0, 0, 0, 3],
                &[3],
                [1.0 / 7.0_f64.log2(), 0.0, 1.0, 1.0 / 6.0, 0.0],
            ),
            // Rank 11 is nowhere.
            (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], &[1], [0.0; 5]),
        ];
        for (grades, expected, want) in cases {
            let found = scores(grades, expected);
            for (metric, want) in Metric::ALL.into_iter().zip(want) {
                assert!(
                    close(*found.get(metric), *want) && found.get(metric).is_sign_positive(),
                    "{metric} of {grades:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn the_best_order_is_that_of_ten() {
        // Eleven expected, ten right hits: nothing better can be shown.
        assert!(close(scores(&[1; 10], &[1; 11]).ndcg_10, 1.0));
        assert!(close(scores(&[1; 10], &[1; 11]).recall_10, 10.0 / 11.0));
    }

    #[test]
    fn names_lead_to_metrics() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
            assert_eq!(metric.name().to_uppercase().parse(), Ok(metric));
        }
        assert_eq!(
            "recall@3".parse::<Metric>().unwrap_err().to_string(),
            "no metric is called \"recall@3\""
        );
        let names = PerMetric::from_fn(Metric::name);
        let json = serde_json::to_string(&names).unwrap();
        for metric in Metric::ALL {
            assert!(json.contains(&format!("\"{metric}\":\"{metric}\"")), "{json}");
        }
    }
}
