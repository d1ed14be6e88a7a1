//! Quoted phrases, verified in stored text.
//!
//! In: the text between quotes, and the Markdown of a record. Out: whether the phrase's words stand in it in a
//! row. Letter case, accents and compatibility forms are folded as for search, but words are not stemmed and
//! are matched whole. What stands between words (white space, punctuation, marks of Markdown, the destinations
//! of links) does not count, so that `tool_call_id` and "tool call id" are the same; numbers with points, such
//! as `1.0.21`, are one word. Characters of CJK text are words by themselves.
//!
//! Both sides are written as their words with one space around each, and one is looked for in the other: linear
//! in the text.

use super::{
    analyzer::{Analyzer, Term},
    language::Language,
    reading::Reading,
    snippet::Beginnings,
    tokenizer::{TokenKind, is_cjk, tokens},
};
use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization as _, char::canonical_combining_class};

/// A phrase to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// Its words with a space around each.
    words: String,
}

impl Phrase {
    /// `None` for a text without a letter or a digit.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let words = words_of(text);
        (words.len() > 1).then_some(Self { words })
    }

    /// Whether the words stand in `text`, which is Markdown, in a row, with no blank line between them.
    pub(crate) fn stands_in(&self, text: &str) -> bool {
        text.split("\n\n")
            .any(|paragraph| words_of(&Reading::of(paragraph).text).contains(&self.words))
    }
}

/// The words of `text`, folded, a space around each.
fn words_of(text: &str) -> String {
    let folded: Cow<'_, str> = if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        // As the analyzer: the marks of accents go, whatever form they have.
        let plain = text.nfkd().filter(|&c| canonical_combining_class(c) == 0);
        Cow::Owned(plain.nfkc().collect())
    };
    let mut words = String::with_capacity(folded.len() + folded.len() / 8 + 2);
    words.push(' ');
    // Where the last word begins, if it is still open.
    let mut open: Option<usize> = None;
    let mut chars = folded.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        if is_cjk(c) {
            end_word(&mut words, &mut open);
            words.push(c);
            words.push(' ');
        } else if c.is_alphanumeric() {
            open.get_or_insert(words.len());
            if c.is_ascii() {
                words.push(c.to_ascii_lowercase());
            } else {
                words.extend(c.to_lowercase());
            }
        } else if let Some(start) = open {
            let is_between_digits =
                words.ends_with(|c: char| c.is_numeric()) && next.is_some_and(char::is_numeric);
            match c {
                // don't is dont.
                '\'' | '’' if next.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c)) => {}
                '.' if is_between_digits => words.push('.'),
                // C++, F#: names that are others without their signs.
                '+' if next == Some('+') && words[start..].chars().all(char::is_alphabetic) => {
                    words.push_str("++");
                    chars.next();
                    end_word(&mut words, &mut open);
                }
                '#' if !next.is_some_and(|c| c.is_alphanumeric() || c == '_') => {
                    words.push('#');
                    end_word(&mut words, &mut open);
                }
                _ => end_word(&mut words, &mut open),
            }
        }
    }
    end_word(&mut words, &mut open);
    words
}

/// Closes the open word, if there is one; `v1.0` is the number.
fn end_word(words: &mut String, open: &mut Option<usize>) {
    let Some(start) = open.take() else { return };
    let word = &words[start..];
    if word.contains('.') && word.starts_with('v') && word[1..].starts_with(char::is_numeric) {
        words.remove(start);
    }
    words.push(' ');
}

/// The first word of `text`, which is in `language`, that has `term`, as it is written there: `authentication` for the stem `authent`.
pub(crate) fn surface_form<'t>(text: &'t str, term: &str, language: Language) -> Option<&'t str> {
    let mut beginnings = Beginnings::default();
    beginnings.add(term);
    let analyzer = Analyzer::new(language);
    let mut terms = Vec::new();
    for token in tokens(text) {
        if token.kind == TokenKind::Cjk {
            if !term.starts_with(is_cjk) {
                continue;
            }
            if let Some(at) = token.text.find(term) {
                return Some(&token.text[at..at + term.len()]);
            }
        }
        if !beginnings.may_have(token.text) || !has_term(&analyzer, token.text, term, &mut terms) {
            continue;
        }
        // Of a name with several words, the one that is meant.
        let runs = token
            .text
            .split(|c: char| !c.is_alphanumeric() && canonical_combining_class(c) == 0)
            .filter(|run| !run.is_empty());
        for run in runs {
            if has_term(&analyzer, run, term, &mut terms) {
                return Some(run);
            }
        }
        return Some(token.text);
    }
    None
}

