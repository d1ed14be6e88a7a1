//! Scores records: BM25F with one saturation for each term over all its fields.
//!
//! S = Σ over groups g: q · idf · (k1 + 1) · x / (k1 + x), where x sums, over the group's terms t and the
//! fields f, `w_t` · `w_f` · tf / (1 − b + b · length / average length). Averages are over the records where the
//! field is present. idf = ln(1 + (N − df + 0.5) / (df + 0.5)) of the query's own term, with df its section
//! frequency. Title and path are fields of the document and count for each of its records; a record that has
//! nothing but those is a candidate like any other. Sums run in the order of the query.
//!
//! Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004; idf as in
//! Lucene.

use super::query::{Group, Query};
use crate::{
    error::ReadError,
    field::{DocumentField, RecordField},
    format::{
        layout::Tag,
        metadata::{LengthKind, Metadata},
        postings::{Block, DOCUMENT_FIELDS, RECORD_FIELDS},
        section_table::{ArchivedDocumentEntry, ArchivedLengthEntry},
        term_dictionary::TermEntry,
    },
    reader::{Index, RecordNumber},
};

/// How fast further occurrences stop to count, and how far lengths matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Parameters {
    pub(crate) k1: f32,
    pub(crate) b: f32,
}

impl Parameters {
    /// For ordinary docs; for collections of short pages without headings the classic values are better.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let is_flat = f64::from(metadata.sections) < 1.5 * f64::from(metadata.documents);
        if is_flat {
            Self { k1: 1.2, b: 0.6 }
        } else {
            Self { k1: 2.2, b: 0.4 }
        }
    }
}

/// A record with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) record: RecordNumber,
    pub(crate) score: f32,
}

/// All records with a score above 0, in no particular order.
pub(crate) fn score(index: &Index, query: &Query<'_>) -> Result<Vec<Scored>, ReadError> {
    let mut scorer = Scorer::new(index)?;
    for group in &query.groups {
        scorer.add(group)?;
    }
    Ok(scorer.finish())
}

/// Inverse section frequency.
#[expect(
    clippy::cast_precision_loss,
    reason = "a score does not need more than 24 bits"
)]
pub(crate) fn idf(records: u32, section_frequency: u32) -> f32 {
    let (n, df) = (records as f32, section_frequency.min(records) as f32);
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
}

struct Scorer<'i> {
    parameters: Parameters,
    record_count: u32,
    averages: [f32; LengthKind::COUNT],
    lengths: &'i [ArchivedLengthEntry],
    documents: &'i [ArchivedDocumentEntry],
    /// Score of each record so far.
    scores: Vec<f32>,
    /// x of the group being added.
    sums: Vec<f32>,
    /// Records whose sum is not 0.
    summed: Vec<RecordNumber>,
    /// Records whose score is not 0.
    scored: Vec<RecordNumber>,
    record_block: Block<RECORD_FIELDS>,
    document_block: Block<DOCUMENT_FIELDS>,
}

impl<'i> Scorer<'i> {
    fn new(index: &'i Index) -> Result<Self, ReadError> {
        let metadata = index.metadata();
        let count = metadata.records as usize;
        Ok(Self {
            parameters: Parameters::of(metadata),
            record_count: metadata.records,
            averages: metadata
                .lengths
                .map(super::super::format::metadata::LengthTotal::average),
            lengths: index.length_entries()?,
            documents: index.documents()?,
            scores: vec![0.0; count],
            sums: vec![0.0; count],
            summed: Vec::new(),
            scored: Vec::new(),
            record_block: Block::default(),
            document_block: Block::default(),
        })
    }

    /// Adds what a group is worth to each record it occurs in.
    fn add(&mut self, group: &Group<'_>) -> Result<(), ReadError> {
        for (entry, weight) in &group.members {
            self.add_records(entry, *weight, group.is_code)?;
            self.add_documents(entry, *weight)?;
        }
        let factor =
            group.weight * idf(self.record_count, group.section_frequency) * (self.parameters.k1 + 1.0);
        for &record in &self.summed {
            let sum = std::mem::take(&mut self.sums[record as usize]);
            let score = &mut self.scores[record as usize];
            if *score == 0.0 {
                self.scored.push(record);
            }
            *score += factor * sum / (self.parameters.k1 + sum);
        }
        self.summed.clear();
        Ok(())
    }

