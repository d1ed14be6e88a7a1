//! Cuts a long section into parts.
//!
//! In: the stored text of a section, its dialect and the limit of a part in bytes. Out: consecutive ranges of the
//! text, each with the lines to repeat around it. Whole blocks are packed as long as they fit; a block over the limit
//! is opened: a list at its items, a table at its rows with its header repeated, a fence at its lines with its opener
//! and closer repeated, running text at line, sentence or word ends. The ranges joined are the text.
//!
//! Blocks are those of the parse buffer, not of the text: a fence in a tab or a component is indented code or HTML to
//! CommonMark and would be cut open. Both have the same lines, so blocks are placed by the lines they begin and end on.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use crate::blocks::{Block, Kind, blocks};
use crate::fence;
use crate::markdown::char_boundary;
use crate::mask::{self, Style};

/// A part: a range of the section's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) range: Range<usize>,
    /// Repeated before it.
    pub(crate) head: String,
    /// Repeated after it.
    pub(crate) tail: String,
}

pub(crate) fn cut(text: &str, style: Style, limit: usize) -> Vec<Cut> {
    if text.len() <= limit {
        return vec![Cut {
            range: 0..text.len(),
            ..Cut::default()
        }];
    }
    let masked = mask::mask(text, 0, style);
    let mut atoms = Atoms {
        text,
        buffer: &masked.buffer,
        limit: limit.max(16),
        list: vec![Atom { start: 0, wrap: None }],
        wraps: Vec::new(),
        begun: 0,
    };
    let mut blocks = blocks(&masked.buffer);
    for block in &mut blocks {
        // Blanks of the buffer can begin a block inside a character of the text; only its line matters here.
        block.range.start = char_boundary(text, block.range.start);
        block.range.end = char_boundary(text, block.range.end);
    }
    let mut index = 0;
    while let Some(block) = blocks.get(index) {
        atoms.begin(block.range.start);
        if block.range.len() > atoms.limit {
            match block.kind {
                Kind::Container => {
                    index += 1;
                    continue;
                }
                Kind::Fence => atoms.fence(&block.range),
                Kind::Table => atoms.table(&block.range, &blocks[index + 1..block.next]),
                Kind::Leaf => {}
            }
        }
        index = block.next;
    }
    atoms.pack()
}

/// A stretch of text that is not cut: from its start to the next one's.
#[derive(Debug, Clone, Copy)]
struct Atom {
    start: usize,
    /// The fence or table that it is inside of.
    wrap: Option<usize>,
}

/// What is repeated where a fence or a table is cut.
#[derive(Debug)]
struct Wrap {
    head: String,
    tail: String,
}

struct Atoms<'t> {
    text: &'t str,
    buffer: &'t str,
    limit: usize,
    list: Vec<Atom>,
    wraps: Vec<Wrap>,
    /// Start of the line on which the last block began.
    begun: usize,
}

