//! Marked blocks: the lines that open and close containers, directives and zones around Markdown.
//!
//! In: the parse buffer, levelled. Out: the buffer with these lines blank, so that what they hold is read as the
//! Markdown it is; the labels that a reader sees of them; and, as edits, what no reader sees or what is stored
//! otherwise. Docusaurus and VitePress (`:::note[Title]`, `::: details Title`), Microsoft (`::: zone`, `:::image …:::`),
//! Material's blocks (`/// tip | Title`), MyST's directives (a fence with `{note}`) and labels (`(label)=`). One pass
//! over the lines; code fences are stepped over.

use std::ops::Range;

use crate::edit::Edit;
use crate::fence::{self, Fence};
use crate::indent::leading_blanks;
use crate::mask::blank;

/// Directives of MyST whose content is Markdown. The content of all others is code or data.
const PROSE_DIRECTIVES: [&str; 52] = [
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
    "todo",
    "topic",
    "versionadded",
    "versionchanged",
];

/// What a pass over the lines found. Ranges are places of the buffer.
#[derive(Debug, Default)]
pub(crate) struct Containers {
    /// What readers see of opening lines, in order.
    pub(crate) labels: Vec<Range<usize>>,
    pub(crate) edits: Vec<Edit>,
    /// Directives in which headings are content.
    pub(crate) bodies: Vec<Range<usize>>,
}

/// An open directive.
struct Directive {
    fence: Fence,
    start: usize,
}

pub(crate) fn blank_containers(buffer: &mut [u8], text: &str, body: usize) -> Containers {
    let mut found = Containers::default();
    if ![":::", "///", "{", "(", "~~~"]
        .iter()
        .any(|trigger| text[body..].contains(trigger))
    {
        return found;
    }
    let mut directives: Vec<Directive> = Vec::new();
    let mut code: Option<Fence> = None;
    let mut position = body;
    // Whether the lines after an opening one may be its options.
    let mut options = Options::None;
    for line in text[body..].split_inclusive('\n') {
        let start = position;
        position += line.len();
        let end = start + line.trim_end_matches('\n').len();
        let trimmed = line.trim();
        if let Some(fence) = code {
            if fence::closes(line, fence) {
                code = None;
            }
            continue;
        }
        if options.takes(trimmed, line) {
            hide(buffer, &mut found, start..end);
            continue;
        }
        options = Options::None;
        if let Some(directive) = directives.pop_if(|directive| fence::closes(line, directive.fence)) {
            hide(buffer, &mut found, start..end);
            if directives.is_empty() {
                found.bodies.push(directive.start..start);
            }
            continue;
        }
        if let Some(fence) = fence::opened_by(line) {
            match directive_of(line) {
                Some(label) if directives.len() < 64 => {
                    options = Options::Fields;
                    let label = start + label.start..start + label.end;
                    let shown = shown_label(&text[label.clone()]);
                    found
                        .edits
                        .push(Edit::replace(start + leading_blanks(line.as_bytes())..end, shown));
                    found.labels.push(label);
                    blank(buffer, start..end);
                    directives.push(Directive {
                        fence,
                        start: position,
                    });
                }
                _ => code = Some(fence),
            }
            continue;
        }
        match Mark::of(trimmed) {
            None => {}
            Some(Mark::Close) => blank(buffer, start..end),
            Some(Mark::Open(label)) => {
                if trimmed.starts_with("///") {
                    options = Options::Indented;
                }
                let from = start + (line.len() - line.trim_start().len());
                found.labels.push(from + label.start..from + label.end);
                blank(buffer, start..end);
            }
            Some(Mark::Unseen) => hide(buffer, &mut found, start..end),
            Some(Mark::Image { alt, markdown }) => {
                let from = start + (line.len() - line.trim_start().len());
                found.labels.push(from + alt.start..from + alt.end);
                found
                    .edits
                    .push(Edit::replace(from..from + trimmed.len(), markdown));
                blank(buffer, start..end);
            }
        }
    }
    if let Some(first) = directives.first() {
        found.bodies.push(first.start..text.len());
    }
    found
}

fn hide(buffer: &mut [u8], found: &mut Containers, line: Range<usize>) {
    blank(buffer, line.clone());
    if !line.is_empty() {
        found.edits.push(Edit::hide(line));
    }
}

