//! Which lines of a file an include takes.
//!
//! In: the file's text and what the directive asks for. Out: those lines, or why there are none. The steps stand in
//! the order in which Sphinx takes them, the one tool that has all of them: a named piece, an object of Python,
//! the text to begin and to end at, line numbers, indentation.

use crate::include::fault::IncludeFault;
use crate::include::marks::Marks;

/// Stands between pieces of a file that do not touch.
const GAP: &str = "…";

/// Lines by number: from 1, both ends included, negative ones counted from the file's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineRange {
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
}

/// A line that holds this text, and whether that line is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) text: String,
    pub(crate) taken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dedent {
    #[default]
    Keep,
    /// The indentation that all lines share goes.
    Common,
    /// As many characters go from each line.
    By(usize),
}

/// What is taken of a file; by default all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selection {
    /// The forms of marks to look for, the first that has the name wins, and the name.
    pub(crate) piece: Option<(&'static [Marks], String)>,
    /// `Class.method` of a Python file.
    pub(crate) object: Option<String>,
    pub(crate) start: Option<Edge>,
    pub(crate) end: Option<Edge>,
    pub(crate) ranges: Vec<LineRange>,
    /// Ranges as they were written, where they are none.
    pub(crate) bad_range: Option<String>,
    /// Show with a line that something was left out between two ranges.
    pub(crate) gaps: bool,
    /// Leave out the lines of marks of this form, whatever is selected.
    pub(crate) without: Option<Marks>,
    pub(crate) dedent: Dedent,
}

impl Selection {
    /// Sets the ranges from their parsed form; what could not be parsed is told when the file is read.
    pub(crate) fn with_ranges(mut self, written: &str, ranges: Option<Vec<LineRange>>) -> Self {
        match ranges {
            Some(ranges) => self.ranges = ranges,
            None => self.bad_range = Some(written.to_owned()),
        }
        self
    }

    /// The lines that are taken, joined, without a line feed at the end.
    pub(crate) fn select(&self, text: &str) -> Result<String, IncludeFault> {
        if let Some(range) = &self.bad_range {
            return Err(IncludeFault::BadRange { range: range.clone() });
        }
        let mut lines: Vec<&str> = text.lines().collect();
        if let Some((forms, name)) = &self.piece {
            let mut pieces = forms.iter().filter_map(|marks| marks.piece(&lines, name));
            lines = pieces.next().ok_or_else(|| missing(name))?;
        }
        if let Some(path) = &self.object {
            lines = python_object(&lines, path).ok_or_else(|| missing(path))?;
        }
        if let Some(edge) = &self.start {
            let at = line_with(&lines, &edge.text, 0).ok_or_else(|| missing(&edge.text))?;
            lines.drain(..at + usize::from(!edge.taken));
        }
        if let Some(edge) = &self.end {
            // The line to begin at may be the one to end at, but not the one to end before.
            let from = usize::from(!edge.taken && self.start.as_ref().is_some_and(|start| start.taken));
            let at = line_with(&lines, &edge.text, from).ok_or_else(|| missing(&edge.text))?;
            lines.truncate(at + usize::from(edge.taken));
        }
        if !self.ranges.is_empty() {
            lines = self.numbered(&lines)?;
        }
        if let Some(marks) = self.without {
            lines.retain(|line| marks.read(line).is_none());
        }
        let dedented = dedent(&lines, self.dedent);
        let kept = dedented.len()
            - dedented
                .iter()
                .rev()
                .take_while(|line| line.trim().is_empty())
                .count();
        // A file of blank lines alone has no text; a blank line at the end would only end what follows it.
        Ok(dedented[..kept].join("\n"))
    }

    fn numbered<'l>(&self, lines: &[&'l str]) -> Result<Vec<&'l str>, IncludeFault> {
        let mut taken = Vec::new();
        let mut next = None;
        for range in &self.ranges {
            let Some((first, end)) = range.bounds(lines.len()) else {
                continue;
            };
            if self.gaps && next.is_some_and(|next| next != first) {
                taken.push(GAP);
            }
            if taken.len() + (end - first) > LONGEST_SELECTION.max(lines.len()) {
                break;
            }
            taken.extend_from_slice(&lines[first..end]);
            next = Some(end);
        }
        if next.is_none() {
            let shown: Vec<String> = self.ranges.iter().map(LineRange::to_string).collect();
            return Err(IncludeFault::BadRange {
                range: shown.join(","),
            });
        }
        Ok(taken)
    }
}

/// Lines that ranges may come to where the file itself has fewer: they may overlap, and a directive may hold many.
const LONGEST_SELECTION: usize = 100_000;

