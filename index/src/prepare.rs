//! Analyzes one document: the part of building that runs in parallel.
//!
//! In: a [`DocumentSource`]. Out: a [`PreparedDocument`]: its records with numbers of their own, its terms with
//! postings, its text blocks packed. Nothing here depends on any other document.

use crate::{
    document::{DocumentSource, PartSource, SectionSource},
    error::WriteError,
    field::{DocumentField, RecordField},
    format::{
        checksum::crc32,
        link_table::StoredLink,
        postings::{DOCUMENT_FIELDS, Posting, RECORD_FIELDS},
        section_table::{LengthEntry, STRING_LIMIT},
        text_blocks::{LIMIT, PackedBlock, Packer, TARGET},
    },
    options::IndexOptions,
    search::{
        acronyms::{self, Acronym},
        analyzer::{Analyzer, Term},
        language::Language,
        tokenizer::{Token, tokens},
    },
    text::cut_at_boundary,
};
use rustc_hash::FxHashMap;
use std::collections::HashSet;

/// A document's own part of the index; numbers of records and blocks begin at 0 with the document.
#[derive(Debug)]
pub struct PreparedDocument {
    pub(crate) document: StoredDocument,
    pub(crate) records: Vec<StoredRecord>,
    pub(crate) blocks: Vec<PackedBlock>,
    pub(crate) terms: Vec<String>,
    /// `(place in terms, posting)`, ascending by record.
    pub(crate) record_postings: Vec<(u32, Posting<RECORD_FIELDS>)>,
    /// `(place in terms, frequencies)`.
    pub(crate) document_postings: Vec<(u32, [u32; DOCUMENT_FIELDS])>,
    pub(crate) links: Vec<StoredLink>,
    /// Each as often as it was found.
    pub(crate) acronyms: Vec<Acronym>,
}

/// What the file keeps of a document.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoredDocument {
    pub(crate) path: Vec<u8>,
    pub(crate) title: String,
    pub(crate) description: String,
    /// One tag a line.
    pub(crate) tags: String,
    pub(crate) url: String,
    pub(crate) language: String,
    pub(crate) source_hash: [u8; 32],
    pub(crate) source_bytes: u64,
    pub(crate) first_record: u32,
    pub(crate) record_count: u32,
    pub(crate) title_length: u32,
    pub(crate) path_length: u32,
    pub(crate) front_matter_length: u32,
}

/// What the file keeps of a record.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoredRecord {
    pub(crate) heading: String,
    pub(crate) anchor: String,
    /// One alias a line.
    pub(crate) aliases: String,
    pub(crate) level: u8,
    pub(crate) document: u32,
    pub(crate) parent: Option<u32>,
    pub(crate) subtree_end: u32,
    pub(crate) line_start: u32,
    pub(crate) line_end: u32,
    pub(crate) part: u32,
    pub(crate) part_count: u32,
    pub(crate) repeated_head: u32,
    pub(crate) repeated_tail: u32,
    pub(crate) text_block: u32,
    pub(crate) text_start: u32,
    pub(crate) text_length: u32,
    pub(crate) text_checksum: u32,
    pub(crate) lengths: LengthEntry,
}

