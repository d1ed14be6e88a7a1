//! What a reader sees of the line that opens a directive of `MyST`'s or a container.
//!
//! In: `{note} Title` and the lines after it, or `note[Title]`. Out: whether it holds Markdown or code, and what is
//! stored in its place. A kind is said in bold, with the title where there is one; containers that only arrange what
//! they hold say nothing.

use std::ops::Range;

/// Directives whose content is Markdown. The content of all others is code or data.
const MARKDOWN: [&str; 57] = [
    "admonition",
    "aside",
    "attention",
    "axiom",
    "card",
    "caution",
    "centered",
    "compound",
    "container",
    "corollary",
    "danger",
    "definition",
    "deprecated",
    "details",
    "div",
    "dropdown",
    "epigraph",
    "error",
    "example",
    "exercise",
    "figure",
    "glossary",
    "grid",
    "grid-item",
    "grid-item-card",
    "highlights",
    "hint",
    "hlist",
    "image",
    "important",
    "lemma",
    "list-table",
    "margin",
    "note",
    "only",
    "proof",
    "pull-quote",
    "question",
    "remark",
    "rubric",
    "seealso",
    "sidebar",
    "solution",
    "tab",
    "tab-item",
    "tab-set",
    "table",
    "tabs",
    "theorem",
    "tip",
    "toctree",
    "todo",
    "topic",
    "versionadded",
    "versionchanged",
    "versionremoved",
    "warning",
];

/// Of directives and containers: those that show their title, if any, and no kind.
const TITLED: [&str; 17] = [
    "admonition",
    "card",
    "centered",
    "details",
    "dropdown",
    "grid-item-card",
    "list-table",
    "margin",
    "rubric",
    "sidebar",
    "step",
    "summary",
    "tab",
    "tab-item",
    "table",
    "tabs",
    "topic",
];

/// Those that show nothing of their own: they arrange what they hold.
const SILENT: [&str; 27] = [
    "aside",
    "center",
    "cards",
    "code-group",
    "column",
    "columns",
    "compound",
    "container",
    "div",
    "epigraph",
    "glossary",
    "grid",
    "grid-item",
    "highlights",
    "hlist",
    "html",
    "left",
    "only",
    "pull-quote",
    "raw",
    "right",
    "row",
    "steps",
    "tab-set",
    "tabset",
    "toctree",
    "v-pre",
];

/// Directives whose content is code in the language that they name.
const CODE: [&str; 4] = ["code", "code-block", "code-cell", "sourcecode"];

/// Lines of options that are looked at.
const MOST_OPTIONS: usize = 32;

/// What a directive is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Call<'t> {
    Markdown {
        /// What is stored in the place of its opening line; may be empty.
        shown: String,
        /// Where its words stand: from the beginning of the info, maybe beyond its line.
        label: Option<Range<usize>>,
    },
    Code {
        language: &'t str,
        caption: Option<&'t str>,
        /// Bytes after the opening line that are options, and the empty line after them.
        skipped: usize,
    },
}

/// Reads `{name} argument`; `rest` is what follows its line.
pub(crate) fn read<'t>(info: &'t str, rest: &'t str) -> Option<Call<'t>> {
    let info = info.trim_end();
    let (name, argument) = info.strip_prefix('{')?.split_once('}')?;
    let argument = argument.trim();
    if CODE.contains(&name) || matches!(name, "math" | "mermaid") {
        let mut options = Fields::of(rest);
        let caption = options.find(|(key, _)| matches!(*key, "caption" | "name-caption"));
        let caption = caption.map(|(_, value)| value).filter(|value| !value.is_empty());
        options.by_ref().for_each(drop);
        let language = if CODE.contains(&name) { argument } else { name };
        // The formula itself may begin behind the name.
        if name == "math" && !argument.is_empty() {
            return None;
        }
        return Some(Call::Code {
            language,
            caption,
            skipped: options.skipped,
        });
    }
    if !MARKDOWN.contains(&name) {
        return None;
    }
    if matches!(name, "figure" | "image") {
        let alt = Fields::of(rest).find_map(|(key, value)| (key == "alt").then_some(value));
        return Some(Call::Markdown {
            shown: format!("![{}]({argument})", alt.unwrap_or_default()),
            label: None,
        });
    }
    let since = match name {
        "versionadded" => Some("New in version"),
        "versionchanged" => Some("Changed in version"),
        "versionremoved" => Some("Removed in version"),
        "deprecated" => Some("Deprecated since version"),
        _ => None,
    };
    if let Some(since) = since {
        let (version, words) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
        let shown = format!("**{since} {version}** {words}");
        return Some(Call::Markdown {
            shown: shown.trim_end().to_owned(),
            label: Some(0..info.len()),
        });
    }
    let kind = if name == "seealso" { "see also" } else { name };
    Some(Call::Markdown {
        shown: shown(name, kind, argument),
        label: (!SILENT.contains(&name)).then_some(0..info.len()),
    })
}

