//! Lines of an included file that mark where a named piece of it begins and ends.
//!
//! In: a line. Out: the mark that it is, in one of four forms: `--8<-- [start:x]` of MkDocs snippets, `ANCHOR: x` of
//! mdBook, `#region x` of editors (VitePress), `<x>` in a comment (Microsoft Learn). The lines of marks are never
//! part of the piece.

/// Which form of mark names the piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    Section,
    Anchor,
    Region,
    Tag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark<'l> {
    Start(&'l str),
    /// The name is empty where the form lets it be left out.
    End(&'l str),
}

/// What comments begin with in common languages. Longer ones stand before their own beginnings.
const COMMENT_OPENERS: [&str; 16] = [
    "<!--", "{/*", "/**", "/*", "///", "//", "(*", "{-", "--", "::", "##", "#", ";", "%", "'", "\"",
];
const COMMENT_CLOSERS: [&str; 6] = ["-->", "*/}", "*/", "*)", "-}", "\""];

impl Marks {
    pub(crate) fn read(self, line: &str) -> Option<Mark<'_>> {
        match self {
            Self::Section => section(line),
            Self::Anchor => anchor(line),
            Self::Region => region(line),
            Self::Tag => tag(line),
        }
    }

    /// Whether the names of this form are the same in any case.
    fn ignores_case(self) -> bool {
        matches!(self, Self::Section | Self::Tag)
    }

    fn same(self, one: &str, other: &str) -> bool {
        one == other || (self.ignores_case() && one.eq_ignore_ascii_case(other))
    }

    /// The lines between the first marks of that name, without marks of other pieces; without an end, all that follow.
    pub(crate) fn piece<'l>(self, lines: &[&'l str], name: &str) -> Option<Vec<&'l str>> {
        let starts =
            |line: &&str| matches!(self.read(line), Some(Mark::Start(found)) if self.same(found, name));
        let start = lines.iter().position(starts)?;
        let mut piece = Vec::new();
        let mut unnamed_inside = 0_usize;
        for line in &lines[start + 1..] {
            match self.read(line) {
                None => piece.push(*line),
                Some(Mark::Start(_)) => unnamed_inside += 1,
                Some(Mark::End(end)) if self.same(end, name) => break,
                Some(Mark::End("")) if unnamed_inside == 0 => break,
                Some(Mark::End(_)) => unnamed_inside = unnamed_inside.saturating_sub(1),
            }
        }
        Some(piece)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// `--8<-- [start:name]` anywhere in the line.
fn section(line: &str) -> Option<Mark<'_>> {
    let after = &line[line.find("-8<-")? + "-8<-".len()..];
    let after = after.trim_start_matches('-').trim_start().strip_prefix('[')?;
    let (inner, _) = after.split_once(']')?;
    let (kind, name) = inner.split_once(':')?;
    let (kind, name) = (kind.trim(), name.trim());
    if !is_name(name) {
        return None;
    }
    if kind.eq_ignore_ascii_case("start") {
        Some(Mark::Start(name))
    } else {
        kind.eq_ignore_ascii_case("end").then_some(Mark::End(name))
    }
}

/// `ANCHOR: name` or `ANCHOR_END: name` anywhere in the line.
fn anchor(line: &str) -> Option<Mark<'_>> {
    let after = &line[line.find("ANCHOR")? + "ANCHOR".len()..];
    let (rest, is_end) = match after.strip_prefix("_END") {
        Some(rest) => (rest, true),
        None => (after, false),
    };
    let rest = rest.strip_prefix(':')?.trim_start();
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')))
        .unwrap_or(rest.len());
    let name = &rest[..end];
    let mark = if is_end {
        Mark::End(name)
    } else {
        Mark::Start(name)
    };
    (!name.is_empty()).then_some(mark)
}

/// The text of a line that is a comment, without its openers and closers; the line itself where it is none.
fn comment(line: &str) -> (&str, bool) {
    let mut text = line.trim();
    let mut found = false;
    while let Some(rest) = COMMENT_OPENERS
        .iter()
        .find_map(|opener| text.strip_prefix(opener))
    {
        text = rest.trim_start();
        found = true;
    }
    if text
        .get(..4)
        .is_some_and(|word| word.eq_ignore_ascii_case("rem "))
    {
        text = text[4..].trim_start();
        found = true;
    }
    while let Some(rest) = COMMENT_CLOSERS
        .iter()
        .find_map(|closer| text.strip_suffix(closer))
    {
        text = rest.trim_end();
    }
    (text.trim_start_matches('#'), found)
}

