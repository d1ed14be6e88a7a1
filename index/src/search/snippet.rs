//! Chooses the passage of a section that answers a query best.
//!
//! In: the section's text without its heading, the weights of the query's terms, and a number of characters.
//! Out: a [`Snippet`]: the run of words that covers most of the query's weight, where possible from the start
//! of a sentence or a line, white space folded, cut between words and never inside a code span.
//!
//! A snippet is read, not rendered: fence lines, tags, emphasis marks and the destinations of links are left
//! out, so that its characters say something. It is `complete` only if nothing that matters was left out.

use super::{
    analyzer::{Analyzer, Term},
    tokenizer::{Token, tokens},
};
use crate::text::cut_at_boundary;
use rustc_hash::FxHashMap;

/// Stands where text was left out.
const CUT: char = '…';
/// Characters of a tag, a link's text or a destination that is recognised.
const INLINE_LIMIT: usize = 1000;
/// Bytes of a part that are looked at; parts are much shorter unless their limit was raised.
const TEXT_LIMIT: usize = 64 * 1024;
/// Links in links.
const DEPTH_LIMIT: usize = 3;
/// What the start of a sentence is worth, in shares of the query's weight.
const SENTENCE_BONUS: f32 = 0.08;
/// What it costs if everything before the first term found is of no interest, in shares of the query's weight.
const LATE_COST: f32 = 0.06;
/// What each further occurrence of a term is worth, in shares of the term's weight.
const REPEAT_BONUS: f32 = 0.02;

/// A passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    /// The passage is all of the text, and nothing of use was left out of it.
    pub(crate) is_complete: bool,
}

/// What a snippet looks for: the terms of a query with their weights.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Place in `weights`.
    terms: FxHashMap<String, usize>,
    weights: Vec<f32>,
    beginnings: Beginnings,
    analyzer: Analyzer,
    /// What was found in tokens met before: the same words stand in all hits of a query.
    known: FxHashMap<String, Vec<usize>>,
}

impl Wanted {
    pub(crate) fn new(terms: impl Iterator<Item = (String, f32)>) -> Self {
        let mut wanted = Self {
            terms: FxHashMap::default(),
            weights: Vec::new(),
            beginnings: Beginnings::default(),
            analyzer: Analyzer::new(),
            known: FxHashMap::default(),
        };
        for (term, weight) in terms {
            wanted.beginnings.add(&term);
            wanted.terms.insert(term, wanted.weights.len());
            wanted.weights.push(weight);
        }
        wanted
    }

    /// Appends the places of the terms of `token`.
    fn find(&mut self, token: &Token<'_>, scratch: &mut Vec<Term>, found: &mut Vec<usize>) {
        if !self.beginnings.may_have(token.text) {
            return;
        }
        if let Some(places) = self.known.get(token.text) {
            found.extend(places);
            return;
        }
        scratch.clear();
        self.analyzer.terms(token, scratch);
        let places: Vec<usize> = scratch
            .iter()
            .filter_map(|term| self.terms.get(&term.text).copied())
            .collect();
        found.extend(&places);
        self.known.insert(token.text.to_owned(), places);
    }
}

/// The first two letters of terms: most words of a text are passed over by theirs, without being analyzed.
#[derive(Debug, Default)]
struct Beginnings {
    /// For each first letter a to z the second letters, a bit for each.
    second: [u32; 26],
    /// A term begins with something else.
    has_other: bool,
}

impl Beginnings {
    fn add(&mut self, term: &str) {
        let mut letters = term.bytes().map(letter);
        if let Some(Some(first)) = letters.next() {
            self.second[first] |= match letters.next() {
                // A stem's last letter may differ from the word's: day, dai.
                Some(Some(second)) if term.len() > 2 => 1 << second,
                _ => u32::MAX,
            };
        } else {
            self.has_other = true;
        }
    }

