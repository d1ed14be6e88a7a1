//! Re-orders the best sections by what their page, their heading and their place say.
//!
//! In: the best records by the score S, of different sections. Out: the same with the score S₂. To S is added 0.2 of
//! P, the score of the whole page for the query, and 0.4 of M, the best S of the page's records among these; then the
//! sum is multiplied by 0.7 where the path is that of a changelog and by 0.85 where the heading is one that every page
//! has; then a section whose heading is the query gets 0.2 of the best sum.
//!
//! P is BM25F over the page with the same groups and inverse section frequencies: frequencies are summed over the
//! page's records (heading 2, body and front matter 1), the length is that of its headings and bodies, k1 2.2, b 0.4.
//!
//! Only records that the first stage found are looked at, so its bounds stay what they are.

use super::{
    bm25::Context,
    language::LanguageSet,
    posting_cursor::PostingCursor,
    priors,
    query::{Group, Query, Role},
    query_terms::QueryAnalyzer,
    tokenizer::tokens,
    top_k::Scored,
};
use crate::{
    error::ReadError,
    field::RecordField,
    format::{metadata::LengthKind, postings::RECORD_FIELDS},
    reader::{DocumentNumber, Index, RecordNumber},
};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Share of the page's own score.
pub(super) const PAGE_SHARE: f32 = 0.2;
/// Share of the score of the page's best record.
pub(super) const BEST_SHARE: f32 = 0.4;
/// Factor for the pages of a changelog.
const CHANGELOG_FACTOR: f32 = 0.7;
/// Factor for headings that every page has.
const GENERIC_HEADING_FACTOR: f32 = 0.85;
/// What a heading that is the query adds, as a share of the best score.
const EXACT_HEADING_SHARE: f32 = 0.2;
const PAGE_K1: f32 = 2.2;
const PAGE_B: f32 = 0.4;

/// Weight of a field in the score of a page.
const fn page_weight(field: RecordField) -> f32 {
    match field {
        RecordField::Heading => 2.0,
        RecordField::Incoming => 0.0,
        _ => 1.0,
    }
}

/// What decides the place of a section.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) record: RecordNumber,
    pub(crate) document: DocumentNumber,
    /// S: of the first stage.
    pub(crate) score: f32,
    /// P: of the page.
    pub(crate) page: f32,
    /// M: the best of the first stage on this page.
    pub(crate) best_of_page: f32,
    pub(crate) is_changelog: bool,
    pub(crate) is_generic: bool,
    /// What the heading adds.
    pub(crate) exact_heading: f32,
    /// S₂.
    pub(crate) total: f32,
}

impl Evidence {
    /// Of a record that the second stage does not look at.
    pub(crate) fn of_first_stage(scored: Scored, document: DocumentNumber) -> Self {
        Self {
            record: scored.record,
            document,
            score: scored.score,
            page: 0.0,
            best_of_page: 0.0,
            is_changelog: false,
            is_generic: false,
            exact_heading: 0.0,
            total: scored.score,
        }
    }

    /// Factors of path and heading.
    pub(crate) fn factors(&self) -> (f32, f32) {
        let factor = |applies, factor| if applies { factor } else { 1.0 };
        (
            factor(self.is_changelog, CHANGELOG_FACTOR),
            factor(self.is_generic, GENERIC_HEADING_FACTOR),
        )
    }

    /// Before the heading's share.
    fn sum(&self) -> f32 {
        let (path, heading) = self.factors();
        (self.score + PAGE_SHARE * self.page + BEST_SHARE * self.best_of_page) * path * heading
    }
}

/// The evidence for each of the records, best first.
pub(crate) fn rerank(
    index: &Index,
    context: &Context<'_>,
    query: &Query<'_>,
    sections: &[(Scored, DocumentNumber)],
) -> Result<Vec<Evidence>, ReadError> {
    let pages = pages(index, context, query, sections)?;
    let headings = Headings::new(query, index.metadata().languages());
    let mut evidence = Vec::with_capacity(sections.len());
    let mut is_exact = Vec::with_capacity(sections.len());
    for &(scored, document) in sections {
        let place = pages.binary_search_by_key(&document, |page| page.document);
        let Some(page) = place.ok().and_then(|place| pages.get(place)) else {
            continue;
        };
        let heading = index.heading(scored.record)?;
        evidence.push(Evidence {
            page: page.score,
            best_of_page: page.best,
            is_changelog: page.is_changelog,
            is_generic: priors::is_generic(heading),
            ..Evidence::of_first_stage(scored, document)
        });
        let length = context.length(scored.record, LengthKind::Heading)?;
        is_exact.push(headings.is_query(heading, length));
    }
    let best = evidence.iter().map(Evidence::sum).fold(0.0, f32::max);
    for (evidence, is_exact) in evidence.iter_mut().zip(is_exact) {
        if is_exact {
            evidence.exact_heading = EXACT_HEADING_SHARE * best;
        }
        evidence.total = evidence.sum() + evidence.exact_heading;
    }
    evidence.sort_by(|a, b| b.total.total_cmp(&a.total).then(a.record.cmp(&b.record)));
    Ok(evidence)
}

