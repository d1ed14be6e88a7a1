//! Takes the text of a query apart into words, phrases and exclusions.
//!
//! In: any text; there is no query syntax, so none can be wrong. Out: [`Clauses`]. A passage between double quotes
//! that stand where a reader would see a quotation, a space or the text's end outside of them, is a phrase; its words
//! are words of the query too. A minus sign directly before a letter, with a space or nothing before it, excludes
//! the word: `-beta`. Exclusions stand before or behind all other words: between them a minus is part of a command or
//! a name (`find . -name x`, "the -unwind variant"). A flag is not an exclusion either: neither `--force` nor `-f`, nor
//! a name that goes on with a minus (`-webkit-`). A query of nothing but exclusions is a query for these words.

use super::tokenizer::{Token, tokens};
use std::ops::Range;

/// The parts of a query.
#[derive(Debug, Default)]
pub(crate) struct Clauses<'q> {
    /// What is searched for, in the order of the text, with the number of the phrase that it stands in.
    pub(crate) words: Vec<(Token<'q>, Option<usize>)>,
    /// What must not stand in a section.
    pub(crate) excluded: Vec<Token<'q>>,
    /// What stands between quotation marks.
    pub(crate) phrases: Vec<&'q str>,
}

/// The clauses of `text`.
pub(crate) fn clauses(text: &str) -> Clauses<'_> {
    let quotations = quotations(text);
    let mut clauses = Clauses {
        phrases: quotations.iter().map(|range| &text[range.clone()]).collect(),
        ..Clauses::default()
    };
    let mut next = 0;
    // Whether each word is excluded unless others stand on both sides.
    let mut has_sign: Vec<bool> = Vec::new();
    for token in tokens(text) {
        while quotations.get(next).is_some_and(|range| range.end <= token.start) {
            next += 1;
        }
        let phrase = quotations
            .get(next)
            .filter(|range| range.start <= token.start)
            .map(|_| next);
        has_sign.push(phrase.is_none() && is_excluded(text, &token));
        clauses.words.push((token, phrase));
    }
    let first = has_sign.iter().position(|&sign| !sign);
    let last = has_sign.iter().rposition(|&sign| !sign);
    if let (Some(first), Some(last)) = (first, last) {
        clauses.excluded = clauses.words.drain(last + 1..).map(|(token, _)| token).collect();
        let before = clauses.words.drain(..first).map(|(token, _)| token);
        clauses.excluded.splice(0..0, before);
    }
    clauses
}

/// Whether a single minus sign before the token excludes it.
fn is_excluded(text: &str, token: &Token<'_>) -> bool {
    // The sign belongs to the token before an ASCII letter, and stands before it otherwise.
    let (before, word) = match token.text.strip_prefix('-') {
        Some(word) => (&text[..token.start], word),
        None => match text[..token.start].strip_suffix('-') {
            Some(before) => (before, token.text),
            None => return false,
        },
    };
    let is_word = word.chars().next().is_some_and(char::is_alphabetic) && word.chars().nth(1).is_some();
    is_word
        && before.chars().next_back().is_none_or(char::is_whitespace)
        && !text[token.end()..].starts_with('-')
}

/// What stands between pairs of quotation marks, without the marks.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = None;
    for (at, c) in text.char_indices() {
        match open {
            None => {
                let closing = match c {
                    '"' => Some('"'),
                    '“' => Some('”'),
                    _ => None,
                };
                let begins = before.is_none_or(|c: char| c.is_whitespace() || "([（「".contains(c));
                if let Some(closing) = closing.filter(|_| begins) {
                    open = Some((at + c.len_utf8(), closing));
                }
            }
            Some((start, closing)) if c == closing => {
                open = None;
                let after = text[at + c.len_utf8()..].chars().next();
                let ends = after.is_none_or(|c| c.is_whitespace() || ".,;:!?)]…。、）」".contains(c));
                if ends && tokens(&text[start..at]).next().is_some() {
                    found.push(start..at);
                }
            }
            Some(_) => {}
        }
        before = Some(c);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_phrases_and_exclusions() {
        for (text, words, excluded, phrases) in [
            ("", &[][..], &[][..], &[][..]),
            ("upload a file", &["upload", "a", "file"], &[], &[]),
            (
                "\"form data\" upload",
                &["form", "data", "upload"],
                &[],
                &["form data"],
            ),
            ("say “form data”.", &["say", "form", "data"], &[], &["form data"]),
            ("\"1.0.21\"", &["1.0.21"], &[], &["1.0.21"]),
            ("\"open", &["open"], &[], &[]),
            (
                "a \"b\" c \"d e\"",
                &["a", "b", "c", "d", "e"],
                &[],
                &["b", "d e"],
            ),
            ("{\"detail\": \"x y\"}", &["detail", "x", "y"], &[], &[]),
            ("type=\"text\" x", &["type", "text", "x"], &[], &[]),
            ("\"\" \"?\" a", &["a"], &[], &[]),
            ("file -upload", &["file"], &["-upload"], &[]),
            (
                "-beta file -upload -x1",
                &["file"],
                &["-beta", "-upload", "-x1"],
                &[],
            ),
            (
                "corresponding -unwind variant",
                &["corresponding", "-unwind", "variant"],
                &[],
                &[],
            ),
            ("file -\u{e9}t\u{e9}", &["file"], &["\u{e9}t\u{e9}"], &[]),
            ("索引 -検索", &["索引"], &["検索"], &[]),
            ("ls -l --all -1 - x", &["ls", "-l", "--all", "1", "x"], &[], &[]),
            ("the -webkit- prefix", &["the", "-webkit", "prefix"], &[], &[]),
            ("well-known x-y", &["well-known", "x-y"], &[], &[]),
            ("\"find -name\" x", &["find", "-name", "x"], &[], &["find -name"]),
            ("-upload", &["-upload"], &[], &[]),
            ("2 -3 (-b)", &["2", "3", "-b"], &[], &[]),
        ] {
            let clauses = clauses(text);
            let texts = |tokens: &[Token<'_>]| tokens.iter().map(|t| t.text.to_owned()).collect::<Vec<_>>();
            let all: Vec<Token<'_>> = clauses.words.iter().map(|(token, _)| *token).collect();
            assert_eq!(texts(&all), words, "{text}");
            assert_eq!(texts(&clauses.excluded), excluded, "{text}");
            assert_eq!(clauses.phrases, phrases, "{text}");
        }
    }

    #[test]
    fn words_know_their_phrase() {
        let clauses = clauses("a \"b c\" d \"e\"");
        let places: Vec<_> = clauses.words.iter().map(|(_, phrase)| *phrase).collect();
        assert_eq!(places, [None, Some(0), Some(0), None, Some(1)]);
    }

    proptest! {
        #[test]
        fn no_word_is_lost(text in "[a-z\" -]{0,40}") {
            let clauses = clauses(&text);
            prop_assert_eq!(clauses.words.len() + clauses.excluded.len(), tokens(&text).count());
        }

        #[test]
        fn any_text_has_clauses(text in "\\PC{0,100}") {
            let clauses = clauses(&text);
            prop_assert!(clauses.words.iter().all(|(_, phrase)| phrase.is_none_or(|p| p < clauses.phrases.len())));
        }
    }
}