    /// False only for a token that has none of the terms. A plain word can have them at its start alone, an
    /// identifier at any of its seams.
    fn may_have(&self, token: &str) -> bool {
        if self.has_other || !token.is_ascii() {
            return true;
        }
        let bytes = token.as_bytes();
        let is_plain = bytes.first().is_some_and(u8::is_ascii_alphabetic)
            && bytes.iter().skip(1).all(u8::is_ascii_lowercase);
        let places = if is_plain { 1 } else { bytes.len() };
        (0..places).any(|place| {
            match (
                letter(bytes[place]),
                bytes.get(place + 1).copied().and_then(letter),
            ) {
                (Some(first), Some(second)) => self.second[first] & (1 << second) != 0,
                // A letter by itself, or before an apostrophe: enough that a term begins with it.
                (Some(first), None) => self.second[first] != 0,
                (None, _) => false,
            }
        })
    }
}

/// 0 to 25 for a to z in any case.
fn letter(byte: u8) -> Option<usize> {
    byte.is_ascii_alphabetic()
        .then(|| usize::from(byte.to_ascii_lowercase() - b'a'))
}

/// The best passage of `body` of at most `limit` characters.
pub(crate) fn choose(body: &str, wanted: &mut Wanted, limit: usize) -> Snippet {
    let reading = Reading::of(body);
    let words = &reading.words;
    if limit == 0 || words.is_empty() {
        return Snippet {
            text: String::new(),
            is_complete: words.is_empty() && reading.is_lossless,
        };
    }
    let (start, end) = window(&reading, wanted, limit);
    let mut text = String::with_capacity(2 * limit);
    if start > 0 {
        text.push(CUT);
        text.push(' ');
    }
    text.push_str(&reading.text[words[start].start..words[end - 1].end]);
    if end < words.len() {
        text.push(' ');
        text.push(CUT);
    }
    if text.chars().count() > limit {
        // A single word longer than the passage may be.
        return Snippet {
            text: cut_word(&text, limit),
            is_complete: false,
        };
    }
    Snippet {
        text,
        is_complete: start == 0 && end == words.len() && reading.is_lossless,
    }
}

