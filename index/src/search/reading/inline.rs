//! Recognises what stands inside a line of Markdown: links, tags, attributes, character references.
//!
//! In: the rest of a text that begins with the mark. Out: its extent. Each looks at a bounded number of bytes,
//! so that a text of nothing but marks is read in linear time.

/// Characters of a tag, a link's text or a destination that is recognised.
const INLINE_LIMIT: usize = 1000;
/// Bytes between the marks of an emphasis.
const EMPHASIS_LIMIT: usize = 200;

/// The text of a link or an image and the bytes it takes with its destination.
pub(super) struct Link<'t> {
    pub(super) text: &'t str,
    pub(super) length: usize,
}

/// `rest` begins with `[`.
pub(super) fn link(rest: &str) -> Option<Link<'_>> {
    let close = matching(rest, b'[', b']')?;
    let after = &rest[close + 1..];
    let length = match after.as_bytes().first()? {
        b'(' => matching(after, b'(', b')')?,
        b'[' => matching(after, b'[', b']')?,
        _ => return None,
    };
    Some(Link {
        text: &rest[1..close],
        length: close + 1 + length + 1,
    })
}

/// Place of the bracket that closes the first one, within one paragraph.
fn matching(rest: &str, open: u8, close: u8) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len().min(INLINE_LIMIT) {
        let byte = bytes[at];
        if byte == b'\\' {
            at += 1;
        } else if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        } else if bytes[at..].starts_with(b"\n\n") {
            return None;
        }
        at += 1;
    }
    None
}

/// A tag, a comment or an automatic link.
pub(super) struct Tag<'t> {
    /// Empty for a comment.
    pub(super) name: &'t str,
    pub(super) is_closing: bool,
    /// The address that an automatic link shows.
    pub(super) address: Option<&'t str>,
    pub(super) length: usize,
}

impl Tag<'_> {
    /// Whether words on both sides of the tag are apart.
    pub(super) fn parts_words(&self) -> bool {
        const WITHIN_WORDS: [&str; 23] = [
            "a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd",
            "mark", "q", "s", "small", "span", "strong", "sub", "sup", "u",
        ];
        !self.name.is_empty() && !WITHIN_WORDS.contains(&self.name)
    }
}

/// The tag that `rest` begins with.
pub(super) fn tag(rest: &str) -> Option<Tag<'_>> {
    let bytes = rest.as_bytes();
    if rest.starts_with("<!--") {
        let window = &bytes[..bytes.len().min(INLINE_LIMIT)];
        let end = window.windows(3).position(|three| three == b"-->")?;
        return Some(Tag {
            name: "",
            is_closing: false,
            address: None,
            length: end + 3,
        });
    }
    let is_closing = bytes.get(1) == Some(&b'/');
    let start = if is_closing { 2 } else { 1 };
    if !bytes.get(start)?.is_ascii_alphabetic() {
        return None;
    }
    let end = bytes.iter().take(INLINE_LIMIT).position(|&byte| byte == b'>')?;
    if bytes[1..end].contains(&b'<') {
        return None;
    }
    let inner = &rest[1..end];
    let name_end = bytes[start..end]
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric())
        .map_or(end, |length| start + length);
    Some(Tag {
        name: &rest[start..name_end],
        is_closing,
        address: (inner.contains("://") && !inner.contains(char::is_whitespace)).then_some(inner),
        length: end + 1,
    })
}

/// Bytes of `{#id .class key=value}` or `{: .class}`.
pub(super) fn attributes(rest: &str) -> Option<usize> {
    let end = rest.bytes().take(EMPHASIS_LIMIT).position(|byte| byte == b'}')?;
    let inner = &rest[1..end];
    let inner = inner.strip_prefix(':').unwrap_or(inner).trim();
    let is_list = inner.starts_with(['#', '.'])
        && inner.len() > 1
        && inner[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && inner
            .chars()
            .all(|c| c.is_alphanumeric() || " #.-_=\"':/".contains(c));
    is_list.then_some(end + 1)
}

/// Whether the `*` that `rest` begins with opens an emphasis that is closed.
pub(super) fn opens_emphasis(before: Option<char>, rest: &str) -> bool {
    let mut after = rest[1..].chars();
    if before.is_some_and(char::is_alphanumeric) || after.next().is_none_or(char::is_whitespace) {
        return false;
    }
    let bytes = rest.as_bytes();
    (2..bytes.len().min(EMPHASIS_LIMIT))
        .take_while(|&at| !bytes[at..].starts_with(b"\n\n"))
        .any(|at| bytes[at] == b'*' && !bytes[at - 1].is_ascii_whitespace())
}

/// The character that a reference stands for, and the bytes of the reference.
pub(super) fn reference(rest: &str) -> Option<(char, usize)> {
    [
        ("&nbsp;", ' '),
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&#39;", '\''),
        ("&apos;", '\''),
        ("&mdash;", '—'),
        ("&ndash;", '–'),
        ("&hellip;", '…'),
        ("&lbrace;", '{'),
        ("&rbrace;", '}'),
        ("&#123;", '{'),
        ("&#125;", '}'),
        ("&#124;", '|'),
        ("&vert;", '|'),
    ]
    .iter()
    .find(|(name, _)| rest.starts_with(name))
    .map(|&(name, c)| (c, name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_lists_are_told_from_braces() {
        for (text, length) in [
            ("{#id} x", Some(5)),
            ("{ .sh .no-copy }", Some(16)),
            ("{: .note }", Some(10)),
            ("{item_id}", None),
            ("{...attr}", None),
            ("{", None),
        ] {
            assert_eq!(attributes(text), length, "{text}");
        }
    }

    #[test]
    fn emphasis_is_told_from_stars() {
        for (before, rest, opens) in [
            (Some(' '), "*path operation*", true),
            (None, "*a*", true),
            (Some('2'), "*3*4", false),
            (Some(' '), "* b * c", false),
            (Some(' '), "*args and more", false),
            (Some(' '), "*a\n\nb*", false),
        ] {
            assert_eq!(opens_emphasis(before, rest), opens, "{rest}");
        }
    }

    #[test]
    fn tags_have_names_and_extents() {
        for (text, name, length) in [
            ("<br/>x", "br", 5),
            ("</td>", "td", 5),
            ("<!-- a > b -->x", "", 14),
            ("<h2 id=\"a\">", "h2", 11),
        ] {
            let found = tag(text).unwrap();
            assert_eq!((found.name, found.length), (name, length), "{text}");
        }
        assert!(tag("< 5 >").is_none() && tag("<!-- open").is_none() && tag("<a <b>").is_none());
    }
}
