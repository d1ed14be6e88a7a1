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
//!
//! The walk is record at a time: each posting list has a cursor, and the lowest record of all is scored next. So
//! the memory of a search depends on the query and not on the index. Only the best records are kept.

use super::{
    query::{Group, Query},
    scope::Scope,
};
use crate::{
    error::ReadError,
    field::{DocumentField, RecordField},
    format::{
        layout::Tag,
        metadata::{LengthKind, Metadata},
        postings::{Block, DOCUMENT_FIELDS, PostingList, RECORD_FIELDS},
        section_table::{ArchivedDocumentEntry, ArchivedLengthEntry, NONE},
    },
    reader::{Index, RecordNumber},
};
use std::cmp::Ordering;

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

impl Scored {
    /// Best first: the higher score, and of equal ones the lower record.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that sorting takes")]
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.record.cmp(&other.record))
    }
}

/// The best records, best first.
#[derive(Debug)]
pub(crate) struct Best {
    pub(crate) list: Vec<Scored>,
    /// Whether there were more than were kept.
    pub(crate) is_cut: bool,
}

/// The best `limit` records of those in `scope`.
pub(crate) fn best(
    index: &Index,
    query: &Query<'_>,
    scope: Option<&Scope>,
    limit: usize,
) -> Result<Best, ReadError> {
    let context = Context::new(index)?;
    let mut groups: Vec<GroupCursor<'_>> = query
        .groups
        .iter()
        .map(|group| GroupCursor::new(&context, group))
        .collect::<Result<_, _>>()?;
    let mut collector = Collector::new(limit);
    let end = scope.map_or(NONE, Scope::end);
    if let Some(scope) = scope {
        for group in &mut groups {
            group.seek(&context, scope.start())?;
        }
    }
    loop {
        let record = groups.iter().map(GroupCursor::current).min().unwrap_or(NONE);
        if record >= end {
            return Ok(collector.finish());
        }
        let mut score = 0.0;
        for group in &mut groups {
            if group.current() == record {
                score += group.take(&context)?;
            }
        }
        if match scope {
            Some(scope) => scope.holds(index, record)?,
            None => true,
        } {
            collector.push(Scored { record, score });
        }
    }
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

/// Keeps the best of what it is given, in memory for twice as many.
struct Collector {
    limit: usize,
    list: Vec<Scored>,
    /// The last of the best when they were last sorted out: what is not better than it is out.
    threshold: Option<Scored>,
}

impl Collector {
    fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            list: Vec::new(),
            threshold: None,
        }
    }

    fn push(&mut self, scored: Scored) {
        if self
            .threshold
            .is_some_and(|threshold| threshold.compare(&scored).is_lt())
        {
            return;
        }
        self.list.push(scored);
        if self.list.len() >= self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.list.len() > self.limit {
            let (_, last, _) = self.list.select_nth_unstable_by(self.limit - 1, Scored::compare);
            self.threshold = Some(*last);
            self.list.truncate(self.limit);
        }
    }

    fn finish(mut self) -> Best {
        self.cut();
        self.list.sort_unstable_by(Scored::compare);
        Best {
            is_cut: self.threshold.is_some(),
            list: self.list,
        }
    }
}

/// What scoring reads of the index.
struct Context<'i> {
    parameters: Parameters,
    record_count: u32,
    /// b / average length, of each kind.
    slopes: [f32; LengthKind::COUNT],
    lengths: &'i [ArchivedLengthEntry],
    documents: &'i [ArchivedDocumentEntry],
}

impl<'i> Context<'i> {
    fn new(index: &'i Index) -> Result<Self, ReadError> {
        let metadata = index.metadata();
        let parameters = Parameters::of(metadata);
        Ok(Self {
            parameters,
            record_count: metadata.records,
            slopes: metadata.lengths.map(|total| parameters.b / total.average()),
            lengths: index.length_entries()?,
            documents: index.documents()?,
        })
    }

