//! Words that stand for others: region EXPN, a sorted table that is searched without reading all of it.
//!
//! A term has synonyms, an acronym has long forms, and the first term of a long form leads back to its acronyms. Only
//! terms of the dictionary stand in the lists. Derived when the whole is known, so shards do not have the region. Spec
//! chapter 12.

use super::{layout::Tag, section_table::take_text, varint};
use crate::error::ReadError;
use std::collections::{BTreeMap, HashSet};

/// Lists there can be in an entry.
pub(crate) const LISTS_IN_ENTRY: usize = 256;
/// Terms there can be in a list.
pub(crate) const TERMS_IN_LIST: usize = 256;

/// What the lists of an entry are. The numbers are those of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Key: a term. One list, its synonyms in byte order.
    Synonyms = 0,
    /// Key: an acronym. Its long forms, the most frequent first.
    Acronym = 1,
    /// Key: the first term of long forms. For each an acronym and then all terms of the form, in byte order.
    LongForm = 2,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Synonyms, Self::Acronym, Self::LongForm];
    #[cfg(test)]
    pub(crate) const NAMES: [&str; 3] = ["synonyms", "acronym", "long form"];
}

/// Collects the entries of region EXPN.
#[derive(Debug, Default)]
pub(crate) struct ExpansionsWriter {
    entries: BTreeMap<(Kind, String), Vec<Vec<String>>>,
}

impl ExpansionsWriter {
    /// Adds a term with its synonyms in byte order.
    pub(crate) fn add_synonyms(&mut self, term: String, synonyms: Vec<String>) {
        if !synonyms.is_empty() {
            self.entries.insert((Kind::Synonyms, term), vec![synonyms]);
        }
    }

    /// Adds an acronym with one of its long forms. More frequent ones must come first: an entry has no room for more
    /// than [`LISTS_IN_ENTRY`].
    pub(crate) fn add_acronym(&mut self, acronym: &str, long_form: Vec<String>) {
        let Some(first) = long_form.first() else { return };
        let keys = [
            (Kind::Acronym, acronym.to_owned()),
            (Kind::LongForm, first.clone()),
        ];
        let has_room = |key| {
            self.entries
                .get(key)
                .is_none_or(|lists| lists.len() < LISTS_IN_ENTRY)
        };
        if long_form.len() >= TERMS_IN_LIST || !keys.iter().all(has_room) {
            return;
        }
        let back = std::iter::once(acronym.to_owned()).chain(long_form.iter().cloned());
        let back = back.collect();
        for (key, list) in keys.into_iter().zip([long_form, back]) {
            self.entries.entry(key).or_default().push(list);
        }
    }

    /// Bytes of region EXPN.
    pub(crate) fn finish(self) -> Vec<u8> {
        let text = |text: &str, out: &mut Vec<u8>| {
            varint::encode(text.len() as u64, out);
            out.extend_from_slice(text.as_bytes());
        };
        let mut region = (self.entries.len() as u32).to_le_bytes().to_vec();
        let mut entries = Vec::new();
        for ((kind, key), mut lists) in self.entries {
            // What goes in is bounded long before this could be too small.
            let place = u32::try_from(entries.len()).unwrap_or(u32::MAX);
            region.extend_from_slice(&place.to_le_bytes());
            if kind == Kind::LongForm {
                lists.sort_unstable();
            }
            entries.push(kind as u8);
            text(&key, &mut entries);
            varint::encode(lists.len() as u64, &mut entries);
            for list in lists {
                varint::encode(list.len() as u64, &mut entries);
                for term in list {
                    text(&term, &mut entries);
                }
            }
        }
        region.extend_from_slice(&entries);
        region
    }
}

/// Reads region EXPN.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expansions<'a> {
    places: &'a [[u8; 4]],
    entries: &'a [u8],
}

/// An entry: its kind as a number, its key, and its lists, not yet read.
type Entry<'a> = (u8, &'a str, &'a [u8]);

const DAMAGED: ReadError = ReadError::Damaged {
    region: Tag::Expansions.name(),
    reason: "an entry cannot be read",
};

