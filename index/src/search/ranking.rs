//! Orders scored records and decides which of them are shown.
//!
//! In: scored records in any order. Out: one record for each section, its best part, by descending score, the
//! lower record first where scores are equal. Grouped, the first [`WINDOW`] sections are shown so that at most
//! [`PER_DOCUMENT`] of a document come before those of others, and of sections with the same text only the best
//! is kept. The window is fixed, so that a page of hits does not depend on how many were asked for.

use super::bm25::Scored;
use crate::{
    error::ReadError,
    reader::{DocumentNumber, Index, RecordNumber, TextReader},
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{cmp::Ordering, collections::BinaryHeap, ops::Range};

/// Sections that are grouped; what follows them keeps the order of the scores.
pub(crate) const WINDOW: usize = 100;
/// Sections of one document that come before those of other documents.
const PER_DOCUMENT: usize = 2;

/// Greater is better: a higher score, or the same score and a lower record.
struct ByScore(Scored);

impl PartialEq for ByScore {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByScore {}

impl PartialOrd for ByScore {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByScore {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0
            .score
            .total_cmp(&other.0.score)
            .then(other.0.record.cmp(&self.0.record))
    }
}

/// The records shown, best first: at least `wanted` of them if there are as many.
pub(crate) fn rank(
    index: &Index,
    scored: Vec<Scored>,
    wanted: usize,
    is_grouped: bool,
) -> Result<Vec<Scored>, ReadError> {
    let mut heap: BinaryHeap<ByScore> = scored.into_iter().map(ByScore).collect();
    let mut sections = FxHashSet::default();
    let mut texts = Texts::new(index);
    let mut ranking: Vec<(Scored, DocumentNumber)> = Vec::new();
    let enough = if is_grouped { wanted.max(WINDOW) } else { wanted };
    while ranking.len() < enough
        && let Some(ByScore(best)) = heap.pop()
    {
        let record = index.record(best.record)?;
        if sections.insert(record.first_part())
            && (!is_grouped || texts.is_new(best.record, record.text_checksum, record.text_length)?)
        {
            ranking.push((best, record.document.number));
        }
    }
    if is_grouped {
        ranking = spread(ranking);
    }
    Ok(ranking.into_iter().map(|(scored, _)| scored).collect())
}

/// Moves the sections of a document beyond the first few behind the rest of the window.
fn spread(ranking: Vec<(Scored, DocumentNumber)>) -> Vec<(Scored, DocumentNumber)> {
    let mut counts: FxHashMap<DocumentNumber, usize> = FxHashMap::default();
    let (mut first, mut held, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (place, hit) in ranking.into_iter().enumerate() {
        if place >= WINDOW {
            rest.push(hit);
            continue;
        }
        let count = counts.entry(hit.1).or_default();
        *count += 1;
        if *count <= PER_DOCUMENT {
            first.push(hit);
        } else {
            held.push(hit);
        }
    }
    first.extend(held);
    first.extend(rest);
    first
}

/// The texts met so far, by checksum and length; compared in full where these agree.
struct Texts<'i> {
    reader: TextReader<'i>,
    other: TextReader<'i>,
    seen: FxHashMap<(u32, u32), Vec<RecordNumber>>,
}

impl<'i> Texts<'i> {
    fn new(index: &'i Index) -> Self {
        Self {
            reader: TextReader::new(index),
            other: TextReader::new(index),
            seen: FxHashMap::default(),
        }
    }

    fn is_new(&mut self, record: RecordNumber, checksum: u32, length: u32) -> Result<bool, ReadError> {
        let alike = self.seen.entry((checksum, length)).or_default();
        for &earlier in alike.iter() {
            if self.reader.text(record)? == self.other.text(earlier)? {
                return Ok(false);
            }
        }
        alike.push(record);
        Ok(true)
    }
}

/// The records whose ids begin with `prefix`.
#[derive(Debug)]
pub(crate) struct Scope {
    records: Range<RecordNumber>,
    /// Beginning of the anchor, where the prefix has one.
    anchor: Option<String>,
}

impl Scope {
    /// A prefix is written as ids are: `guide/`, `guide/install.md`, `guide/install.md#lin`.
    pub(crate) fn new(index: &Index, prefix: &str) -> Result<Self, ReadError> {
        let prefix = prefix
            .strip_prefix("./")
            .unwrap_or(prefix)
            .trim_start_matches('/');
        let (path, anchor) = match prefix.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (prefix, None),
        };
        let path = crate::section_id::decode(path);
        let is_whole = anchor.is_some();
        let begin = first_document(index, |other| other < &path[..])?;
        let end = first_document(index, |other| {
            if is_whole {
                other <= &path[..]
            } else {
                other < &path[..] || other.starts_with(&path)
            }
        })?;
        let record_of = |number: DocumentNumber| -> Result<RecordNumber, ReadError> {
            let summary = index.metadata();
            if number == summary.documents {
                Ok(summary.records)
            } else {
                Ok(index.document(number)?.first_record)
            }
        };
        let anchor =
            anchor.map(|anchor| String::from_utf8_lossy(&crate::section_id::decode(anchor)).into_owned());
        Ok(Self {
            records: record_of(begin)?..record_of(end)?,
            anchor,
        })
    }

    /// Whether a record's id begins with the prefix.
    pub(crate) fn holds(&self, index: &Index, record: RecordNumber) -> Result<bool, ReadError> {
        if !self.records.contains(&record) {
            return Ok(false);
        }
        match &self.anchor {
            Some(anchor) => Ok(index.record(record)?.anchor.starts_with(anchor.as_str())),
            None => Ok(true),
        }
    }
}

/// Number of the first document whose path does not lie before.
fn first_document(index: &Index, is_before: impl Fn(&[u8]) -> bool) -> Result<DocumentNumber, ReadError> {
    let (mut low, mut high) = (0, index.metadata().documents);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(index.document(middle)?.path) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_one_document_are_spread() {
        let hit = |record, document| (Scored { record, score: 1.0 }, document);
        let order = |hits: Vec<(Scored, u32)>| -> Vec<u32> {
            spread(hits)
                .into_iter()
                .map(|(scored, _)| scored.record)
                .collect()
        };
        let hits = vec![hit(1, 0), hit(2, 0), hit(3, 0), hit(4, 1), hit(5, 0), hit(6, 2)];
        assert_eq!(order(hits), [1, 2, 4, 6, 3, 5]);
        let hits: Vec<_> = (0..105)
            .map(|record| hit(record, u32::from(record >= 100)))
            .collect();
        assert_eq!(order(hits), (0..105).collect::<Vec<_>>());
    }

    #[test]
    fn equal_scores_are_ordered_by_record() {
        let mut heap: BinaryHeap<ByScore> = [(3, 1.0), (1, 1.0), (2, 2.0)]
            .map(|(record, score)| ByScore(Scored { record, score }))
            .into_iter()
            .collect();
        let order: Vec<_> = std::iter::from_fn(|| heap.pop())
            .map(|best| best.0.record)
            .collect();
        assert_eq!(order, [2, 1, 3]);
    }
}
