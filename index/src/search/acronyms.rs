//! Acronyms and what they stand for, found where a text says so: `Long Form (LF)` and `LF (Long Form)`.
//!
//! In: the stored Markdown of a record. Out: each [`Acronym`] as often as it stands there. When the whole is known,
//! [`known_pairs`] makes terms of them. The words before the parenthesis must begin with the acronym's letters, one
//! each, where `of`, `and` and the like may be passed over. Spaces, not line ends, stand between the words.

use super::{analyzer::Analyzer, language::Language, tokenizer::tokens};
use std::{borrow::Cow, cmp::Reverse, collections::BTreeMap};

/// Words of a long form, where a hyphen joins two to one.
const WORD_LIMIT: usize = 7;
/// Bytes of a long form: longer ones are no words.
const FORM_LIMIT: usize = 256;
/// Acronyms with their long forms that are kept, the most frequent ones.
const PAIR_LIMIT: usize = 100_000;
/// Words of a long form that need no letter.
const LITTLE_WORDS: [&str; 7] = ["of", "and", "the", "for", "in", "to", "on"];
/// Code and emphasis around an acronym.
const MARKS: [char; 4] = ['`', '*', '_', '"'];

/// An acronym and its long form as they were found, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Acronym {
    pub(crate) letters: String,
    /// Words with one space between them.
    pub(crate) long_form: String,
}

/// Appends the acronyms that a text explains, in linear time.
pub(crate) fn find(markdown: &str, found: &mut Vec<Acronym>) {
    if !markdown.contains('(') {
        return;
    }
    let text = without_links(&without_code_blocks(markdown)).into_owned();
    for (open, _) in text.match_indices('(') {
        let (before, after) = (&text[..open], &text[open + 1..]);
        let acronym = explained_before(before, after).or_else(|| explained_within(before, after));
        found.extend(acronym.filter(|acronym| acronym.long_form.len() <= FORM_LIMIT));
    }
}

/// `Long Form (LF)`.
fn explained_before(before: &str, after: &str) -> Option<Acronym> {
    let inner = after.trim_start().trim_start_matches(MARKS);
    let (letters, rest) = inner.split_at(letters_at_start(inner));
    let letters = letters.strip_suffix('s').unwrap_or(letters);
    let is_closed = rest.trim_start_matches(MARKS).trim_start().starts_with(')');
    if !is_closed || !is_acronym(letters) {
        return None;
    }
    let spaced = words_at_end(before);
    if spaced.len() < 2 {
        return None;
    }
    let words: Vec<&str> = spaced.iter().flat_map(|word| parts(word)).collect();
    // With the little words there can be more words than letters.
    (letters.len()..=letters.len() + 2)
        .filter_map(|count| words.len().checked_sub(count))
        .map(|start| &words[start..])
        .find(|words| begin_with(letters, words))
        .map(|words| acronym(letters, words))
}

/// `LF (Long Form)`.
fn explained_within(before: &str, after: &str) -> Option<Acronym> {
    let before = before.trim_end();
    let start = before.rfind(|c: char| !c.is_ascii_alphabetic());
    let start = match start.and_then(|at| before[at..].chars().next().map(|c| (at, c))) {
        Some((_, c)) if c.is_alphanumeric() || c == '_' => return None,
        Some((at, c)) => at + c.len_utf8(),
        None => 0,
    };
    let letters = &before[start..];
    if !is_acronym(letters) {
        return None;
    }
    let inner = &after[..after.find(['(', ')'])?];
    if !after[inner.len()..].starts_with(')') || inner.starts_with(' ') || inner.ends_with(' ') {
        return None;
    }
    let spaced: Vec<&str> = inner
        .split(' ')
        .filter(|word| !word.is_empty())
        .take(WORD_LIMIT + 1)
        .collect();
    let (last, first) = spaced.split_last()?;
    let is_form = (1..WORD_LIMIT).contains(&first.len())
        && spaced.iter().all(|word| word.chars().all(is_word))
        && first
            .iter()
            .all(|word| word.starts_with(|c: char| c.is_ascii_uppercase()))
        && last.starts_with(|c: char| c.is_ascii_alphabetic());
    let words: Vec<&str> = spaced.iter().flat_map(|word| parts(word)).collect();
    (is_form && begin_with(letters, &words)).then(|| acronym(letters, &words))
}

fn acronym(letters: &str, words: &[&str]) -> Acronym {
    Acronym {
        letters: letters.to_ascii_lowercase(),
        long_form: words.join(" ").to_lowercase(),
    }
}

