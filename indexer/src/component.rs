//! JSX tags as a reader of the page sees them.
//!
//! In: the text of a tag. Out: what is stored in its place and the labels among its attributes. Elements of HTML
//! become the Markdown that they mean; tables stay, since rows and cells can only be told apart by their tags. Of a
//! component only what it surely shows is known: its title, its label, its alternative text.

use std::ops::Range;

use crate::jsx::{TagKind, attributes, braces_end, text_in_braces};
use crate::markdown::char_boundary;
use crate::shortcode::capitalized;

/// Attributes whose text a component shows, in the order in which they are shown.
const SHOWN_ATTRIBUTES: [&str; 11] = [
    "title",
    "titleText",
    "label",
    "heading",
    "header",
    "question",
    "caption",
    "summary",
    "alt",
    "description",
    "text",
];

/// Attributes that name a field or a parameter, in components that describe one.
const FIELD_ATTRIBUTES: [&str; 6] = ["name", "path", "query", "body", "header", "type"];

/// Components that are labelled boxes, by what they say where they have no title.
const BOXES: [&str; 10] = [
    "Attention",
    "Caution",
    "Danger",
    "Deprecated",
    "Important",
    "Info",
    "Note",
    "Pitfall",
    "Tip",
    "Warning",
];

/// Components that are labelled boxes of the kind that their `type` says.
const TYPED_BOXES: [&str; 5] = ["Admonition", "Alert", "Aside", "Callout", "Message"];

/// What a tag shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What is stored in its place; none where it is stored as it is.
    pub(crate) edit: Option<String>,
    /// What is stored in the place of the tag that closes it.
    pub(crate) closer: String,
    /// Places of texts in the tag.
    pub(crate) labels: Vec<Range<usize>>,
}

/// What is shown of `tag`. `closer` is the one of the tag that it closes, if it closes one.
pub(crate) fn shown(tag: &str, name: &str, kind: &TagKind, closer: Option<&str>, starts_line: bool) -> Shown {
    let stored = |text: &str| Shown {
        edit: Some(text.to_owned()),
        ..Shown::default()
    };
    if matches!(name, "table" | "thead" | "tbody" | "tfoot" | "tr" | "th" | "td") {
        return Shown::default();
    }
    if *kind == TagKind::Close {
        let closer = closer.unwrap_or_default();
        let closer = if closer.is_empty() && is_block(name) && !starts_line {
            " "
        } else {
            closer
        };
        return stored(closer);
    }
    let around = |mark: &str| Shown {
        edit: Some(mark.to_owned()),
        closer: mark.to_owned(),
        labels: Vec::new(),
    };
    let opens = *kind == TagKind::Open;
    match name {
        "br" => stored(" "),
        "b" | "strong" if opens => around("**"),
        "i" | "em" if opens => around("*"),
        "code" | "kbd" | "samp" if opens => around("`"),
        "li" if opens && starts_line => stored("- "),
        "a" | "Link" if opens => link(tag),
        "img" => image(tag),
        _ if name.starts_with(|first: char| first.is_ascii_uppercase()) => component(tag, name, starts_line),
        // Words on both sides of a block are two.
        _ if is_block(name) && !starts_line => stored(" "),
        _ => stored(""),
    }
}

fn is_block(name: &str) -> bool {
    [
        "article",
        "aside",
        "blockquote",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "ul",
    ]
    .contains(&name)
}

/// The character that a reference such as `&#123;` stands for, and the reference's length; none for those that
/// Markdown or MDX would read as markup.
pub(crate) fn character_reference(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 12;
    let length = text.bytes().take(LONGEST).position(|byte| byte == b';')? + 1;
    let name = &text[1..length - 1];
    let character = match name {
        "nbsp" => ' ',
        "quot" => '"',
        "apos" => '\'',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    };
    let is_markup = matches!(character, '<' | '&' | '`' | '*' | '\\') || character.is_control();
    (!is_markup).then_some((character, length))
}

