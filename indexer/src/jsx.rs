//! Where a JSX tag, or a JavaScript import or export, ends.
//!
//! In: the source and a place. Out: the tag or the end of the statement, if one begins there. No JavaScript parser:
//! brackets, strings and comments are enough. A scan that fails takes what it looked at from the caller's budget, so
//! that many openers without an end cannot make the whole more than linear.

use std::ops::Range;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TagKind {
    Open,
    Close,
    /// `<A />`
    Alone,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tag<'s> {
    pub(crate) name: &'s str,
    pub(crate) kind: TagKind,
    pub(crate) end: usize,
}

/// The JSX tag that begins at `position`.
pub(crate) fn jsx_tag<'s>(source: &'s str, position: usize, budget: &mut usize) -> Option<Tag<'s>> {
    let bytes = source.as_bytes();
    let mut at = position + 1;
    let closing = bytes.get(at) == Some(&b'/');
    at += usize::from(closing);
    let name_start = at;
    while bytes
        .get(at)
        .is_some_and(|&byte| byte.is_ascii_alphanumeric() || b"_-.:$".contains(&byte))
    {
        at += 1;
    }
    let name = &source[name_start..at];
    let first = name.bytes().next();
    if first.map_or(bytes.get(at) != Some(&b'>'), |byte| !byte.is_ascii_alphabetic()) || *budget == 0 {
        return None;
    }
    let found = tag_rest(bytes, at).ok().map(|(end, alone)| {
        let kind = if closing {
            TagKind::Close
        } else if alone {
            TagKind::Alone
        } else {
            TagKind::Open
        };
        Tag { name, kind, end }
    });
    if found.is_none() {
        let looked_at = tag_rest(bytes, at).err().unwrap_or(at) - position;
        *budget = budget.saturating_sub(looked_at);
    }
    found
}

/// From after a tag's name: its end and whether it closes itself, or how far the scan came.
fn tag_rest(bytes: &[u8], mut at: usize) -> Result<(usize, bool), usize> {
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            b'>' => return Ok((at + 1, false)),
            b'/' if bytes.get(at + 1) == Some(&b'>') => return Ok((at + 2, true)),
            b'"' | b'\'' => after_quote(bytes, at).ok_or(bytes.len())?,
            b'{' => after_braces(bytes, at).ok_or(bytes.len())?,
            b'=' | b' ' | b'\t' | b'\n' | b'_' | b'-' | b':' | b'.' | b'$' | b'@' => at + 1,
            _ if byte.is_ascii_alphanumeric() => at + 1,
            _ => return Err(at),
        };
    }
    Err(at)
}

fn after_quote(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    bytes[at + 1..]
        .iter()
        .position(|&byte| byte == quote)
        .map(|offset| at + offset + 2)
}

