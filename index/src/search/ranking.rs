//! Orders scored records and decides which of them are shown.
//!
//! In: a query and the records in scope. Out: one record for each section, its best part, best first. The first
//! [`WINDOW`] sections by the first stage are re-ordered by the second; what follows keeps its order. Where the query has
//! phrases, sections without them are left out, unless none has them all. Grouped, at most [`PER_DOCUMENT`] sections of a
//! document come before those of others, and of sections with the same text only the best is kept. The window is fixed,
//! so that a page of hits does not depend on how many were asked for.

use super::{
    bm25::{self, Context},
    phrase::Phrase,
    query::Query,
    scope::Scope,
    second_stage::{self, Evidence},
    top_k::Scored,
};
use crate::{
    error::ReadError,
    reader::{DocumentNumber, Index, RecordNumber},
    text::TextReader,
};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// Sections that are re-ordered and grouped; what follows them keeps the order of the scores.
pub(crate) const WINDOW: usize = 100;
/// Sections of one document that come before those of other documents.
const PER_DOCUMENT: usize = 2;
/// Sections whose text is searched for the phrases of a query.
const PHRASE_CANDIDATES: usize = 400;

/// The records shown.
#[derive(Debug)]
pub(crate) struct Ranking {
    /// Best first.
    pub(crate) list: Vec<Evidence>,
    /// All of them have all phrases of the query.
    pub(crate) has_phrases: bool,
}

/// The records shown, best first: `wanted` of them and the window, if there are as many.
pub(crate) fn rank(
    index: &Index,
    context: &Context<'_>,
    query: &Query<'_>,
    scope: Option<&Scope>,
    wanted: usize,
    is_grouped: bool,
) -> Result<Ranking, ReadError> {
    let walk = Walk {
        index,
        context,
        query,
        scope,
    };
    if !query.phrases.is_empty() {
        let sections = walk.with_phrases()?;
        if !sections.is_empty() {
            let list = walk.order(&sections, is_grouped)?;
            return Ok(Ranking {
                list,
                has_phrases: true,
            });
        }
    }
    let mut enough = wanted.max(WINDOW);
    loop {
        let (sections, is_cut) = walk.sections(enough, false)?;
        let list = walk.order(&sections, is_grouped)?;
        // Texts that are there twice leave fewer than there could be.
        if list.len() >= wanted || !is_cut {
            return Ok(Ranking {
                list,
                has_phrases: query.phrases.is_empty(),
            });
        }
        enough = enough.saturating_mul(4);
    }
}

struct Walk<'w> {
    index: &'w Index,
    context: &'w Context<'w>,
    query: &'w Query<'w>,
    scope: Option<&'w Scope>,
}

