//! Marked blocks: the lines that open and close containers, directives and zones around Markdown.
//!
//! In: the parse buffer, levelled. Out: the buffer with these lines blank, so that what they hold is read as the
//! Markdown it is; the labels that a reader sees of them; and, as edits, what is stored in their place: a label in
//! bold, or nothing. Docusaurus and VitePress (`:::note[Title]`, `::: details Title`), Microsoft (`::: zone`,
//! `:::image …:::`, `# [Tab](#tab/x)`), Material's blocks (`/// tip | Title`), `MyST`'s directives (a fence or colons
//! with `{note}`, see [`crate::directive`]) and labels (`(label)=`); and on all other lines what
//! [`crate::notation`] finds. One pass over the lines; code fences are stepped over.

mod mark;

use std::ops::Range;

pub(crate) use crate::container::mark::label_of;
use crate::container::mark::{Image, Mark};
use crate::directive::{self, Call};
use crate::edit::Edit;
use crate::fence::{self, Fence};
use crate::indent::leading_blanks;
use crate::mask::{FILLER_BYTE, Style, blank};
use crate::notation;

/// What a pass over the lines found. Ranges are places of the buffer.
#[derive(Debug, Default)]
pub(crate) struct Containers {
    /// What readers see of opening lines, in order.
    pub(crate) labels: Vec<Range<usize>>,
    pub(crate) edits: Vec<Edit>,
    /// Code between colons, blank now.
    pub(crate) code: Vec<Range<usize>>,
    /// Containers in which headings are content.
    pub(crate) bodies: Vec<Range<usize>>,
}

/// Nesting beyond which containers are no longer told apart.
const DEEPEST: usize = 64;

/// The lines around a block that kramdown leaves out.
const COMMENT: &str = "{::comment}";
const COMMENT_END: &str = "{:/comment}";

/// An open container.
struct Open {
    fence: Fence,
    /// Where its body begins, if headings in it are content.
    body: Option<usize>,
}

pub(crate) fn blank_containers(buffer: &mut [u8], text: &str, body: usize, style: Style) -> Containers {
    let mut scan = Scan {
        buffer,
        text,
        style,
        found: Containers::default(),
        open: Vec::new(),
        options: Options::None,
        hidden_to: 0,
        no_comment_before: 0,
        no_code_before: 0,
    };
    scan.run(body);
    scan.found
}

struct Scan<'t, 'b> {
    buffer: &'b mut [u8],
    text: &'t str,
    style: Style,
    found: Containers,
    open: Vec<Open>,
    /// What the lines after an opening one may be.
    options: Options,
    /// Lines up to here are hidden.
    hidden_to: usize,
    /// No comment that is closed begins before this place.
    no_comment_before: usize,
    /// No code between colons that is closed begins before this place.
    no_code_before: usize,
}

/// A line of the text, without its line feed.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    trimmed: &'t str,
    /// Place of what is in it.
    start: usize,
    /// Where the next line begins.
    next: usize,
}

impl Line<'_> {
    /// The place of the line without the blanks around it.
    fn place(&self) -> Range<usize> {
        let start = self.start + leading_blanks(self.text.as_bytes());
        start..(start + self.trimmed.len()).max(start)
    }
}

