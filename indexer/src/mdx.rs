//! MDX: what is JavaScript in a Markdown file.
//!
//! In: the source of an `.mdx` file and its parse buffer. Imports, exports, `{/* … */}` comments, `<style>`,
//! `<script>` and expressions that make a block become blanks in the buffer and are hidden. JSX tags become blanks
//! too, so that the text between them is read as the Markdown it is; what a reader sees of their attributes is
//! their label. Lines indented inside a component are levelled, for MDX has no indented code. Code fences and code
//! spans are left alone. One pass; scans that fail have a common budget, so that no input takes more than linear time.

use std::collections::HashMap;
use std::ops::Range;

use crate::anchor;
use crate::component::{self, Shown};
use crate::edit::Edit;
use crate::fence;
use crate::indent::{self, Shift};
use crate::jsx::{TagKind, braces_end, jsx_tag, statement_end, text_in_braces};
use crate::mask::{FILLER, FILLER_BYTE, blank, fill};

/// Nesting beyond which components are no longer told apart.
const DEEPEST: usize = 128;

#[derive(Debug, Default)]
pub(crate) struct Mdx {
    /// What is stored otherwise, or not at all; ranges of the source, in order.
    pub(crate) edits: Vec<Edit>,
    /// What readers see of attributes; ranges of the source, in order.
    pub(crate) labels: Vec<Range<usize>>,
    pub(crate) shifts: Vec<Shift>,
    /// The `id` of tags, by their places.
    pub(crate) ids: Vec<(usize, String)>,
}

pub(crate) fn blank_javascript(source: &str, body: usize, buffer: &mut [u8]) -> Mdx {
    let mut scan = Scan {
        source,
        buffer,
        mdx: Mdx::default(),
        components: Vec::new(),
        indents: Vec::new(),
        column: 0,
        budget: 4 * source.len() + 65_536,
        runs: Runs::default(),
    };
    scan.run(body);
    scan.level();
    scan.mdx
}

/// Whether a Markdown file is written as MDX: outside code, a line begins with the tag of a component that closes
/// itself or is closed later.
pub(crate) fn has_components(source: &str, body: usize) -> bool {
    let text = &source[body..];
    if !text.contains('<') {
        return false;
    }
    let mut code = None;
    // Names whose closing tag was looked for.
    let mut open: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(fence) = code {
            if fence::closes(line, fence) {
                code = None;
            }
            continue;
        }
        code = fence::opened_by(line);
        let Some(tag) = line.trim_start().strip_prefix('<') else {
            continue;
        };
        let (is_close, tag) = tag.strip_prefix('/').map_or((false, tag), |rest| (true, rest));
        let name = &tag[..tag
            .find(|character: char| !character.is_ascii_alphanumeric() && character != '.')
            .unwrap_or(tag.len())];
        let is_component = name.starts_with(|first: char| first.is_ascii_uppercase())
            && name.contains(|character: char| character.is_ascii_lowercase());
        if !is_component {
            continue;
        }
        if is_close && open.contains(&name) || !is_close && line.trim_end().ends_with("/>") {
            return true;
        }
        if !is_close && line.contains(&format!("</{name}>")) {
            return true;
        }
        if !is_close && open.len() < DEEPEST && !open.contains(&name) {
            open.push(name);
        }
    }
    false
}

/// An open component.
struct Component<'s> {
    name: &'s str,
    /// Where the line of its opening tag begins, once that is levelled.
    column: usize,
    /// What its lines of content are indented by beyond that, once the first was seen.
    indent: Option<usize>,
    /// What stands in the stored text for its closing tag.
    closer: String,
}

struct Scan<'s, 'b> {
    source: &'s str,
    buffer: &'b mut [u8],
    mdx: Mdx,
    components: Vec<Component<'s>>,
    /// Start of each line inside components, and the indentation that it owes to them.
    indents: Vec<(usize, usize)>,
    /// Where the line at hand begins, once it is levelled.
    column: usize,
    /// Bytes that failing scans may still look at.
    budget: usize,
    runs: Runs,
}

