//! Bytes of a source file to text whose lines are the file's.
//!
//! In: any bytes. Out: UTF-8 text without a byte order mark, every line ended by a line feed, and what had to be
//! replaced on the way. UTF-16 and UTF-32 are recognised by their byte order marks, UTF-16 without one by its many
//! NULs. Nothing here adds or removes a line, so line `n` of the text is line `n` of the file, whether its lines end
//! in LF, CRLF or a lone CR.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// How much of a file is looked at to guess its encoding, in bytes.
const SAMPLE_LENGTH: usize = 4096;

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
        [0xFF, 0xFE, 0, 0, rest @ ..] => decode_utf32(rest, u32::from_le_bytes, &mut invalid),
        [0, 0, 0xFE, 0xFF, rest @ ..] => decode_utf32(rest, u32::from_be_bytes, &mut invalid),
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, UTF_16LE, &mut invalid),
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, UTF_16BE, &mut invalid),
        [0xEF, 0xBB, 0xBF, rest @ ..] => decode_utf8(rest, &mut invalid),
        _ => match unmarked_utf16(source) {
            Some(encoding) => decode_utf16(source, encoding, &mut invalid),
            None => decode_utf8(source, &mut invalid),
        },
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

fn decode_utf32(source: &[u8], number: fn([u8; 4]) -> u32, invalid: &mut Tally) -> String {
    let mut text = String::with_capacity(source.len() / 4);
    for unit in source.chunks(4) {
        let found = unit.try_into().ok().and_then(|unit| char::from_u32(number(unit)));
        let character = found.unwrap_or_else(|| {
            invalid.add(|| line_at_end(&text));
            char::REPLACEMENT_CHARACTER
        });
        text.push(character);
    }
    text
}

/// UTF-16 without a mark, where nearly every second byte of the beginning is NUL and hardly one of the others.
///
/// That is so for text mostly in ASCII; for other text nothing tells it from bytes of another encoding.
fn unmarked_utf16(source: &[u8]) -> Option<&'static Encoding> {
    let head = &source[..source.len().min(SAMPLE_LENGTH)];
    let units = head.len() / 2;
    if units < 2 || !source.len().is_multiple_of(2) {
        return None;
    }
    let (mut first, mut second) = (0_usize, 0_usize);
    for unit in head.chunks_exact(2) {
        first += usize::from(unit[0] == 0);
        second += usize::from(unit[1] == 0);
    }
    let is_mostly = |nul: usize, other: usize| nul * 4 > units * 3 && other * 16 < units;
    if is_mostly(second, first) {
        Some(UTF_16LE)
    } else if is_mostly(first, second) {
        Some(UTF_16BE)
    } else {
        None
    }
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

/// Line ends to line feeds, form feeds and vertical tabs to spaces, NUL to U+FFFD.
fn normalize(text: String, nul: &mut Tally) -> String {
    let special = |byte: u8| matches!(byte, b'\r' | b'\0' | b'\x0B' | b'\x0C');
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
        let utf32 = |big: bool| -> Vec<u8> {
            let unit = |unit: char| {
                if big {
                    u32::from(unit).to_be_bytes()
                } else {
                    u32::from(unit).to_le_bytes()
                }
            };
            "\u{FEFF}# A\r\né\n".chars().flat_map(unit).collect()
        };
        let cases: [&[u8]; 10] = [
            "# A\né\n".as_bytes(),
            "\u{FEFF}# A\né\n".as_bytes(),
            "# A\r\né\r\n".as_bytes(),
            "# A\ré\r".as_bytes(),
            &utf16(true),
            &utf16(false),
            &utf16(true)[2..],
            &utf16(false)[2..],
            &utf32(true),
            &utf32(false),
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
        let decoded = decode(b"\xFF\xFE\0\0a\0\0\0\n\0\0\0\0\0\x11\0b\0");
        assert_eq!(decoded.text, "a\n\u{FFFD}\u{FFFD}");
        assert_eq!(
            decoded.invalid,
            Tally {
                count: 2,
                first_line: 2
            }
        );
        assert_eq!(decode(b"a\x0Bb").text, "a b");
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

    #[test]
    fn some_nul_characters_make_no_utf16() {
        for (source, count) in [
            (&b"\0\0\0\0\0\0"[..], 6),
            (b"a\0", 1),
            (b"# T\0\n\nx\0y\0", 3),
            (b"a\0b\0c\0d\0odd\0\n", 5),
        ] {
            let decoded = decode(source);
            assert_eq!(
                (decoded.nul.count, decoded.invalid.count),
                (count, 0),
                "{source:?}"
            );
        }
    }
}
