//! Directives of `MyST` and Sphinx: `literalinclude` and `include` as fences, and in fences of reStructuredText.
//!
//! In: the lines from a fence on. Out: how many lines the fence has, and the pieces that stand in its place. The
//! body of the first two is options alone; a fence with anything else in it is no directive.

use crate::fence::{self, Fence, after_markers};
use crate::include::directive::{Directive, Rendering};
use crate::include::roots::Family;
use crate::include::selection::{Dedent, Edge, LineRange, Selection, parse_ranges};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fenced<'l> {
    /// Lines, the fence's own included.
    pub(crate) length: usize,
    pub(crate) pieces: Vec<Piece<'l>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'l> {
    Include(Box<Directive>),
    /// Lines that stay in a fence of their own.
    Lines(Vec<&'l str>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Literal,
    Text,
}

/// The directive that the fence at the first of these lines is.
pub(crate) fn fenced<'l>(lines: &[&'l str]) -> Option<Fenced<'l>> {
    let opener = after_markers(lines.first()?.trim_end());
    let character = *opener.as_bytes().first().filter(|byte| b"`~:".contains(byte))?;
    let length = opener.bytes().take_while(|&byte| byte == character).count();
    let info = opener[length..].trim();
    if length < 3 || !info.starts_with('{') {
        return None;
    }
    let (name, path) = info[1..].split_once('}')?;
    let open = Fence { character, length };
    let path = path.trim();
    match name {
        "literalinclude" if !path.is_empty() => block(lines, open, Kind::Literal, path),
        "include" if !path.is_empty() => block(lines, open, Kind::Text, path),
        "eval-rst" if character != b':' => restructured(lines, open),
        _ => None,
    }
}

fn block<'l>(lines: &[&'l str], open: Fence, kind: Kind, path: &str) -> Option<Fenced<'l>> {
    let mut options = Options::default();
    let mut in_dashes = false;
    for (at, line) in lines.iter().enumerate().skip(1) {
        if fence::closes(line, open) {
            let pieces = vec![Piece::Include(Box::new(options.directive(kind, path)))];
            let length = at + 1;
            return Some(Fenced { length, pieces });
        }
        let text = line.trim_start_matches([' ', '\t', '>']).trim_end();
        if text == "---" {
            in_dashes = !in_dashes;
        } else if in_dashes {
            let (name, value) = text.split_once(':')?;
            options.set(name, value);
        } else if !text.is_empty() {
            options.read(text)?;
        }
    }
    None
}

/// The includes of a fence of reStructuredText, and what stands between them.
fn restructured<'l>(lines: &[&'l str], open: Fence) -> Option<Fenced<'l>> {
    let end = (1..lines.len()).find(|&at| fence::closes(lines[at], open))?;
    let mut pieces = Vec::new();
    let mut between = Vec::new();
    let mut at = 1;
    while at < end {
        let line = lines[at];
        at += 1;
        let text = line.trim();
        let literal = text
            .strip_prefix(".. literalinclude::")
            .map(|path| (Kind::Literal, path.trim()));
        let include = || {
            text.strip_prefix(".. include::")
                .map(|path| (Kind::Text, path.trim()))
        };
        let found = literal.or_else(include).filter(|(_, path)| !path.is_empty());
        let Some((kind, path)) = found else {
            between.push(line);
            continue;
        };
        let mut options = Options::default();
        while at < end && options.read(lines[at].trim()).is_some() {
            at += 1;
        }
        push_lines(&mut pieces, &mut between);
        pieces.push(Piece::Include(Box::new(options.directive(kind, path))));
    }
    push_lines(&mut pieces, &mut between);
    let found = pieces.iter().any(|piece| matches!(piece, Piece::Include(_)));
    found.then_some(Fenced {
        length: end + 1,
        pieces,
    })
}

fn push_lines<'l>(pieces: &mut Vec<Piece<'l>>, between: &mut Vec<&'l str>) {
    let lines = std::mem::take(between);
    if lines.iter().any(|line| !line.trim().is_empty()) {
        pieces.push(Piece::Lines(lines));
    }
}

#[derive(Default)]
struct Options {
    selection: Selection,
    language: String,
    caption: String,
    /// An `include` whose text is shown as code.
    literal: bool,
}