impl<'s> Scan<'s, '_> {
    fn run(&mut self, body: usize) {
        let mut position = body;
        let mut block_start = true;
        while position < self.source.len() {
            let line = self.line(position);
            if line.trim().is_empty() {
                block_start = true;
                position += line.len();
                continue;
            }
            if block_start && let Some(end) = statement_end(self.source, position, &mut self.budget) {
                self.hide(position..end);
                position = end;
                continue;
            }
            if let Some(end) = self.block_expression(position, line) {
                let open = position + (line.len() - line.trim_start().len());
                // A text alone is shown, though not as Markdown.
                match text_in_braces(self.source, open, end) {
                    Some(text) => {
                        blank(self.buffer, open..end);
                        self.mdx
                            .edits
                            .push(Edit::replace(open..end, self.source[text.clone()].trim()));
                        self.mdx.labels.push(text);
                    }
                    None => self.hide(position..end),
                }
                position = end;
                block_start = true;
                continue;
            }
            block_start = false;
            self.note_indent(position, line);
            position = match fence::opened_by(line) {
                Some(fence) => self.skip_fence(position + line.len(), fence),
                None => self.scan_text(position),
            };
        }
    }

    fn line(&self, position: usize) -> &'s str {
        self.source[position..]
            .split_inclusive('\n')
            .next()
            .unwrap_or_default()
    }

    fn note_indent(&mut self, position: usize, line: &str) {
        let own = indent::leading_blanks(line.as_bytes());
        self.column = own;
        let Some(component) = self.components.last_mut() else {
            return;
        };
        if !line.trim_start().starts_with("</") {
            let by_content = own.saturating_sub(component.column);
            let owed = *component.indent.get_or_insert(by_content);
            self.column = own.saturating_sub(owed);
            self.indents.push((position, owed));
        }
    }

    /// The lines of a fence move as far as its opener does, but none of them further out than it stands then: a
    /// closer out there would open another.
    fn skip_fence(&mut self, mut position: usize, fence: fence::Fence) -> usize {
        let column = self.column;
        while position < self.source.len() {
            let line = self.line(position);
            self.note_indent(position, if line.trim().is_empty() { "</" } else { line });
            let own = indent::leading_blanks(line.as_bytes());
            if let Some((_, owed)) = self.indents.last_mut().filter(|(start, _)| *start == position) {
                *owed = (*owed).min(own.saturating_sub(column));
            }
            position += line.len();
            if fence::closes(line, fence) {
                break;
            }
        }
        position
    }

    fn hide(&mut self, range: Range<usize>) {
        blank(self.buffer, range.clone());
        self.mdx.edits.push(Edit::hide(range));
    }

    /// The end of an expression that makes a block of its own: a reader sees what it evaluates to, which is not
    /// known here.
    fn block_expression(&mut self, position: usize, line: &str) -> Option<usize> {
        let open = position + (line.len() - line.trim_start().len());
        if !self.source[open..].starts_with('{') || self.source[open..].starts_with("{/*") {
            return None;
        }
        let end = braces_end(self.source, open, &mut self.budget)?;
        let after = self.line(end);
        let inner = &self.source[open..end];
        let computes = ["=>", "&&", "<", "(", "?", "{`"]
            .iter()
            .any(|mark| inner.contains(mark));
        (after.trim().is_empty() && computes).then_some(end)
    }

    /// From `position` to the start of a line that was not looked at.
    fn scan_text(&mut self, mut position: usize) -> usize {
        let bytes = self.source.as_bytes();
        loop {
            let special = |&byte: &u8| matches!(byte, b'\n' | b'\\' | b'`' | b'{' | b'<' | b'&');
            let Some(offset) = bytes[position..].iter().position(special) else {
                return bytes.len();
            };
            position += offset;
            match bytes[position] {
                b'\n' => return position + 1,
                b'\\' => {
                    position += if bytes.get(position + 1).is_some_and(u8::is_ascii_punctuation) {
                        2
                    } else {
                        1
                    }
                }
                b'`' => position = self.skip_code_span(position),
                b'&' => position += self.character_reference(position),
                b'{' => position = self.braces(position).unwrap_or(position + 1),
                _ => position = self.tag(position).unwrap_or(position + 1),
            }
        }
    }

    /// The length of a reference to a character, which is stored as that character; else 1.
    fn character_reference(&mut self, position: usize) -> usize {
        let found = component::character_reference(&self.source[position..]);
        let Some((character, length)) = found else {
            return 1;
        };
        self.mdx
            .edits
            .push(Edit::replace(position..position + length, character));
        length
    }

    fn skip_code_span(&mut self, position: usize) -> usize {
        if position >= self.runs.end {
            self.runs = Runs::of_paragraph(self.source, position);
        }
        let length = self.source[position..]
            .bytes()
            .take_while(|&byte| byte == b'`')
            .count();
        self.runs.closer(position, length).unwrap_or(position + length)
    }

    /// A comment, or an expression that is a text; its end.
    fn braces(&mut self, position: usize) -> Option<usize> {
        if let Some(end) = self.comment_end(position) {
            self.hide(position..end);
            return Some(end);
        }
        let inner = component::text_expression(&self.source[position..])?;
        let (start, end) = (position + inner.start, position + inner.end);
        let after = end + self.source[end..].find('}')? + 1;
        let text = &self.source[start..end];
        if text.contains(['\n', '<', '`']) {
            return None;
        }
        self.mdx.edits.push(Edit::replace(position..after, text));
        blank(self.buffer, position..start);
        blank(self.buffer, end..after);
        Some(after)
    }

    fn comment_end(&mut self, position: usize) -> Option<usize> {
        let rest = self.source[position..].strip_prefix("{/*")?;
        if self.budget == 0 {
            return None;
        }
        let Some(end) = rest.find("*/") else {
            self.budget = self.budget.saturating_sub(rest.len());
            return None;
        };
        let after = rest[end + 2..].trim_start();
        after
            .starts_with('}')
            .then(|| self.source.len() - after.len() + 1)
    }

    /// Blanks the tag at `position`; its end.
    fn tag(&mut self, position: usize) -> Option<usize> {
        let tag = jsx_tag(self.source, position, &mut self.budget)?;
        match tag.kind {
            TagKind::Open if tag.name == "style" || tag.name == "script" => {
                let closer = if tag.name == "style" {
                    "</style>"
                } else {
                    "</script>"
                };
                if let Some(offset) = self.source[tag.end..].find(closer) {
                    let end = tag.end + offset + closer.len();
                    self.hide(position..end);
                    return Some(end);
                }
                self.budget = self.budget.saturating_sub(self.source.len() - tag.end);
            }
            _ => {}
        }
        let end = tag.end;
        let closed = match tag.kind {
            TagKind::Close => {
                let open = self
                    .components
                    .iter()
                    .rposition(|component| component.name == tag.name);
                open.map(|index| {
                    let closer = std::mem::take(&mut self.components[index].closer);
                    self.components.truncate(index);
                    closer
                })
            }
            TagKind::Open | TagKind::Alone => None,
        };
        let starts_line = starts_line(self.source, position);
        let ids = anchor::tag_ids(&self.source[position..end]);
        self.mdx.ids.extend(ids.map(|(_, id)| (position, id.to_owned())));
        let Shown { edit, closer, labels } = component::shown(
            &self.source[position..end],
            tag.name,
            &tag.kind,
            closed.as_deref(),
            starts_line,
        );
        if tag.kind == TagKind::Open && !is_void(tag.name) && self.components.len() < DEEPEST {
            self.components.push(Component {
                name: tag.name,
                column: self.column,
                indent: None,
                closer,
            });
        }
        let labels = labels
            .into_iter()
            .map(|label| position + label.start..position + label.end);
        self.mdx.labels.extend(labels);
        if let Some(mut text) = edit {
            if text == " " && is_line_end(&self.source[end..]) {
                text.clear();
            }
            // What comes apart anyway need not be set apart.
            if text.ends_with('\n')
                && is_line_end(&self.source[end..])
                && is_line_end(&self.source[end + 1..])
            {
                text.pop();
            }
            let owed = self.indents.last().filter(|_| starts_line && !text.is_empty());
            if let Some(&(start, owed)) =
                owed.filter(|(start, _)| starts_line_at(self.source, *start, position))
            {
                self.mdx.edits.push(Edit::hide(start..position.min(start + owed)));
            }
            self.mdx.edits.push(Edit::replace(position..end, text));
        }
        if !starts_line && self.is_after_markers(position) {
            // Blanks behind the marker of a list item would begin code.
            fill(self.buffer, position..end, FILLER_BYTE);
        } else {
            blank(self.buffer, position..end);
        }
        Some(end)
    }

    /// Whether only markers of quotes and list items, and tags, stand before a place on its line.
    fn is_after_markers(&self, position: usize) -> bool {
        const LONGEST: usize = 64;
        let near = &self.buffer[position.saturating_sub(LONGEST)..position];
        let Some(feed) = near.iter().rposition(|&byte| byte == b'\n') else {
            return position < LONGEST && is_markers(near);
        };
        is_markers(&near[feed + 1..])
    }

    /// Levels lines inside components, and lines that begin with a tag that is now blank.
    fn level(&mut self) {
        let mut owed = self.indents.iter().peekable();
        let mut start = 0;
        for line in self.source.split_inclusive('\n') {
            let range = start..start + line.trim_end_matches('\n').len();
            let by_component = owed
                .next_if(|&&(position, _)| position == start)
                .map_or(0, |&(_, by)| by);
            start += line.len();
            let own = indent::leading_blanks(line.as_bytes());
            let now = indent::leading_blanks(&self.buffer[range.clone()]);
            let by = by_component.min(own) + now.saturating_sub(own);
            if by > 0 && now < range.len() {
                self.mdx.shifts.extend(indent::level(self.buffer, range, by));
            }
        }
    }
}

