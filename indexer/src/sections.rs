//! Sections: from an outline to the records of a document.
//!
//! In: source, parse buffer, outline. Out: the sections in order. The first one owns line 1, each ends before the
//! next heading's first line, the last at the end of the file. Text before the first heading makes a level-0
//! section; blanks, statements and anchor tags alone do not. Anchor tags on lines of their own directly before a
//! heading are its aliases and are stored nowhere.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use docs_index::{PartSource, SectionSource};

use crate::anchor::{self, AnchorSource};
use crate::container;
use crate::edit::{Edit, apart};
use crate::flavour;
use crate::include::LineMap;
use crate::link_facts;
use crate::links;
use crate::markdown::{Footnote, Heading, Outline};
use crate::mask::{Dialect, Masked, Style};
use crate::parts;
use crate::relink::Relinking;
use crate::split::Tree;
use crate::stored::StoredText;

/// Bytes of a footnote above which it is not repeated in the sections that refer to it.
const LONGEST_FOOTNOTE: usize = 2000;

/// What the sections of a document are made from.
pub(crate) struct Sectioning<'d> {
    pub(crate) path: &'d [u8],
    pub(crate) source: &'d str,
    /// Byte offset of the first line after the front matter.
    pub(crate) body: usize,
    pub(crate) masked: &'d Masked,
    pub(crate) style: Style,
    pub(crate) tree: &'d Tree<'d>,
    /// Public address of the page; may be empty.
    pub(crate) url: &'d str,
    pub(crate) outline: &'d Outline,
    /// Title of a level-0 section.
    pub(crate) title: &'d str,
    /// Lines of the file for those of the text.
    pub(crate) lines: &'d LineMap,
    /// Lines of the file, at least 1.
    pub(crate) line_count: u32,
}

