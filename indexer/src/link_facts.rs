//! What a document offers to links and asks of them: its anchors, and its links as written.
//!
//! In: a document's text, outline and sections. Out: [`LinkFacts`], for [`crate::link_check`]. Beside the anchors of the
//! sections those count that renderers give to anything else. A pattern too many is no harm here: it only hides a
//! broken link, where one too few would report a sound one.

use docs_index::SectionSource;

use crate::flavour::{self, Flavour};
use crate::include::LineMap;
use crate::markdown::{self, LinkForm, Outline, char_boundary};

/// Bytes of an anchor above which it is none.
const ANCHOR_LIMIT: usize = 200;
/// What the anchor of a rule begins with: the Rust Reference names its paragraphs by lines such as `r[expr.field]`.
pub(crate) const RULE_ANCHOR: &str = "r-";

/// A link as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenLink {
    /// Line in the original file, from 1.
    pub line: u32,
    /// The destination.
    pub destination: String,
}

/// What a document offers to links and asks of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFacts {
    /// All that a fragment may name, one a line.
    pub anchors: String,
    /// Its links in order.
    pub links: Vec<WrittenLink>,
}

impl LinkFacts {
    /// The facts of a document: `source` has the lines of the buffer that the outline was read from.
    pub(crate) fn of(
        source: &str,
        outline: &Outline,
        sections: &[SectionSource],
        lines: &LineMap,
        flavour: Flavour,
    ) -> Self {
        let mut anchors = String::new();
        let of_sections = sections
            .iter()
            .flat_map(|section| section.aliases.iter().chain(std::iter::once(&section.anchor)));
        for anchor in of_sections.map(String::as_str).chain(further_anchors(source)) {
            anchors.push_str(anchor);
            anchors.push('\n');
        }
        for heading in source.lines().filter_map(nested_heading) {
            anchors.push_str(&flavour::slug(heading, flavour));
            anchors.push('\n');
        }
        for rule in source.lines().filter_map(rule) {
            anchors.push_str(RULE_ANCHOR);
            anchors.push_str(rule);
            anchors.push('\n');
        }
        let (mut line, mut counted) = (1_u32, 0);
        let place = |link: &markdown::Link| {
            let until = link.range.start.clamp(counted, source.len());
            let feeds = source.as_bytes()[counted..until]
                .iter()
                .filter(|&&byte| byte == b'\n');
            line = line.saturating_add(u32::try_from(feeds.count()).unwrap_or(u32::MAX));
            counted = until;
            WrittenLink {
                line: lines.original(line),
                destination: link.destination.clone(),
            }
        };
        Self {
            anchors,
            links: outline
                .links
                .iter()
                .filter(|link| is_checked(link))
                .map(place)
                .collect(),
        }
    }
}

/// Whether a link is checked: not an image, which is no page, and not a wiki's, which may name a page that is yet to be
/// written.
fn is_checked(link: &markdown::Link) -> bool {
    !link.is_image && link.form != LinkForm::Wiki
}

/// Anchors anywhere in the text that are no heading's: `id="x"`, `name="x"`, `{#x}`, `{: #x}`, `(x)=`. Those in code count
/// too: rather one broken link too few than one too many.
fn further_anchors(source: &str) -> impl Iterator<Item = &str> {
    source.lines().flat_map(|line| {
        let attributes = line.match_indices('=').filter_map(|(equals, _)| {
            let before = line[..equals].trim_end();
            // `titleId` and the like name what a component shows.
            let is_id =
                before.len() >= 2 && before.as_bytes()[before.len() - 2..].eq_ignore_ascii_case(b"id");
            if !is_id && !before.ends_with("name") {
                return None;
            }
            let value = line[equals + 1..].trim_start();
            let value = beginning(value.strip_prefix('{').unwrap_or(value));
            match value.chars().next()? {
                quote @ ('"' | '\'' | '`') => value[1..].split(quote).next(),
                _ => value.split([' ', '\t', '>', '}', '/']).next(),
            }
        });
        let lists = line.match_indices('#').filter_map(|(hash, _)| {
            let before = line[..hash].trim_end().trim_end_matches(':');
            if !before.ends_with('{') {
                return None;
            }
            beginning(&line[hash + 1..]).split([' ', '\t', '}']).next()
        });
        let target = line
            .trim()
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(")="));
        attributes
            .chain(lists)
            .chain(target)
            .filter(|anchor| (1..=ANCHOR_LIMIT).contains(&anchor.len()))
    })
}

/// The title of a heading inside a quote, a list or an admonition: no section, but renderers give it an anchor.
fn nested_heading(line: &str) -> Option<&str> {
    let inner = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '-' | '*'));
    let title = inner.trim_start_matches('#');
    let is_heading = (1..=6).contains(&(inner.len() - title.len())) && inner.len() < line.len();
    title.strip_prefix(' ').filter(|_| is_heading).map(str::trim)
}

fn rule(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("r[")?.strip_suffix(']')?;
    is_rule_name(name).then_some(name)
}

pub(crate) fn is_rule_name(name: &str) -> bool {
    name.len() <= ANCHOR_LIMIT
        && !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}

/// As much of a text as an anchor at its start can need, so that a line of openers is not read again for each.
fn beginning(text: &str) -> &str {
    &text[..char_boundary(text, ANCHOR_LIMIT + 2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_found_anywhere_in_a_page() {
        let source = "<div id=\"a\">\n<a name='b'></a> <X titleId=\"c\" id={'d'}>\ntext { #e .x } and {: #f}\n(g)=\n{#h}\nid\n= x # y\n";
        let found: Vec<&str> = further_anchors(source).collect();
        assert_eq!(found, ["a", "b", "c", "d", "e", "f", "g", "h"]);
        for (line, expected) in [
            ("> ## In a *quote*", Some("In a *quote*")),
            ("- # Item ", Some("Item")),
            ("    ### Tab", Some("Tab")),
            ("# Not nested", None),
            ("> ####### Seven", None),
            ("> text", None),
        ] {
            assert_eq!(nested_heading(line), expected, "{line}");
        }
    }

    #[test]
    fn openers_take_linear_time() {
        for opener in ["{#", " id=", " id=\"", "# ", "> ", "(", "r[", "=", "{ #"] {
            let source = opener.repeat(100_000);
            let begin = std::time::Instant::now();
            let _ = further_anchors(&source).count();
            let _ = source.lines().filter_map(nested_heading).count();
            assert!(begin.elapsed().as_secs() < 10, "{opener:?}");
        }
    }
}
