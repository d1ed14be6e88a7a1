//! An open index: documents, records and their texts by number.
//!
//! Opening reads the header, the region table and the one record of region META; everything else is checked
//! when it is used.

use crate::{
    error::{OpenError, ReadError},
    format::{
        checksum,
        expansions::{Expansions, Kind},
        layout::{self, Header, Layout, Tag},
        mapping::Bytes,
        metadata::{self, Metadata},
        section_table::{
            ArchivedDocumentEntry, ArchivedLengthEntry, ArchivedRecordEntry, DocumentStrings, NONE,
            RecordStrings, lines, table,
        },
        term_dictionary::Dictionary,
    },
    kept_bodies::KeptBodies,
    section_id,
    text::TextReader,
};
use std::{borrow::Cow, ops::Range, path::Path};

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
    kept_bodies: KeptBodies,
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

/// The corpus's strings, known to fit the heap.
fn checked_corpus_strings<'b>(
    bytes: &'b [u8],
    layout: &Layout,
    metadata: &Metadata,
) -> Result<[&'b [u8]; 5], OpenError> {
    let heap = bytes.get(layout.range(Tag::Heap)).unwrap_or_default();
    corpus_strings(heap, metadata).ok_or(OpenError::Invalid {
        part: Tag::Heap.name(),
        reason: "the corpus's strings do not fit it",
    })
}

fn summary(bytes: &[u8], layout: &Layout, metadata: &Metadata) -> Result<IndexSummary, OpenError> {
    let [title, description, ..] = checked_corpus_strings(bytes, layout, metadata)?;
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

/// Title, description, path prefix, configuration, synonyms.
pub(crate) fn corpus_strings<'h>(heap: &'h [u8], metadata: &Metadata) -> Option<[&'h [u8]; 5]> {
    let mut rest = heap;
    let mut strings = [&heap[..0]; 5];
    let lengths = [
        metadata.title_length,
        metadata.description_length,
        metadata.path_prefix_length,
        metadata.configuration_length,
        metadata.synonyms_length,
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
        checked_corpus_strings(&bytes, &layout, &metadata)?;
        let index = Self {
            bytes,
            layout,
            metadata,
            kept_bodies: KeptBodies::default(),
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

    pub(crate) fn kept_bodies(&self) -> &KeptBodies {
        &self.kept_bodies
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

    /// Words that stand for others; none in a shard.
    pub(crate) fn expansions(&self) -> Result<Expansions<'_>, ReadError> {
        if self.header().shard.is_some() {
            return Ok(Expansions::none());
        }
        Expansions::new(self.region(Tag::Expansions))
    }

    /// The words that mean the same, as they were given to the build: one group a line.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn synonyms(&self) -> Result<&str, ReadError> {
        corpus_strings(self.region(Tag::Heap), &self.metadata)
            .and_then(|[.., synonyms]| std::str::from_utf8(synonyms).ok())
            .ok_or(ReadError::damaged(Tag::Heap, "the synonyms cannot be read"))
    }

    /// How many acronyms the documents explain; 0 in a shard.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn acronym_count(&self) -> Result<usize, ReadError> {
        self.expansions()?.count(Kind::Acronym)
    }

    fn document_entry(&self, number: DocumentNumber) -> Result<&ArchivedDocumentEntry, ReadError> {
        self.documents()?
            .get(number as usize)
            .ok_or(ReadError::NoSuchDocument {
                number,
                count: self.metadata.documents,
            })
    }

    /// First record and number of records of a document.
    fn records_of(&self, entry: &ArchivedDocumentEntry) -> Result<(RecordNumber, u32), ReadError> {
        let (first, count) = (entry.first_record.to_native(), entry.record_count.to_native());
        if first
            .checked_add(count)
            .is_none_or(|end| end > self.metadata.records)
        {
            return Err(ReadError::damaged(
                Tag::Documents,
                "a document has records that are not there",
            ));
        }
        Ok((first, count))
    }

    /// The path of a document, and its records.
    pub(crate) fn page(&self, number: DocumentNumber) -> Result<(&[u8], Range<RecordNumber>), ReadError> {
        let entry = self.document_entry(number)?;
        let path = DocumentStrings::decode_path(self.region(Tag::Heap), entry.strings.to_native())?;
        let (first, count) = self.records_of(entry)?;
        Ok((path, first..first.saturating_add(count)))
    }

    /// A document by its number.
    ///
    /// # Errors
    ///
    /// [`ReadError::NoSuchDocument`], [`ReadError::Damaged`].
    pub fn document(&self, number: DocumentNumber) -> Result<Document<'_>, ReadError> {
        let entry = self.document_entry(number)?;
        let strings = DocumentStrings::decode(self.region(Tag::Heap), entry.strings.to_native())?;
        let (first_record, record_count) = self.records_of(entry)?;
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

    /// The heading of a record, without its other strings.
    pub(crate) fn heading(&self, number: RecordNumber) -> Result<&str, ReadError> {
        let entry = self.record_entry(number)?;
        RecordStrings::decode_heading(self.region(Tag::Heap), entry.strings.to_native())
    }

    pub(crate) fn record_strings(&self, entry: &ArchivedRecordEntry) -> Result<RecordStrings<'_>, ReadError> {
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
}