impl Atoms<'_> {
    fn line_start(&self, position: usize) -> usize {
        let known = self.list.last().map_or(0, |atom| atom.start).min(position);
        self.text[known..position]
            .rfind('\n')
            .map_or(known, |feed| known + feed + 1)
    }

    /// A block begins on the line of `position`.
    fn begin(&mut self, position: usize) {
        let start = self.line_start(position);
        if start > self.begun {
            self.begun = start;
            let start = self.with_openers(start);
            self.push(start, None);
        }
    }

    /// The start of the tags on the lines before `start` that open around the block there, so that no part ends with
    /// a tag whose content is in the next.
    fn with_openers(&self, start: usize) -> usize {
        let floor = self.list.last().map_or(0, |atom| atom.start);
        let (mut first, mut line_start) = (start, start);
        while line_start > floor {
            let end = line_start;
            line_start = self.text[..end - 1].rfind('\n').map_or(0, |feed| feed + 1);
            let line = self.text[line_start..end].trim();
            let is_opener = line.starts_with('<') && !line.starts_with("</");
            if !self.buffer[line_start..end].trim().is_empty() || !(is_opener || line.is_empty()) {
                break;
            }
            if is_opener && line_start > floor {
                first = line_start;
            }
        }
        first
    }

    /// The end of the last line that has something before `position`, its line feed included.
    fn line_end(&self, position: usize) -> usize {
        if self.text[..position].ends_with('\n') {
            return position;
        }
        self.text[position..]
            .find('\n')
            .map_or(self.text.len(), |feed| position + feed + 1)
    }

    fn push(&mut self, start: usize, wrap: Option<usize>) {
        match self.list.last_mut() {
            Some(last) if last.start >= start => last.wrap = last.wrap.or(wrap),
            _ => self.list.push(Atom { start, wrap }),
        }
    }

    fn wrap(&mut self, head: String, tail: String) -> usize {
        let wrap = if head.len() + tail.len() <= self.limit / 2 {
            Wrap { head, tail }
        } else {
            Wrap {
                head: String::new(),
                tail: String::new(),
            }
        };
        self.wraps.push(wrap);
        self.wraps.len() - 1
    }

    fn fence(&mut self, range: &Range<usize>) {
        let (start, end) = (self.line_start(range.start), self.line_end(range.end));
        let opener = self.text[start..end]
            .split_inclusive('\n')
            .next()
            .unwrap_or_default();
        // Without one the fence begins behind a tag on its line.
        let Some(fence) = fence::opened_by(opener) else {
            return;
        };
        let opened = fence::after_markers(opener);
        // Markers of list items become blanks: only the fence is repeated, not the item.
        let prefix: String = opener[..opener.len() - opened.len()]
            .chars()
            .map(|c| if c == '>' || c == '\t' { c } else { ' ' })
            .collect();
        let run = &opened[..fence.length];
        let mut head = format!("{prefix}{}\n", opened.trim_end_matches('\n'));
        let tail = format!("{prefix}{run}");
        if head.len() + tail.len() > self.limit / 2 {
            head = format!("{prefix}{run}\n");
        }
        let wrap = self.wrap(head, tail);
        let longest = self.longest_in(wrap);
        let mut position = start + opener.len();
        self.push(start, Some(wrap));
        let mut lines = self.text[position..end].split_inclusive('\n').peekable();
        let mut is_first = true;
        while let Some(line) = lines.next() {
            let is_closer = lines.peek().is_none() && fence::closes(line, fence);
            // Neither opener nor closer stands alone in a part.
            if !is_first && !is_closer {
                self.push(position, Some(wrap));
            }
            is_first = false;
            self.split_line(position, line, longest, Some(wrap));
            position += line.len();
        }
        self.close(end);
    }

    /// After a fence or table its wrap ends, on whatever line that is.
    fn close(&mut self, end: usize) {
        let end = self.text[end..]
            .find(|c: char| !c.is_whitespace())
            .map_or(self.text.len(), |offset| end + offset);
        let start = self.line_start(end);
        if start < self.text.len() && self.list.last().is_some_and(|last| last.start < start) {
            self.push(start, None);
        }
    }

    fn longest_in(&self, wrap: usize) -> usize {
        let wrap = &self.wraps[wrap];
        self.limit
            .saturating_sub(wrap.head.len() + wrap.tail.len() + 2)
            .max(8)
    }

    /// Starts atoms inside a line that is too long for one.
    fn split_line(&mut self, position: usize, line: &str, longest: usize, wrap: Option<usize>) {
        let mut at = 0;
        while line.len() - at > longest {
            let next = char_boundary(line, at + longest);
            at = if next > at {
                next
            } else {
                at + line[at..].chars().next().map_or(1, char::len_utf8)
            };
            if at < line.len() {
                self.push(position + at, wrap);
            }
        }
    }

    fn table(&mut self, range: &Range<usize>, rows: &[Block]) {
        let start = self.line_start(range.start);
        let mut bodies = rows
            .iter()
            .filter(|row| row.kind == Kind::Leaf)
            .skip(1)
            .map(|row| self.line_of(row))
            .peekable();
        let Some(&first) = bodies.peek() else { return };
        let starts: Vec<usize> = bodies.skip(1).collect();
        let head = self.text[start..first.max(start)].to_owned();
        let wrap = self.wrap(head, String::new());
        self.push(start, Some(wrap));
        for row in starts {
            self.push(row, Some(wrap));
        }
        self.close(self.line_end(range.end));
    }

    fn line_of(&self, block: &Block) -> usize {
        self.text[..block.range.start]
            .rfind('\n')
            .map_or(0, |feed| feed + 1)
    }

    /// Packs the atoms into parts.
    fn pack(self) -> Vec<Cut> {
        let atoms = self.small_enough();
        let mut cuts: Vec<Cut> = Vec::new();
        let mut current = Cut::default();
        for (index, atom) in atoms.iter().enumerate() {
            let next = atoms.get(index + 1);
            let end = next.map_or(self.text.len(), |next| next.start);
            let goes_on = atom.wrap.is_some() && next.is_some_and(|next| next.wrap == atom.wrap);
            let closer = if goes_on {
                atom.wrap.map_or(0, |wrap| self.wraps[wrap].tail.len() + 1)
            } else {
                0
            };
            let length = current.head.len() + (end - current.range.start) + closer;
            if length > self.limit && atom.start > current.range.start {
                let before = index.checked_sub(1).and_then(|before| atoms.get(before));
                let wrap = atom
                    .wrap
                    .filter(|_| before.is_some_and(|before| before.wrap == atom.wrap));
                let wrap = wrap.map(|wrap| &self.wraps[wrap]);
                current.range.end = atom.start;
                current.tail = wrap.map_or_else(String::new, |wrap| self.tail_after(atom.start, wrap));
                cuts.push(std::mem::take(&mut current));
                current.range.start = atom.start;
                current.head = wrap.map_or_else(String::new, |wrap| wrap.head.clone());
            }
        }
        current.range.end = self.text.len();
        cuts.push(current);
        cuts
    }

    fn tail_after(&self, position: usize, wrap: &Wrap) -> String {
        let ended = self.text[..position].ends_with('\n');
        if ended || wrap.tail.is_empty() {
            wrap.tail.clone()
        } else {
            format!("\n{}", wrap.tail)
        }
    }

    /// The atoms, with those that are too long split as running text.
    fn small_enough(&self) -> Vec<Atom> {
        let mut atoms = Vec::with_capacity(self.list.len());
        for (index, &atom) in self.list.iter().enumerate() {
            let end = self
                .list
                .get(index + 1)
                .map_or(self.text.len(), |next| next.start);
            atoms.push(atom);
            let limit = atom.wrap.map_or(self.limit, |wrap| self.longest_in(wrap));
            if end - atom.start > limit {
                // Pieces of a quarter leave no part less than three quarters full.
                let mut start = atom.start;
                while end - start > (self.limit / 4).max(4) {
                    start += text_piece(&self.text[start..end], (self.limit / 4).max(4));
                    if start < end {
                        atoms.push(Atom {
                            start,
                            wrap: atom.wrap,
                        });
                    }
                }
            }
        }
        atoms
    }
}

