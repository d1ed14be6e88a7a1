//! What stands between Markdown without being Markdown: comments, scripts, styles, shortcodes, maths.
//!
//! In: the parse buffer so far. Out: the buffer with these blank, what of them no reader sees, and which of them are
//! code. A first run of the parser tells where code and HTML are, so that a comment in a fence stays code. One pass;
//! closers known to be missing are not looked for again, so no input takes more than linear time.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use crate::indent::{self, Shift};
use crate::markdown;
use crate::mask::{blank, into_text};
use crate::shortcode::{self, Shortcode};

/// [`crate::mask::FILLER`] as a byte.
const FILLER_BYTE: u8 = 1;

/// Longest shortcode, in bytes.
const LONGEST_SHORTCODE: usize = 2000;

/// What the parser knows of the buffer as it is.
#[derive(Default)]
struct Known {
    /// Code blocks and code spans.
    code: Vec<Range<usize>>,
    /// HTML blocks and inline HTML.
    html: Vec<Range<usize>>,
}

fn survey(buffer: &str) -> Known {
    let mut known = Known::default();
    for (event, range) in Parser::new_ext(buffer, markdown::options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => known.code.push(range),
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => known.html.push(range),
            _ => {}
        }
    }
    known
}

/// Blanks what is no Markdown outside code: the buffer, and the blocks of code and maths that are blank now. Adds to
/// `hidden` what no reader sees, as ranges of the source.
pub(crate) fn blank_unseen(
    text: String,
    shifts: &[Shift],
    hidden: &mut Vec<Range<usize>>,
) -> (String, Vec<Range<usize>>) {
    let triggers = [
        "<!--",
        "[//]:",
        "[comment]:",
        "{{",
        "$$",
        "<script",
        "<style",
        "<SCRIPT",
        "<STYLE",
    ];
    if !triggers.iter().any(|trigger| text.contains(trigger)) {
        return (text, Vec::new());
    }
    let known = survey(&text);
    let mut scan = InlineScan {
        text: &text,
        buffer: text.as_bytes().to_vec(),
        known,
        hidden: Vec::new(),
        code: Vec::new(),
        missing: Vec::new(),
        no_maths_before: 0,
        line: 0..text.find('\n').unwrap_or(text.len()),
    };
    scan.hide_definitions();
    scan.run();
    let to_source =
        |range: Range<usize>| Shift::to_source(shifts, range.start)..Shift::to_source(shifts, range.end);
    hidden.extend(
        scan.hidden
            .into_iter()
            .map(to_source)
            .filter(|range| range.start < range.end),
    );
    let code = scan.code;
    (into_text(scan.buffer, &text), code)
}

struct InlineScan<'t> {
    text: &'t str,
    buffer: Vec<u8>,
    known: Known,
    hidden: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
    /// Closers that do not occur in the rest of the text.
    missing: Vec<String>,
    /// No maths block opens before this place.
    no_maths_before: usize,
    /// The line that the scan is in, without its line feed.
    line: Range<usize>,
}