impl<'t> Scan<'t, '_> {
    fn run(&mut self, body: usize) {
        let mut code: Option<Fence> = None;
        // Whether a remark of a vault is open.
        let mut in_remark = false;
        // Whether the place is in a list, where four blanks are no code.
        let mut in_list = false;
        let mut position = body;
        for raw in self.text[body..].split_inclusive('\n') {
            let line = Line {
                text: raw.trim_end_matches('\n'),
                trimmed: raw.trim(),
                start: position,
                next: position + raw.len(),
            };
            position = line.next;
            if line.start < self.hidden_to {
                continue;
            }
            if let Some(fence) = code {
                if fence::closes(raw, fence) {
                    code = None;
                }
                continue;
            }
            if self.style.is_obsidian {
                let was_open = in_remark;
                for hidden in notation::remarks(line.text, &mut in_remark) {
                    self.hide(line.start + hidden.start..line.start + hidden.end);
                }
                if was_open {
                    continue;
                }
            }
            if self.options.takes(line.trimmed, raw) {
                self.hide(line.start..line.start + line.text.len());
                continue;
            }
            self.options = Options::None;
            if self.closes(&line) {
                continue;
            }
            if let Some(fence) = fence::opened_by(raw) {
                if !self.directive(&line, fence) {
                    code = Some(fence);
                }
                continue;
            }
            let blanks = leading_blanks(raw.as_bytes());
            if fence::after_markers(raw).len() < raw.trim_start().len() {
                in_list = true;
            } else if blanks == 0 && !line.trimmed.is_empty() {
                in_list = false;
            }
            if line.trimmed == COMMENT && self.comment(&line) {
                continue;
            }
            if !self.mark(&line) && !line.trimmed.is_empty() && (blanks < 4 || in_list) {
                self.notations(&line);
            }
        }
        // A fence that nothing closes ends with the text; colons that nothing closes are a slip.
        let is_fence = |open: &&Open| matches!(open.fence.character, b'`' | b'~');
        let first = self.open.iter().filter(is_fence).find_map(|open| open.body);
        self.found
            .bodies
            .extend(first.map(|start| start..self.text.len()));
    }

    /// Hides a comment of kramdown's to the line that closes it.
    fn comment(&mut self, line: &Line<'t>) -> bool {
        if line.start < self.no_comment_before {
            return false;
        }
        let mut end = line.next;
        for next in self.text[line.next..].split_inclusive('\n') {
            let closer = next.trim();
            if closer == COMMENT_END || closer == "{:/}" {
                let end = end + next.trim_end().len();
                self.hide(line.start..end);
                self.hidden_to = end;
                return true;
            }
            end += next.len();
        }
        self.no_comment_before = self.text.len();
        false
    }

    fn hide(&mut self, range: Range<usize>) {
        blank(self.buffer, range.clone());
        if !range.is_empty() {
            self.found.edits.push(Edit::hide(range));
        }
    }

    /// Takes a line that closes a container.
    fn closes(&mut self, line: &Line<'t>) -> bool {
        let place = line.start..line.start + line.text.len();
        let marker = line.trimmed.bytes().next().unwrap_or_default();
        if matches!(marker, b':' | b'/') {
            let length = line.trimmed.bytes().take_while(|&byte| byte == marker).count();
            if length < 3 || length < line.trimmed.len() {
                return false;
            }
            let is_own = |open: &Open| open.fence.character == marker;
            let fits = |open: &Open| is_own(open) && open.fence.length <= length;
            // People count their colons badly: where none fits, it is the innermost.
            let index = self
                .open
                .iter()
                .rposition(fits)
                .or_else(|| self.open.iter().rposition(is_own));
            match index {
                Some(index) => {
                    self.hide(place);
                    self.close(index, line.start);
                }
                None => blank(self.buffer, place),
            }
            return true;
        }
        let closed = self.open.last().is_some_and(|open| {
            matches!(open.fence.character, b'`' | b'~') && fence::closes(line.text, open.fence)
        });
        if closed {
            self.hide(place);
            self.close(self.open.len() - 1, line.start);
        }
        closed
    }

    /// The container of this number and those in it end before `end`.
    fn close(&mut self, index: usize, end: usize) {
        let outer = self.open[..index].iter().any(|open| open.body.is_some());
        let first = self.open[index..].iter().find_map(|open| open.body);
        self.open.truncate(index);
        if let Some(start) = first.filter(|_| !outer) {
            self.found.bodies.push(start..end);
        }
    }

    /// Takes the line of a fence that opens a directive; whether its content is Markdown.
    fn directive(&mut self, line: &Line<'t>, fence: Fence) -> bool {
        let opened = fence::after_markers(line.text);
        let info = opened.trim_start_matches(['`', '~']).trim_start();
        let start = line.start + line.text.len() - opened.len();
        let label = line.start + line.text.len() - info.len();
        let Some(call) = directive::read(info, &self.text[line.next..]) else {
            return false;
        };
        match call {
            Call::Markdown { shown, label: place } if self.open.len() < DEEPEST => {
                self.options = Options::Fields;
                let range = start..start + opened.trim_end().len();
                self.shown(range, shown, line);
                self.found
                    .labels
                    .extend(place.map(|place| label + place.start..label + place.end));
                blank(self.buffer, line.start..line.start + line.text.len());
                self.open.push(Open {
                    fence,
                    body: Some(line.next),
                });
                true
            }
            Call::Markdown { .. } => false,
            Call::Code {
                language,
                caption,
                skipped,
            } => {
                let ticks = &opened[..opened.len() - opened.trim_start_matches(['`', '~']).len()];
                let code_start = line.next + skipped;
                let end = if skipped == 0 {
                    line.start + line.text.len()
                } else {
                    code_start
                };
                let feed = if skipped == 0 { "" } else { "\n" };
                let title = caption.map_or_else(String::new, |caption| format!("**{caption}**\n\n"));
                let stored = format!("{title}{ticks}{language}{feed}");
                self.found.edits.push(Edit::replace(start..end, stored));
                blank(self.buffer, line.next..code_start);
                false
            }
        }
    }

    /// Stores a label in the place of an opening line, apart from the paragraph after it.
    fn shown(&mut self, range: Range<usize>, mut shown: String, line: &Line<'t>) {
        let next = self.text[line.next..]
            .split_inclusive('\n')
            .next()
            .unwrap_or_default();
        let is_apart = next.trim().is_empty() || self.options.clone().takes(next.trim(), next);
        if !shown.is_empty() && !is_apart {
            shown.push('\n');
        }
        self.found.edits.push(Edit::replace(range, shown));
    }

    /// Takes a line that marks something by itself.
    fn mark(&mut self, line: &Line<'t>) -> bool {
        let Some(mark) = Mark::of(line.trimmed) else {
            return false;
        };
        let place = line.place();
        let whole = line.start..line.start + line.text.len();
        let within = |part: Range<usize>| place.start + part.start..place.start + part.end;
        match mark {
            Mark::Open(label) if self.open.len() < DEEPEST => {
                let marker = line.trimmed.as_bytes()[0];
                let text = &line.trimmed[label.clone()];
                let is_directive = text.starts_with('{') && marker == b':';
                self.options = match marker {
                    b'/' => Options::Indented,
                    _ if is_directive => Options::Fields,
                    _ => Options::None,
                };
                let (shown, part) = if is_directive {
                    match directive::read(text, &self.text[line.next..]) {
                        Some(Call::Markdown { shown, label: part }) => (shown, part),
                        Some(Call::Code {
                            language,
                            caption,
                            skipped,
                        }) => {
                            self.options = Options::None;
                            let title =
                                caption.map_or_else(String::new, |caption| format!("**{caption}**\n\n"));
                            return self.code(line, &format!("{title}```{language}\n"), skipped);
                        }
                        None => directive::callout_label(text),
                    }
                } else {
                    directive::container_label(text)
                };
                let at = label.start;
                self.found
                    .labels
                    .extend(part.map(|part| within(at + part.start..at + part.end)));
                self.shown(place, shown, line);
                blank(self.buffer, whole);
                self.open.push(Open {
                    fence: Fence {
                        character: marker,
                        length: line.trimmed.bytes().take_while(|&byte| byte == marker).count(),
                    },
                    // As in `<details>`, a heading there is one of the page.
                    body: (!text.starts_with("details")).then_some(line.next),
                });
            }
            Mark::Open(_) => return false,
            Mark::Tab(name) => {
                let shown = format!("**{}**", &line.trimmed[name.clone()]);
                self.found.labels.push(within(name));
                self.shown(place, shown, line);
                blank(self.buffer, whole);
            }
            Mark::Unseen => self.hide(whole),
            Mark::Image(image) => self.image(place, &image),
        }
        true
    }

    /// Takes code between colons: stored, it is a fence.
    fn code(&mut self, line: &Line<'t>, opener: &str, skipped: usize) -> bool {
        let length = line.trimmed.bytes().take_while(|&byte| byte == b':').count();
        let start = line.next + skipped;
        if start < self.no_code_before {
            return false;
        }
        let mut end = start;
        for next in self.text[start..].split_inclusive('\n') {
            let closer = next.trim();
            if closer.len() >= length && closer.bytes().all(|byte| byte == b':') {
                let close_end = end + next.trim_end().len();
                self.found.edits.push(Edit::replace(line.start..start, opener));
                self.found.edits.push(Edit::replace(end..close_end, "```"));
                self.found.code.push(start..end);
                blank(self.buffer, line.start..close_end);
                self.hidden_to = close_end;
                return true;
            }
            end += next.len();
        }
        self.no_code_before = self.text.len();
        false
    }

    /// Stores Markdown in the place of an image.
    fn image(&mut self, place: Range<usize>, image: &Image) {
        blank(self.buffer, place.clone());
        let alt = place.start + image.alt.start..place.start + image.alt.end;
        if !alt.is_empty() {
            self.found.labels.push(alt);
        }
        self.found
            .edits
            .push(Edit::replace(place, image.markdown.clone()));
    }

    /// What shows nothing on a line of text, and images in it.
    fn notations(&mut self, line: &Line<'t>) {
        let next = self.text[line.next..]
            .split_inclusive('\n')
            .next()
            .unwrap_or_default();
        let unshown = notation::unshown(line.text, next, self.style);
        for hidden in unshown.hidden {
            self.hide(line.start + hidden.start..line.start + hidden.end);
        }
        for icon in unshown.icons {
            self.buffer[line.start + icon.start..line.start + icon.end].fill(FILLER_BYTE);
        }
        let mut from = 0;
        while let Some(offset) = line.text[from..].find(":::image ") {
            let start = from + offset;
            let Some(length) = line.text[start + 3..].find(":::").map(|length| length + 6) else {
                break;
            };
            from = start + length;
            if !line.text[..start].ends_with('`') {
                let image = Image::of(&line.text[start..from]);
                self.image(line.start + start..line.start + from, &image);
            }
        }
    }
}