impl Options {
    /// `:name: value`
    fn read(&mut self, line: &str) -> Option<()> {
        let (name, value) = line.strip_prefix(':')?.split_once(':')?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_name) {
            return None;
        }
        self.set(name, value);
        Some(())
    }

    fn set(&mut self, name: &str, value: &str) {
        let value = value.trim();
        let value = match value.as_bytes() {
            [b'"', .., b'"'] | [b'\'', .., b'\''] => &value[1..value.len() - 1],
            _ => value,
        };
        let edge = |taken| {
            let text = value.to_owned();
            (!value.is_empty()).then_some(Edge { text, taken })
        };
        match name.trim() {
            "lines" => {
                let selection = std::mem::take(&mut self.selection);
                self.selection = selection.with_ranges(value, parse_ranges(value, '-'));
            }
            // Lines from 0, the last one not taken.
            "start-line" => self.bound(value, |range, number| {
                range.first = Some(number + i64::from(number >= 0));
            }),
            "end-line" => self.bound(value, |range, number| {
                range.last = Some(number - i64::from(number < 0));
            }),
            "start-after" => self.selection.start = edge(false),
            "start-at" => self.selection.start = edge(true),
            "end-before" => self.selection.end = edge(false),
            "end-at" => self.selection.end = edge(true),
            "pyobject" => self.selection.object = (!value.is_empty()).then(|| value.to_owned()),
            "dedent" => {
                self.selection.dedent = value.parse().map_or(Dedent::Common, Dedent::By);
            }
            "language" | "lang" => value.clone_into(&mut self.language),
            "code" => {
                value.clone_into(&mut self.language);
                self.literal = true;
            }
            "literal" => self.literal = true,
            "caption" => value.clone_into(&mut self.caption),
            _ => {}
        }
    }

    fn bound(&mut self, value: &str, set: impl FnOnce(&mut LineRange, i64)) {
        let ranges = &mut self.selection.ranges;
        let whole = LineRange {
            first: None,
            last: None,
        };
        let mut range = ranges.pop().unwrap_or(whole);
        match value.parse::<i32>() {
            Ok(number) => set(&mut range, number.into()),
            Err(_) => self.selection.bad_range = Some(value.to_owned()),
        }
        ranges.push(range);
    }

    fn directive(self, kind: Kind, path: &str) -> Directive {
        let rendering = if kind == Kind::Literal || self.literal {
            Rendering::fence(&self.language, &self.caption)
        } else {
            Rendering::Text
        };
        Directive {
            family: Family::Myst,
            path: path.to_owned(),
            selection: self.selection,
            rendering,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(usize, Vec<String>)> {
        let lines: Vec<&str> = text.lines().collect();
        let found = fenced(&lines)?;
        let pieces = found.pieces.iter().map(|piece| match piece {
            Piece::Include(directive) => format!("{} {:?}", directive.path, directive.rendering),
            Piece::Lines(lines) => lines.join("|"),
        });
        Some((found.length, pieces.collect()))
    }

    fn only(text: &str) -> Directive {
        let lines: Vec<&str> = text.lines().collect();
        match fenced(&lines).unwrap().pieces.pop() {
            Some(Piece::Include(directive)) => *directive,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fences_of_any_character_are_directives() {
        for (open, close) in [
            ("```", "```"),
            ("~~~~", "~~~~"),
            (":::", ":::"),
            ("- ```", "  ```"),
            ("> ```", "> ```"),
        ] {
            let text = format!("{open}{{literalinclude}} a.py\n{close}\nb");
            let expected = format!("a.py {:?}", Rendering::fence("", ""));
            assert_eq!(read(&text), Some((2, vec![expected])), "{open}");
        }
        for text in [
            "```{literalinclude} a.py",
            "```{literalinclude}\n```",
            "```{literalinclude} a.py\nbody\n```",
            "```{note} a.py\n```",
            "```python\n```",
            "``{include} a\n``",
            "é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn options_say_what_is_taken() {
        let found = only(
            "```{literalinclude} a.py\n:lines: 1-3,7-\n:start-after: \"begin it\"\n:end-at: end\n:pyobject: A.b\n:dedent: 4\n\n:language: py3\n:caption: It\n:linenos:\n```\n",
        );
        let selection = &found.selection;
        assert_eq!(selection.ranges.len(), 2);
        assert_eq!(selection.object.as_deref(), Some("A.b"));
        assert_eq!(selection.dedent, Dedent::By(4));
        let edge = |text: &str, taken| {
            let text = text.to_owned();
            Some(Edge { text, taken })
        };
        assert_eq!(
            (&selection.start, &selection.end),
            (&edge("begin it", false), &edge("end", true))
        );
        assert_eq!(found.rendering, Rendering::fence("py3", "It"));
        let found = only("```{include} a.md\n:start-line: 1\n:end-line: -1\n```");
        assert_eq!(found.selection.select("1\n2\n3\n4\n").as_deref(), Ok("2\n3"));
        assert_eq!(found.rendering, Rendering::Text);
        let found = only("```{include} a.md\n:start-line: 2\n:end-line: 3\n```");
        assert_eq!(found.selection.select("1\n2\n3\n4\n").as_deref(), Ok("3"));
        let found = only("```{include} a.py\n---\ncode: python\n---\n```");
        assert_eq!(found.rendering, Rendering::fence("python", ""));
    }

    #[test]
    fn restructured_text_keeps_what_is_no_include() {
        let found = read(
            "```{eval-rst}\n.. note:: a\n\n.. literalinclude:: a.py\n   :language: python\n   :lines: 2\n\ntail\n.. include:: b.rst\n```\nrest",
        );
        let expected = vec![
            ".. note:: a|".to_owned(),
            format!("a.py {:?}", Rendering::fence("python", "")),
            "|tail".to_owned(),
            format!("b.rst {:?}", Rendering::Text),
        ];
        assert_eq!(found, Some((10, expected)));
        assert_eq!(read("```{eval-rst}\n.. note:: a\n```"), None);
    }
}