/// Two letters or more, the first and the last upper-case.
fn is_acronym(letters: &str) -> bool {
    let bytes = letters.as_bytes();
    bytes.len() > 1
        && bytes.iter().all(u8::is_ascii_alphabetic)
        && [bytes.first(), bytes.last()]
            .iter()
            .all(|byte| byte.is_some_and(u8::is_ascii_uppercase))
}

fn letters_at_start(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(text.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split('-').filter(|part| !part.is_empty())
}

/// Whether words begin with the letters, one each, or do without their little words.
fn begin_with(letters: &str, words: &[&str]) -> bool {
    let is_little = |word: &str| {
        LITTLE_WORDS
            .iter()
            .any(|little| word.eq_ignore_ascii_case(little))
    };
    let initial = |word: &&str| word.as_bytes().first().map(u8::to_ascii_uppercase);
    let letters = || letters.bytes().map(|byte| Some(byte.to_ascii_uppercase()));
    words.iter().map(initial).eq(letters())
        || words
            .iter()
            .filter(|word| !is_little(word))
            .map(initial)
            .eq(letters())
}

/// The last words of a text, in order, with spaces alone between them; each begins with a letter.
fn words_at_end(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_end_matches(' ');
    while words.len() < WORD_LIMIT {
        let start = rest
            .char_indices()
            .rev()
            .take_while(|&(_, c)| is_word(c))
            .last()
            .map_or(rest.len(), |(at, _)| at);
        let word = &rest[start..];
        let trimmed = word.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        if !trimmed.is_empty() {
            words.push(trimmed);
        }
        let before = rest[..start].trim_end_matches(' ');
        if trimmed.len() < word.len() || before.len() == start {
            break;
        }
        rest = before;
    }
    words.reverse();
    words
}

/// The lines outside of fences.
fn without_code_blocks(markdown: &str) -> Cow<'_, str> {
    if !markdown.contains("```") && !markdown.contains("~~~") {
        return Cow::Borrowed(markdown);
    }
    let mut text = String::with_capacity(markdown.len());
    let mut fence: Option<&str> = None;
    for line in markdown.split_inclusive('\n') {
        let content = line.trim();
        if let Some(open) = fence {
            if content.starts_with(open) && content.trim_start_matches(&open[..1]).is_empty() {
                fence = None;
            }
        } else {
            fence = opening_fence(content);
            if fence.is_none() {
                text.push_str(line);
            }
        }
    }
    Cow::Owned(text)
}

fn opening_fence(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let info = line.trim_start_matches(sign);
    let length = line.len() - info.len();
    (length > 2 && !(sign == '`' && info.contains('`'))).then(|| &line[..length])
}

/// Links as their texts.
fn without_links(text: &str) -> Cow<'_, str> {
    if !text.contains("](") {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = 0;
    // The next of each sign is looked for once: what has been passed over is not read again.
    let (mut square, mut round) = (NextSign::new(']'), NextSign::new(')'));
    for (open, _) in text.match_indices('[') {
        if open < rest {
            continue;
        }
        let Some(close) = square.after(text, open) else {
            break;
        };
        if !text[close + 1..].starts_with('(') {
            continue;
        }
        let Some(end) = round.after(text, close) else {
            break;
        };
        plain.push_str(&text[rest..open]);
        plain.push_str(&text[open + 1..close]);
        rest = end + 1;
    }
    plain.push_str(&text[rest..]);
    Cow::Owned(plain)
}

struct NextSign {
    sign: char,
    place: usize,
}

impl NextSign {
    fn new(sign: char) -> Self {
        Self { sign, place: 0 }
    }

    /// Place of the first sign at or after `from`, which never goes back.
    fn after(&mut self, text: &str, from: usize) -> Option<usize> {
        if self.place < from || !text[self.place..].starts_with(self.sign) {
            let from = from.max(self.place);
            self.place = from + text[from..].find(self.sign)?;
        }
        Some(self.place)
    }
}

