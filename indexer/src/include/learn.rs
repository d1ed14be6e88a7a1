//! Directives of Microsoft Learn: `[!INCLUDE [title](file.md)]`, `:::code source="file.cs" …:::`,
//! `[!code-csharp[title](file.cs?name=id&range=1-3)]`.

use crate::include::directive::{Directive, Found, Rendering};
use crate::include::marks::Marks;
use crate::include::roots::Family;
use crate::include::selection::{Dedent, Selection, parse_ranges};

const ID_MARKS: &[Marks] = &[Marks::Tag, Marks::Region];

/// `:::code …:::`, given the line without its indentation.
pub(crate) fn code_line(line: &str) -> Option<Directive> {
    let rest = line.trim_end().strip_prefix(":::code")?;
    let mut rest = rest
        .strip_suffix(":::")
        .filter(|rest| rest.starts_with([' ', '\t']))?;
    let mut code = Code::default();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let (value, after) = after[1..].split_once(quote)?;
        code.set(&name.trim().to_ascii_lowercase(), value);
        rest = after;
    }
    code.directive()
}

/// What both forms of code say.
#[derive(Default)]
struct Code<'c> {
    source: &'c str,
    language: &'c str,
    range: &'c str,
    id: &'c str,
}

impl<'c> Code<'c> {
    fn set(&mut self, name: &str, value: &'c str) {
        match name {
            "source" => self.source = value,
            "language" => self.language = value,
            "range" => self.range = value,
            "id" | "name" => self.id = value,
            _ => {}
        }
    }

    fn directive(self) -> Option<Directive> {
        if self.source.trim().is_empty() {
            return None;
        }
        let mut selection = Selection {
            piece: (!self.id.is_empty()).then(|| (ID_MARKS, self.id.to_owned())),
            dedent: Dedent::Common,
            ..Selection::default()
        };
        if !self.range.is_empty() {
            selection = selection.with_ranges(self.range, parse_ranges(self.range, '-'));
        }
        Some(Directive {
            family: Family::Learn,
            path: self.source.trim().to_owned(),
            selection,
            rendering: Rendering::fence(&self.language.to_ascii_lowercase(), ""),
        })
    }
}

/// `[!INCLUDE [title](file.md)]` or `[!code-lang[title](file)]` at the start of `rest`.
pub(crate) fn inline(rest: &str) -> Option<Found> {
    let inner = rest.strip_prefix("[!")?;
    let title = inner
        .find(['[', ']', '\n'])
        .filter(|&at| inner[at..].starts_with('['))?;
    let kind = inner[..title].trim().to_ascii_lowercase();
    let after = &inner[title + 1..];
    let after = &after[after.find([']', '[', '\n'])?..];
    let target = after.strip_prefix("](")?;
    let end = target.find([')', '(', '[', '\n'])?;
    let tail = target[end..]
        .strip_prefix(')')?
        .trim_start_matches(' ')
        .strip_prefix(']')?;
    let length = rest.len() - tail.len();
    // A title in quotes may follow the path.
    let target = target[..end].split(['"', '\'']).next().unwrap_or_default().trim();
    let directive = if kind == "include" {
        (!target.is_empty()).then(|| Directive {
            family: Family::Learn,
            path: target.to_owned(),
            selection: Selection::default(),
            rendering: Rendering::Text,
        })
    } else {
        let language = kind.strip_prefix("code")?.strip_prefix('-')?;
        code_link(target, language)
    };
    Some(Found::include(length, directive?))
}

/// `file.cs`, `file.cs?name=id&range=1-3`, `file.cs#id`, `file.cs#L1-L3`.
fn code_link(target: &str, language: &str) -> Option<Directive> {
    let (source, fragment) = target.split_once('#').unwrap_or((target, ""));
    let (source, query) = source.split_once('?').unwrap_or((source, ""));
    let mut code = Code {
        source,
        language,
        ..Code::default()
    };
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        code.set(&name.to_ascii_lowercase(), value);
    }
    // The query cannot name another file.
    code.source = source;
    let lines = fragment.replace(['L', 'l'], "");
    if fragment.starts_with(['L', 'l']) && parse_ranges(&lines, '-').is_some() {
        code.range = &lines;
    } else if !fragment.is_empty() {
        code.id = fragment;
    }
    code.directive()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::include::directive::What;

    fn summary(found: &Directive) -> (String, String, String, Rendering) {
        let name = found.selection.piece.as_ref().map(|(_, name)| name.clone());
        let ranges: Vec<_> = found.selection.ranges.iter().map(ToString::to_string).collect();
        let path = found.path.clone();
        (
            path,
            name.unwrap_or_default(),
            ranges.join(","),
            found.rendering.clone(),
        )
    }

    fn expected(
        path: &str,
        id: &str,
        ranges: &str,
        rendering: Rendering,
    ) -> (String, String, String, Rendering) {
        (path.to_owned(), id.to_owned(), ranges.to_owned(), rendering)
    }

    #[test]
    fn code_lines_have_attributes() {
        let csharp = || Rendering::fence("csharp", "");
        let cases = [
            (
                ":::code language=\"csharp\" source=\"x.cs\" range=\"2-4,6\" highlight=\"1\":::",
                expected("x.cs", "", "2-4,6", csharp()),
            ),
            (
                ":::code source=\"~/../s/x.cs\" id=\"snippet1\" language=\"CSharp\" :::",
                expected("~/../s/x.cs", "snippet1", "", csharp()),
            ),
            (
                ":::code source='x.cs' :::",
                expected("x.cs", "", "", Rendering::fence("", "")),
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(summary(&code_line(line).unwrap()), expected, "{line}");
        }
        for line in [
            ":::code",
            ":::code:::",
            ":::code language=\"a\":::",
            ":::codex source=\"a\":::",
            ":::code source=a:::",
        ] {
            assert_eq!(code_line(line), None, "{line}");
        }
    }

    #[test]
    fn links_include_text_or_code() {
        let python = || Rendering::fence("python", "");
        let cases = [
            (
                "[!INCLUDE [a title](../a.md)] x",
                expected("../a.md", "", "", Rendering::Text),
            ),
            (
                "[!include[](~/a.md \"t\")]",
                expected("~/a.md", "", "", Rendering::Text),
            ),
            (
                "[!code-python[t](x.py?name=s1&range=1-3,5-)]",
                expected("x.py", "s1", "1-3,5-", python()),
            ),
            (
                "[!code-python[](x.py#L2-L10)]",
                expected("x.py", "", "2-10", python()),
            ),
            (
                "[!code-Python[](x.py#Logo)]",
                expected("x.py", "Logo", "", python()),
            ),
            (
                "[!code-python[](x.py?source=y.py)]",
                expected("x.py", "", "", python()),
            ),
        ];
        for (rest, expected) in cases {
            let What::Include(directive) = inline(rest).unwrap().what else {
                unreachable!()
            };
            assert_eq!(summary(&directive), expected, "{rest}");
        }
        assert_eq!(inline("[!INCLUDE [a](b.md)] x").unwrap().length, 20);
        for rest in [
            "[!NOTE]",
            "[!INCLUDE [a]",
            "[!INCLUDE [a](b",
            "[!NOTE [a](b)]",
            "[!INCLUDE [a]()]",
            "[!INCLUDE [[a](b)]",
        ] {
            assert_eq!(inline(rest), None, "{rest}");
        }
    }
}
