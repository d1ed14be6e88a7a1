//! Turns the text of a query into groups of weighted terms.
//!
//! In: any text; there is no query syntax, so none can be wrong. Out: [`Query`]: one group for each distinct
//! term, in the order of the text. Question words are left out unless nothing else is left. The parts of an
//! identifier count half where the index knows the whole. A group holds one term today; synonyms, a typo
//! candidate and acronyms will join the group of the term they stand for, with weights of their own.

use super::{
    analyzer::{Analyzer, Term},
    edit_distance::Spelling,
    tokenizer::{Token, TokenKind, tokens},
};
use crate::{
    error::ReadError,
    format::term_dictionary::{Dictionary, TermEntry},
    text::cut_at_boundary,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// Terms of a query; what a longer one has beyond them is not searched for.
pub(crate) const TERM_LIMIT: usize = 64;
/// Words of a query that are looked up, known or not.
const WORD_LIMIT: usize = 256;
/// Bytes of a query that are looked at.
const TEXT_LIMIT: usize = 32 * 1024;
/// Terms offered for an unknown word.
const NEAREST_LIMIT: usize = 3;
/// Weight of an identifier's part where its whole is known.
const PART_WEIGHT: f32 = 0.5;

static QUESTION_WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    include_str!("question_words.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
});

/// A query taken apart.
#[derive(Debug)]
pub(crate) struct Query<'i> {
    /// In the order of the text.
    pub(crate) groups: Vec<Group<'i>>,
    /// Words no term of which the index has, as they were typed.
    pub(crate) unknown_words: Vec<String>,
    /// Whether the text had more than the limit.
    pub(crate) is_truncated: bool,
}

/// A term of the query with what stands for it.
#[derive(Debug)]
pub(crate) struct Group<'i> {
    /// The query's own term.
    pub(crate) text: String,
    /// 1, or less for a part of an identifier.
    pub(crate) weight: f32,
    /// The word it comes from looks like code, or is the whole query.
    pub(crate) is_code: bool,
    /// Members with their weights.
    pub(crate) members: Vec<(TermEntry<'i>, f32)>,
    /// Section frequency of the query's own term.
    pub(crate) section_frequency: u32,
}

/// Takes a query apart against the dictionary of an index.
pub(crate) fn parse<'i>(text: &str, dictionary: &Dictionary<'i>) -> Result<Query<'i>, ReadError> {
    let whole = text;
    let text = cut_at_boundary(whole, TEXT_LIMIT);
    let meaningful: Vec<Token<'_>> = tokens(text)
        .filter(|token| !is_question_word(token.text))
        .collect();
    let words = if meaningful.is_empty() {
        tokens(text).collect()
    } else {
        meaningful
    };
    let mut builder = Builder {
        dictionary,
        places: FxHashMap::default(),
        groups: Vec::new(),
        is_truncated: false,
    };
    let is_single = words.len() == 1;
    let analyzer = Analyzer::new();
    let mut unknown_words: Vec<String> = Vec::new();
    let is_long = words.len() > WORD_LIMIT;
    let mut terms = Vec::new();
    for word in words.iter().take(WORD_LIMIT) {
        terms.clear();
        analyzer.terms(word, &mut terms);
        let is_known = builder.add(&terms, is_single || looks_like_code(word))?;
        if !is_known && !terms.is_empty() && !unknown_words.iter().any(|known| known == word.text) {
            unknown_words.push(word.text.to_owned());
        }
        if builder.is_truncated {
            break;
        }
    }
    Ok(Query {
        groups: builder.groups,
        unknown_words,
        is_truncated: builder.is_truncated || is_long || text.len() < whole.len(),
    })
}

