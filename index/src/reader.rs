//! An open index: documents and records by number, texts, and the way from an id to a record.
//!
//! Opening reads the header, the region table and the one record of region META; everything else is checked
//! when it is used.

use crate::{
    content::Content,
    error::{OpenError, ReadError},
    format::{
        checksum,
        layout::{self, Header, Layout, Tag},
        link_table,
        mapping::Bytes,
        metadata::{self, Metadata},
        section_table::{
            ArchivedDocumentEntry, ArchivedLengthEntry, ArchivedRecordEntry, DocumentStrings, LengthEntry,
            NONE, RecordStrings, lines, table,
        },
        term_dictionary::Dictionary,
        text_blocks::{self, ArchivedBlockEntry, Unpacker},
    },
    options::IndexOptions,
    prepare::{StoredDocument, StoredRecord},
    section_id,
    writer::AppendError,
};
use std::{borrow::Cow, path::Path};

/// Dense number of a record, in path order.
pub type RecordNumber = u32;
/// Dense number of a document, in path order.
pub type DocumentNumber = u32;

/// An open index. Cheap to share between threads.
#[derive(Debug)]
pub struct Index {
    bytes: Bytes,
    layout: Layout,
    metadata: Metadata,
}

/// What an index is: counts, names and hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSummary {
    /// Title of the corpus; may be empty.
    pub title: String,
    /// One sentence on it; may be empty.
    pub description: String,
    /// Documents.
    pub documents: u32,
    /// Sections; a section cut into parts counts once.
    pub sections: u32,
    /// Records: the parts of all sections.
    pub records: u32,
    /// Distinct terms.
    pub terms: u64,
    /// Bytes of the index file.
    pub file_bytes: u64,
    /// Bytes of all source files.
    pub source_bytes: u64,
    /// Content hash in lower-case hexadecimal digits.
    pub content_hash: String,
    /// Version of the file format.
    pub format_version: u32,
    /// Version of the rules that make terms.
    pub analyzer_version: u32,
    /// `(number, count)` where the file is a shard.
    pub shard: Option<(u32, u32)>,
}

/// One document.
#[derive(Debug, Clone, Copy)]
pub struct Document<'i> {
    /// Its number.
    pub number: DocumentNumber,
    /// Literal bytes of its path in the docs tree.
    pub path: &'i [u8],
    /// Title of the page.
    pub title: &'i str,
    /// Description from the front matter; may be empty.
    pub description: &'i str,
    /// Tags and keywords, one a line.
    pub tags: &'i str,
    /// Public address; may be empty.
    pub url: &'i str,
    /// BCP 47 language tag; may be empty.
    pub language: &'i str,
    /// Number of its first record.
    pub first_record: RecordNumber,
    /// How many records it has; they follow each other.
    pub record_count: u32,
    /// Bytes of the source file.
    pub source_bytes: u64,
    /// BLAKE2b-256 over the source and everything it includes.
    pub source_hash: &'i [u8; 32],
}

impl<'i> Document<'i> {
    /// The literal path as text; bytes that are not UTF-8 as U+FFFD.
    pub fn path_lossy(&self) -> Cow<'i, str> {
        String::from_utf8_lossy(self.path)
    }

    /// The path as it stands in ids.
    pub fn id(&self) -> String {
        section_id::format(self.path, "", 1)
    }
}

/// One record: a section, or a part of a long one.
#[derive(Debug, Clone, Copy)]
pub struct Record<'i> {
    index: &'i Index,
    /// Its number.
    pub number: RecordNumber,
    /// The document it stands in.
    pub document: Document<'i>,
    /// Plain text of the heading; may be empty.
    pub heading: &'i str,
    /// Fragment of the section; empty for level 0.
    pub anchor: &'i str,
    aliases: &'i str,
    /// 1 to 6; 0 for the preamble or a page without headings.
    pub level: u8,
    /// First line of the section in its source file, from 1.
    pub line_start: u32,
    /// Last line of the section.
    pub line_end: u32,
    /// Number of this part, from 1.
    pub part: u32,
    /// Parts of the section.
    pub part_count: u32,
    /// Bytes of stored text.
    pub text_length: u32,
    /// Bytes at the start of the text that are repeated from an earlier part.
    pub repeated_head: u32,
    /// Bytes at the end of the text that are repeated for reading.
    pub repeated_tail: u32,
    /// CRC-32 of the text: texts that differ in it are different.
    pub text_checksum: u32,
    /// First record of the parent section.
    pub parent: Option<RecordNumber>,
    /// One past the last record of the section and all below it.
    pub subtree_end: RecordNumber,
}