/// The length of a piece of running text: the last line end, sentence end or word end in the second half of the
/// first `most` bytes, else as many whole characters as fit.
fn text_piece(text: &str, most: usize) -> usize {
    let end = char_boundary(text, most);
    if end == 0 {
        return text.chars().next().map_or(text.len(), char::len_utf8);
    }
    let half = char_boundary(text, end / 2);
    let window = &text[half..end];
    let sentence = || {
        let ends = [". ", "! ", "? ", "。", "！", "？"];
        ends.iter()
            .filter_map(|&mark| window.rfind(mark).map(|at| at + mark.len()))
            .max()
    };
    let word = || window.rfind([' ', '\t']).map(|at| at + 1);
    let cut = window
        .rfind('\n')
        .map(|at| at + 1)
        .or_else(sentence)
        .or_else(word);
    cut.map_or_else(|| half + between_characters(window), |at| half + at)
}

/// The last place of a text where what a reader sees as one character is not cut, if it has one near its end.
fn between_characters(window: &str) -> usize {
    let mut characters = window.char_indices().rev().take(8).peekable();
    while let Some((at, character)) = characters.next() {
        let joins =
            |character: char| is_combining_mark(character) || matches!(character, '\u{200C}' | '\u{200D}');
        let after_joiner = characters.peek().is_some_and(|&(_, before)| before == '\u{200D}');
        if at > 0 && !joins(character) && !after_joiner {
            return at;
        }
    }
    window.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::Dialect;
    use proptest::prelude::*;

    fn mdx_style() -> Style {
        Style {
            dialect: Dialect::Mdx,
            ..Style::default()
        }
    }

    fn parts(text: &str, limit: usize) -> Vec<String> {
        parts_in(text, Style::default(), limit)
    }

    fn parts_in(text: &str, style: Style, limit: usize) -> Vec<String> {
        let cuts = cut(text, style, limit);
        let joined: String = cuts.iter().map(|cut| &text[cut.range.clone()]).collect();
        assert_eq!(joined, text);
        cuts.iter()
            .map(|cut| format!("{}{}{}", cut.head, &text[cut.range.clone()], cut.tail))
            .collect()
    }

    #[test]
    fn whole_blocks_are_packed() {
        let text = "# T\n\nfirst paragraph\n\n- item one\n- item two\n\nlast paragraph";
        assert_eq!(parts(text, 1000), [text]);
        assert_eq!(
            parts(text, 30),
            [
                "# T\n\nfirst paragraph\n\n",
                "- item one\n- item two\n\n",
                "last paragraph"
            ]
        );
    }

    #[test]
    fn a_block_may_begin_inside_a_blanked_character() {
        // Found by the property test of whole documents.
        let pieces = [
            "## T {#id}\n",
            " -->",
            "{{< highlight a >}}",
            "# T\n",
            "{{< highlight a >}}",
            "# T\n",
            "| a | b |\n|---|---|\n| c | d |\n",
            "{{",
            "👩\u{200d}👧",
            "{{< /highlight >}}",
            "import x from 'y'\n",
            "text é text é text é",
        ];
        let text = pieces.concat();
        for limit in 1..40 {
            parts(&text, limit);
            // Any number of characters before it moves the columns.
            parts(&format!("a👩b\n\n{{{{👩👩\n{text}"), limit);
        }
    }

    #[test]
    fn a_long_fence_is_cut_at_lines_and_closed() {
        let body: String = (0..20)
            .flat_map(|n| [format!("line {n}"), "\n".to_owned()])
            .collect();
        let found = parts(&format!("Text.\n\n```sh x\n{body}```\n\nAfter.\n"), 60);
        assert!(found.len() > 3);
        for part in &found {
            assert!(part.len() <= 60, "{part:?}");
            assert_eq!(part.matches("```").count() % 2, 0, "{part:?}");
        }
        assert!(found[2].starts_with("```sh x\nline "));
        let found = parts(&format!("- item\n\n  ~~~\n  {}\n  ~~~\n", "x".repeat(100)), 60);
        assert!(found[1].starts_with("  ~~~\nxxx"), "{found:?}");
        assert!(found[0].ends_with("x\n  ~~~"), "{found:?}");
    }

    #[test]
    fn a_fence_in_a_tab_or_a_component_is_a_fence() {
        let body = "    line of code\n\n".repeat(20);
        let tab = format!("=== \"Tab\"\n\n    ```sh\n{body}    ```\n");
        let component = format!("<Tabs>\n<Tab>\n```sh\n{body}```\n</Tab>\n</Tabs>\n");
        for (text, dialect, opener) in [
            (tab, Style::default(), "    ```sh\n    line"),
            (component, mdx_style(), "```sh\n    line"),
        ] {
            let found = parts_in(&text, dialect, 100);
            assert!(found.len() > 3);
            for part in &found {
                assert!(part.len() <= 100, "{part:?}");
                assert_eq!(part.matches("```").count() % 2, 0, "{part:?}");
            }
            assert!(found[2].starts_with(opener), "{:?}", found[2]);
        }
    }

    #[test]
    fn a_tag_stays_with_what_it_opens() {
        let text = "Some text before it.\n\n<Note>\n\nThe note itself.\n\n</Note>\n\nSome text after it.\n";
        assert_eq!(
            parts_in(text, mdx_style(), 45),
            [
                "Some text before it.\n\n",
                "<Note>\n\nThe note itself.\n\n</Note>\n\n",
                "Some text after it.\n"
            ]
        );
    }

    #[test]
    fn a_long_table_repeats_its_header() {
        let rows: String = (0..20)
            .flat_map(|n| [format!("| {n} | x |"), "\n".to_owned()])
            .collect();
        let found = parts(&format!("| a | b |\n|---|---|\n{rows}"), 70);
        assert!(found.len() > 3);
        for part in &found {
            assert!(part.starts_with("| a | b |\n|---|---|\n| "), "{part:?}");
            assert!(part.len() <= 70);
        }
    }

    #[test]
    fn running_text_is_cut_at_sentences_then_words_then_characters() {
        assert_eq!(text_piece("One two. Three four. Five", 22), 21);
        assert_eq!(text_piece("One two three four", 16), 14);
        assert_eq!(text_piece("éééééééé", 12), 10);
        assert_eq!(text_piece("ééééé👩\u{200D}👧", 18), 10);
        assert_eq!(text_piece("é", 1), 2);
        let text = "word ".repeat(1000);
        assert!(
            parts(&text, 100)
                .iter()
                .all(|part| part.len() <= 100 && part.len() >= 50)
        );
        assert!(parts(&"é".repeat(1000), 101).iter().all(|part| part.len() <= 101));
    }

    #[test]
    fn nesting_and_size_are_no_danger() {
        let begin = std::time::Instant::now();
        parts(&format!("{}x", "> ".repeat(5000)), 100);
        parts(&"- a\n".repeat(100_000), 6000);
        parts(&format!("```\n{}```", "line of code\n".repeat(100_000)), 6000);
        parts(&"x".repeat(1_000_000), 6000);
        parts(&"[a]: b\n".repeat(50_000), 6000);
        assert!(begin.elapsed().as_secs() < 10);
    }

    proptest! {
        #[test]
        fn parts_join_to_the_text(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "# T\n", "text é text. ", "\n", "\n\n", "- item\n", "  ", "```\n", "~~~x\n", "| a | b |\n", "|---|---|\n",
                    "> ", "    ", "1. x\n", "<div>\n", "<A>", "</A>\n", "!!! note\n", "=== \"T\"\n", "<!-- ", " -->", "$$\n", "---\n", "[a]: b\n", "longwordwithoutend", "`",
                ]),
                0..80,
            ),
            mdx in any::<bool>(),
            limit in 0_usize..120,
        ) {
            parts_in(&pieces.concat(), if mdx { mdx_style() } else { Style::default() }, limit);
        }
    }
}