impl Sectioning<'_> {
    /// The sections; none where the file has no text.
    pub(crate) fn sections(&self) -> Vec<SectionSource> {
        let lines = Lines::of(self.source);
        let mut edits = self.masked.edits.clone();
        let placed = self.placed(&lines, &mut edits);
        let anchor_sources = placed.iter().map(|heading| AnchorSource {
            title: &heading.heading.title,
            explicit: heading.explicit.as_deref(),
            aliases: heading.aliases.clone(),
        });
        let anchors = anchor::assign(&anchor_sources.collect::<Vec<_>>(), self.tree.flavour);
        let names: HashSet<&str> = anchors
            .iter()
            .flat_map(|anchor| anchor.aliases.iter().chain(std::iter::once(&anchor.id)))
            .map(String::as_str)
            .collect();
        let relinking = Relinking {
            path: self.path,
            source: self.source,
            masked: self.masked,
            outline: self.outline,
            tree: self.tree,
            anchors: &names,
            url: self.url,
        };
        relinking.relink_edits(&mut edits);
        // Where a call stands in a destination, the destination as a whole is what is stored.
        let edits = [relinking.edits(), edits].concat();
        let text = Text {
            edits: apart(edits),
            footnotes: self
                .outline
                .footnote_definitions
                .iter()
                .rev()
                .map(|definition| (definition.label.as_str(), definition))
                .collect(),
            links: self
                .outline
                .links
                .iter()
                .filter(|link| !link.text.is_empty() && !link.is_image)
                .map(|link| (link.range.start, link.destination.as_str(), link.text.as_str()))
                .collect(),
        };
        let mut sections = Vec::with_capacity(placed.len() + 1);
        let first_start = placed.first().map_or(self.source.len(), |heading| heading.start);
        let first_line = placed.first().map_or(self.line_count + 1, |heading| heading.line);
        if placed.is_empty() || self.outline.has_text(&(self.body..first_start)) {
            let parts = self.parts(self.body..first_start, &text);
            if !parts.is_empty() {
                sections.push(SectionSource {
                    heading: self.title.to_owned(),
                    line_start: 1,
                    line_end: (first_line - 1).max(1),
                    parts,
                    ..SectionSource::default()
                });
            }
        }
        for (index, (heading, anchor)) in placed.iter().zip(anchors).enumerate() {
            let next = placed.get(index + 1);
            let end = next.map_or(self.source.len(), |next| next.start);
            let mut parts = self.parts(heading.text_start..end, &text);
            if parts.is_empty() {
                let text = "#".repeat(usize::from(heading.heading.level));
                parts.push(PartSource {
                    text,
                    ..PartSource::default()
                });
            }
            sections.push(SectionSource {
                heading: heading.heading.title.clone(),
                anchor: anchor.id,
                aliases: anchor.aliases,
                level: heading.heading.level,
                line_start: if sections.is_empty() { 1 } else { heading.line },
                line_end: next.map_or(self.line_count, |next| next.line - 1),
                parts,
            });
        }
        sections
    }

    /// Where each heading stands, with its names; hides from the text what only names it.
    fn placed<'o>(&'o self, lines: &Lines, edits: &mut Vec<Edit>) -> Vec<Placed<'o>> {
        let mut placed: Vec<Placed<'o>> = Vec::with_capacity(self.outline.headings.len());
        let mut floor = lines.index_of(self.body);
        for heading in &self.outline.headings {
            let first = lines.index_of(heading.range.start);
            let in_heading = self
                .masked
                .buffer
                .get(heading.range.clone())
                .unwrap_or_default()
                .trim_end();
            let last = lines.index_of(heading.range.start + in_heading.len().saturating_sub(1));
            let start = lines.start(first);
            let end = lines.start(last + 1);
            let mut aliases = Vec::new();
            self.aliases_before(lines, floor..first, &mut aliases, edits);
            let own = &self.source[start..end];
            if own.contains('<') {
                aliases.extend(anchor::anchor_tags(own).0);
            }
            let attributes = &self.masked.attributes;
            // Kramdown's stand on the line below.
            let below = lines.start(last + 2);
            let reach = if self.source[end..below].starts_with("{:") {
                below
            } else {
                end
            };
            let attributes = attributes
                .get(attributes.partition_point(|found| found.start < start))
                .filter(|found| found.end <= reach);
            edits.extend(attributes.map(|found| Edit::hide(found.start..found.end)));
            aliases.extend(attributes.and_then(|found| found.alias.clone()));
            placed.push(Placed {
                heading,
                explicit: attributes.and_then(|found| found.id.clone()),
                aliases,
                line: self.lines.original(u32::try_from(first + 1).unwrap_or(u32::MAX)),
                start,
                text_start: start + (own.len() - own.trim_start().len()),
            });
            floor = last + 1;
        }
        self.add_ids(&mut placed);
        placed
    }

    /// Ids of tags in the text of a section are its aliases, after those at its heading; so are the names of headings
    /// that are content.
    fn add_ids(&self, placed: &mut [Placed<'_>]) {
        let known: HashSet<String> = placed
            .iter()
            .flat_map(|heading| heading.aliases.iter().cloned())
            .collect();
        let content = self.outline.content_headings.iter();
        let content: Vec<(usize, String)> = content
            .map(|(place, title)| (*place, flavour::slug(title, self.tree.flavour)))
            .collect();
        let rules = rule_names(self.source, self.body);
        for (place, id) in self.outline.ids.iter().chain(&content).chain(&rules) {
            let section = placed.partition_point(|heading| heading.heading.range.start <= *place);
            if let Some(heading) = section.checked_sub(1).and_then(|index| placed.get_mut(index))
                && !id.contains(char::is_whitespace)
                && !known.contains(id)
            {
                heading.aliases.push(id.clone());
            }
        }
    }

    /// Collects the lines of anchor tags above a heading, nearest last.
    fn aliases_before(
        &self,
        lines: &Lines,
        gap: Range<usize>,
        aliases: &mut Vec<String>,
        edits: &mut Vec<Edit>,
    ) {
        for line in gap.rev() {
            let range = lines.start(line)..lines.start(line + 1);
            let text = self.source[range.clone()].trim();
            if let Some(name) = container::label_of(text) {
                aliases.insert(0, name.to_owned());
                continue;
            }
            let (mut names, alone) = if text.starts_with('<') {
                anchor::anchor_tags(text)
            } else {
                (Vec::new(), false)
            };
            if !alone && (text.is_empty() || self.is_hidden(&range, text.len())) {
                continue;
            }
            if !alone {
                break;
            }
            names.append(aliases);
            *aliases = names;
            let line_start = range.start;
            edits.push(Edit::hide(
                line_start..line_start + self.source[range].trim_end().len(),
            ));
        }
    }

    /// Whether all visible characters of a line are hidden.
    fn is_hidden(&self, line: &Range<usize>, length: usize) -> bool {
        let blanks = self.source[line.clone()].len() - self.source[line.clone()].trim_start().len();
        let text = line.start + blanks..line.start + blanks + length;
        let next = self
            .masked
            .edits
            .partition_point(|edit| edit.range.start <= text.start);
        let edit = next.checked_sub(1).and_then(|index| self.masked.edits.get(index));
        edit.is_some_and(|edit| edit.text.is_empty() && edit.range.end >= text.end)
    }

    fn parts(&self, range: Range<usize>, text: &Text<'_>) -> Vec<PartSource> {
        let mut stored = StoredText::of(self.source, range.clone(), &text.edits);
        if stored.text.is_empty() {
            return Vec::new();
        }
        for footnote in self.footnotes_of(&range, text) {
            let definition = self.masked.source_range(&footnote.range);
            let definition = StoredText::of(self.source, definition, &text.edits);
            stored.append(range.end, &definition.text);
        }
        // Tags and statements are gone, and with them what made it another dialect.
        let style = Style {
            dialect: Dialect::Markdown,
            ..self.style
        };
        let cuts = parts::cut(&stored.text, style, self.tree.part_limit);
        let count = cuts.len();
        let mut parts = Vec::with_capacity(count);
        let mut start = range.start;
        for (index, cut) in cuts.into_iter().enumerate() {
            let end = if index + 1 == count {
                range.end
            } else {
                stored.source_of(cut.range.end)
            };
            let part_range = start..end.max(start);
            let part_text = if count == 1 {
                stored.text.clone()
            } else {
                [cut.head.as_str(), &stored.text[cut.range], &cut.tail].concat()
            };
            let mut part = PartSource {
                text: part_text,
                repeated_head: u32::try_from(cut.head.len()).unwrap_or(u32::MAX),
                repeated_tail: u32::try_from(cut.tail.len()).unwrap_or(u32::MAX),
                ..PartSource::default()
            };
            self.fill(&part_range, &text.links, &mut part);
            start = part_range.end;
            parts.push(part);
        }
        parts
    }

    /// Deals out to a part the pieces and links of its range.
    fn fill(&self, range: &Range<usize>, links: &[(usize, &str, &str)], part: &mut PartSource) {
        let pieces = &self.outline.pieces;
        let first = pieces.partition_point(|piece| piece.range.start < range.start);
        let spanning = first
            .checked_sub(1)
            .filter(|&before| pieces[before].range.end > range.start);
        for piece in &pieces[spanning.unwrap_or(first)..] {
            if piece.range.start >= range.end {
                break;
            }
            self.outline.append(piece, range, &mut part.fields);
        }
        let fields = &mut part.fields;
        for field in [
            &mut fields.prose,
            &mut fields.inline_code,
            &mut fields.link_text,
            &mut fields.code,
        ] {
            let trimmed = field.trim_end().len();
            field.truncate(trimmed);
        }
        let first = links.partition_point(|(start, ..)| *start < range.start);
        for (_, destination, text) in links[first..].iter().take_while(|(start, ..)| *start < range.end) {
            part.links.extend(links::read(destination, (*text).to_owned()));
        }
    }

    /// The footnotes that the text of a range refers to and that are defined elsewhere.
    fn footnotes_of<'t>(&self, range: &Range<usize>, text: &Text<'t>) -> Vec<&'t Footnote> {
        let references = &self.outline.footnote_references;
        let first = references.partition_point(|reference| reference.range.start < range.start);
        let in_range = references[first..]
            .iter()
            .take_while(|reference| reference.range.start < range.end);
        let mut seen = HashSet::new();
        let definitions = in_range
            .filter(|reference| seen.insert(reference.label.as_str()))
            .filter_map(|reference| text.footnotes.get(reference.label.as_str()).copied());
        definitions
            .filter(|definition| !range.contains(&definition.range.start))
            .filter(|definition| definition.range.len() <= LONGEST_FOOTNOTE)
            .collect()
    }
}

