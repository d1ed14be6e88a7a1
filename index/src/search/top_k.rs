//! Keeps the best records of those that are scored.

use crate::reader::RecordNumber;
use std::cmp::Ordering;

/// A record with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) record: RecordNumber,
    pub(crate) score: f32,
}

impl Scored {
    /// Best first: the higher score, and of equal ones the lower record.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that sorting takes")]
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.record.cmp(&other.record))
    }
}

/// The best records, best first.
#[derive(Debug)]
pub(crate) struct Best {
    pub(crate) list: Vec<Scored>,
    /// Whether there were more than were kept.
    pub(crate) is_cut: bool,
}

/// Keeps the best of what it is given, in memory for twice as many.
#[derive(Debug)]
pub(crate) struct Collector {
    limit: usize,
    list: Vec<Scored>,
    /// The last of the best when they were last sorted out: what is not better than it is out.
    threshold: Option<Scored>,
}

impl Collector {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            list: Vec::new(),
            threshold: None,
        }
    }

    pub(crate) fn push(&mut self, scored: Scored) {
        if self
            .threshold
            .is_some_and(|threshold| threshold.compare(&scored).is_lt())
        {
            return;
        }
        self.list.push(scored);
        if self.list.len() >= self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.list.len() > self.limit {
            let (_, last, _) = self.list.select_nth_unstable_by(self.limit - 1, Scored::compare);
            self.threshold = Some(*last);
            self.list.truncate(self.limit);
        }
    }

    pub(crate) fn finish(mut self) -> Best {
        self.cut();
        self.list.sort_unstable_by(Scored::compare);
        Best {
            is_cut: self.threshold.is_some(),
            list: self.list,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_a_sorted_list(scores in prop::collection::vec(0_u8..20, 0..60), limit in 1_usize..20) {
            let all: Vec<Scored> = (0..)
                .zip(&scores)
                .map(|(record, &score)| Scored { record, score: f32::from(score) })
                .collect();
            let mut collector = Collector::new(limit);
            for &scored in &all {
                collector.push(scored);
            }
            let best = collector.finish();
            let mut expected = all;
            expected.sort_by(Scored::compare);
            prop_assert_eq!(best.is_cut, expected.len() > limit);
            expected.truncate(limit);
            prop_assert_eq!(best.list, expected);
        }
    }
}
