//! The scores by their definition, computed from the counts of each document with nothing of the file in between: what
//! the search is compared with.
#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use super::{
    bm25::{self, Context},
    query, second_stage,
    top_k::Scored,
};
use crate::{
    DocumentSource, IndexOptions, PartSource, SectionSource,
    document::BodyText,
    field::{DocumentField, RecordField},
    format::metadata::LengthKind,
    prepare,
    prepare::PreparedDocument,
    sample,
};
use proptest::prelude::*;
use std::collections::HashMap;

/// The counts of a collection.
struct Counts {
    prepared: Vec<PreparedDocument>,
    /// Document, and record in it.
    records: Vec<(usize, usize)>,
}

impl Counts {
    fn of(documents: &[DocumentSource]) -> Self {
        let prepared: Vec<_> = documents
            .iter()
            .map(|d| prepare(d, &IndexOptions::default()).unwrap())
            .collect();
        let records = prepared
            .iter()
            .enumerate()
            .flat_map(|(d, prepared)| (0..prepared.records.len()).map(move |r| (d, r)))
            .collect();
        Self { prepared, records }
    }

    fn length(&self, kind: LengthKind, (d, r): (usize, usize)) -> u32 {
        let (document, record) = (&self.prepared[d].document, &self.prepared[d].records[r]);
        match kind {
            LengthKind::Heading => record.lengths.heading,
            LengthKind::Body => record.lengths.body,
            LengthKind::Title => document.title_length,
            LengthKind::Path => document.path_length,
            LengthKind::FrontMatter | LengthKind::Incoming => 0,
        }
    }

    fn average(&self, kind: LengthKind) -> f32 {
        let of_documents = matches!(kind, LengthKind::Title | LengthKind::Path);
        let lengths: Vec<f32> = self
            .records
            .iter()
            .filter(|record| !of_documents || record.1 == 0)
            .map(|&record| self.length(kind, record) as f32)
            .filter(|&length| length > 0.0)
            .collect();
        if lengths.is_empty() {
            1.0
        } else {
            lengths.iter().sum::<f32>() / lengths.len() as f32
        }
    }

    fn frequencies(&self, term: &str, (d, r): (usize, usize)) -> Option<[u32; 7]> {
        let place = self.prepared[d].terms.iter().position(|t| t == term)? as u32;
        self.prepared[d]
            .record_postings
            .iter()
            .find(|(t, p)| *t == place && p.number == r as u32)
            .map(|(_, p)| p.frequencies)
    }

    fn document_frequencies(&self, term: &str, d: usize) -> Option<[u32; 2]> {
        let place = self.prepared[d].terms.iter().position(|t| t == term)? as u32;
        self.prepared[d]
            .document_postings
            .iter()
            .find(|(t, _)| *t == place)
            .map(|(_, f)| *f)
    }

    fn idf(&self, term: &str) -> f32 {
        let df = self
            .records
            .iter()
            .filter(|&&record| self.frequencies(term, record).is_some())
            .count() as f32;
        (1.0 + (self.records.len() as f32 - df + 0.5) / (df + 0.5)).ln()
    }

    /// S of each record that has any of the words.
    fn first_stage(&self, query: &str) -> Vec<Scored> {
        let is_flat = (self.records.len() as f64) < 1.5 * self.prepared.len() as f64;
        let (k1, b) = if is_flat { (1.2_f32, 0.6_f32) } else { (2.2, 0.42) };
        let mut scores: HashMap<usize, f32> = HashMap::new();
        for term in query.split_whitespace() {
            let idf = self.idf(term);
            for (number, &record) in self.records.iter().enumerate() {
                let norm =
                    |kind: LengthKind| 1.0 - b + b * self.length(kind, record) as f32 / self.average(kind);
                let mut x = 0.0;
                for field in RecordField::ALL {
                    let tf = self.frequencies(term, record).map_or(0, |f| f[field as usize]);
                    x += field.weight() * tf as f32 / norm(field.length_kind());
                }
                for field in DocumentField::ALL {
                    let tf = self
                        .document_frequencies(term, record.0)
                        .map_or(0, |f| f[field as usize]);
                    x += field.weight() * tf as f32 / norm(field.length_kind());
                }
                if x > 0.0 {
                    *scores.entry(number).or_default() += idf * (k1 + 1.0) * x / (k1 + x);
                }
            }
        }
        let mut list: Vec<_> = scores
            .into_iter()
            .map(|(record, score)| Scored {
                record: record as u32,
                score,
            })
            .collect();
        list.sort_by(Scored::compare);
        list
    }

    /// P of each document.
    fn pages(&self, query: &str) -> Vec<f32> {
        let length = |d: usize| {
            let records = &self.prepared[d].records;
            records
                .iter()
                .map(|r| r.lengths.heading + r.lengths.body)
                .sum::<u32>() as f32
        };
        let documents = 0..self.prepared.len();
        let average = documents.clone().map(length).sum::<f32>() / self.prepared.len() as f32;
        documents
            .map(|d| {
                let norm = if average > 0.0 {
                    0.6 + 0.4 * length(d) / average
                } else {
                    0.6
                };
                query
                    .split_whitespace()
                    .map(|term| {
                        let of_record = |r| {
                            self.frequencies(term, (d, r)).map_or(0, |f| {
                                2 * f[RecordField::Heading as usize]
                                    + f[RecordField::Prose as usize]
                                    + f[RecordField::Code as usize]
                            })
                        };
                        let tf: u32 = (0..self.prepared[d].records.len()).map(of_record).sum();
                        let x = tf as f32 / norm;
                        self.idf(term) * 3.2 * x / (2.2 + x)
                    })
                    .sum()
            })
            .collect()
    }