impl LineRange {
    /// Index of the first line and of the one after the last; none where the file has no such lines.
    fn bounds(self, count: usize) -> Option<(usize, usize)> {
        let total = i64::try_from(count).ok()?;
        let from_start = |number: i64| if number < 0 { number + total + 1 } else { number };
        let first = from_start(self.first.unwrap_or(1)).max(1);
        let last = from_start(self.last.unwrap_or(total)).min(total);
        if first > last {
            return None;
        }
        Some((usize::try_from(first - 1).ok()?, usize::try_from(last).ok()?))
    }
}

impl std::fmt::Display for LineRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |end: Option<i64>| end.map_or_else(String::new, |number| number.to_string());
        if self.first == self.last {
            return formatter.write_str(&shown(self.first));
        }
        write!(formatter, "{}-{}", shown(self.first), shown(self.last))
    }
}

/// `1-3,5,7-` with the given character between the ends; none where it is no such list.
pub(crate) fn parse_ranges(written: &str, between: char) -> Option<Vec<LineRange>> {
    let number = |text: &str| -> Option<Option<i64>> {
        let text = text.trim();
        if text.is_empty() {
            return Some(None);
        }
        text.parse().ok().map(Some)
    };
    let mut ranges = Vec::new();
    for item in written
        .split([',', ';'])
        .map(str::trim)
        .filter(|item| !item.is_empty())
    {
        let (first, last) = if let Some((first, last)) = item.split_once(between) {
            (number(first)?, number(last)?)
        } else {
            let line = number(item)?;
            (line, line)
        };
        // No line has the number 0, and a range of no ends is a slip of the pen.
        if first.is_none() && last.is_none() || last == Some(0) {
            return None;
        }
        ranges.push(LineRange { first, last });
    }
    (!ranges.is_empty()).then_some(ranges)
}

fn missing(name: &str) -> IncludeFault {
    IncludeFault::NoSuchSection {
        name: name.to_owned(),
    }
}

fn line_with(lines: &[&str], text: &str, from: usize) -> Option<usize> {
    let found = lines.iter().skip(from).position(|line| line.contains(text))?;
    Some(from + found)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn dedent<'l>(lines: &[&'l str], dedent: Dedent) -> Vec<&'l str> {
    let by = match dedent {
        Dedent::Keep => return lines.to_vec(),
        Dedent::By(count) => count,
        Dedent::Common => {
            let filled = lines.iter().filter(|line| !line.trim().is_empty());
            filled.map(|line| indentation(line)).min().unwrap_or(0)
        }
    };
    let less = |line: &&'l str| &line[indentation(line).min(by)..];
    lines.iter().map(less).collect()
}

/// The lines of a class or function, decorators included, found by its indentation.
fn python_object<'l>(lines: &[&'l str], path: &str) -> Option<Vec<&'l str>> {
    let (mut from, mut to) = (0, lines.len());
    for (depth, name) in path.split('.').enumerate() {
        // What is inside a class begins after the line that names it.
        let inside = if depth == 0 {
            from
        } else {
            after_definition(lines, from, to)?
        };
        // The outermost one is meant: a method may have a function's name.
        let named = (inside..to).filter(|&at| defined_name(lines[at]) == Some(name));
        let found = named.min_by_key(|&at| indentation(lines[at]))?;
        let indent = indentation(lines[found]);
        to = object_end(lines, found, to);
        from = found;
        while from > inside {
            let above = lines[from - 1];
            if !(indentation(above) == indent && above.trim_start().starts_with('@')) {
                break;
            }
            from -= 1;
        }
    }
    Some(lines[from..to].to_vec())
}

fn after_definition(lines: &[&str], from: usize, to: usize) -> Option<usize> {
    let named = (from..to).find(|&at| defined_name(lines[at]).is_some())?;
    Some(named + 1)
}

fn defined_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("async ").map_or(line, str::trim_start);
    let after = line
        .strip_prefix("def ")
        .or_else(|| line.strip_prefix("class "))?
        .trim_start();
    let end = after
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(after.len());
    Some(&after[..end])
}

/// The first line after the object that begins at `start`: the next filled one that is indented no deeper.
fn object_end(lines: &[&str], start: usize, to: usize) -> usize {
    let indent = indentation(lines[start]);
    let mut end = start + 1;
    let mut quote = None;
    for (at, line) in lines.iter().enumerate().take(to).skip(start) {
        let closes_signature = line.trim_start().starts_with([')', ']', '}', '#']);
        let blank = line.trim().is_empty();
        if at > start && quote.is_none() && !blank && indentation(line) <= indent && !closes_signature {
            break;
        }
        quote = quote_after(line, quote);
        if !blank
            && (indentation(line) > indent
                || at == start
                || quote.is_some()
                || !line.trim_start().starts_with('#'))
        {
            end = at + 1;
        }
    }
    end
}