/// What is stored of `{.callout-note title="Title"}`, as Quarto writes it, and where its kind stands.
pub(crate) fn callout_label(attributes: &str) -> (String, Option<Range<usize>>) {
    const CLASS: &str = "{.callout-";
    let Some(rest) = attributes.strip_prefix(CLASS) else {
        return (String::new(), None);
    };
    let length = rest
        .find(|character: char| !character.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let kind = &rest[..length];
    let title = rest
        .split_once("title=\"")
        .and_then(|(_, title)| title.split_once('"'))
        .map_or("", |(title, _)| title);
    (shown(kind, kind, title), Some(CLASS.len()..CLASS.len() + length))
}

/// What is stored of `note[Title]`, `details Title` or `tip | Title`, and where its words stand.
pub(crate) fn container_label(label: &str) -> (String, Option<Range<usize>>) {
    let name_end = label
        .find(|character: char| !character.is_ascii_alphanumeric() && !"-_".contains(character))
        .unwrap_or(label.len());
    let (name, rest) = label.split_at(name_end);
    if SILENT.contains(&name) {
        return (String::new(), None);
    }
    let title = rest.trim_start().trim_start_matches('|').trim();
    let bracketed = title.strip_prefix('[').and_then(|title| title.strip_suffix(']'));
    let title = bracketed.unwrap_or(title);
    let place = (!name.is_empty() || !title.is_empty()).then_some(0..label.len());
    (shown(name, name, title), place)
}

/// What is stored of `!!! note "Title"`, `???+ note` or `=== "Tab"`.
pub(crate) fn admonition_label(line: &str) -> String {
    let rest = line.trim_start_matches(['!', '?', '=', '+']).trim();
    let (kind, title) = match rest.split_once('"') {
        Some((kind, title)) => (kind, Some(title.trim_end().trim_end_matches('"'))),
        None => (rest, None),
    };
    // Further words are classes: `!!! info inline end`.
    let kind = kind.split_whitespace().next().unwrap_or_default();
    match title {
        // An empty title is how a box without one is written.
        Some("") => String::new(),
        Some(title) if kind.is_empty() => shown("tab", "tab", title),
        Some(title) => shown(kind, kind, title),
        None => shown(kind, kind, ""),
    }
}

fn shown(name: &str, kind: &str, title: &str) -> String {
    if SILENT.contains(&name) || name.is_empty() && title.is_empty() {
        return String::new();
    }
    if TITLED.contains(&name) || name.is_empty() {
        return match title {
            "" if name == "details" => "**Details**".to_owned(),
            "" => String::new(),
            _ if title.contains("**") => title.to_owned(),
            _ => format!("**{title}**"),
        };
    }
    let mut shown = String::from("**");
    let mut characters = kind.chars();
    shown.extend(characters.next().map(|first| first.to_ascii_uppercase()));
    shown.extend(characters.map(|character| if character == '-' { ' ' } else { character }));
    if title.is_empty() {
        shown.push_str("**");
    } else {
        shown.push_str(":** ");
        shown.push_str(title);
    }
    shown
}

/// The options at the beginning of a directive's content.
struct Fields<'t> {
    rest: &'t str,
    in_yaml: bool,
    count: usize,
    /// Bytes that are options, and the empty line after them.
    skipped: usize,
}

impl<'t> Fields<'t> {
    fn of(rest: &'t str) -> Self {
        Self {
            rest,
            in_yaml: false,
            count: 0,
            skipped: 0,
        }
    }
}

impl<'t> Iterator for Fields<'t> {
    type Item = (&'t str, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.rest.split_inclusive('\n').next()?;
            let trimmed = line.trim();
            let is_first = self.count == 0;
            self.count += 1;
            let found = if self.in_yaml {
                self.in_yaml = trimmed != "---";
                if self.in_yaml {
                    trimmed.split_once(':')
                } else {
                    None
                }
            } else if trimmed == "---" && is_first {
                self.in_yaml = true;
                None
            } else if let Some(field) = field(trimmed) {
                Some(field)
            } else {
                if self.skipped > 0 && trimmed.is_empty() {
                    self.skipped += line.len();
                }
                self.rest = "";
                return None;
            };
            if self.count > MOST_OPTIONS {
                (self.rest, self.skipped) = ("", 0);
                return None;
            }
            self.skipped += line.len();
            self.rest = &self.rest[line.len()..];
            if let Some((key, value)) = found {
                return Some((key.trim(), value.trim().trim_matches('"')));
            }
        }
    }
}

