//! What a passage should show: the terms of a query with what they are worth.
//!
//! In: terms, each for a group, that is for a term of the query: itself, a synonym, another spelling. Out:
//! [`Wanted`], which finds them in tokens, and [`Coverage`], which says what the terms met in a passage are
//! worth together. A group that is met by several of its terms counts once, by the best of them.

use crate::search::{
    analyzer::{Analyzer, Term},
    language::Language,
    tokenizer::{Token, TokenKind},
};
use rustc_hash::FxHashMap;

/// Bytes of a run without spaces whose terms are looked up character by character.
const NORMAL_FORM_LIMIT: usize = 16 * 1024;

/// What a snippet looks for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Places in `members`.
    terms: FxHashMap<String, Vec<usize>>,
    members: Vec<Member>,
    /// Places in `members` of each group.
    groups: Vec<Vec<usize>>,
    beginnings: Beginnings,
    analyzer: Analyzer,
    /// What was found in tokens met before: the same words stand in all hits of a query.
    known: FxHashMap<String, Vec<usize>>,
    scratch: Vec<Term>,
}

/// A term as it stands for a group.
#[derive(Debug, Clone, Copy)]
struct Member {
    group: usize,
    weight: f32,
}

impl Wanted {
    /// From terms, the groups they stand for (any numbers), and what covering the group by the term is worth.
    pub(crate) fn new(terms: impl Iterator<Item = (String, usize, f32)>) -> Self {
        let mut wanted = Self {
            terms: FxHashMap::default(),
            members: Vec::new(),
            groups: Vec::new(),
            beginnings: Beginnings::default(),
            analyzer: Analyzer::new(Language::English),
            known: FxHashMap::default(),
            scratch: Vec::new(),
        };
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        for (term, group, weight) in terms {
            let group = *numbers.entry(group).or_insert_with(|| {
                wanted.groups.push(Vec::new());
                wanted.groups.len() - 1
            });
            wanted.beginnings.add(&term);
            wanted.groups[group].push(wanted.members.len());
            wanted.terms.entry(term).or_default().push(wanted.members.len());
            wanted.members.push(Member { group, weight });
        }
        wanted
    }

    /// Reads the texts that follow as ones in this language.
    pub(crate) fn read_as(&mut self, language: Language) {
        if self.analyzer.language() != language {
            self.analyzer = Analyzer::new(language);
            self.known.clear();
        }
    }

    /// False only where none of the terms can stand in a token that begins so.
    pub(crate) fn may_begin(&self, beginning: Beginning) -> bool {
        self.beginnings.may_begin(beginning)
    }

    /// What all groups are worth together.
    pub(crate) fn total(&self) -> f32 {
        let best = |group: &Vec<usize>| group.iter().map(|&m| self.members[m].weight).fold(0.0, f32::max);
        self.groups.iter().map(best).sum()
    }

    /// Calls `found` with each member that `token` has and the place in the text where it stands.
    pub(crate) fn find(&mut self, token: &Token<'_>, mut found: impl FnMut(usize, usize)) {
        if token.kind == TokenKind::Cjk
            && token.text.len() <= NORMAL_FORM_LIMIT
            && unicode_normalization::is_nfkc(token.text)
        {
            self.find_in_run(token, found);
            return;
        }
        if !self.beginnings.may_have(token.text) {
            return;
        }
        if !self.known.contains_key(token.text) {
            self.scratch.clear();
            self.analyzer.terms(token, &mut self.scratch);
            let members: Vec<usize> = self
                .scratch
                .iter()
                .filter_map(|term| self.terms.get(&term.text))
                .flatten()
                .copied()
                .collect();
            self.known.insert(token.text.to_owned(), members);
        }
        for &member in self.known.get(token.text).into_iter().flatten() {
            found(member, token.start);
        }
    }

    /// The terms of a run without spaces are its characters and pairs of them, each at its own place.
    fn find_in_run(&self, token: &Token<'_>, mut found: impl FnMut(usize, usize)) {
        if !self.beginnings.has_other {
            return;
        }
        let mut before: Option<(usize, char)> = None;
        for (at, c) in token.text.char_indices() {
            let end = at + c.len_utf8();
            for (start, first) in [Some((at, c)), before].into_iter().flatten() {
                if self.beginnings.others & bit_of(first) == 0 {
                    continue;
                }
                for &member in self.terms.get(&token.text[start..end]).into_iter().flatten() {
                    found(member, token.start + at);
                }
            }
            before = Some((at, c));
        }
    }
}