    fn add_records(&mut self, entry: &TermEntry<'_>, weight: f32, is_code: bool) -> Result<(), ReadError> {
        let weights = RecordField::ALL.map(|field| {
            weight
                * if is_code {
                    field.code_weight()
                } else {
                    field.weight()
                }
        });
        let mut block = std::mem::take(&mut self.record_block);
        for number in 0..entry.records.block_count() {
            entry.records.unpack(number, &mut block)?;
            for (row, &record) in block.numbers().iter().enumerate() {
                let Some(lengths) = self.lengths.get(record as usize) else {
                    return Err(ReadError::damaged(Tag::Lengths, "a record has no lengths"));
                };
                let mut sum = 0.0;
                for field in RecordField::ALL {
                    let Some(frequencies) = block.frequencies(field as usize) else {
                        continue;
                    };
                    let frequency = frequencies[row];
                    if frequency > 0 {
                        let kind = field.length_kind();
                        let length = match kind {
                            LengthKind::Heading => lengths.heading.to_native(),
                            LengthKind::Incoming => lengths.incoming.to_native(),
                            LengthKind::FrontMatter => self.front_matter_length(record),
                            _ => lengths.body.to_native(),
                        };
                        sum += weights[field as usize] * self.normalised(frequency, length, kind);
                    }
                }
                self.sum(record, sum);
            }
        }
        self.record_block = block;
        Ok(())
    }

    fn add_documents(&mut self, entry: &TermEntry<'_>, weight: f32) -> Result<(), ReadError> {
        let mut block = std::mem::take(&mut self.document_block);
        for number in 0..entry.documents.block_count() {
            entry.documents.unpack(number, &mut block)?;
            for (row, &document) in block.numbers().iter().enumerate() {
                let Some(entry) = self.documents.get(document as usize) else {
                    return Err(ReadError::damaged(Tag::Documents, "a document is not there"));
                };
                let mut sum = 0.0;
                for field in DocumentField::ALL {
                    let Some(frequencies) = block.frequencies(field as usize) else {
                        continue;
                    };
                    let length = match field {
                        DocumentField::Title => entry.title_length.to_native(),
                        DocumentField::Path => entry.path_length.to_native(),
                    };
                    sum += weight
                        * field.weight()
                        * self.normalised(frequencies[row], length, field.length_kind());
                }
                let first = entry.first_record.to_native();
                let end = first
                    .saturating_add(entry.record_count.to_native())
                    .min(self.record_count);
                for record in first..end {
                    self.sum(record, sum);
                }
            }
        }
        self.document_block = block;
        Ok(())
    }

    fn sum(&mut self, record: RecordNumber, sum: f32) {
        let place = &mut self.sums[record as usize];
        if *place == 0.0 {
            self.summed.push(record);
        }
        *place += sum;
    }

    /// tf / (1 − b + b · length / average length).
    #[expect(
        clippy::cast_precision_loss,
        reason = "a score does not need more than 24 bits"
    )]
    fn normalised(&self, frequency: u32, length: u32, kind: LengthKind) -> f32 {
        let b = self.parameters.b;
        frequency as f32 / (1.0 - b + b * length as f32 / self.averages[kind as usize])
    }

    /// The front matter belongs to a document's first record.
    fn front_matter_length(&self, record: RecordNumber) -> u32 {
        let place = self
            .documents
            .partition_point(|document| document.first_record.to_native() <= record);
        place
            .checked_sub(1)
            .and_then(|place| self.documents.get(place))
            .map_or(1, |document| document.front_matter_length.to_native())
    }

    fn finish(self) -> Vec<Scored> {
        let scores = self.scores;
        self.scored
            .into_iter()
            .map(|record| Scored {
                record,
                score: scores[record as usize],
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idf_falls_with_frequency_and_stays_positive() {
        assert!((idf(100, 0) - (1.0_f32 + 100.5 / 0.5).ln()).abs() < 1e-6);
        assert!(idf(100, 1) > idf(100, 50));
        assert!(idf(100, 100) > 0.0);
        assert!(idf(100, 1000) > 0.0);
    }

    #[test]
    fn flat_collections_have_the_classic_parameters() {
        let metadata = |sections, documents| Metadata {
            documents,
            sections,
            ..Metadata::default()
        };
        assert_eq!(
            Parameters::of(&metadata(149, 100)),
            Parameters { k1: 1.2, b: 0.6 }
        );
        assert_eq!(
            Parameters::of(&metadata(150, 100)),
            Parameters { k1: 2.2, b: 0.4 }
        );
    }
}
