//! Takes the score of a hit apart: which term counted in which field, and what the page and the heading added.
//!
//! In: a query and the evidence of a record. Out: an [`Explanation`], whose numbers are those of the ranking, computed
//! again for this one record.

use super::{
    bm25::{Context, record_weights},
    posting_cursor::PostingCursor,
    query::{Group, Member, Query, Role},
    second_stage::{BEST_SHARE, Evidence, PAGE_SHARE},
};
use crate::{
    error::ReadError,
    field::{DocumentField, RecordField},
    format::{layout::Tag, metadata::LengthKind, postings::DOCUMENT_FIELDS},
    reader::{DocumentNumber, RecordNumber},
};

/// Why a hit stands where it does. `total` is its score: `(sum of the terms + 0.2 · page + 0.4 · best of page) ·
/// factors + exact heading`, where the second stage has looked at it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The record explained.
    pub record: RecordNumber,
    /// The terms of the query that the record has, in the query's order.
    pub terms: Vec<TermExplanation>,
    /// S: the sum of the terms' scores.
    pub first_stage: f32,
    /// P: the score of the whole page for the query. It counts [`Explanation::PAGE_SHARE`].
    pub page: f32,
    /// M: the best S of the page's sections among the best hundred. It counts
    /// [`Explanation::BEST_OF_PAGE_SHARE`].
    pub best_of_page: f32,
    /// 0.7 where the path is that of a changelog, else 1.
    pub path_factor: f32,
    /// 0.85 where the heading is one that every page has, else 1.
    pub heading_factor: f32,
    /// What is added because the heading is the query.
    pub exact_heading: f32,
    /// The score.
    pub total: f32,
}

impl Explanation {
    /// What the score of the page counts.
    pub const PAGE_SHARE: f32 = PAGE_SHARE;
    /// What the best score of the page's sections counts.
    pub const BEST_OF_PAGE_SHARE: f32 = BEST_SHARE;
}

/// What a term of the query is worth to a record.
#[derive(Debug, Clone, PartialEq)]
pub struct TermExplanation {
    /// The query's own term.
    pub term: String,
    /// q: 1, or less for a part of an identifier.
    pub query_weight: f32,
    /// Inverse section frequency.
    pub inverse_section_frequency: f32,
    /// q · idf · (k1 + 1) · x / (k1 + x), with x the sum of the matches.
    pub score: f32,
    /// Where it was found.
    pub matches: Vec<MatchExplanation>,
}

/// A term that was found in a field.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchExplanation {
    /// The term as it stands in the index: the query's own, or what stands for it.
    pub term: String,
    /// Why it counts: `own`, `synonym`, `spelling` or `acronym`.
    pub role: &'static str,
    /// The field.
    pub field: &'static str,
    /// How often it stands there.
    pub frequency: u32,
    /// Length of the field in terms.
    pub length: u32,
    /// Average length of such fields.
    pub average_length: f32,
    /// Weight of the field, times that of the term.
    pub weight: f32,
    /// weight · frequency / (1 − b + b · length / average length).
    pub value: f32,
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Synonym => "synonym",
            Self::Spelling => "spelling",
            Self::Acronym => "acronym",
        }
    }
}

/// Explains the place of one record.
pub(crate) fn explain(
    context: &Context<'_>,
    query: &Query<'_>,
    evidence: &Evidence,
) -> Result<Explanation, ReadError> {
    let mut terms = Vec::new();
    for group in &query.groups {
        let mut matches = Vec::new();
        for member in &group.members {
            add_record_fields(context, group, member, evidence.record, &mut matches)?;
            add_document_fields(context, member, evidence.document, &mut matches)?;
        }
        if matches.is_empty() {
            continue;
        }
        let sum: f32 = matches.iter().map(|found| found.value).sum();
        terms.push(TermExplanation {
            term: group.text.clone(),
            query_weight: group.weight,
            inverse_section_frequency: context.idf(group),
            score: context.factor(group) * sum / (context.parameters.k1 + sum),
            matches,
        });
    }
    let (path_factor, heading_factor) = evidence.factors();
    Ok(Explanation {
        record: evidence.record,
        terms,
        first_stage: evidence.score,
        page: evidence.page,
        best_of_page: evidence.best_of_page,
        path_factor,
        heading_factor,
        exact_heading: evidence.exact_heading,
        total: evidence.total,
    })
}

fn add_record_fields(
    context: &Context<'_>,
    group: &Group<'_>,
    member: &Member<'_>,
    record: RecordNumber,
    matches: &mut Vec<MatchExplanation>,
) -> Result<(), ReadError> {
    let mut postings = PostingCursor::new(member.entry.records)?;
    postings.seek(record)?;
    if postings.current() != record {
        return Ok(());
    }
    let weights = record_weights(member.weight, group.is_code);
    for field in RecordField::ALL {
        let frequency = postings.frequency(field as usize);
        let kind = field.length_kind();
        let length = context.length(record, kind)?;
        push(
            context,
            member,
            (field.name(), kind, weights[field as usize]),
            (frequency, length),
            matches,
        );
    }
    Ok(())
}

fn add_document_fields(
    context: &Context<'_>,
    member: &Member<'_>,
    document: DocumentNumber,
    matches: &mut Vec<MatchExplanation>,
) -> Result<(), ReadError> {
    let mut postings: PostingCursor<'_, DOCUMENT_FIELDS> = PostingCursor::new(member.entry.documents)?;
    postings.seek(document)?;
    if postings.current() != document {
        return Ok(());
    }
    let entry = context
        .documents
        .get(document as usize)
        .ok_or(ReadError::damaged(Tag::Documents, "a document is not there"))?;
    for field in DocumentField::ALL {
        let frequency = postings.frequency(field as usize);
        push(
            context,
            member,
            (field.name(), field.length_kind(), member.weight * field.weight()),
            (frequency, field.length(entry)),
            matches,
        );
    }
    Ok(())
}

fn push(
    context: &Context<'_>,
    member: &Member<'_>,
    (field, kind, weight): (&'static str, LengthKind, f32),
    (frequency, length): (u32, u32),
    matches: &mut Vec<MatchExplanation>,
) {
    if frequency > 0 {
        matches.push(MatchExplanation {
            term: member.text.clone(),
            role: member.role.name(),
            field,
            frequency,
            length,
            average_length: context.averages[kind as usize],
            weight,
            value: weight * context.normalised(frequency, length, kind),
        });
    }
}
