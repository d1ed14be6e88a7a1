//! Finds terms a few typing errors away from a word.
//!
//! [`Spelling`] is an automaton for the term dictionary: its state is the last two rows of the table of the
//! optimal string alignment distance (letters added, left out, changed, or two neighbours exchanged). Building
//! such a state costs a few operations for each letter, where a ready-made automaton of the same distance has to
//! be built in full before the first term is looked at. Unless asked otherwise, terms must begin with the word's own
//! first letter, which is hardly ever mistyped and keeps the walk small.

use fst::Automaton;

/// Bytes of a word that is looked for; longer ones have no candidates.
const LENGTH_LIMIT: usize = 24;
const CELLS: usize = LENGTH_LIMIT + 1;

/// Accepts the terms within a distance of a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling<'w> {
    word: &'w [u8],
    limit: u8,
    /// Terms must begin with the word's own first letter.
    keeps_first: bool,
}

impl<'w> Spelling<'w> {
    /// None for words that are too long, or not of ASCII letters and digits: distances are counted in bytes.
    pub(crate) fn new(word: &'w str, limit: u8) -> Option<Self> {
        let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (is_plain && (1..=LENGTH_LIMIT).contains(&word.len())).then_some(Self {
            word: word.as_bytes(),
            limit,
            keeps_first: true,
        })
    }

    /// The same for terms that begin with any letter.
    pub(crate) fn with_any_first_letter(self) -> Self {
        Self {
            keeps_first: false,
            ..self
        }
    }

    /// Edits between the word and a term that was accepted.
    pub(crate) fn distance(&self, term: &str) -> u8 {
        let state = term
            .bytes()
            .fold(self.start(), |state, byte| self.accept(&state, byte));
        state.current[self.word.len()]
    }
}

/// What has been read of a term, as far as it matters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    /// Distance of what was read to each beginning of the word.
    current: [u8; CELLS],
    /// The same without the last byte read.
    previous: [u8; CELLS],
    last: u8,
    read: u8,
}

impl Automaton for Spelling<'_> {
    type State = Rows;

    fn start(&self) -> Rows {
        let mut current = [u8::MAX; CELLS];
        for (cell, distance) in current.iter_mut().zip(0..=self.word.len() as u8) {
            *cell = distance;
        }
        Rows {
            current,
            previous: [u8::MAX; CELLS],
            last: 0,
            read: 0,
        }
    }

    fn is_match(&self, state: &Rows) -> bool {
        state.read > 0 && state.current[self.word.len()] <= self.limit
    }

    fn can_match(&self, state: &Rows) -> bool {
        state.current[..=self.word.len()]
            .iter()
            .any(|&distance| distance <= self.limit)
    }

    fn accept(&self, state: &Rows, byte: u8) -> Rows {
        let mut next = [u8::MAX; CELLS];
        let read = state.read.saturating_add(1);
        if state.read > 0 || !self.keeps_first || byte == self.word[0] {
            next[0] = read;
            for (place, &letter) in self.word.iter().enumerate() {
                let changed = state.current[place].saturating_add(u8::from(letter != byte));
                let added = state.current[place + 1].saturating_add(1);
                let left_out = next[place].saturating_add(1);
                let mut best = changed.min(added).min(left_out);
                if place > 0 && state.read > 0 && letter == state.last && self.word[place - 1] == byte {
                    best = best.min(state.previous[place - 1].saturating_add(1));
                }
                next[place + 1] = best;
            }
        }
        Rows {
            current: next,
            previous: state.current,
            last: byte,
            read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(word: &str, limit: u8, term: &str) -> bool {
        let spelling = Spelling::new(word, limit).unwrap();
        let mut state = spelling.start();
        for byte in term.bytes() {
            if !spelling.can_match(&state) {
                return false;
            }
            state = spelling.accept(&state, byte);
        }
        spelling.is_match(&state)
    }

    /// The distance by its definition, on whole words.
    fn distance(a: &[u8], b: &[u8]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let change = usize::from(a[i - 1] != b[j - 1]);
                    let mut best = (table[i - 1][j - 1] + change)
                        .min(table[i - 1][j] + 1)
                        .min(table[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        best = best.min(table[i - 2][j - 2] + 1);
                    }
                    best
                };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn typing_errors_are_recognised() {
        for (word, limit, term, expected) in [
            ("upload", 1, "upload", true),
            ("uplaod", 1, "upload", true),
            ("uplod", 1, "upload", true),
            ("upplaod", 1, "upload", false),
            ("upplaod", 2, "upload", true),
            ("ypload", 1, "upload", false),
            ("u", 1, "ux", true),
            ("u", 1, "", false),
        ] {
            assert_eq!(accepts(word, limit, term), expected, "{word} {term}");
        }
        assert!(Spelling::new("", 1).is_none());
        assert!(Spelling::new("über", 1).is_none());
        assert!(Spelling::new(&"a".repeat(LENGTH_LIMIT + 1), 1).is_none());
        assert!(accepts(
            &"a".repeat(LENGTH_LIMIT),
            2,
            &"a".repeat(LENGTH_LIMIT - 2)
        ));
    }

    proptest! {
        #[test]
        fn the_automaton_agrees_with_the_definition(
            word in "a[abc]{0,8}", term in "a[abc]{0,9}", limit in 0_u8..3,
        ) {
            let is_near = distance(word.as_bytes(), term.as_bytes()) <= usize::from(limit);
            // The first letter is fixed; an alignment that touches it is not looked for.
            if !is_near {
                prop_assert!(!accepts(&word, limit, &term));
            } else if distance(&word.as_bytes()[1..], &term.as_bytes()[1..]) <= usize::from(limit) {
                prop_assert!(accepts(&word, limit, &term));
            }
        }
    }
}