impl<'i> Record<'i> {
    /// Id of this part: `path#anchor`, `path#anchor~2`; `path` for level 0.
    pub fn id(&self) -> String {
        section_id::format(self.document.path, self.anchor, self.part)
    }

    /// Id of the section: that of its first part.
    pub fn section_id(&self) -> String {
        section_id::format(self.document.path, self.anchor, 1)
    }

    /// Id of another part of the same section.
    pub fn part_id(&self, part: u32) -> String {
        section_id::format(self.document.path, self.anchor, part)
    }

    /// Further fragments that lead here.
    pub fn aliases(&self) -> impl Iterator<Item = &'i str> + use<'i> {
        lines(self.aliases)
    }

    /// Number of the section's first part.
    pub fn first_part(&self) -> RecordNumber {
        self.number.saturating_sub(self.part.saturating_sub(1))
    }

    /// `[document title, ancestors …, heading]`: empty names left out, equal neighbours once.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn heading_path(&self) -> Result<Vec<&'i str>, ReadError> {
        let mut path = vec![self.heading];
        let mut parent = self.parent;
        let mut below = self.level;
        while let Some(number) = parent {
            let record = self.index.record(number)?;
            // A damaged file must not lead in circles: levels fall, and there are six of them.
            if !(1..below).contains(&record.level) {
                return Err(ReadError::damaged(
                    Tag::Records,
                    "a parent has no lower level than its section",
                ));
            }
            below = record.level;
            path.push(record.heading);
            parent = record.parent;
        }
        path.push(self.document.title);
        path.reverse();
        path.retain(|name| !name.is_empty());
        path.dedup();
        Ok(path)
    }
}

/// Counts and hashes of the index in `bytes`.
pub(crate) fn summary_of(bytes: &[u8]) -> Result<IndexSummary, OpenError> {
    let layout = layout::read(bytes)?;
    let metadata = read_metadata(bytes, &layout)?;
    summary(bytes, &layout, &metadata)
}

fn read_metadata(bytes: &[u8], layout: &Layout) -> Result<Metadata, OpenError> {
    let region = bytes.get(layout.range(Tag::Metadata)).unwrap_or_default();
    metadata::decode(region).map_err(|error| match error {
        ReadError::Damaged { region, reason } => OpenError::Invalid { part: region, reason },
        _ => OpenError::Invalid {
            part: Tag::Metadata.name(),
            reason: "it cannot be read",
        },
    })
}