/// The anchors of rules, as specifications that are mdBooks name their paragraphs: a line `r[name]`.
fn rule_names(source: &str, body: usize) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let mut position = body;
    for line in source[body..].split_inclusive('\n') {
        if let Some(name) = line
            .trim_end()
            .strip_prefix("r[")
            .and_then(|rest| rest.strip_suffix(']'))
            && link_facts::is_rule_name(name)
        {
            names.push((position, format!("{}{name}", link_facts::RULE_ANCHOR)));
        }
        position += line.len();
    }
    names
}

/// What the texts of all sections are made with.
struct Text<'o> {
    edits: Vec<Edit>,
    /// Definitions by their labels.
    footnotes: HashMap<&'o str, &'o Footnote>,
    /// Place, destination and text of each link, in the order of their places.
    links: Vec<(usize, &'o str, &'o str)>,
}

/// A heading in the source.
struct Placed<'o> {
    heading: &'o Heading,
    explicit: Option<String>,
    aliases: Vec<String>,
    /// From 1.
    line: u32,
    /// Start of its first line.
    start: usize,
    /// Its first character that is no blank.
    text_start: usize,
}

/// Where the lines of a text begin.
struct Lines {
    starts: Vec<usize>,
    end: usize,
}

impl Lines {
    fn of(text: &str) -> Self {
        let feeds = text
            .bytes()
            .enumerate()
            .filter(|&(_, byte)| byte == b'\n')
            .map(|(at, _)| at + 1);
        let starts = std::iter::once(0)
            .chain(feeds.filter(|&start| start < text.len()))
            .collect();
        Self {
            starts,
            end: text.len(),
        }
    }

    /// The line, from 0, that a place stands in.
    fn index_of(&self, position: usize) -> usize {
        self.starts
            .partition_point(|&start| start <= position)
            .saturating_sub(1)
    }

    /// Start of a line, from 0; the end of the text for the one after the last.
    fn start(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.end)
    }
}
