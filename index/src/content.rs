//! Everything an index will hold, before it is bytes: what builds and merges have in common.
//!
//! Documents are appended in path order, from [`PreparedDocument`]s or from a shard; [`Content::finish`] derives
//! what looks across documents (texts of incoming links, the corpus title, averages) and encodes the regions.
//! That a merge of shards equals one build is by construction: both end here, with the same content.

use crate::{
    error::WriteError,
    field::RecordField,
    format::{
        acronym_table,
        expansions::{ExpansionsWriter, TERMS_IN_LIST},
        layout::{self, Tag},
        link_table::{self, StoredLink},
        metadata::{self, LengthKind, LengthTotal, Metadata},
        postings::{self, DOCUMENT_FIELDS, Posting, RECORD_FIELDS},
        section_table::{DocumentEntry, DocumentStrings, NONE, RecordEntry, RecordStrings, encode_table},
        term_dictionary::DictionaryWriter,
        text_blocks::{self, PackedBlock},
    },
    incoming,
    options::IndexOptions,
    prepare::{PreparedDocument, StoredDocument, StoredRecord},
    search::{
        acronyms::{self, Acronym},
        analyzer::Analyzer,
        language::{Language, LanguageSet},
        tokenizer::tokens,
    },
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Records there can be at most, plus one: the largest `u32` means "none".
const NUMBER_LIMIT: u32 = NONE;

/// Documents, records, postings, text and links of a range of the sorted documents.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) options: IndexOptions,
    documents: Vec<StoredDocument>,
    records: Vec<StoredRecord>,
    blocks: Vec<PackedBlock>,
    /// Places in `lists`.
    numbers: FxHashMap<Box<str>, usize>,
    lists: Vec<TermLists>,
    links: Vec<StoredLink>,
    acronyms: BTreeMap<Acronym, u32>,
}

/// The posting lists of one term while they grow, as short postings.
#[derive(Debug, Default)]
struct TermLists {
    section_frequency: u32,
    records: GrowingList,
    documents: GrowingList,
}

#[derive(Debug, Default)]
struct GrowingList {
    count: u32,
    last: Option<u32>,
    bytes: Vec<u8>,
}

impl GrowingList {
    fn push<const FIELDS: usize>(&mut self, posting: &Posting<FIELDS>) {
        postings::encode_short(posting, self.last, &mut self.bytes);
        self.last = Some(posting.number);
        self.count += 1;
    }

    fn postings<const FIELDS: usize>(&self) -> Vec<Posting<FIELDS>> {
        let mut rest = &self.bytes[..];
        let mut last = None;
        let mut postings = Vec::with_capacity(self.count as usize);
        while let Some(posting) = postings::decode_short(&mut rest, last) {
            last = Some(posting.number);
            postings.push(posting);
        }
        postings
    }
}

impl TermLists {
    fn push_record(&mut self, posting: &Posting<RECORD_FIELDS>) {
        let is_own = RecordField::ALL
            .iter()
            .any(|&f| f.is_own() && posting.frequencies[f as usize] > 0);
        self.section_frequency += u32::from(is_own);
        self.records.push(posting);
    }
}

impl Content {
    pub(crate) fn new(options: IndexOptions) -> Self {
        Self {
            options,
            documents: Vec::new(),
            records: Vec::new(),
            blocks: Vec::new(),
            numbers: FxHashMap::default(),
            lists: Vec::new(),
            links: Vec::new(),
            acronyms: BTreeMap::new(),
        }
    }

    /// Appends a document; its path must be greater than that of the one before.
    pub(crate) fn append(&mut self, prepared: PreparedDocument) -> Result<(), WriteError> {
        let number = self.documents.len() as u32;
        let first_record = self.append_document(prepared.document, &prepared.records, prepared.blocks)?;
        for (term, posting) in prepared.record_postings {
            let posting = Posting {
                number: posting.number + first_record,
                ..posting
            };
            self.lists_of(&prepared.terms[term as usize])
                .push_record(&posting);
        }
        for (term, frequencies) in prepared.document_postings {
            self.lists_of(&prepared.terms[term as usize])
                .documents
                .push(&Posting { number, frequencies });
        }
        self.append_links(prepared.links, first_record);
        self.append_acronyms(prepared.acronyms.into_iter().map(|acronym| (acronym, 1)));
        Ok(())
    }

