//! The directives in one line of text.
//!
//! In: a line, and whether it is code. Out: its directives in order, apart from those in code spans and comments,
//! which show or hide a directive rather than mean it. Every directive begins with a rare run of characters, so
//! that most lines, and most documents, are passed with one look.

use std::collections::HashMap;
use std::ops::Range;

use crate::fence::after_markers;
use crate::include::directive::{Found, What};
use crate::include::mkdocs::{self, SnippetLine};
use crate::include::roots::Family;
use crate::include::{learn, mdbook, vitepress};

/// What is known of a line beside its text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineContext {
    /// It stands in a fence: only tools that resolve their directives before Markdown is read do so here.
    pub(crate) code: bool,
    /// Where only one tool's directives count.
    pub(crate) only: Option<Family>,
    /// Bytes at the line's start that belong to a comment.
    pub(crate) hidden: usize,
}

impl LineContext {
    pub(crate) fn allows(self, family: Family) -> bool {
        self.only.is_none_or(|only| only == family)
    }
}

/// Whether there may be a directive.
pub(crate) fn has_trigger(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, &byte)| {
        if !matches!(byte, b'{' | b'8' | b'<' | b'@' | b'[' | b':') {
            return false;
        }
        let rest = &bytes[at..];
        match byte {
            b'{' => match rest.get(1) {
                Some(b'*' | b'!') => true,
                Some(b'{') => matches!(rest.get(2), Some(b'#' | b' ' | b'\t')),
                Some(_) => [&b"{literalinclude}"[..], b"{include}", b"{eval-rst}"]
                    .iter()
                    .any(|name| rest.starts_with(name)),
                None => false,
            },
            b'8' => rest.starts_with(b"8<-"),
            b'<' => rest.starts_with(b"<<<"),
            b'@' => rest.starts_with(b"@include:"),
            b'[' => {
                let named = |name: &[u8]| {
                    rest.get(2..2 + name.len())
                        .is_some_and(|n| n.eq_ignore_ascii_case(name))
                };
                rest.get(1) == Some(&b'!') && (named(b"include") || named(b"code-"))
            }
            _ => rest.starts_with(b":::code"),
        }
    })
}

/// Bytes at the line's start that are indentation and markers of quotes and list items.
pub(crate) fn prefix_length(line: &str, code: bool) -> usize {
    let rest = if code {
        line.trim_start_matches([' ', '\t', '>'])
    } else {
        after_markers(line)
    };
    line.len() - rest.len()
}

/// The directives of the line, each with the byte at which it begins.
pub(crate) fn directives(line: &str, context: LineContext) -> Vec<(usize, Found)> {
    if !has_trigger(line) {
        return Vec::new();
    }
    if context.hidden == 0
        && let Some(found) = alone(line, context)
    {
        return vec![found];
    }
    inline(line, context)
}

/// A directive that has the line for itself.
fn alone(line: &str, context: LineContext) -> Option<(usize, Found)> {
    let start = prefix_length(line, context.code);
    let content = line[start..].trim_end();
    if context.allows(Family::MkDocs) {
        let what = match mkdocs::snippet(content) {
            Some(SnippetLine::Include(file)) => Some(What::Include(Box::new(mkdocs::snippet_file(file)))),
            Some(SnippetLine::Escaped) => Some(What::Shown { from: 1 }),
            Some(SnippetLine::Block) | None => None,
        };
        if let Some(what) = what {
            let length = content.len();
            return Some((start, Found { length, what }));
        }
    }
    if context.code {
        return None;
    }
    let directive = mkdocs::variant(content)
        .or_else(|| vitepress::snippet(content))
        .or_else(|| learn::code_line(content))?;
    Some((start, Found::include(content.len(), directive)))
}

fn inline(line: &str, context: LineContext) -> Vec<(usize, Found)> {
    let bytes = line.as_bytes();
    let spans = if context.code {
        Vec::new()
    } else {
        code_spans(line)
    };
    let mut spans = spans.into_iter().peekable();
    let mut directives = Vec::new();
    let mut at = context.hidden;
    while at < bytes.len() {
        while spans.next_if(|span| span.end <= at).is_some() {}
        // mdBook knows no code spans; there an escaped directive is shown as it is meant all the same.
        let in_span = spans.peek().is_some_and(|span| span.contains(&at));
        let rest = || &line[at..];
        let found = match bytes[at] {
            b'\\' if bytes.get(at + 1) == Some(&b'{') => Some(rest())
                .filter(|_| context.allows(Family::MdBook))
                .and_then(mdbook::inline),
            _ if in_span => None,
            b'{' if bytes.get(at + 1) == Some(&b'{') && context.allows(Family::MdBook) => {
                mdbook::inline(rest())
            }
            b'{' if context.allows(Family::MkDocs) => mkdocs::inline(rest()),
            b'[' if !context.code => learn::inline(rest()),
            b'<' if !context.code && rest().starts_with("<!--") => {
                let found = vitepress::comment(rest());
                if found.is_none() {
                    at = rest()
                        .find("-->")
                        .map_or(line.len(), |end| at + end + "-->".len());
                    continue;
                }
                found
            }
            _ => None,
        };
        match found {
            Some(found) => {
                let length = found.length;
                directives.push((at, found));
                at += length;
            }
            None if bytes[at] == b'\\' && bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 2,
            None => at += 1,
        }
    }
    directives
}