    /// tf / (1 − b + b · length / average length).
    #[expect(
        clippy::cast_precision_loss,
        reason = "a score does not need more than 24 bits"
    )]
    fn normalised(&self, frequency: u32, length: u32, kind: LengthKind) -> f32 {
        frequency as f32 / (1.0 - self.parameters.b + self.slopes[kind as usize] * length as f32)
    }

    fn length(&self, record: RecordNumber, kind: LengthKind) -> Result<u32, ReadError> {
        if kind == LengthKind::FrontMatter {
            // The front matter belongs to a document's first record.
            let place = self
                .documents
                .partition_point(|document| document.first_record.to_native() <= record);
            let document = place.checked_sub(1).and_then(|place| self.documents.get(place));
            return document
                .map(|document| document.front_matter_length.to_native())
                .ok_or(ReadError::damaged(Tag::Documents, "a record has no document"));
        }
        let lengths = self
            .lengths
            .get(record as usize)
            .ok_or(ReadError::damaged(Tag::Lengths, "a record has no lengths"))?;
        Ok(match kind {
            LengthKind::Heading => lengths.heading.to_native(),
            LengthKind::Incoming => lengths.incoming.to_native(),
            _ => lengths.body.to_native(),
        })
    }
}

/// The cursors of a group's members.
struct GroupCursor<'i> {
    /// q · idf · (k1 + 1).
    factor: f32,
    members: Vec<MemberCursor<'i>>,
    /// Lowest record of the members.
    current: RecordNumber,
}

impl<'i> GroupCursor<'i> {
    fn new(context: &Context<'_>, group: &Group<'i>) -> Result<Self, ReadError> {
        let factor =
            group.weight * idf(context.record_count, group.section_frequency) * (context.parameters.k1 + 1.0);
        let mut members = Vec::with_capacity(group.members.len());
        for (entry, weight) in &group.members {
            let weights = RecordField::ALL.map(|field| {
                weight
                    * if group.is_code {
                        field.code_weight()
                    } else {
                        field.weight()
                    }
            });
            members.push(MemberCursor {
                records: RecordCursor {
                    list: ListCursor::new(entry.records)?,
                    weights,
                },
                documents: DocumentCursor::new(context, ListCursor::new(entry.documents)?, *weight)?,
            });
        }
        let mut cursor = Self {
            factor,
            members,
            current: 0,
        };
        cursor.settle();
        Ok(cursor)
    }

    fn current(&self) -> RecordNumber {
        self.current
    }

    fn settle(&mut self) {
        self.current = self
            .members
            .iter()
            .map(MemberCursor::current)
            .min()
            .unwrap_or(NONE);
    }

    /// What the group is worth to the current record; moves on.
    fn take(&mut self, context: &Context<'_>) -> Result<f32, ReadError> {
        let record = self.current;
        let mut sum = 0.0;
        for member in &mut self.members {
            if member.records.list.current() == record {
                sum += member.records.take(context)?;
            }
            if member.documents.record == record {
                sum += member.documents.take(context)?;
            }
        }
        self.settle();
        Ok(self.factor * sum / (context.parameters.k1 + sum))
    }

    /// Moves on to the first record from `record` on.
    fn seek(&mut self, context: &Context<'_>, record: RecordNumber) -> Result<(), ReadError> {
        for member in &mut self.members {
            member.records.list.seek(record)?;
            member.documents.seek(context, record)?;
        }
        self.settle();
        Ok(())
    }
}

struct MemberCursor<'i> {
    records: RecordCursor<'i>,
    documents: DocumentCursor<'i>,
}

impl MemberCursor<'_> {
    fn current(&self) -> RecordNumber {
        self.records.list.current().min(self.documents.record)
    }
}

/// Goes through the records of a term.
struct RecordCursor<'i> {
    list: ListCursor<'i, RECORD_FIELDS>,
    weights: [f32; RECORD_FIELDS],
}

impl RecordCursor<'_> {
    fn take(&mut self, context: &Context<'_>) -> Result<f32, ReadError> {
        let record = self.list.current();
        let mut sum = 0.0;
        for field in RecordField::ALL {
            let frequency = self.list.frequency(field as usize);
            if frequency > 0 {
                let kind = field.length_kind();
                let length = context.length(record, kind)?;
                sum += self.weights[field as usize] * context.normalised(frequency, length, kind);
            }
        }
        self.list.advance()?;
        Ok(sum)
    }
}

