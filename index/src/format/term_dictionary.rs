//! The term dictionary: from a term to its posting lists.
//!
//! Region TERM is a finite-state transducer of the crate `fst` over the terms' UTF-8 bytes in byte order; the
//! value of a term is the place in region POST of its entry: section frequency, counts and lengths, then the
//! list of records and the list of documents. Spec chapters 8 and 9.
//!
//! The crate trusts the bytes it reads: a damaged transducer makes it panic (no memory is harmed). Such a
//! panic is caught here and becomes an error.

use super::{
    layout::Tag,
    postings::{DOCUMENT_FIELDS, PostingList, RECORD_FIELDS},
    varint,
};
use crate::error::ReadError;
use fst::{Automaton, IntoStreamer as _, Map, MapBuilder, Streamer as _, automaton::AlwaysMatch};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Terms that an automaton is asked for at most.
const ACCEPTED_LIMIT: usize = 1000;

/// Steps that an automaton may take through the dictionary, for all terms it accepts.
const STEP_LIMIT: u32 = 500_000;
/// Steps from one term to the next when all are visited.
const STEP_LIMIT_PER_TERM: u32 = 4096;
/// Bytes of the longest term that is read.
const DEPTH_LIMIT: u32 = 1024;

/// Keeps an automaton within bounds: a damaged transducer can have circles, and more ways than can be gone.
struct Bounded<'b, A> {
    inner: A,
    /// Steps left.
    budget: &'b Cell<u32>,
}

impl<A: Automaton> Automaton for Bounded<'_, A> {
    type State = (A::State, u32);

    fn start(&self) -> Self::State {
        (self.inner.start(), 0)
    }

    fn is_match(&self, state: &Self::State) -> bool {
        self.inner.is_match(&state.0)
    }

    fn can_match(&self, state: &Self::State) -> bool {
        state.1 < DEPTH_LIMIT && self.budget.get() > 0 && self.inner.can_match(&state.0)
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        self.budget.set(self.budget.get().saturating_sub(1));
        (self.inner.accept(&state.0, byte), state.1.saturating_add(1))
    }
}

/// What region POST has for one term.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermEntry<'a> {
    /// Number of records that have the term in their own text: heading or body.
    pub(crate) section_frequency: u32,
    pub(crate) records: PostingList<'a, RECORD_FIELDS>,
    pub(crate) documents: PostingList<'a, DOCUMENT_FIELDS>,
}

/// Writes regions TERM and POST. Terms must come in byte order.
pub(crate) struct DictionaryWriter {
    terms: MapBuilder<Vec<u8>>,
    postings: Vec<u8>,
    count: u64,
}

impl DictionaryWriter {
    pub(crate) fn new() -> Self {
        Self {
            terms: MapBuilder::memory(),
            postings: Vec::new(),
            count: 0,
        }
    }

    /// Adds a term with its encoded lists: `(number of postings, bytes)`.
    pub(crate) fn add(
        &mut self,
        term: &[u8],
        section_frequency: u32,
        records: (u32, &[u8]),
        documents: (u32, &[u8]),
    ) -> Result<(), fst::Error> {
        self.terms.insert(term, self.postings.len() as u64)?;
        self.count = self.count.saturating_add(1);
        varint::encode(u64::from(section_frequency), &mut self.postings);
        for (count, bytes) in [records, documents] {
            varint::encode(u64::from(count), &mut self.postings);
            varint::encode(bytes.len() as u64, &mut self.postings);
        }
        self.postings.extend_from_slice(records.1);
        self.postings.extend_from_slice(documents.1);
        Ok(())
    }

    /// Region TERM, region POST and the number of terms.
    pub(crate) fn finish(self) -> Result<(Vec<u8>, Vec<u8>, u64), fst::Error> {
        Ok((self.terms.into_inner()?, self.postings, self.count))
    }
}

/// Reads regions TERM and POST.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dictionary<'a> {
    terms: &'a [u8],
    postings: &'a [u8],
    records: u32,
    documents: u32,
}

impl<'a> Dictionary<'a> {
    pub(crate) fn new(terms: &'a [u8], postings: &'a [u8], records: u32, documents: u32) -> Self {
        Self {
            terms,
            postings,
            records,
            documents,
        }
    }