impl InlineScan<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let code = std::mem::take(&mut self.known.code);
        let mut code = code.iter().peekable();
        let mut position = 0;
        while position < bytes.len() {
            while code.next_if(|range| range.end <= position).is_some() {}
            let gap_end = code.peek().map_or(bytes.len(), |range| range.start);
            if gap_end <= position {
                position = code.next().map_or(bytes.len(), |range| range.end);
                continue;
            }
            let special = |&byte: &u8| matches!(byte, b'<' | b'{' | b'$');
            let Some(offset) = bytes[position..gap_end].iter().position(special) else {
                position = gap_end;
                continue;
            };
            position += offset;
            self.enter_line(position);
            let escaped = bytes[..position]
                .iter()
                .rev()
                .take_while(|&&byte| byte == b'\\')
                .count()
                % 2
                == 1;
            let end = if escaped {
                None
            } else {
                match bytes[position] {
                    b'<' => self.html(position),
                    b'{' => self.shortcode(position),
                    _ => self.maths(position),
                }
            };
            position = end.unwrap_or(position + 1);
        }
    }

    /// Hides link definitions that are comments by custom, such as `[//]: # (text)`: nothing can refer to them.
    fn hide_definitions(&mut self) {
        let text = self.text;
        let (mut start, mut may_begin) = (0, true);
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim();
            let next = self.known.code.partition_point(|code| code.end <= start);
            let in_code = self.known.code.get(next).is_some_and(|code| code.start <= start);
            let is_comment = may_begin && !in_code && is_comment_definition(trimmed);
            if is_comment {
                let from = start + (line.len() - line.trim_start().len());
                self.hidden.push(from..from + trimmed.len());
            }
            // A definition does not interrupt a paragraph.
            may_begin = is_comment || trimmed.is_empty() || trimmed.starts_with('#');
            start += line.len();
        }
    }

    fn enter_line(&mut self, position: usize) {
        if position > self.line.end {
            let start = self.text[self.line.end..position]
                .rfind('\n')
                .map_or(self.line.end, |feed| self.line.end + feed + 1);
            let end = self.text[position..]
                .find('\n')
                .map_or(self.text.len(), |feed| position + feed);
            self.line = start..end;
        }
    }

    /// The place after the next `closer` from `position` on.
    fn after(&mut self, position: usize, closer: &str) -> Option<usize> {
        if self.missing.len() > 16 || self.missing.iter().any(|missing| missing == closer) {
            return None;
        }
        let found = self.text[position..].find(closer);
        if found.is_none() {
            self.missing.push(closer.to_owned());
        }
        found.map(|offset| position + offset + closer.len())
    }

    fn html(&mut self, position: usize) -> Option<usize> {
        let rest = &self.text[position..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            let known = self.known_html(position);
            let end = if comment.starts_with('>') {
                position + 5
            } else if comment.starts_with("->") {
                position + 6
            } else {
                match (self.after(position + 4, "-->"), &known) {
                    (Some(end), _) => end,
                    // Never closed: CommonMark hides the rest of the block.
                    (None, Some(block)) if block.start + 4 > position => block.end,
                    (None, _) => return None,
                }
            };
            self.hidden.push(position..end);
            // Where the parser sees the whole comment itself, blanks would only end the block around it.
            if known.is_none_or(|html| html.end < end) {
                blank(&mut self.buffer, position..end);
            }
            return Some(end);
        }
        let name = rest[1..].get(..6).unwrap_or_default();
        let closer = if name.eq_ignore_ascii_case("script") {
            "</script>"
        } else if name
            .get(..5)
            .is_some_and(|name| name.eq_ignore_ascii_case("style"))
        {
            "</style>"
        } else {
            return None;
        };
        let known = self.known_html(position)?;
        if !matches!(
            rest.as_bytes().get(closer.len() - 2),
            Some(b'>' | b' ' | b'\n' | b'\t')
        ) {
            return None;
        }
        let end = self
            .after(position, closer)
            .or_else(|| self.after(position, &closer.to_ascii_uppercase()))?;
        self.hidden.push(position..end);
        if known.end < end {
            blank(&mut self.buffer, position..end);
        }
        Some(end)
    }

    /// The HTML that the parser sees at `position`.
    fn known_html(&self, position: usize) -> Option<Range<usize>> {
        let next = self.known.html.partition_point(|range| range.start <= position);
        let html = self.known.html.get(next.checked_sub(1)?)?;
        (position < html.end).then(|| html.clone())
    }

    fn shortcode(&mut self, position: usize) -> Option<usize> {
        let text = self.text;
        let inner = text[position..].strip_prefix("{{")?;
        let limit = inner.len().min(LONGEST_SHORTCODE);
        let mut pairs = inner.as_bytes()[..limit].windows(2);
        let closing = pairs.position(|pair| matches!(pair, b"}}" | b"{{" | b"\n\n"))?;
        if !inner[closing..].starts_with("}}") {
            return None;
        }
        let inner = &inner[..closing];
        let end = position + closing + 4;
        let before = &text[self.line.start..position];
        let after = end + indent::leading_blanks(&text.as_bytes()[end..]);
        let alone = before.trim().is_empty() && matches!(text.as_bytes().get(after), None | Some(b'\n'));
        match shortcode::read(inner, alone) {
            Shortcode::CodeBody(name) => {
                let (body_end, close_end) = self.closing_shortcode(end, name)?;
                blank(&mut self.buffer, position..close_end);
                self.code.push(end..body_end);
                Some(close_end)
            }
            Shortcode::HiddenBody(name) => {
                let (_, close_end) = self.closing_shortcode(end, name)?;
                blank(&mut self.buffer, position..close_end);
                self.hidden.push(position..close_end);
                Some(close_end)
            }
            Shortcode::Shows(shown) if !shown.contains('\n') && !inner.contains('\n') => {
                self.fill(position..end, FILLER_BYTE);
                self.buffer[position..position + shown.len()].copy_from_slice(shown.as_bytes());
                Some(end)
            }
            // A title keeps what is no call.
            Shortcode::Silent if before.trim_start().starts_with('#') && !inner.starts_with(['<', '%']) => {
                Some(end)
            }
            Shortcode::Silent | Shortcode::Shows(_) => {
                if alone {
                    blank(&mut self.buffer, position..end);
                } else {
                    self.fill(
                        position..end,
                        if in_destination(before) { b'-' } else { FILLER_BYTE },
                    );
                }
                Some(end)
            }
        }
    }

    fn fill(&mut self, range: Range<usize>, filler: u8) {
        for byte in &mut self.buffer[range] {
            if *byte != b'\n' {
                *byte = filler;
            }
        }
    }

    /// Where `{{< /name >}}` begins and ends.
    fn closing_shortcode(&mut self, position: usize, name: &str) -> Option<(usize, usize)> {
        for (open, close) in [("{{<", ">}}"), ("{{%", "%}}")] {
            for space in [" ", ""] {
                let opener = format!("{open}{space}/{name}");
                let Some(after_name) = self.after(position, &opener) else {
                    continue;
                };
                let rest = &self.text[after_name..];
                let blanks = rest.len() - rest.trim_start().len();
                let alternative = rest.trim_start().strip_prefix('/').map_or(blanks, |_| blanks + 1);
                if rest[alternative..].starts_with(close) {
                    return Some((after_name - opener.len(), after_name + alternative + close.len()));
                }
            }
        }
        None
    }

    /// A block between `$$` at the start of a line and `$$` at the end of a later one.
    fn maths(&mut self, position: usize) -> Option<usize> {
        let text = self.text;
        if !text[position..].starts_with("$$") {
            return None;
        }
        let indent = &text[self.line.start..position];
        if indent.len() > 3 || !indent.trim().is_empty() || position < self.no_maths_before {
            return Some(position + 2);
        }
        let mut lines = text[position..].split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let opener = first[2..].trim();
        let mut end = position + first.len();
        if opener.contains("$$") {
            return Some(end);
        }
        for line in lines {
            end += line.len();
            let trimmed = line.trim();
            if trimmed.ends_with("$$") {
                blank(&mut self.buffer, position..end);
                self.code
                    .push(position + 2..end - (line.len() - line.trim_end().len()) - 2);
                return Some(end);
            }
            if trimmed.is_empty() && !opener.is_empty() {
                break;
            }
        }
        self.no_maths_before = end;
        Some(position + 2)
    }
}

