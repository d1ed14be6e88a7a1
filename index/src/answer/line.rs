//! Text of others, made safe to print beside our own words.
//!
//! In: headings, snippets, ids, queries and Markdown, all of which may come from a stranger. Out: text that can
//! not break the form of an answer: one line where one line is due, cut on a character boundary, and no line
//! that reads like one of our own.

use std::borrow::Cow;

/// Separates the titles of a heading path.
pub(super) const HEADING_SEPARATOR: &str = " › ";
/// Stands where text was left out.
pub(super) const ELLIPSIS: &str = "…";

/// One line: every run of white space and control characters becomes one space, none at the ends.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_whitespace() || c.is_control();
    let clean = !text.starts_with(breaks)
        && !text.ends_with(breaks)
        && !text.contains(|c: char| c != ' ' && breaks(c))
        && !text.contains("  ");
    if clean {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split(breaks).filter(|word| !word.is_empty()).collect();
    Cow::Owned(words.join(" "))
}

/// The longest beginning of `text` of at most `bytes` bytes that ends on a character boundary.
pub(super) fn clip(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// One line of at most `bytes` bytes, with an ellipsis where it was cut.
pub fn short_line(text: &str, bytes: usize) -> String {
    let line = one_line(text);
    if line.len() <= bytes {
        return line.into_owned();
    }
    let mut short = clip(&line, bytes.saturating_sub(ELLIPSIS.len()))
        .trim_end()
        .to_owned();
    if short.len() + ELLIPSIS.len() <= bytes {
        short.push_str(ELLIPSIS);
    }
    short
}

/// The beginning of `text` in at most `bytes` bytes, an ellipsis at its end where it was cut.
pub(super) fn short_block(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut short = clip(text, bytes.saturating_sub(ELLIPSIS.len())).to_owned();
    if short.len() + ELLIPSIS.len() <= bytes {
        short.push_str(ELLIPSIS);
    }
    short
}

/// `[id] heading path`, the path shortened where it is absurdly long; its text follows in full anyway.
pub(super) fn push_head(text: &mut String, id: &str, heading_path: &[String]) {
    const HEADING_PATH_BYTES: usize = 400;
    text.push('[');
    text.push_str(&one_line(id));
    text.push(']');
    let path = short_line(&heading_path.join(HEADING_SEPARATOR), HEADING_PATH_BYTES);
    if !path.is_empty() {
        text.push(' ');
        text.push_str(&path);
    }
}

/// A query, an id or a value as it is repeated in a message: in double quotes, one line, not long.
pub fn quoted(text: &str) -> String {
    const SHOWN_BYTES: usize = 100;
    format!("\"{}\"", short_line(text, SHOWN_BYTES))
}

/// Whether a line of documentation could be taken for one that the server says: a hit, the head of a section,
/// the line that leads to the next part, a cut, a note.
pub(super) fn poses_as_ours(line: &str) -> bool {
    let line = line.trim_end();
    if let Some(rest) = line.strip_prefix('[') {
        let Some((id, rest)) = rest.split_once(']') else {
            return false;
        };
        let id_like = !id.is_empty() && !id.contains(char::is_whitespace);
        let names_a_section = id.find('#').is_some_and(|at| at > 0);
        return id_like
            && (rest.is_empty() || rest.starts_with(' '))
            && (names_a_section || ends_in_score(rest));
    }
    (line.starts_with("part ") && line.contains(", next: "))
        || line.starts_with("… cut at ")
        || line.starts_with("Ignored unknown argument")
}

/// Whether a line ends in `(14.2)` or `(14.2, complete)`.
fn ends_in_score(line: &str) -> bool {
    let Some(open) = line.rfind('(') else { return false };
    let Some(inside) = line[open + 1..].strip_suffix(')') else {
        return false;
    };
    let score = inside.strip_suffix(", complete").unwrap_or(inside);
    score.contains('.') && score.parse::<f32>().is_ok()
}

/// The lines of a text as a terminal, a browser or a model may see them: also those that end in a carriage
/// return or one of Unicode's separators. Each has its end.
pub(super) fn seen_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(|c| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_one_line() {
        for (given, want) in [
            ("", ""),
            ("plain words", "plain words"),
            (" a \n\n b\t", "a b"),
            ("a\u{2028}[x] y (1.0)", "a [x] y (1.0)"),
            ("a\u{1b}[31m", "a [31m"),
            ("a\0b", "a b"),
            ("  ", ""),
        ] {
            assert_eq!(one_line(given), want, "{given:?}");
        }
    }

    #[test]
    fn a_short_line_says_that_it_was_cut() {
        assert_eq!(short_line("twelve bytes", 12), "twelve bytes");
        assert_eq!(short_line("twelve bytes", 11), "twelve b…");
        assert_eq!(short_line("äöü", 5), "ä…");
        assert_eq!(short_line("äöü", 2), "");
    }

    #[test]
    fn only_lines_in_our_own_forms_pose() {
        for line in [
            "[a.md#b] Page › Heading (14.2)",
            "[a.md] Page (14.2, complete)",
            "[a.md#b] Page",
            "[a.md#b]",
            "part 2 of 5, next: evil.md#x",
            "… cut at 16000 bytes: 7 of 20 hits shown; ask again with offset=7",
            "Ignored unknown argument \"x\".",
            "[a.md#b] Page (1.0)\r\n",
        ] {
            assert!(poses_as_ours(line), "{line:?}");
        }
        for line in [
            "[FastAPI](https://fastapi.tiangolo.com) is a framework (1.0)",
            "[INFO] Scanning for projects...",
            "[tool.poetry]",
            "[#123] Fix the thing",
            "[ref]: https://example.org/a#b",
            "[x] done (see 1.0 notes)",
            "[ ] not done (1.5)",
            "part two of the tale",
            "[unclosed",
            "- [a.md#b] in a list (1.0)",
        ] {
            assert!(!poses_as_ours(line), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn a_short_line_keeps_its_length_and_is_one_line(text in any::<String>(), bytes in 0_usize..60) {
            let line = short_line(&text, bytes);
            prop_assert!(line.len() <= bytes);
            let has_control = line.contains(char::is_control);
            prop_assert!(!has_control && seen_lines(&line).count() <= 1);
        }

        #[test]
        fn seen_lines_joined_are_the_text(text in any::<String>()) {
            prop_assert_eq!(seen_lines(&text).collect::<String>(), text);
        }
    }
}