/// What the terms met in a passage are worth, while terms enter and leave it.
#[derive(Debug)]
pub(crate) struct Coverage<'w> {
    wanted: &'w Wanted,
    /// How often each member is in the passage.
    counts: Vec<usize>,
    /// The weight of each group's best member in the passage.
    best: Vec<f32>,
    covered: f32,
    seen: f32,
}

impl<'w> Coverage<'w> {
    pub(crate) fn new(wanted: &'w Wanted) -> Self {
        Self {
            wanted,
            counts: vec![0; wanted.members.len()],
            best: vec![0.0; wanted.groups.len()],
            covered: 0.0,
            seen: 0.0,
        }
    }

    pub(crate) fn add(&mut self, member: usize) {
        let Member { group, weight } = self.wanted.members[member];
        self.counts[member] += 1;
        self.seen += weight;
        if weight > self.best[group] {
            self.covered += weight - self.best[group];
            self.best[group] = weight;
        }
    }

    pub(crate) fn remove(&mut self, member: usize) {
        let Member { group, weight } = self.wanted.members[member];
        self.counts[member] -= 1;
        self.seen -= weight;
        if self.counts[member] == 0 && weight >= self.best[group] {
            let rest = self.wanted.groups[group]
                .iter()
                .filter(|&&other| self.counts[other] > 0)
                .map(|&other| self.wanted.members[other].weight)
                .fold(0.0, f32::max);
            self.covered -= self.best[group] - rest;
            self.best[group] = rest;
        }
    }

    /// The weight of the groups that are met.
    pub(crate) fn covered(&self) -> f32 {
        self.covered
    }

    /// The weight of what is met once more.
    pub(crate) fn repeated(&self) -> f32 {
        self.seen - self.covered
    }
}

/// The first three letters of terms: most words of a text are passed over by theirs, without being analyzed.
#[derive(Debug)]
pub(crate) struct Beginnings {
    /// For each two letters or digits at the start the third ones, a bit for each.
    third: Box<[[u64; CLASSES]; CLASSES]>,
    /// A term begins with a sign.
    has_sign: bool,
    /// A term begins with a character that is not ASCII.
    has_other: bool,
    /// The last six bits of the first characters of those, a bit for each.
    others: u64,
}

/// The first three letters of a plain word, five bits for each; none are told of shorter words and other tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Beginning(u16);

impl Beginning {
    const UNTOLD: Self = Self(u16::MAX);

    pub(crate) fn of(token: &Token<'_>) -> Self {
        let bytes = token.text.as_bytes();
        if bytes.len() < 3 || !is_plain(bytes) {
            return Self::UNTOLD;
        }
        Self(bytes.iter().take(3).fold(0, |letters, byte| {
            (letters << 5) | u16::from(byte.to_ascii_lowercase() - b'a')
        }))
    }
}

/// A plain word: letters of ASCII, none but the first of them upper-case.
fn is_plain(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.iter().skip(1).all(u8::is_ascii_lowercase)
}

/// Letters and digits that a term begins with.
const CLASSES: usize = 36;

impl Default for Beginnings {
    fn default() -> Self {
        Self {
            third: Box::new([[0; CLASSES]; CLASSES]),
            has_sign: false,
            has_other: false,
            others: 0,
        }
    }
}

impl Beginnings {
    pub(crate) fn add(&mut self, term: &str) {
        let bytes = term.as_bytes();
        let class_at = |place: usize| bytes.get(place).copied().and_then(class);
        let Some(first) = class_at(0) else {
            self.has_sign |= term.starts_with(|c: char| c.is_ascii());
            self.has_other |= !term.is_ascii();
            self.others |= term.chars().next().map_or(0, bit_of);
            return;
        };
        // A stem's last letter may differ from the word's: day, dai.
        match (class_at(1), class_at(2)) {
            (Some(second), Some(third)) if bytes.len() > 3 => self.third[first][second] |= 1 << third,
            (Some(second), _) if bytes.len() > 2 => self.third[first][second] = u64::MAX,
            _ => self.third[first].fill(u64::MAX),
        }
    }

