//! Code fences, line by line: what opens one and what closes it.
//!
//! For the scans that must know code from text before the Markdown parser has seen the file. They look through the
//! markers of quotes and list items, since a fence may stand in them.

/// The run of characters that opened a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) character: u8,
    pub(crate) length: usize,
}

/// The fence that this line opens, if it does.
pub(crate) fn opened_by(line: &str) -> Option<Fence> {
    let line = after_markers(line);
    let character = *line
        .as_bytes()
        .first()
        .filter(|&&byte| matches!(byte, b'`' | b'~'))?;
    let length = run_length(line, character);
    let info = &line[length..];
    (length >= 3 && (character == b'~' || !info.contains('`'))).then_some(Fence { character, length })
}

/// Whether this line closes the fence: as many of its characters at least, and nothing after them.
pub(crate) fn closes(line: &str, fence: Fence) -> bool {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let length = run_length(line, fence.character);
    length >= fence.length && line[length..].trim().is_empty()
}

fn run_length(line: &str, character: u8) -> usize {
    line.bytes().take_while(|&byte| byte == character).count()
}

/// The line without indentation and the markers of quotes and list items.
pub(crate) fn after_markers(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let marker = match rest.as_bytes() {
            [b'>', ..] => 1,
            [b'-' | b'*' | b'+', b' ' | b'\t', ..] => 2,
            [..] if (1..10).contains(&digits) && matches!(rest.as_bytes().get(digits), Some(b'.' | b')')) => {
                if !matches!(rest.as_bytes().get(digits + 1), Some(b' ' | b'\t')) {
                    return rest;
                }
                digits + 2
            }
            _ => return rest,
        };
        rest = rest[marker..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openers_and_closers_are_told_apart() {
        let fence = |character, length| Some(Fence { character, length });
        let cases = [
            ("```", fence(b'`', 3)),
            ("  ~~~~ md", fence(b'~', 4)),
            ("> - ```sh", fence(b'`', 3)),
            ("12. ```", fence(b'`', 3)),
            ("``` a`b", None),
            ("~~~ a`b", fence(b'~', 3)),
            ("``", None),
            ("text ```", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(opened_by(line), expected, "{line}");
        }
        let open = Fence {
            character: b'`',
            length: 3,
        };
        assert!(closes("````  \n", open) && closes("> ```\n", open));
        assert!(!closes("```sh\n", open) && !closes("~~~\n", open) && !closes("``\n", open));
    }
}