/// The runs of backticks in a paragraph, so that each opener finds its closer at once.
#[derive(Default)]
struct Runs {
    /// The paragraph's end.
    end: usize,
    /// Places of the runs of each length, in order.
    by_length: HashMap<usize, Vec<usize>>,
}

impl Runs {
    fn of_paragraph(source: &str, position: usize) -> Self {
        let bytes = source.as_bytes();
        let mut runs = Self::default();
        let mut at = position;
        let mut blank_line = false;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'`' => {
                    let length = bytes[at..].iter().take_while(|&&byte| byte == b'`').count();
                    runs.by_length.entry(length).or_default().push(at);
                    at += length;
                    blank_line = false;
                    continue;
                }
                b'\n' if blank_line => break,
                b'\n' => blank_line = true,
                b' ' | b'\t' => {}
                _ => blank_line = false,
            }
            at += 1;
        }
        runs.end = at.max(position + 1);
        runs
    }

    /// The end of the run that closes the one of this length at `position`.
    fn closer(&self, position: usize, length: usize) -> Option<usize> {
        let places = self.by_length.get(&length)?;
        let next = places.partition_point(|&place| place <= position);
        places.get(next).map(|place| place + length)
    }
}

/// Whether only blanks stand before a place on its line.
fn starts_line(source: &str, position: usize) -> bool {
    const DEEPEST_INDENT: usize = 256;
    let before = source.as_bytes()[..position].iter().rev().take(DEEPEST_INDENT);
    let first = before.clone().find(|byte| !matches!(byte, b' ' | b'\t'));
    first.map_or(position < DEEPEST_INDENT, |&byte| byte == b'\n')
}

