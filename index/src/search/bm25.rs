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
//! The walk goes through the records in windows of [`WINDOW`]: in each, the postings of one term after the other are
//! added up. So the memory of a search depends on the query and not on the index, and what is done for a posting is
//! a few additions. Only the best records are kept.

use super::{
    posting_cursor::PostingCursor,
    query::{Exclusion, Group, Query},
    scope::Scope,
    top_k::{Best, Collector, Scored},
};
use crate::{
    error::ReadError,
    field::{DocumentField, RecordField},
    format::{
        layout::Tag,
        metadata::{LengthKind, LengthTotal, Metadata},
        postings::{DOCUMENT_FIELDS, RECORD_FIELDS},
        section_table::{ArchivedDocumentEntry, ArchivedLengthEntry, NONE},
        term_dictionary::TermEntry,
    },
    reader::{Index, RecordNumber},
};

/// Records that are scored together.
const WINDOW: u32 = 4096;

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
            Self { k1: 2.2, b: 0.42 }
        }
    }
}

/// The best `limit` records of those in `scope`; with `required`, only such as have every term of the query's phrases.
pub(crate) fn best(
    index: &Index,
    context: &Context<'_>,
    query: &Query<'_>,
    scope: Option<&Scope>,
    required: bool,
    limit: usize,
) -> Result<Best, ReadError> {
    let mut groups: Vec<GroupCursor<'_>> = query
        .groups
        .iter()
        .map(|group| GroupCursor::new(context, group))
        .collect::<Result<_, _>>()?;
    let mut exclusions: Vec<ExclusionCursor<'_>> = query
        .exclusions
        .iter()
        .map(ExclusionCursor::new)
        .collect::<Result<_, _>>()?;
    let mut collector = Collector::new(limit);
    let end = scope.map_or(NONE, Scope::end);
    if let Some(scope) = scope {
        for group in &mut groups {
            group.seek(context, scope.start())?;
        }
    }
    let mut window = Window::new();
    loop {
        let start = groups.iter().map(GroupCursor::current).min().unwrap_or(NONE);
        if start >= end {
            return Ok(collector.finish());
        }
        window.start = start;
        window.stop = start.saturating_add(WINDOW).min(end);
        window.found.fill();
        for group in &mut groups {
            group.add(context, &mut window)?;
            if required && group.is_required {
                window.found.keep(&window.in_group);
            }
            window.close_group(group.factor, context.parameters.k1);
        }
        for exclusion in &mut exclusions {
            exclusion.remove(&mut window)?;
        }
        for place in window.scored.drain() {
            let score = std::mem::take(&mut window.scores[place]);
            let record = start + place as u32;
            if window.found.holds(place)
                && match scope {
                    Some(scope) => scope.holds(index, record)?,
                    None => true,
                }
            {
                collector.push(Scored { record, score });
            }
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

#[expect(
    clippy::cast_precision_loss,
    reason = "a score does not need more than 24 bits"
)]
fn average_page(metadata: &Metadata) -> f32 {
    let terms = |kind: LengthKind| metadata.lengths[kind as usize].terms;
    let total = terms(LengthKind::Heading).saturating_add(terms(LengthKind::Body));
    if total == 0 {
        1.0
    } else {
        total as f32 / metadata.documents as f32
    }
}

/// What scoring reads of the index.
pub(crate) struct Context<'i> {
    pub(crate) parameters: Parameters,
    pub(crate) record_count: u32,
    /// Average length, of each kind.
    pub(crate) averages: [f32; LengthKind::COUNT],
    /// b / average length, of each kind.
    slopes: [f32; LengthKind::COUNT],
    pub(crate) lengths: &'i [ArchivedLengthEntry],
    pub(crate) documents: &'i [ArchivedDocumentEntry],
    /// Average length of a document, heading and body of all its records.
    pub(crate) average_page: f32,
}

impl<'i> Context<'i> {
    pub(crate) fn new(index: &'i Index) -> Result<Self, ReadError> {
        let metadata = index.metadata();
        let parameters = Parameters::of(metadata);
        Ok(Self {
            parameters,
            record_count: metadata.records,
            averages: metadata.lengths.map(LengthTotal::average),
            slopes: metadata.lengths.map(|total| parameters.b / total.average()),
            lengths: index.length_entries()?,
            documents: index.documents()?,
            average_page: average_page(metadata),
        })
    }

