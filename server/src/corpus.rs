//! What the tools ask of an index, and no more.
//!
//! In: a query or a section id. Out: owned values that an answer is rendered from. The tools speak to the
//! [`Corpus`] trait, so that they can be driven by a fixed list (the launch floor) or by one that fails on
//! purpose (tests); [`docs_index::Index`] is the one that ships.

use std::fmt;

use docs_index::{Index, ReadError, Record, RecordNumber, SearchRequest, UnknownWord};

/// A searchable body of documentation.
///
/// Both calls are synchronous: a search takes well under a millisecond, less than handing it to a thread would.
pub trait Corpus: fmt::Debug + Send + Sync {
    /// What it is, for the instructions that a client reads once.
    fn summary(&self) -> CorpusSummary;

    /// The hits of one query, best first.
    ///
    /// # Errors
    ///
    /// When the index turns out to be damaged.
    fn search(&self, request: &SearchRequest<'_>) -> Result<Found, ReadError>;

    /// The part that an id names.
    ///
    /// # Errors
    ///
    /// When the index turns out to be damaged.
    fn section(&self, id: &str) -> Result<Lookup, ReadError>;
}

/// What a corpus is and how large.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CorpusSummary {
    /// Title of the whole; may be empty.
    pub title: String,
    /// One sentence on it; may be empty.
    pub description: String,
    /// Number of pages.
    pub documents: u32,
    /// Number of sections.
    pub sections: u32,
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<FoundHit>,
    /// Words of the query that stand nowhere in the corpus, with the nearest that do.
    pub unknown_words: Vec<UnknownWord>,
    /// Whether the end of an overlong query was left out.
    pub is_truncated: bool,
}

/// One hit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundHit {
    /// Section id, which `get_section` takes.
    pub id: String,
    /// Titles from the page's down to the section's.
    pub heading_path: Vec<String>,
    /// Higher is better; comparable within one query only.
    pub score: f32,
    /// Whether the snippet is the whole section.
    pub is_complete: bool,
    /// The passage that answers; empty where none was asked for.
    pub snippet: String,
}

/// One part of a section, whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// Id of this part.
    pub id: String,
    /// Titles from the page's down to the section's.
    pub heading_path: Vec<String>,
    /// Markdown as stored.
    pub text: String,
    /// Number of this part, from 1.
    pub part: u32,
    /// Parts of the section.
    pub part_count: u32,
    /// Id of the following part.
    pub next: Option<String>,
}

/// What an id led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The part it names.
    Found(Section),
    /// Nothing; some ids that resemble it and do exist.
    Unknown {
        /// Best first.
        similar: Vec<String>,
    },
}

/// How many ids an unknown one is answered with.
const SIMILAR_IDS: usize = 3;

impl Corpus for Index {
    fn summary(&self) -> CorpusSummary {
        let summary = Index::summary(self);
        CorpusSummary {
            title: summary.title,
            description: summary.description,
            documents: summary.documents,
            sections: summary.sections,
        }
    }

    fn search(&self, request: &SearchRequest<'_>) -> Result<Found, ReadError> {
        let results = Index::search(self, request)?;
        let hits = results.hits.into_iter().map(|hit| {
            let record = self.record(hit.record)?;
            Ok(FoundHit {
                id: record.id(),
                heading_path: heading_path(&record)?,
                score: hit.score,
                is_complete: hit.complete,
                snippet: hit.snippet,
            })
        });
        Ok(Found {
            hits: hits.collect::<Result<_, ReadError>>()?,
            unknown_words: results.unknown_words,
            is_truncated: results.truncated,
        })
    }

    fn section(&self, id: &str) -> Result<Lookup, ReadError> {
        let bare = unquoted(id);
        let exact = match self.find(id)? {
            None if bare != id => self.find(bare)?,
            found => found,
        };
        let mut number = match exact {
            None => self.find_leniently(bare)?,
            found => found,
        };
        // An id that was percent-encoded as a whole; in our own ids `%23` is a `#` of the file's name.
        if number.is_none() && !bare.contains('#') && bare.contains("%23") {
            number = self.find_leniently(&bare.replacen("%23", "#", 1))?;
        }
        Ok(match number {
            Some(number) => Lookup::Found(part(self, number)?),
            None => Lookup::Unknown {
                similar: self.similar_ids(bare, SIMILAR_IDS)?,
            },
        })
    }
}

fn heading_path(record: &Record<'_>) -> Result<Vec<String>, ReadError> {
    Ok(record.heading_path()?.into_iter().map(str::to_owned).collect())
}

fn part(index: &Index, number: RecordNumber) -> Result<Section, ReadError> {
    let record = index.record(number)?;
    let next = (record.part < record.part_count).then(|| record.part_id(record.part + 1));
    Ok(Section {
        id: record.id(),
        heading_path: heading_path(&record)?,
        text: index.text(number)?,
        part: record.part,
        part_count: record.part_count,
        next,
    })
}

/// The id without what people and models paste with it: blanks, quotes, backticks, the brackets of a hit's line
/// and what stands there behind them.
pub(crate) fn unquoted(id: &str) -> &str {
    let id = match id
        .trim_start()
        .strip_prefix('[')
        .and_then(|id| id.split_once(']'))
    {
        Some((id, _heading_path)) => id,
        None => id,
    };
    id.trim_matches(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '`' | '"' | '\'' | '<' | '>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_out_of_its_wrapping() {
        for (given, want) in [
            ("a.md#b", "a.md#b"),
            ("[a.md#b]", "a.md#b"),
            ("[a.md#b] Page › B (14.2)", "a.md#b"),
            (" [a.md#b", "a.md#b"),
            (" `a.md#b`\n", "a.md#b"),
            ("\"a.md\"", "a.md"),
            ("", ""),
            ("[]", ""),
        ] {
            assert_eq!(unquoted(given), want, "{given:?}");
        }
    }
}
