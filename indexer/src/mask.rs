//! The parse buffer: the source as the Markdown parser should see it.
//!
//! In: decoded text, where its body begins, its dialect. Out: a buffer of the same length and the same lines, in
//! which whatever is no Markdown is blank: front matter, comments that CommonMark would not see as one, MDX
//! statements and tags, maths blocks, bodies of code shortcodes, explicit ids of headings; and, beside it, what of
//! the source no reader sees. Since nothing changes its line, line numbers found in the buffer are the file's.

use std::borrow::Cow;
use std::ops::Range;

use crate::anchor::{self, LineAttributes};
use crate::indent;
use crate::mdx;
use crate::unseen;

/// Stands for characters of a macro that show nothing: neither a blank nor punctuation to the parser, so that
/// emphasis around it still works, and left out of all text later.
pub(crate) const FILLER: char = '\u{1}';

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Markdown,
    Mdx,
}

#[derive(Debug)]
pub(crate) struct Masked<'s> {
    pub(crate) buffer: Cow<'s, str>,
    /// What no reader sees: ranges of the source in order, apart from each other.
    pub(crate) hidden: Vec<Range<usize>>,
    /// Blocks of code or maths that are blank in the buffer, in order.
    pub(crate) code: Vec<Range<usize>>,
    /// Ranges whose headings are content, in order.
    pub(crate) bodies: Vec<Range<usize>>,
    /// Attributes at the end of lines that may be headings, in order; their places are those in the source.
    pub(crate) attributes: Vec<LineAttributes>,
}

/// Makes every byte of `range` a space, line feeds apart.
pub(crate) fn blank(buffer: &mut [u8], range: Range<usize>) {
    for byte in &mut buffer[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

pub(crate) fn mask(source: &str, body: usize, dialect: Dialect) -> Masked<'_> {
    let needed = body > 0
        || dialect == Dialect::Mdx
        || [
            "<!--",
            "[//]:",
            "[comment]:",
            "{{",
            "$$",
            "{#",
            "{ ",
            "{/*",
            "{id",
            "{data-",
            "!!! ",
            "???",
            "=== \"",
            "<script",
            "<style",
            "<SCRIPT",
            "<STYLE",
        ]
        .iter()
        .any(|trigger| source.contains(trigger));
    if !needed {
        return Masked {
            buffer: Cow::Borrowed(source),
            hidden: Vec::new(),
            code: Vec::new(),
            bodies: Vec::new(),
            attributes: Vec::new(),
        };
    }
    let mut buffer = source.as_bytes().to_vec();
    blank(&mut buffer, 0..body);
    let attributes = blank_attributes(source, body, &mut buffer);
    let (mut hidden, shifts, bodies) = match dialect {
        Dialect::Mdx => {
            let mdx = mdx::blank_javascript(source, body, &mut buffer);
            (mdx.hidden, mdx.shifts, Vec::new())
        }
        Dialect::Markdown => {
            let levelled = indent::level_admonitions(source, body, &mut buffer);
            (Vec::new(), levelled.shifts, levelled.bodies)
        }
    };
    let text = into_text(buffer, source);
    let (text, code) = unseen::blank_unseen(text, &shifts, &mut hidden);
    Masked {
        buffer: Cow::Owned(text),
        hidden: apart(hidden),
        code,
        bodies,
        attributes,
    }
}

/// Blanks cover whole characters, so the buffer is text again.
pub(crate) fn into_text(buffer: Vec<u8>, source: &str) -> String {
    String::from_utf8(buffer).unwrap_or_else(|_| source.to_owned())
}

/// Sorts ranges and joins those that touch.
pub(crate) fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

fn blank_attributes(source: &str, body: usize, buffer: &mut [u8]) -> Vec<LineAttributes> {
    let mut attributes = Vec::new();
    if !source.contains('{') {
        return attributes;
    }
    let mut start = body;
    for line in source[body..].split_inclusive('\n') {
        let next = start + line.len();
        if line.trim_end().ends_with('}')
            && (line.trim_start().starts_with('#') || is_underline(&source[next..]))
            && let Some(mut found) = anchor::line_attributes(line)
        {
            found.start += start;
            found.end += start;
            blank(buffer, found.start..found.end);
            attributes.push(found);
        }
        start = next;
    }
    attributes
}

/// Whether the text begins with a line that may underline a heading.
fn is_underline(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim();
    !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_leave_the_title() {
        let masked = mask("# A {#x}\n\nB {#y}\n---\n\ntext {#z}\n", 0, Dialect::Markdown);
        assert_eq!(
            masked
                .attributes
                .iter()
                .map(|found| found.id.as_deref())
                .collect::<Vec<_>>(),
            [Some("x"), Some("y")]
        );
        assert!(!masked.buffer.contains("{#x}") && masked.buffer.contains("{#z}"));
    }
}
