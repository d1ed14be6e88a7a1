//! Makes terms of tokens, the same for documents and queries.
//!
//! In: a [`Token`]. Out: its terms in order. A plain word gives its stem. An identifier gives its parts,
//! stemmed, and then itself as a whole without punctuation, unstemmed, for every level that has more than one
//! part: `std::vec::with_capacity` gives `std`, `vec`, `with`, `capac`, `withcapacity`,
//! `stdvecwithcapacity`. Short runs of letters and digits (`utf8`, `k8s`, `oauth2`) stay whole. `C++`, `F#` and
//! `.NET` are terms beside their letters. CJK text gives each character and each pair of neighbours.
//!
//! Text is normalised to NFKC, accents are stripped (NFKD without combining marks), letters are lower-cased;
//! stems are those of the Snowball English stemmer (Porter 2). [`crate::format::layout::ANALYZER_VERSION`] is
//! raised when any of this changes.

use super::{
    identifiers,
    tokenizer::{Token, TokenKind},
};
use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization as _, char::canonical_combining_class};

/// A term in bytes: longer ones are no words.
const TERM_LIMIT: usize = 64;
/// A whole identifier is a term up to this many bytes and this many parts between its separators.
const WHOLE_LIMIT: usize = 40;
const WHOLE_PARTS: usize = 6;
/// A run of letters and digits up to this length stays whole.
const GLUED_LIMIT: usize = 8;

/// One term of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) text: String,
    /// How many of the terms directly before it this one is the whole of; 0: a part or a plain word.
    pub(crate) covers: usize,
}

/// Makes terms; cheap to create, not shared between threads.
pub(crate) struct Analyzer {
    stemmer: Stemmer,
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Analyzer")
    }
}

impl Analyzer {
    pub(crate) fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }

    /// Appends the terms of `token`.
    pub(crate) fn terms(&self, token: &Token<'_>, out: &mut Vec<Term>) {
        match token.kind {
            TokenKind::Cjk => cjk_terms(token.text, out),
            TokenKind::Word => self.word_terms(token.text, out),
        }
    }

    fn word_terms(&self, token: &str, out: &mut Vec<Term>) {
        let text = fold(token);
        let first = out.len();
        let (mut segments, mut runs_in_all) = (0_usize, 0_usize);
        let mut whole = String::new();
        for segment in segments_of(&text) {
            let segment_first = out.len();
            let mut segment_whole = String::new();
            let mut runs = 0_usize;
            for run in segment.split(|c: char| !is_run(c)).filter(|run| !run.is_empty()) {
                runs += 1;
                self.run_terms(run, out);
                push_lowercase(run, &mut segment_whole);
            }
            if runs > 1 && runs <= WHOLE_PARTS {
                push_whole(&segment_whole, segment_first, out);
            }
            segments += usize::from(runs > 0);
            runs_in_all += runs;
            whole.push_str(&segment_whole);
        }
        if segments > 1 && runs_in_all <= WHOLE_PARTS {
            push_whole(&whole, first, out);
        }
        if let Some(symbol) = symbol(&text) {
            push_covering(symbol, first, out);
        }
    }

    /// Terms of a run of letters and digits.
    fn run_terms(&self, run: &str, out: &mut Vec<Term>) {
        let first = out.len();
        let mut parts = identifiers::parts(run);
        let Some(part) = parts.next() else { return };
        let is_glued = run.len() <= GLUED_LIMIT && run.contains(|c: char| c.is_numeric());
        if part.len() == run.len() || is_glued {
            self.push_stem(run, out);
            return;
        }
        self.push_stem(part, out);
        for part in parts {
            self.push_stem(part, out);
        }
        let mut whole = String::new();
        push_lowercase(run, &mut whole);
        if whole.len() <= TERM_LIMIT {
            push_covering(whole, first, out);
        }
    }

    fn push_stem(&self, word: &str, out: &mut Vec<Term>) {
        let mut lower = String::with_capacity(word.len());
        push_lowercase(word, &mut lower);
        if lower.len() > TERM_LIMIT {
            return;
        }
        let text = match self.stemmer.stem(&lower) {
            Cow::Owned(stem) => stem,
            Cow::Borrowed(stem) if stem.len() == lower.len() => lower,
            Cow::Borrowed(stem) => stem.to_owned(),
        };
        if !text.is_empty() {
            out.push(Term { text, covers: 0 });
        }
    }
}

/// Removes possessive endings and apostrophes, and folds compatibility forms and accents.
fn fold(token: &str) -> Cow<'_, str> {
    if token.is_ascii() && !token.contains('\'') {
        return Cow::Borrowed(token);
    }
    let folded: String = if token.is_ascii() {
        token.to_owned()
    } else {
        token
            .nfkd()
            .filter(|&c| canonical_combining_class(c) == 0)
            .map(|c| if c == '’' { '\'' } else { c })
            .nfkc()
            .collect()
    };
    let mut text = String::with_capacity(folded.len());
    let mut rest = folded.as_str();
    while let Some(at) = rest.find('\'') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        // Bob's is Bob; don't is dont.
        let ends_word = |tail: &str| !tail.chars().next().is_some_and(|c| is_run(c) || c == '_');
        if let Some(tail) = rest.strip_prefix(['s', 'S']).filter(|tail| ends_word(tail)) {
            rest = tail;
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// A character of a run: what is not a separator.
fn is_run(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        c.is_alphanumeric() || canonical_combining_class(c) != 0
    }
}