/// What may follow an opening line.
enum Options {
    None,
    /// `:key: value` lines of a directive, or a block of YAML between `---`.
    Fields,
    Yaml,
    /// Indented `key: value` lines of a block.
    Indented,
}

impl Options {
    /// Whether the line is one of them.
    fn takes(&mut self, trimmed: &str, line: &str) -> bool {
        match self {
            Self::None => false,
            Self::Fields if trimmed == "---" => {
                *self = Self::Yaml;
                true
            }
            Self::Fields => trimmed
                .strip_prefix(':')
                .and_then(|rest| rest.split_once(':'))
                .is_some_and(|(key, _)| is_name(key)),
            Self::Yaml => {
                if trimmed == "---" {
                    *self = Self::None;
                }
                true
            }
            Self::Indented => {
                line.starts_with("    ")
                    && trimmed.split_once(':').is_some_and(|(key, value)| {
                        is_name(key) && (value.is_empty() || value.starts_with(' '))
                    })
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_:+.".contains(&byte))
}

/// Where the label of a directive with Markdown inside stands in its opening line: `{note} Title`.
fn directive_of(line: &str) -> Option<Range<usize>> {
    let opened = fence::after_markers(line);
    let info = opened.trim_start_matches(['`', '~']);
    let (name, _) = info.trim_start().strip_prefix('{')?.split_once('}')?;
    if !PROSE_DIRECTIVES.contains(&name) {
        return None;
    }
    let start = line.len() - info.trim_start().len();
    Some(start..line.trim_end().len())
}

/// `{note} Title` as a line of text.
fn shown_label(label: &str) -> String {
    let (name, title) = label
        .trim_start_matches('{')
        .split_once('}')
        .unwrap_or((label, ""));
    let title = title.trim();
    let is_titled = [
        "admonition",
        "card",
        "dropdown",
        "grid-item-card",
        "tab-item",
        "tab",
        "details",
    ]
    .contains(&name);
    let mut shown = String::from("**");
    if !is_titled || title.is_empty() {
        let mut characters = name.chars();
        shown.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        shown.extend(characters);
        if !title.is_empty() {
            shown.push_str(":** ");
            shown.push_str(title);
            return shown;
        }
    } else {
        shown.push_str(title);
    }
    shown.push_str("**");
    shown
}

/// What a line that begins with `:::` or `///` is, or one that names a label.
enum Mark {
    /// With the place of its label in the line.
    Open(Range<usize>),
    Close,
    /// A zone, a column, a label: nothing of it is shown.
    Unseen,
    Image {
        alt: Range<usize>,
        markdown: String,
    },
}

impl Mark {
    fn of(line: &str) -> Option<Self> {
        if line.starts_with('(') {
            return label_of(line).map(|_| Self::Unseen);
        }
        let marker = line.chars().next().filter(|marker| matches!(marker, ':' | '/'))?;
        let rest = line.trim_start_matches(marker);
        let length = line.len() - rest.len();
        if length < 3 {
            return None;
        }
        if rest.is_empty() {
            return Some(Self::Close);
        }
        let label = rest.trim_start();
        let name_end = label
            .find(|character: char| !character.is_ascii_alphanumeric() && !"-_".contains(character))
            .unwrap_or(label.len());
        let name = &label[..name_end];
        if marker == ':' {
            match name {
                "zone" | "zone-end" | "moniker" | "moniker-end" | "row" | "row-end" | "column"
                | "column-end" | "video" => return Some(Self::Unseen),
                "image" if label.ends_with(":::") => return Some(image(line, label)),
                "image-end" => return Some(Self::Unseen),
                // Includes that could not be resolved stay visible.
                "code" if label.ends_with(":::") => return None,
                _ => {}
            }
        }
        let opens = if marker == ':' {
            !name.is_empty() || label.starts_with(['{', '['])
        } else {
            // Three slashes begin comments too, where code stands without a fence.
            !name.is_empty()
                && matches!(
                    label[name_end..].trim_start().as_bytes().first(),
                    None | Some(b'|')
                )
        };
        if !opens {
            return None;
        }
        let start = line.len() - label.len();
        // Attributes at the end are no words: `:::note[Title]{.wide}`.
        let end = match label.rfind('{') {
            Some(brace) if brace > 0 && label.ends_with('}') => start + brace,
            _ => line.len(),
        };
        Some(Self::Open(start..end))
    }
}

/// The name in `(name)=`, by which MyST refers to what follows.
pub(crate) fn label_of(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix('(')?.strip_suffix(")=")?;
    let is_label = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "()[]{}<>#".contains(c));
    is_label.then_some(name)
}

/// `:::image type="content" source="a.png" alt-text="…":::`
fn image(line: &str, label: &str) -> Mark {
    let value = |key: &str| {
        let (_, rest) = label.split_once(key)?;
        let (value, _) = rest.strip_prefix("=\"")?.split_once('"')?;
        Some(value)
    };
    let alt = value("alt-text").unwrap_or_default();
    let markdown = format!("![{alt}]({})", value("source").unwrap_or_default());
    let start = line.find(alt).unwrap_or(0);
    Mark::Image {
        alt: start..start + alt.len(),
        markdown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(source: &str) -> (String, Vec<&str>, Vec<(&str, String)>) {
        let mut buffer = source.as_bytes().to_vec();
        let found = blank_containers(&mut buffer, source, 0);
        let labels = found.labels.into_iter().map(|label| &source[label]).collect();
        let edits = found
            .edits
            .into_iter()
            .map(|edit| (&source[edit.range], edit.text))
            .collect();
        let text = String::from_utf8(buffer).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        (lines.join("\n"), labels, edits)
    }

    #[test]
    fn lines_of_containers_are_blank_and_keep_their_labels() {
        let cases: [(&str, &str, &[&str]); 8] = [
            (":::note[Mind it]{.x}\na\n:::\n", "\na\n", &["note[Mind it]"]),
            (
                "::: details More\n| a |\n|---|\n:::\n",
                "\n| a |\n|---|\n",
                &["details More"],
            ),
            ("::::tip\n:::note\na\n:::\n::::\n", "\n\na\n\n", &["tip", "note"]),
            (
                "/// tip | Title\n    open: true\na\n///\n",
                "\n\na\n",
                &["tip | Title"],
            ),
            ("/// a comment of code\n", "/// a comment of code", &[]),
            ("```\n:::note\n```\n", "```\n:::note\n```", &[]),
            ("::: zone pivot=\"a\"\nb\n::: zone-end\n", "\nb\n", &[]),
            ("a::: b\n:: c\n", "a::: b\n:: c", &[]),
        ];
        for (source, text, labels) in cases {
            let (found, found_labels, _) = blanked(source);
            assert_eq!(found, text, "{source}");
            assert_eq!(found_labels, labels, "{source}");
        }
        let (_, labels, edits) = blanked(":::image source=\"a.png\" alt-text=\"A cat\":::\n");
        assert_eq!(labels, ["A cat"]);
        assert_eq!(edits[0].1, "![A cat](a.png)");
    }

    #[test]
    fn directives_hold_markdown_unless_they_hold_code() {
        let source =
            "```{note} Mind\n:class: x\n\n# inside\n\n~~~sh\n```\n~~~\n```\n\n```{code-block} sh\na\n```\n";
        let (text, labels, edits) = blanked(source);
        assert_eq!(
            text,
            "\n\n\n# inside\n\n~~~sh\n```\n~~~\n\n\n```{code-block} sh\na\n```"
        );
        assert_eq!(labels, ["{note} Mind"]);
        let edits: Vec<(&str, &str)> = edits.iter().map(|(from, to)| (*from, to.as_str())).collect();
        assert_eq!(
            edits,
            [
                ("```{note} Mind", "**Note:** Mind"),
                (":class: x", ""),
                ("```", "")
            ]
        );
        let mut buffer = source.as_bytes().to_vec();
        let bodies = blank_containers(&mut buffer, source, 0).bodies;
        assert!(source[bodies[0].clone()].contains("# inside") && bodies.len() == 1);
        let (text, _, edits) = blanked("(my-label)=\n# T\n");
        assert_eq!((text.as_str(), edits[0].0), ("\n# T", "(my-label)="));
    }
}
