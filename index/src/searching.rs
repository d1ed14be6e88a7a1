//! Searches an index: the public face of [`crate::search`].

use crate::{
    error::ReadError,
    format::section_table::NONE,
    reader::{Index, Record, RecordNumber},
    search::{
        bm25::Context,
        explanation,
        language::Language,
        phrase::surface_form,
        posting_cursor::PostingCursor,
        query::{self, Query, Unknown, Vocabulary},
        ranking::{self, Ranking},
        scope::Scope,
        second_stage::Evidence,
        snippet::{self, ReadBody, Snippet, Wanted},
    },
    text::TextReader,
};

pub use crate::search::explanation::{Explanation, MatchExplanation, TermExplanation};

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
    /// Words that the query excludes with a minus sign, as they were typed: no hit has them.
    pub excluded_words: Vec<String>,
    /// The query has phrases between quotation marks that no section has, or none that has the others too: the hits are
    /// those of the phrases' words. Otherwise every hit has all phrases.
    pub phrases_missing: bool,
}

/// A word of a query that the index does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// As it was typed.
    pub word: String,
    /// The term of the index that was searched for in its place: one that means the same, or is spelled alike.
    pub searched_as: Option<String>,
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

impl SearchRequest<'_> {
    /// One past the last hit of the ranking that is wanted.
    fn end(&self) -> usize {
        self.offset.saturating_add(self.limit)
    }
}

