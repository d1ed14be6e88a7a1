//! Directives of MkDocs sites: `{* file ln[1:3] *}`, `{! file !}`, and the `--8<--` of snippets.
//!
//! In: a line, or what follows in it. Out: the directives that it holds.

use crate::include::directive::{Directive, Found, Rendering, is_path};
use crate::include::marks::Marks;
use crate::include::roots::Family;
use crate::include::selection::{Selection, parse_ranges};

/// `{* file ln[1:3,5] hl[2] title["name"] *}`, given the line without its indentation.
pub(crate) fn variant(line: &str) -> Option<Directive> {
    let inner = line.trim_end().strip_prefix("{*")?.strip_suffix("*}")?.trim();
    let path_end = inner.find(char::is_whitespace).unwrap_or(inner.len());
    let path = &inner[..path_end];
    if !is_path(path) {
        return None;
    }
    let mut selection = Selection {
        gaps: true,
        ..Selection::default()
    };
    let mut title = "";
    let mut rest = inner[path_end..].trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('[')?;
        let closer = if after.starts_with('"') { "\"]" } else { "]" };
        let value_start = usize::from(after.starts_with('"'));
        let (value, after) = after[value_start..].split_once(closer)?;
        match name.trim() {
            "ln" => selection = selection.with_ranges(value, parse_ranges(value, ':')),
            "title" => title = value,
            name if name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {}
            _ => return None,
        }
        rest = after.trim_start();
    }
    Some(Directive {
        family: Family::MkDocs,
        path: path.to_owned(),
        selection,
        rendering: Rendering::fence("", title),
    })
}

/// `{! file !}`, `{!> file [ln:1-3] !}` or `{!file!lines=1-3}` at the start of `rest`.
pub(crate) fn inline(rest: &str) -> Option<Found> {
    let inner = rest.strip_prefix("{!")?;
    let end = inner
        .find(['}', '{', '\n'])
        .filter(|&at| inner[at..].starts_with('}'))?;
    let length = "{!".len() + end + 1;
    let inner = inner[..end].strip_prefix('>').unwrap_or(&inner[..end]);
    let (inner, lines) = if let Some(inner) = inner.strip_suffix('!') {
        (inner, None)
    } else {
        let (path, lines) = inner.split_once("!lines=")?;
        (path, Some(lines))
    };
    // An encoding may follow a bar; files say their own.
    let inner = inner.split('|').next().unwrap_or_default().trim();
    let (path, slice) = match inner.split_once("[ln:") {
        Some((path, slice)) => (path.trim(), Some(slice.strip_suffix(']')?)),
        None => (inner, None),
    };
    if !is_path(path) {
        return None;
    }
    let mut selection = Selection::default();
    if let Some(lines) = lines {
        let listed = lines.split_whitespace().collect::<Vec<_>>().join(",");
        selection = selection.with_ranges(lines, parse_ranges(&listed, '-'));
    }
    if let Some(slice) = slice {
        // `2.5` is a line and a column; whole lines are taken.
        let whole = |end: &str| end.split('.').next().unwrap_or_default().to_owned();
        let item = |item: &str| item.split('-').map(whole).collect::<Vec<_>>().join("-");
        let lines = slice.split(',').map(item).collect::<Vec<_>>().join(",");
        selection = selection.with_ranges(slice, parse_ranges(&lines, '-'));
    }
    let directive = Directive {
        family: Family::MkDocs,
        path: path.to_owned(),
        selection,
        rendering: Rendering::Text,
    };
    Some(Found::include(length, directive))
}

/// What a line is to the snippets extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SnippetLine<'l> {
    /// `--8<-- "file"`: the part between the quotes.
    Include(&'l str),
    /// `--8<--` alone: begins or ends a block of file names.
    Block,
    /// `;--8<--`: shown without its first semicolon.
    Escaped,
}

pub(crate) fn snippet(line: &str) -> Option<SnippetLine<'_>> {
    let line = line.trim_start_matches([' ', '\t']).trim_end_matches('\r');
    let bare = line.trim_start_matches(';');
    let after = bare
        .trim_start_matches('-')
        .strip_prefix("8<-")?
        .trim_start_matches('-');
    if !bare.starts_with('-') {
        return None;
    }
    let quoted = after.trim_start_matches([' ', '\t']);
    let found = if after.trim().is_empty() {
        SnippetLine::Block
    } else {
        let quote = quoted
            .chars()
            .next()
            .filter(|quote| matches!(quote, '"' | '\''))?;
        let name = quoted[1..].trim_end().strip_suffix(quote)?;
        if quoted.len() == after.len() || name.is_empty() || name.contains(quote) {
            return None;
        }
        SnippetLine::Include(name)
    };
    Some(if bare.len() < line.len() {
        SnippetLine::Escaped
    } else {
        found
    })
}

/// `file`, `file:3:5`, `file:1:3,5:6`, `file:section`.
pub(crate) fn snippet_file(written: &str) -> Directive {
    let (path, selection) = snippet_selection(written);
    Directive {
        family: Family::MkDocs,
        path: path.to_owned(),
        selection: Selection {
            without: Some(Marks::Section),
            ..selection
        },
        rendering: Rendering::Text,
    }
}

