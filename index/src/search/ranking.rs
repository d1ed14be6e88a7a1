//! Orders scored records and decides which of them are shown.
//!
//! In: a query and the records in scope. Out: one record for each section, its best part, by descending score, the
//! lower record first where scores are equal. Grouped, the first [`WINDOW`] sections are shown so that at most
//! [`PER_DOCUMENT`] of a document come before those of others, and of sections with the same text only the best
//! is kept. The window is fixed, so that a page of hits does not depend on how many were asked for.

use super::{
    bm25::{self, Scored},
    query::Query,
    scope::Scope,
};
use crate::{
    error::ReadError,
    reader::{DocumentNumber, Index, RecordNumber},
    text::TextReader,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sections that are grouped; what follows them keeps the order of the scores.
pub(crate) const WINDOW: usize = 100;
/// Sections of one document that come before those of other documents.
const PER_DOCUMENT: usize = 2;

/// The records shown, best first: `wanted` of them and the window, if there are as many.
pub(crate) fn rank(
    index: &Index,
    query: &Query<'_>,
    scope: Option<&Scope>,
    wanted: usize,
    is_grouped: bool,
) -> Result<Vec<Scored>, ReadError> {
    let enough = if is_grouped { wanted.max(WINDOW) } else { wanted };
    // Parts of a section and texts that are there twice take places: some more records than sections, and if
    // those are not enough, many more.
    let mut limit = enough.saturating_mul(2).saturating_add(64);
    loop {
        let best = bm25::best(index, query, scope, limit)?;
        let ranking = merge(index, &best.list, enough, is_grouped)?;
        if ranking.len() == enough || !best.is_cut {
            let ranking = if is_grouped { spread(ranking) } else { ranking };
            return Ok(ranking.into_iter().map(|(scored, _)| scored).collect());
        }
        limit = limit.saturating_mul(8);
    }
}

/// The best part of each section; grouped, the same text once.
fn merge(
    index: &Index,
    best: &[Scored],
    enough: usize,
    is_grouped: bool,
) -> Result<Vec<(Scored, DocumentNumber)>, ReadError> {
    let mut sections = FxHashSet::default();
    let mut texts = Texts::new(index);
    let mut ranking = Vec::with_capacity(enough.min(best.len()));
    for &scored in best {
        if ranking.len() == enough {
            break;
        }
        // Only the table of records is read here: a hundred records are looked at for each that is shown.
        let entry = index.record_entry(scored.record)?;
        let document = entry.document.to_native();
        // A section has a first line of its own, and all its parts have it.
        if sections.insert((document, entry.line_start.to_native()))
            && (!is_grouped
                || texts.is_new(
                    scored.record,
                    entry.text_checksum.to_native(),
                    entry.text_length.to_native(),
                )?)
        {
            ranking.push((scored, document));
        }
    }
    Ok(ranking)
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

/// Texts of the same checksum and length that one is compared with; in honest files they are the same text.
const COMPARED: usize = 4;

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
        for &earlier in alike.iter().take(COMPARED) {
            if self.reader.text(record)? == self.other.text(earlier)? {
                return Ok(false);
            }
        }
        alike.push(record);
        Ok(true)
    }
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
}