fn summary(bytes: &[u8], layout: &Layout, metadata: &Metadata) -> Result<IndexSummary, OpenError> {
    let heap = bytes.get(layout.range(Tag::Heap)).unwrap_or_default();
    let [title, description, ..] = corpus_strings(heap, metadata).ok_or(OpenError::Invalid {
        part: Tag::Heap.name(),
        reason: "the corpus's strings do not fit it",
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(IndexSummary {
        title: text(title),
        description: text(description),
        documents: metadata.documents,
        sections: metadata.sections,
        records: metadata.records,
        terms: metadata.terms,
        file_bytes: bytes.len() as u64,
        source_bytes: metadata.source_bytes,
        content_hash: checksum::hex(&layout.header.content_hash),
        format_version: layout::FORMAT_VERSION,
        analyzer_version: layout::ANALYZER_VERSION,
        shard: layout.header.shard,
    })
}

/// Title, description, path prefix, configuration.
fn corpus_strings<'h>(heap: &'h [u8], metadata: &Metadata) -> Option<[&'h [u8]; 4]> {
    let mut rest = heap;
    let mut strings = [&heap[..0]; 4];
    let lengths = [
        metadata.title_length,
        metadata.description_length,
        metadata.path_prefix_length,
        metadata.configuration_length,
    ];
    for (string, length) in strings.iter_mut().zip(lengths) {
        (*string, rest) = rest.split_at_checked(length as usize)?;
    }
    Some(strings)
}

impl Index {
    /// Opens a file by mapping it. The cost does not depend on how much it holds.
    ///
    /// The file must not be truncated in place while it is open; replacing or deleting it does no harm.
    ///
    /// # Errors
    ///
    /// [`OpenError`] says what is wrong and what to do.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Bytes::map(path)
            .map_err(|source| OpenError::Io {
                path: path.to_owned(),
                source,
            })
            .and_then(Self::new)
    }

    /// Opens a file by reading all of it into memory: safe even against truncation in place.
    ///
    /// # Errors
    ///
    /// As [`Index::open`].
    pub fn open_in_memory(path: &Path) -> Result<Self, OpenError> {
        Bytes::read(path)
            .map_err(|source| OpenError::Io {
                path: path.to_owned(),
                source,
            })
            .and_then(Self::new)
    }

    /// Opens the bytes of a file.
    ///
    /// # Errors
    ///
    /// As [`Index::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, OpenError> {
        Self::new(Bytes::Owned(bytes))
    }

    fn new(bytes: Bytes) -> Result<Self, OpenError> {
        let layout = layout::read(&bytes)?;
        let metadata = read_metadata(&bytes, &layout)?;
        // What the summary names must be there.
        summary(&bytes, &layout, &metadata)?;
        let index = Self {
            bytes,
            layout,
            metadata,
        };
        index.check_counts()?;
        Ok(index)
    }

    /// The tables have as many entries as META says: known from their last bytes, whatever their size.
    fn check_counts(&self) -> Result<(), OpenError> {
        let fits = || -> Result<bool, ReadError> {
            Ok(self.documents()?.len() == self.metadata.documents as usize
                && self.records()?.len() == self.metadata.records as usize
                && self.length_entries()?.len() == self.metadata.records as usize)
        };
        match fits() {
            Ok(true) => Ok(()),
            Ok(false) => Err(OpenError::Invalid {
                part: Tag::Metadata.name(),
                reason: "its counts are not those of the tables",
            }),
            Err(ReadError::Damaged { region, reason }) => Err(OpenError::Invalid { part: region, reason }),
            Err(_) => Err(OpenError::Invalid {
                part: Tag::Metadata.name(),
                reason: "it cannot be read",
            }),
        }
    }

    pub(crate) fn region(&self, tag: Tag) -> &[u8] {
        self.bytes.get(self.layout.range(tag)).unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn header(&self) -> &Header {
        &self.layout.header
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Counts, names and hashes.
    pub fn summary(&self) -> IndexSummary {
        summary(&self.bytes, &self.layout, &self.metadata).unwrap_or_else(|_| {
            unreachable!("the summary was made once when the index was opened, from the same bytes")
        })
    }

    pub(crate) fn documents(&self) -> Result<&[ArchivedDocumentEntry], ReadError> {
        table(self.region(Tag::Documents), Tag::Documents)
    }

    pub(crate) fn records(&self) -> Result<&[ArchivedRecordEntry], ReadError> {
        table(self.region(Tag::Records), Tag::Records)
    }

    pub(crate) fn length_entries(&self) -> Result<&[ArchivedLengthEntry], ReadError> {
        table(self.region(Tag::Lengths), Tag::Lengths)
    }

    pub(crate) fn dictionary(&self) -> Dictionary<'_> {
        Dictionary::new(
            self.region(Tag::Terms),
            self.region(Tag::Postings),
            self.metadata.records,
            self.metadata.documents,
        )
    }

    /// A document by its number.
    ///
    /// # Errors
    ///
    /// [`ReadError::NoSuchDocument`], [`ReadError::Damaged`].
    pub fn document(&self, number: DocumentNumber) -> Result<Document<'_>, ReadError> {
        let entry = self
            .documents()?
            .get(number as usize)
            .ok_or(ReadError::NoSuchDocument {
                number,
                count: self.metadata.documents,
            })?;
        let strings = DocumentStrings::decode(self.region(Tag::Heap), entry.strings.to_native())?;
        let (first_record, record_count) = (entry.first_record.to_native(), entry.record_count.to_native());
        if first_record
            .checked_add(record_count)
            .is_none_or(|end| end > self.metadata.records)
        {
            return Err(ReadError::damaged(
                Tag::Documents,
                "a document has records that are not there",
            ));
        }
        Ok(Document {
            number,
            path: strings.path,
            title: strings.title,
            description: strings.description,
            tags: strings.tags,
            url: strings.url,
            language: strings.language,
            first_record,
            record_count,
            source_bytes: entry.source_bytes.to_native(),
            source_hash: &entry.source_hash,
        })
    }

    pub(crate) fn record_entry(&self, number: RecordNumber) -> Result<&ArchivedRecordEntry, ReadError> {
        self.records()?
            .get(number as usize)
            .ok_or(ReadError::NoSuchRecord {
                number,
                count: self.metadata.records,
            })
    }

    fn record_strings(&self, entry: &ArchivedRecordEntry) -> Result<RecordStrings<'_>, ReadError> {
        RecordStrings::decode(self.region(Tag::Heap), entry.strings.to_native())
    }

    /// A record by its number.
    ///
    /// # Errors
    ///
    /// [`ReadError::NoSuchRecord`], [`ReadError::Damaged`].
    pub fn record(&self, number: RecordNumber) -> Result<Record<'_>, ReadError> {
        let entry = self.record_entry(number)?;
        let strings = self.record_strings(entry)?;
        let document = self.document(entry.document.to_native())?;
        if number
            .checked_sub(document.first_record)
            .is_none_or(|place| place >= document.record_count)
        {
            return Err(ReadError::damaged(
                Tag::Records,
                "a record is not among those of its document",
            ));
        }
        if entry.level > 6 {
            return Err(ReadError::damaged(Tag::Records, "a level is above 6"));
        }
        let parent = entry.parent.to_native();
        Ok(Record {
            index: self,
            number,
            document,
            heading: strings.heading,
            anchor: strings.anchor,
            aliases: strings.aliases,
            level: entry.level,
            line_start: entry.line_start.to_native(),
            line_end: entry.line_end.to_native(),
            part: strings.part,
            part_count: strings.part_count,
            text_length: entry.text_length.to_native(),
            repeated_head: strings.repeated_head,
            repeated_tail: strings.repeated_tail,
            text_checksum: entry.text_checksum.to_native(),
            parent: (parent != NONE).then_some(parent),
            subtree_end: entry.subtree_end.to_native(),
        })
    }

    /// The stored text of a record.
    ///
    /// # Errors
    ///
    /// [`ReadError::NoSuchRecord`], [`ReadError::Damaged`].
    pub fn text(&self, number: RecordNumber) -> Result<String, ReadError> {
        TextReader::new(self).text(number).map(str::to_owned)
    }

    /// The record that an id names exactly; an alias names its section.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn find(&self, id: &str) -> Result<Option<RecordNumber>, ReadError> {
        let Some(id) = section_id::parse(id) else {
            return Ok(None);
        };
        let Some(document) = self.document_at(&id.path)? else {
            return Ok(None);
        };
        self.find_in(&document, &id.anchor, id.part)
    }

    /// The document with exactly this path.
    fn document_at(&self, path: &[u8]) -> Result<Option<Document<'_>>, ReadError> {
        let (mut low, mut high) = (0, self.metadata.documents);
        while low < high {
            let middle = low + (high - low) / 2;
            let document = self.document(middle)?;
            match document.path.cmp(path) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(Some(document)),
            }
        }
        Ok(None)
    }

    fn find_in(
        &self,
        document: &Document<'_>,
        anchor: &str,
        part: u32,
    ) -> Result<Option<RecordNumber>, ReadError> {
        let numbers = document.first_record..document.first_record + document.record_count;
        let mut alias = None;
        for number in numbers {
            let strings = self.record_strings(self.record_entry(number)?)?;
            if strings.part != part {
                continue;
            }
            if strings.anchor == anchor {
                return Ok(Some(number));
            }
            if alias.is_none() && !anchor.is_empty() && lines(strings.aliases).any(|name| name == anchor) {
                alias = Some(number);
            }
        }
        Ok(alias)
    }

    /// The record that an id in an unusual form can only mean: with other case, a leading `./` or `/`, without
    /// the extension, percent-encoded otherwise, or as the address of its page; none if there is not exactly
    /// one.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn find_leniently(&self, id: &str) -> Result<Option<RecordNumber>, ReadError> {
        if let Some(number) = self.find(id)? {
            return Ok(Some(number));
        }
        let Some(wanted) = LenientId::new(id) else {
            return Ok(None);
        };
        let mut found = None;
        for number in 0..self.metadata.documents {
            let document = self.document(number)?;
            if !wanted.names_document(&document) {
                continue;
            }
            if let Some(record) = self.find_leniently_in(&document, &wanted)? {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some(record);
            }
        }
        Ok(found)
    }

    fn find_leniently_in(
        &self,
        document: &Document<'_>,
        wanted: &LenientId,
    ) -> Result<Option<RecordNumber>, ReadError> {
        if let Some(number) = self.find_in(document, &wanted.anchor, wanted.part)? {
            return Ok(Some(number));
        }
        let mut found = None;
        for number in document.first_record..document.first_record + document.record_count {
            let record = self.record(number)?;
            let names_it = if wanted.anchor.is_empty() {
                // A page without a preamble is named by its path: that is its first section.
                number == document.first_record
            } else {
                std::iter::once(record.anchor)
                    .chain(record.aliases())
                    .any(|name| name.to_lowercase() == wanted.anchor.to_lowercase())
            };
            if names_it && record.part == wanted.part {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some(number);
            }
        }
        Ok(found)
    }

    /// Up to `limit` ids that resemble one that is not there, best first.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn similar_ids(&self, id: &str, limit: usize) -> Result<Vec<String>, ReadError> {
        let words = |text: &str| -> Vec<String> {
            text.to_lowercase()
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        };
        // The cost grows with the words of the id, and what is longer is no id that was mistyped.
        let id = cut_at_boundary(id, SIMILAR_ID_BYTES);
        let decoded = String::from_utf8_lossy(&section_id::decode(id)).into_owned();
        let (path, anchor) = decoded.split_once('#').unwrap_or((&decoded, ""));
        let (path_words, anchor_words) = (words(path), words(anchor));
        let mut best: Vec<(f32, RecordNumber)> = Vec::new();
        let keep = 4 * limit.max(1);
        for number in 0..self.metadata.documents {
            let document = self.document(number)?;
            let path_score = overlap(&path_words, &words(&document.path_lossy()));
            for record in document.first_record..document.first_record + document.record_count {
                let strings = self.record_strings(self.record_entry(record)?)?;
                if strings.part > 1 {
                    continue;
                }
                let anchor_score = overlap(&anchor_words, &words(strings.anchor));
                let score = path_score + anchor_score;
                if score > 0.4 {
                    best.push((score, record));
                }
            }
            if best.len() > 64 * keep {
                order_by_score(&mut best, keep);
            }
        }
        order_by_score(&mut best, limit);
        best.into_iter()
            .map(|(_, number)| self.record(number).map(|record| record.id()))
            .collect()
    }
}

