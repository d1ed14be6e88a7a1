//! Searches an index: the public face of [`crate::search`].

use crate::{
    error::ReadError,
    reader::{Index, Record, RecordNumber},
    search::{
        bm25::{self, Scored},
        query::{self, Query},
        ranking,
        scope::Scope,
        snippet::{self, Snippet, Wanted},
    },
    text::TextReader,
};

/// Unknown words of a query without hits for which others are offered.
const EXPLAINED_WORDS: usize = 8;

/// What to search for and what to return.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest<'q> {
    /// Any text; there is no query syntax.
    pub query: &'q str,
    /// Hits wanted.
    pub limit: usize,
    /// Hits of the ranking to pass over first.
    pub offset: usize,
    /// At most two sections of a document before others come in, and the same text once. Otherwise the bare
    /// ranking.
    pub grouped: bool,
    /// Characters of a snippet at most; 0 for none.
    pub snippet_chars: usize,
    /// Only records whose ids begin with this.
    pub path_prefix: Option<&'q str>,
}

impl<'q> SearchRequest<'q> {
    /// A request for the first five hits, grouped, with snippets of 200 characters.
    pub fn new(query: &'q str) -> Self {
        Self {
            query,
            limit: 5,
            offset: 0,
            grouped: true,
            snippet_chars: 200,
            path_prefix: None,
        }
    }
}

/// Hits, and what the query had that the index has not.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Words of the query that the index does not know, as they were typed.
    pub unknown_words: Vec<UnknownWord>,
    /// Whether the query was too long and its last words were left out.
    pub truncated: bool,
    /// Whether further hits follow.
    pub more: bool,
}

/// A word of a query that the index does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// As it was typed.
    pub word: String,
    /// Terms of the index that are spelled alike, the most frequent of the nearest first. Looked for only
    /// where a query has no hit.
    pub nearest: Vec<String>,
}

/// A record that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The best part of the section.
    pub record: RecordNumber,
    /// Comparable within one query only.
    pub score: f32,
    /// The passage that answers best, white space folded, without the heading; empty if none was asked for.
    pub snippet: String,
    /// The snippet is all there is to the section beside its heading.
    pub complete: bool,
}

impl Index {
    /// Searches the index.
    ///
    /// ```
    /// use docs_index::{
    ///     BodyText, DocumentSource, IndexOptions, IndexWriter, PartSource, SearchRequest, SectionSource, prepare,
    /// };
    ///
    /// let text = "# Uploads\n\nSend a file in a form.";
    /// let part = PartSource {
    ///     text: text.to_owned(),
    ///     fields: BodyText { prose: "Send a file in a form.".to_owned(), ..BodyText::default() },
    ///     ..PartSource::default()
    /// };
    /// let section = SectionSource {
    ///     heading: "Uploads".to_owned(),
    ///     anchor: "uploads".to_owned(),
    ///     level: 1,
    ///     line_start: 1,
    ///     line_end: 3,
    ///     parts: vec![part],
    ///     ..SectionSource::default()
    /// };
    /// let document =
    ///     DocumentSource { path: b"guide.md".to_vec(), sections: vec![section], ..DocumentSource::default() };
    ///
    /// let options = IndexOptions::default();
    /// let mut writer = IndexWriter::new(options.clone());
    /// writer.add(prepare(&document, &options)?)?;
    /// let index = writer.finish()?.open()?;
    ///
    /// let results = index.search(&SearchRequest::new("how do I upload files?"))?;
    /// let hit = &results.hits[0];
    /// assert_eq!(index.record(hit.record)?.id(), "guide.md#uploads");
    /// assert_eq!(hit.snippet, "Send a file in a form.");
    /// assert_eq!(index.text(hit.record)?, text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`]: the file is not what it was when it was written. No query is an error.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchResults, ReadError> {
        let query = query::parse(request.query, &self.dictionary())?;
        let scope = request
            .path_prefix
            .map(|prefix| Scope::new(self, prefix))
            .transpose()?;
        let end = request.offset.saturating_add(request.limit);
        let ranking = ranking::rank(
            self,
            &query,
            scope.as_ref(),
            end.saturating_add(1),
            request.grouped,
        )?;
        let shown = ranking
            .get(request.offset..end.min(ranking.len()))
            .unwrap_or_default();
        let mut wanted = self.wanted(&query);
        let mut texts = TextReader::new(self);
        let hits = shown
            .iter()
            .map(|scored| self.hit(*scored, &mut wanted, request.snippet_chars, &mut texts))
            .collect::<Result<_, _>>()?;
        let unknown_words = self.unknown_words(query.unknown_words, ranking.is_empty())?;
        Ok(SearchResults {
            hits,
            more: ranking.len() > end,
            truncated: query.is_truncated,
            unknown_words,
        })
    }

    fn unknown_words(&self, words: Vec<String>, has_no_hits: bool) -> Result<Vec<UnknownWord>, ReadError> {
        let dictionary = self.dictionary();
        words
            .into_iter()
            .enumerate()
            .map(|(place, word)| {
                let nearest = if has_no_hits && place < EXPLAINED_WORDS {
                    query::nearest(&word, &dictionary)?
                } else {
                    Vec::new()
                };
                Ok(UnknownWord { word, nearest })
            })
            .collect()
    }

    /// The terms that a snippet should show, by what they are worth.
    fn wanted(&self, query: &Query<'_>) -> Wanted {
        let records = self.metadata().records;
        Wanted::new(query.groups.iter().map(|group| {
            (
                group.text.clone(),
                group.weight * bm25::idf(records, group.section_frequency),
            )
        }))
    }

    fn hit(
        &self,
        scored: Scored,
        wanted: &mut Wanted,
        snippet_chars: usize,
        texts: &mut TextReader<'_>,
    ) -> Result<Hit, ReadError> {
        let record = self.record(scored.record)?;
        let Snippet { text, is_complete } = if snippet_chars == 0 {
            Snippet {
                text: String::new(),
                is_complete: false,
            }
        } else {
            snippet::choose(body(&record, texts.text(scored.record)?), wanted, snippet_chars)
        };
        Ok(Hit {
            record: scored.record,
            score: scored.score,
            snippet: text,
            complete: is_complete && record.part_count == 1,
        })
    }
}

