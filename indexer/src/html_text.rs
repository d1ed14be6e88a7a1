//! The visible text of raw HTML.
//!
//! In: an HTML block, line by line. Out: its text without tags, comments, scripts and styles; the alternative text
//! of images stands for them. The state lives between lines, since a tag or a comment may span them.

use crate::scrub::is_invisible;

/// Where in the HTML the last line ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HtmlText {
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Tag(Inside),
    /// Up to this closer nothing is text.
    Until(&'static str),
}

/// Where in a tag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Name,
    /// After the equals sign of an attribute, before its value.
    Equals,
    /// In a value, up to this quotation mark.
    Value(u8),
}

impl Inside {
    /// The length of `text` up to the end of the tag and with it, or `None` and where in the tag it ends.
    fn end_of_tag(self, text: &str) -> (Option<usize>, Self) {
        let mut place = self;
        for (index, byte) in text.bytes().enumerate() {
            place = match (place, byte) {
                (Self::Value(quote), _) if byte != quote => place,
                (Self::Name | Self::Equals, b'>') => return (Some(index + 1), Self::Name),
                (Self::Equals, b'"' | b'\'') => Self::Value(byte),
                (Self::Equals, _) if byte.is_ascii_whitespace() => place,
                (Self::Name, b'=') => Self::Equals,
                _ => Self::Name,
            };
        }
        (None, place)
    }
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
                State::Tag(inside) => match inside.end_of_tag(rest) {
                    (Some(end), _) => {
                        self.state = State::Text;
                        &rest[end..]
                    }
                    (None, inside) => {
                        self.state = State::Tag(inside);
                        return;
                    }
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
        let tag = || &inner[..Inside::Name.end_of_tag(inner).0.unwrap_or(inner.len())];
        match name.to_ascii_lowercase().as_str() {
            "script" if !closing => self.state = State::Until("</script>"),
            "style" if !closing => self.state = State::Until("</style>"),
            "img" | "image" => {
                if let Some(alternative) = attribute(tag(), "alt") {
                    push_decoded(alternative, text);
                }
                self.state = State::Tag(Inside::Name);
            }
            // Inline elements may stand in a word; all others part words.
            "a" | "abbr" | "b" | "code" | "em" | "i" | "kbd" | "mark" | "s" | "small" | "span" | "strong"
            | "sub" | "sup" | "u" | "var" | "wbr" => self.state = State::Tag(Inside::Name),
            _ => {
                if !text.is_empty() && !text.ends_with([' ', '\n']) {
                    text.push(' ');
                }
                self.state = State::Tag(Inside::Name);
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

/// Appends text with its character references resolved: numbers, and the commonest names.
fn push_decoded(source: &str, text: &mut String) {
    let mut rest = source;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (character, length) = reference(rest).unwrap_or(('&', 1));
        text.push(character);
        rest = &rest[length..];
    }
    text.push_str(rest);
}

/// The character that a reference at the start of `text` stands for, and its length.
fn reference(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 9;
    let end = text.bytes().take(LONGEST + 1).position(|byte| byte == b';')?;
    let name = &text[1..end];
    let character = if let Some(number) = name.strip_prefix('#') {
        let (digits, radix) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
        let character = char::from_u32(number)?;
        (!is_invisible(character) && character != '\0').then_some(character)?
    } else {
        match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" | "ensp" | "emsp" | "thinsp" => ' ',
            "copy" => '©',
            "reg" => '®',
            "trade" => '™',
            "ndash" => '–',
            "mdash" => '—',
            "hellip" => '…',
            "lsquo" => '‘',
            "rsquo" => '’',
            "ldquo" => '“',
            "rdquo" => '”',
            "laquo" => '«',
            "raquo" => '»',
            "larr" => '←',
            "rarr" => '→',
            "middot" => '·',
            "bull" => '•',
            "times" => '×',
            "le" => '≤',
            "ge" => '≥',
            "ne" => '≠',
            _ => return None,
        }
    };
    Some((character, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_and_markup_goes() {
        let cases: [(&[&str], &str); 15] = [
            (&["<p>a <b>b</b>old</p>\n"], "a bold \n"),
            (&["<div\n", " class='x'>\n", "text</div>\n"], "\ntext \n"),
            (&["<!-- a\n", "b --> c\n"], " c\n"),
            (&["<script>\n", "var x = '<';\n", "</SCRIPT>y\n"], "y\n"),
            (&["<img src=\"a=b\" alt=\"A cat\">\n"], "A cat\n"),
            (&["a < b &lt; c &amp;&bogus; d\n"], "a < b < c &&bogus; d\n"),
            (&["<td>a</td><td>b</td>"], "a b "),
            (&["<!DOCTYPE html><?php x ?>y"], "y"),
            (&["<!-->x<!--->y"], "xy"),
            (&["<a title=\"x > y\" b='>'>z"], "z"),
            (&["<a title=\n", " 'x >\n", " y' >z"], "z"),
            (&["<a don't>x <b c=d'>y"], "x y"),
            (&["<img alt='a > b' src=c>"], "a > b"),
            (
                &["C&#35; &#x2192; &copy; &mdash;&#xZ; &#0; &#8203; &#+65; &#;"],
                "C# → © —&#xZ; &#0; &#8203; &#+65; &#;",
            ),
            (&["<![CDATA[x]]>y<p hidden>z</p>"], "y z "),
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
