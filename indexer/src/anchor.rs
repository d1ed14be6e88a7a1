//! Anchors: the fragment that names a section in its document.
//!
//! In: the plain text of each heading, its explicit id if it has one, the anchor tags at it, and the tree's flavour.
//! Out: one anchor per heading, unique in the document, and aliases that lead to the same section. Literal slugs and
//! explicit ids are reserved before any suffix is given, so `a`, `a`, `a-1` never meet.

use std::collections::{HashMap, HashSet};

use crate::flavour::{self, Flavour, Suffix};
use crate::markdown::char_boundary;

/// Bytes of an anchor or alias; a longer name is cut, and a longer alias is none.
const LONGEST_NAME: usize = 512;

/// What a heading offers as its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AnchorSource<'a> {
    pub(crate) title: &'a str,
    pub(crate) explicit: Option<&'a str>,
    pub(crate) aliases: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) id: String,
    pub(crate) aliases: Vec<String>,
}

/// One anchor for each heading, in order.
pub(crate) fn assign(headings: &[AnchorSource<'_>], flavour: Flavour) -> Vec<Anchor> {
    let ids = named(
        headings,
        |title| Some(flavour::slug(title, flavour)),
        flavour.suffix(),
    );
    let mut used: HashSet<String> = ids.iter().flatten().cloned().collect();
    let mut anchors: Vec<Anchor> = Vec::with_capacity(headings.len());
    for (id, heading) in ids.into_iter().zip(headings) {
        let own = heading.aliases.iter();
        let aliases = own
            .filter(|alias| alias.len() <= LONGEST_NAME)
            .filter(|&alias| used.insert(alias.clone()))
            .cloned()
            .collect();
        anchors.push(Anchor {
            id: id.unwrap_or_default(),
            aliases,
        });
    }
    // The author's own aliases come before any made here, wherever they stand.
    for alternative in flavour.alternatives() {
        let names = named(headings, alternative.slug, alternative.suffix);
        for ((name, anchor), heading) in names.into_iter().zip(&mut anchors).zip(headings) {
            if let Some(name) = name.filter(|_| heading.explicit.is_none())
                && used.insert(name.clone())
            {
                anchor.aliases.push(name);
            }
        }
    }
    anchors
}

/// The name of each heading: its explicit id, else its slug where there is one; made unique by suffixes.
fn named(
    headings: &[AnchorSource<'_>],
    slug: impl Fn(&str) -> Option<String>,
    suffix: Suffix,
) -> Vec<Option<String>> {
    let literal = |heading: &AnchorSource<'_>| match heading.explicit {
        Some(explicit) => Some(explicit.to_owned()),
        None => slug(heading.title),
    };
    let literal: Vec<Option<String>> = headings.iter().map(|heading| literal(heading).map(cut)).collect();
    // A heading that names nothing gives way to one that is called `section`.
    let names_itself = |heading: &AnchorSource<'_>| heading.explicit.is_some() || !heading.title.is_empty();
    let reserved: HashSet<&str> = literal.iter().flatten().map(String::as_str).collect();
    let named: HashSet<&str> = headings
        .iter()
        .zip(&literal)
        .filter(|(heading, _)| names_itself(heading))
        .filter_map(|(_, name)| name.as_deref())
        .collect();
    // An explicit id is its heading's wherever that stands: a literal slug before it gives way.
    let explicit: HashSet<&str> = headings.iter().filter_map(|heading| heading.explicit).collect();
    let mut used: HashSet<String> = HashSet::new();
    let mut next_suffix: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::with_capacity(headings.len());
    for (heading, literal) in headings.iter().zip(&literal) {
        let Some(name) = literal else {
            names.push(None);
            continue;
        };
        let free = !used.contains(name)
            && (heading.explicit.is_some() || !explicit.contains(name.as_str()))
            && (names_itself(heading) || !named.contains(name.as_str()));
        let unique = if free {
            name.clone()
        } else {
            let number = next_suffix.entry(name).or_insert(suffix.first);
            loop {
                let candidate = format!("{name}{}{number}", suffix.joint);
                *number += 1;
                if !reserved.contains(candidate.as_str()) && !used.contains(&candidate) {
                    break candidate;
                }
            }
        };
        used.insert(unique.clone());
        names.push(Some(unique));
    }
    names
}

/// A name as long as an id may be: a paragraph underlined by mistake is a heading too.
fn cut(mut name: String) -> String {
    name.truncate(char_boundary(&name, LONGEST_NAME));
    name
}

/// What braces at the end of a heading line say of it; they are no part of its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineAttributes {
    /// Replaces the heading's own slug.
    pub(crate) id: Option<String>,
    /// Leads to the heading too: `id=x`, as `<a id=x>` does.
    pub(crate) alias: Option<String>,
    /// Where they begin in the line, the blanks before them included.
    pub(crate) start: usize,
    /// Where they end.
    pub(crate) end: usize,
}

