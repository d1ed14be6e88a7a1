//! Directives of mdBook: `{{#include file:2:10}}`, `{{#rustdoc_include file:anchor}}`, `{{#playground file.rs}}`.

use crate::include::directive::{Directive, Found, Rendering, What};
use crate::include::marks::Marks;
use crate::include::roots::Family;
use crate::include::selection::{LineRange, Selection};

/// The directive at the start of `rest`, which may be escaped with a backslash.
pub(crate) fn inline(rest: &str) -> Option<Found> {
    let escaped = rest.starts_with('\\');
    let start = usize::from(escaped);
    let inner = rest[start..].strip_prefix("{{")?;
    let end = inner
        .find(['}', '{', '\n'])
        .filter(|&at| inner[at..].starts_with("}}"))?;
    let length = start + "{{".len() + end + "}}".len();
    let (name, argument) = inner[..end]
        .trim_start()
        .strip_prefix('#')?
        .split_once(char::is_whitespace)?;
    let argument = argument.trim();
    if argument.is_empty() {
        return None;
    }
    let directive = match name {
        "include" | "rustdoc_include" => include(argument),
        "playground" | "playpen" => playground(argument)?,
        _ => return None,
    };
    if escaped {
        let what = What::Shown { from: start };
        return Some(Found { length, what });
    }
    Some(Found::include(length, directive))
}

fn include(argument: &str) -> Directive {
    let mut parts = argument.splitn(3, ':');
    let path = parts.next().unwrap_or_default().trim();
    let (first, last) = (parts.next().map(str::trim), parts.next().map(str::trim));
    let mut selection = Selection::default();
    match (first, first.map(str::parse::<i64>)) {
        (None | Some(""), _) if last.is_none_or(str::is_empty) => {}
        (Some(name), Some(Err(_))) if !name.is_empty() => {
            selection.piece = Some((&[Marks::Anchor], name.to_owned()));
        }
        (_, number) => {
            let first = number.and_then(Result::ok);
            let range = match last {
                None => Some(LineRange { first, last: first }),
                Some("") => Some(LineRange { first, last: None }),
                Some(last) => {
                    let last = last.parse().ok();
                    last.map(|last| LineRange {
                        first,
                        last: Some(last),
                    })
                }
            };
            let written = argument[path.len()..].trim_start_matches(':');
            selection = selection.with_ranges(written, range.map(|range| vec![range]));
        }
    }
    Directive {
        family: Family::MdBook,
        path: path.to_owned(),
        selection,
        rendering: Rendering::Text,
    }
}

fn playground(argument: &str) -> Option<Directive> {
    let path = argument.split_whitespace().next()?;
    Some(Directive {
        family: Family::MdBook,
        path: path.to_owned(),
        selection: Selection::default(),
        rendering: Rendering::fence("rust", ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &str) -> Option<Directive> {
        match inline(rest)?.what {
            What::Include(directive) => Some(*directive),
            What::Shown { .. } => None,
        }
    }

    #[test]
    fn arguments_are_a_path_and_lines_or_an_anchor() {
        let range = |first, last| vec![LineRange { first, last }];
        let cases = [
            ("{{#include a.rs}}", vec![], None),
            ("{{ #include  a.rs }}", vec![], None),
            ("{{#include a.rs:2:10}}", range(Some(2), Some(10)), None),
            ("{{#include a.rs:2}}", range(Some(2), Some(2)), None),
            ("{{#include a.rs:2:}}", range(Some(2), None), None),
            ("{{#include a.rs::10}}", range(None, Some(10)), None),
            ("{{#include a.rs:}}", vec![], None),
            ("{{#include a.rs::}}", vec![], None),
            ("{{#rustdoc_include a.rs:here}}", vec![], Some("here")),
        ];
        for (rest, ranges, anchor) in cases {
            let found = read(rest).unwrap();
            let name = found.selection.piece.as_ref().map(|(_, name)| name.as_str());
            assert_eq!((found.path.as_str(), name), ("a.rs", anchor), "{rest}");
            assert_eq!(found.selection.ranges, ranges, "{rest}");
            assert_eq!(found.rendering, Rendering::Text);
        }
        assert_eq!(
            read("{{#include a:1:x}}").unwrap().selection.bad_range.as_deref(),
            Some("1:x")
        );
        let playground = read("{{#playground ex.rs editable}}").unwrap();
        assert_eq!(playground.path, "ex.rs");
        assert_eq!(playground.rendering, Rendering::fence("rust", ""));
    }

    #[test]
    fn other_helpers_are_left_and_escapes_are_shown() {
        for rest in [
            "{{#title x}}",
            "{{#if a}}",
            "{{#include}}",
            "{{#include a",
            "{{#include {a}}",
            "{#include a}",
        ] {
            assert_eq!(inline(rest), None, "{rest}");
        }
        let found = inline("\\{{#include a.rs}} b").unwrap();
        assert_eq!((found.length, found.what), (18, What::Shown { from: 1 }));
    }
}