/// What may follow an opening line.
#[derive(Clone)]
enum Options {
    None,
    /// `:key: value` lines of a directive, or a block of YAML between `---`.
    Fields,
    Yaml,
    /// Indented `key: value` lines of a block.
    Indented,
}

impl Options {
    /// Whether the line is one of them.
    fn takes(&mut self, trimmed: &str, line: &str) -> bool {
        match self {
            Self::None => false,
            Self::Fields if trimmed == "---" => {
                *self = Self::Yaml;
                true
            }
            Self::Fields => directive::field(trimmed).is_some(),
            Self::Yaml => {
                if trimmed == "---" {
                    *self = Self::None;
                }
                true
            }
            Self::Indented => {
                line.starts_with("    ")
                    && trimmed.split_once(':').is_some_and(|(key, value)| {
                        directive::is_name(key) && (value.is_empty() || value.starts_with(' '))
                    })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(source: &str) -> (String, Vec<&str>, Vec<(&str, String)>) {
        let mut buffer = source.as_bytes().to_vec();
        let found = blank_containers(&mut buffer, source, 0, Style::default());
        let labels = found.labels.into_iter().map(|label| &source[label]).collect();
        let edits = found
            .edits
            .into_iter()
            .map(|edit| (&source[edit.range], edit.text))
            .collect();
        let text = String::from_utf8(buffer).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        (lines.join("\n"), labels, edits)
    }

    /// The source with its edits made.
    fn stored(source: &str) -> String {
        let mut text = String::new();
        let mut buffer = source.as_bytes().to_vec();
        let mut edits = blank_containers(&mut buffer, source, 0, Style::default()).edits;
        edits.sort_by_key(|edit| edit.range.start);
        let mut at = 0;
        for edit in edits {
            text.push_str(&source[at..edit.range.start]);
            text.push_str(&edit.text);
            at = edit.range.end;
        }
        text.push_str(&source[at..]);
        text
    }

    #[test]
    fn lines_of_containers_are_blank_and_keep_their_labels() {
        let cases: [(&str, &str, &[&str]); 8] = [
            (":::note[Mind it]{.x}\na\n:::\n", "\na\n", &["note[Mind it]"]),
            (
                "::: details More\n| a |\n|---|\n:::\n",
                "\n| a |\n|---|\n",
                &["details More"],
            ),
            ("::::tip\n:::note\na\n:::\n::::\n", "\n\na\n\n", &["tip", "note"]),
            (
                "/// tip | Title\n    open: true\na\n///\n",
                "\n\na\n",
                &["tip | Title"],
            ),
            ("/// a comment of code\n", "/// a comment of code", &[]),
            ("```\n:::note\n```\n", "```\n:::note\n```", &[]),
            ("::: zone pivot=\"a\"\nb\n::: zone-end\n", "\nb\n", &[]),
            ("a::: b\n:: c\n", "a::: b\n:: c", &[]),
        ];
        for (source, text, labels) in cases {
            let (found, found_labels, _) = blanked(source);
            assert_eq!(found, text, "{source}");
            assert_eq!(found_labels, labels, "{source}");
        }
        let (_, labels, edits) = blanked(":::image source=\"a.png\" alt-text=\"A cat\":::\n");
        assert_eq!(labels, ["A cat"]);
        assert_eq!(edits[0].1, "![A cat](a.png)");
    }

    #[test]
    fn what_readers_see_of_containers_is_stored() {
        let cases = [
            (":::note[Mind]{.x}\n\na\n\n:::\n", "**Note:** Mind\n\na\n\n\n"),
            ("::: tip\na\n:::\n", "**Tip**\n\na\n\n"),
            (
                "::: code-group\n```sh [a]\n:::\n```\n:::\n",
                "\n```sh [a]\n:::\n```\n\n",
            ),
            ("- x\n\n  :::tip\n  a\n  :::\n", "- x\n\n  **Tip**\n\n  a\n\n"),
            // Nested with as many colons, and closed once too often.
            (
                ":::tip\n:::note\na\n:::\n:::\n:::\n",
                "**Tip**\n\n**Note**\n\na\n\n\n:::\n",
            ),
            (
                "::::{tab-set}\n:::{tab-item} A\n:sync: a\nx\n:::\n::::\n",
                "\n**A**\n\nx\n\n\n",
            ),
            (":::{code-block} sh\na\n:::\n", "```sh\na\n```\n"),
            (
                "::: kite.lift.Wing\n    options:\n",
                "::: kite.lift.Wing\n    options:\n",
            ),
            (":::code language=\"c\":::\n", ":::code language=\"c\":::\n"),
            ("/// details | More\n    type: tip\na\n///\n", "**More**\n\na\n\n"),
            ("# [Bash](#tab/bash)\n\na\n", "**Bash**\n\na\n"),
            ("# [Bash](#tabs)\n", "# [Bash](#tabs)\n"),
            ("> [!div class=\"x\"]\n> * a\n", "\n> * a\n"),
            (
                "Press :::image type=\"icon\" source=\"a.png\"::: now\n",
                "Press  now\n",
            ),
            (
                "See :::image source=\"a.png\" alt-text=\"b\"::: now\n",
                "See ![b](a.png) now\n",
            ),
            ("[a](b){ .c }\n{: .d }\n\n[TOC]\n", "[a](b)\n\n\n\n"),
            ("a\n{::comment}\nb {: .c }\n{:/comment}\nd\n", "a\n\nd\n"),
            ("{::comment}\nb\n", "\nb\n"),
            ("text\n\n    [a](b){ .code }\n", "text\n\n    [a](b){ .code }\n"),
            ("- x\n\n    [a](b){ .item }\n", "- x\n\n    [a](b)\n"),
        ];
        for (source, expected) in cases {
            assert_eq!(stored(source), expected, "{source}");
        }
    }

    #[test]
    fn directives_hold_markdown_unless_they_hold_code() {
        let source = "```{note} Mind\n:class: x\n\n# inside\n\n~~~sh\n```\n~~~\n```\n\n```{code-block} sh\n:x: y\n\na\n```\n";
        let (text, labels, edits) = blanked(source);
        assert_eq!(
            text,
            "\n\n\n# inside\n\n~~~sh\n```\n~~~\n\n\n```{code-block} sh\n\n\na\n```"
        );
        assert_eq!(labels, ["{note} Mind"]);
        let edits: Vec<(&str, &str)> = edits.iter().map(|(from, to)| (*from, to.as_str())).collect();
        assert_eq!(
            edits,
            [
                ("```{note} Mind", "**Note:** Mind"),
                (":class: x", ""),
                ("```", ""),
                ("```{code-block} sh\n:x: y\n\n", "```sh\n"),
            ]
        );
        let mut buffer = source.as_bytes().to_vec();
        let bodies = blank_containers(&mut buffer, source, 0, Style::default()).bodies;
        assert!(source[bodies[0].clone()].contains("# inside") && bodies.len() == 1);
        let (text, _, edits) = blanked("(my-label)=\n# T\n");
        assert_eq!((text.as_str(), edits[0].0), ("\n# T", "(my-label)="));
    }

    #[test]
    fn repeated_openers_take_linear_time() {
        for piece in [
            ":::note\n",
            "```{note}\n",
            ":::\n",
            ":::image ",
            "```{code} a\n---\n",
        ] {
            let source = piece.repeat(50_000);
            let mut buffer = source.as_bytes().to_vec();
            let begin = std::time::Instant::now();
            blank_containers(&mut buffer, &source, 0, Style::default());
            assert!(begin.elapsed().as_secs() < 5, "{piece:?}");
        }
    }
}
