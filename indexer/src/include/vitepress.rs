//! Directives of VitePress: `<<< @/file.js#region{1,3 ts} [title]` for code, `<!--@include: ./part.md{3,}-->` for text.

use crate::include::directive::{Directive, Found, Rendering, is_path};
use crate::include::marks::Marks;
use crate::include::roots::Family;
use crate::include::selection::{Dedent, LineRange, Selection};

/// `<<< file`, given the line without its indentation.
pub(crate) fn snippet(line: &str) -> Option<Directive> {
    let after = line.strip_prefix("<<<")?;
    let rest = after.trim();
    if rest.len() == after.len() || rest.starts_with('<') {
        return None;
    }
    let (rest, title) = match rest.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((rest, title)) => (rest.trim_end(), title),
        None => (rest, ""),
    };
    let (rest, attributes) = match rest.strip_suffix('}').and_then(|rest| rest.split_once('{')) {
        Some((rest, attributes)) => (rest.trim_end(), attributes),
        None => (rest, ""),
    };
    // The lines in braces are highlighted lines: all are taken.
    let words = attributes.split_whitespace();
    let is_lines = |word: &&str| {
        word.bytes()
            .all(|byte| byte.is_ascii_digit() || b",-".contains(&byte))
    };
    let language = words
        .into_iter()
        .find(|word| !is_lines(word) && !word.starts_with(':'));
    let language = language
        .and_then(|word| word.split(':').next())
        .unwrap_or_default();
    let (path, piece) = with_region(rest);
    if !is_path(path) {
        return None;
    }
    let dedent = if piece.is_some() {
        Dedent::Common
    } else {
        Dedent::Keep
    };
    Some(Directive {
        family: Family::VitePress,
        path: path.to_owned(),
        selection: Selection {
            piece,
            dedent,
            ..Selection::default()
        },
        rendering: Rendering::fence(language, title),
    })
}

type Piece = Option<(&'static [Marks], String)>;

fn with_region(written: &str) -> (&str, Piece) {
    let name = written.rsplit_once('#').filter(|(path, name)| {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        !path.is_empty() && !name.is_empty() && name.chars().all(is_word)
    });
    match name {
        Some((path, name)) => (path, Some((&[Marks::Region], name.to_owned()))),
        None => (written, None),
    }
}

/// `<!--@include: ./part.md#region{3,}-->` at the start of `rest`.
pub(crate) fn comment(rest: &str) -> Option<Found> {
    let inner = rest.strip_prefix("<!--")?;
    let inner_start = rest.len() - inner.trim_start().len();
    let inner = inner.trim_start().strip_prefix("@include:")?;
    let end = inner
        .find(['<', '>', '\n'])
        .filter(|&at| inner[..at].ends_with("--"))?;
    let length = inner_start + "@include:".len() + end + 1;
    let written = inner[..end - "--".len()].trim();
    if !inner[end..].starts_with('>') {
        return None;
    }
    let (rest, lines) = match written.strip_suffix('}').and_then(|rest| rest.rsplit_once('{')) {
        Some((rest, lines)) => (rest.trim_end(), Some(lines)),
        None => (written, None),
    };
    let (path, piece) = with_region(rest);
    if path.is_empty() {
        return None;
    }
    let mut selection = Selection {
        piece,
        ..Selection::default()
    };
    if let Some(lines) = lines {
        selection = selection.with_ranges(lines, line_range(lines).map(|range| vec![range]));
    }
    let directive = Directive {
        family: Family::VitePress,
        path: path.to_owned(),
        selection,
        rendering: Rendering::Text,
    };
    Some(Found::include(length, directive))
}

/// `3,` or `,10` or `3,10` or `3`.
fn line_range(written: &str) -> Option<LineRange> {
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse().ok().filter(|&number: &i64| number > 0).map(Some),
    };
    let (first, last) = match written.split_once(',') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(written)?, number(written)?),
    };
    (first.is_some() || last.is_some()).then_some(LineRange { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::include::directive::What;

    #[test]
    fn snippets_name_file_region_language_and_title() {
        let cases = [
            ("<<< @/snippets/a.js", "@/snippets/a.js", None, "", ""),
            ("<<< @/a.js{1,3-4 ts:line-numbers}", "@/a.js", None, "ts", ""),
            ("<<< ./a.cs#region-1{c#}", "./a.cs", Some("region-1"), "c#", ""),
            ("<<< ../a.js [the title]", "../a.js", None, "", "the title"),
            ("<<< ../a.js#x {2 js} [t]", "../a.js", Some("x"), "js", "t"),
            ("<<< a.js{:line-numbers}", "a.js", None, "", ""),
        ];
        for (line, path, region, language, title) in cases {
            let found = snippet(line).unwrap();
            let name = found.selection.piece.as_ref().map(|(_, name)| name.as_str());
            assert_eq!((found.path.as_str(), name), (path, region), "{line}");
            assert!(found.selection.ranges.is_empty());
            assert_eq!(found.rendering, Rendering::fence(language, title), "{line}");
        }
        for line in [
            "<<<<<<< HEAD",
            "<<< HEAD",
            "<<<a.js",
            "<<<",
            "<< a.js",
            "<<< a b.js",
        ] {
            assert_eq!(snippet(line), None, "{line}");
        }
    }

    #[test]
    fn comments_include_text() {
        let cases = [
            ("<!--@include: ./a.md-->", Some(("./a.md", None, None))),
            (
                "<!-- @include: a.md{3,} -->x",
                Some(("a.md", None, Some((Some(3), None)))),
            ),
            (
                "<!--@include: a.md{,10}-->",
                Some(("a.md", None, Some((None, Some(10))))),
            ),
            (
                "<!--@include: a.md#part{2,4}-->",
                Some(("a.md", Some("part"), Some((Some(2), Some(4))))),
            ),
            ("<!-- include: a.md -->", None),
            ("<!--@include: a.md", None),
            ("<!--@include: -->", None),
            ("<!--@include:<!--@include: a.md-->", None),
        ];
        for (rest, expected) in cases {
            let found = comment(rest).map(|found| match found.what {
                What::Include(directive) => *directive,
                What::Shown { .. } => unreachable!(),
            });
            let shown = found.as_ref().map(|found| {
                let name = found.selection.piece.as_ref().map(|(_, name)| name.as_str());
                let range = found
                    .selection
                    .ranges
                    .first()
                    .map(|range| (range.first, range.last));
                (found.path.as_str(), name, range)
            });
            assert_eq!(shown, expected, "{rest}");
        }
        assert_eq!(comment("<!-- @include: a.md{3,} -->x").unwrap().length, 27);
    }
}
