//! Indentation that is no Markdown: bodies of admonitions, tabs and components.
//!
//! A body indented by four is prose to its dialect and code to CommonMark. Here a line's indentation is moved to
//! the line's end: the parser then reads it at its own level, no byte changes its line, and every line keeps its
//! length.

use std::ops::Range;

use crate::directive;
use crate::edit::Edit;
use crate::fence;
use crate::mask::blank;

/// A line whose indentation was moved to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shift {
    /// The line without its line feed.
    pub(crate) line: Range<usize>,
    /// Bytes moved.
    pub(crate) by: usize,
}

impl Shift {
    /// Where a range of the parse buffer stands in the source.
    pub(crate) fn range_to_source(shifts: &[Self], range: &Range<usize>) -> Range<usize> {
        let start = Self::to_source(shifts, range.start);
        start..Self::to_source(shifts, range.end).max(start)
    }

    /// Where a place of the parse buffer stands in the source.
    pub(crate) fn to_source(shifts: &[Self], position: usize) -> usize {
        let next = shifts.partition_point(|shift| shift.line.start <= position);
        match next.checked_sub(1).and_then(|index| shifts.get(index)) {
            Some(shift) if position < shift.line.end => (position + shift.by).min(shift.line.end),
            _ => position,
        }
    }
}

/// Moves up to `by` bytes of blanks from the start of `line` to its end.
pub(crate) fn level(buffer: &mut [u8], line: Range<usize>, by: usize) -> Option<Shift> {
    let bytes = &mut buffer[line.clone()];
    let by = bytes
        .iter()
        .take(by)
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count();
    if by == 0 || by == bytes.len() {
        return None;
    }
    bytes[..by].fill(b' ');
    bytes.rotate_left(by);
    Some(Shift { line, by })
}

