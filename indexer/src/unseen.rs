//! What stands between Markdown without being Markdown: comments, scripts, styles, shortcodes, maths.
//!
//! In: the parse buffer so far. Out: the buffer with these blank, what of them no reader sees, and which of them are
//! code. A first run of the parser tells where code and HTML are, so that a comment in a fence stays code. One pass;
//! closers known to be missing are not looked for again, so no input takes more than linear time.

mod calls;
mod maths;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use crate::edit::Edit;
use crate::markdown::{self, char_boundary};
use crate::mask::{Style, blank, into_text};

/// Longest call between braces, in bytes.
const LONGEST_CALL: usize = 2000;

/// Longest tag, in bytes, that is looked at to see whether it only names a place.
const LONGEST_ANCHOR: usize = 300;

/// What the parser knows of the buffer as it is.
#[derive(Default)]
struct Known {
    /// Code blocks and code spans.
    code: Vec<Range<usize>>,
    /// HTML blocks and inline HTML.
    html: Vec<Range<usize>>,
    /// Code blocks that a page does not show.
    hidden_code: Vec<Range<usize>>,
}

fn survey(buffer: &str, style: Style) -> Known {
    let mut known = Known::default();
    for (event, range) in Parser::new_ext(buffer, markdown::options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let is_hidden = match kind {
                    CodeBlockKind::Fenced(info) => {
                        style.is_mdn && info.split_whitespace().any(|word| word == "hidden")
                    }
                    CodeBlockKind::Indented => false,
                };
                if is_hidden {
                    known.hidden_code.push(range.clone());
                }
                known.code.push(range);
            }
            Event::Code(_) => known.code.push(range),
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => known.html.push(range),
            _ => {}
        }
    }
    known
}

/// The buffer without what is no Markdown; ranges are places of the buffer.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    pub(crate) text: String,
    /// What is stored otherwise, or not at all since no reader sees it.
    pub(crate) edits: Vec<Edit>,
    /// Blocks of code and maths that are blank now.
    pub(crate) code: Vec<Range<usize>>,
    /// Where comments begin that nothing closes: they hide all that follows.
    pub(crate) unclosed: Vec<usize>,
}

/// Blanks what is no Markdown outside code.
pub(crate) fn blank_unseen(text: String, style: Style) -> Unseen {
    let triggers = [
        "<!--",
        "[//]:",
        "[comment]:",
        "{{",
        "{%",
        "}`",
        "$$",
        "\\[\n",
        "\\begin{",
        "<script",
        "<style",
        "<SCRIPT",
        "<STYLE",
        "></a>",
        "<div",
        "<span",
        "<center",
        "<font",
        "<section",
        "<article",
    ];
    let hides_code = style.is_mdn && text.contains(" hidden");
    if !hides_code && !triggers.iter().any(|trigger| text.contains(trigger)) {
        return Unseen {
            text,
            ..Unseen::default()
        };
    }
    let known = survey(&text, style);
    let mut scan = InlineScan {
        text: &text,
        style,
        buffer: text.as_bytes().to_vec(),
        known,
        edits: Vec::new(),
        code: Vec::new(),
        unclosed: Vec::new(),
        missing: Vec::new(),
        no_maths_before: 0,
        line: 0..text.find('\n').unwrap_or(text.len()),
        only_calls: None,
    };
    scan.hide_definitions();
    scan.run();
    for block in std::mem::take(&mut scan.known.hidden_code) {
        scan.hide(block);
    }
    Unseen {
        edits: scan.edits,
        code: scan.code,
        unclosed: scan.unclosed,
        text: into_text(scan.buffer, &text),
    }
}