    /// Appends a document with its records and text blocks, whose numbers begin at 0; gives its first record.
    pub(crate) fn append_document(
        &mut self,
        document: StoredDocument,
        records: &[StoredRecord],
        blocks: Vec<PackedBlock>,
    ) -> Result<u32, WriteError> {
        let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        if let Some(previous) = self
            .documents
            .last()
            .filter(|previous| previous.path >= document.path)
        {
            return Err(WriteError::Order {
                path: text(&document.path),
                previous: text(&previous.path),
            });
        }
        let first_record = self.records.len() as u32;
        if first_record
            .checked_add(records.len() as u32)
            .is_none_or(|end| end == NUMBER_LIMIT)
        {
            return Err(WriteError::TooManyRecords {
                limit: NUMBER_LIMIT - 1,
            });
        }
        let first_block = self.blocks.len() as u32;
        let number = self.documents.len() as u32;
        self.records.extend(records.iter().map(|record| StoredRecord {
            document: number,
            parent: record.parent.map(|parent| parent + first_record),
            subtree_end: record.subtree_end + first_record,
            text_block: record.text_block + first_block,
            ..record.clone()
        }));
        self.documents.push(StoredDocument {
            first_record,
            ..document
        });
        self.blocks.extend(blocks);
        Ok(first_record)
    }

    /// Appends postings of a term, numbers already those of this content.
    pub(crate) fn append_postings(
        &mut self,
        term: &str,
        records: impl Iterator<Item = Posting<RECORD_FIELDS>>,
        documents: impl Iterator<Item = Posting<DOCUMENT_FIELDS>>,
    ) {
        let lists = self.lists_of(term);
        for posting in records {
            lists.push_record(&posting);
        }
        for posting in documents {
            lists.documents.push(&posting);
        }
    }

    pub(crate) fn append_links(&mut self, links: Vec<StoredLink>, first_record: u32) {
        self.links.extend(links.into_iter().map(|link| StoredLink {
            record: link.record + first_record,
            ..link
        }));
    }