/// Reads `{#id}`, `{ #id .class key="value" }`, `{: #id }`, `{ id="x" }`, `{ data-x }`, `{/* #id */}` or `{/*id*/}` at
/// the end of a line. The grammar is strict: braces with anything else in them belong to the title, and so do those that could
/// as well be code, such as `{.wide}` and `{a=1}`.
pub(crate) fn line_attributes(line: &str) -> Option<LineAttributes> {
    let line = line.trim_end();
    let end = line.len();
    let inner = line.strip_suffix('}')?;
    let open = inner.rfind('{')?;
    let inner = inner[open + 1..].trim();
    let (id, alias) = match inner.strip_prefix("/*").and_then(|rest| rest.strip_suffix("*/")) {
        Some(comment) => {
            let id = comment.trim();
            (Some(id.strip_prefix('#').unwrap_or(id)), None)
        }
        // The colon is Python-Markdown's and may be left out.
        None => attribute_list(inner.strip_prefix(':').unwrap_or(inner))?,
    };
    let is_id = |id: &str| {
        !id.is_empty() && !id.contains(|c: char| c.is_whitespace() || c.is_control() || "{}#*".contains(c))
    };
    let start = line[..open].trim_end().len();
    (id.is_none_or(is_id) && alias.is_none_or(is_id)).then(|| LineAttributes {
        id: id.map(str::to_owned),
        alias: alias.map(str::to_owned),
        start,
        end,
    })
}

/// The id and the `id=` of a list of attributes; nothing where it is none, or names neither an id nor a `data-` key.
fn attribute_list(list: &str) -> Option<(Option<&str>, Option<&str>)> {
    let (mut id, mut alias, mut is_plain) = (None, None, true);
    let mut rest = list.trim_start();
    while !rest.is_empty() {
        let word_end = rest
            .find(|c: char| c.is_whitespace() || c == '=')
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        let (value, after) = match after.strip_prefix('=') {
            Some(after) => {
                let (value, after) = attribute_value(after)?;
                (Some(value), after)
            }
            None => (None, after),
        };
        match (word.strip_prefix('#'), value) {
            // A second `#` is a slip that links do not repeat.
            (Some(name), None) => id = id.or(Some(name.strip_prefix('#').unwrap_or(name))),
            (None, None) if word.starts_with('.') => {}
            (None, Some(value)) if is_key(word) => {
                if word == "id" {
                    alias = alias.or(Some(value));
                }
                is_plain &= !word.starts_with("data-");
            }
            (None, None) if word.starts_with("data-") && is_key(word) => is_plain = false,
            _ => return None,
        }
        rest = after.trim_start();
    }
    (id.is_some() || alias.is_some() || !is_plain).then_some((id, alias))
}

/// The value that `text` begins with, in quotes or up to a blank, and what follows it.
fn attribute_value(text: &str) -> Option<(&str, &str)> {
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].split_once(quote),
        _ => Some(text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))),
    }
}

fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
}

/// The `id` or `name` of each `<a>`, `<span>` and `<h1>`-`<h6>` tag in a line, and whether the line holds nothing
/// but such tags.
pub(crate) fn anchor_tags(line: &str) -> (Vec<String>, bool) {
    let (mut names, mut alone) = (Vec::new(), true);
    let mut rest = line;
    while let Some(open) = rest.find('<') {
        alone &= rest[..open].trim().is_empty();
        let tag = &rest[open + 1..];
        let Some(close) = tag.find('>') else {
            return (names, false);
        };
        rest = &tag[close + 1..];
        let tag = tag[..close].trim_end_matches('/');
        let name_end = tag.find(|c: char| c.is_ascii_whitespace()).unwrap_or(tag.len());
        let (name, attributes) = tag.split_at(name_end);
        let is_anchor = |name: &str| {
            matches!(
                name.to_ascii_lowercase().as_str(),
                "a" | "span" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6"
            )
        };
        match name.strip_prefix('/') {
            Some(name) => alone &= is_anchor(name),
            None if is_anchor(name) => match anchor_attribute(attributes, name.eq_ignore_ascii_case("a")) {
                Some(found) => names.push(found),
                None => alone = false,
            },
            None => alone = false,
        }
    }
    alone &= rest.trim().is_empty() && !names.is_empty();
    (names, alone)
}