/// The part of a ranking that is returned.
fn shown<'r>(ranking: &'r Ranking, request: &SearchRequest<'_>) -> &'r [Evidence] {
    let end = request.end().min(ranking.list.len());
    ranking.list.get(request.offset..end).unwrap_or_default()
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
        let query = query::parse(request.query, &self.vocabulary()?)?;
        let (context, ranking) = self.ranking(&query, request)?;
        let mut wanted = Self::wanted(&context, &query);
        let mut texts = TextReader::new(self);
        let hits = shown(&ranking, request)
            .iter()
            .map(|evidence| self.hit(evidence, &mut wanted, request.snippet_chars, &mut texts))
            .collect::<Result<_, _>>()?;
        Ok(SearchResults {
            hits,
            more: ranking.list.len() > request.end(),
            truncated: query.is_truncated,
            unknown_words: self.unknown_words(query.unknown_words, ranking.list.is_empty())?,
            excluded_words: query
                .exclusions
                .into_iter()
                .map(|exclusion| exclusion.word)
                .collect(),
            phrases_missing: !query.phrases.is_empty() && !ranking.has_phrases,
        })
    }

    /// Explains the score of each hit of [`Index::search`], in the same order.
    ///
    /// # Errors
    ///
    /// As [`Index::search`].
    pub fn explain(&self, request: &SearchRequest<'_>) -> Result<Vec<Explanation>, ReadError> {
        let query = query::parse(request.query, &self.vocabulary()?)?;
        let (context, ranking) = self.ranking(&query, request)?;
        shown(&ranking, request)
            .iter()
            .map(|evidence| explanation::explain(&context, &query, evidence))
            .collect()
    }

    fn ranking<'i>(
        &'i self,
        query: &Query<'i>,
        request: &SearchRequest<'_>,
    ) -> Result<(Context<'i>, Ranking), ReadError> {
        let scope = request
            .path_prefix
            .map(|prefix| Scope::new(self, prefix))
            .transpose()?;
        let context = Context::new(self)?;
        let wanted = request.end().saturating_add(1);
        let ranking = ranking::rank(self, &context, query, scope.as_ref(), wanted, request.grouped)?;
        Ok((context, ranking))
    }

    pub(crate) fn vocabulary(&self) -> Result<Vocabulary<'_>, ReadError> {
        Ok(Vocabulary {
            dictionary: self.dictionary(),
            expansions: self.expansions()?,
            languages: self.metadata().languages(),
        })
    }

    fn unknown_words(&self, words: Vec<Unknown>, has_no_hits: bool) -> Result<Vec<UnknownWord>, ReadError> {
        let vocabulary = self.vocabulary()?;
        let mut texts = TextReader::new(self);
        words
            .into_iter()
            .enumerate()
            .map(|(place, Unknown { word, searched_as })| {
                if place >= EXPLAINED_WORDS {
                    return Ok(UnknownWord {
                        word,
                        searched_as,
                        nearest: Vec::new(),
                    });
                }
                let nearest = if has_no_hits {
                    query::nearest(&word, &vocabulary)?
                } else {
                    Vec::new()
                };
                let mut surface = |term: String| self.surface_form(term, &mut texts);
                Ok(UnknownWord {
                    word,
                    searched_as: searched_as.map(&mut surface).transpose()?,
                    nearest: nearest.into_iter().map(surface).collect::<Result<_, _>>()?,
                })
            })
            .collect()
    }

    /// A word as it stands in the documentation, for a term, which may be no word: `authentication`, not `authent`.
    fn surface_form(&self, term: String, texts: &mut TextReader<'_>) -> Result<String, ReadError> {
        let Some(entry) = self.dictionary().find(&term)? else {
            return Ok(term);
        };
        let record = PostingCursor::new(entry.records)?.current();
        if record == NONE {
            return Ok(term);
        }
        let document = self.record_entry(record)?.document.to_native();
        let language = Language::of_tag(self.document(document)?.language);
        let text = texts.text(record)?;
        Ok(surface_form(text, &term, language).map_or(term, str::to_lowercase))
    }

    /// The terms that a snippet should show, by what they are worth.
    fn wanted(context: &Context<'_>, query: &Query<'_>) -> Wanted {
        Wanted::new(query.groups.iter().enumerate().flat_map(|(place, group)| {
            let worth = group.weight * context.idf(group);
            group
                .members
                .iter()
                .map(move |member| (member.text.clone(), place, worth * member.weight))
        }))
    }

    fn hit(
        &self,
        evidence: &Evidence,
        wanted: &mut Wanted,
        snippet_chars: usize,
        texts: &mut TextReader<'_>,
    ) -> Result<Hit, ReadError> {
        let record = self.record(evidence.record)?;
        wanted.read_as(Language::of_tag(record.document.language));
        let Snippet { text, is_complete } = if snippet_chars == 0 {
            Snippet {
                text: String::new(),
                is_complete: false,
            }
        } else {
            let read = || Ok(ReadBody::of(body(&record, texts.text(evidence.record)?)));
            let body = self.kept_bodies().get(evidence.record, read)?;
            snippet::choose(&body, wanted, snippet_chars)
        };
        Ok(Hit {
            record: evidence.record,
            score: evidence.total,
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
    use crate::{IndexOptions, sample, search::formula};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_page_of_hits_does_not_depend_on_how_many_are_asked_for(
            documents in formula::documents(), grouped: bool, limit in 1_usize..6,
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
            ("docs/forms.md", 0),
            ("nowhere/", 0),
        ] {
            let request = SearchRequest {
                path_prefix: Some(prefix),
                ..SearchRequest::new("green")
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
    fn unknown_words_are_named_with_what_stands_for_them_or_is_near() {
        let index = sample::build(&sample::documents(), &sample::options())
            .open()
            .unwrap();
        let unknown = |query: &str| {
            let results = index.search(&SearchRequest::new(query)).unwrap();
            let words: Vec<_> = results
                .unknown_words
                .into_iter()
                .map(|u| (u.word, u.searched_as, u.nearest))
                .collect();
            (words, results.hits.len())
        };
        let word = |word: &str, searched_as: Option<&str>, nearest: &[&str]| {
            (
                word.to_owned(),
                searched_as.map(str::to_owned),
                nearest.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(),
            )
        };
        let (words, hits) = unknown("uplaod zzzz");
        assert_eq!(
            words,
            [word("uplaod", Some("upload"), &[]), word("zzzz", None, &[])]
        );
        assert!(hits > 0);
        // The first letter is not corrected, only offered.
        assert_eq!(unknown("wpload"), (vec![word("wpload", None, &["upload"])], 0));
        assert_eq!(unknown("zzzz"), (vec![word("zzzz", None, &[])], 0));
    }

    #[test]
    fn phrases_are_found_as_they_stand_or_their_words_apart() {
        let index = sample::build(&sample::documents(), &sample::options())
            .open()
            .unwrap();
        let search = |query: &str| {
            let results = index.search(&SearchRequest::new(query)).unwrap();
            (results.hits.len(), results.phrases_missing)
        };
        assert_eq!(search("\"entry 77\""), (1, false));
        assert!(!search("entry 77").1);
        let (hits, is_missing) = search("\"77 entry\"");
        assert!(hits > 1 && is_missing);
        assert_eq!(search("\"zzzz yyyy\""), (0, true));
    }

    #[test]
    fn excluded_words_leave_their_sections_out() {
        let index = sample::build(&sample::documents(), &sample::options())
            .open()
            .unwrap();
        let search = |query: &str| {
            let request = SearchRequest {
                limit: 200,
                ..SearchRequest::new(query)
            };
            index.search(&request).unwrap()
        };
        let green = search("entry green").hits;
        let results = search("entry -green");
        assert_eq!(results.excluded_words, ["green"]);
        let greens: Vec<_> = search("green").hits.iter().map(|hit| hit.record).collect();
        assert!(!results.hits.is_empty() && results.hits.len() < green.len());
        assert!(results.hits.iter().all(|hit| !greens.contains(&hit.record)));
        assert_eq!(search("entry -zzzz").hits.len(), search("entry").hits.len());
    }

    #[test]
    fn explanations_add_up_to_the_scores() {
        let index = sample::build(&sample::documents(), &sample::options())
            .open()
            .unwrap();
        for query in ["entry 77 green", "upload a file", "fields", "検索", "dtf form"] {
            let request = SearchRequest::new(query);
            let hits = index.search(&request).unwrap().hits;
            let explanations = index.explain(&request).unwrap();
            assert_eq!(hits.len(), explanations.len());
            for (hit, explained) in hits.iter().zip(&explanations) {
                assert_eq!((hit.record, hit.score), (explained.record, explained.total));
                let first_stage: f32 = explained.terms.iter().map(|term| term.score).sum();
                assert!((first_stage - explained.first_stage).abs() < 1e-4, "{query}");
                let sum = (explained.first_stage + 0.2 * explained.page + 0.4 * explained.best_of_page)
                    * explained.path_factor
                    * explained.heading_factor
                    + explained.exact_heading;
                assert!((sum - explained.total).abs() < 1e-4, "{query}");
            }
        }
    }
}