fn order_by_score(best: &mut Vec<(f32, RecordNumber)>, limit: usize) {
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(limit);
}

/// Bytes of an unknown id that are looked at to find ids like it.
const SIMILAR_ID_BYTES: usize = 512;

/// The first `length` bytes of a text, or fewer where a character would be cut.
pub(crate) fn cut_at_boundary(text: &str, length: usize) -> &str {
    let mut end = text.len().min(length);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Dice coefficient of two bags of words, a word that begins like the other counting half.
#[expect(clippy::cast_precision_loss, reason = "a handful of words")]
fn overlap(wanted: &[String], there: &[String]) -> f32 {
    if wanted.is_empty() || there.is_empty() {
        return 0.0;
    }
    let begins_alike = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count() >= 4;
    let shared: f32 = wanted
        .iter()
        .map(|word| {
            if there.contains(word) {
                1.0
            } else if there.iter().any(|other| begins_alike(word, other)) {
                0.5
            } else {
                0.0
            }
        })
        .sum();
    2.0 * shared / (wanted.len() + there.len()) as f32
}

/// An id read with good will.
#[derive(Debug)]
struct LenientId {
    /// Lower-case path without scheme, host, `./` and ending.
    path: String,
    is_url: bool,
    anchor: String,
    part: u32,
}

impl LenientId {
    fn new(id: &str) -> Option<Self> {
        let id = id.trim().trim_matches(['[', ']', '`', '"', '\'']);
        let id = id.strip_prefix("docs://").unwrap_or(id);
        let (rest, is_url) = match id.split_once("://") {
            // Without scheme and host.
            Some((_, rest)) => (rest.split_once('/').map_or("", |(_, path)| path), true),
            None => (id, false),
        };
        let parsed = section_id::parse(rest)
            .or_else(|| rest.split_once('~').and_then(|(rest, _)| section_id::parse(rest)))?;
        let path = String::from_utf8_lossy(&parsed.path).into_owned();
        let given = path.split('?').next().unwrap_or_default();
        let path = stem(&given.trim_start_matches("./").to_lowercase());
        // The page at the root of the tree has no stem of its own: only its name says that it is meant.
        (!given.is_empty()).then_some(Self {
            path,
            is_url,
            anchor: parsed.anchor,
            part: parsed.part,
        })
    }

    /// Whether the path can mean this document. A public address has folders of the site in front that the tree
    /// has not, and the tree may have folders in front that the address has not.
    fn names_document(&self, document: &Document<'_>) -> bool {
        let path = stem(&document.path_lossy().to_lowercase());
        let ends_with = |long: &str, short: &str| {
            long.strip_suffix(short)
                .is_some_and(|front| front.is_empty() || front.ends_with('/'))
        };
        path == self.path
            || (!path.is_empty()
                && self.is_url
                && (ends_with(&self.path, &path) || ends_with(&path, &self.path)))
    }
}

/// A path without its ending, the name of a folder's own page, and slashes at its ends.
fn stem(path: &str) -> String {
    let path = path.trim_matches('/');
    let path = [".md", ".mdx", ".markdown", ".html"]
        .iter()
        .find_map(|ending| path.strip_suffix(ending))
        .unwrap_or(path);
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if ["index", "_index", "readme"].contains(&name) {
        folder.to_owned()
    } else {
        path.to_owned()
    }
}

/// Reads texts; keeps the block that was unpacked last, so that neighbours cost one unpacking.
#[derive(Debug)]
pub(crate) struct TextReader<'i> {
    index: &'i Index,
    unpacker: Unpacker,
    block: Option<(u32, Vec<u8>)>,
}