/// Whether a line is a whole link definition that is meant as a comment.
fn is_comment_definition(line: &str) -> bool {
    let rest = line
        .strip_prefix("[//]:")
        .or_else(|| line.strip_prefix("[comment]:"))
        .map(str::trim_start);
    let Some(title) = rest.and_then(|rest| rest.strip_prefix('#').or_else(|| rest.strip_prefix("<>"))) else {
        return false;
    };
    let quotes = [('(', ')'), ('"', '"'), ('\'', '\'')];
    let title = title.trim();
    title.is_empty()
        || quotes
            .iter()
            .any(|&(open, close)| title.len() > 1 && title.starts_with(open) && title.ends_with(close))
}

/// Whether a line so far ends inside the destination of a link.
fn in_destination(before: &str) -> bool {
    let near = before.as_bytes().iter().rev().take(500);
    let destination = near
        .take_while(|&&byte| !matches!(byte, b')' | b' ' | b'('))
        .count();
    before.as_bytes()[..before.len() - destination].ends_with(b"](")
}

#[cfg(test)]
mod tests {
    use crate::mask::{Dialect, mask};

    fn shown(source: &str, dialect: Dialect) -> (String, Vec<String>) {
        let masked = mask(source, 0, dialect);
        assert_eq!(masked.buffer.len(), source.len());
        let text = masked.buffer.replace(crate::mask::FILLER, "");
        let hidden = masked
            .hidden
            .iter()
            .map(|range| source[range.clone()].to_owned())
            .collect();
        (text.split_whitespace().collect::<Vec<_>>().join(" "), hidden)
    }