/// The first `limit` characters of a word; a code span that is cut open loses its marks.
fn cut_word(word: &str, limit: usize) -> String {
    let plain = word
        .replace('`', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let mut cut: String = plain.chars().take(limit.saturating_sub(1)).collect();
    cut.push(CUT);
    cut
}

/// The run of words that is worth most: covered weight, then the start of a sentence, then how soon and how
/// often.
#[expect(clippy::cast_precision_loss, reason = "a few thousand characters")]
fn window(reading: &Reading, wanted: &mut Wanted, limit: usize) -> (usize, usize) {
    let words = &reading.words;
    let found = Occurrences::of(reading, wanted);
    let wanted = &*wanted;
    let total: f32 = wanted.weights.iter().sum();
    let mut counts = vec![0_usize; wanted.weights.len()];
    let (mut end, mut length) = (0_usize, 0_usize);
    let mut covered = 0.0_f32;
    let mut repeated = 0.0_f32;
    let mut best = (0, 0, f32::NEG_INFINITY);
    let waits = characters_to_first_match(words, &found);
    for start in 0..words.len() {
        // Marks of the cut take their place at both ends.
        let room = limit.saturating_sub(if start > 0 { 2 } else { 0 });
        while end < words.len() {
            let more = words[end].chars + usize::from(end > start);
            let mark = if end + 1 < words.len() { 2 } else { 0 };
            if end > start && length + more + mark > room {
                break;
            }
            length += more;
            for &term in found.in_word(end) {
                if counts[term] == 0 {
                    covered += wanted.weights[term];
                } else {
                    repeated += wanted.weights[term];
                }
                counts[term] += 1;
            }
            end += 1;
        }
        let sentence = if words[start].begins_sentence || start == 0 {
            SENTENCE_BONUS * total
        } else {
            0.0
        };
        let late = LATE_COST * total * (waits[start].min(limit) as f32 / limit as f32);
        let worth = covered + sentence + REPEAT_BONUS * repeated - late;
        // Later passages must be better by more than rounding.
        if worth > best.2 + total * 1e-4 || best.1 == 0 {
            best = (start, end, worth);
        }
        // Take the first word out again.
        for &term in found.in_word(start) {
            counts[term] -= 1;
            if counts[term] == 0 {
                covered -= wanted.weights[term];
            } else {
                repeated -= wanted.weights[term];
            }
        }
        length = length.saturating_sub(words[start].chars + usize::from(end > start + 1));
    }
    fill(words, (best.0, best.1), limit)
}

/// For each word how many characters stand before the next word with a term, that word's own not counted.
fn characters_to_first_match(words: &[Word], found: &Occurrences) -> Vec<usize> {
    let mut waits = vec![0; words.len()];
    let mut wait = usize::MAX;
    for place in (0..words.len()).rev() {
        wait = if found.in_word(place).is_empty() {
            wait.saturating_add(words[place].chars + 1)
        } else {
            0
        };
        waits[place] = wait;
    }
    waits
}

/// Gives a passage that is short, at the end of the text or before a long word, the words before it that there
/// is room for.
fn fill(words: &[Word], (mut start, end): (usize, usize), limit: usize) -> (usize, usize) {
    let mark_after = if end < words.len() { 2 } else { 0 };
    let mut length = mark_after
        + words[start..end]
            .iter()
            .map(|word| word.chars + 1)
            .sum::<usize>()
            .saturating_sub(1);
    if end < words.len() && length + 2 >= limit - limit / 10 {
        return (start, end);
    }
    while start > 0 {
        let mark_before = if start > 1 { 2 } else { 0 };
        length += words[start - 1].chars + 1;
        if length + mark_before > limit {
            break;
        }
        start -= 1;
    }
    (start, end)
}

/// The query's terms that stand in each word.
struct Occurrences {
    terms: Vec<usize>,
    /// For each word where its terms begin in `terms`; one more for the end.
    starts: Vec<usize>,
}

impl Occurrences {
    fn of(reading: &Reading, wanted: &mut Wanted) -> Self {
        let mut found = Self {
            terms: Vec::new(),
            starts: Vec::with_capacity(reading.words.len() + 1),
        };
        let mut scratch = Vec::new();
        let mut tokens = tokens(&reading.text).peekable();
        for word in &reading.words {
            found.starts.push(found.terms.len());
            while let Some(token) = tokens.next_if(|token| token.start < word.end) {
                wanted.find(&token, &mut scratch, &mut found.terms);
            }
        }
        found.starts.push(found.terms.len());
        found
    }

    fn in_word(&self, word: usize) -> &[usize] {
        &self.terms[self.starts[word]..self.starts[word + 1]]
    }
}

/// What is not cut: a run without white space, or a code span with what touches it.
#[derive(Debug, Clone, Copy)]
struct Word {
    /// Place in the reading's text.
    start: usize,
    end: usize,
    chars: usize,
    begins_sentence: bool,
}

/// A Markdown text as it is read: its words, one space between them.
#[derive(Debug)]
struct Reading {
    text: String,
    words: Vec<Word>,
    /// Where the word that is being read begins in `text`.
    open: usize,
    /// The next word begins a sentence or a line of code.
    at_start: bool,
    /// Nothing was left out but marks.
    is_lossless: bool,
}

impl Reading {
    fn of(text: &str) -> Self {
        let body = cut_at_boundary(text, TEXT_LIMIT);
        let mut reading = Self {
            text: String::with_capacity(body.len()),
            words: Vec::new(),
            open: 0,
            at_start: true,
            is_lossless: body.len() == text.len(),
        };
        let mut fence: Option<(u8, usize)> = None;
        let mut prose_start = 0;
        let mut at = 0;
        for line in body.split_inclusive('\n') {
            let run = fence_run(line);
            match (fence, run) {
                (None, Some((mark, length, _))) => {
                    reading.prose(&body[prose_start..at]);
                    fence = Some((mark, length));
                    // Folded to one line, code is no longer what it was.
                    reading.is_lossless = false;
                }
                (Some((mark, length)), Some((other, run, is_bare)))
                    if other == mark && run >= length && is_bare =>
                {
                    fence = None;
                    prose_start = at + line.len();
                    reading.at_start = true;
                }
                (Some(_), _) => reading.code_line(line),
                (None, None) => {}
            }
            at += line.len();
        }
        if fence.is_none() {
            reading.prose(&body[prose_start..]);
        }
        reading.close();
        reading
    }

    /// Ends the word that is being read.
    fn close(&mut self) {
        let (start, end) = (self.open, self.text.len());
        if start == end {
            return;
        }
        let word = &self.text[start..end];
        let is_end = word
            .trim_end_matches(['"', '\'', ')', '*', '”', '’'])
            .ends_with(['.', '!', '?', ':', '。', '！', '？']);
        let chars = word.chars().count();
        self.words.push(Word {
            start,
            end,
            chars,
            begins_sentence: self.at_start,
        });
        self.at_start = is_end;
        self.text.push(' ');
        self.open = self.text.len();
    }

    fn code_line(&mut self, line: &str) {
        self.close();
        self.at_start = true;
        for word in line.split_whitespace() {
            self.text.push_str(word);
            self.close();
            self.at_start = false;
        }
    }

    fn prose(&mut self, text: &str) {
        self.inline(text, 0);
        self.close();
        self.at_start = true;
    }

    fn inline(&mut self, text: &str, depth: usize) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &text[at..];
            match byte {
                b'\n' => {
                    self.close();
                    let next = rest[1..].trim_start_matches([' ', '\t']);
                    // A blank line, a list item or a table row begins anew.
                    self.at_start |= next.starts_with(['\n', '-', '*', '+', '|', '#', '>']);
                    at += 1;
                }
                b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => {
                    self.text.push_str(&rest[..2]);
                    at += 2;
                }
                b'`' => at += self.code_span(rest),
                b'*' if rest.starts_with("**") => at += 2,
                b'!' if rest.starts_with("![") => match link(&rest[1..]) {
                    Some(found) if depth < DEPTH_LIMIT => {
                        self.is_lossless = false;
                        self.inline(found.text, depth + 1);
                        at += 1 + found.length;
                    }
                    _ => {
                        self.text.push('!');
                        at += 1;
                    }
                },
                b'[' => match link(rest) {
                    Some(found) if depth < DEPTH_LIMIT => {
                        self.is_lossless = false;
                        self.inline(found.text, depth + 1);
                        at += found.length;
                    }
                    _ => {
                        self.text.push('[');
                        at += 1;
                    }
                },
                b'<' => {
                    if let Some(length) = tag_length(rest) {
                        let inner = &rest[1..length - 1];
                        if inner.contains("://") && !inner.contains(char::is_whitespace) {
                            self.text.push_str(inner);
                        } else {
                            self.is_lossless = false;
                        }
                        at += length;
                    } else {
                        self.text.push('<');
                        at += 1;
                    }
                }
                _ if is_plain(byte) => {
                    let length = rest
                        .bytes()
                        .position(|byte| !is_plain(byte))
                        .unwrap_or(rest.len());
                    self.text.push_str(&rest[..length]);
                    at += length;
                }
                _ => {
                    let c = rest.chars().next().unwrap_or(' ');
                    if c.is_whitespace() {
                        self.close();
                    } else {
                        self.text.push(c);
                    }
                    at += c.len_utf8();
                }
            }
        }
    }

    /// Takes a code span as one word; a mark without a partner is left out. Gives the bytes taken.
    fn code_span(&mut self, rest: &str) -> usize {
        let marks = rest.bytes().take_while(|&byte| byte == b'`').count();
        let mut at = marks;
        while let Some(found) = rest[at..].find('`') {
            let start = at + found;
            let length = rest[start..].bytes().take_while(|&byte| byte == b'`').count();
            // Only what was not looked at before, so that many marks cost no more than their text.
            if rest[at.saturating_sub(1)..start].contains("\n\n") {
                break;
            }
            if length == marks {
                let content = &rest[marks..start];
                self.text.push_str(&rest[..marks]);
                let mut parts = content.split_whitespace();
                self.text.push_str(parts.next().unwrap_or_default());
                for part in parts {
                    self.text.push(' ');
                    self.text.push_str(part);
                }
                self.text.push_str(&rest[..marks]);
                return start + length;
            }
            at = start + length;
        }
        marks
    }
}

