//! What stands in the place of directives, line by line.
//!
//! In: lines that stay and what others become. Out: the expanded text, the line of the original for each of its
//! lines, and the stretches that came from other files. Every original line keeps at least one line, in order.

use std::ops::Range;

/// The line of the original file for each line of an expanded text, both from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LineMap {
    /// Empty: each line is its own.
    originals: Vec<u32>,
}

impl LineMap {
    /// Lines after the text's last one are the original's last.
    pub(crate) fn original(&self, line: u32) -> u32 {
        let Some(last) = self.originals.last() else {
            return line;
        };
        let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        *self.originals.get(index).unwrap_or(last)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) text: String,
    originals: Vec<u32>,
    pub(crate) included: Vec<Range<usize>>,
    /// Whether the text is no longer the original.
    pub(crate) changed: bool,
}

impl Output {
    /// A line of the original, its line feed included.
    pub(crate) fn keep(&mut self, line: &str, number: u32) {
        self.text.push_str(line);
        self.originals.push(number);
    }

    /// Puts `placed` where the `count` lines from `first` on stood, `ended` by a line feed or by the end of the text.
    pub(crate) fn replace(&mut self, placed: &Placed, first: u32, count: usize, ended: bool) {
        self.changed = true;
        let start = self.text.len();
        self.text.push_str(&placed.text);
        let included = placed
            .included
            .iter()
            .map(|range| start + range.start..start + range.end);
        self.included.extend(included);
        let lines = placed.text.matches('\n').count() + 1;
        // The first of the original's lines has all that is more; blank lines make up for what is less.
        self.originals.extend(std::iter::repeat_n(
            first,
            (lines + 1).saturating_sub(count).max(1),
        ));
        let others = u32::try_from(count).unwrap_or(u32::MAX);
        self.originals.extend((1..others).map(|line| first + line));
        self.text
            .extend(std::iter::repeat_n('\n', count.saturating_sub(lines)));
        if ended {
            self.text.push('\n');
        } else if self.text.ends_with('\n') || self.text.is_empty() {
            // A last line without text and without an end would be no line.
            self.text.push('\n');
        }
    }

    pub(crate) fn line_map(self) -> LineMap {
        LineMap {
            originals: self.originals,
        }
    }
}

/// Text that takes the place of lines; without a line feed at its end.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    pub(crate) text: String,
    included: Vec<Range<usize>>,
}

/// What a directive became.
#[derive(Debug)]
pub(crate) struct Content {
    /// Without a line feed at its end.
    pub(crate) text: String,
    /// A block of code, which needs lines of its own.
    pub(crate) is_block: bool,
}

impl Placed {
    /// Adds content that begins where the text ends; `next` stands before its further lines.
    pub(crate) fn insert(&mut self, content: &Content, next: &str) {
        let start = self.text.len();
        if content.is_block && self.line_has_text() {
            self.start_line(next);
        }
        for (index, line) in content.text.split('\n').enumerate() {
            if index > 0 {
                self.text.push('\n');
                self.text
                    .push_str(if line.is_empty() { next.trim_end() } else { next });
            }
            self.text.push_str(line);
        }
        self.included.push(start..self.text.len());
    }

    /// Makes everything from `start` on one included stretch.
    pub(crate) fn include_from(&mut self, start: usize) {
        self.included.retain(|range| range.end <= start);
        self.included.push(start..self.text.len());
    }

    pub(crate) fn start_line(&mut self, prefix: &str) {
        self.text.push('\n');
        self.text.push_str(prefix);
    }

    /// Whether there is more on the last line than indentation and markers.
    fn line_has_text(&self) -> bool {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        !crate::fence::after_markers(line).trim().is_empty()
    }
}

/// What stands before the further lines of something that stands behind `first`: markers of list items are
/// blank there.
pub(crate) fn continuation(first: &str) -> String {
    let blank = |c: char| if matches!(c, '>' | '\t') { c } else { ' ' };
    first.chars().map(blank).collect()
}

/// A fenced block, longer than any run of backticks in the code.
pub(crate) fn code_block(code: &str, language: &str, title: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for byte in code.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    let plain = |text: &str| text.replace(['`', '"', '\n'], "");
    let mut info = plain(language);
    if !title.is_empty() {
        if !info.is_empty() {
            info.push(' ');
        }
        info.push_str("title=\"");
        info.push_str(&plain(title));
        info.push('"');
    }
    let ended = if code.is_empty() { "" } else { "\n" };
    format!("{fence}{info}\n{code}{ended}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str, is_block: bool) -> Content {
        Content {
            text: text.to_owned(),
            is_block,
        }
    }

    fn output(pieces: &[(&str, usize)], ended: bool) -> (String, Vec<u32>) {
        let mut output = Output::default();
        let mut line = 1;
        for (text, count) in pieces {
            let mut placed = Placed::default();
            placed.insert(&content(text, false), "");
            output.replace(&placed, line, *count, ended);
            line += u32::try_from(*count).unwrap();
        }
        output.keep("z", line);
        (output.text.clone(), output.line_map().originals)
    }

    #[test]
    fn every_original_line_keeps_a_line() {
        assert_eq!(
            output(&[("a\nb", 1)], true),
            ("a\nb\nz".to_owned(), vec![1, 1, 2])
        );
        assert_eq!(output(&[("", 1)], true), ("\nz".to_owned(), vec![1, 2]));
        assert_eq!(
            output(&[("a", 3)], true),
            ("a\n\n\nz".to_owned(), vec![1, 2, 3, 4])
        );
        assert_eq!(
            output(&[("a\nb\nc", 2)], true),
            ("a\nb\nc\nz".to_owned(), vec![1, 1, 2, 3])
        );
        let map = LineMap {
            originals: vec![1, 1, 4],
        };
        assert_eq!([0, 1, 2, 3, 9].map(|line| map.original(line)), [1, 1, 1, 4, 4]);
        assert_eq!(LineMap::default().original(7), 7);
    }

    #[test]
    fn content_keeps_its_indentation_and_blocks_their_lines() {
        let mut placed = Placed::default();
        placed.text.push_str("> 1. ");
        placed.insert(&content("a\n\nb", false), &continuation("> 1. "));
        assert_eq!(placed.text, "> 1. a\n>\n>    b");
        assert_eq!(
            placed.included,
            vec![Range {
                start: 5,
                end: placed.text.len()
            }]
        );
        let mut placed = Placed::default();
        placed.text.push_str("- text ");
        placed.insert(&content("```\nx\n```", true), "  ");
        assert_eq!(placed.text, "- text \n  ```\n  x\n  ```");
        assert_eq!(&placed.text[placed.included[0].clone()], "\n  ```\n  x\n  ```");
    }

    #[test]
    fn a_block_is_longer_than_what_is_in_it() {
        assert_eq!(code_block("x", "rust", ""), "```rust\nx\n```");
        assert_eq!(
            code_block("````\n`", "", "a\"b"),
            "`````title=\"ab\"\n````\n`\n`````"
        );
        assert_eq!(code_block("", "c`", "t"), "```c title=\"t\"\n```");
    }
}
