//! The parse buffer: the source as the Markdown parser should see it.
//!
//! In: decoded text, where its body begins, its style. Out: a buffer of the same length and the same lines, in
//! which whatever is no Markdown is blank: front matter, comments that CommonMark would not see as one, MDX
//! statements and tags, lines of containers, maths blocks, bodies of code shortcodes, explicit ids of headings; and,
//! beside it, what of the source is stored otherwise or not at all. Since nothing changes its line, line numbers
//! found in the buffer are the file's.

use std::ops::Range;

use crate::anchor::{self, LineAttributes};
use crate::container;
use crate::edit::{Edit, apart};
use crate::indent::{self, Shift};
use crate::markdown::Field;
use crate::mdx;
use crate::shortcode::Language;
use crate::unseen;

/// Stands for characters of a macro that show nothing: neither a blank nor punctuation to the parser, so that
/// emphasis around it still works, and left out of all text later.
pub(crate) const FILLER: char = '\u{1}';
/// [`FILLER`] as a byte of the buffer.
pub(crate) const FILLER_BYTE: u8 = FILLER as u8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    #[default]
    Markdown,
    Mdx,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    pub(crate) dialect: Dialect,
    /// It is a page of MDN: every name between double braces is a macro.
    pub(crate) is_mdn: bool,
    /// In which the site words its named headings.
    pub(crate) language: Language,
    /// It is in a tree of `MyST`'s: lines that begin with `%` are comments.
    pub(crate) is_myst: bool,
    /// It is in a vault of Obsidian's: remarks stand between `%%`.
    pub(crate) is_obsidian: bool,
}

#[derive(Debug)]
pub(crate) struct Masked {
    pub(crate) buffer: String,
    /// What is stored otherwise than it stands in the source, in order, apart from each other.
    pub(crate) edits: Vec<Edit>,
    /// Text that is blank in the buffer, in order of its place.
    pub(crate) blanked: Vec<Blanked>,
    /// Ranges of the buffer whose headings are content, in order.
    pub(crate) bodies: Vec<Range<usize>>,
    /// Attributes at the end of lines that may be headings, in order; their places are those in the source.
    pub(crate) attributes: Vec<LineAttributes>,
    /// Lines that stand otherwise in the buffer.
    pub(crate) shifts: Vec<Shift>,
    /// Where comments begin that nothing closes; places of the buffer.
    pub(crate) unclosed: Vec<usize>,
    /// The `id` of tags that are blank in the buffer, by their places.
    pub(crate) ids: Vec<(usize, String)>,
}

/// Text of the source that is blank in the buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blanked {
    pub(crate) field: Field,
    /// Where in the buffer it belongs.
    pub(crate) place: usize,
    /// Where it stands in the source.
    pub(crate) source: Range<usize>,
}

impl Blanked {
    /// Words that stand in the source where they belong.
    fn prose(source: Range<usize>) -> Self {
        Self {
            field: Field::Prose,
            place: source.start,
            source,
        }
    }
}

impl Masked {
    /// Where a range of the buffer stands in the source.
    pub(crate) fn source_range(&self, range: &Range<usize>) -> Range<usize> {
        Shift::range_to_source(&self.shifts, range)
    }
}

/// Makes every byte of `range` a space, line feeds apart.
pub(crate) fn blank(buffer: &mut [u8], range: Range<usize>) {
    fill(buffer, range, b' ');
}

/// Makes every byte of `range` the same, line feeds apart.
pub(crate) fn fill(buffer: &mut [u8], range: Range<usize>, filler: u8) {
    for byte in &mut buffer[range] {
        if *byte != b'\n' {
            *byte = filler;
        }
    }
}

pub(crate) fn mask(source: &str, body: usize, style: Style) -> Masked {
    let mut buffer = source.as_bytes().to_vec();
    blank(&mut buffer, 0..body);
    let attributes = blank_attributes(source, body, &mut buffer);
    blank_final_tabs(source, body, &mut buffer);
    let mut edits;
    let mut blanked = Vec::new();
    let mut bodies = Vec::new();
    let mut ids = Vec::new();
    let shifts = match style.dialect {
        Dialect::Mdx => {
            let mdx = mdx::blank_javascript(source, body, &mut buffer);
            edits = mdx.edits;
            ids = mdx.ids;
            blanked.extend(mdx.labels.into_iter().map(Blanked::prose));
            mdx.shifts
        }
        Dialect::Markdown => {
            let levelled = indent::level_admonitions(source, body, &mut buffer);
            edits = levelled.edits;
            bodies = levelled.bodies;
            blanked.extend(levelled.labels.into_iter().map(Blanked::prose));
            levelled.shifts
        }
    };
    // Components and admonitions go, and with them what their content is indented by.
    edits.extend(shifts.iter().map(|shift| {
        let own = indent::leading_blanks(&source.as_bytes()[shift.line.clone()]);
        Edit::hide(shift.line.start..shift.line.start + shift.by.min(own))
    }));
    let levelled = into_text(buffer, source);
    let mut buffer = levelled.clone().into_bytes();
    let containers = container::blank_containers(&mut buffer, &levelled, body, style);
    let text = into_text(buffer, source);
    bodies.extend(containers.bodies);
    bodies.sort_by_key(|body| body.start);
    let unseen = unseen::blank_unseen(text, style);
    let place = |field, range: Range<usize>| Blanked {
        field,
        place: range.start,
        source: Shift::range_to_source(&shifts, &range),
    };
    blanked.extend(
        containers
            .labels
            .into_iter()
            .map(|label| place(Field::Prose, label)),
    );
    let code = containers.code.into_iter().chain(unseen.code);
    blanked.extend(code.map(|code| place(Field::Code, code)));
    blanked.sort_by_key(|blanked| blanked.place);
    let placed = containers.edits.into_iter().chain(unseen.edits).map(|edit| Edit {
        range: Shift::range_to_source(&shifts, &edit.range),
        text: edit.text,
    });
    edits.extend(placed.filter(|edit| edit.range.start < edit.range.end));
    Masked {
        buffer: unseen.text,
        edits: apart(edits),
        blanked,
        bodies,
        attributes,
        shifts,
        ids,
        unclosed: unseen.unclosed,
    }
}

/// Blanks cover whole characters, so the buffer is text again.
pub(crate) fn into_text(buffer: Vec<u8>, source: &str) -> String {
    String::from_utf8(buffer).unwrap_or_else(|_| source.to_owned())
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
            && (line.starts_with("{:") && is_heading(&source[..start], body)
                || line.trim_start().starts_with('#')
                || is_underline(&source[next..]))
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

/// Whether a text ends with a heading, on which the attributes of the next line are.
fn is_heading(before: &str, body: usize) -> bool {
    let mut lines = before.get(body..).unwrap_or_default().lines().rev();
    let last = lines.next().unwrap_or_default().trim();
    last.starts_with('#') || is_underline(last) && lines.next().is_some_and(|line| !line.trim().is_empty())
}

/// A tab may follow the closing hashes of a heading, though the parser takes spaces only.
fn blank_final_tabs(source: &str, body: usize, buffer: &mut [u8]) {
    for (place, _) in source[body..].match_indices("#\t") {
        let tab = body + place + 1;
        let rest = source[tab..].lines().next().unwrap_or_default();
        if rest.len() < 64 && rest.trim().is_empty() {
            blank(buffer, tab..tab + rest.len());
        }
    }
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
        let masked = mask("# A {#x}\n\nB {#y}\n---\n\ntext {#z}\n", 0, Style::default());
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