impl<'i> TextReader<'i> {
    pub(crate) fn new(index: &'i Index) -> Self {
        Self {
            index,
            unpacker: Unpacker::default(),
            block: None,
        }
    }

    pub(crate) fn text(&mut self, number: RecordNumber) -> Result<&str, ReadError> {
        let entry = self.index.record_entry(number)?;
        let block_number = entry.text_block.to_native();
        if self.block.as_ref().is_none_or(|(kept, _)| *kept != block_number) {
            let blocks: &[ArchivedBlockEntry] =
                table(self.index.region(Tag::TextBlockTable), Tag::TextBlockTable)?;
            let block = blocks.get(block_number as usize).ok_or(ReadError::damaged(
                Tag::Records,
                "a record's text block is not there",
            ))?;
            self.block = Some((
                block_number,
                self.unpacker.unpack(self.index.region(Tag::Text), block)?,
            ));
        }
        let start = entry.text_start.to_native() as usize;
        let end = start.checked_add(entry.text_length.to_native() as usize);
        let text = self.block.as_ref().and_then(|(_, block)| block.get(start..end?));
        let text = text.ok_or(ReadError::damaged(
            Tag::Records,
            "a record's text does not fit its block",
        ))?;
        std::str::from_utf8(text).map_err(|_| ReadError::damaged(Tag::Text, "a text is not UTF-8"))
    }
}