/// A byte that is taken as it is: no white space, no mark, and a character by itself.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\\`*![<".contains(&byte)
}

/// Mark, length and bareness of the fence that a line is, if it is one.
fn fence_run(line: &str) -> Option<(u8, usize, bool)> {
    let text = line.trim();
    let mark = *text.as_bytes().first().filter(|byte| b"`~".contains(byte))?;
    let length = text.bytes().take_while(|&byte| byte == mark).count();
    let info = &text[length..];
    (length >= 3 && !(mark == b'`' && info.contains('`'))).then_some((mark, length, info.is_empty()))
}

/// The text of a link or an image and the bytes it takes with its destination.
struct Link<'t> {
    text: &'t str,
    length: usize,
}

/// `rest` begins with `[`.
fn link(rest: &str) -> Option<Link<'_>> {
    let close = matching(rest, b'[', b']')?;
    let after = &rest[close + 1..];
    let length = match after.as_bytes().first()? {
        b'(' => matching(after, b'(', b')')?,
        b'[' => matching(after, b'[', b']')?,
        _ => return None,
    };
    Some(Link {
        text: &rest[1..close],
        length: close + 1 + length + 1,
    })
}

/// Place of the bracket that closes the first one, within one paragraph.
fn matching(rest: &str, open: u8, close: u8) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len().min(INLINE_LIMIT) {
        let byte = bytes[at];
        if byte == b'\\' {
            at += 1;
        } else if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        } else if bytes[at..].starts_with(b"\n\n") {
            return None;
        }
        at += 1;
    }
    None
}