fn has_term(analyzer: &Analyzer, text: &str, term: &str, terms: &mut Vec<Term>) -> bool {
    terms.clear();
    for token in tokens(text) {
        analyzer.terms(&token, terms);
    }
    terms.iter().any(|found| found.text == term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn phrases_that_stand_in_texts() {
        for (phrase, text, stands) in [
            ("request body", "The **Request** Body", true),
            ("request body", "a request, body", true),
            ("request body", "request the body", false),
            ("request body", "# Request body\n\nText", true),
            ("request body", "the request\nbody", true),
            ("request body", "# The request\n\nBody", false),
            ("request body fields", "[request body](x.md) fields", true),
            ("x md", "[request body](x.md) fields", false),
            ("see the guide", "see [the `guide`][ref]", true),
            ("file", "a profile", false),
            ("files", "a file", false),
            ("file", "`file.name`", true),
            ("tool call id", "`tool_call_id`", true),
            ("tool_call_id", "tool call id", true),
            ("tool_call_id", "tool_call", false),
            ("cafe creme", "Café  Crème", true),
            ("CAFE\u{301}", "caf\u{e9}", true),
            ("file", "\u{fb01}le", true),
            ("don't do", "Don’t do", true),
            ("1.0.21", "since 1.0.21.", true),
            ("1.0.21", "since v1.0.21-beta", true),
            ("v1.0.21", "since 1.0.21", true),
            ("1.0.21", "1.0.211 and 11.0.21 and 1.0.21.3", false),
            ("1.0.21", "1 0 21", false),
            ("c++", "C and D", false),
            ("c", "C++", false),
            ("c++ and c#", "C++ and C#.", true),
            ("i++", "for (i = 0; i < n; i++) {}", true),
            (
                "kubectl get pods",
                "Run:\n\n```sh\nkubectl get \\\n  pods\n```",
                true,
            ),
            ("卷快照", "在卷快照中", true),
            ("卷快照", "卷的快照", false),
            ("卷快照", "卷**快照**", true),
            ("快 照", "卷快照", true),
            ("BM25検索", "BM25 検索", true),
            ("ｆａｓｔ", "fast", true),
            ("파드", "파드를", true),
            ("a b", "| a | b |\n|---|---|\n| c | d |", true),
            ("b c", "<b>b</b><br>c", true),
        ] {
            let found = Phrase::new(phrase).unwrap().stands_in(text);
            assert_eq!(found, stands, "{phrase:?} in {text:?}");
        }
    }

    #[test]
    fn a_phrase_has_a_letter_or_a_digit() {
        for (text, is_phrase) in [
            ("", false),
            (" ?! ++ ", false),
            ("\u{301}", false),
            ("_x", true),
            ("7", true),
        ] {
            assert_eq!(Phrase::new(text).is_some(), is_phrase, "{text:?}");
        }
    }

    #[test]
    fn words_as_they_are_written() {
        for (text, term, expected) in [
            (
                "Use Authentication or authenticate",
                "authent",
                Some("Authentication"),
            ),
            ("a user.authentication/x", "authent", Some("authentication")),
            ("set maxUploadSize", "upload", Some("maxUploadSize")),
            ("tool_call_id", "toolcallid", Some("tool_call_id")),
            ("a café au lait", "cafe", Some("café")),
            ("C++ code", "c++", Some("C++")),
            ("在卷快照中", "快照", Some("快照")),
            ("nothing here", "authent", None),
            ("", "a", None),
        ] {
            assert_eq!(
                surface_form(text, term, Language::English),
                expected,
                "{term} in {text}"
            );
        }
    }

    proptest! {
        #[test]
        fn words_in_a_row_stand_in_their_text(
            words in prop::collection::vec("[a-zA-Z0-9éÄß検索ピ파]{1,6}([._/-][a-z0-9]{1,4}){0,2}", 1..30),
            from in 0_usize..30,
            count in 1_usize..6,
        ) {
            let from = from.min(words.len() - 1);
            let end = (from + count).min(words.len());
            let phrase = Phrase::new(&words[from..end].join(" ")).unwrap();
            prop_assert!(phrase.stands_in(&words.join(" ")));
            prop_assert!(phrase.stands_in(&words.join(", ")));
        }

        #[test]
        fn any_text_may_be_looked_for_in_any(phrase in "\\PC{0,20}", text in "\\PC{0,200}") {
            if let Some(phrase) = Phrase::new(&phrase) {
                phrase.stands_in(&text);
            }
            if let Some(term) = phrase.split(' ').next() {
                surface_form(&text, term, Language::English);
            }
        }
    }
}