/// Analyzes and packs one document. Pure: call it from any thread, in any order.
///
/// # Errors
///
/// [`WriteError::Empty`] for a document without sections or a section without parts,
/// [`WriteError::Lines`], [`WriteError::DuplicateAnchor`], [`WriteError::PartTooLong`], [`WriteError::Compress`].
pub fn prepare(document: &DocumentSource, options: &IndexOptions) -> Result<PreparedDocument, WriteError> {
    check(document)?;
    let mut records = records_of(document);
    let blocks = pack(document, &mut records, options)?;
    let path_words = path_words(&document.path, &options.path_prefix);
    let mut counter = TermCounter::new(Language::of_tag(&document.language));
    let mut links = Vec::new();
    let mut acronyms = Vec::new();
    let mut number = 0_u32;
    let mut front_matter_length = 0;
    for section in &document.sections {
        for part in &section.parts {
            let lengths = &mut records[number as usize].lengths;
            lengths.heading = counter.count(&section.heading, RecordField::Heading as usize);
            lengths.body = count_body(part, &mut counter);
            if number == 0 {
                for text in std::iter::once(&document.description).chain(&document.tags) {
                    front_matter_length += counter.count(text, RecordField::FrontMatter as usize);
                }
            }
            counter.close_record(number);
            acronyms::find(&part.text, &mut acronyms);
            links.extend(part.links.iter().map(|link| StoredLink {
                record: number,
                path: link.path.clone(),
                fragment: link.fragment.clone(),
                text: link.text.clone(),
            }));
            number += 1;
        }
    }
    let title_length = counter.count(&document.title, DocumentField::Title as usize);
    let path_length = counter.count(&path_words, DocumentField::Path as usize);
    let document_postings = counter.close_document();
    Ok(PreparedDocument {
        document: StoredDocument {
            path: document.path.clone(),
            title: fit(&document.title),
            description: fit(&document.description),
            tags: one_a_line(&document.tags),
            url: fit(&document.url),
            language: fit(&document.language),
            source_hash: document.source_hash,
            source_bytes: document.source_bytes,
            first_record: 0,
            record_count: number,
            title_length,
            path_length,
            front_matter_length,
        },
        records,
        blocks,
        terms: counter.terms,
        record_postings: counter.record_postings,
        document_postings,
        links,
        acronyms,
    })
}

fn check(document: &DocumentSource) -> Result<(), WriteError> {
    let path = || String::from_utf8_lossy(&document.path).into_owned();
    if document.sections.is_empty() {
        return Err(WriteError::Empty {
            path: path(),
            what: "section",
        });
    }
    let mut anchors = HashSet::new();
    let mut last_line = 0;
    for section in &document.sections {
        if section.line_start <= last_line || section.line_end < section.line_start {
            return Err(WriteError::Lines {
                path: path(),
                line: section.line_start,
            });
        }
        last_line = section.line_end;
        if section.parts.is_empty() {
            return Err(WriteError::Empty {
                path: path(),
                what: "part",
            });
        }
        // These two are names: cut short they would be other names.
        if let Some(name) = [&document.path[..], section.anchor.as_bytes()]
            .iter()
            .find(|name| name.len() > STRING_LIMIT)
        {
            return Err(WriteError::NameTooLong {
                path: path(),
                length: name.len(),
                limit: STRING_LIMIT,
            });
        }
        if !anchors.insert(section.anchor.as_str()) {
            return Err(WriteError::DuplicateAnchor {
                path: path(),
                anchor: section.anchor.clone(),
            });
        }
        if let Some(part) = section.parts.iter().find(|part| part.text.len() > LIMIT - TARGET) {
            return Err(WriteError::PartTooLong {
                path: path(),
                length: part.text.len(),
                limit: LIMIT - TARGET,
            });
        }
    }
    Ok(())
}

/// What a string of the heap has room for.
fn fit(text: &str) -> String {
    cut_at_boundary(text, STRING_LIMIT).to_owned()
}

/// As many of the values as there is room for, one a line.
fn one_a_line(values: &[String]) -> String {
    let mut lines = String::new();
    for value in values {
        if lines.len() + 1 + value.len() > STRING_LIMIT {
            break;
        }
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines.push_str(&value.replace('\n', " "));
    }
    lines
}

/// One record for each part; a section's parent is the nearest earlier section of a lower level.
fn records_of(document: &DocumentSource) -> Vec<StoredRecord> {
    let mut records: Vec<StoredRecord> = Vec::new();
    // Level and first record of the sections that the next one may stand under.
    let mut open: Vec<(u8, u32)> = Vec::new();
    for section in &document.sections {
        let first = records.len() as u32;
        while open.last().is_some_and(|&(level, _)| level >= section.level) {
            close(&mut records, &mut open, first);
        }
        // The preamble is no ancestor: its heading is the page's title.
        let parent = open.last().map(|&(_, record)| record);
        if section.level > 0 {
            open.push((section.level, first));
        }
        records.extend(section.parts.iter().zip(1..).map(|(part, number)| StoredRecord {
            part: number,
            parent,
            subtree_end: first + section.parts.len() as u32,
            ..record_of(section, part)
        }));
    }
    let end = records.len() as u32;
    while !open.is_empty() {
        close(&mut records, &mut open, end);
    }
    records
}

