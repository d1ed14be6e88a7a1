//! The visible text of raw HTML.
//!
//! In: an HTML block, line by line. Out: its text without tags, comments, scripts and styles; the alternative text
//! of images stands for them. The state lives between lines, since a tag or a comment may span them.

/// Where in the HTML the last line ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HtmlText {
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Tag,
    /// Up to this closer nothing is text.
    Until(&'static str),
}

impl HtmlText {
    /// Appends the text of `line` to `text`.
    pub(crate) fn feed(&mut self, line: &str, text: &mut String) {
        let mut rest = line;
        while !rest.is_empty() {
            rest = match self.state {
                State::Text => {
                    let Some(open) = rest.find('<') else {
                        push_decoded(rest, text);
                        return;
                    };
                    push_decoded(&rest[..open], text);
                    self.open(&rest[open..], text)
                }
                State::Tag => match rest.find('>') {
                    Some(close) => {
                        self.state = State::Text;
                        &rest[close + 1..]
                    }
                    None => return,
                },
                State::Until(closer) => match find_ignoring_case(rest, closer) {
                    Some(at) => {
                        self.state = State::Text;
                        &rest[at + closer.len()..]
                    }
                    None => return,
                },
            };
        }
    }

    /// `rest` begins with `<`.
    fn open<'t>(&mut self, rest: &'t str, text: &mut String) -> &'t str {
        if let Some(comment) = rest.strip_prefix("<!--") {
            if let Some(after) = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->")) {
                return after;
            }
            self.state = State::Until("-->");
            return comment;
        }
        let inner = &rest[1..];
        let closing = inner.starts_with('/');
        let name = inner.trim_start_matches('/');
        let name = &name[..name
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(name.len())];
        if name.is_empty() && !inner.starts_with(['/', '!', '?', '>']) {
            text.push('<');
            return inner;
        }
        let tag = &inner[..inner.find('>').unwrap_or(inner.len())];
        match name.to_ascii_lowercase().as_str() {
            "script" if !closing => self.state = State::Until("</script>"),
            "style" if !closing => self.state = State::Until("</style>"),
            "img" | "image" => {
                if let Some(alternative) = attribute(tag, "alt") {
                    push_decoded(alternative, text);
                }
                self.state = State::Tag;
            }
            // Inline elements may stand in a word; all others part words.
            "a" | "abbr" | "b" | "code" | "em" | "i" | "kbd" | "mark" | "s" | "small" | "span" | "strong"
            | "sub" | "sup" | "u" | "var" | "wbr" => self.state = State::Tag,
            _ => {
                if !text.is_empty() && !text.ends_with([' ', '\n']) {
                    text.push(' ');
                }
                self.state = State::Tag;
            }
        }
        inner
    }
}

fn find_ignoring_case(text: &str, closer: &str) -> Option<usize> {
    text.as_bytes()
        .windows(closer.len())
        .position(|window| window.eq_ignore_ascii_case(closer.as_bytes()))
}

/// The quoted value of an attribute in the inside of a tag.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = tag;
    loop {
        let (before, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''));
        let (value, next) = match quote {
            Some(quote) => after[1..].split_once(quote)?,
            None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        if before
            .split_whitespace()
            .next_back()
            .is_some_and(|key| key.eq_ignore_ascii_case(name))
        {
            return Some(value);
        }
        rest = next;
    }
}

/// Appends text with its commonest character references resolved.
fn push_decoded(source: &str, text: &mut String) {
    let mut rest = source;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let references = [
            ("&lt;", '<'),
            ("&gt;", '>'),
            ("&amp;", '&'),
            ("&quot;", '"'),
            ("&#39;", '\''),
            ("&apos;", '\''),
            ("&nbsp;", ' '),
        ];
        let found = references
            .iter()
            .find(|(reference, _)| rest.starts_with(reference));
        let &(reference, character) = found.unwrap_or(&("&", '&'));
        text.push(character);
        rest = &rest[reference.len()..];
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_and_markup_goes() {
        let cases: [(&[&str], &str); 9] = [
            (&["<p>a <b>b</b>old</p>\n"], "a bold \n"),
            (&["<div\n", " class='x'>\n", "text</div>\n"], "\ntext \n"),
            (&["<!-- a\n", "b --> c\n"], " c\n"),
            (&["<script>\n", "var x = '<';\n", "</SCRIPT>y\n"], "y\n"),
            (&["<img src=\"a=b\" alt=\"A cat\">\n"], "A cat\n"),
            (&["a < b &lt; c &amp;&bogus; d\n"], "a < b < c &&bogus; d\n"),
            (&["<td>a</td><td>b</td>"], "a b "),
            (&["<!DOCTYPE html><?php x ?>y"], "y"),
            (&["<!-->x<!--->y"], "xy"),
        ];
        for (lines, expected) in cases {
            let (mut html, mut text) = (HtmlText::default(), String::new());
            for line in lines {
                html.feed(line, &mut text);
            }
            assert_eq!(text, expected, "{lines:?}");
        }
    }
}
