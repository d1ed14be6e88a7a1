//! A Markdown text as it is read rather than rendered: one line of words, without marks.
//!
//! In: the text of a section. Out: a [`Reading`]: its text on one line, where it may be cut ([`Word`]), which
//! words are links, code or cells of a table. Fence lines, tags, emphasis marks, the destinations of links, the
//! delimiter row of a table and the marks of quotes, admonitions and attributes are left out.
//!
//! Lines of code and rows of a table are parted by ` ⏎ `: run together, two commands or two lines of YAML read
//! as one, and every printable sign of ASCII means something in some language. Cells are parted by ` | `.

mod cuts;
mod inline;
mod line_marks;
mod prose;
mod table;

pub(crate) use self::cuts::are_joined;
use self::line_marks::is_inclusion;
use std::ops::Range;

/// Between lines of code and rows of a table.
const LINE_BREAK: &str = " ⏎ ";
/// Between cells of a row.
const CELL_BREAK: &str = " | ";
/// Stands for an empty cell.
const EMPTY_CELL: &str = "-";
/// Links in links.
const DEPTH_LIMIT: usize = 3;
/// A quotation in a line of code is kept whole up to this many bytes.
const CODE_QUOTE_LIMIT: usize = 60;

/// What begins with a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    /// A sentence, a paragraph, an item, a line of code, a row.
    Sentence,
    /// What follows a comma, a cell.
    Clause,
    /// The word alone.
    Word,
    /// Nothing: it stands within a line of code, or within a run without spaces.
    Nothing,
}

/// What a word belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Prose,
    Link,
    Code,
}

/// What is not cut: a run without white space, or a code span with what touches it; of a script without spaces
/// a character with its punctuation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    /// Place in the reading's text. 32 bits wide, as readings are kept; no text is near as long.
    start: u32,
    end: u32,
    chars: u32,
    /// Characters of the text before it.
    offset: u32,
    pub(crate) begins: Begins,
    /// A sentence, a line or a row ends with it.
    pub(crate) is_end: bool,
    pub(crate) kind: Kind,
}

impl Word {
    /// Place in the reading's text.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn chars(&self) -> usize {
        self.chars as usize
    }

    /// Characters of the text before it.
    pub(crate) fn offset(&self) -> usize {
        self.offset as usize
    }
}

/// A table by its words.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The first row, where it names the columns.
    pub(crate) header: Option<Range<usize>>,
    pub(crate) rows: Vec<Range<usize>>,
}

/// A text as it is read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) text: String,
    pub(crate) words: Vec<Word>,
    pub(crate) tables: Vec<Table>,
    /// Nothing was left out but marks.
    pub(crate) is_lossless: bool,
    /// Where the word that is being read begins in `text`.
    open: usize,
    /// Code spans of the word that is being read.
    spans: Vec<Range<usize>>,
    /// What begins with the next word.
    next: Begins,
    kind: Kind,
    /// Where the last link's text ends in `text`.
    link_end: usize,
    has_open_emphasis: bool,
    html: table::HtmlTable,
}

impl Reading {
    pub(crate) fn of(body: &str) -> Self {
        let mut reading = Self {
            text: String::with_capacity(body.len() + body.len() / 8),
            words: Vec::with_capacity(body.len() / 6),
            tables: Vec::new(),
            is_lossless: true,
            open: 0,
            spans: Vec::new(),
            next: Begins::Sentence,
            kind: Kind::Prose,
            link_end: 0,
            has_open_emphasis: false,
            html: table::HtmlTable::default(),
        };
        reading.blocks(body);
        reading.close();
        reading.html_table_ends();
        reading
    }