    /// S₂ of each record, in no order; there are fewer records than the second stage looks at.
    fn second_stage(&self, documents: &[DocumentSource], query: &str) -> HashMap<u32, f32> {
        let first = self.first_stage(query);
        let pages = self.pages(query);
        let mut totals: HashMap<u32, f32> = HashMap::new();
        for scored in &first {
            let document = self.records[scored.record as usize].0;
            let best = first
                .iter()
                .filter(|other| self.records[other.record as usize].0 == document)
                .map(|other| other.score)
                .fold(0.0, f32::max);
            totals.insert(scored.record, scored.score + 0.2 * pages[document] + 0.4 * best);
        }
        let best = totals.values().copied().fold(0.0, f32::max);
        let words = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words.dedup();
            words
        };
        let is_known = words(query)
            .iter()
            .all(|term| self.prepared.iter().any(|p| p.terms.contains(term)));
        for (&record, total) in &mut totals {
            let (document, place) = self.records[record as usize];
            let heading = words(&documents[document].sections[place].heading);
            if is_known && heading == words(query) {
                *total += 0.2 * best;
            }
        }
        totals
    }
}

/// Words that are their own stems, and no question words.
const WORDS: [&str; 6] = ["alpha", "beta", "kappa", "sigma", "red", "green"];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(0..WORDS.len(), 0..8).prop_map(|words| {
        words
            .into_iter()
            .map(|word| WORDS[word])
            .collect::<Vec<_>>()
            .join(" ")
    })
}

pub(crate) fn documents() -> impl Strategy<Value = Vec<DocumentSource>> {
    let section = (text(), text(), text());
    let document = (0..WORDS.len(), text(), prop::collection::vec(section, 1..5));
    prop::collection::vec(document, 1..6).prop_map(|documents| {
        documents
            .into_iter()
            .enumerate()
            .map(|(number, (word, title, sections))| DocumentSource {
                path: format!("{number}/{}.md", WORDS[word]).into_bytes(),
                title,
                sections: sections
                    .into_iter()
                    .enumerate()
                    .map(|(place, (heading, prose, code))| SectionSource {
                        heading,
                        anchor: format!("s{place}"),
                        level: 1,
                        line_start: place as u32 + 1,
                        line_end: place as u32 + 1,
                        parts: vec![PartSource {
                            text: prose.clone(),
                            fields: BodyText {
                                prose,
                                code,
                                ..BodyText::default()
                            },
                            ..PartSource::default()
                        }],
                        ..SectionSource::default()
                    })
                    .collect(),
                ..DocumentSource::default()
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn the_best_records_are_those_of_the_formula(
        documents in documents(), query in "(alpha|beta|kappa)( sigma)?( red)?", limit in 1_usize..30,
    ) {
        let index = sample::build(&documents, &IndexOptions::default()).open().unwrap();
        let parsed = query::parse(&query, &index.vocabulary().unwrap()).unwrap();
        let context = Context::new(&index).unwrap();
        let best = bm25::best(&index, &context, &parsed, None, false, limit).unwrap();
        let expected = Counts::of(&documents).first_stage(&query);
        prop_assert_eq!(best.is_cut, expected.len() > limit);
        prop_assert_eq!(best.list.len(), expected.len().min(limit));
        for (found, expected) in best.list.iter().zip(&expected) {
            // Sums in another order may differ in the last digits, and with them the order of near ties.
            prop_assert!((found.score - expected.score).abs() < 1e-4 * expected.score, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn the_order_is_that_of_the_formula(
        documents in documents(), query in "(alpha|beta|kappa)( sigma)?( red)?",
    ) {
        let index = sample::build(&documents, &IndexOptions::default()).open().unwrap();
        let parsed = query::parse(&query, &index.vocabulary().unwrap()).unwrap();
        let context = Context::new(&index).unwrap();
        let best = bm25::best(&index, &context, &parsed, None, false, 100).unwrap();
        let counts = Counts::of(&documents);
        let sections: Vec<_> = best
            .list
            .iter()
            .map(|&scored| (scored, counts.records[scored.record as usize].0 as u32))
            .collect();
        let found = second_stage::rerank(&index, &context, &parsed, &sections).unwrap();
        let expected = counts.second_stage(&documents, &query);
        prop_assert_eq!(found.len(), expected.len());
        prop_assert!(found.is_sorted_by(|a, b| a.total > b.total || (a.total >= b.total && a.record < b.record)));
        for evidence in &found {
            let total = expected[&evidence.record];
            prop_assert!((evidence.total - total).abs() < 1e-4 * total, "{evidence:?} {total}");
        }
    }
}
