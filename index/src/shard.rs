//! What a merge takes out of a shard: its options, and everything it holds, as [`Content`].

use crate::{
    content::Content,
    error::{ReadError, WriteError},
    format::{
        acronym_table,
        layout::Tag,
        link_table,
        section_table::{LengthEntry, table},
        text_blocks::{self, ArchivedBlockEntry},
    },
    options::IndexOptions,
    prepare::{StoredDocument, StoredRecord},
    reader::{Document, Index, corpus_strings},
    search::synonyms::SynonymList,
};

/// What merging takes out of a shard.
impl Index {
    /// The options that the shard was built with.
    pub(crate) fn options(&self) -> Result<IndexOptions, ReadError> {
        let damaged = ReadError::damaged(Tag::Heap, "the corpus's strings cannot be read");
        let [title, description, path_prefix, configuration, synonyms] =
            corpus_strings(self.region(Tag::Heap), self.metadata()).ok_or(damaged.clone())?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| damaged.clone());
        Ok(IndexOptions {
            title: text(title)?,
            description: text(description)?,
            path_prefix: path_prefix.to_vec(),
            incoming: self.metadata().incoming == 1,
            raw_text: self.metadata().raw_text == 1,
            compression_level: self.metadata().compression_level,
            part_limit: self.metadata().part_limit,
            configuration: text(configuration)?,
            synonyms: SynonymList::parse(&text(synonyms)?).map_err(|_| damaged.clone())?,
        })
    }

    /// Appends all documents, postings and links.
    pub(crate) fn append_to(&self, content: &mut Content) -> Result<(), AppendError> {
        let first_document = content.document_count();
        let first_record = content.record_count();
        let blocks: &[ArchivedBlockEntry] = table(self.region(Tag::TextBlockTable), Tag::TextBlockTable)?;
        let mut next_block = 0;
        for number in 0..self.metadata().documents {
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
        let links = link_table::decode(self.region(Tag::Links), self.metadata().records)?;
        content.append_links(links, first_record);
        content.append_acronyms(acronym_table::decode(self.region(Tag::Acronyms))?);
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
                aliases: record.aliases().collect::<Vec<_>>().join("\n"),
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

/// Why a shard's content could not be taken over.
pub(crate) enum AppendError {
    Read(ReadError),
    Write(WriteError),
}

impl From<ReadError> for AppendError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<WriteError> for AppendError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}