fn snippet_selection(written: &str) -> (&str, Selection) {
    let is_range = |byte: u8| byte.is_ascii_digit() || b"-:,".contains(&byte);
    let tail = written.bytes().rev().take_while(|&byte| is_range(byte)).count();
    let tail = written.len() - tail;
    if let Some(colon) = written[tail..].find(':') {
        let ranges = written[tail + colon + 1..].trim_end_matches(':');
        let ranges: Vec<String> = ranges.split(',').map(open_end).collect();
        let ranges = ranges.join(",");
        if !ranges.is_empty() {
            let selection = Selection::default().with_ranges(&ranges, parse_ranges(&ranges, ':'));
            return (&written[..tail + colon], selection);
        }
        return (&written[..tail + colon], Selection::default());
    }
    let section = written.rsplit_once(':').filter(|(path, name)| {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let named = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        !path.is_empty() && named && name.bytes().all(is_word)
    });
    match section {
        Some((path, name)) => {
            let piece = Some((&[Marks::Section][..], name.to_owned()));
            (
                path,
                Selection {
                    piece,
                    ..Selection::default()
                },
            )
        }
        None => (written, Selection::default()),
    }
}

/// A single number is where the lines begin; 0 is the first line too.
fn open_end(range: &str) -> String {
    let (first, last) = range.split_once(':').unwrap_or((range, ""));
    if first.is_empty() && last.is_empty() {
        return String::new();
    }
    format!("{first}:{last}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::include::directive::What;
    use crate::include::selection::LineRange;

    fn range(first: impl Into<Option<i64>>, last: impl Into<Option<i64>>) -> LineRange {
        LineRange {
            first: first.into(),
            last: last.into(),
        }
    }

    #[test]
    fn variants_have_ranges_and_titles() {
        let found = variant("{* ../../docs_src/a.py ln[1:3,5] hl[2,6:7] title[\"m[0].py\"] *}").unwrap();
        assert_eq!(found.path, "../../docs_src/a.py");
        assert_eq!(found.selection.ranges, [range(1, 3), range(5, 5)]);
        assert_eq!(found.rendering, Rendering::fence("", "m[0].py"));
        assert!(variant("{* a.py *}").unwrap().selection.ranges.is_empty());
        assert_eq!(
            variant("{* a.py ln[x] *}")
                .unwrap()
                .selection
                .bad_range
                .as_deref(),
            Some("x")
        );
        for line in [
            "{* emphasis *}",
            "{*a.b*} c",
            "{* a.py rest *}",
            "{* *}",
            "{*",
            "{*}",
            "{* a.py ln[1 *}",
        ] {
            assert_eq!(variant(line), None, "{line}");
        }
    }

    #[test]
    fn inline_forms_are_told_from_expressions() {
        let read = |rest| match inline(rest)?.what {
            What::Include(directive) => Some((directive.path, directive.selection.ranges)),
            What::Shown { .. } => None,
        };
        let cases = [
            (
                "{!> ../../docs_src/a.py!} b",
                Some(("../../docs_src/a.py", vec![])),
            ),
            ("{! a.md !}", Some(("a.md", vec![]))),
            (
                "{!a.py [ln:1-3,5.2-6.4]!}",
                Some(("a.py", vec![range(1, 3), range(5, 6)])),
            ),
            ("{!a.py[ln:-3]|utf-8!}", Some(("a.py", vec![range(None, 3)]))),
            (
                "{!a.md!lines=1-2 4}",
                Some(("a.md", vec![range(1, 2), range(4, 4)])),
            ),
            ("{!isOpen && <A/>}", None),
            ("{!a.b}", None),
            ("{!a.md", None),
            ("{!{!a.md!}", None),
            ("{! a b.md !}", None),
        ];
        for (rest, expected) in cases {
            let expected = expected.map(|(path, ranges)| (path.to_owned(), ranges));
            assert_eq!(read(rest), expected, "{rest}");
        }
        assert_eq!(inline("{!a.md!} b").unwrap().length, 8);
    }

    #[test]
    fn snippet_lines_have_any_number_of_dashes() {
        use SnippetLine::{Block, Escaped, Include};
        let cases = [
            ("--8<-- \"a.md\"", Some(Include("a.md"))),
            ("  -8<- 'a b.md:x'  ", Some(Include("a b.md:x"))),
            ("--8<----", Some(Block)),
            ("--8<-- ", Some(Block)),
            (";--8<-- \"a.md\"", Some(Escaped)),
            (" ;;--8<--", Some(Escaped)),
            ("8<-- \"a.md\"", None),
            ("--8<-- a.md", None),
            ("--8<-- \"a.md' ", None),
            ("--8<-- \"a\" \"b\"", None),
            ("--8<-- [start:x]", None),
            ("# --8<-- \"a\"", None),
            ("--8<--\"a\"", None),
            ("--8<-- \"", None),
            ("--8<-- é", None),
        ];
        for (line, expected) in cases {
            assert_eq!(snippet(line), expected, "{line}");
        }
    }

    #[test]
    fn snippet_files_have_ranges_or_a_section() {
        let cases = [
            ("a.md", "a.md", vec![], None),
            ("a.md:3:5", "a.md", vec![range(3, 5)], None),
            ("a.md::5", "a.md", vec![range(None, 5)], None),
            ("a.md:3", "a.md", vec![range(3, None)], None),
            ("a.md:3:", "a.md", vec![range(3, None)], None),
            ("a.md:1:3,5:6", "a.md", vec![range(1, 3), range(5, 6)], None),
            ("a.md:-3:-1", "a.md", vec![range(-3, -1)], None),
            ("a.md:one-2", "a.md", vec![], Some("one-2")),
            ("v1-2", "v1-2", vec![], None),
            ("https://a.b/c.md", "https://a.b/c.md", vec![], None),
            ("a.md:", "a.md", vec![], None),
        ];
        for (written, path, ranges, section) in cases {
            let found = snippet_file(written);
            let name = found.selection.piece.as_ref().map(|(_, name)| name.as_str());
            assert_eq!((found.path.as_str(), name), (path, section), "{written}");
            assert_eq!(found.selection.ranges, ranges, "{written}");
        }
    }
}