impl<'a> Expansions<'a> {
    pub(crate) fn new(region: &'a [u8]) -> Result<Self, ReadError> {
        let read = || {
            let (count, rest) = region.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_le_bytes(*count)).ok()?.checked_mul(4)?;
            let (places, entries) = rest.split_at_checked(length)?;
            let (places, _) = places.as_chunks();
            Some(Self { places, entries })
        };
        read().ok_or(ReadError::damaged(Tag::Expansions, "its places do not fit it"))
    }

    /// Of a shard, in which the region does not stand.
    pub(crate) fn none() -> Self {
        Self {
            places: &[],
            entries: &[],
        }
    }

    /// The terms that stand for a term, in byte order; empty if it has none.
    pub(crate) fn synonyms(&self, term: &str) -> Result<Vec<&'a str>, ReadError> {
        let lists = self.lists_of(Kind::Synonyms, term)?;
        Ok(lists.into_iter().next().unwrap_or_default())
    }

    /// The long forms of an acronym, the most frequent first, each as its terms.
    pub(crate) fn long_forms(&self, acronym: &str) -> Result<Vec<Vec<&'a str>>, ReadError> {
        self.lists_of(Kind::Acronym, acronym)
    }

    /// The acronyms whose long forms begin with a term, each with all terms of the form.
    pub(crate) fn acronyms_of(&self, first_term: &str) -> Result<Vec<(&'a str, Vec<&'a str>)>, ReadError> {
        self.lists_of(Kind::LongForm, first_term)?
            .into_iter()
            .map(|list| match list.split_first() {
                Some((&acronym, form)) if !form.is_empty() => Ok((acronym, form.to_vec())),
                _ => Err(DAMAGED),
            })
            .collect()
    }

    /// How many entries of a kind there are.
    pub(crate) fn count(&self, kind: Kind) -> Result<usize, ReadError> {
        let start = self.first_at_least((kind as u8, ""))?;
        let end = self.first_at_least(((kind as u8).saturating_add(1), ""))?;
        Ok(end.saturating_sub(start))
    }

    /// Calls `visit` with the kind, key and lists of each entry in order.
    pub(crate) fn for_each(
        &self,
        mut visit: impl FnMut(Kind, &'a str, Vec<Vec<&'a str>>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        for number in 0..self.places.len() {
            let (kind, key, lists) = self.entry(number)?;
            let kind = *Kind::ALL.get(usize::from(kind)).ok_or(DAMAGED)?;
            visit(kind, key, read_lists(lists).ok_or(DAMAGED)?)?;
        }
        Ok(())
    }

    /// Checks all of the table; `is_known` says of a term whether a list may have it.
    pub(crate) fn check(
        &self,
        mut is_known: impl FnMut(&str) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        let damaged = |reason| Err(ReadError::damaged(Tag::Expansions, reason));
        let first_place = self.places.first().map(|&place| u32::from_le_bytes(place));
        if first_place.unwrap_or(0) != 0 || (self.places.is_empty() && !self.entries.is_empty()) {
            return damaged("bytes stand before its first entry");
        }
        let ascend = |list: &[&str]| list.is_sorted_by(|one, other| one < other);
        let mut previous = None;
        let (mut forms, mut backward) = (HashSet::new(), HashSet::new());
        self.for_each(|kind, key, lists| {
            if previous.is_some_and(|previous| previous >= (kind, key)) {
                return damaged("its entries are not in order");
            }
            previous = Some((kind, key));
            for term in lists.iter().flatten() {
                if !is_known(term)? {
                    return damaged("a list has a term that stands in no section");
                }
            }
            let is_sound = match kind {
                Kind::Synonyms => {
                    matches!(&lists[..], [list] if ascend(list) && list.binary_search(&key).is_err())
                }
                Kind::Acronym => lists
                    .into_iter()
                    .all(|form| form.len() > 1 && forms.insert((key, form))),
                Kind::LongForm => {
                    lists.is_sorted_by(|one, other| one < other)
                        && lists.iter().all(|list| match list.split_first() {
                            Some((&acronym, form)) => {
                                form.first() == Some(&key) && backward.insert((acronym, form.to_vec()))
                            }
                            None => false,
                        })
                }
            };
            if is_sound {
                Ok(())
            } else {
                damaged("the lists of an entry are impossible")
            }
        })?;
        if forms == backward {
            Ok(())
        } else {
            damaged("acronyms and long forms do not lead to each other")
        }
    }

    fn lists_of(&self, kind: Kind, key: &str) -> Result<Vec<Vec<&'a str>>, ReadError> {
        let wanted = (kind as u8, key);
        let number = self.first_at_least(wanted)?;
        if number == self.places.len() {
            return Ok(Vec::new());
        }
        let (kind, key, lists) = self.entry(number)?;
        if (kind, key) == wanted {
            read_lists(lists).ok_or(DAMAGED)
        } else {
            Ok(Vec::new())
        }
    }

    /// The first entry that is not less than `wanted`.
    fn first_at_least(&self, wanted: (u8, &str)) -> Result<usize, ReadError> {
        let (mut low, mut high) = (0, self.places.len());
        while low < high {
            let middle = low.midpoint(high);
            let (kind, key, _) = self.entry(middle)?;
            if (kind, key) < wanted {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn entry(&self, number: usize) -> Result<Entry<'a>, ReadError> {
        let place = |number: usize| {
            let place = u32::from_le_bytes(*self.places.get(number)?);
            usize::try_from(place).ok()
        };
        let read = || {
            let start = place(number)?;
            let end = place(number.saturating_add(1)).unwrap_or(self.entries.len());
            let (&kind, mut rest) = self.entries.get(start..end)?.split_first()?;
            let key = read_term(&mut rest)?;
            Some((kind, key, rest))
        };
        read().ok_or(DAMAGED)
    }
}

fn read_term<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let length = varint::decode(rest)?;
    take_text(rest, length).filter(|term| !term.is_empty())
}

