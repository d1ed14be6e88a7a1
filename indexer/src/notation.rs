//! Notations that generators add to Markdown and that show nothing: lists of attributes, tables of contents, icons.
//!
//! In: a line outside code blocks. Out: the stretches of it that no reader sees. `[x](y){ .button }`, `{: .wide }` on
//! a line of its own, `[TOC]`, `[[toc]]`, `{:toc}`, `{::options /}`. The grammar is strict, since braces are common in
//! prose: a list without a colon must begin with a class or an id, or set an attribute that pages really use, and
//! stand directly behind what it decorates. Abbreviations (`*[HTML]: …`) stay: they say what a word means.

use std::ops::Range;

use crate::mask::Style;

/// What shows nothing in a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unshown {
    /// Neither a reader nor the parser should see these.
    pub(crate) hidden: Vec<Range<usize>>,
    /// Pictures: a reader sees them, but their names are no words of the text.
    pub(crate) icons: Vec<Range<usize>>,
}

/// Sets of icons, as the first word of an icon's name.
const ICON_SETS: [&str; 5] = ["material-", "fontawesome-", "octicons-", "simple-", "lucide-"];

/// Attributes that are set without a class beside them.
const ATTRIBUTES: [&str; 14] = [
    "align", "class", "download", "height", "id", "lang", "loading", "markdown", "rel", "style", "target",
    "title", "type", "width",
];

/// Longest list of attributes, in bytes.
const LONGEST: usize = 400;

/// What of a line shows nothing. `next` is the line after it.
pub(crate) fn unshown(line: &str, next: &str, style: Style) -> Unshown {
    let mut unshown = Unshown::default();
    let trimmed = line.trim();
    let start = line.len() - line.trim_start().len();
    if style.is_myst && is_comment(line)
        || is_contents(trimmed)
        || is_list(trimmed, true)
        || is_list_of_contents(trimmed, next.trim())
    {
        unshown.hidden.push(start..start + trimmed.len());
        return unshown;
    }
    let is_heading = trimmed.starts_with('#');
    // Lines of nothing but anchors name what follows them.
    let is_anchors = trimmed.starts_with("<a ") && trimmed.ends_with("></a>");
    let bytes = line.as_bytes();
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            b'\\' => at + 2,
            b'`' => after_code(bytes, at),
            b'<' if !is_anchors => match anchor_end(line, at) {
                Some(end) => {
                    unshown.hidden.push(at..end);
                    end
                }
                None => at + 1,
            },
            b':' => match icon_end(line, at) {
                Some(end) => {
                    if is_heading {
                        unshown.hidden.push(at..end);
                    } else {
                        unshown.icons.push(at..end);
                    }
                    end
                }
                None => at + 1,
            },
            b'{' => match list_end(line, at) {
                Some(end) if may_follow(&line[..at], &line[at..end], is_heading) => {
                    unshown.hidden.push(at..end);
                    end
                }
                _ => at + 1,
            },
            _ => at + 1,
        };
    }
    unshown
}

/// Whether a line is a comment of `MyST`'s, or a break between blocks.
fn is_comment(line: &str) -> bool {
    let breaks = line.strip_prefix("+++");
    line.starts_with('%') || breaks.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '{']))
}

/// The remarks of Obsidian's on a line; `open` tells whether one is open at its beginning, and then at its end. With
/// them goes the name of the block at the end of the line: `^block-id`.
pub(crate) fn remarks(line: &str, open: &mut bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = line.as_bytes();
    let (mut at, mut start) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            b'%' if bytes.get(at + 1) == Some(&b'%') => {
                if *open {
                    found.push(start..at + 2);
                }
                (start, *open) = (at, !*open);
                at + 2
            }
            b'`' if !*open => after_code(bytes, at),
            _ => at + 1,
        };
    }
    let visible = line.trim_end().len();
    if *open {
        found.push(start..visible.max(start));
        return found;
    }
    let name = &line[line[..visible].rfind([' ', '\t']).map_or(0, |blank| blank + 1)..visible];
    let is_id = |id: &str| {
        !id.is_empty()
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if name.strip_prefix('^').is_some_and(is_id) {
        found.push(visible - name.len()..visible);
    }
    found
}

/// Whether a line stands for a table of contents.
fn is_contents(line: &str) -> bool {
    ["[toc]", "[[toc]]", "[[_toc_]]", "{:toc}", "{{toc}}", "${toc}"]
        .iter()
        .any(|mark| line.eq_ignore_ascii_case(mark))
}

/// Whether a line is the item that kramdown replaces by a table of contents: `* TOC` before `{:toc}`.
fn is_list_of_contents(line: &str, next: &str) -> bool {
    let is_item = line.starts_with(['*', '-', '+']) || line.starts_with("1.");
    is_item && next.starts_with("{:") && is_list(next, true) && next[2..].trim_start().starts_with("toc")
}