    /// As [`Beginnings::may_have`] says of the token that has this beginning; true where none is told.
    fn may_begin(&self, beginning: Beginning) -> bool {
        let letter = |place: u32| usize::from(beginning.0 >> (5 * place)) & 31;
        beginning == Beginning::UNTOLD
            || self.has_sign
            || self.third[letter(2)][letter(1)] & (1 << letter(0)) != 0
    }

    /// False only for a token that has none of the terms. A plain word can have them at its start alone, an
    /// identifier at any of its seams.
    pub(crate) fn may_have(&self, token: &str) -> bool {
        if self.has_sign || !token.is_ascii() {
            return true;
        }
        let bytes = token.as_bytes();
        let places = if is_plain(bytes) { 1 } else { bytes.len() };
        let class_at = |place: usize| bytes.get(place).copied().and_then(class);
        (0..places).any(
            |place| match (class_at(place), class_at(place + 1), class_at(place + 2)) {
                (Some(first), Some(second), Some(third)) => self.third[first][second] & (1 << third) != 0,
                (Some(first), Some(second), None) => self.third[first][second] != 0,
                // A letter by itself, or before an apostrophe: enough that a term begins with it.
                (Some(first), None, _) => self.third[first].iter().any(|&third| third != 0),
                (None, ..) => false,
            },
        )
    }
}

fn bit_of(c: char) -> u64 {
    1 << (u32::from(c) % 64)
}

/// 0 to 25 for a to z in any case, then the digits.
fn class(byte: u8) -> Option<usize> {
    match byte.to_ascii_lowercase() {
        letter @ b'a'..=b'z' => Some(usize::from(letter - b'a')),
        digit @ b'0'..=b'9' => Some(usize::from(digit - b'0') + 26),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tokenizer::tokens;

    #[test]
    fn a_group_counts_once_by_its_best_term() {
        let terms = [("auth", 7, 1.0), ("login", 7, 0.5), ("login", 9, 0.25)];
        let wanted = Wanted::new(
            terms
                .into_iter()
                .map(|(term, group, weight)| (term.to_owned(), group, weight)),
        );
        let mut coverage = Coverage::new(&wanted);
        let mut seen = Vec::new();
        for (member, is_added) in [
            (1, true),
            (2, true),
            (0, true),
            (1, false),
            (0, false),
            (2, false),
        ] {
            if is_added {
                coverage.add(member);
            } else {
                coverage.remove(member);
            }
            seen.push((coverage.covered(), coverage.repeated()));
        }
        assert_eq!(
            seen,
            [
                (0.5, 0.0),
                (0.75, 0.0),
                (1.25, 0.5),
                (1.25, 0.0),
                (0.25, 0.0),
                (0.0, 0.0)
            ]
        );
        assert!((wanted.total() - 1.25).abs() < 1e-6);
    }

    #[test]
    fn terms_of_a_run_without_spaces_have_places() {
        let terms = ["快", "快照", "照卷"].map(|term| (term.to_owned(), 0, 1.0));
        let mut wanted = Wanted::new(terms.into_iter());
        let mut found = Vec::new();
        for token in crate::search::tokenizer::tokens("卷快照 x") {
            wanted.find(&token, |member, place| found.push((member, place)));
        }
        assert_eq!(found, [(0, 3), (1, 6)]);
    }

    #[test]
    fn words_are_passed_over_only_where_they_cannot_match() {
        let mut beginnings = Beginnings::default();
        for term in ["upload", "x", "dai", "ccc", "404", "検"] {
            beginnings.add(term);
        }
        for (word, expected) in [
            ("Uploading", true),
            ("uploads", true),
            ("up", true),
            ("upper", false),
            ("under", false),
            ("xyz", true),
            ("days", true),
            ("dog", false),
            ("c", true),
            ("zebra", false),
            ("zebraCrossing", false),
            ("zebraUpload", true),
            ("@user", false),
            ("#1239", false),
            ("404", true),
            ("HTTP404", true),
            ("403", true),
            ("503", false),
            ("d'Artagnan", true),
            ("z_upload", true),
            ("Été", true),
        ] {
            assert_eq!(beginnings.may_have(word), expected, "{word}");
            // What is told of a beginning is what is found in the word.
            for token in tokens(word) {
                let beginning = Beginning::of(&token);
                assert!(
                    beginning == Beginning::UNTOLD
                        || beginnings.may_begin(beginning) == beginnings.may_have(token.text),
                    "{word}"
                );
            }
        }
    }
}