    #[test]
    fn comments_are_hidden_unless_they_are_code() {
        let cases: [(&str, &[&str]); 13] = [
            (
                "[//]: # (a)\n[//]: # 'b'\n\n# T\n[comment]: <> (c)\n",
                &["[//]: # (a)", "[//]: # 'b'", "[comment]: <> (c)"],
            ),
            ("```\n[//]: # (a)\n```\n", &[]),
            ("text\n[//]: # (a)\n", &[]),
            ("[//]: # (a\n", &[]),
            ("[//]: https://example.com (a)\n", &[]),
            ("a <!-- b --> c", &["<!-- b -->"]),
            ("a <!-- b\n\n# c --> d", &["<!-- b\n\n# c -->"]),
            ("<div>\n<!-- a\n\n# b\n-->\n</div>", &["<!-- a\n\n# b\n-->"]),
            ("`<!-- a -->`", &[]),
            ("```\n<!-- a -->\n```\n", &[]),
            ("    <!-- a -->\n", &[]),
            ("a \\<!-- b --> c", &[]),
            (
                "<script>\n\nx\n</script>\n<style>\ny</style>",
                &["<script>\n\nx\n</script>", "<style>\ny</style>"],
            ),
        ];
        for (source, hidden) in cases {
            assert_eq!(shown(source, Dialect::Markdown).1, hidden, "{source}");
        }
        assert_eq!(shown("a <!-- b\n\n# c --> d", Dialect::Markdown).0, "a d");
    }

    #[test]
    fn macros_show_their_words() {
        let cases = [
            (r#"the **{{domxref("Window")}}** object"#, "the **Window** object"),
            (r#"{{APIRef("DOM")}}"#, ""),
            (
                r#"A {{< glossary_tooltip text="Pod" term_id="pod" >}} runs"#,
                "A Pod runs",
            ),
            (
                "[x](https://a/{{< param v >}}/b)",
                "[x](https://a/---------------/b)",
            ),
            (
                "{{< highlight sh >}}\n# no heading\n{{< /highlight >}}\nafter",
                "after",
            ),
            ("{{< comment >}}\nhidden\n{{< /comment >}}\nafter", "after"),
            ("# Use {{ braces }}", "# Use {{ braces }}"),
            ("Use {{ braces }} here", "Use here"),
            ("`{{ code }}`", "`{{ code }}`"),
        ];
        for (source, expected) in cases {
            assert_eq!(shown(source, Dialect::Markdown).0, expected, "{source}");
        }
    }

    #[test]
    fn maths_is_a_block_and_prices_are_prose() {
        assert_eq!(
            shown("$$\nP\n=\nQ\n$$\n\nCosts $5 and $$6.\n", Dialect::Markdown).0,
            "Costs $5 and $$6."
        );
        let masked = mask("$$\na\n\n# b\n$$\n", 0, Dialect::Markdown);
        assert_eq!(masked.code.len(), 1);
        assert_eq!(masked.code[0], 2..10);
        assert_eq!(shown("$$ open\n\n# T\n", Dialect::Markdown).0, "$$ open # T");
    }

    #[test]
    fn repeated_openers_take_linear_time() {
        for piece in [
            "<!-- ",
            "$$ a\n",
            "{{",
            "{{< highlight x >}}\n",
            "<style>\n\n",
            "$$\n",
            "{{x(",
        ] {
            let source = piece.repeat(50_000);
            let begin = std::time::Instant::now();
            mask(&source, 0, Dialect::Markdown);
            assert!(begin.elapsed().as_secs() < 5, "{piece:?}");
        }
    }
}
