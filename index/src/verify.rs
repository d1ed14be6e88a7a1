//! Checks a whole file: every checksum and every structure. Costs a full read; for pipelines, and before a file
//! from elsewhere is trusted.

use crate::{
    error::{ReadError, VerifyError},
    field::RecordField,
    format::{
        acronym_table,
        checksum::{blake2b, crc32},
        layout::{HEADER_LENGTH, Tag},
        link_table,
        metadata::{LengthKind, LengthTotal},
        section_table::table,
        text_blocks::ArchivedBlockEntry,
    },
    reader::Index,
    search::synonyms::SynonymList,
    text::TextReader,
};
use std::collections::HashSet;

/// What was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifySummary {
    /// Regions whose checksums match.
    pub regions: usize,
    /// Documents.
    pub documents: u32,
    /// Records.
    pub records: u32,
    /// Terms.
    pub terms: u64,
    /// Postings of records and documents.
    pub postings: u64,
    /// Text blocks.
    pub text_blocks: usize,
    /// Bytes of text in them.
    pub text_bytes: u64,
}

impl Index {
    /// Checks every checksum, the content hash and every structure of the file.
    ///
    /// # Errors
    ///
    /// [`VerifyError`] names the first thing that is wrong.
    pub fn verify(&self) -> Result<VerifySummary, VerifyError> {
        self.verify_checksums()?;
        self.verify_text_blocks()?;
        let text_bytes = self.verify_records()?;
        let postings = self.verify_terms()?;
        if self.header().shard.is_some() {
            link_table::decode(self.region(Tag::Links), self.metadata().records)?;
            acronym_table::decode(self.region(Tag::Acronyms))?;
        }
        self.verify_expansions()?;
        let blocks: &[ArchivedBlockEntry] = table(self.region(Tag::TextBlockTable), Tag::TextBlockTable)?;
        Ok(VerifySummary {
            regions: self.layout().regions.len(),
            documents: self.metadata().documents,
            records: self.metadata().records,
            terms: self.metadata().terms,
            postings,
            text_blocks: blocks.len(),
            text_bytes,
        })
    }

    /// The list of synonyms is one, and what stands for other words stands in sections.
    fn verify_expansions(&self) -> Result<(), ReadError> {
        if SynonymList::parse(self.synonyms()?).is_err() {
            return Err(ReadError::damaged(
                Tag::Heap,
                "the synonyms are no list of groups",
            ));
        }
        let dictionary = self.dictionary();
        self.expansions()?.check(|term| {
            let entry = dictionary.find(term)?;
            Ok(entry.is_some_and(|entry| entry.section_frequency > 0))
        })
    }

    fn verify_checksums(&self) -> Result<(), VerifyError> {
        for region in &self.layout().regions {
            let bytes = self.bytes().get(region.range.clone()).unwrap_or_default();
            let found = crc32(bytes);
            if found != region.checksum {
                let region_name = region.tag.map_or("(unknown)", Tag::name);
                return Err(VerifyError::Checksum {
                    region: region_name.to_owned(),
                    found,
                    expected: region.checksum,
                });
            }
        }
        let content = self.bytes().get(HEADER_LENGTH..).unwrap_or_default();
        if blake2b(&[content]) == self.header().content_hash {
            Ok(())
        } else {
            Err(VerifyError::ContentHash)
        }
    }

    /// Text blocks follow each other and fill their region.
    fn verify_text_blocks(&self) -> Result<(), ReadError> {
        let blocks: &[ArchivedBlockEntry] = table(self.region(Tag::TextBlockTable), Tag::TextBlockTable)?;
        let mut end = 0_u64;
        for block in blocks {
            if block.offset.to_native() != end {
                return Err(ReadError::damaged(
                    Tag::TextBlockTable,
                    "text blocks do not follow each other",
                ));
            }
            end = end.saturating_add(u64::from(block.packed_length.to_native()));
        }
        if end == self.region(Tag::Text).len() as u64 {
            Ok(())
        } else {
            Err(ReadError::damaged(
                Tag::TextBlockTable,
                "text blocks do not fill their region",
            ))
        }
    }