    pub(crate) fn append_acronyms(&mut self, found: impl IntoIterator<Item = (Acronym, u32)>) {
        for (acronym, count) in found {
            let sum = self.acronyms.entry(acronym).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    pub(crate) fn document_count(&self) -> u32 {
        self.documents.len() as u32
    }

    pub(crate) fn record_count(&self) -> u32 {
        self.records.len() as u32
    }

    fn lists_of(&mut self, term: &str) -> &mut TermLists {
        // Terms have numbers so that one met before, as nearly all are, costs one look-up and no allocation.
        let place = if let Some(&place) = self.numbers.get(term) {
            place
        } else {
            self.numbers.insert(term.into(), self.lists.len());
            self.lists.push(TermLists::default());
            self.lists.len() - 1
        };
        &mut self.lists[place]
    }

    /// The bytes of the file: a whole index, or a shard, which leaves to the merge what looks across documents.
    pub(crate) fn finish(mut self, shard: Option<(u32, u32)>) -> Result<Vec<u8>, WriteError> {
        let options_hash = self.options.hash();
        let incoming = if shard.is_none() {
            self.incoming_postings()
        } else {
            BTreeMap::new()
        };
        let title = if shard.is_none() {
            self.corpus_title()
        } else {
            self.options.title.clone()
        };
        let (terms, post, term_count) = self.encode_terms(&incoming)?;
        let encode = |source: rkyv::rancor::Error| WriteError::Dictionary(Box::new(source));

        let mut heap = Vec::new();
        let IndexOptions {
            description,
            path_prefix,
            configuration,
            synonyms,
            ..
        } = &self.options;
        for bytes in [
            title.as_bytes(),
            description.as_bytes(),
            path_prefix,
            configuration.as_bytes(),
            synonyms.as_str().as_bytes(),
        ] {
            heap.extend_from_slice(bytes);
        }
        let metadata = self.metadata(&title, term_count);
        let documents: Vec<_> = self
            .documents
            .iter()
            .map(|d| document_entry(d, &mut heap))
            .collect();
        let records: Vec<_> = self.records.iter().map(|r| record_entry(r, &mut heap)).collect();
        let lengths: Vec<_> = self.records.iter().map(|record| record.lengths).collect();
        let mut text = Vec::new();
        let blocks: Vec<_> = self
            .blocks
            .iter()
            .map(|block| text_blocks::append(block, &mut text))
            .collect();
        let mut regions = vec![
            (Tag::Metadata, metadata::encode(&metadata).map_err(encode)?),
            (Tag::Documents, encode_table(&documents).map_err(encode)?),
            (Tag::Records, encode_table(&records).map_err(encode)?),
            (Tag::Lengths, encode_table(&lengths).map_err(encode)?),
            (Tag::Heap, heap),
            (Tag::TextBlockTable, encode_table(&blocks).map_err(encode)?),
            (Tag::Text, text),
            (Tag::Terms, terms),
            (Tag::Postings, post),
        ];
        if shard.is_some() {
            regions.push((Tag::Links, link_table::encode(&self.links)));
            regions.push((Tag::Acronyms, acronym_table::encode(&self.acronyms)));
        } else {
            regions.push((Tag::Expansions, self.expansions()));
        }
        Ok(layout::assemble(&regions, options_hash, shard))
    }

    /// Frequencies of the terms of incoming links, by term; sets the records' lengths of that field.
    fn incoming_postings(&mut self) -> BTreeMap<String, Vec<(u32, u32)>> {
        let mut postings: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
        if !self.options.incoming {
            return postings;
        }
        let texts = incoming::resolve(&self.links, &self.documents, &self.records);
        // In the language of the document that they lead to, where they are to be found.
        let mut analyzers: BTreeMap<Language, Analyzer> = BTreeMap::new();
        let mut terms = Vec::new();
        let mut lengths = Vec::with_capacity(texts.len());
        for (record, texts) in texts {
            let document = self.records[record as usize].document;
            let language = Language::of_tag(&self.documents[document as usize].language);
            let analyzer = analyzers
                .entry(language)
                .or_insert_with(|| Analyzer::new(language));
            for text in texts {
                for token in tokens(text) {
                    analyzer.terms(&token, &mut terms);
                }
            }
            lengths.push((record, terms.len() as u32));
            for term in terms.drain(..) {
                let list = postings.entry(term.text).or_default();
                match list.last_mut() {
                    Some((last, frequency)) if *last == record => *frequency += 1,
                    _ => list.push((record, 1)),
                }
            }
        }
        for (record, length) in lengths {
            self.records[record as usize].lengths.incoming = length;
        }
        postings
    }

    /// The languages that words of documents are stemmed in.
    fn languages(&self) -> LanguageSet {
        self.documents
            .iter()
            .map(|document| Language::of_tag(&document.language))
            .collect()
    }

    /// Region EXPN: what stands for what, of the terms that sections have.
    fn expansions(&self) -> Vec<u8> {
        let is_known = |term: &str| {
            let place = self.numbers.get(term);
            place.is_some_and(|&place| self.lists[place].section_frequency > 0)
        };
        let mut writer = ExpansionsWriter::default();
        for (term, mut synonyms) in self.options.synonyms.synonyms(self.languages()) {
            synonyms.retain(|synonym| is_known(synonym));
            // A list is checked for one language; with several stems a term could have more than fit an entry.
            writer.add_synonyms(term, synonyms.into_iter().take(TERMS_IN_LIST).collect());
        }
        for (acronym, long_form) in acronyms::known_pairs(&self.acronyms, is_known) {
            writer.add_acronym(&acronym, long_form);
        }
        writer.finish()
    }

    /// The title given, else that of the page at the root of the tree.
    fn corpus_title(&self) -> String {
        if !self.options.title.is_empty() {
            return self.options.title.clone();
        }
        let at_root = |document: &&StoredDocument| {
            let path = document.path.strip_prefix(&self.options.path_prefix[..])?;
            let name = String::from_utf8_lossy(path).to_lowercase();
            let stem = name.split_once('.')?.0;
            ["index", "_index", "readme"]
                .iter()
                .position(|page| *page == stem)
        };
        self.documents
            .iter()
            .filter_map(|document| at_root(&document).map(|rank| (rank, document)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, document)| document.title.clone())
            .unwrap_or_default()
    }

    fn encode_terms(
        &self,
        incoming: &BTreeMap<String, Vec<(u32, u32)>>,
    ) -> Result<(Vec<u8>, Vec<u8>, u64), WriteError> {
        let fail = |source: fst::Error| WriteError::Dictionary(Box::new(source));
        let mut names: Vec<&str> = self
            .numbers
            .keys()
            .map(|term| &**term)
            .chain(incoming.keys().map(String::as_str))
            .collect();
        names.sort_unstable();
        names.dedup();
        let body_length = |number: u32| self.records[number as usize].lengths.body;
        let none = TermLists::default();
        let (mut record_bytes, mut document_bytes) = (Vec::new(), Vec::new());
        let mut writer = DictionaryWriter::new();
        for name in names {
            let lists = self.numbers.get(name).map_or(&none, |&place| &self.lists[place]);
            let mut records = lists.records.postings();
            if let Some(incoming) = incoming.get(name) {
                records = with_incoming(records, incoming);
            }
            record_bytes.clear();
            postings::encode(&records, body_length, &mut record_bytes);
            document_bytes.clear();
            postings::encode(
                &lists.documents.postings::<DOCUMENT_FIELDS>(),
                |_| 0,
                &mut document_bytes,
            );
            writer
                .add(
                    name.as_bytes(),
                    lists.section_frequency,
                    (records.len() as u32, &record_bytes),
                    (lists.documents.count, &document_bytes),
                )
                .map_err(fail)?;
        }
        writer.finish().map_err(fail)
    }

    fn metadata(&self, title: &str, terms: u64) -> Metadata {
        let mut lengths = [LengthTotal::default(); LengthKind::COUNT];
        for record in &self.records {
            lengths[LengthKind::Heading as usize].add(record.lengths.heading);
            lengths[LengthKind::Body as usize].add(record.lengths.body);
            lengths[LengthKind::Incoming as usize].add(record.lengths.incoming);
        }
        for document in &self.documents {
            lengths[LengthKind::Title as usize].add(document.title_length);
            lengths[LengthKind::Path as usize].add(document.path_length);
            lengths[LengthKind::FrontMatter as usize].add(document.front_matter_length);
        }
        Metadata {
            documents: self.document_count(),
            records: self.record_count(),
            sections: self.records.iter().filter(|record| record.part == 1).count() as u32,
            part_limit: self.options.part_limit,
            source_bytes: self.documents.iter().map(|document| document.source_bytes).sum(),
            terms,
            lengths,
            title_length: title.len() as u32,
            description_length: self.options.description.len() as u32,
            path_prefix_length: self.options.path_prefix.len() as u32,
            configuration_length: self.options.configuration.len() as u32,
            synonyms_length: self.options.synonyms.as_str().len() as u32,
            compression_level: self.options.compression_level,
            languages: self.languages().bits(),
            raw_text: u8::from(self.options.raw_text),
            incoming: u8::from(self.options.incoming),
        }
    }
}

/// Adds the frequencies of the incoming field to a list, both ascending.
fn with_incoming(
    records: Vec<Posting<RECORD_FIELDS>>,
    incoming: &[(u32, u32)],
) -> Vec<Posting<RECORD_FIELDS>> {
    let mut merged = Vec::with_capacity(records.len() + incoming.len());
    let mut incoming = incoming.iter().copied().peekable();
    let only = |(number, frequency)| {
        let mut frequencies = [0; RECORD_FIELDS];
        frequencies[RecordField::Incoming as usize] = frequency;
        Posting { number, frequencies }
    };
    for mut posting in records {
        while let Some(earlier) = incoming.next_if(|&(number, _)| number < posting.number) {
            merged.push(only(earlier));
        }
        if let Some((_, frequency)) = incoming.next_if(|&(number, _)| number == posting.number) {
            posting.frequencies[RecordField::Incoming as usize] = frequency;
        }
        merged.push(posting);
    }
    merged.extend(incoming.map(only));
    merged
}

fn document_entry(document: &StoredDocument, heap: &mut Vec<u8>) -> DocumentEntry {
    let strings = DocumentStrings {
        path: &document.path,
        title: &document.title,
        description: &document.description,
        tags: &document.tags,
        url: &document.url,
        language: &document.language,
    };
    DocumentEntry {
        strings: strings.encode(heap),
        source_bytes: document.source_bytes,
        source_hash: document.source_hash,
        first_record: document.first_record,
        record_count: document.record_count,
        title_length: document.title_length,
        path_length: document.path_length,
        front_matter_length: document.front_matter_length,
    }
}

fn record_entry(record: &StoredRecord, heap: &mut Vec<u8>) -> RecordEntry {
    let strings = RecordStrings {
        part: record.part,
        part_count: record.part_count,
        repeated_head: record.repeated_head,
        repeated_tail: record.repeated_tail,
        heading: &record.heading,
        anchor: &record.anchor,
        aliases: &record.aliases,
    };
    RecordEntry {
        strings: strings.encode(heap),
        document: record.document,
        parent: record.parent.unwrap_or(NONE),
        subtree_end: record.subtree_end,
        line_start: record.line_start,
        line_end: record.line_end,
        text_block: record.text_block,
        text_start: record.text_start,
        text_length: record.text_length,
        text_checksum: record.text_checksum,
        level: record.level,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incoming_frequencies_join_the_list_in_order() {
        let own = |number| Posting {
            number,
            frequencies: [1, 0, 0, 0, 0, 0, 0],
        };
        let merged = with_incoming(vec![own(2), own(5)], &[(1, 3), (5, 2), (9, 1)]);
        let seen: Vec<_> = merged
            .iter()
            .map(|p| (p.number, p.frequencies[0], p.frequencies[6]))
            .collect();
        assert_eq!(seen, [(1, 0, 3), (2, 1, 0), (5, 1, 2), (9, 0, 1)]);
        assert!(with_incoming(vec![], &[]).is_empty());
    }
}