    /// tf / (1 − b + b · length / average length).
    #[expect(
        clippy::cast_precision_loss,
        reason = "a score does not need more than 24 bits"
    )]
    pub(crate) fn normalised(&self, frequency: u32, length: u32, kind: LengthKind) -> f32 {
        frequency as f32 / (1.0 - self.parameters.b + self.slopes[kind as usize] * length as f32)
    }

    pub(crate) fn length(&self, record: RecordNumber, kind: LengthKind) -> Result<u32, ReadError> {
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

    pub(crate) fn idf(&self, group: &Group<'_>) -> f32 {
        idf(self.record_count, group.section_frequency)
    }

    /// q · idf · (k1 + 1) of a group.
    pub(crate) fn factor(&self, group: &Group<'_>) -> f32 {
        group.weight * self.idf(group) * (self.parameters.k1 + 1.0)
    }
}

/// A set of places in a window.
#[derive(Debug)]
struct Places([u64; WINDOW as usize / 64]);

impl Places {
    fn new() -> Self {
        Self([0; WINDOW as usize / 64])
    }

    fn insert(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn holds(&self, place: usize) -> bool {
        self.0[place / 64] & (1 << (place % 64)) != 0
    }

    fn fill(&mut self) {
        self.0.fill(u64::MAX);
    }

    fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    fn keep(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    fn remove(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    /// Takes all places out, in order.
    fn drain(&mut self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter_mut().enumerate().flat_map(|(number, word)| {
            let mut rest = std::mem::take(word);
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                (bit < 64).then(|| {
                    rest &= rest - 1;
                    number * 64 + bit as usize
                })
            })
        })
    }
}

/// The records from `start` to before `stop` while they are scored.
#[derive(Debug)]
struct Window {
    start: RecordNumber,
    stop: RecordNumber,
    /// x of the group being added, of each record.
    sums: Vec<f32>,
    scores: Vec<f32>,
    /// Records that the group being added has.
    in_group: Places,
    /// Records with a score.
    scored: Places,
    /// Of these the ones that may be shown, and any others.
    found: Places,
}

impl Window {
    fn new() -> Self {
        Self {
            start: 0,
            stop: 0,
            sums: vec![0.0; WINDOW as usize],
            scores: vec![0.0; WINDOW as usize],
            in_group: Places::new(),
            scored: Places::new(),
            found: Places::new(),
        }
    }

    /// Place of a record, which must lie in the window.
    fn place(&self, record: RecordNumber) -> usize {
        (record.wrapping_sub(self.start)) as usize
    }

    fn add(&mut self, record: RecordNumber, value: f32) {
        let place = self.place(record);
        if let Some(sum) = self.sums.get_mut(place) {
            *sum += value;
            self.in_group.insert(place);
        }
    }

    /// Saturates the sums of a group and adds them to the scores.
    fn close_group(&mut self, factor: f32, k1: f32) {
        self.scored.add(&self.in_group);
        for place in self.in_group.drain() {
            let sum = std::mem::take(&mut self.sums[place]);
            self.scores[place] += factor * sum / (k1 + sum);
        }
    }
}

/// The cursors of a group's members.
struct GroupCursor<'i> {
    /// q · idf · (k1 + 1).
    factor: f32,
    is_required: bool,
    members: Vec<MemberCursor<'i>>,
}

impl<'i> GroupCursor<'i> {
    fn new(context: &Context<'_>, group: &Group<'i>) -> Result<Self, ReadError> {
        let members = group
            .members
            .iter()
            .map(|member| {
                Ok(MemberCursor {
                    records: RecordCursor {
                        postings: PostingCursor::new(member.entry.records)?,
                        weights: record_weights(member.weight, group.is_code),
                    },
                    documents: DocumentCursor::new(
                        context,
                        PostingCursor::new(member.entry.documents)?,
                        member.weight,
                    )?,
                })
            })
            .collect::<Result<_, ReadError>>()?;
        Ok(Self {
            factor: context.factor(group),
            is_required: group.is_required,
            members,
        })
    }

    /// Lowest record of the members.
    fn current(&self) -> RecordNumber {
        let members = self.members.iter();
        members.map(MemberCursor::current).min().unwrap_or(NONE)
    }

    /// Adds what the group's members are worth to the records of the window, and passes over these.
    fn add(&mut self, context: &Context<'_>, window: &mut Window) -> Result<(), ReadError> {
        for member in &mut self.members {
            member.records.add(context, window)?;
            member.documents.add(context, window)?;
        }
        Ok(())
    }

    /// Moves on to the first record from `record` on.
    fn seek(&mut self, context: &Context<'_>, record: RecordNumber) -> Result<(), ReadError> {
        for member in &mut self.members {
            member.records.postings.seek(record)?;
            member.documents.seek(context, record)?;
        }
        Ok(())
    }
}