/// After the brace that closes the one at `at`; braces in strings do not count.
fn after_braces(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    while let Some(&byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if byte == open => quote = None,
            // An apostrophe of a text, not a string.
            (Some(b'\'' | b'"'), b'\n') => quote = None,
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (None, b'{') => depth += 1,
            (None, b'}') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// After the brace that closes the one at `position`.
pub(crate) fn braces_end(source: &str, position: usize, budget: &mut usize) -> Option<usize> {
    if *budget == 0 {
        return None;
    }
    let end = after_braces(source.as_bytes(), position);
    if end.is_none() {
        *budget = budget.saturating_sub(source.len() - position);
    }
    end
}

/// The attributes of a tag, of which `tag` is the whole text: name, and the place of a value that is a text.
pub(crate) fn attributes(tag: &str) -> Vec<(&str, Option<Range<usize>>)> {
    let bytes = tag.as_bytes();
    let mut found = Vec::new();
    let mut at = 1 + tag[1..]
        .find(|c: char| c.is_ascii_whitespace() || c == '>')
        .unwrap_or(tag.len() - 1);
    while let Some(&byte) = bytes.get(at) {
        if byte == b'{' {
            // A spread, or a comment.
            match after_braces(bytes, at) {
                Some(end) => at = end,
                None => break,
            }
            continue;
        }
        if !byte.is_ascii_alphabetic() && !b"_$@:".contains(&byte) {
            at += 1;
            continue;
        }
        let name_start = at;
        while bytes
            .get(at)
            .is_some_and(|&byte| byte.is_ascii_alphanumeric() || b"_$@:.-".contains(&byte))
        {
            at += 1;
        }
        let name = &tag[name_start..at];
        let blanks = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count()
        };
        let equals = at + blanks(at);
        if bytes.get(equals) != Some(&b'=') {
            found.push((name, None));
            continue;
        }
        at = equals + 1;
        at += blanks(at);
        let (value, end) = match bytes.get(at) {
            Some(b'"' | b'\'') => match after_quote(bytes, at) {
                Some(end) => (Some(at + 1..end - 1), end),
                None => break,
            },
            Some(b'{') => match after_braces(bytes, at) {
                Some(end) => (text_in_braces(tag, at, end), end),
                None => break,
            },
            _ => {
                let length = bytes[at..]
                    .iter()
                    .take_while(|&&byte| !byte.is_ascii_whitespace() && byte != b'>')
                    .count();
                (Some(at..at + length), at + length)
            }
        };
        found.push((name, value));
        at = end;
    }
    found
}

/// The place of the text in `{"text"}`, if the braces from `open` to `end` hold nothing else.
pub(crate) fn text_in_braces(source: &str, open: usize, end: usize) -> Option<Range<usize>> {
    let inner = source.get(open + 1..end.checked_sub(1)?)?;
    let start = open + 1 + (inner.len() - inner.trim_start().len());
    let inner = inner.trim();
    let quote = inner
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let text = inner.strip_prefix(quote)?.strip_suffix(quote)?;
    let is_plain = !text.contains([quote, '\\']) && !text.contains("${");
    (is_plain && inner.len() > 1).then(|| start + 1..start + 1 + text.len())
}

/// The end of the import or export statement that begins at `position`, its line feed included.
pub(crate) fn statement_end(source: &str, position: usize, budget: &mut usize) -> Option<usize> {
    let rest = &source[position..];
    let first = rest.lines().next().unwrap_or_default();
    let is_import = is_import(first);
    if !is_import && !is_export(first) {
        return None;
    }
    let bytes = rest.as_bytes();
    let (mut depth, mut quote, mut at, mut has_string) = (0_usize, None, 0, false);
    let mut first_blank = None;
    if *budget == 0 {
        return None;
    }
    while let Some(&byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if byte == open => quote = None,
            (Some(b'\'' | b'"'), b'\n') => quote = None,
            (None, b'/') if bytes.get(at + 1) == Some(&b'/') => {
                at += bytes[at..]
                    .iter()
                    .position(|&byte| byte == b'\n')
                    .unwrap_or(bytes.len() - at);
                continue;
            }
            (None, b'/') if bytes.get(at + 1) == Some(&b'*') => {
                at += rest[at..]
                    .find("*/")
                    .map_or(bytes.len() - at, |offset| offset + 2);
                continue;
            }
            (None, b'"' | b'\'' | b'`') => (quote, has_string) = (Some(byte), true),
            (None, b'{' | b'(' | b'[') => depth += 1,
            (None, b'}' | b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if byte == b'\n' {
            let next = rest[at + 1..].lines().next().unwrap_or_default();
            if next.trim().is_empty() {
                first_blank = first_blank.or(Some(at + 1));
            }
            if quote.is_none() && depth == 0 && (is_import && has_string || !continues(next)) {
                return Some(position + at + 1);
            }
        }
        at += 1;
    }
    if quote.is_none() && depth == 0 {
        return Some(source.len());
    }
    // Never balanced: the statement is its block.
    *budget = budget.saturating_sub(bytes.len());
    Some(position + first_blank.unwrap_or(bytes.len()))
}

fn is_import(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("import") else {
        return false;
    };
    rest.starts_with([' ', '{', '"', '\'', '*'])
        && (rest.contains(['"', '\'']) || rest.trim_end().ends_with(['{', ',']))
}

fn is_export(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("export ") else {
        return false;
    };
    let rest = rest.trim_start();
    let word = rest
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    rest.starts_with(['{', '*'])
        || matches!(
            word,
            "default" | "const" | "let" | "var" | "function" | "async" | "class" | "type" | "interface"
        )
}

/// Whether a line goes on with the statement before it.
fn continues(line: &str) -> bool {
    line.starts_with([
        ' ', '\t', '.', '+', '?', ':', '&', '|', '=', '(', ')', ']', '}', ',',
    ]) && !line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_end_after_their_attributes() {
        let cases = [
            ("<A>x", Some(("A", TagKind::Open, "x"))),
            ("</A.B >x", Some(("A.B", TagKind::Close, "x"))),
            ("<A b=\">\" c={{d: '}>'}}\n/>x", Some(("A", TagKind::Alone, "x"))),
            ("<>x", Some(("", TagKind::Open, "x"))),
            ("</>x", Some(("", TagKind::Close, "x"))),
            ("< a>", None),
            ("<1", None),
            ("<a, b>", None),
            ("<A b={", None),
            ("<https://x.y>", None),
        ];
        for (source, expected) in cases {
            let mut budget = 1000;
            let found = jsx_tag(source, 0, &mut budget).map(|tag| (tag.name, tag.kind, &source[tag.end..]));
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn attributes_are_read_with_the_places_of_their_texts() {
        let tag = r#"<A.B title="x > y" {...rest} label={'l'} on count={1 + 2} t={`m`} u={`${n}`} v=w/>"#;
        let found: Vec<(&str, Option<&str>)> = attributes(tag)
            .into_iter()
            .map(|(name, value)| (name, value.map(|value| &tag[value])))
            .collect();
        let expected = [
            ("title", Some("x > y")),
            ("label", Some("l")),
            ("on", None),
            ("count", None),
            ("t", Some("m")),
            ("u", None),
            ("v", Some("w/")),
        ];
        assert_eq!(found, expected);
        for open in ["<A b={", "<A b=\"", "<", "</A", "<A b="] {
            attributes(open);
        }
    }

    #[test]
    fn statements_end_where_their_brackets_are_closed() {
        let cases = [
            ("import A from 'a'\ntext", Some("text")),
            ("import {\n  A,\n} from \"a\"\ntext", Some("text")),
            ("export const a = `\n\n}`\n\ntext", Some("\ntext")),
            ("export default () => {\n  // }\n}\n\ntext", Some("\ntext")),
            ("export const a = 1\n  + 2\ntext", Some("text")),
            ("export const open = {\n\ntext", Some("\ntext")),
            ("import the data first\n", None),
            ("export your data\n", None),
        ];
        for (source, expected) in cases {
            let mut budget = 1000;
            let rest = statement_end(source, 0, &mut budget).map(|end| &source[end..]);
            assert_eq!(rest, expected, "{source}");
        }
    }
}