pub(crate) fn leading_blanks(line: &[u8]) -> usize {
    line.iter()
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// What [`level_admonitions`] did.
#[derive(Debug, Default)]
pub(crate) struct Levelled {
    pub(crate) shifts: Vec<Shift>,
    /// Bodies of outermost admonitions and tabs: headings in them are content.
    pub(crate) bodies: Vec<Range<usize>>,
    /// What readers see of the lines that open them: the kind and the title; places of the source.
    pub(crate) labels: Vec<Range<usize>>,
    /// What is stored in the place of these lines.
    pub(crate) edits: Vec<Edit>,
}

/// Levels the bodies of `!!! note`, `??? note` and `=== "Tab"`.
pub(crate) fn level_admonitions(source: &str, body: usize, buffer: &mut [u8]) -> Levelled {
    let mut levelled = Levelled::default();
    if !["!!! ", "??? ", "???+ ", "=== \"", ":::column"]
        .iter()
        .any(|opener| source.contains(opener))
    {
        return levelled;
    }
    // The bodies that a line stands in, outermost first.
    let mut bodies: Vec<Body> = Vec::new();
    // Whether the line stands in a list, where an opener is indented too.
    let mut in_list = false;
    let mut body_start = 0;
    let mut open_fence = None;
    let mut start = body;
    for line in source[body..].split_inclusive('\n') {
        let range = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let indent = leading_blanks(line.as_bytes());
        if let Some(fence) = open_fence {
            levelled
                .shifts
                .extend(level(buffer, range, bodies.last().map_or(0, |body| body.by)));
            if fence::closes(line, fence) {
                open_fence = None;
            }
            continue;
        }
        let was_inside = !bodies.is_empty();
        while let Some(body) = bodies.pop_if(|body| indent < body.indent) {
            in_list = body.in_list;
        }
        if was_inside && bodies.is_empty() {
            levelled.bodies.push(body_start..range.start);
        }
        let (base, by) = bodies.last().map_or((0, 0), |body| (body.indent, body.by));
        if fence::after_markers(line).len() < line.trim_start().len() {
            in_list = true;
        } else if indent - base < 2 {
            in_list = false;
        }
        open_fence = fence::opened_by(line);
        if open_fence.is_none() && (indent - base < 4 || in_list) && is_opener(line.trim_start()) {
            if bodies.is_empty() {
                body_start = range.start;
            }
            // In a list the body keeps the indentation of its item.
            bodies.push(Body {
                indent: indent + 4,
                by: if in_list { by + 4 } else { by + indent - base + 4 },
                in_list,
            });
            let next = source[start..].split('\n').next().unwrap_or_default();
            let mut shown = directive::admonition_label(line.trim());
            if !shown.is_empty() && !next.trim().is_empty() {
                shown.push('\n');
            }
            let opener = range.start + indent;
            levelled
                .edits
                .push(Edit::replace(opener..opener + line.trim().len(), shown));
            let outer = if in_list { by } else { by + indent - base };
            levelled
                .edits
                .push(Edit::hide(range.start..range.start + outer.min(indent)));
            in_list = false;
            // Blank, the line cannot join the paragraph or the table in its body.
            let marker = line.trim_start().find(' ').map_or(0, |space| indent + space + 1);
            levelled
                .labels
                .push(range.start + marker..range.start + line.trim_end().len());
            blank(buffer, range);
            continue;
        }
        if open_fence.is_none() && is_column(line.trim()) {
            if bodies.is_empty() {
                body_start = range.start;
            }
            bodies.push(Body {
                indent: indent + 1,
                by: by + indent - base + COLUMN,
                in_list,
            });
        }
        levelled.shifts.extend(level(buffer, range, by));
    }
    if !bodies.is_empty() {
        levelled.bodies.push(body_start..source.len());
    }
    levelled
}

/// A body that is indented below the line that opens it.
struct Body {
    /// Indentation of its lines, in bytes.
    indent: usize,
    /// How much of that goes.
    by: usize,
    /// Whether its opener stands in a list.
    in_list: bool,
}

/// What a column's text is indented by.
const COLUMN: usize = 3;

/// Whether a line opens a column of Microsoft's: `:::column span="2":::`.
fn is_column(line: &str) -> bool {
    line.starts_with(":::column") && line.ends_with(":::") && !line.starts_with(":::column-")
}

fn is_opener(line: &str) -> bool {
    ["!!! ", "??? ", "???+ ", "=== \"", "===! \"", "===+ \""]
        .iter()
        .any(|opener| line.starts_with(opener))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levelled(source: &str) -> (String, Levelled) {
        let mut buffer = source.as_bytes().to_vec();
        let levelled = level_admonitions(source, 0, &mut buffer);
        (String::from_utf8(buffer).unwrap(), levelled)
    }

    #[test]
    fn bodies_are_levelled_and_keep_their_lines() {
        let source = "!!! note\n    a\n\n        code\n\n    !!! tip\n        b\nafter\n";
        let (buffer, found) = levelled(source);
        assert_eq!(
            buffer,
            "        \na    \n\n    code    \n\n           \nb        \nafter\n"
        );
        assert_eq!(found.bodies.len(), 1);
        assert_eq!(found.bodies[0], 0..source.len() - "after\n".len());
        let b = buffer.find('b').unwrap();
        assert_eq!(&source[Shift::to_source(&found.shifts, b)..][..1], "b");
    }

    #[test]
    fn fences_in_a_body_move_as_a_whole_and_fences_outside_stay() {
        let (buffer, _) = levelled("=== \"Tab\"\n\n    ```sh\n    if x\n      y\n\n    ```\n");
        assert_eq!(buffer, "         \n\n```sh    \nif x    \n  y    \n\n```    \n");
        let fenced = "```\n!!! note\n    a\n```\n    code\n";
        assert_eq!(levelled(fenced).0, fenced);
        let text = "text\n\n    code\n";
        assert_eq!(levelled(text).0, text);
        let code = "text\n\n    !!! note\n        code\n";
        assert_eq!(levelled(code).0, code);
    }

    #[test]
    fn openers_are_stored_as_labels() {
        let source = "!!! note\n    a\n\n    ??? tip \"T\"\n\n        b\n";
        let edits = levelled(source).1.edits;
        let edits: Vec<(&str, &str)> = edits
            .iter()
            .filter(|edit| !edit.range.is_empty())
            .map(|edit| (&source[edit.range.clone()], edit.text.as_str()))
            .collect();
        assert_eq!(
            edits,
            [
                ("!!! note", "**Note**\n"),
                ("??? tip \"T\"", "**Tip:** T"),
                ("    ", "")
            ]
        );
    }

    #[test]
    fn texts_of_columns_are_levelled() {
        let (buffer, _) =
            levelled(":::row:::\n   :::column span=\"\":::\n      a\n   :::column-end:::\n:::row-end:::\n");
        let lines: Vec<&str> = buffer.lines().map(str::trim_end).collect();
        assert_eq!(lines[2..], ["a", "   :::column-end:::", ":::row-end:::"]);
    }

    #[test]
    fn bodies_in_lists_stay_in_their_item() {
        let (buffer, found) = levelled("1. a\n\n    !!! note\n\n        b\n\n    c\n\n2. d\n");
        assert_eq!(buffer, "1. a\n\n            \n\n    b    \n\n    c\n\n2. d\n");
        assert_eq!(found.bodies.len(), 1);
        let (buffer, _) = levelled("!!! tip\n    - a\n\n        ??? note\n            b\n\n    c\n");
        assert_eq!(
            buffer,
            "       \n- a    \n\n                \n    b        \n\nc    \n"
        );
    }
}