/// What merging takes out of a shard.
impl Index {
    /// The options that the shard was built with.
    pub(crate) fn options(&self) -> Result<IndexOptions, ReadError> {
        let damaged = ReadError::damaged(Tag::Heap, "the corpus's strings cannot be read");
        let [title, description, path_prefix, configuration] =
            corpus_strings(self.region(Tag::Heap), &self.metadata).ok_or(damaged.clone())?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| damaged.clone());
        Ok(IndexOptions {
            title: text(title)?,
            description: text(description)?,
            path_prefix: path_prefix.to_vec(),
            incoming: self.metadata.incoming == 1,
            raw_text: self.metadata.raw_text == 1,
            compression_level: self.metadata.compression_level,
            part_limit: self.metadata.part_limit,
            configuration: text(configuration)?,
        })
    }

    /// Appends all documents, postings and links.
    pub(crate) fn append_to(&self, content: &mut Content) -> Result<(), AppendError> {
        let first_document = content.document_count();
        let first_record = content.record_count();
        let blocks: &[ArchivedBlockEntry] = table(self.region(Tag::TextBlockTable), Tag::TextBlockTable)?;
        let mut next_block = 0;
        for number in 0..self.metadata.documents {
            let document = self.document(number)?;
            let (records, block_count) = self.stored_records(&document, next_block)?;
            let mut copied = Vec::new();
            for place in next_block..next_block + block_count {
                let entry = blocks.get(place as usize).ok_or(ReadError::damaged(
                    Tag::Records,
                    "a record's text block is not there",
                ))?;
                copied.push(text_blocks::packed(self.region(Tag::Text), entry)?);
            }
            next_block += block_count;
            content.append_document(self.stored_document(&document)?, &records, copied)?;
        }
        if next_block as usize != blocks.len() {
            return Err(
                ReadError::damaged(Tag::TextBlockTable, "a text block belongs to no document").into(),
            );
        }
        self.dictionary()
            .for_each(|term, entry| -> Result<(), ReadError> {
                let records = entry.records.collect()?;
                let documents = entry.documents.collect()?;
                content.append_postings(
                    term,
                    records.into_iter().map(|mut posting| {
                        posting.number += first_record;
                        posting
                    }),
                    documents.into_iter().map(|mut posting| {
                        posting.number += first_document;
                        posting
                    }),
                );
                Ok(())
            })?;
        let links = link_table::decode(self.region(Tag::Links), self.metadata.records)?;
        content.append_links(links, first_record);
        Ok(())
    }

    fn stored_document(&self, document: &Document<'_>) -> Result<StoredDocument, ReadError> {
        let entry = &self.documents()?[document.number as usize];
        Ok(StoredDocument {
            path: document.path.to_vec(),
            title: document.title.to_owned(),
            description: document.description.to_owned(),
            tags: document.tags.to_owned(),
            url: document.url.to_owned(),
            language: document.language.to_owned(),
            source_hash: *document.source_hash,
            source_bytes: document.source_bytes,
            first_record: document.first_record,
            record_count: document.record_count,
            title_length: entry.title_length.to_native(),
            path_length: entry.path_length.to_native(),
            front_matter_length: entry.front_matter_length.to_native(),
        })
    }

    /// The records of a document with numbers that begin at 0 with it, and how many text blocks are its own.
    fn stored_records(
        &self,
        document: &Document<'_>,
        first_block: u32,
    ) -> Result<(Vec<StoredRecord>, u32), ReadError> {
        let damaged = |reason| ReadError::damaged(Tag::Records, reason);
        let lengths = self.length_entries()?;
        let mut records = Vec::with_capacity(document.record_count as usize);
        let mut block_count = 0;
        for number in document.first_record..document.first_record + document.record_count {
            let record = self.record(number)?;
            let entry = self.record_entry(number)?;
            let own = |number: u32| {
                number
                    .checked_sub(document.first_record)
                    .ok_or(damaged("a record leads out of its document"))
            };
            let text_block = entry
                .text_block
                .to_native()
                .checked_sub(first_block)
                .filter(|&block| block <= block_count)
                .ok_or(damaged("text blocks are not in the order of the records"))?;
            block_count = block_count.max(text_block + 1);
            let length = lengths
                .get(number as usize)
                .ok_or(damaged("a record has no lengths"))?;
            records.push(StoredRecord {
                heading: record.heading.to_owned(),
                anchor: record.anchor.to_owned(),
                aliases: record.aliases.to_owned(),
                level: record.level,
                document: 0,
                parent: record.parent.map(own).transpose()?,
                subtree_end: own(record.subtree_end)?,
                line_start: record.line_start,
                line_end: record.line_end,
                part: record.part,
                part_count: record.part_count,
                repeated_head: record.repeated_head,
                repeated_tail: record.repeated_tail,
                text_block,
                text_start: entry.text_start.to_native(),
                text_length: record.text_length,
                text_checksum: record.text_checksum,
                lengths: LengthEntry {
                    heading: length.heading.to_native(),
                    body: length.body.to_native(),
                    incoming: length.incoming.to_native(),
                },
            });
        }
        Ok((records, block_count))
    }
}