struct InlineScan<'t> {
    text: &'t str,
    style: Style,
    buffer: Vec<u8>,
    known: Known,
    edits: Vec<Edit>,
    code: Vec<Range<usize>>,
    /// Where comments begin that nothing closes.
    unclosed: Vec<usize>,
    /// Closers that do not occur in the rest of the text.
    missing: Vec<String>,
    /// No maths block opens before this place.
    no_maths_before: usize,
    /// The line that the scan is in, without its line feed.
    line: Range<usize>,
    /// Whether nothing but calls stands on it, once that was asked.
    only_calls: Option<bool>,
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
            let special = |&byte: &u8| matches!(byte, b'<' | b'{' | b'$' | b'\\');
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
                self.escaped_call(position)
            } else {
                match bytes[position] {
                    b'<' => self.html(position),
                    b'{' => self.call(position).or_else(|| self.role(position)),
                    b'\\' => self.latex(position),
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
                self.edits.push(Edit::hide(from..from + trimmed.len()));
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
            self.only_calls = None;
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
                    (None, Some(block)) if block.start + 4 > position => {
                        self.unclosed.push(position);
                        block.end
                    }
                    (None, _) => return None,
                }
            };
            self.edits.push(Edit::hide(position..end));
            // Where the parser sees the whole comment itself, blanks would only end the block around it.
            if known.is_none_or(|html| html.end < end) {
                blank(&mut self.buffer, position..end);
            }
            return Some(end);
        }
        if let Some(end) = self.plain_tag(position) {
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
        self.edits.push(Edit::hide(position..end));
        if known.end < end {
            blank(&mut self.buffer, position..end);
        }
        Some(end)
    }

    /// A tag that only groups text, or a link that only names a place: nothing of it is shown.
    fn plain_tag(&mut self, position: usize) -> Option<usize> {
        let rest = &self.text[position + 1..];
        if rest.starts_with("a ") {
            self.known_html(position)?;
            let near = &self.text[position..char_boundary(self.text, position + LONGEST_ANCHOR)];
            let tag = &near[..near.find("></a>")? + "></a>".len()];
            let is_anchor = !tag.contains("href") && tag.matches('>').count() == 2;
            let end = position + tag.len();
            return is_anchor.then(|| {
                self.edits.push(Edit::hide(position..end));
                end
            });
        }
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let is_plain = ["div", "span", "center", "font", "section", "article"]
            .iter()
            .any(|name| {
                let named = rest
                    .get(..name.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(name));
                named
                    && matches!(
                        rest.as_bytes().get(name.len()),
                        Some(b'>' | b' ' | b'\n' | b'\t' | b'/')
                    )
            });
        if !is_plain || self.known_html(position).is_none() {
            return None;
        }
        let end = self.after(position, ">")?;
        self.edits.push(Edit::hide(position..end));
        Some(end)
    }

    /// The HTML that the parser sees at `position`.
    fn known_html(&self, position: usize) -> Option<Range<usize>> {
        let next = self.known.html.partition_point(|range| range.start <= position);
        let html = self.known.html.get(next.checked_sub(1)?)?;
        (position < html.end).then(|| html.clone())
    }

    fn hide(&mut self, range: Range<usize>) {
        blank(&mut self.buffer, range.clone());
        self.edits.push(Edit::hide(range));
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

#[cfg(test)]
mod tests {
    use crate::mask::{Style, mask};

    fn shown(source: &str) -> (String, Vec<String>) {
        let masked = mask(source, 0, Style::default());
        assert_eq!(masked.buffer.len(), source.len());
        let text = masked.buffer.replace(crate::mask::FILLER, "");
        let hidden = masked
            .edits
            .iter()
            .map(|edit| source[edit.range.clone()].to_owned())
            .collect();
        (text.split_whitespace().collect::<Vec<_>>().join(" "), hidden)
    }

    #[test]
    fn comments_are_hidden_unless_they_are_code() {
        let cases: [(&str, &[&str]); 14] = [
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
            ("<p>\n<!-- a\n\n# b\n-->\n</p>", &["<!-- a\n\n# b\n-->"]),
            (
                "<div class=\"x\">\n\na <span>b</span> `<div>`\n\n</div>",
                &["<div class=\"x\">", "<span>", "</span>", "</div>"],
            ),
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
            assert_eq!(shown(source).1, hidden, "{source}");
        }
        assert_eq!(shown("a <!-- b\n\n# c --> d").0, "a d");
    }

    #[test]
    fn macros_show_their_words() {
        let cases = [
            (r#"the **{{domxref("Window")}}** object"#, "the **Window** object"),
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
            (r#"{{< figure src="a" caption="<!--A kite-->风筝" >}}"#, "风筝"),
            ("{{< comment >}}\nhidden\n{{< /comment >}}\nafter", "after"),
            ("# Use {{ braces }}", "# Use {{ braces }}"),
            ("Use {{ braces }} here", "Use {{ braces }} here"),
            (r#"Use {{domxref("X")}} here"#, "Use X here"),
            (r#"{{APIRef("DOM")}} {{domxref("X")}}"#, r#"{{APIRef("DOM")}} X"#),
            (
                "[x]({{ y | z }}{% link a.md %})",
                "[x](--------------------------)",
            ),
            ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
            ("{% highlight c %}\n# x\n{% endhighlight %}\nafter", "after"),
            (
                "see {ref}`the guide <guide>` and {py:func}`open`",
                "see the guide and `open`",
            ),
            ("`{{ code }}`", "`{{ code }}`"),
        ];
        for (source, expected) in cases {
            assert_eq!(shown(source).0, expected, "{source}");
        }
    }

    #[test]
    fn maths_is_a_block_and_prices_are_prose() {
        assert_eq!(
            shown("$$\nP\n=\nQ\n$$\n\nCosts $5 and $$6.\n").0,
            "Costs $5 and $$6."
        );
        let masked = mask("$$\na\n\n# b\n$$\n", 0, Style::default());
        assert_eq!(masked.blanked.len(), 1);
        assert_eq!(masked.blanked[0].source, 2..10);
        for (open, close) in [("\\begin{align}", "\\end{align}"), ("\\[", "\\]")] {
            let source = format!("{open}\nx\n=\ny\n{close}\n\nAfter \\[a\\].\n");
            assert_eq!(shown(&source).0, "After \\[a\\].");
        }
        assert_eq!(shown("$$ open\n\n# T\n").0, "$$ open # T");
        assert_eq!(shown("$$\na\n\n# b\n$$ (label)\n\nc").0, "c");
        assert_eq!(shown("$$\na\n$$ (no label)\nb\n$$\nc").0, "c");
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
            mask(&source, 0, Style::default());
            assert!(begin.elapsed().as_secs() < 5, "{piece:?}");
        }
    }
}