    fn map(&self) -> Result<Map<&'a [u8]>, ReadError> {
        guarded(|| Map::new(self.terms).map_err(|_| DAMAGED)).and_then(|map| map)
    }

    /// The entry of a term, or none if the index does not have it.
    pub(crate) fn find(&self, term: &str) -> Result<Option<TermEntry<'a>>, ReadError> {
        let map = self.map()?;
        match guarded(|| map.get(term))? {
            None => Ok(None),
            Some(place) => self.entry(place).map(|(entry, _)| Some(entry)),
        }
    }

    /// The terms that `automaton` accepts, with their section frequencies, in byte order.
    pub(crate) fn accepted_by(&self, automaton: impl Automaton) -> Result<Vec<(String, u32)>, ReadError> {
        let map = self.map()?;
        let budget = Cell::new(STEP_LIMIT);
        let automaton = Bounded {
            inner: automaton,
            budget: &budget,
        };
        let mut stream = guarded(|| map.search(automaton).into_stream())?;
        let mut found = Vec::new();
        while let Some((term, place)) = guarded(|| stream.next().map(|(term, place)| (term.to_vec(), place)))?
        {
            let text = String::from_utf8(term).map_err(|_| DAMAGED)?;
            found.push((text, self.entry(place)?.0.section_frequency));
            if found.len() == ACCEPTED_LIMIT {
                break;
            }
        }
        Ok(found)
    }

    /// Calls `visit` for each term in byte order. Returns the bytes of POST that the entries take.
    pub(crate) fn for_each<E: From<ReadError>>(
        &self,
        mut visit: impl FnMut(&str, TermEntry<'a>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let map = self.map()?;
        let mut end = 0_usize;
        let budget = Cell::new(STEP_LIMIT_PER_TERM);
        let automaton = Bounded {
            inner: AlwaysMatch,
            budget: &budget,
        };
        let mut stream = guarded(|| map.search(automaton).into_stream())?;
        let mut previous: Option<Vec<u8>> = None;
        loop {
            budget.set(STEP_LIMIT_PER_TERM);
            let next = guarded(|| stream.next().map(|(term, place)| (term.to_vec(), place)))?;
            if budget.get() == 0 {
                return Err(DAMAGED.into());
            }
            let Some((term, place)) = next else { return Ok(end) };
            // A damaged transducer could lead in circles; terms that do not ascend end the walk.
            if previous.as_ref().is_some_and(|previous| *previous >= term) {
                return Err(DAMAGED.into());
            }
            let text = std::str::from_utf8(&term)
                .map_err(|_| ReadError::damaged(Tag::Terms, "a term is not UTF-8"))?;
            if place != end as u64 {
                return Err(
                    ReadError::damaged(Tag::Terms, "a term's place is not its predecessor's end").into(),
                );
            }
            let (entry, stop) = self.entry(place)?;
            end = stop;
            visit(text, entry)?;
            previous = Some(term);
        }
    }

    /// The entry at a place of POST, and where it ends.
    fn entry(&self, place: u64) -> Result<(TermEntry<'a>, usize), ReadError> {
        let damaged = ReadError::damaged(Tag::Postings, "the entry of a term cannot be read");
        let mut rest = usize::try_from(place)
            .ok()
            .and_then(|place| self.postings.get(place..))
            .ok_or_else(|| damaged.clone())?;
        let read = |rest: &mut &'a [u8]| {
            let section_frequency = varint::decode_u32(rest)?;
            let record_count = varint::decode_u32(rest)?;
            let record_bytes = varint::decode(rest)?;
            let document_count = varint::decode_u32(rest)?;
            let document_bytes = varint::decode(rest)?;
            let records = varint::take(rest, record_bytes)?;
            let documents = varint::take(rest, document_bytes)?;
            Some((
                section_frequency,
                (record_count, records),
                (document_count, documents),
            ))
        };
        let (section_frequency, records, documents) = read(&mut rest).ok_or(damaged)?;
        let entry = TermEntry {
            section_frequency,
            records: PostingList::new(records.1, records.0, self.records)?,
            documents: PostingList::new(documents.1, documents.0, self.documents)?,
        };
        Ok((entry, self.postings.len().saturating_sub(rest.len())))
    }
}

const DAMAGED: ReadError = ReadError::Damaged {
    region: Tag::Terms.name(),
    reason: "the term dictionary cannot be read",
};

/// Runs code of the crate `fst` on bytes it trusts and we do not.
fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, ReadError> {
    // Unwind safety: what `read` borrows is not used again after a panic.
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| DAMAGED)
}

#[cfg(test)]
mod tests {
    use super::super::postings::{Posting, encode};
    use super::*;

    fn sample() -> (Vec<u8>, Vec<u8>) {
        let mut writer = DictionaryWriter::new();
        for (i, term) in ["a", "b", "über", "検索"].iter().enumerate() {
            let mut records = Vec::new();
            encode(
                &[Posting::<RECORD_FIELDS> {
                    number: i as u32,
                    frequencies: [1; RECORD_FIELDS],
                }],
                |_| 1,
                &mut records,
            );
            writer
                .add(term.as_bytes(), i as u32, (1, &records), (0, &[]))
                .unwrap();
        }
        let (terms, postings, count) = writer.finish().unwrap();
        assert_eq!(count, 4);
        (terms, postings)
    }

    #[test]
    fn terms_are_found() {
        let (terms, postings) = sample();
        let dictionary = Dictionary::new(&terms, &postings, 9, 9);
        let entry = dictionary.find("über").unwrap().unwrap();
        assert_eq!(entry.section_frequency, 2);
        assert_eq!(entry.records.collect().unwrap()[0].number, 2);
        assert_eq!(entry.documents.block_count(), 0);
        for absent in ["", "c", "übe", "検"] {
            assert!(dictionary.find(absent).unwrap().is_none(), "{absent}");
        }
        assert_eq!(
            dictionary.accepted_by(fst::automaton::Str::new("b")).unwrap(),
            [("b".to_owned(), 1)]
        );
        let mut seen = Vec::new();
        let end = dictionary
            .for_each(|term, entry| -> Result<(), ReadError> {
                seen.push((term.to_owned(), entry.section_frequency));
                Ok(())
            })
            .unwrap();
        assert_eq!(seen.len(), 4);
        assert_eq!(end, postings.len());
    }

    #[test]
    fn a_damaged_dictionary_is_an_error_or_an_answer() {
        let (terms, postings) = sample();
        for at in 0..terms.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, terms[at] ^ 0x10] {
                let mut damaged = terms.clone();
                damaged[at] = value;
                let dictionary = Dictionary::new(&damaged, &postings, 9, 9);
                for term in ["a", "über", "none"] {
                    let _ = dictionary.find(term);
                }
                let _ = dictionary.for_each(|_, _| -> Result<(), ReadError> { Ok(()) });
                let _ = dictionary.accepted_by(fst::automaton::AlwaysMatch);
            }
        }
        for length in 0..terms.len() {
            let _ = Dictionary::new(&terms[..length], &postings, 9, 9).find("a");
        }
        for length in 0..postings.len() {
            let _ = Dictionary::new(&terms, &postings[..length], 9, 9).find("検索");
        }
    }
}