/// `:key: value`
pub(crate) fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.strip_prefix(':')?.split_once(':')?;
    (is_name(key) && (value.is_empty() || value.starts_with(char::is_whitespace))).then_some((key, value))
}

pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_:+.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_show_their_kind_or_their_title() {
        let cases = [
            ("{note}", "", "**Note**"),
            ("{note} Mind", "", "**Note:** Mind"),
            ("{seealso}", "", "**See also**"),
            ("{admonition} Own `title`", "", "**Own `title`**"),
            ("{tab-item} Linux", ":sync: x\n", "**Linux**"),
            ("{tab-set}", "", ""),
            ("{list-table} Lamps", "", "**Lamps**"),
            ("{versionadded} 1.2", "", "**New in version 1.2**"),
            (
                "{deprecated} 2.0 Use oil.",
                "",
                "**Deprecated since version 2.0** Use oil.",
            ),
            (
                "{figure} a.png",
                ":width: 1\n:alt: A cat\n\nText",
                "![A cat](a.png)",
            ),
            ("{image} a.png", "---\nalt: A cat\n---\n", "![A cat](a.png)"),
        ];
        for (info, rest, expected) in cases {
            match read(info, rest) {
                Some(Call::Markdown { shown, .. }) => assert_eq!(shown, expected, "{info}"),
                other => panic!("{info}: {other:?}"),
            }
        }
        for info in ["note", "{unknown}", "{eval-rst}", "{math} x = 1", "{", "{}"] {
            assert_eq!(read(info, ""), None, "{info}");
        }
    }

    #[test]
    fn directives_of_code_begin_after_their_options() {
        let cases = [
            (
                "{code-block} python",
                ":caption: a.py\n:linenos:\n\nx\n",
                "python",
                Some("a.py"),
                "x\n",
            ),
            (
                "{code} sh",
                "---\ncaption: \"b\"\n---\nx\n",
                "sh",
                Some("b"),
                "x\n",
            ),
            ("{code-cell}", "x\n\n:y: z\n", "", None, "x\n\n:y: z\n"),
            ("{math}", ":label: a\nx\n", "math", None, "x\n"),
            ("{code-block} sh", "\n:a: b\n", "sh", None, "\n:a: b\n"),
            ("{code-block} sh", ":a:b\n", "sh", None, ":a:b\n"),
        ];
        for (info, rest, expected_language, expected_caption, code) in cases {
            match read(info, rest) {
                Some(Call::Code {
                    language,
                    caption,
                    skipped,
                }) => {
                    assert_eq!(
                        (language, caption),
                        (expected_language, expected_caption),
                        "{info}"
                    );
                    assert_eq!(&rest[skipped..], code, "{info}");
                }
                other => panic!("{info}: {other:?}"),
            }
        }
    }

    #[test]
    fn admonitions_show_their_kind_and_their_title() {
        let cases = [
            ("!!! note", "**Note**"),
            ("!!! warning \"Mind **it**\"", "**Warning:** Mind **it**"),
            ("??? question \"Why?\"", "**Question:** Why?"),
            ("???+ tip", "**Tip**"),
            ("!!! info inline end \"Aside\"", "**Info:** Aside"),
            ("!!! tip \"\"", ""),
            ("=== \"Linux\"", "**Linux**"),
            ("===! \"A \"b\" c\"", "**A \"b\" c**"),
        ];
        for (line, expected) in cases {
            assert_eq!(admonition_label(line), expected, "{line}");
        }
    }

    #[test]
    fn containers_show_their_kind_or_their_title() {
        let cases = [
            ("note[Mind **it**]", "**Note:** Mind **it**"),
            ("danger STOP", "**Danger:** STOP"),
            ("details Click me", "**Click me**"),
            ("details", "**Details**"),
            ("tip | Title", "**Tip:** Title"),
            ("code-group", ""),
            ("v-pre", ""),
            ("tab | **Bold**", "**Bold**"),
            ("callout-note", "**Callout note**"),
            ("", ""),
        ];
        for (label, expected) in cases {
            assert_eq!(container_label(label).0, expected, "{label}");
        }
        for (attributes, expected) in [
            ("{.callout-note}", "**Note**"),
            ("{.callout-tip title=\"Mind\" #id}", "**Tip:** Mind"),
            ("{.wide}", ""),
        ] {
            assert_eq!(callout_label(attributes).0, expected, "{attributes}");
        }
    }
}