/// `#region name` and `#endregion`, behind whatever opens a comment. `#` counts as one: it is the C# form.
fn region(line: &str) -> Option<Mark<'_>> {
    let (text, is_comment) = comment(line);
    if !is_comment {
        return None;
    }
    let word_end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, name) = (&text[..word_end], text[word_end..].trim());
    if word.eq_ignore_ascii_case("end") && name.get(..6).is_some_and(|n| n.eq_ignore_ascii_case("region")) {
        return Some(Mark::End(first_word(&name[6..])));
    }
    if word.eq_ignore_ascii_case("region") {
        return Some(Mark::Start(first_word(name)));
    }
    word.eq_ignore_ascii_case("endregion")
        .then(|| Mark::End(first_word(name)))
}

fn first_word(text: &str) -> &str {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.trim_matches('"')
}

/// `<name>` and `</name>` alone in a comment.
fn tag(line: &str) -> Option<Mark<'_>> {
    let (text, is_comment) = comment(line);
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    let (name, is_end) = match inner.strip_prefix('/') {
        Some(name) => (name, true),
        None => (inner, false),
    };
    let mark = if is_end {
        Mark::End(name)
    } else {
        Mark::Start(name)
    };
    (is_comment && is_name(name)).then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_in_the_comments_of_many_languages() {
        let start = |name| Some(Mark::Start(name));
        let end = |name| Some(Mark::End(name));
        let cases = [
            (Marks::Section, "# --8<-- [start:one]", start("one")),
            (Marks::Section, "<!-- -8<- [ END : one_2 ] -->", end("one_2")),
            (Marks::Section, "--8<-- \"file\"", None),
            (Marks::Anchor, "// ANCHOR: all", start("all")),
            (Marks::Anchor, "    // ANCHOR_END: here-1 */", end("here-1")),
            (Marks::Anchor, "/* ANCHOR all */", None),
            (Marks::Region, "// #region setup", start("setup")),
            (Marks::Region, "//#endregion setup", end("setup")),
            (Marks::Region, "#region setup", start("setup")),
            (Marks::Region, "# endregion", end("")),
            (Marks::Region, "<!-- #region a-b -->", start("a-b")),
            (Marks::Region, "/* #endregion */", end("")),
            (Marks::Region, "#Region \"x\"", start("x")),
            (Marks::Region, "#End Region", end("")),
            (Marks::Region, "::#region x", start("x")),
            (Marks::Region, "REM #region x", start("x")),
            (Marks::Region, "region = 1", None),
            (Marks::Region, "# regional office", None),
            (Marks::Tag, "//<Snippet1>", start("Snippet1")),
            (Marks::Tag, "<!-- </snippet1> -->", end("snippet1")),
            (Marks::Tag, "# <a.b>", start("a.b")),
            (Marks::Tag, "<div>", None),
            (Marks::Tag, "' see <a> and <b>", None),
        ];
        for (marks, line, expected) in cases {
            assert_eq!(marks.read(line), expected, "{line}");
        }
    }

    #[test]
    fn a_piece_leaves_out_every_mark() {
        let lines = [
            "a",
            "#region x",
            "b",
            "#region y",
            "c",
            "#endregion",
            "d",
            "#endregion",
            "e",
        ];
        assert_eq!(Marks::Region.piece(&lines, "x").unwrap(), ["b", "c", "d"]);
        assert_eq!(Marks::Region.piece(&lines, "y").unwrap(), ["c"]);
        assert_eq!(Marks::Region.piece(&lines, "z"), None);
        let lines = ["// ANCHOR: a", "1", "// ANCHOR: b", "2", "// ANCHOR_END: a", "3"];
        assert_eq!(Marks::Anchor.piece(&lines, "a").unwrap(), ["1", "2"]);
        assert_eq!(Marks::Anchor.piece(&lines, "b").unwrap(), ["2", "3"]);
        assert_eq!(Marks::Tag.piece(&["#<s1>", "x", "#</S1>"], "S1").unwrap(), ["x"]);
    }
}