impl Walk<'_> {
    /// The best part of each of the best sections, `enough` of them if there are as many, and whether there are more.
    fn sections(
        &self,
        enough: usize,
        required: bool,
    ) -> Result<(Vec<(Scored, DocumentNumber)>, bool), ReadError> {
        // Parts of a section take places: some more records than sections, and if those are not enough, many more.
        let mut limit = enough.saturating_mul(2).saturating_add(64);
        loop {
            let best = bm25::best(self.index, self.context, self.query, self.scope, required, limit)?;
            let sections = self.merge(&best.list, enough)?;
            let is_full = sections.len() == enough;
            if is_full || !best.is_cut {
                return Ok((sections, is_full));
            }
            limit = limit.saturating_mul(8);
        }
    }

    /// The best part of each section.
    fn merge(&self, best: &[Scored], enough: usize) -> Result<Vec<(Scored, DocumentNumber)>, ReadError> {
        let mut seen = FxHashSet::with_capacity_and_hasher(enough.min(best.len()), FxBuildHasher);
        let mut sections = Vec::with_capacity(enough.min(best.len()));
        for &scored in best {
            if sections.len() == enough {
                break;
            }
            let entry = self.index.record_entry(scored.record)?;
            let document = entry.document.to_native();
            // A section has a first line of its own, and all its parts have it.
            if seen.insert((document, entry.line_start.to_native())) {
                sections.push((scored, document));
            }
        }
        Ok(sections)
    }

    /// The best sections in whose text all phrases stand.
    fn with_phrases(&self) -> Result<Vec<(Scored, DocumentNumber)>, ReadError> {
        let phrases: Vec<Phrase> = self
            .query
            .phrases
            .iter()
            .filter_map(|phrase| Phrase::new(phrase))
            .collect();
        let (mut sections, _) = self.sections(PHRASE_CANDIDATES, true)?;
        let mut texts = TextReader::new(self.index);
        let mut failure = None;
        sections.retain(|(scored, _)| {
            let mut stands = || -> Result<bool, ReadError> {
                let entry = self.index.record_entry(scored.record)?;
                let heading = self.index.record_strings(entry)?.heading;
                let text = texts.text(scored.record)?;
                Ok(phrases
                    .iter()
                    .all(|phrase| phrase.stands_in(text) || phrase.stands_in(heading)))
            };
            stands().unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
        });
        failure.map_or(Ok(sections), Err)
    }

    /// Re-orders the window, and groups it if asked to.
    fn order(
        &self,
        sections: &[(Scored, DocumentNumber)],
        is_grouped: bool,
    ) -> Result<Vec<Evidence>, ReadError> {
        let (window, rest) = sections.split_at(sections.len().min(WINDOW));
        let mut list = second_stage::rerank(self.index, self.context, self.query, window)?;
        // What follows the window stands lower, whatever its page would have added to others.
        let lowest = list.last().map_or(f32::INFINITY, |evidence| evidence.total);
        list.extend(rest.iter().map(|&(scored, document)| {
            let evidence = Evidence::of_first_stage(scored, document);
            Evidence {
                total: evidence.total.min(lowest),
                ..evidence
            }
        }));
        if !is_grouped {
            return Ok(list);
        }
        let mut texts = Texts::new(self.index, list.len());
        let mut distinct = Vec::with_capacity(list.len());
        for evidence in list {
            if texts.is_new(evidence.record)? {
                distinct.push(evidence);
            }
        }
        Ok(spread(distinct))
    }
}

/// Moves the sections of a document beyond the first few behind the rest of the window.
fn spread(ranking: Vec<Evidence>) -> Vec<Evidence> {
    let mut counts: FxHashMap<DocumentNumber, usize> = FxHashMap::default();
    let (mut first, mut held, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (place, hit) in ranking.into_iter().enumerate() {
        if place >= WINDOW {
            rest.push(hit);
            continue;
        }
        let count = counts.entry(hit.document).or_default();
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
    index: &'i Index,
    reader: TextReader<'i>,
    other: TextReader<'i>,
    /// The first of each, and the others that agree with it.
    seen: FxHashMap<(u32, u32), (RecordNumber, Vec<RecordNumber>)>,
}

impl<'i> Texts<'i> {
    fn new(index: &'i Index, count: usize) -> Self {
        Self {
            index,
            reader: TextReader::new(index),
            other: TextReader::new(index),
            seen: FxHashMap::with_capacity_and_hasher(count, FxBuildHasher),
        }
    }

    fn is_new(&mut self, record: RecordNumber) -> Result<bool, ReadError> {
        // Only the table of records is read here: a hundred records are looked at for each that is shown.
        let entry = self.index.record_entry(record)?;
        let key = (entry.text_checksum.to_native(), entry.text_length.to_native());
        let Some((first, others)) = self.seen.get_mut(&key) else {
            self.seen.insert(key, (record, Vec::new()));
            return Ok(true);
        };
        for &earlier in std::iter::once(&*first).chain(&*others).take(COMPARED) {
            if self.reader.text(record)? == self.other.text(earlier)? {
                return Ok(false);
            }
        }
        others.push(record);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_one_document_are_spread() {
        let hit = |record, document| Evidence::of_first_stage(Scored { record, score: 1.0 }, document);
        let order = |hits: Vec<Evidence>| -> Vec<u32> {
            spread(hits).into_iter().map(|evidence| evidence.record).collect()
        };
        let hits = vec![hit(1, 0), hit(2, 0), hit(3, 0), hit(4, 1), hit(5, 0), hit(6, 2)];
        assert_eq!(order(hits), [1, 2, 4, 6, 3, 5]);
        let hits: Vec<_> = (0..105)
            .map(|record| hit(record, u32::from(record >= 100)))
            .collect();
        assert_eq!(order(hits), (0..105).collect::<Vec<_>>());
    }
}