/// Bytes of the tag or automatic link that `rest` begins with.
fn tag_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let name = if bytes.get(1) == Some(&b'/') { 2 } else { 1 };
    if !bytes.get(name)?.is_ascii_alphabetic() {
        return None;
    }
    let end = bytes.iter().take(INLINE_LIMIT).position(|&byte| byte == b'>')?;
    (!bytes[1..end].contains(&b'<')).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wanted(words: &[&str]) -> Wanted {
        let analyzer = Analyzer::new();
        let mut terms = Vec::new();
        for word in words {
            for token in tokens(word) {
                analyzer.terms(&token, &mut terms);
            }
        }
        Wanted::new(terms.into_iter().map(|term| (term.text, 1.0)))
    }

    fn snippet(body: &str, words: &[&str], limit: usize) -> (String, bool) {
        let snippet = choose(body, &mut wanted(words), limit);
        (snippet.text, snippet.is_complete)
    }

    #[test]
    fn short_texts_are_whole() {
        for (body, text, is_complete) in [
            ("", "", true),
            ("\n \n", "", true),
            ("One  two\nthree.\n", "One two three.", true),
            ("A **bold** `a  b` word", "A bold `a b` word", true),
            (
                "See [the guide](guide.md#x \"t\") now",
                "See the guide now",
                false,
            ),
            ("See [the `x`][ref] and [1] now", "See the `x` and [1] now", false),
            ("![Logo](l.png) Text", "Logo Text", false),
            (
                "<div class=\"a\">in</div> <https://a.example/b>",
                "in https://a.example/b",
                false,
            ),
            ("a < b and Vec<T", "a < b and Vec<T", true),
            (
                "Run:\n\n```sh\nmake  all\n```\n\nDone",
                "Run: make all Done",
                false,
            ),
            ("a lone ` mark", "a lone mark", true),
            ("\\*kept\\*", "\\*kept\\*", true),
        ] {
            assert_eq!(
                snippet(body, &["x"], 200),
                (text.to_owned(), is_complete),
                "{body:?}"
            );
        }
    }

    #[test]
    fn the_passage_that_covers_the_query_is_chosen() {
        let filler = "Nothing of interest is said here at all. ".repeat(10);
        let body =
            format!("{filler}Cookies are small. A session cookie expires when the browser closes. {filler}");
        let (text, is_complete) = snippet(&body, &["session", "cookie"], 80);
        assert_eq!(
            text,
            "… Cookies are small. A session cookie expires when the browser closes. Nothing …"
        );
        assert!(!is_complete);
    }

    #[test]
    fn a_passage_at_the_end_is_filled_up() {
        let body = format!("{}the zebra.", "one two three four five. ".repeat(20));
        let (text, _) = snippet(&body, &["zebra"], 60);
        assert!(
            text.starts_with("… ") && text.ends_with("the zebra.") && text.chars().count() > 50,
            "{text}"
        );
    }

    #[test]
    fn a_passage_before_a_long_word_is_filled_up() {
        let body = format!(
            "{}A zebra. {} end.",
            "one two three four five six. ".repeat(9),
            "x".repeat(90)
        );
        let (text, _) = snippet(&body, &["zebra"], 100);
        assert!(
            text.ends_with("A zebra. …") && text.chars().count() > 90,
            "{text}"
        );
    }

    #[test]
    fn words_are_passed_over_only_where_they_cannot_match() {
        let mut beginnings = Beginnings::default();
        for term in ["upload", "x", "dai", "ccc"] {
            beginnings.add(term);
        }
        for (word, expected) in [
            ("Uploading", true),
            ("upper", true),
            ("under", false),
            ("xyz", true),
            ("days", true),
            ("dog", false),
            ("c", true),
            ("zebra", false),
            ("zebraCrossing", false),
            ("zebraUpload", true),
            ("@user", false),
            ("#1234", false),
            ("d'Artagnan", true),
            ("z_upload", true),
            ("Été", true),
        ] {
            assert_eq!(beginnings.may_have(word), expected, "{word}");
        }
    }

    #[test]
    fn long_words_are_cut() {
        let (text, is_complete) = snippet(&"x".repeat(500), &["y"], 20);
        assert_eq!(text, format!("{}…", "x".repeat(19)));
        assert!(!is_complete);
        let (text, _) = snippet(&format!("`{}`", "long code ".repeat(50)), &["y"], 20);
        assert!(!text.contains('`') && text.chars().count() <= 20, "{text}");
    }

    proptest! {
        #[test]
        fn passages_keep_the_limit_and_close_their_code(
            body in "([a-z]{1,9}|`[a-z ]{1,12}`|\\[a\\]\\(b\\)|é|検索|[.\\n]|\n```\nx y\n```\n|<b>| ){0,120}",
            limit in 0_usize..120,
        ) {
            let (text, _) = snippet(&body, &["a", "b"], limit);
            prop_assert!(text.chars().count() <= limit, "{text}");
            prop_assert!(!text.contains('\n') && !text.contains("  ") );
            prop_assert_eq!(text.matches('`').count() % 2, 0, "{}", text);
        }

        #[test]
        fn any_text_has_a_snippet(body in "\\PC{0,300}", limit in 0_usize..300) {
            let (text, _) = snippet(&body, &["a"], limit);
            prop_assert!(text.chars().count() <= limit);
        }
    }
}