    /// Gives back what was set aside while it was read.
    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.words.shrink_to_fit();
        self.tables.shrink_to_fit();
        for table in &mut self.tables {
            table.rows.shrink_to_fit();
        }
        self.spans = Vec::new();
    }

    /// Bytes of memory beside its own, once it has shrunk.
    pub(crate) fn bytes(&self) -> usize {
        let rows: usize = self.tables.iter().map(|table| table.rows.capacity()).sum();
        self.text.capacity()
            + self.words.capacity() * size_of::<Word>()
            + self.tables.capacity() * size_of::<Table>()
            + rows * size_of::<Range<usize>>()
    }

    /// Characters of all of it.
    pub(crate) fn chars(&self) -> usize {
        self.length(0, self.words.len())
    }

    /// Characters of the words from `start` to `end`.
    pub(crate) fn length(&self, start: usize, end: usize) -> usize {
        if start >= end {
            return 0;
        }
        let last = &self.words[end - 1];
        last.offset() + last.chars() - self.words[start].offset()
    }

    /// The words from `start` to `end`, not empty, as text.
    pub(crate) fn slice(&self, words: Range<usize>) -> &str {
        &self.text[self.words[words.start].range().start..self.words[words.end - 1].range().end]
    }

    fn blocks(&mut self, body: &str) {
        let mut fence: Option<Fence> = None;
        let mut prose_start = 0;
        let mut at = 0;
        while at < body.len() {
            let line = line_at(body, at);
            let end = at + line.len();
            if let Some(open) = fence {
                let bare = if open.is_quoted { unquoted(line) } else { line };
                let closes = Fence::of(bare).is_some_and(|other| {
                    other.mark == open.mark && other.length >= open.length && other.is_bare
                });
                if closes {
                    fence = None;
                    prose_start = end;
                    self.line_break();
                } else {
                    self.code_line(bare);
                }
            } else if let Some(found) = Fence::of(unquoted(line)) {
                self.prose(&body[prose_start..at]);
                fence = Some(Fence {
                    is_quoted: line.trim_start().starts_with('>'),
                    ..found
                });
                // Folded to one line, code is no longer what it was.
                self.is_lossless = false;
                if self
                    .words
                    .last()
                    .is_some_and(|word| !ends_clause(&self.text[word.range()]))
                {
                    self.line_break();
                }
            } else if table::begins(body, at) {
                self.prose(&body[prose_start..at]);
                at = self.pipe_table(body, at);
                prose_start = at;
                continue;
            }
            at = end;
        }
        if fence.is_none() {
            self.prose(&body[prose_start..]);
        }
    }

    /// Ends the word that is being read.
    fn close(&mut self) {
        if self.open < self.text.len() {
            self.push_words();
            self.text.push(' ');
            self.open = self.text.len();
        }
    }

    /// Makes words of what was read since the last: one, or several where a script has no spaces.
    fn push_words(&mut self) {
        let (open, end) = (self.open, self.text.len());
        let mut start = open;
        if !self.text[open..].is_ascii() {
            let mut before: Option<(usize, char)> = None;
            let mut cuts = Vec::new();
            let mut spans = self.spans.iter().peekable();
            for (place, c) in self.text[open..].char_indices() {
                let place = open + place;
                while spans.next_if(|span| span.end <= place).is_some() {}
                let is_inside = spans.peek().is_some_and(|span| span.start < place);
                if let Some((_, before)) = before
                    && !is_inside
                    && cuts::may_part(before, c)
                {
                    cuts.push(place);
                }
                before = Some((place, c));
            }
            for cut in cuts {
                self.push_word(start, cut);
                start = cut;
            }
        }
        self.push_word(start, end);
        self.spans.clear();
    }

    fn push_word(&mut self, start: usize, end: usize) {
        let word = &self.text[start..end];
        let chars = if word.is_ascii() {
            word.len()
        } else {
            word.chars().count()
        };
        let (offset, gap) = match self.words.last() {
            None => (0, 0),
            Some(last) => {
                let between = &self.text[last.range().end..start];
                let gap = if between.len() <= 1 {
                    between.len()
                } else {
                    between.chars().count()
                };
                (last.offset() + last.chars() + gap, gap)
            }
        };
        let is_prose = self.kind != Kind::Code;
        // Most words end with a letter, and with it nothing else.
        let has_mark = !word.chars().next_back().is_some_and(char::is_alphanumeric);
        let is_end = is_prose && has_mark && ends_sentence(word);
        let after = if is_end {
            Begins::Sentence
        } else if !is_prose {
            Begins::Nothing
        } else if has_mark && ends_clause(word) {
            Begins::Clause
        } else {
            Begins::Word
        };
        let begins = if gap == 0 && self.next == Begins::Word && !self.words.is_empty() {
            Begins::Nothing
        } else {
            self.next
        };
        let kind = if self.kind == Kind::Prose && start < self.link_end {
            Kind::Link
        } else {
            self.kind
        };
        self.words.push(Word {
            start: start as u32,
            end: end as u32,
            chars: chars as u32,
            offset: offset as u32,
            begins,
            is_end,
            kind,
        });
        self.next = after;
    }

    /// The next word begins a sentence, whatever stood before it.
    fn begin(&mut self) {
        self.close();
        self.next = Begins::Sentence;
        if let Some(last) = self.words.last_mut() {
            last.is_end = true;
        }
    }

    /// Begins a line of code or a row.
    fn line_break(&mut self) {
        self.begin();
        self.part(LINE_BREAK);
    }

    /// Puts a separator before the next word, in place of what stands there.
    fn part(&mut self, separator: &str) {
        self.close();
        if let Some(last) = self.words.last() {
            self.text.truncate(last.range().end);
            self.text.push_str(separator);
            self.open = self.text.len();
        }
    }

    fn code_line(&mut self, line: &str) {
        if line.trim().is_empty() || is_inclusion(line.trim()) {
            return;
        }
        self.close();
        self.kind = Kind::Code;
        // Half of a code span is never shown: a quotation that is short stays whole, other marks are replaced.
        let is_paired = line.bytes().filter(|&byte| byte == b'`').count() % 2 == 0
            && line
                .split('`')
                .skip(1)
                .step_by(2)
                .all(|quoted| quoted.len() <= CODE_QUOTE_LIMIT);
        let mut is_open = false;
        let mut opened = 0;
        for word in line.split_whitespace() {
            if is_open && self.open < self.text.len() {
                self.text.push(' ');
            }
            for (number, piece) in word.split('`').enumerate() {
                if number > 0 && is_paired {
                    if is_open {
                        self.spans.push(opened..self.text.len() + 1);
                    }
                    opened = self.text.len();
                    is_open = !is_open;
                }
                if number > 0 {
                    self.text.push(if is_paired { '`' } else { '\'' });
                }
                self.text.push_str(piece);
            }
            if !is_open {
                self.close();
            }
        }
        self.close();
        self.kind = Kind::Prose;
        self.line_break();
    }
}

fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', '*', '”', '’', '」', '』', '）']);
    if bare.ends_with('.') {
        let stem = bare.trim_end_matches('.').trim_start_matches(['(', '"']);
        let is_abbreviation = matches!(stem, "e.g" | "i.e" | "vs" | "cf" | "Mr" | "Dr" | "approx");
        let is_number = !stem.is_empty() && stem.len() <= 2 && stem.bytes().all(|byte| byte.is_ascii_digit());
        return !is_abbreviation && !is_number;
    }
    bare.ends_with(['!', '?', '。', '！', '？'])
}

fn ends_clause(word: &str) -> bool {
    word.ends_with([
        ',', ';', ':', '.', '!', '?', '—', '–', '、', '，', '；', '：', '。', '！', '？',
    ])
}

/// The line that begins at `at`, with its end.
fn line_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    rest.find('\n').map_or(rest, |end| &rest[..=end])
}

/// A line without the marks of a quote.
fn unquoted(line: &str) -> &str {
    let mut rest = line.trim_start();
    if !rest.starts_with('>') {
        return line;
    }
    while let Some(inner) = rest.strip_prefix('>') {
        rest = inner.trim_start_matches([' ', '\t']);
    }
    rest
}

/// The line that opens or closes a block of code.
#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    is_bare: bool,
    is_quoted: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let text = line.trim();
        let mark = *text.as_bytes().first().filter(|byte| b"`~".contains(byte))?;
        let length = text.bytes().take_while(|&byte| byte == mark).count();
        let info = &text[length..];
        (length >= 3 && !(mark == b'`' && info.contains('`'))).then_some(Self {
            mark,
            length,
            is_bare: info.is_empty(),
            is_quoted: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_as_they_are_read() {
        for (body, text) in [
            ("", ""),
            ("One  two\nthree.\n", "One two three."),
            (
                "A **bold** *path operation* `a  b` word",
                "A bold path operation `a b` word",
            ),
            (
                "2 * 3 and 2*3 and \\*kept\\* and \\`",
                "2 * 3 and 2*3 and *kept* and '",
            ),
            ("See [the guide](guide.md#x \"t\") now", "See the guide now"),
            ("* one\n* two\n  goes on", "- one - two goes on"),
            ("> [!NOTE]\n> Quoted text.", "Note: Quoted text."),
            ("/// tip | Why\n\nBecause.\n\n///\n\nNext", "Why: Because. Next"),
            (":::note\nText\n:::", "Note: Text"),
            ("!!! warning\n    Text", "Warning: Text"),
            ("Term\n:   What it means {: .x }", "Term What it means"),
            ("Text {#id}\n---\nMore", "Text More"),
            ("{* ../../docs.py hl[1] *}\n\nText", "Text"),
            (
                "Run:\n\n```sh\nmake  all\n\n# done\nls\n```\n\nDone",
                "Run: make all ⏎ # done ⏎ ls ⏎ Done",
            ),
            ("A\n\n```rust\n{{#include ../a.rs}}\n```\n\nB", "A ⏎ B"),
            ("Run\n```\nmake\n```", "Run ⏎ make"),
            ("> ```\n> a\n> b\n> ```\n> c", "a ⏎ b ⏎ c"),
            ("```js\nf(`a b`); g(`\n```", "f('a b'); g('"),
            ("```js\nf(`a b`)\n```", "f(`a b`)"),
            ("a<br>b<b>c</b>", "a bc"),
            ("<!-- gone --> x&nbsp;y &lt;z&gt;", "x y <z>"),
            ("中文，\n换行。\nword", "中文，换行。 word"),
            ("soft\u{ad}hyphen", "softhyphen"),
        ] {
            assert_eq!(
                Reading::of(body).text.trim_end_matches([' ', '⏎']),
                text,
                "{body:?}"
            );
        }
    }

    fn cut(body: &str) -> Vec<String> {
        let reading = Reading::of(body);
        reading
            .words
            .iter()
            .map(|word| reading.text[word.range()].to_owned())
            .collect()
    }

    #[test]
    fn texts_are_cut_where_they_may_be() {
        for (body, words) in [
            ("卷快照。使用", &["卷", "快", "照。", "使", "用"][..]),
            ("この`a b`が（例）", &["こ", "の", "`a b`", "が", "（例）"]),
            ("쿠버네티스 파드를", &["쿠버네티스", "파드를"]),
            ("BM25検索x", &["BM25", "検", "索", "x"]),
            ("a👩\u{200d}👧b e\u{301}t", &["a👩\u{200d}👧b", "e\u{301}t"]),
        ] {
            assert_eq!(cut(body), words, "{body}");
        }
    }

    #[test]
    fn words_know_what_begins_with_them() {
        use Begins::{Clause, Nothing, Sentence};
        let reading = Reading::of("One, e.g. two. Three\n\n```\nx y\nz\n```\n");
        let begins: Vec<_> = reading.words.iter().map(|word| word.begins).collect();
        assert_eq!(
            begins,
            [Sentence, Clause, Clause, Sentence, Sentence, Nothing, Sentence]
        );
        let reading = Reading::of("卷快照。使用");
        let begins: Vec<_> = reading.words.iter().map(|word| word.begins).collect();
        assert_eq!(begins, [Sentence, Nothing, Nothing, Sentence, Nothing]);
        assert_eq!(reading.chars(), 6);
    }
}
