//! Searches an index: the public face of [`crate::search`].

use crate::{
    error::ReadError,
    reader::{Index, Record, RecordNumber, TextReader},
    search::{
        bm25::{self, Scored},
        query::{self, Query},
        ranking::{self, Scope},
        snippet::{self, Snippet, Wanted},
    },
};

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
        let mut scored = bm25::score(self, &query)?;
        if let Some(prefix) = request.path_prefix {
            scored = self.within(scored, prefix)?;
        }
        let end = request.offset.saturating_add(request.limit);
        let ranking = ranking::rank(self, scored, end.saturating_add(1), request.grouped)?;
        let shown = ranking
            .get(request.offset..end.min(ranking.len()))
            .unwrap_or_default();
        let wanted = self.wanted(&query);
        let mut texts = TextReader::new(self);
        let hits = shown
            .iter()
            .map(|scored| self.hit(*scored, &wanted, request.snippet_chars, &mut texts))
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
            .map(|word| {
                let nearest = if has_no_hits {
                    query::nearest(&word, &dictionary)?
                } else {
                    Vec::new()
                };
                Ok(UnknownWord { word, nearest })
            })
            .collect()
    }

    fn within(&self, scored: Vec<Scored>, prefix: &str) -> Result<Vec<Scored>, ReadError> {
        let scope = Scope::new(self, prefix)?;
        let mut kept = Vec::new();
        for scored in scored {
            if scope.holds(self, scored.record)? {
                kept.push(scored);
            }
        }
        Ok(kept)
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
        wanted: &Wanted,
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