/// Weights of the fields for a term.
pub(crate) fn record_weights(weight: f32, is_code: bool) -> [f32; RECORD_FIELDS] {
    RecordField::ALL.map(|field| {
        weight
            * if is_code {
                field.code_weight()
            } else {
                field.weight()
            }
    })
}

struct MemberCursor<'i> {
    records: RecordCursor<'i>,
    documents: DocumentCursor<'i>,
}

impl MemberCursor<'_> {
    fn current(&self) -> RecordNumber {
        self.records.postings.current().min(self.documents.record)
    }
}

/// Goes through the records of a term.
struct RecordCursor<'i> {
    postings: PostingCursor<'i, RECORD_FIELDS>,
    weights: [f32; RECORD_FIELDS],
}

impl RecordCursor<'_> {
    fn add(&mut self, context: &Context<'_>, window: &mut Window) -> Result<(), ReadError> {
        loop {
            let rows = self.postings.rows_before(window.stop);
            for field in RecordField::ALL {
                let Some(frequencies) = rows.frequencies(field as usize) else {
                    continue;
                };
                let (kind, weight) = (field.length_kind(), self.weights[field as usize]);
                for (&record, &frequency) in rows.numbers().iter().zip(frequencies) {
                    if frequency > 0 {
                        let length = context.length(record, kind)?;
                        window.add(record, weight * context.normalised(frequency, length, kind));
                    }
                }
            }
            let count = rows.len();
            if count == 0 || self.postings.pass(count)? {
                return Ok(());
            }
        }
    }
}

/// Goes through all records of the documents that have a term in a field of their own.
struct DocumentCursor<'i> {
    postings: PostingCursor<'i, DOCUMENT_FIELDS>,
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
        postings: PostingCursor<'i, DOCUMENT_FIELDS>,
        weight: f32,
    ) -> Result<Self, ReadError> {
        let mut cursor = Self {
            postings,
            weight,
            record: NONE,
            end: 0,
            sum: 0.0,
        };
        cursor.enter(context)?;
        Ok(cursor)
    }

    /// Goes to the first record of the document that the postings are at.
    fn enter(&mut self, context: &Context<'_>) -> Result<(), ReadError> {
        self.record = NONE;
        let document = self.postings.current();
        if document == NONE {
            return Ok(());
        }
        let entry = context
            .documents
            .get(document as usize)
            .ok_or(ReadError::damaged(Tag::Documents, "a document is not there"))?;
        self.sum = 0.0;
        for field in DocumentField::ALL {
            let frequency = self.postings.frequency(field as usize);
            self.sum += self.weight
                * field.weight()
                * context.normalised(frequency, field.length(entry), field.length_kind());
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

    /// Adds to the records of the window, and passes over these.
    fn add(&mut self, context: &Context<'_>, window: &mut Window) -> Result<(), ReadError> {
        while self.record < window.stop {
            let stop = self.end.min(window.stop);
            for record in self.record..stop {
                window.add(record, self.sum);
            }
            self.seek(context, stop)?;
        }
        Ok(())
    }

    fn seek(&mut self, context: &Context<'_>, record: RecordNumber) -> Result<(), ReadError> {
        while self.record < record {
            if record < self.end {
                self.record = record;
            } else {
                let before = self.end;
                self.postings.advance()?;
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

/// Finds the records that an excluded word stands in.
struct ExclusionCursor<'i> {
    terms: Vec<Vec<PostingCursor<'i, RECORD_FIELDS>>>,
}

impl<'i> ExclusionCursor<'i> {
    fn new(exclusion: &Exclusion<'i>) -> Result<Self, ReadError> {
        let cursors = |forms: &Vec<TermEntry<'i>>| -> Result<Vec<_>, ReadError> {
            forms
                .iter()
                .map(|form| PostingCursor::new(form.records))
                .collect()
        };
        Ok(Self {
            terms: exclusion.terms.iter().map(cursors).collect::<Result<_, _>>()?,
        })
    }

    /// Takes them out of what is found.
    fn remove(&mut self, window: &mut Window) -> Result<(), ReadError> {
        let mut excluded = Places::new();
        excluded.fill();
        for forms in &mut self.terms {
            let mut with_term = Places::new();
            for postings in forms {
                postings.seek(window.start)?;
                loop {
                    let rows = postings.rows_before(window.stop);
                    for &record in rows.numbers() {
                        with_term.insert(window.place(record));
                    }
                    let count = rows.len();
                    if count == 0 || postings.pass(count)? {
                        break;
                    }
                }
            }
            excluded.keep(&with_term);
        }
        window.found.remove(&excluded);
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
            Parameters { k1: 2.2, b: 0.42 }
        );
    }
}