/// The `id` of each tag in a piece of HTML, and the `name` of links, with the places of the tags.
pub(crate) fn tag_ids(html: &str) -> impl Iterator<Item = (usize, &str)> {
    let may_have = html.contains("id=") || html.contains("name=") || html.contains("ID=");
    let mut from = if may_have { 0 } else { html.len() };
    std::iter::from_fn(move || {
        loop {
            let open = from + html[from..].find('<')?;
            let tag = &html[open + 1..];
            let close = tag.find('>')?;
            from = open + 1 + close;
            let tag = &tag[..close];
            let name_end = tag.find(|c: char| c.is_ascii_whitespace()).unwrap_or(tag.len());
            let (name, attributes) = tag.split_at(name_end);
            let is_tag = name.starts_with(|first: char| first.is_ascii_alphabetic());
            if let Some(id) = tag_id(attributes, name.eq_ignore_ascii_case("a")).filter(|_| is_tag) {
                return Some((open, id));
            }
        }
    })
}

fn anchor_attribute(attributes: &str, is_link: bool) -> Option<String> {
    tag_id(attributes, is_link).map(str::to_owned)
}

fn tag_id(attributes: &str, is_link: bool) -> Option<&str> {
    let mut rest = attributes;
    loop {
        let equals = rest.find('=')?;
        let name = rest[..equals].split_whitespace().next_back()?;
        let value = rest[equals + 1..].trim_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote)?,
            _ => value.split_at(
                value
                    .find(|c: char| c.is_ascii_whitespace())
                    .unwrap_or(value.len()),
            ),
        };
        let wanted = name.eq_ignore_ascii_case("id") || is_link && name.eq_ignore_ascii_case("name");
        if wanted && !value.is_empty() && !value.contains(char::is_whitespace) {
            return Some(value);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(headings: &[(&str, Option<&str>)], flavour: Flavour) -> Vec<String> {
        let source = |&(title, explicit)| AnchorSource {
            title,
            explicit,
            aliases: Vec::new(),
        };
        let anchors = assign(&headings.iter().map(source).collect::<Vec<_>>(), flavour);
        anchors.into_iter().map(|anchor| anchor.id).collect()
    }

    #[test]
    fn suffixes_never_meet_a_literal_slug_or_an_explicit_id() {
        type Headings<'t> = &'t [(&'t str, Option<&'t str>)];
        let cases: [(Headings<'_>, [&str; 3]); 4] = [
            (&[("A", None), ("A", None), ("A-1", None)], ["a", "a-2", "a-1"]),
            (&[("A", None), ("B", Some("a")), ("A", None)], ["a-1", "a", "a-2"]),
            (
                &[("A", Some("x")), ("B", Some("x")), ("x-1", None)],
                ["x", "x-2", "x-1"],
            ),
            (
                &[("", None), ("", None), ("section", None)],
                ["section-1", "section-2", "section"],
            ),
        ];
        for (headings, expected) in cases {
            for flavour in Flavour::ALL
                .into_iter()
                .filter(|&flavour| flavour != Flavour::Mdn)
            {
                assert_eq!(ids(headings, flavour), expected, "{flavour}");
            }
        }
        let mdn: [(Headings<'_>, [&str; 3]); 3] = [
            (
                &[("Result", None), ("Result", None), ("Result", None)],
                ["result", "result_2", "result_3"],
            ),
            (&[("A", None), ("A", None), ("A 2", None)], ["a", "a_3", "a_2"]),
            (
                &[("A", None), ("A", None), ("B", Some("a_2"))],
                ["a", "a_3", "a_2"],
            ),
        ];
        for (headings, expected) in mdn {
            assert_eq!(ids(headings, Flavour::Mdn), expected);
        }
    }

    fn heading<'t>(title: &'t str, aliases: &[&str]) -> AnchorSource<'t> {
        AnchorSource {
            title,
            explicit: None,
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        }
    }

    #[test]
    fn an_alias_never_shadows_an_id_or_another_alias() {
        let headings = vec![heading("A", &["old", "b", "a"]), heading("B", &["old", "older"])];
        let anchors = assign(&headings, Flavour::Github);
        assert_eq!(anchors[0].aliases, ["old"]);
        assert_eq!(anchors[1].aliases, ["older"]);
    }

    #[test]
    fn the_sites_own_names_are_aliases() {
        let aliases = |flavour, headings: Vec<AnchorSource<'_>>| -> Vec<Vec<String>> {
            let anchors = assign(&headings, flavour);
            anchors.into_iter().map(|anchor| anchor.aliases).collect()
        };
        let titled = |titles: &[&'static str]| titles.iter().map(|title| heading(title, &[])).collect();
        let none: &[&str] = &[];
        assert_eq!(
            aliases(
                Flavour::Mkdocs,
                titled(&["Usage", "Usage", "Déjà vu", "概要", "Usage"])
            ),
            [none, &["usage_1"], &["deja-vu"], none, &["usage_2"]]
        );
        // Deja is the id of its own heading, and taken in the ASCII site by the one before.
        assert_eq!(
            aliases(Flavour::Mkdocs, titled(&["Déjà", "Deja"])),
            [none, &["deja_1"]]
        );
        // What the author wrote leads where the author said.
        assert_eq!(
            aliases(
                Flavour::Mkdocs,
                vec![heading("Déjà", &[]), heading("B", &["deja"])]
            ),
            [none, &["deja"]]
        );
        let mut explicit = heading("Déjà", &[]);
        explicit.explicit = Some("x");
        assert_eq!(aliases(Flavour::Mkdocs, vec![explicit]), [none]);
        assert_eq!(
            aliases(Flavour::Gitlab, titled(&["2024", "v1", "2024"])),
            [&["anchor-2024"], none, &["anchor-2024-1"]]
        );
        assert_eq!(
            aliases(Flavour::Github, titled(&["⚙\u{FE0F} A", "A", "⚙\u{FE0F} A"])),
            [&["\u{FE0F}-a"], none, &["\u{FE0F}-a-1"]]
        );
        for flavour in [Flavour::Vitepress, Flavour::Hugo, Flavour::Mdbook, Flavour::Mdn] {
            assert_eq!(aliases(flavour, titled(&["Déjà", "2024", "2024"])), [none; 3]);
        }
    }

    #[test]
    fn only_strict_attributes_leave_the_title() {
        let id = |id, title| Some((Some(id), None, title));
        let alias = |alias, title| Some((None, Some(alias), title));
        let cases = [
            ("# Start {#begin-here}", id("begin-here", "# Start")),
            ("## Opts { #opts .wide data-x=1 }  ", id("opts", "## Opts")),
            ("## Is { #is data-toc-label=\"is computed\" }", id("is", "## Is")),
            ("# Intro {/* #intro-id */}", id("intro-id", "# Intro")),
            ("# Intro {/*intro*/}", id("intro", "# Intro")),
            ("{#é}", id("é", "")),
            ("### X {##x}", id("x", "### X")),
            ("## X {key=\"v\" #x}", id("x", "## X")),
            ("## X {.wide #x}", id("x", "## X")),
            ("## X {.wide key='a b' .tall #x}", id("x", "## X")),
            ("## X {: #x .wide }", id("x", "## X")),
            ("## X {:.wide #x}", id("x", "## X")),
            ("## 1.2 { id=\"1.2\" }", alias("1.2", "## 1.2")),
            ("## Path { id=path }", alias("path", "## Path")),
            ("## X { data-search-exclude }", Some((None, None, "## X"))),
            ("## Map {a: 1}", None),
            ("## Map {a=1}", None),
            ("## Map {.wide}", None),
            ("## Map {:x}", None),
            ("## Map {: }", None),
            ("## Unsafe {}", None),
            ("## X {#}", None),
            ("## X {##}", None),
            ("## X {###x}", None),
            ("## X {#a b}", None),
            ("## X { id=\"a b\" }", None),
            ("## X { id=\"a }", None),
            ("## X {/* two words */}", None),
            ("## X {#a} more", None),
        ];
        for (line, expected) in cases {
            let found = line_attributes(line);
            let found = found
                .as_ref()
                .map(|found| (found.id.as_deref(), found.alias.as_deref(), &line[..found.start]));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn anchor_tags_give_their_names() {
        let cases: [(&str, &[&str], bool); 8] = [
            (r#"<a id="x"></a>"#, &["x"], true),
            (
                r#"  <a name='x' class="y"></a> <span id=z></span>"#,
                &["x", "z"],
                true,
            ),
            (r#"<h2 class="c" id="old">"#, &["old"], true),
            (r#"<a id="x"/>"#, &["x"], true),
            (r#"# <a id="x"></a> Title"#, &["x"], false),
            (r#"<a href="x">text</a>"#, &[], false),
            (r#"<h2 id="x">Title</h2>"#, &["x"], false),
            ("text", &[], false),
        ];
        for (line, names, alone) in cases {
            let (found, is_alone) = anchor_tags(line);
            assert_eq!(
                (found, is_alone),
                (names.iter().map(|&n| n.to_owned()).collect(), alone),
                "{line}"
            );
        }
    }
}