fn is_markers(before: &[u8]) -> bool {
    std::str::from_utf8(before)
        .is_ok_and(|before| fence::after_markers(&before.replace(FILLER, "")).is_empty())
}

/// Whether nothing but blanks stands from the start of a line to a place on it.
fn starts_line_at(source: &str, start: usize, position: usize) -> bool {
    source
        .get(start..position)
        .is_some_and(|before| before.bytes().all(|byte| matches!(byte, b' ' | b'\t')))
}

/// Whether a line ends here.
fn is_line_end(rest: &str) -> bool {
    rest.starts_with('\n')
}

fn is_void(name: &str) -> bool {
    matches!(name, "br" | "hr" | "img" | "input" | "wbr" | "source")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(source: &str) -> (String, Vec<&str>) {
        let mut buffer = source.as_bytes().to_vec();
        let mdx = blank_javascript(source, 0, &mut buffer);
        let hidden = mdx.edits.iter().filter(|edit| edit.text.is_empty());
        let hidden = hidden.map(|edit| &source[edit.range.clone()]).collect();
        (String::from_utf8(buffer).unwrap(), hidden)
    }

    #[test]
    fn statements_are_hidden_to_their_end() {
        let statements =
            "import A from 'a'\nimport './side.css'\nexport const m = {\n  t: '}',\n\n  u: 1,\n}\n";
        let source = format!("{statements}\n# Title\n\nimport x is prose\n");
        let (buffer, hidden) = blanked(&source);
        assert_eq!(hidden.concat(), statements);
        assert!(buffer.trim_start().starts_with("# Title\n\nimport x is prose\n"));
        let (_, hidden) = blanked("text\nimport A from 'a'\n");
        assert!(hidden.is_empty());
        let (_, hidden) = blanked("```js\n\nimport A from 'a'\n```\n");
        assert!(hidden.is_empty());
        let (_, hidden) = blanked("export const open = {\n\n# Title\n");
        assert_eq!(hidden, ["export const open = {\n"]);
    }

    #[test]
    fn comments_are_hidden_outside_code() {
        let (buffer, hidden) = blanked("a {/* b\n\nc */} d `{/* e */}`\n");
        assert_eq!(hidden, ["{/* b\n\nc */}"]);
        assert_eq!(buffer, "a      \n\nd `{/* e */}`      \n");
        assert_eq!(blanked("a {/* never closed\n").1, Vec::<&str>::new());
    }

    #[test]
    fn tags_become_blank_and_their_content_is_levelled() {
        let (buffer, _) = blanked("<A b={{c: '>'}}>\n    text **x**\n\n      - deep\n</A>\nafter `<B>`\n");
        let lines: Vec<&str> = buffer.lines().map(str::trim_end).collect();
        assert_eq!(lines, ["", "text **x**", "", "  - deep", "", "after `<B>`"]);
        let (buffer, _) = blanked("<S>\n1. a\n\n    <T>\n      b\n    </T>\n\n    c\n</S>\n- <B/> d\n");
        let lines: Vec<&str> = buffer.lines().map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "",
                "1. a",
                "",
                "",
                "    b",
                "",
                "",
                "    c",
                "",
                "- \u{1}\u{1}\u{1}\u{1} d"
            ]
        );
        let (buffer, _) = blanked("1. a\n\n   <T>\n     ```\n     b\n   ```\n   </T>\n\n# c\n");
        let lines: Vec<&str> = buffer.lines().map(str::trim_end).collect();
        assert_eq!(lines, ["1. a", "", "", "   ```", "   b", "   ```", "", "", "# c"]);
        let (buffer, _) = blanked("<A>\n    ```js\n    <B>\n      x\n    ```\n</A>\n");
        let lines: Vec<&str> = buffer.lines().map(str::trim_end).collect();
        assert_eq!(lines, ["", "```js", "<B>", "  x", "```", ""]);
        let (buffer, _) = blanked("<A\n  b\n>one</A> <>two</> a < b <https://x.y>\n");
        assert_eq!(
            buffer.split_whitespace().collect::<Vec<_>>(),
            ["one", "two", "a", "<", "b", "<https://x.y>"]
        );
        assert!(!buffer.lines().nth(2).unwrap().starts_with(' '));
    }

    #[test]
    fn repeated_openers_take_linear_time() {
        for piece in [
            "<a {",
            "{/* ",
            "`a ``b ",
            "<a \"",
            "export {\n\n",
            "<style>",
            "<A>",
        ] {
            let source = piece.repeat(100_000);
            let mut buffer = source.as_bytes().to_vec();
            let begin = std::time::Instant::now();
            blank_javascript(&source, 0, &mut buffer);
            assert!(begin.elapsed().as_secs() < 5, "{piece:?}");
        }
    }
}
