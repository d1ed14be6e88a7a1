//! Section ids: `path#anchor`, `path#anchor~2` for a further part, `path` for a level-0 section.
//!
//! Paths and anchors are percent-encoded in one way: `%`, space, `[`, `]`, `#`, `~`, control characters and
//! bytes that are not UTF-8 become `%XX` in upper case; everything else stands as it is. So an id has one `#`
//! at most, one `~` at most, and no white space, and it can be cut apart again.

/// An id taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SectionId {
    /// Literal bytes of the path.
    pub(crate) path: Vec<u8>,
    /// Literal anchor; empty for a level-0 section.
    pub(crate) anchor: String,
    /// From 1.
    pub(crate) part: u32,
}

/// Appends `bytes` percent-encoded.
pub(crate) fn encode(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if matches!(c, '%' | ' ' | '[' | ']' | '#' | '~') || c.is_control() || c.is_whitespace() {
                encode_bytes(c.encode_utf8(&mut [0; 4]).as_bytes(), out);
            } else {
                out.push(c);
            }
        }
        encode_bytes(chunk.invalid(), out);
    }
}

fn encode_bytes(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in bytes {
        out.push('%');
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Takes `%XX` back; a `%` without two digits stands for itself.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digit = |place: usize| bytes.get(place).and_then(|&b| char::from(b).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (byte, digit(at + 1), digit(at + 2)) {
            out.push((high * 16 + low) as u8);
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    out
}

/// The id of a part.
pub(crate) fn format(path: &[u8], anchor: &str, part: u32) -> String {
    let mut id = String::with_capacity(path.len() + anchor.len() + 4);
    encode(path, &mut id);
    if !anchor.is_empty() {
        id.push('#');
        encode(anchor.as_bytes(), &mut id);
    }
    if part > 1 {
        id.push('~');
        id.push_str(&part.to_string());
    }
    id
}

/// The id of the first part of a section: `path#anchor`, percent-encoded where a name holds what an id may not; of the
/// page where `anchor` is empty.
pub fn section_id(path: &[u8], anchor: &str) -> String {
    format(path, anchor, 1)
}

/// Takes an id apart; none if its part is not a number from 2.
pub(crate) fn parse(id: &str) -> Option<SectionId> {
    let (rest, part) = match id.rsplit_once('~') {
        None => (id, 1),
        Some((rest, digits)) => {
            let is_number = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
            (rest, digits.parse().ok().filter(|&part| is_number && part > 1)?)
        }
    };
    let (path, anchor) = rest.split_once('#').unwrap_or((rest, ""));
    Some(SectionId {
        path: decode(path),
        anchor: String::from_utf8(decode(anchor)).ok()?,
        part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_are_readable_and_unambiguous() {
        for (path, anchor, part, id) in [
            (&b"a/b.md"[..], "x-y", 1, "a/b.md#x-y"),
            (b"a/b.md", "x-y", 3, "a/b.md#x-y~3"),
            (b"a/b.md", "", 1, "a/b.md"),
            (b"a/b.md", "", 2, "a/b.md~2"),
            (
                b"# Q4 & [draft] 100%.md",
                "",
                1,
                "%23%20Q4%20&%20%5Bdraft%5D%20100%25.md",
            ),
            ("Зоны.md".as_bytes(), "é~1", 1, "Зоны.md#é%7E1"),
            (b"caf\xe9.md", "n", 1, "caf%E9.md#n"),
            (b"a\nb.md", "", 1, "a%0Ab.md"),
            (b"foo\\bar.md", "", 1, "foo\\bar.md"),
        ] {
            assert_eq!(format(path, anchor, part), id);
            let parsed = SectionId {
                path: path.to_vec(),
                anchor: anchor.to_owned(),
                part,
            };
            assert_eq!(parse(id), Some(parsed));
        }
    }

    #[test]
    fn parts_are_numbers_from_two() {
        for id in [
            "a.md#x~",
            "a.md#x~1",
            "a.md#x~0",
            "a.md#x~02",
            "a.md#x~b",
            "a.md#x~99999999999",
        ] {
            assert_eq!(parse(id), None, "{id}");
        }
    }

    proptest! {
        #[test]
        fn an_id_is_taken_apart_into_what_it_was_made_of(
            path in prop::collection::vec(any::<u8>(), 1..30), anchor in "\\PC{0,20}", part in 1_u32..,
        ) {
            let id = format(&path, &anchor, part);
            prop_assert!(!id.contains(char::is_whitespace) && !id.contains(['[', ']']));
            prop_assert_eq!(parse(&id), Some(SectionId { path, anchor, part }));
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC*") {
            let _ = parse(&text);
        }
    }
}