/// Terms that are spelled like an unknown word: one edit away, two from seven letters on, with the same first
/// letter. For people and models to read; a search does not use them.
pub(crate) fn nearest(word: &str, dictionary: &Dictionary<'_>) -> Result<Vec<String>, ReadError> {
    let analyzer = Analyzer::new();
    let mut terms = Vec::new();
    for token in tokens(word) {
        analyzer.terms(&token, &mut terms);
    }
    let Some(term) = terms.first().filter(|_| terms.len() == 1) else {
        return Ok(Vec::new());
    };
    let limit = match term.text.len() {
        0..4 => return Ok(Vec::new()),
        4..7 => 1,
        _ => 2,
    };
    let Some(spelling) = Spelling::new(&term.text, limit) else {
        return Ok(Vec::new());
    };
    let mut found = dictionary.accepted_by(spelling)?;
    found.retain(|(_, frequency)| *frequency > 0);
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found.truncate(NEAREST_LIMIT);
    Ok(found.into_iter().map(|(term, _)| term).collect())
}

fn is_question_word(word: &str) -> bool {
    if word.len() > 12 {
        return false;
    }
    let plain: String = word
        .to_lowercase()
        .chars()
        .filter(|&c| c != '\'' && c != '’')
        .collect();
    QUESTION_WORDS.contains(plain.as_str())
}

/// `tool_call_id`, `std::vec`, `os.path`, `--flag`, `camelCase`, `sha256`, `JSONResponse`.
fn looks_like_code(token: &Token<'_>) -> bool {
    if token.kind == TokenKind::Cjk {
        return false;
    }
    let bytes = token.text.as_bytes();
    let capitals = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    bytes.iter().any(|byte| b"_@$#".contains(byte))
        || token.text.contains("::")
        || bytes.first() == Some(&b'-')
        || bytes
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        || bytes.windows(3).any(|three| {
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
            (is_word(three[0]) && three[1] == b'.' && is_word(three[2]))
                || (three[0].is_ascii_alphabetic()
                    && three[1].is_ascii_alphabetic()
                    && three[2].is_ascii_digit())
        })
        || (capitals >= 2 && bytes.get(capitals).is_some_and(u8::is_ascii_lowercase))
}

struct Builder<'d, 'i> {
    dictionary: &'d Dictionary<'i>,
    places: FxHashMap<String, usize>,
    groups: Vec<Group<'i>>,
    is_truncated: bool,
}