/// The text of a record without its heading line(s), which stand in the first part only.
fn body<'t>(record: &Record<'_>, text: &'t str) -> &'t str {
    if record.level == 0 || record.part > 1 {
        return text;
    }
    let mut rest = text;
    let is_underlined = !text.trim_start().starts_with('#');
    while let Some((line, tail)) = rest.split_once('\n') {
        rest = tail;
        let line = line.trim();
        let is_underline =
            !line.is_empty() && (line.bytes().all(|b| b == b'=') || line.bytes().all(|b| b == b'-'));
        if !is_underlined || is_underline {
            return rest;
        }
    }
    if is_underlined { text } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DocumentSource, IndexOptions, PartSource, SectionSource,
        document::BodyText,
        field::{DocumentField, RecordField},
        format::metadata::LengthKind,
        prepare, sample,
    };
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Scores by the formula, from the counts of each document, with nothing of the file in between.
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn by_formula(documents: &[DocumentSource], query: &str) -> Vec<Scored> {
        let prepared: Vec<_> = documents
            .iter()
            .map(|d| prepare(d, &IndexOptions::default()).unwrap())
            .collect();
        let records: Vec<(usize, usize)> = prepared
            .iter()
            .enumerate()
            .flat_map(|(d, prepared)| (0..prepared.records.len()).map(move |r| (d, r)))
            .collect();
        let length = |kind: LengthKind, (d, r): (usize, usize)| {
            let (document, record) = (&prepared[d].document, &prepared[d].records[r]);
            match kind {
                LengthKind::Heading => record.lengths.heading,
                LengthKind::Body => record.lengths.body,
                LengthKind::Title => document.title_length,
                LengthKind::Path => document.path_length,
                LengthKind::FrontMatter | LengthKind::Incoming => 0,
            }
        };
        let average = |kind: LengthKind| {
            let of_documents = matches!(kind, LengthKind::Title | LengthKind::Path);
            let lengths: Vec<f32> = records
                .iter()
                .filter(|record| !of_documents || record.1 == 0)
                .map(|&record| length(kind, record) as f32)
                .filter(|&length| length > 0.0)
                .collect();
            if lengths.is_empty() {
                1.0
            } else {
                lengths.iter().sum::<f32>() / lengths.len() as f32
            }
        };
        let frequency = |term: &str, (d, r): (usize, usize)| -> Option<[u32; 7]> {
            let place = prepared[d].terms.iter().position(|t| t == term)? as u32;
            prepared[d]
                .record_postings
                .iter()
                .find(|(t, p)| *t == place && p.number == r as u32)
                .map(|(_, p)| p.frequencies)
        };
        let own_frequency = |term: &str, d: usize| -> Option<[u32; 2]> {
            let place = prepared[d].terms.iter().position(|t| t == term)? as u32;
            prepared[d]
                .document_postings
                .iter()
                .find(|(t, _)| *t == place)
                .map(|(_, f)| *f)
        };
        let is_flat = (records.len() as f64) < 1.5 * documents.len() as f64;
        let (k1, b) = if is_flat { (1.2_f32, 0.6_f32) } else { (2.2, 0.4) };
        let mut scores: HashMap<usize, f32> = HashMap::new();
        for term in query.split_whitespace() {
            let df = records
                .iter()
                .filter(|&&record| frequency(term, record).is_some())
                .count() as f32;
            let idf = (1.0 + (records.len() as f32 - df + 0.5) / (df + 0.5)).ln();
            for (number, &record) in records.iter().enumerate() {
                let norm = |kind: LengthKind| 1.0 - b + b * length(kind, record) as f32 / average(kind);
                let mut x = 0.0;
                for field in RecordField::ALL {
                    let tf = frequency(term, record).map_or(0, |f| f[field as usize]);
                    x += field.weight() * tf as f32 / norm(field.length_kind());
                }
                for field in DocumentField::ALL {
                    let tf = own_frequency(term, record.0).map_or(0, |f| f[field as usize]);
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

    fn documents() -> impl Strategy<Value = Vec<DocumentSource>> {
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
            let parsed = query::parse(&query, &index.dictionary()).unwrap();
            let best = bm25::best(&index, &parsed, None, limit).unwrap();
            let expected = by_formula(&documents, &query);
            prop_assert_eq!(best.is_cut, expected.len() > limit);
            prop_assert_eq!(best.list.len(), expected.len().min(limit));
            for (found, expected) in best.list.iter().zip(&expected) {
                // Sums in another order may differ in the last digits, and with them the order of near ties.
                prop_assert!((found.score - expected.score).abs() < 1e-4 * expected.score, "{found:?} {expected:?}");
            }
        }

        #[test]
        fn a_page_of_hits_does_not_depend_on_how_many_are_asked_for(
            documents in documents(), grouped: bool, limit in 1_usize..6,
        ) {
            let index = sample::build(&documents, &IndexOptions::default()).open().unwrap();
            let all = index.search(&SearchRequest { limit: 100, grouped, ..SearchRequest::new("alpha beta red") }).unwrap();
            prop_assert!(!all.more);
            for offset in 0..all.hits.len() {
                let page = index
                    .search(&SearchRequest { limit, offset, grouped, ..SearchRequest::new("alpha beta red") })
                    .unwrap();
                let end = (offset + limit).min(all.hits.len());
                prop_assert_eq!(&page.hits[..], &all.hits[offset..end]);
                prop_assert_eq!(page.more, end < all.hits.len());
            }
        }
    }

    fn found(request: &SearchRequest<'_>) -> Vec<String> {
        let index = sample::build(&sample::documents(), &sample::options())
            .open()
            .unwrap();
        let hits = index.search(request).unwrap().hits;
        hits.iter()
            .map(|hit| index.record(hit.record).unwrap().id())
            .collect()
    }

    #[test]
    fn a_scope_confines_the_search() {
        for (prefix, expected) in [
            ("docs/", 5),
            ("docs/log.md", 5),
            ("./docs/log.md#entry-1", 5),
            ("docs/log.md#entry-139", 1),
            ("docs/lo", 5),
            ("docs/uploads.md", 0),
            ("nowhere/", 0),
        ] {
            let request = SearchRequest {
                path_prefix: Some(prefix),
                ..SearchRequest::new("entry")
            };
            let ids = found(&request);
            assert_eq!(ids.len(), expected, "{prefix}");
            assert!(
                ids.iter()
                    .all(|id| id.starts_with(prefix.trim_start_matches("./"))),
                "{ids:?}"
            );
        }
    }

    #[test]
    fn parts_of_a_section_are_one_hit_and_the_best_part_is_it() {
        assert_eq!(
            found(&SearchRequest::new("close path"))[0],
            "docs/uploads.md#example~2"
        );
        let ids = found(&SearchRequest {
            grouped: false,
            limit: 100,
            ..SearchRequest::new("path")
        });
        assert_eq!(ids.iter().filter(|id| id.contains("example")).count(), 1);
    }

    #[test]
    fn the_text_of_incoming_links_is_found_where_they_point() {
        // "Upload" stands nowhere in this section; the link to it says so.
        assert!(found(&SearchRequest::new("upload")).contains(&"docs/forms.md#fields".to_owned()));
    }

    #[test]
    fn unknown_words_are_named_with_what_is_near_only_where_nothing_is_found() {
        let index = sample::build(&sample::documents(), &sample::options())
            .open()
            .unwrap();
        let results = index.search(&SearchRequest::new("uplaod zzzz")).unwrap();
        assert!(results.hits.is_empty());
        let words: Vec<_> = results
            .unknown_words
            .iter()
            .map(|u| (u.word.as_str(), u.nearest.clone()))
            .collect();
        assert_eq!(words, [("uplaod", vec!["upload".to_owned()]), ("zzzz", vec![])]);
        let results = index.search(&SearchRequest::new("uplaod form")).unwrap();
        assert!(!results.hits.is_empty());
        assert_eq!(results.unknown_words[0].nearest, Vec::<String>::new());
    }
}
