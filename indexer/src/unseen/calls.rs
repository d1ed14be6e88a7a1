//! Calls between braces in running text: where they end, what is stored in their place.
//!
//! In: the scan, at a brace. Out: the end of the call, once the buffer and the edits say what a reader sees of it, which
//! [`crate::shortcode`] and [`crate::role`] know.

use std::borrow::Cow;
use std::ops::Range;

use super::{InlineScan, LONGEST_CALL};
use crate::edit::Edit;
use crate::markdown::char_boundary;
use crate::mask::{FILLER_BYTE, blank, fill};
use crate::role;
use crate::shortcode::{self, Call, CodeBody};

impl InlineScan<'_> {
    /// A shortcode, macro or tag.
    pub(super) fn call(&mut self, position: usize) -> Option<usize> {
        let text = self.text;
        let rest = &text[position..];
        let is_liquid = rest.starts_with("{%");
        if !is_liquid && !rest.starts_with("{{") {
            return None;
        }
        let (open, close) = if is_liquid { (b"{%", b"%}") } else { (b"{{", b"}}") };
        let inner = &rest[2..];
        let limit = inner.len().min(LONGEST_CALL);
        let mut pairs = inner.as_bytes()[..limit].windows(2);
        let closing = pairs.position(|pair| pair == close || pair == open || pair == b"\n\n")?;
        if &inner.as_bytes()[closing..closing + 2] != close {
            return None;
        }
        let inner = &inner[..closing];
        let end = position + closing + 4;
        let in_destination = in_destination(&self.buffer[self.line.start..position]);
        let line = &text[self.line.clone()];
        let alone = *self.only_calls.get_or_insert_with(|| is_only_calls(line));
        let call = if is_liquid {
            shortcode::read_liquid(inner)
        } else {
            shortcode::read(inner, alone, self.style.is_mdn)
        };
        match call {
            Call::CodeBody(code) => self.code_body(position, end, &code, is_liquid),
            Call::HiddenBody(name) => {
                let (_, close_end) = self.closing_call(end, name, is_liquid)?;
                self.hide(position..close_end);
                Some(close_end)
            }
            _ if in_destination => {
                fill(&mut self.buffer, position..end, b'-');
                Some(end)
            }
            Call::Literal => Some(end),
            Call::Heading(key) => {
                let title = shortcode::named_heading(key, self.style.language);
                self.show(position..end, title, FILLER_BYTE);
                self.edits.push(Edit::replace(position..end, title));
                Some(end)
            }
            Call::Words(words) => {
                let words = without_comments(words);
                self.show(position..end, &words, FILLER_BYTE);
                let stored = if words.contains('<') {
                    format!("`{words}`")
                } else if matches!(Self::element_name(inner), Some(name) if name == words) {
                    format!("`<{words}>`")
                } else {
                    words.into_owned()
                };
                // Banners side by side are sentences.
                let follows = self
                    .edits
                    .last()
                    .is_some_and(|edit| edit.range.end == position && edit.text.ends_with('.'));
                let stored = if follows { format!(" {stored}") } else { stored };
                self.edits.push(Edit::replace(position..end, stored));
                Some(end)
            }
            Call::Label(words) => {
                let words = without_comments(words);
                if words.trim().is_empty() {
                    self.hide(position..end);
                    return Some(end);
                }
                self.show(position..end, &words, if alone { b' ' } else { FILLER_BYTE });
                let stored = if alone {
                    let after = &text[self.line.end..];
                    let next = after.split('\n').nth(1).unwrap_or_default();
                    // A label is no part of the paragraph after it.
                    let feed = if next.trim().is_empty() || end < self.line.end {
                        ""
                    } else {
                        "\n"
                    };
                    format!("**{words}**{feed}")
                } else {
                    words.into_owned()
                };
                self.edits.push(Edit::replace(position..end, stored));
                Some(end)
            }
            Call::Nothing => {
                if alone {
                    blank(&mut self.buffer, position..end);
                } else {
                    fill(&mut self.buffer, position..end, FILLER_BYTE);
                }
                self.edits.push(Edit::hide(position..end));
                Some(end)
            }
        }
    }

    /// A macro with a backslash in front is shown as it is written; stored, it is code, which is what it is about.
    pub(super) fn escaped_call(&mut self, position: usize) -> Option<usize> {
        let near = char_boundary(self.text, position + LONGEST_CALL);
        let rest = &self.text[position..near.min(self.line.end).max(position)];
        if !self.style.is_mdn || !rest.starts_with("{{") {
            return None;
        }
        let call = &rest[..rest.find("}}")? + 2];
        let (mut start, mut end) = (position - 1, position + call.len());
        if self.text[..start].ends_with("<code>") && self.text[end..].starts_with("</code>") {
            (start, end) = (start - "<code>".len(), end + "</code>".len());
        }
        if call.contains('`') {
            return None;
        }
        self.edits.push(Edit::replace(start..end, format!("`{call}`")));
        Some(end)
    }

    /// The element that a macro such as `{{HTMLElement("a")}}` names.
    fn element_name(inner: &str) -> Option<&str> {
        let (name, argument) = inner.trim().split_once('(')?;
        let is_element = ["htmlelement", "svgelement", "mathmlelement"]
            .iter()
            .any(|element| name.trim().eq_ignore_ascii_case(element));
        let argument = argument.trim_end().trim_end_matches(')').trim();
        is_element.then(|| argument.trim_matches(['"', '\'']))
    }

    /// Puts words in the place of a call, without what the parser would take for markup.
    fn show(&mut self, range: Range<usize>, words: &str, filler: u8) {
        fill(&mut self.buffer, range.clone(), filler);
        if words.len() > range.len() || words.contains('\n') || self.text[range.clone()].contains('\n') {
            return;
        }
        let place = &mut self.buffer[range.start..range.start + words.len()];
        place.copy_from_slice(words.as_bytes());
        for byte in place {
            if matches!(byte, b'<' | b'>') {
                *byte = FILLER_BYTE;
            }
        }
    }

    /// Blanks a call around code up to the one that closes it; stored, it is a fence.
    fn code_body(
        &mut self,
        position: usize,
        end: usize,
        code: &CodeBody<'_>,
        is_liquid: bool,
    ) -> Option<usize> {
        let (body_end, close_end) = self.closing_call(end, code.name, is_liquid)?;
        let body = &self.text[end..body_end];
        let longest_run = body
            .split(|character| character != '`')
            .map(str::len)
            .max()
            .unwrap_or(0);
        let (open, close) = if body.trim().contains('\n') || body.starts_with('\n') {
            let ticks = "`".repeat(longest_run.max(2) + 1);
            let label = if code.label.is_empty() {
                String::new()
            } else {
                format!("**{}**\n\n", code.label)
            };
            let after_opener = if body.starts_with('\n') { "" } else { "\n" };
            let last_line = body.rsplit('\n').next().unwrap_or_default();
            let before_closer = if last_line.trim().is_empty() { "" } else { "\n" };
            (
                format!("{label}{ticks}{}{after_opener}", code.language),
                format!("{before_closer}{ticks}"),
            )
        } else {
            let ticks = "`".repeat(longest_run + 1);
            (ticks.clone(), ticks)
        };
        self.edits.push(Edit::replace(position..end, open));
        self.edits.push(Edit::replace(body_end..close_end, close));
        blank(&mut self.buffer, position..close_end);
        self.code.push(end..body_end);
        Some(close_end)
    }

    /// A role in front of a code span.
    pub(super) fn role(&mut self, position: usize) -> Option<usize> {
        let role = role::role_at(self.text, position)?;
        self.edits
            .push(Edit::replace(role.range.clone(), &self.text[role.shown.clone()]));
        fill(&mut self.buffer, role.range.start..role.shown.start, FILLER_BYTE);
        fill(&mut self.buffer, role.shown.end..role.range.end, FILLER_BYTE);
        Some(role.range.end)
    }

    /// Where the call that closes one of this name begins and ends: `{{< /name >}}`, `{% endname %}`.
    fn closing_call(&mut self, position: usize, name: &str, is_liquid: bool) -> Option<(usize, usize)> {
        let forms: &[(&str, &str, &str)] = if is_liquid {
            &[("{%", "end", "%}"), ("{%-", "end", "%}")]
        } else {
            &[("{{<", "/", ">}}"), ("{{%", "/", "%}}")]
        };
        for (open, mark, close) in forms {
            for space in [" ", ""] {
                let opener = format!("{open}{space}{mark}{name}");
                let Some(after_name) = self.after(position, &opener) else {
                    continue;
                };
                let rest = &self.text[after_name..];
                let end_of_call = rest.trim_start().trim_start_matches(['/', '-']).trim_start();
                let skipped = rest.len() - end_of_call.len();
                if end_of_call.starts_with(close) {
                    return Some((after_name - opener.len(), after_name + skipped + close.len()));
                }
            }
        }
        None
    }
}

/// An argument without the comments in it: translators keep the original there.
fn without_comments(words: Cow<'_, str>) -> Cow<'_, str> {
    if !words.contains("<!--") {
        return words;
    }
    let mut shown = String::with_capacity(words.len());
    let mut rest = words.as_ref();
    while let Some((before, comment)) = rest.split_once("<!--") {
        shown.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// Whether nothing but calls stands on a line.
fn is_only_calls(line: &str) -> bool {
    let mut rest = line.trim();
    while !rest.is_empty() {
        let close = if rest.starts_with("{{") {
            "}}"
        } else if rest.starts_with("{%") {
            "%}"
        } else {
            return false;
        };
        match rest.split_once(close) {
            Some((_, after)) => rest = after.trim_start(),
            None => return false,
        }
    }
    true
}

/// Whether a line so far ends inside the destination of a link.
fn in_destination(before: &[u8]) -> bool {
    let near = before.iter().rev().take(500);
    let destination = near
        .take_while(|&&byte| !matches!(byte, b')' | b' ' | b'('))
        .count();
    before[..before.len() - destination].ends_with(b"](")
}