/// Ends the subtree of the innermost open section.
fn close(records: &mut [StoredRecord], open: &mut Vec<(u8, u32)>, end: u32) {
    if let Some((_, first)) = open.pop() {
        let parts = records[first as usize].part_count;
        for record in &mut records[first as usize..(first + parts) as usize] {
            record.subtree_end = end;
        }
    }
}

fn record_of(section: &SectionSource, part: &PartSource) -> StoredRecord {
    StoredRecord {
        heading: fit(&section.heading),
        anchor: section.anchor.clone(),
        aliases: one_a_line(&section.aliases),
        level: section.level,
        line_start: section.line_start,
        line_end: section.line_end,
        part_count: section.parts.len() as u32,
        repeated_head: part.repeated_head,
        repeated_tail: part.repeated_tail,
        text_length: part.text.len() as u32,
        text_checksum: crc32(part.text.as_bytes()),
        ..StoredRecord::default()
    }
}

/// Packs the text and says in each record where its own is.
fn pack(
    document: &DocumentSource,
    records: &mut [StoredRecord],
    options: &IndexOptions,
) -> Result<Vec<PackedBlock>, WriteError> {
    let mut packer =
        Packer::new(options.compression_level, options.raw_text).map_err(WriteError::Compress)?;
    let mut blocks = Vec::new();
    let mut text = Vec::new();
    let parts = document.sections.iter().flat_map(|section| &section.parts);
    for (record, part) in records.iter_mut().zip(parts) {
        record.text_block = blocks.len() as u32;
        record.text_start = text.len() as u32;
        text.extend_from_slice(part.text.as_bytes());
        if text.len() >= TARGET {
            blocks.push(packer.pack(&text).map_err(WriteError::Compress)?);
            text.clear();
        }
    }
    // A last record without text may begin in a block that nothing else stands in; the block must be there.
    if records
        .last()
        .is_some_and(|record| record.text_block as usize == blocks.len())
    {
        blocks.push(packer.pack(&text).map_err(WriteError::Compress)?);
    }
    Ok(blocks)
}

fn count_body<'t>(part: &'t PartSource, counter: &mut TermCounter<'t>) -> u32 {
    [
        (&part.fields.prose, RecordField::Prose),
        (&part.fields.inline_code, RecordField::InlineCode),
        (&part.fields.link_text, RecordField::LinkText),
        (&part.fields.code, RecordField::Code),
    ]
    .into_iter()
    .map(|(text, field)| counter.count(text, field as usize))
    .sum()
}

/// The words of a path: without the tree's common folders, the extension, and a last name that every folder
/// has.
fn path_words(path: &[u8], prefix: &[u8]) -> String {
    let path = String::from_utf8_lossy(path.strip_prefix(prefix).unwrap_or(path)).into_owned();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let stem = name
        .rsplit_once('.')
        .map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    let is_index = ["index", "_index", "readme"]
        .iter()
        .any(|common| stem.eq_ignore_ascii_case(common));
    let words = if is_index {
        folders.to_owned()
    } else {
        format!("{folders} {stem}")
    };
    words.replace(['/', '-', '_'], " ")
}

/// Counts terms of one record after the other.
struct TermCounter<'t> {
    analyzer: Analyzer,
    terms: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// Terms of tokens met before: a range of `known_terms`.
    known: FxHashMap<&'t str, (u32, u32)>,
    known_terms: Vec<u32>,
    scratch: Vec<Term>,
    /// For each term its place in `open`, where the stamp is that of the record being counted.
    places: Vec<(u32, u32)>,
    stamp: u32,
    open: Vec<(u32, [u32; RECORD_FIELDS])>,
    record_postings: Vec<(u32, Posting<RECORD_FIELDS>)>,
}

impl<'t> TermCounter<'t> {
    fn new(language: Language) -> Self {
        Self {
            analyzer: Analyzer::new(language),
            terms: Vec::new(),
            numbers: FxHashMap::default(),
            known: FxHashMap::default(),
            known_terms: Vec::new(),
            scratch: Vec::new(),
            places: Vec::new(),
            stamp: 1,
            open: Vec::new(),
            record_postings: Vec::new(),
        }
    }