/// The end of the code span that begins at `at`; after the backticks where it does not end on this line.
fn after_code(bytes: &[u8], at: usize) -> usize {
    let run = |from: usize| bytes[from..].iter().take_while(|&&byte| byte == b'`').count();
    let length = run(at);
    let mut end = at + length;
    // Spans of one line; looking for an end costs no more than the line for each length.
    while let Some(offset) = bytes[end..].iter().position(|&byte| byte == b'`') {
        let other = run(end + offset);
        end += offset + other;
        if other == length {
            return end;
        }
        if end - at > LONGEST {
            break;
        }
    }
    at + length
}

/// The end of an empty `<a name="x"></a>`, which only names its place.
fn anchor_end(line: &str, at: usize) -> Option<usize> {
    let tag = line[at..].strip_prefix("<a ")?;
    let name = tag.trim_start();
    let name = name.strip_prefix("name=").or_else(|| name.strip_prefix("id="))?;
    let quote = name.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let near = name.as_bytes()[1..].iter().take(LONGEST);
    let length = near.take_while(|&&byte| byte != b'"' && byte != b'\'').count();
    let rest = name[1..].get(length..)?.strip_prefix(quote)?;
    let rest = rest.trim_start().strip_prefix("></a>")?;
    Some(line.len() - rest.len())
}

/// The end of `:material-lamp:`.
fn icon_end(line: &str, at: usize) -> Option<usize> {
    let name = &line[at + 1..];
    if !ICON_SETS.iter().any(|set| name.starts_with(set)) {
        return None;
    }
    let length = name
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        .count();
    name[length..].starts_with(':').then(|| at + length + 2)
}

/// The end of the list of attributes, or of the mark of kramdown's, that begins at `at`.
fn list_end(line: &str, at: usize) -> Option<usize> {
    // A list holds no braces: an opener without an end is given up at the next one.
    let near = line.as_bytes()[at + 1..].iter().take(LONGEST);
    let end = at + 2 + near.take_while(|&&byte| !matches!(byte, b'{' | b'}')).count();
    is_list(line.get(at..end)?, false).then_some(end)
}

/// Whether braces hold a list of attributes. Alone on a line it may also be bare: `{ open }`.
fn is_list(text: &str, alone: bool) -> bool {
    let Some(inner) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return false;
    };
    if inner.len() > LONGEST || inner.contains(['{', '}', '`', '<']) {
        return false;
    }
    let inner = match inner.strip_prefix(':') {
        // `{::options /}`, `{:/comment}`
        Some(mark) if mark.starts_with([':', '/']) => return mark.len() < 40 || alone,
        Some(list) => {
            let decorates = |word: &(&str, bool)| word.1 || word.0.starts_with(['.', '#']);
            let words = words(list).unwrap_or_default();
            // `{:id}` in a line may be a part of a route.
            return if alone {
                !words.is_empty()
            } else {
                words.iter().any(decorates)
            };
        }
        None => inner,
    };
    let Some(words) = words(inner) else {
        return false;
    };
    let is_sure = |word: &(&str, bool)| match word {
        (key, true) => ATTRIBUTES.contains(key) || key.starts_with("data-"),
        (name, false) => name.starts_with(['.', '#']),
    };
    let is_plain = |(word, valued): &(&str, bool)| *valued || word.starts_with(['.', '#']) || is_name(word);
    words.first().is_some_and(is_sure) && words.iter().all(is_plain)
}

/// The words of a list of attributes, each with whether it sets a value; nothing where it is none.
fn words(list: &str) -> Option<Vec<(&str, bool)>> {
    let mut found = Vec::new();
    let mut rest = list.trim();
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c.is_whitespace() || c == '=')
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let value = after.strip_prefix('=');
        if !is_name(word.strip_prefix(['.', '#']).unwrap_or(word)) || value.is_some() && !is_name(word) {
            return None;
        }
        rest = match value {
            None => after,
            Some(value) => match value.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
                Some(quote) => value[1..].split_once(quote)?.1,
                None => &value[value.find(char::is_whitespace).unwrap_or(value.len())..],
            },
        };
        found.push((word, value.is_some()));
        rest = rest.trim_start();
    }
    Some(found)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphanumeric() || first == '_' || first == '-')
        && word.chars().all(|c| c.is_alphanumeric() || "_-:./".contains(c))
}

