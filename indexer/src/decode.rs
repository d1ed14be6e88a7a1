//! Bytes of a source file to text whose lines are the file's.
//!
//! In: any bytes. Out: UTF-8 text without a byte order mark, every line ended by a line feed, and what had to be
//! replaced on the way. UTF-16 is recognised by its byte order mark. Nothing here adds or removes a line, so line
//! `n` of the text is line `n` of the file, whether its lines end in LF, CRLF or a lone CR.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// Characters that were replaced or removed: how many, and the line of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) count: usize,
    /// From 1; 0 while nothing was counted.
    pub(crate) first_line: u32,
}

impl Tally {
    pub(crate) fn add(&mut self, line: impl FnOnce() -> u32) {
        if self.count == 0 {
            self.first_line = line();
        }
        self.count += 1;
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// Bytes that are no text in the file's encoding, each maximal run as one.
    pub(crate) invalid: Tally,
    pub(crate) nul: Tally,
}

pub(crate) fn decode(source: &[u8]) -> Decoded {
    let mut invalid = Tally::default();
    let text = match source {
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, UTF_16LE, &mut invalid),
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, UTF_16BE, &mut invalid),
        [0xEF, 0xBB, 0xBF, rest @ ..] => decode_utf8(rest, &mut invalid),
        _ => decode_utf8(source, &mut invalid),
    };
    let mut nul = Tally::default();
    let text = normalize(text, &mut nul);
    Decoded { text, invalid, nul }
}

fn decode_utf8(source: &[u8], invalid: &mut Tally) -> String {
    if let Ok(text) = std::str::from_utf8(source) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(source.len() + 16);
    for chunk in source.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            invalid.add(|| line_at_end(&text));
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

fn decode_utf16(source: &[u8], encoding: &'static Encoding, invalid: &mut Tally) -> String {
    let (text, had_errors) = encoding.decode_without_bom_handling(source);
    if had_errors {
        for (position, _) in text.match_indices(char::REPLACEMENT_CHARACTER) {
            invalid.add(|| line_at_end(&text[..position]));
        }
    }
    text.into_owned()
}

/// The number of the line that `text` ends in.
fn line_at_end(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let ends = |(index, byte): (usize, &u8)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(index + 1) != Some(&b'\n'),
        _ => false,
    };
    let count = bytes.iter().enumerate().filter(|&pair| ends(pair)).count();
    u32::try_from(count + 1).unwrap_or(u32::MAX)
}

/// Line ends to line feeds, form feeds to spaces, NUL to U+FFFD.
fn normalize(text: String, nul: &mut Tally) -> String {
    let special = |byte: u8| matches!(byte, b'\r' | b'\0' | b'\x0C');
    if !text.bytes().any(special) {
        return text;
    }
    let bytes = text.as_bytes();
    let mut normalized = String::with_capacity(text.len() + 16);
    let mut copied = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        if !special(byte) {
            continue;
        }
        normalized.push_str(&text[copied..index]);
        copied = index + 1;
        match byte {
            b'\r' if bytes.get(index + 1) == Some(&b'\n') => {}
            b'\r' => normalized.push('\n'),
            b'\0' => {
                nul.add(|| line_at_end(&text[..index]));
                normalized.push(char::REPLACEMENT_CHARACTER);
            }
            _ => normalized.push(' '),
        }
    }
    normalized.push_str(&text[copied..]);
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_and_line_end_gives_the_same_text() {
        let utf16 = |big: bool| -> Vec<u8> {
            let unit = |unit: u16| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            };
            "\u{FEFF}# A\r\né\n".encode_utf16().flat_map(unit).collect()
        };
        let cases: [&[u8]; 6] = [
            "# A\né\n".as_bytes(),
            "\u{FEFF}# A\né\n".as_bytes(),
            "# A\r\né\r\n".as_bytes(),
            "# A\ré\r".as_bytes(),
            &utf16(true),
            &utf16(false),
        ];
        for source in cases {
            let decoded = decode(source);
            assert_eq!(decoded.text, "# A\né\n", "{source:?}");
            assert_eq!((decoded.invalid.count, decoded.nul.count), (0, 0));
        }
    }

    #[test]
    fn what_is_no_text_is_replaced_and_counted_with_its_line() {
        let decoded = decode(b"a\r\nb\x0Cc\rd\xFF\xFEe\n\xC3");
        assert_eq!(decoded.text, "a\nb c\nd\u{FFFD}\u{FFFD}e\n\u{FFFD}");
        assert_eq!(
            decoded.invalid,
            Tally {
                count: 3,
                first_line: 3
            }
        );
        let decoded = decode(b"a\n\nx\0y\0");
        assert_eq!(decoded.text, "a\n\nx\u{FFFD}y\u{FFFD}");
        assert_eq!(
            decoded.nul,
            Tally {
                count: 2,
                first_line: 3
            }
        );
        let decoded = decode(b"\xFF\xFEa\0\n\0\0\xD8b\0");
        assert_eq!(decoded.text, "a\n\u{FFFD}b");
        assert_eq!(
            decoded.invalid,
            Tally {
                count: 1,
                first_line: 2
            }
        );
    }
}