fn read_lists<'a>(mut rest: &'a [u8]) -> Option<Vec<Vec<&'a str>>> {
    let count_up_to = |limit: usize, rest: &mut &'a [u8]| {
        let count = usize::try_from(varint::decode(rest)?).ok()?;
        (1..=limit).contains(&count).then_some(count)
    };
    let count = count_up_to(LISTS_IN_ENTRY, &mut rest)?;
    let mut lists = Vec::with_capacity(count);
    for _ in 0..count {
        let terms = count_up_to(TERMS_IN_LIST, &mut rest)?;
        let list: Option<Vec<&str>> = (0..terms).map(|_| read_term(&mut rest)).collect();
        lists.push(list?);
    }
    rest.is_empty().then_some(lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn owned(terms: &[&str]) -> Vec<String> {
        terms.iter().map(|&term| term.to_owned()).collect()
    }

    fn sample() -> Vec<u8> {
        let mut writer = ExpansionsWriter::default();
        writer.add_synonyms("remov".to_owned(), owned(&["delet"]));
        writer.add_synonyms("delet".to_owned(), owned(&["remov"]));
        writer.add_synonyms("none".to_owned(), Vec::new());
        writer.add_acronym("ci", owned(&["continu", "integr"]));
        writer.finish()
    }

    #[test]
    fn the_example_of_the_specification() {
        let expected = [
            &[4, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 30, 0, 0, 0, 51, 0, 0, 0][..],
            b"\x00\x05delet\x01\x01\x05remov",
            b"\x00\x05remov\x01\x01\x05delet",
            b"\x01\x02ci\x01\x02\x07continu\x06integr",
            b"\x02\x07continu\x01\x03\x02ci\x07continu\x06integr",
        ]
        .concat();
        assert_eq!(sample(), expected);
    }

    #[test]
    fn terms_lead_to_what_stands_for_them() {
        let region = sample();
        let expansions = Expansions::new(&region).unwrap();
        assert_eq!(expansions.synonyms("delet").unwrap(), ["remov"]);
        assert_eq!(expansions.long_forms("ci").unwrap(), [["continu", "integr"]]);
        assert_eq!(
            expansions.acronyms_of("continu").unwrap(),
            [("ci", vec!["continu", "integr"])]
        );
        for absent in ["", "a", "dele", "delete", "zz", "ci"] {
            assert!(expansions.synonyms(absent).unwrap().is_empty(), "{absent}");
            assert!(expansions.acronyms_of(absent).unwrap().is_empty(), "{absent}");
        }
        assert!(expansions.long_forms("continu").unwrap().is_empty());
        assert_eq!(Kind::ALL.map(|kind| expansions.count(kind).unwrap()), [2, 1, 1]);
        assert!(Expansions::none().synonyms("delet").unwrap().is_empty());
    }

    #[test]
    fn entries_hold_no_more_than_the_most_frequent() {
        let mut writer = ExpansionsWriter::default();
        for number in 0..300 {
            writer.add_acronym("ab", owned(&["a", &format!("b{number}")]));
            writer.add_acronym(&format!("x{number}"), owned(&["x", "y"]));
        }
        let region = writer.finish();
        let expansions = Expansions::new(&region).unwrap();
        let forms = expansions.long_forms("ab").unwrap();
        assert_eq!(
            (forms.len(), &forms[255][..]),
            (LISTS_IN_ENTRY, &["a", "b255"][..])
        );
        assert_eq!(expansions.acronyms_of("x").unwrap().len(), LISTS_IN_ENTRY);
        expansions.check(|_| Ok(true)).unwrap();
    }

    #[test]
    fn what_is_not_sound_is_noticed() {
        let region = sample();
        let check = |region: &[u8], known: &dyn Fn(&str) -> bool| {
            Expansions::new(region)?.check(|term| Ok(known(term)))
        };
        check(&region, &|_| true).unwrap();
        assert!(check(&region, &|term| term != "integr").is_err());
        assert!(check(&[0, 0, 0, 0, 1], &|_| true).is_err());
        // The place of the second entry; a kind, a key, the length of a synonym, a long form; that form led back from.
        for (at, value) in [(8, 0), (20, 1), (22, b'z'), (29, 4), (70, b'x'), (90, b'x')] {
            let mut wrong = region.clone();
            wrong[at] = value;
            assert!(check(&wrong, &|_| true).is_err(), "{at}");
        }
        for length in 0..region.len() {
            assert!(check(&region[..length], &|_| true).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn entries_are_read_back(
            synonyms in prop::collection::btree_map("[a-zß]{1,5}", prop::collection::btree_set("[0-9]{1,5}", 1..5), 0..9),
            acronyms in prop::collection::btree_set(("[a-z]{2,3}", prop::collection::vec("[a-c]{1,2}", 2..4)), 0..9),
        ) {
            let mut writer = ExpansionsWriter::default();
            for (term, others) in &synonyms {
                writer.add_synonyms(term.clone(), others.iter().cloned().collect());
            }
            for (acronym, form) in &acronyms {
                writer.add_acronym(acronym, form.clone());
            }
            let region = writer.finish();
            let expansions = Expansions::new(&region).unwrap();
            expansions.check(|_| Ok(true)).unwrap();
            for (term, others) in &synonyms {
                let others: Vec<_> = others.iter().map(String::as_str).collect();
                prop_assert_eq!(expansions.synonyms(term).unwrap(), others);
            }
            for (acronym, form) in &acronyms {
                let form: Vec<_> = form.iter().map(String::as_str).collect();
                prop_assert!(expansions.long_forms(acronym).unwrap().contains(&form));
                let back = expansions.acronyms_of(form[0]).unwrap();
                prop_assert!(back.contains(&(acronym.as_str(), form)));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(count in 0_u8..4, rest in any::<Vec<u8>>()) {
            let region = [&[count, 0, 0, 0], &rest[..]].concat();
            if let Ok(expansions) = Expansions::new(&region) {
                let _ = (expansions.synonyms("a"), expansions.long_forms("b"), expansions.acronyms_of("c"));
                let _ = (expansions.count(Kind::Acronym), expansions.check(|_| Ok(true)));
            }
        }
    }
}