impl Builder<'_, '_> {
    /// Adds the terms of one word; says whether the index has any of them.
    fn add(&mut self, terms: &[Term], is_code: bool) -> Result<bool, ReadError> {
        let entries = terms
            .iter()
            .map(|term| self.dictionary.find(&term.text))
            .collect::<Result<Vec<_>, _>>()?;
        let mut weights = vec![1.0; terms.len()];
        for (place, (term, entry)) in terms.iter().zip(&entries).enumerate() {
            if entry.is_some() {
                weights[place - term.covers..place].fill(PART_WEIGHT);
            }
        }
        let mut is_known = false;
        for ((term, entry), weight) in terms.iter().zip(entries).zip(weights) {
            let Some(entry) = entry else { continue };
            is_known = true;
            if let Some(&place) = self.places.get(&term.text) {
                let group = &mut self.groups[place];
                group.weight = group.weight.max(weight);
                group.is_code |= is_code;
                continue;
            }
            if self.groups.len() == TERM_LIMIT {
                self.is_truncated = true;
                break;
            }
            self.places.insert(term.text.clone(), self.groups.len());
            self.groups.push(Group {
                text: term.text.clone(),
                weight,
                is_code,
                members: vec![(entry, 1.0)],
                section_frequency: entry.section_frequency,
            });
        }
        Ok(is_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::term_dictionary::DictionaryWriter;
    use proptest::prelude::*;

    fn dictionary(terms: &[&str]) -> (Vec<u8>, Vec<u8>) {
        let mut terms = terms.to_vec();
        terms.sort_unstable();
        let mut writer = DictionaryWriter::new();
        for (frequency, term) in (1..).zip(terms) {
            writer
                .add(term.as_bytes(), frequency, (0, &[]), (0, &[]))
                .unwrap();
        }
        let (terms, postings, _) = writer.finish().unwrap();
        (terms, postings)
    }

    fn groups(text: &str, known: &[&str]) -> Vec<(String, f32, bool)> {
        let (terms, postings) = dictionary(known);
        let query = parse(text, &Dictionary::new(&terms, &postings, 1, 1)).unwrap();
        query
            .groups
            .into_iter()
            .map(|group| (group.text, group.weight, group.is_code))
            .collect()
    }

    fn group(text: &str, weight: f32, is_code: bool) -> (String, f32, bool) {
        (text.to_owned(), weight, is_code)
    }

    #[test]
    fn question_words_are_left_out_unless_nothing_is_left() {
        let known = ["how", "do", "i", "upload", "file", "for", "if"];
        assert_eq!(
            groups("How do I upload a file, a file?", &known),
            [group("upload", 1.0, false), group("file", 1.0, false)]
        );
        assert_eq!(
            groups("for if", &known),
            [group("for", 1.0, false), group("if", 1.0, false)]
        );
        assert_eq!(groups("for", &known), [group("for", 1.0, true)]);
        assert!(groups("", &known).is_empty());
    }

    #[test]
    fn parts_count_half_where_the_whole_is_known() {
        assert_eq!(
            groups("see tool_call_id", &["see", "tool", "call", "id", "toolcallid"]),
            [
                group("see", 1.0, false),
                group("tool", 0.5, true),
                group("call", 0.5, true),
                group("id", 0.5, true),
                group("toolcallid", 1.0, true)
            ]
        );
        assert_eq!(
            groups("see tool_call", &["see", "tool", "call"]),
            [
                group("see", 1.0, false),
                group("tool", 1.0, true),
                group("call", 1.0, true)
            ]
        );
        // A term met again with its full weight keeps it.
        assert_eq!(
            groups("see C++ C", &["see", "c", "c++"]),
            [
                group("see", 1.0, false),
                group("c", 1.0, false),
                group("c++", 1.0, false)
            ]
        );
    }

    #[test]
    fn code_is_told_from_words() {
        for (text, expected) in [
            ("word", false),
            ("Word", false),
            ("HTTP", false),
            ("don't", false),
            ("well-known", false),
            ("snake_case", true),
            ("std::vec", true),
            ("os.path", true),
            ("--flag", true),
            ("camelCase", true),
            ("sha256", true),
            ("JSONResponse", true),
            ("@app", true),
            ("検索", false),
        ] {
            assert_eq!(looks_like_code(&tokens(text).next().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn unknown_words_are_named_as_typed() {
        let (terms, postings) = dictionary(&["file"]);
        let query = parse(
            "Uplaod Files uplaod Uplaod",
            &Dictionary::new(&terms, &postings, 1, 1),
        )
        .unwrap();
        assert_eq!(query.unknown_words, ["Uplaod", "uplaod"]);
        assert!(!query.is_truncated);
    }

    #[test]
    fn long_queries_are_cut_and_say_so() {
        let words: Vec<String> = (0..500).map(|i| format!("w{i}")).collect();
        let known: Vec<&str> = words.iter().map(String::as_str).collect();
        let (terms, postings) = dictionary(&known);
        let dictionary = Dictionary::new(&terms, &postings, 1, 1);
        let query = parse(&words.join(" "), &dictionary).unwrap();
        assert_eq!(query.groups.len(), TERM_LIMIT);
        assert!(query.is_truncated);
        assert!(!parse("w1 w2", &dictionary).unwrap().is_truncated);
        let unknown = (0..5000).map(|i| format!("z{i}")).collect::<Vec<_>>().join(" ");
        let query = parse(&unknown, &dictionary).unwrap();
        assert_eq!(
            (query.unknown_words.len(), query.is_truncated),
            (WORD_LIMIT, true)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in "\\PC{0,200}") {
            let (terms, postings) = dictionary(&["a"]);
            prop_assert!(parse(&text, &Dictionary::new(&terms, &postings, 1, 1)).is_ok());
        }
    }
}
