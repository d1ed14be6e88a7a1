//! Removes from a text what a reader cannot see and no search should find, line for line.
//!
//! In: decoded text. Out: the text without control and zero-width characters, bidirectional controls and Unicode tag
//! characters, and with a short mark for each long data URI. A joiner between two characters that it shapes (emoji,
//! Arabic, Indic scripts) is visible in its effect and stays, and so is the first selector after a character that
//! has variants.

use crate::decode::Tally;

/// Payloads shorter than this stand in examples about data URIs and stay readable.
const LONGEST_KEPT_PAYLOAD: usize = 96;
const DATA_URI_MARK: &str = "data:…";
const BASE64_MARKER: &str = ";base64,";

/// The text without invisible characters, and how many were removed.
pub(crate) fn remove_invisible(text: String) -> (String, Tally) {
    let mut tally = Tally::default();
    if !text
        .bytes()
        .any(|byte| !byte.is_ascii() || is_control(char::from(byte)))
    {
        return (text, tally);
    }
    let mut kept = String::new();
    let mut copied = 0;
    let mut previous = '\0';
    let mut characters = text.char_indices().peekable();
    while let Some((position, character)) = characters.next() {
        let mut shapes =
            || is_shaped(previous) && characters.peek().is_some_and(|&(_, next)| is_shaped(next));
        let has_effect = if is_joiner(character) {
            shapes()
        } else {
            is_selector(character) && has_variants(previous, character)
        };
        if !has_effect && (is_invisible(character) || is_selector(character)) {
            tally.add(|| line_of(&text, position));
            kept.push_str(&text[copied..position]);
            copied = position + character.len_utf8();
        } else {
            previous = character;
        }
    }
    if tally.count == 0 {
        return (text, tally);
    }
    kept.push_str(&text[copied..]);
    (kept, tally)
}

fn line_of(text: &str, position: usize) -> u32 {
    let ends = text[..position].bytes().filter(|&byte| byte == b'\n').count();
    u32::try_from(ends + 1).unwrap_or(u32::MAX)
}

/// Characters that show nothing and do nothing to what is shown beside them, and those that only turn it around.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E00FF}')
        || is_control(character)
}

/// Controls that part neither lines nor words. A terminal would obey some of them.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{85}')
}

/// Selectors of variants: in a row they carry hidden bytes.
fn is_selector(character: char) -> bool {
    matches!(character, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Whether the selector after this character may change what is seen: not after a letter of most scripts, and one
/// of the many only after a Chinese character.
fn has_variants(character: char, selector: char) -> bool {
    if selector > '\u{FFFF}' {
        return matches!(character, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFD}');
    }
    matches!(character,
        '#' | '*' | '0'..='9' | '\u{A9}' | '\u{AE}' | '\u{1000}'..='\u{109F}' | '\u{1820}'..='\u{1842}'
        | '\u{2010}'..='\u{303F}' | '\u{3200}'..='\u{9FFF}' | '\u{A840}'..='\u{A877}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF00}'..='\u{FF1F}' | '\u{1F000}'..='\u{1FAFF}' | '\u{20000}'..='\u{3FFFD}')
}

fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200C}' | '\u{200D}')
}

/// Whether a joiner beside this character changes what is seen.
fn is_shaped(character: char) -> bool {
    matches!(character,
        '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{E00}'..='\u{109F}' | '\u{1780}'..='\u{18AF}'
        | '\u{2190}'..='\u{2BFF}' | '\u{FE0E}' | '\u{FE0F}' | '\u{FB50}'..='\u{FDFF}' | '\u{1F000}'..='\u{1FAFF}')
}

/// The text with `data:…` for each long base64 data URI.
pub(crate) fn shorten_data_uris(text: String) -> String {
    if !text.contains(BASE64_MARKER) {
        return text;
    }
    let mut shortened = String::with_capacity(text.len());
    let mut copied = 0;
    for (marker, _) in text.match_indices(BASE64_MARKER) {
        if marker < copied {
            continue;
        }
        let head = text[copied..marker].bytes().rev().take(128);
        let type_length = head.take_while(|&byte| is_media_type(byte)).count();
        let type_start = marker - type_length;
        let payload_start = marker + BASE64_MARKER.len();
        let payload = text[payload_start..]
            .bytes()
            .take_while(|&byte| byte.is_ascii_alphanumeric() || b"+/=-_%".contains(&byte));
        let payload_end = payload_start + payload.count();
        let Some(scheme) = text[type_start..marker].find("data:") else {
            continue;
        };
        if payload_end - payload_start > LONGEST_KEPT_PAYLOAD {
            shortened.push_str(&text[copied..type_start + scheme]);
            shortened.push_str(DATA_URI_MARK);
            copied = payload_end;
        }
    }
    shortened.push_str(&text[copied..]);
    shortened
}

fn is_media_type(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b":/+.-;=_".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_go_and_joiners_with_an_effect_stay() {
        let cases = [
            ("plain", "plain", 0),
            ("é\u{200B}x", "éx", 1),
            ("a\u{202E}b\u{2066}c", "abc", 2),
            ("x\u{E0041}\u{E0042}y", "xy", 2),
            ("docu\u{AD}ment", "document", 1),
            ("👩\u{200D}👧", "👩\u{200D}👧", 0),
            ("❤\u{FE0F}\u{200D}🔥", "❤\u{FE0F}\u{200D}🔥", 0),
            ("می\u{200C}خواهم", "می\u{200C}خواهم", 0),
            ("a\u{200D}b", "ab", 1),
            ("👩\u{200D}\u{200D}👧", "👩\u{200D}👧", 1),
            ("a\u{1B}[31mb\u{7}\u{9B}\tc\n", "a[31mb\tc\n", 3),
            ("plain\u{1}", "plain", 1),
            ("a\u{3164}b\u{FFF9}c\u{1D173}\u{34F}d", "abcd", 4),
            ("x\u{FE01}\u{E0110}\u{E0120}y", "xy", 3),
            ("😀\u{E0110}y", "😀y", 1),
            ("😀\u{FE0F}\u{E0110}\u{E0120}y", "😀\u{FE0F}y", 2),
            (
                "1\u{FE0F}\u{20E3} 葛\u{E0100}城 ≨\u{FE00}",
                "1\u{FE0F}\u{20E3} 葛\u{E0100}城 ≨\u{FE00}",
                0,
            ),
        ];
        for (text, expected, count) in cases {
            let (kept, tally) = remove_invisible(text.to_owned());
            assert_eq!((kept.as_str(), tally.count), (expected, count), "{text:?}");
        }
        let (_, tally) = remove_invisible("a\n\nb\u{200B}".to_owned());
        assert_eq!(tally.first_line, 3);
    }

    #[test]
    fn long_data_uris_become_a_mark() {
        let payload = "QUJD".repeat(50);
        let cases = [
            (
                format!("![x](data:image/png;base64,{payload}) after"),
                "![x](data:…) after".to_owned(),
            ),
            (
                format!("a data:text/html;charset=utf-8;base64,{payload}\nb"),
                "a data:…\nb".to_owned(),
            ),
            (
                format!("no scheme;base64,{payload}"),
                format!("no scheme;base64,{payload}"),
            ),
            (
                "data:text/plain;base64,SGVsbG8=".to_owned(),
                "data:text/plain;base64,SGVsbG8=".to_owned(),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(shorten_data_uris(text), expected);
        }
    }
}