#[cfg(test)]
mod tests {
    use crate::sample;

    #[test]
    fn ids_in_unusual_forms_are_found_where_they_can_only_mean_one() {
        let mut documents = sample::documents();
        let mut root = documents[3].clone();
        root.path = b"index.md".to_vec();
        documents.push(root);
        documents.sort_by(|a, b| a.path.cmp(&b.path));
        let index = sample::build(&documents, &sample::options()).open().unwrap();
        for (id, expected) in [
            ("docs/forms.md#fields", Some("docs/forms.md#fields")),
            ("docs/uploads.md#old-example", Some("docs/uploads.md#example")),
            ("./docs/forms.md#fields", Some("docs/forms.md#fields")),
            ("/docs/forms.md#Fields", Some("docs/forms.md#fields")),
            ("Docs/FORMS#fields", Some("docs/forms.md#fields")),
            ("[docs/forms.md#fields]", Some("docs/forms.md#fields")),
            ("docs/forms.html#fields", Some("docs/forms.md#fields")),
            ("docs/forms", Some("docs/forms.md#forms")),
            (
                "https://site.example/docs/forms/#fields",
                Some("docs/forms.md#fields"),
            ),
            (
                "https://site.example/handbook/docs/forms.html?x=1#fields",
                Some("docs/forms.md#fields"),
            ),
            ("docs/uploads#example~2", Some("docs/uploads.md#example~2")),
            ("docs/# odd [name] 100%.md#ä~b", None),
            (
                "docs/%23 odd %5bname%5d 100%.md#ä%7eb",
                Some("docs/%23%20odd%20%5Bname%5D%20100%25.md#ä%7Eb"),
            ),
            ("./index.md#the-handbook", Some("index.md#the-handbook")),
            ("docs/", Some("docs/index.md#the-handbook")),
            ("docs/forms.md#nothing", None),
            ("nothing.md", None),
            ("", None),
        ] {
            let found = index
                .find_leniently(id)
                .unwrap()
                .map(|number| index.record(number).unwrap().id());
            assert_eq!(found.as_deref(), expected, "{id}");
        }
    }

    #[test]
    fn similar_ids_share_words_with_the_one_asked_for() {
        let index = sample::build(&sample::documents(), &sample::options())
            .open()
            .unwrap();
        let ids = index.similar_ids("docs/form.md#field", 3).unwrap();
        assert_eq!(ids[0], "docs/forms.md#fields");
        assert!(index.similar_ids("zzz", 3).unwrap().is_empty());
        assert!(ids.iter().all(|id| index.find(id).unwrap().is_some()));
    }
}