/// The acronyms as one term each with the terms of their long forms, the most frequent pairs first and pairs of equal
/// frequency by bytes; without those that have a term that is not known.
pub(crate) fn known_pairs(
    found: &BTreeMap<Acronym, u32>,
    is_known: impl Fn(&str) -> bool,
) -> Vec<(String, Vec<String>)> {
    let analyzer = Analyzer::new(Language::English);
    let terms_of = |text: &str| {
        let mut terms = Vec::new();
        for token in tokens(text) {
            analyzer.terms(&token, &mut terms);
        }
        terms.into_iter().map(|term| term.text).collect::<Vec<String>>()
    };
    let mut counts: BTreeMap<(String, Vec<String>), u32> = BTreeMap::new();
    for (acronym, &count) in found {
        let form = terms_of(&acronym.long_form);
        let Ok([letters]) = <[String; 1]>::try_from(terms_of(&acronym.letters)) else {
            continue;
        };
        if form.len() > 1 && is_known(&letters) && form.iter().all(|term| is_known(term)) {
            let sum = counts.entry((letters, form)).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    let mut pairs: Vec<_> = counts.into_iter().collect();
    pairs.sort_by_key(|&(_, count)| Reverse(count));
    pairs.truncate(PAIR_LIMIT);
    pairs.into_iter().map(|(pair, _)| pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(markdown: &str) -> Vec<String> {
        let mut found = Vec::new();
        find(markdown, &mut found);
        found
            .into_iter()
            .map(|acronym| format!("{}: {}", acronym.letters, acronym.long_form))
            .collect()
    }

    #[test]
    fn acronyms_are_found_where_a_text_explains_them() {
        for (markdown, expected) in [
            (
                "Use Role Based Access Control (RBAC).",
                "rbac: role based access control",
            ),
            (
                "role-based access  control(RBAC)",
                "rbac: role based access control",
            ),
            ("the long term support (`LTS`) line", "lts: long term support"),
            (
                "A Custom Resource Definition ( **CRDs** )",
                "crd: custom resource definition",
            ),
            (
                "Custom Resource Definitions (CRDs)",
                "crd: custom resource definitions",
            ),
            ("Point of Sale (PoS)", "pos: point of sale"),
            (
                "Department of the Interior (DI)",
                "di: department of the interior",
            ),
            (
                "The [Server Side](a.md#b) Rendering ([SSR](c.md))",
                "ssr: server side rendering",
            ),
            (
                "**Horizontal Pod Autoscaler (HPA)**",
                "hpa: horizontal pod autoscaler",
            ),
            (
                "CORS (Cross-Origin Resource Sharing)",
                "cors: cross origin resource sharing",
            ),
            (
                "An API (Application Programming Interface) is",
                "api: application programming interface",
            ),
            ("TTL\n(Time To live)", "ttl: time to live"),
            ("1. Über uns: Deep Text Form (DTF)", "dtf: deep text form"),
            (
                "```\nA Bad Code (ABC)\n```\nA Good Text (AGT)",
                "agt: a good text",
            ),
            ("``` x ``` A Good Text (AGT)", "agt: a good text"),
        ] {
            assert_eq!(found(markdown), [expected], "{markdown}");
        }
    }

    #[test]
    fn other_parentheses_explain_nothing() {
        for markdown in [
            "",
            "(LF)",
            "Form (F)",
            "Long Form (lf)",
            "Long Form (L)",
            "Long Form (LF",
            "Long Form (LFX)",
            "Long Form (LF) [",
            "Long, Form (LF)",
            "Long\nForm (LF)",
            "xLF (Long Form",
            "_LF (Long Form)",
            "2LF (Long Form)",
            "LF ( Long Form)",
            "LF (long form)",
            "LF (Long)",
            "LF (Long (Form))",
            "~~~~\nLong Form (LF)\n~~~\n",
            "[Long Form](LF)",
        ] {
            let expected: &[&str] = if markdown == "Long Form (LF) [" {
                &["lf: long form"]
            } else {
                &[]
            };
            assert_eq!(found(markdown), expected, "{markdown}");
        }
    }

    #[test]
    fn hostile_text_is_read_in_linear_time() {
        for piece in [
            "[", "](", "[](", "(", "( ", "a ", "A B (", "A-", "LF (A ", "`", "```\n", "[a]( ",
        ] {
            let text = piece.repeat(2_000_000 / piece.len());
            assert!(found(&text).is_empty(), "{piece}");
            assert!(found(&format!("{text}(AB)")).len() < 2, "{piece}");
        }
    }

    #[test]
    fn pairs_are_terms_the_most_frequent_first() {
        let acronym = |letters: &str, long_form: &str| Acronym {
            letters: letters.to_owned(),
            long_form: long_form.to_owned(),
        };
        let counts = BTreeMap::from([
            (acronym("ci", "continuous integration"), 2),
            (acronym("ci", "continuous integrations"), 2),
            (acronym("ci", "command interpreter"), 3),
            (acronym("ab", "unknown word"), 9),
            (acronym("dl", "download"), 9),
            (acronym("cd", "continuous delivery"), 3),
        ]);
        let pairs: Vec<String> = known_pairs(&counts, |term| term != "unknown")
            .into_iter()
            .map(|(letters, form)| format!("{letters}: {}", form.join(" ")))
            .collect();
        assert_eq!(
            pairs,
            [
                "ci: continu integr",
                "cd: continu deliveri",
                "ci: command interpret"
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[A-Ca-c (){2}\\[\\]`é_-]{0,60}") {
            for acronym in found(&text) {
                prop_assert!(acronym.len() > 5, "{}", acronym);
            }
        }
    }
}