/// The place of the text in an expression that is nothing but a text: `{"text"}`, seen from its brace.
pub(crate) fn text_expression(source: &str) -> Option<Range<usize>> {
    // Text expressions are short; a long one is not worth the scan.
    const LONGEST: usize = 200;
    let mut budget = LONGEST;
    let end = braces_end(&source[..char_boundary(source, LONGEST)], 0, &mut budget)?;
    text_in_braces(source, 0, end)
}

fn value<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, value) = attributes(tag).into_iter().find(|(found, _)| *found == name)?;
    Some(tag.get(value?)?.trim()).filter(|value| !value.is_empty())
}

fn link(tag: &str) -> Shown {
    match value(tag, "href").or_else(|| value(tag, "to")) {
        Some(target) if !target.contains(char::is_whitespace) => Shown {
            edit: Some("[".to_owned()),
            closer: format!("]({})", with_characters(target)),
            labels: Vec::new(),
        },
        _ => Shown {
            edit: Some(String::new()),
            ..Shown::default()
        },
    }
}

/// A text with its character references as characters.
fn with_characters(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let (character, length) = character_reference(rest).unwrap_or(('&', 1));
        plain.push(character);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

fn image(tag: &str) -> Shown {
    let alt = attributes(tag).into_iter().find(|(name, _)| *name == "alt");
    let label = alt
        .and_then(|(_, place)| place)
        .filter(|place| !tag[place.clone()].trim().is_empty());
    let edit = label.as_ref().map_or_else(String::new, |label| {
        format!(
            "![{}]({})",
            &tag[label.clone()],
            value(tag, "src").unwrap_or_default()
        )
    });
    Shown {
        edit: Some(edit),
        closer: String::new(),
        labels: label.into_iter().collect(),
    }
}

fn component(tag: &str, name: &str, starts_line: bool) -> Shown {
    let found = attributes(tag);
    let is_field = name.ends_with("Field") || name.ends_with("Param");
    let keys: &[&str] = if is_field {
        &FIELD_ATTRIBUTES
    } else {
        &SHOWN_ATTRIBUTES
    };
    let text = |key: &&str| {
        let (_, place) = found.iter().find(|(name, _)| name == key)?;
        let place = place.clone()?;
        (!tag[place.clone()].trim().is_empty()).then_some(place)
    };
    let mut labels: Vec<Range<usize>> = keys.iter().filter_map(text).collect();
    if labels.is_empty() && !tag.ends_with("/>") {
        labels.extend(kind(tag, name, &found));
    }
    let texts: Vec<&str> = labels.iter().map(|label| tag[label.clone()].trim()).collect();
    let mut edit = String::new();
    if let Some((first, rest)) = texts.split_first() {
        let capital: String;
        let first = if first.starts_with(|first: char| first.is_ascii_lowercase()) && is_kind(name, first) {
            capital = capitalized(first);
            &capital.as_str()
        } else {
            first
        };
        let first = match value(tag, "href").filter(|target| !target.contains(char::is_whitespace)) {
            Some(target) => format!("[{first}]({target})"),
            None => (*first).to_owned(),
        };
        let marked = if starts_line && !is_field {
            format!("**{first}**")
        } else {
            first
        };
        edit = if is_field { format!("`{marked}`") } else { marked };
        for text in rest {
            edit.push_str(": ");
            edit.push_str(text);
        }
        if is_field && found.iter().any(|(name, _)| *name == "required") {
            edit.push_str(" (required)");
        }
        if let Some(default) = value(tag, "default").filter(|_| is_field) {
            edit.push_str(" (default ");
            edit.push_str(default);
            edit.push(')');
        }
        // Its content goes on behind it.
        if !tag.ends_with("/>") {
            edit.push(if starts_line { '\n' } else { ' ' });
        }
    }
    labels.sort_by_key(|label| label.start);
    Shown {
        edit: Some(edit),
        closer: String::new(),
        labels,
    }
}

/// Whether a text is the `type` of a box, and no title.
fn is_kind(component: &str, text: &str) -> bool {
    TYPED_BOXES.contains(&component) && BOXES.iter().any(|kind| kind.eq_ignore_ascii_case(text))
}

/// Where a tag says which kind of box it opens.
fn kind(tag: &str, name: &str, attributes: &[(&str, Option<Range<usize>>)]) -> Option<Range<usize>> {
    if BOXES.contains(&name) {
        return Some(1..1 + name.len());
    }
    let keys = ["type", "variant", "kind", "intent", "severity"];
    let (_, place) = attributes.iter().find(|(key, _)| keys.contains(key))?;
    let place = place.clone()?;
    is_kind(name, &tag[place.clone()]).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_become_what_they_show() {
        use TagKind::{Alone, Close, Open};
        let cases = [
            ("<Tabs>", "Tabs", Open, Some(""), ""),
            (
                r#"<Card title="Start here" icon="x" href="/start">"#,
                "Card",
                Open,
                Some("**[Start here](/start)**\n"),
                "",
            ),
            (
                r#"<Card title="A" description="b" />"#,
                "Card",
                Alone,
                Some("**A**: b"),
                "",
            ),
            (
                r#"<ParamField path="id" type="string" required>"#,
                "ParamField",
                Open,
                Some("`id`: string (required)\n"),
                "",
            ),
            (
                r#"<ParamField query="n" default="3">"#,
                "ParamField",
                Open,
                Some("`n` (default 3)\n"),
                "",
            ),
            ("<Note>", "Note", Open, Some("**Note**\n"), ""),
            ("<Note/>", "Note", Alone, Some(""), ""),
            (r#"<Warning title="Hot">"#, "Warning", Open, Some("**Hot**\n"), ""),
            (r#"<Aside type="tip">"#, "Aside", Open, Some("**Tip**\n"), ""),
            (r#"<Callout type="x">"#, "Callout", Open, Some(""), ""),
            (r#"<a href="/x" class="y">"#, "a", Open, Some("["), "](/x)"),
            (r#"<a id="x">"#, "a", Open, Some(""), ""),
            (
                r#"<img src="a.png" alt="A cat"/>"#,
                "img",
                Alone,
                Some("![A cat](a.png)"),
                "",
            ),
            ("<li>", "li", Open, Some("- "), ""),
            ("<code>", "code", Open, Some("`"), "`"),
            ("<td>", "td", Open, None, ""),
            ("<div className=\"x\">", "div", Open, Some(""), ""),
            ("</Tabs>", "Tabs", Close, Some(""), ""),
        ];
        for (tag, name, kind, edit, closer) in cases {
            let found = shown(tag, name, &kind, None, true);
            assert_eq!(
                (found.edit.as_deref(), found.closer.as_str()),
                (edit, closer),
                "{tag}"
            );
        }
        assert_eq!(
            shown("</a>", "a", &Close, Some("](/x)"), false).edit.as_deref(),
            Some("](/x)")
        );
        let card = r#"<Card icon="x" title="T">"#;
        let labels = shown(card, "Card", &Open, None, false).labels;
        assert_eq!(
            labels
                .iter()
                .map(|label| &card[label.clone()])
                .collect::<Vec<_>>(),
            ["T"]
        );
    }

    #[test]
    fn references_are_characters_unless_they_would_be_markup() {
        let cases = [
            ("&nbsp;x", Some((' ', 6))),
            ("&#x7B;", Some(('{', 6))),
            ("&#123;", Some(('{', 6))),
            ("&lt;", None),
            ("&#60;", None),
            ("&#0;", None),
            ("& b;", None),
            ("&", None),
        ];
        for (text, expected) in cases {
            assert_eq!(character_reference(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_in_braces_are_found() {
        let cases = [
            ("{' '}", Some(" ")),
            ("{ \"a\" } b", Some("a")),
            ("{a}", None),
            ("{`${a}`}", None),
            ("{", None),
        ];
        for (source, expected) in cases {
            assert_eq!(
                text_expression(source).map(|place| &source[place]),
                expected,
                "{source}"
            );
        }
    }
}