/// Where a comment begins that the line does not end.
pub(crate) fn opens_comment(line: &str, hidden: usize) -> Option<usize> {
    line.find("<!--")?;
    let spans = code_spans(line);
    let mut at = hidden;
    while let Some(start) = line[at..].find("<!--").map(|offset| at + offset) {
        let span = spans.partition_point(|span| span.end <= start);
        if let Some(span) = spans.get(span)
            && span.contains(&start)
        {
            at = span.end;
            continue;
        }
        match line[start..].find("-->") {
            Some(end) => at = start + end + "-->".len(),
            None => return Some(start),
        }
    }
    None
}

/// The code spans of the line: a run of backticks up to the next run as long.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    // For each run, the index of the next one as long.
    let mut next_of_length = HashMap::new();
    let mut partners = vec![None; runs.len()];
    for (index, run) in runs.iter().enumerate().rev() {
        partners[index] = next_of_length.insert(run.len(), index);
    }
    let mut spans = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        let run = &runs[index];
        let escaped = run.start > 0 && bytes[run.start - 1] == b'\\' && run.len() == 1;
        match partners[index].filter(|_| !escaped) {
            Some(partner) => {
                spans.push(run.start..runs[partner].end);
                index = partner + 1;
            }
            None => index += 1,
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, context: LineContext) -> Vec<&str> {
        directives(line, context)
            .iter()
            .map(|(at, found)| &line[*at..at + found.length])
            .collect()
    }

    #[test]
    fn directives_are_found_outside_spans_and_comments() {
        let text = LineContext::default();
        let cases: [(&str, &[&str]); 14] = [
            ("{* a.py *}  ", &["{* a.py *}"]),
            ("  - <<< ./a.js", &["<<< ./a.js"]),
            (
                "a {{#include x}} b {{#include y}}",
                &["{{#include x}}", "{{#include y}}"],
            ),
            ("`{{#include x}}` {{#include y}}", &["{{#include y}}"]),
            ("`` ` {{#include x}} `` {! a.md !}", &["{! a.md !}"]),
            ("` {{#include x}}", &["{{#include x}}"]),
            (
                "<!-- {{#include x}} --> [!INCLUDE [a](b.md)]",
                &["[!INCLUDE [a](b.md)]"],
            ),
            ("a <!--@include: ./x.md--> b", &["<!--@include: ./x.md-->"]),
            ("\\[!INCLUDE [a](b.md)]", &[]),
            ("`\\{{#include x}} {{#include y}}`", &["\\{{#include x}}"]),
            ("\\{{#include x}}", &["\\{{#include x}}"]),
            ("a {* a.py *}", &[]),
            ("[!NOTE] é { [! {{ 8 :", &[]),
            (
                "[!code-c[a](b.c)]é[!code-c[a](b.c)]",
                &["[!code-c[a](b.c)]", "[!code-c[a](b.c)]"],
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(found(line, text), expected, "{line}");
        }
    }

    #[test]
    fn in_code_only_preprocessors_count() {
        let code = LineContext {
            code: true,
            ..LineContext::default()
        };
        for line in [
            "{* a.py *}",
            "<<< ./a.js",
            ":::code source=\"a\":::",
            "[!INCLUDE [a](b.md)]",
            "<!--@include: a-->",
        ] {
            assert_eq!(found(line, code), Vec::<&str>::new(), "{line}");
        }
        for line in ["`{{#include x}}`", "# {!> a.py !}", "--8<-- \"a\""] {
            assert_eq!(found(line, code).len(), 1, "{line}");
            let only = Some(Family::VitePress);
            assert!(found(line, LineContext { only, ..code }).is_empty());
        }
    }

    #[test]
    fn comments_may_stay_open() {
        let cases = [
            ("a <!-- b", Some(2)),
            ("a <!-- b -->", None),
            ("`<!--` b", None),
            ("`<!--` <!-- b --> <!--", Some(18)),
            ("a", None),
        ];
        for (line, expected) in cases {
            assert_eq!(opens_comment(line, 0), expected, "{line}");
        }
    }

    #[test]
    fn a_long_line_takes_linear_time() {
        let mut runs = String::new();
        for length in 1..1500 {
            runs.push_str(&"`".repeat(length));
            runs.push(' ');
        }
        let begin = std::time::Instant::now();
        for line in [
            "{!".repeat(300_000),
            "{{#include a".repeat(50_000),
            "[!include[".repeat(50_000),
            "[!include[]( ".repeat(50_000),
            "<!--@include: a".repeat(50_000),
            "<!--@include: a >".repeat(50_000),
            "\\{{#".repeat(100_000),
            "` {{#include a}} `` ".repeat(30_000),
            format!("{{{{#include a}}}} {runs}"),
        ] {
            directives(&line, LineContext::default());
            opens_comment(&line, 0);
        }
        assert!(begin.elapsed().as_secs() < 10);
    }
}