/// The names of a qualified name: cut at `.`, `::`, `/`, `:` and `@`.
fn segments_of(token: &str) -> impl Iterator<Item = &str> {
    token
        .split(['.', ':', '/', '@'])
        .filter(|segment| !segment.is_empty())
}

fn push_lowercase(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.extend(word.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
    } else {
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
}

fn push_whole(whole: &str, first: usize, out: &mut Vec<Term>) {
    if whole.len() <= WHOLE_LIMIT {
        push_covering(whole.to_owned(), first, out);
    }
}

/// Appends a term that is the whole of those from `first` on, unless it is the last of them anyway.
fn push_covering(text: String, first: usize, out: &mut Vec<Term>) {
    let covers = out.len() - first;
    if covers == 0 || out.last().is_some_and(|last| last.text == text) {
        return;
    }
    out.push(Term { text, covers });
}

/// `c++`, `f#`, `.net`: names that are nothing without their signs.
fn symbol(token: &str) -> Option<String> {
    let is_symbol = token.ends_with("++")
        || token.ends_with('#')
        || (token.starts_with('.') && !token[1..].contains(['.', '/', ':']));
    (is_symbol && token.len() <= TERM_LIMIT).then(|| {
        let mut text = String::new();
        push_lowercase(token, &mut text);
        text
    })
}

/// Each character, then each pair of neighbours.
fn cjk_terms(run: &str, out: &mut Vec<Term>) {
    let text: Cow<'_, str> = if unicode_normalization::is_nfkc(run) {
        Cow::Borrowed(run)
    } else {
        Cow::Owned(run.nfkc().collect())
    };
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    for width in [1, 2] {
        for window in starts.windows(width + 1) {
            out.push(Term {
                text: text[window[0]..window[width]].to_owned(),
                covers: 0,
            });
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::search::tokenizer::tokens;
    use proptest::prelude::*;

    pub(crate) fn terms_of(text: &str) -> Vec<String> {
        let analyzer = Analyzer::new();
        let mut terms = Vec::new();
        for token in tokens(text) {
            analyzer.terms(&token, &mut terms);
        }
        terms.into_iter().map(|term| term.text).collect()
    }

    #[test]
    fn terms_of_tokens() {
        for (text, expected) in [
            ("Running", &["run"][..]),
            ("the Files", &["the", "file"]),
            ("tool_call_id", &["tool", "call", "id", "toolcallid"]),
            (
                "SQLITE_CONFIG_URI",
                &["sqlite", "config", "uri", "sqliteconfiguri"],
            ),
            (
                "parseHTTPResponse",
                &["pars", "http", "respons", "parsehttpresponse"],
            ),
            (
                "std::vec::with_capacity",
                &[
                    "std",
                    "vec",
                    "with",
                    "capac",
                    "withcapacity",
                    "stdvecwithcapacity",
                ],
            ),
            (
                "fastapi.UploadFile",
                &["fastapi", "upload", "file", "uploadfile", "fastapiuploadfile"],
            ),
            ("utf8 k8s OAuth2 IPv4", &["utf8", "k8s", "oauth2", "ipv4"]),
            ("tutorial001", &["tutori", "001", "tutorial001"]),
            ("1.0.21", &["1", "0", "21", "1021"]),
            ("C++ C# .NET C", &["c", "c++", "c", "c#", "net", ".net", "c"]),
            ("--no-color", &["no", "color", "nocolor"]),
            ("@app.route", &["app", "rout", "approute"]),
            ("Bob's don't Bob’s", &["bob", "dont", "bob"]),
            ("APIs URLs", &["api", "url"]),
            ("Déjà CAFÉ ﬁle", &["deja", "cafe", "file"]),
            ("Быстрый", &["быстрыи"]),
            ("検索", &["検", "索", "検索"]),
            ("BM25検", &["bm25", "検"]),
            ("a_b_c_d_e_f_g", &["a", "b", "c", "d", "e", "f", "g"]),
            ("___", &[]),
        ] {
            assert_eq!(terms_of(text), expected, "{text}");
        }
    }

    #[test]
    fn absurd_words_are_no_terms() {
        assert!(terms_of(&"a".repeat(10_000)).is_empty());
        assert_eq!(terms_of(&"a".repeat(TERM_LIMIT)).len(), 1);
    }

    #[test]
    fn wholes_say_what_they_cover() {
        let analyzer = Analyzer::new();
        let mut terms = Vec::new();
        for token in tokens("x std::tool_call") {
            analyzer.terms(&token, &mut terms);
        }
        let covers: Vec<_> = terms
            .iter()
            .map(|term| (term.text.as_str(), term.covers))
            .collect();
        assert_eq!(
            covers,
            [
                ("x", 0),
                ("std", 0),
                ("tool", 0),
                ("call", 0),
                ("toolcall", 2),
                ("stdtoolcall", 4)
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_has_bounded_terms(text in "\\PC{0,80}") {
            for term in terms_of(&text) {
                prop_assert!(!term.is_empty() && term.len() <= 4 * TERM_LIMIT, "{term:?}");
            }
        }

        #[test]
        fn letter_case_does_not_matter_for_words(word in "[a-z]{1,20}") {
            prop_assert_eq!(terms_of(&word), terms_of(&word.to_uppercase()));
        }
    }
}