    /// Counts the terms of `text` for the record (or the document) being counted; gives the text's length.
    fn count(&mut self, text: &'t str, field: usize) -> u32 {
        let mut length = 0;
        for token in tokens(text) {
            let (start, end) = match self.known.get(token.text) {
                Some(&range) => range,
                None => self.learn(&token),
            };
            for place in start..end {
                let term = self.known_terms[place as usize];
                self.add(term, field);
            }
            length += end - start;
        }
        length
    }

    fn learn(&mut self, token: &Token<'t>) -> (u32, u32) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.analyzer.terms(token, &mut scratch);
        let start = self.known_terms.len() as u32;
        for term in scratch.drain(..) {
            let number = if let Some(&number) = self.numbers.get(&term.text) {
                number
            } else {
                let number = self.terms.len() as u32;
                self.terms.push(term.text.clone());
                self.numbers.insert(term.text, number);
                self.places.push((0, 0));
                number
            };
            self.known_terms.push(number);
        }
        self.scratch = scratch;
        let range = (start, self.known_terms.len() as u32);
        self.known.insert(token.text, range);
        range
    }

    fn add(&mut self, term: u32, field: usize) {
        let place = &mut self.places[term as usize];
        if place.0 != self.stamp {
            *place = (self.stamp, self.open.len() as u32);
            self.open.push((term, [0; RECORD_FIELDS]));
        }
        self.open[place.1 as usize].1[field] += 1;
    }

    /// Ends a record: what was counted becomes its postings.
    fn close_record(&mut self, number: u32) {
        self.record_postings.extend(
            self.open
                .drain(..)
                .map(|(term, frequencies)| (term, Posting { number, frequencies })),
        );
        self.stamp += 1;
    }