/// The triple quote that is open after this line.
fn quote_after<'q>(line: &str, mut open: Option<&'q str>) -> Option<&'q str> {
    let mut rest = line;
    loop {
        if let Some(quote) = open {
            let Some(at) = rest.find(quote) else {
                return open;
            };
            rest = &rest[at + quote.len()..];
            open = None;
        } else {
            let quotes = ["\"\"\"", "'''"].into_iter();
            let first = quotes.filter_map(|quote| Some((rest.find(quote)?, quote))).min();
            let (at, quote) = first.filter(|(at, _)| !rest[..*at].contains('#'))?;
            rest = &rest[at + quote.len()..];
            open = Some(quote);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(written: &str) -> Selection {
        Selection {
            gaps: true,
            ..Selection::default().with_ranges(written, parse_ranges(written, ':'))
        }
    }

    #[test]
    fn lines_are_taken_by_number() {
        let text = "1\n2\n3\n4\n5\n";
        let cases = [
            ("2", Some("2")),
            ("1:3", Some("1\n2\n3")),
            ("1:2,4", Some("1\n2\n…\n4")),
            ("1:2,3", Some("1\n2\n3")),
            ("4:", Some("4\n5")),
            (":2", Some("1\n2")),
            ("-2:", Some("4\n5")),
            ("2:-4", Some("2")),
            ("4:99", Some("4\n5")),
            ("9:12", None),
            ("3:2", None),
            ("a:b", None),
            (":", None),
            ("1:2:3", None),
        ];
        for (written, expected) in cases {
            let found = selection(written).select(text);
            match expected {
                Some(expected) => assert_eq!(found.as_deref(), Ok(expected), "{written}"),
                None => assert!(matches!(found, Err(IncludeFault::BadRange { .. })), "{written}"),
            }
        }
    }

    #[test]
    fn texts_and_indentation_bound_a_piece() {
        let text = "a\n  begin x\n    one\n  two\n  end\nb\n\n";
        let edge = |text: &str, taken| {
            Some(Edge {
                text: text.to_owned(),
                taken,
            })
        };
        let cases = [
            (
                edge("begin", false),
                edge("end", false),
                Dedent::Keep,
                "    one\n  two",
            ),
            (
                edge("begin", false),
                edge("end", false),
                Dedent::Common,
                "  one\ntwo",
            ),
            (
                edge("begin", true),
                edge("end", true),
                Dedent::By(1),
                " begin x\n   one\n two\n end",
            ),
            (None, edge("begin", false), Dedent::Keep, "a"),
            (edge("end", false), None, Dedent::Keep, "b"),
        ];
        for (start, end, dedent, expected) in cases {
            let selection = Selection {
                start,
                end,
                dedent,
                ..Selection::default()
            };
            assert_eq!(selection.select(text).as_deref(), Ok(expected));
        }
        let selection = Selection {
            end: edge("nowhere", false),
            ..Selection::default()
        };
        let missing = IncludeFault::NoSuchSection {
            name: "nowhere".to_owned(),
        };
        assert_eq!(selection.select(text), Err(missing));
    }

    #[test]
    fn objects_of_python_are_found_by_indentation() {
        let text = "import a\n\n@once\nclass A(B):\n    x = 1\n\n    @property\n    async def f(\n        self,\n    ):\n        \"\"\"T\ntext\n\"\"\"\n        return 1\n\n    def g(self): pass\n\n# after\ndef f():\n    pass\n";
        let object = |name: &str| {
            let selection = Selection {
                object: Some(name.to_owned()),
                dedent: Dedent::Common,
                ..Selection::default()
            };
            selection.select(text)
        };
        assert_eq!(object("f").as_deref(), Ok("def f():\n    pass"));
        assert_eq!(object("A.g").as_deref(), Ok("def g(self): pass"));
        let method = object("A.f").unwrap();
        assert!(
            method.starts_with("@property") || method.contains("async def f("),
            "{method}"
        );
        assert!(method.ends_with("return 1"), "{method}");
        let class = object("A").unwrap();
        assert!(class.starts_with("@once\nclass A(B):") && class.ends_with("def g(self): pass"));
        assert!(object("A.h").is_err() && object("g.x").is_err());
    }
}