/// Whether a list may decorate what stands before it on its line. At the end of a heading it may as well belong to
/// the title, where it has no colon and stands behind no icon.
fn may_follow(before: &str, list: &str, is_heading: bool) -> bool {
    if list.starts_with("{:") {
        return !before.ends_with('{');
    }
    let is_icon = before.ends_with(':');
    is_icon || !is_heading && before.ends_with([')', ']', '`', '*', '_', '~', '=', '^'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a line.
    fn left(line: &str, next: &str) -> String {
        let mut text = String::new();
        let mut at = 0;
        for hidden in unshown(line, next, Style::default()).hidden {
            text.push_str(&line[at..hidden.start]);
            at = hidden.end;
        }
        text.push_str(&line[at..]);
        text
    }

    #[test]
    fn lists_of_attributes_show_nothing() {
        let cases = [
            ("[a](b){ .md-button .x }", "[a](b)"),
            ("[a](b){: .btn }. c", "[a](b). c"),
            ("![a](b){ width=\"300\" loading=lazy }", "![a](b)"),
            ("![a](b){:width=\"50%\"}", "![a](b)"),
            ("`a`{.b} **c**{#d} [e]{.f}", "`a` **c** [e]"),
            ("{: .lead #intro }", ""),
            ("  {.wide}", "  "),
            ("{ .annotate }", ""),
            ("{::nomarkdown}<b>a</b>{:/}", "<b>a</b>"),
            ("{::options parse_block_html=\"true\" /}", ""),
            ("# T :material-lamp:{ .lg .middle }", "# T "),
            ("# T {: .no_toc }", "# T "),
            ("## <a name=\"t\"></a>T <a id='u' ></a>", "## T "),
            ("<a name=\"t\"></a>", "<a name=\"t\"></a>"),
            (
                "a <a name=\"t\">b</a> <a href=\"t\"></a>",
                "a <a name=\"t\">b</a> <a href=\"t\"></a>",
            ),
            // Prose, code, templates and titles.
            ("# T {.wide}", "# T {.wide}"),
            ("f(x){ return 1 }", "f(x){ return 1 }"),
            ("[a](b){a=1}", "[a](b){a=1}"),
            ("a { .b } c", "a { .b } c"),
            ("{a, b}", "{a, b}"),
            ("{ open }", "{ open }"),
            ("{ braces }", "{ braces }"),
            ("{{ x }} {% y %}", "{{ x }} {% y %}"),
            ("`[a](b){ .c }`", "`[a](b){ .c }`"),
            ("[a](b)\\{ .c }", "[a](b)\\{ .c }"),
            ("/users/{id}{:suffix", "/users/{id}{:suffix"),
            ("/users/{:id}", "/users/{:id}"),
            ("a {", "a {"),
        ];
        for (line, expected) in cases {
            assert_eq!(left(line, ""), expected, "{line}");
        }
    }

    #[test]
    fn tables_of_contents_show_nothing() {
        for line in ["[TOC]", "[[toc]]", "[[_TOC_]]", "{:toc}"] {
            assert_eq!(left(line, ""), "", "{line}");
        }
        assert_eq!(left("* TOC", "{:toc}\n"), "");
        assert_eq!(left("1. TOC", "{: toc}\n"), "");
        assert_eq!(left("* TOC", "{: .toc }\n"), "* TOC");
        assert_eq!(left("see [TOC] there", ""), "see [TOC] there");
    }

    #[test]
    fn comments_of_a_dialect_show_nothing_in_it() {
        let style = Style {
            is_myst: true,
            ..Style::default()
        };
        for line in ["% a", "%", "+++", "+++ {\"a\": 1}"] {
            assert_eq!(unshown(line, "", style).hidden.len(), 1, "{line}");
            assert!(unshown(line, "", Style::default()).hidden.is_empty(), "{line}");
        }
        for line in ["50 % a", "++++", "+++a"] {
            assert!(unshown(line, "", style).hidden.is_empty(), "{line}");
        }
    }

    #[test]
    fn remarks_of_a_vault_show_nothing() {
        let cases: [(&str, &[&str]); 5] = [
            ("a %%b%% c `%%d%%`\n", &["%%b%%"]),
            ("%%\na ^x\nb %% c\n", &["%%", "a ^x", "b %%"]),
            ("a %% b\n`c\n", &["%% b", "`c"]),
            ("a ^block-1\n", &["^block-1"]),
            ("x^2 100% ^a b\n", &[]),
        ];
        for (text, expected) in cases {
            let mut open = false;
            let mut found = Vec::new();
            for line in text.split_inclusive('\n') {
                found.extend(remarks(line, &mut open).into_iter().map(|range| &line[range]));
            }
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn icons_are_no_words() {
        let line = ":material-check: a :fontawesome-brands-x: :smile: 10:30: :simple-x";
        let icons: Vec<_> = unshown(line, "", Style::default())
            .icons
            .into_iter()
            .map(|icon| &line[icon])
            .collect();
        assert_eq!(icons, [":material-check:", ":fontawesome-brands-x:"]);
    }

    #[test]
    fn repeated_openers_take_linear_time() {
        for piece in ["{", "{: ", "`", "`a``", ":material-", "{.a ", "){.a"] {
            let line = piece.repeat(200_000);
            let begin = std::time::Instant::now();
            unshown(&line, "", Style::default());
            assert!(begin.elapsed().as_secs() < 5, "{piece:?}");
        }
    }
}