/// What is known of the pages that the sections stand on, in the order of the documents.
fn pages(
    index: &Index,
    context: &Context<'_>,
    query: &Query<'_>,
    sections: &[(Scored, DocumentNumber)],
) -> Result<Vec<Page>, ReadError> {
    let mut best: Vec<(DocumentNumber, f32)> = sections
        .iter()
        .map(|&(scored, document)| (document, scored.score))
        .collect();
    best.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    best.dedup_by_key(|&mut (document, _)| document);
    let mut pages = best
        .into_iter()
        .map(|(document, best)| Page::new(index, context, document, best))
        .collect::<Result<Vec<_>, ReadError>>()?;
    for group in &query.groups {
        add_group(group, &mut pages)?;
        let factor = context.factor(group) * (PAGE_K1 + 1.0) / (context.parameters.k1 + 1.0);
        for page in &mut pages {
            let x = std::mem::take(&mut page.sum) / page.norm;
            page.score += factor * x / (PAGE_K1 + x);
        }
    }
    Ok(pages)
}

/// Adds the weighted frequencies of a group's terms to the sum of each page. Pages ascend, and with them their records.
fn add_group(group: &Group<'_>, pages: &mut [Page]) -> Result<(), ReadError> {
    for member in &group.members {
        let mut postings: PostingCursor<'_, RECORD_FIELDS> = PostingCursor::new(member.entry.records)?;
        let weights = RecordField::ALL.map(|field| member.weight * page_weight(field));
        let mut rest = &mut *pages;
        loop {
            // Most terms stand on few of the pages.
            let current = postings.current();
            let passed = rest.partition_point(|page| page.end <= current);
            let Some((page, others)) = rest.split_at_mut(passed).1.split_first_mut() else {
                break;
            };
            if current < page.first {
                postings.seek(page.first)?;
            }
            loop {
                let rows = postings.rows_before(page.end);
                let count = rows.len();
                if count == 0 {
                    break;
                }
                for (field, &weight) in weights.iter().enumerate() {
                    if weight > 0.0
                        && let Some(frequencies) = rows.frequencies(field)
                    {
                        let total: u64 = frequencies.iter().copied().map(u64::from).sum();
                        #[expect(
                            clippy::cast_precision_loss,
                            reason = "a score does not need more than 24 bits"
                        )]
                        let total = total as f32;
                        page.sum += weight * total;
                    }
                }
                if postings.pass(count)? {
                    break;
                }
            }
            rest = others;
        }
    }
    Ok(())
}

/// A page: its records, what its length does to its frequencies, and what it adds to the scores of its sections.
struct Page {
    document: DocumentNumber,
    first: RecordNumber,
    end: RecordNumber,
    norm: f32,
    is_changelog: bool,
    /// M: the best S of its sections.
    best: f32,
    /// x of the group that is being added, before the length is taken into account.
    sum: f32,
    /// P.
    score: f32,
}

impl Page {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a score does not need more than 24 bits"
    )]
    fn new(
        index: &Index,
        context: &Context<'_>,
        document: DocumentNumber,
        best: f32,
    ) -> Result<Self, ReadError> {
        let (path, Range { start: first, end }) = index.page(document)?;
        let lengths = context
            .lengths
            .get(first as usize..end as usize)
            .unwrap_or_default();
        let length: u64 = lengths
            .iter()
            .map(|length| u64::from(length.heading.to_native()) + u64::from(length.body.to_native()))
            .sum();
        Ok(Self {
            document,
            first,
            end,
            norm: 1.0 - PAGE_B + PAGE_B * length as f32 / context.average_page,
            is_changelog: priors::is_changelog(path),
            best: best.max(0.0),
            sum: 0.0,
            score: 0.0,
        })
    }
}

/// Tells headings that are the query.
struct Headings {
    analyzer: QueryAnalyzer,
    /// Places of the query's own terms in its groups, of each form.
    own: FxHashMap<String, usize>,
    /// First bytes of these.
    initials: Vec<u8>,
    groups: usize,
}

impl Headings {
    fn new(query: &Query<'_>, languages: LanguageSet) -> Self {
        let own = query.groups.iter().enumerate().flat_map(|(place, group)| {
            group
                .members
                .iter()
                .filter(|member| member.role == Role::Own)
                .map(move |member| (member.text.clone(), place))
        });
        let own: FxHashMap<String, usize> = own.collect();
        let is_answerable = query.unknown_words.is_empty();
        Self {
            analyzer: QueryAnalyzer::new(languages),
            initials: own.keys().filter_map(|text| text.bytes().next()).collect(),
            own,
            groups: if is_answerable { query.groups.len() } else { 0 },
        }
    }

    /// Whether the heading has all terms of the query and no other.
    fn is_query(&self, heading: &str, length: u32) -> bool {
        // A heading may say a word twice, not much more.
        if self.groups == 0 || (length as usize) < self.groups || length as usize > 3 * self.groups {
            return false;
        }
        if !self.may_be_query(heading) {
            return false;
        }
        let mut met = vec![false; self.groups];
        let mut terms = Vec::new();
        for token in tokens(heading) {
            terms.clear();
            self.analyzer.terms(&token, &mut terms);
            for term in &terms {
                match term.texts.iter().find_map(|text| self.own.get(text)) {
                    Some(&place) => met[place] = true,
                    None => return false,
                }
            }
        }
        met.iter().all(|&met| met)
    }

    /// False only where the heading's first word is none of the query's: told by its first letter, which a stem keeps.
    fn may_be_query(&self, heading: &str) -> bool {
        let first = tokens(heading).next().map_or(0, |token| {
            let mut bytes = token.text.bytes();
            bytes.find(|byte| !b"-@$#._".contains(byte)).unwrap_or(0)
        });
        !first.is_ascii() || self.initials.contains(&first.to_ascii_lowercase())
    }
}