    /// Documents in order, records within them, parts within sections, texts; gives the bytes of text.
    fn verify_records(&self) -> Result<u64, ReadError> {
        let damaged = |region, reason| Err(ReadError::damaged(region, reason));
        let lengths = self.length_entries()?;
        let mut totals = [LengthTotal::default(); LengthKind::COUNT];
        let mut texts = TextReader::new(self);
        let (mut next_record, mut sections, mut source_bytes, mut text_bytes) = (0_u32, 0_u32, 0_u64, 0_u64);
        let mut previous_path: Option<&[u8]> = None;
        for number in 0..self.metadata().documents {
            let document = self.document(number)?;
            if document.first_record != next_record || document.record_count == 0 {
                return damaged(
                    Tag::Documents,
                    "a document's records do not follow those of the one before",
                );
            }
            if previous_path.is_some_and(|previous| previous >= document.path) {
                return damaged(Tag::Documents, "documents are not in the order of their paths");
            }
            previous_path = Some(document.path);
            source_bytes = source_bytes.saturating_add(document.source_bytes);
            next_record += document.record_count;
            let entry = &self.documents()?[number as usize];
            totals[LengthKind::Title as usize].add(entry.title_length.to_native());
            totals[LengthKind::Path as usize].add(entry.path_length.to_native());
            totals[LengthKind::FrontMatter as usize].add(entry.front_matter_length.to_native());

            let mut anchors = HashSet::new();
            let mut expected_part = 1;
            let mut last_line = 0;
            for number in document.first_record..next_record {
                let record = self.record(number)?;
                if record.part != expected_part {
                    return damaged(Tag::Records, "the parts of a section do not follow each other");
                }
                expected_part = if record.part == record.part_count {
                    1
                } else {
                    record.part + 1
                };
                if record.part == 1 {
                    sections += 1;
                    if record.line_start <= last_line {
                        return damaged(Tag::Records, "the lines of sections do not ascend");
                    }
                    last_line = record.line_end;
                    if !anchors.insert(record.anchor) {
                        return damaged(Tag::Records, "an anchor stands twice in a document");
                    }
                }
                let tree_is_sound = record
                    .parent
                    .is_none_or(|parent| (document.first_record..record.first_part()).contains(&parent))
                    && (number + 1..=next_record).contains(&record.subtree_end);
                if !tree_is_sound || record.level > 6 || record.line_end < record.line_start {
                    return damaged(Tag::Records, "a record's place in its document is impossible");
                }
                let text = texts.text(number)?;
                text_bytes += text.len() as u64;
                if crc32(text.as_bytes()) != record.text_checksum {
                    return damaged(Tag::Records, "the checksum of a record's text does not match");
                }
                let repeated = u64::from(record.repeated_head) + u64::from(record.repeated_tail);
                if repeated > text.len() as u64 {
                    return damaged(Tag::Records, "more of a record's text is repeated than there is");
                }
                let length = &lengths[number as usize];
                totals[LengthKind::Heading as usize].add(length.heading.to_native());
                totals[LengthKind::Body as usize].add(length.body.to_native());
                totals[LengthKind::Incoming as usize].add(length.incoming.to_native());
            }
            if expected_part != 1 {
                return damaged(Tag::Records, "the last parts of a section are not there");
            }
        }
        let metadata = self.metadata();
        let is_consistent = next_record == metadata.records
            && sections == metadata.sections
            && source_bytes == metadata.source_bytes
            && totals == metadata.lengths;
        if is_consistent {
            Ok(text_bytes)
        } else {
            damaged(Tag::Metadata, "its counts are not those of the records")
        }
    }

    /// Terms in order, postings ascending and in range, frequencies that add up to the lengths; gives the
    /// number of postings.
    fn verify_terms(&self) -> Result<u64, ReadError> {
        let damaged = |reason| ReadError::damaged(Tag::Postings, reason);
        let lengths = self.length_entries()?;
        let body_length = |record: u32| {
            lengths
                .get(record as usize)
                .map_or(0, |entry| entry.body.to_native())
        };
        let mut sums = [0_u64; LengthKind::COUNT];
        let (mut terms, mut postings) = (0_u64, 0_u64);
        let end = self.dictionary().for_each(|_, entry| -> Result<(), ReadError> {
            terms += 1;
            let records = entry.records.collect()?;
            let own = records
                .iter()
                .filter(|p| {
                    RecordField::ALL
                        .iter()
                        .any(|&f| f.is_own() && p.frequencies[f as usize] > 0)
                })
                .count();
            if own != entry.section_frequency as usize {
                return Err(damaged("a section frequency is not that of its posting list"));
            }
            if !entry.records.has_bounds_of(&records, body_length) {
                return Err(damaged(
                    "the bounds of a posting block are not those of its postings",
                ));
            }
            for posting in &records {
                for field in RecordField::ALL {
                    sums[field.length_kind() as usize] += u64::from(posting.frequencies[field as usize]);
                }
            }
            let documents = entry.documents.collect()?;
            if !entry.documents.has_bounds_of(&documents, |_| 0) {
                return Err(damaged(
                    "the bounds of a posting block are not those of its postings",
                ));
            }
            for posting in &documents {
                sums[LengthKind::Title as usize] += u64::from(posting.frequencies[0]);
                sums[LengthKind::Path as usize] += u64::from(posting.frequencies[1]);
            }
            if records.is_empty() && documents.is_empty() {
                return Err(damaged("a term stands nowhere"));
            }
            postings += (records.len() + documents.len()) as u64;
            Ok(())
        })?;
        let is_consistent = terms == self.metadata().terms
            && end == self.region(Tag::Postings).len()
            && sums
                .iter()
                .zip(&self.metadata().lengths)
                .all(|(sum, total)| *sum == total.terms);
        if is_consistent {
            Ok(postings)
        } else {
            Err(damaged("the postings do not add up to the lengths"))
        }
    }
}