    /// Ends the document: what was counted since the last record becomes its own postings.
    fn close_document(&mut self) -> Vec<(u32, [u32; DOCUMENT_FIELDS])> {
        self.stamp += 1;
        self.open
            .drain(..)
            .map(|(term, frequencies)| (term, std::array::from_fn(|field| frequencies[field])))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{BodyText, LinkSource};

    fn section(level: u8, anchor: &str, prose: &str) -> SectionSource {
        SectionSource {
            heading: anchor.to_owned(),
            anchor: anchor.to_owned(),
            level,
            line_start: 1,
            line_end: 1,
            parts: vec![PartSource {
                text: prose.to_owned(),
                fields: BodyText {
                    prose: prose.to_owned(),
                    ..BodyText::default()
                },
                ..PartSource::default()
            }],
            ..SectionSource::default()
        }
    }

    /// A document of sections of one line each.
    fn document(mut sections: Vec<SectionSource>) -> DocumentSource {
        for (section, line) in sections.iter_mut().zip(1..) {
            (section.line_start, section.line_end) = (line, line);
        }
        DocumentSource {
            path: b"docs/a/read-me.md".to_vec(),
            title: "Title".to_owned(),
            sections,
            ..Default::default()
        }
    }

    #[test]
    fn parents_and_subtrees_follow_the_levels() {
        let levels = [
            (0, ""),
            (3, "deep"),
            (1, "one"),
            (4, "four"),
            (2, "two"),
            (6, "six"),
            (1, "last"),
        ];
        let sections = levels
            .iter()
            .map(|&(level, anchor)| section(level, anchor, "x"))
            .collect();
        let prepared = prepare(&document(sections), &IndexOptions::default()).unwrap();
        let tree: Vec<_> = prepared
            .records
            .iter()
            .map(|r| (r.parent, r.subtree_end))
            .collect();
        assert_eq!(
            tree,
            [
                (None, 1),
                (None, 2),
                (None, 6),
                (Some(2), 4),
                (Some(2), 6),
                (Some(4), 6),
                (None, 7)
            ]
        );
    }

    #[test]
    fn parts_are_records_with_the_heading_of_their_section() {
        let mut long = section(2, "long", "alpha");
        long.parts.push(PartSource {
            text: "beta".to_owned(),
            ..long.parts[0].clone()
        });
        let prepared = prepare(
            &document(vec![section(1, "top", "x"), long]),
            &IndexOptions::default(),
        )
        .unwrap();
        assert_eq!(prepared.records.len(), 3);
        assert!(
            prepared.records[1..]
                .iter()
                .zip(1..)
                .all(|(r, part)| r.heading == "long" && r.part == part)
        );
        assert_eq!(prepared.records[0].subtree_end, 3);
        assert_eq!(prepared.records[1].subtree_end, 3);
        assert_eq!(prepared.records[2].text_start, 6);
    }

    #[test]
    fn terms_are_counted_by_field() {
        let mut source = document(vec![section(1, "files", "Upload the file, file by file")]);
        source.description = "Sending".to_owned();
        source.sections[0].parts[0].links.push(LinkSource::default());
        let prepared = prepare(
            &source,
            &IndexOptions {
                path_prefix: b"docs/".to_vec(),
                ..Default::default()
            },
        )
        .unwrap();
        let of = |term: &str| {
            let place = prepared.terms.iter().position(|t| t == term).unwrap() as u32;
            prepared
                .record_postings
                .iter()
                .find(|(t, _)| *t == place)
                .map(|(_, p)| p.frequencies)
        };
        assert_eq!(of("file"), Some([1, 3, 0, 0, 0, 0, 0]));
        assert_eq!(of("send"), Some([0, 0, 0, 0, 0, 1, 0]));
        assert_eq!(of("titl"), None);
        let words: Vec<_> = prepared
            .document_postings
            .iter()
            .map(|(t, f)| (prepared.terms[*t as usize].as_str(), *f))
            .collect();
        assert_eq!(
            words,
            [("titl", [1, 0]), ("a", [0, 1]), ("read", [0, 1]), ("me", [0, 1])]
        );
        assert_eq!(
            prepared.records[0].lengths,
            LengthEntry {
                heading: 1,
                body: 6,
                incoming: 0
            }
        );
        assert_eq!(prepared.document.front_matter_length, 1);
        assert_eq!(prepared.links.len(), 1);
    }

    #[test]
    fn text_is_packed_at_record_boundaries() {
        let long = "x".repeat(TARGET - 1);
        let sections = ["a", "b", "c", "d"]
            .iter()
            .zip([long.as_str(), "yy", "z", ""])
            .map(|(anchor, text)| section(1, anchor, text))
            .collect();
        let prepared = prepare(&document(sections), &IndexOptions::default()).unwrap();
        let places: Vec<_> = prepared
            .records
            .iter()
            .map(|r| (r.text_block, r.text_start, r.text_length))
            .collect();
        let first = TARGET as u32 - 1;
        assert_eq!(places, [(0, 0, first), (0, first, 2), (1, 0, 1), (1, 1, 0)]);
        assert_eq!(prepared.blocks.len(), 2);
    }

    #[test]
    fn path_words_leave_out_what_all_paths_share() {
        for (path, words) in [
            ("docs/en/tutorial/first-steps.md", "tutorial first steps"),
            ("docs/en/tutorial/index.md", "tutorial"),
            ("docs/en/README.md", ""),
            ("docs/en/.hidden", " .hidden"),
            ("other/x.md", "other x"),
        ] {
            assert_eq!(
                path_words(path.as_bytes(), b"docs/en/").trim_start(),
                words.trim_start(),
                "{path}"
            );
        }
    }

    #[test]
    fn impossible_documents_are_refused() {
        let options = IndexOptions::default();
        assert!(matches!(
            prepare(&document(vec![]), &options),
            Err(WriteError::Empty { what: "section", .. })
        ));
        let mut empty = section(1, "a", "");
        empty.parts.clear();
        assert!(matches!(
            prepare(&document(vec![empty]), &options),
            Err(WriteError::Empty { what: "part", .. })
        ));
        let twice = vec![section(1, "a", ""), section(1, "a", "")];
        assert!(matches!(
            prepare(&document(twice), &options),
            Err(WriteError::DuplicateAnchor { .. })
        ));
        let mut lines = document(vec![section(1, "a", ""), section(1, "b", "")]);
        lines.sections[1].line_start = 1;
        assert!(matches!(
            prepare(&lines, &options),
            Err(WriteError::Lines { line: 1, .. })
        ));
        let huge = section(1, "a", &"x".repeat(LIMIT));
        assert!(matches!(
            prepare(&document(vec![huge]), &options),
            Err(WriteError::PartTooLong { .. })
        ));
    }
}
