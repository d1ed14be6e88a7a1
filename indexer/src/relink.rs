//! Links as an answer shows them: so that whoever reads one section can follow them.
//!
//! In: the links of a document, and what is known of the tree. Out: edits that put in the place of a relative
//! destination the id of the section it leads to, or an address on the site; that write out links whose destination
//! stands elsewhere in the file (`[text][label]`); and that hide the definitions of these, which no reader sees.

use std::collections::HashSet;
use std::ops::Range;

use docs_index::section_id;

use crate::edit::Edit;
use crate::flavour;
use crate::links;
use crate::markdown::{Link, LinkForm, Outline};
use crate::mask::Masked;
use crate::split::Tree;

/// Bytes of a destination above which it is not written out where it is referred to.
const LONGEST_WRITTEN_OUT: usize = 2000;

/// A document whose links are made to lead somewhere.
pub(crate) struct Relinking<'d> {
    pub(crate) path: &'d [u8],
    pub(crate) source: &'d str,
    pub(crate) masked: &'d Masked,
    pub(crate) outline: &'d Outline,
    pub(crate) tree: &'d Tree<'d>,
    /// Anchors and aliases of the document.
    pub(crate) anchors: &'d HashSet<&'d str>,
    /// Address of the document; may be empty.
    pub(crate) url: &'d str,
}

impl Relinking<'_> {
    pub(crate) fn edits(&self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = self
            .outline
            .links
            .iter()
            .filter_map(|link| self.edit(link))
            .collect();
        let definitions = self.outline.definitions.iter();
        edits.extend(definitions.map(|definition| Edit::hide(self.trimmed(definition))));
        edits
    }

    /// The place in the source of a definition, without blanks around it.
    fn trimmed(&self, definition: &Range<usize>) -> Range<usize> {
        let range = self.masked.source_range(definition);
        let text = self.source.get(range.clone()).unwrap_or_default();
        let start = range.start + (text.len() - text.trim_start().len());
        start..start + text.trim().len()
    }

    fn edit(&self, link: &Link) -> Option<Edit> {
        match &link.form {
            LinkForm::Auto => None,
            LinkForm::Inline(place) | LinkForm::Html(place) => {
                let range = self.masked.source_range(place);
                let written = self.source.get(range.clone())?;
                let destination = &link.destination;
                let target = self.target(destination);
                let is_html = matches!(link.form, LinkForm::Html(_));
                match target {
                    Some(target) if is_html => Some(Edit::replace(range, target)),
                    Some(target) => Some(Edit::replace(range, as_destination(&target))),
                    // What was a call of the site's is a destination now.
                    None if written.contains("{{") || written.contains("{%") => {
                        Some(Edit::replace(range, as_destination(destination)))
                    }
                    None => None,
                }
            }
            LinkForm::Reference(text_end) => {
                if link.destination.len() > LONGEST_WRITTEN_OUT {
                    return None;
                }
                let end = self.masked.source_range(&link.range).end;
                let start = self.masked.source_range(&(*text_end..link.range.end)).start;
                let target = self
                    .target(&link.destination)
                    .unwrap_or_else(|| link.destination.clone());
                Some(Edit::replace(
                    start..end,
                    format!("]({})", as_destination(&target)),
                ))
            }
            LinkForm::Wiki => {
                let (page, heading) = link
                    .destination
                    .split_once('#')
                    .unwrap_or((&link.destination, ""));
                let document = self.tree.wiki_page(self.path, page)?;
                // The name of a block is no heading's.
                let anchor = if heading.is_empty() || heading.starts_with('^') {
                    String::new()
                } else {
                    flavour::slug(heading, self.tree.flavour)
                };
                let target = section_id(document, &anchor);
                let range = self.masked.source_range(&link.range);
                let text = if link.text == link.destination && !heading.is_empty() {
                    let parts = [page, heading.trim_start_matches('^')];
                    let shown = parts.into_iter().filter(|part| !part.is_empty());
                    shown.collect::<Vec<_>>().join(" > ")
                } else {
                    link.text.clone()
                };
                Some(Edit::replace(
                    range,
                    format!("[{text}]({})", as_destination(&target)),
                ))
            }
        }
    }

    /// Where a destination leads: the id of a section, or the address of something else; nothing where it stays.
    fn target(&self, destination: &str) -> Option<String> {
        let link = links::read(destination, String::new())?;
        let Some(document) = self.tree.document(self.path, &link.path) else {
            return links::address(self.url, self.tree.base_url, destination);
        };
        let is_own = document == self.path;
        let fragment = link.fragment.as_str();
        let anchor = if is_own && !self.anchors.contains(fragment) {
            ""
        } else {
            fragment
        };
        Some(section_id(document, anchor))
    }

    /// The same for the links in the texts of edits: those of components.
    pub(crate) fn relink_edits(&self, edits: &mut [Edit]) {
        for edit in edits.iter_mut().filter(|edit| edit.text.contains("](")) {
            let mut text = String::with_capacity(edit.text.len());
            let mut rest = edit.text.as_str();
            while let Some(open) = rest.find("](") {
                text.push_str(&rest[..open + 2]);
                rest = &rest[open + 2..];
                let end = rest.find([')', ' ']).unwrap_or(rest.len());
                match self.target(&rest[..end]) {
                    Some(target) => text.push_str(&as_destination(&target)),
                    None => text.push_str(&rest[..end]),
                }
                rest = &rest[end..];
            }
            text.push_str(rest);
            edit.text = text;
        }
    }
}

/// Takes apart the calls of a site generator in the destinations of links, which the parser has not seen.
pub(crate) fn read_calls(source: &str, masked: &Masked, links: &mut [Link]) {
    for link in links {
        let (LinkForm::Inline(place) | LinkForm::Html(place)) = &link.form else {
            continue;
        };
        let written = source.get(masked.source_range(place)).unwrap_or_default();
        if written.contains("{{") || written.contains("{%") {
            link.destination = links::without_calls(written.trim_start_matches('<').trim_end_matches('>'));
        }
    }
}

/// A destination as Markdown writes it.
fn as_destination(target: &str) -> String {
    if target.is_empty() || target.contains([' ', '(', ')', '<', '>']) {
        format!("<{}>", target.replace('<', "%3C").replace('>', "%3E"))
    } else {
        target.to_owned()
    }
}