/// Goes through all records of the documents that have a term in a field of their own.
struct DocumentCursor<'i> {
    list: ListCursor<'i, DOCUMENT_FIELDS>,
    weight: f32,
    /// Current record, or none.
    record: RecordNumber,
    /// One past the last record of the current document.
    end: RecordNumber,
    /// What the term is worth to each record of the current document.
    sum: f32,
}

impl<'i> DocumentCursor<'i> {
    fn new(
        context: &Context<'_>,
        list: ListCursor<'i, DOCUMENT_FIELDS>,
        weight: f32,
    ) -> Result<Self, ReadError> {
        let mut cursor = Self {
            list,
            weight,
            record: NONE,
            end: 0,
            sum: 0.0,
        };
        cursor.enter(context)?;
        Ok(cursor)
    }

    /// Goes to the first record of the document that the list is at.
    fn enter(&mut self, context: &Context<'_>) -> Result<(), ReadError> {
        self.record = NONE;
        let document = self.list.current();
        if document == NONE {
            return Ok(());
        }
        let entry = context
            .documents
            .get(document as usize)
            .ok_or(ReadError::damaged(Tag::Documents, "a document is not there"))?;
        self.sum = 0.0;
        for field in DocumentField::ALL {
            let length = match field {
                DocumentField::Title => entry.title_length.to_native(),
                DocumentField::Path => entry.path_length.to_native(),
            };
            let frequency = self.list.frequency(field as usize);
            self.sum +=
                self.weight * field.weight() * context.normalised(frequency, length, field.length_kind());
        }
        let first = entry.first_record.to_native();
        self.end = first
            .saturating_add(entry.record_count.to_native())
            .min(context.record_count);
        // A damaged table must not lead backwards.
        if first >= self.end {
            return Err(ReadError::damaged(Tag::Documents, "a document has no records"));
        }
        self.record = first;
        Ok(())
    }

    fn take(&mut self, context: &Context<'_>) -> Result<f32, ReadError> {
        let sum = self.sum;
        self.seek(context, self.record.saturating_add(1))?;
        Ok(sum)
    }

    fn seek(&mut self, context: &Context<'_>, record: RecordNumber) -> Result<(), ReadError> {
        while self.record < record {
            if record < self.end {
                self.record = record;
            } else {
                let before = self.end;
                self.list.advance()?;
                self.enter(context)?;
                if self.record < before {
                    return Err(ReadError::damaged(
                        Tag::Documents,
                        "documents are not in the order of their records",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Goes through a posting list, one unpacked block at a time.
struct ListCursor<'i, const FIELDS: usize> {
    list: PostingList<'i, FIELDS>,
    next_block: usize,
    block: Block<FIELDS>,
    row: usize,
}

impl<'i, const FIELDS: usize> ListCursor<'i, FIELDS> {
    fn new(list: PostingList<'i, FIELDS>) -> Result<Self, ReadError> {
        let mut cursor = Self {
            list,
            next_block: 0,
            block: Block::default(),
            row: 0,
        };
        cursor.load()?;
        Ok(cursor)
    }

    fn load(&mut self) -> Result<(), ReadError> {
        self.row = 0;
        if self.next_block < self.list.block_count() {
            self.list.unpack(self.next_block, &mut self.block)?;
            self.next_block += 1;
        } else {
            self.block.clear();
        }
        Ok(())
    }

    /// Number of the current posting, or none.
    fn current(&self) -> u32 {
        self.block.numbers().get(self.row).copied().unwrap_or(NONE)
    }

    fn frequency(&self, field: usize) -> u32 {
        self.block
            .frequencies(field)
            .and_then(|column| column.get(self.row))
            .copied()
            .unwrap_or(0)
    }

    fn advance(&mut self) -> Result<(), ReadError> {
        self.row += 1;
        if self.row >= self.block.numbers().len() {
            self.load()
        } else {
            Ok(())
        }
    }

    /// Moves on to the first posting with at least this number, over whole blocks where there is a directory.
    fn seek(&mut self, number: u32) -> Result<(), ReadError> {
        if self.block.numbers().last().is_some_and(|&last| last < number) {
            while self
                .list
                .bounds(self.next_block)
                .is_some_and(|bounds| bounds.last_number < number)
            {
                self.next_block += 1;
            }
            self.load()?;
        }
        while self.current() < number {
            self.advance()?;
        }
        Ok(())
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
