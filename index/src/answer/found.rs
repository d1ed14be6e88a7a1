//! What an answer is rendered from: owned values, taken out of an index.
//!
//! In: the results of a search, or an id as somebody typed it. Out: hits with their ids and heading paths, or the
//! part that the id means.

use crate::{
    error::ReadError,
    reader::{Index, Record, RecordNumber},
    searching::{SearchResults, UnknownWord},
};

/// How many ids an unknown one is answered with.
const SIMILAR_IDS: usize = 3;

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<FoundHit>,
    /// Words of the query that stand nowhere in the corpus, with the nearest that do.
    pub unknown_words: Vec<UnknownWord>,
    /// Whether the end of an overlong query was left out.
    pub is_truncated: bool,
    /// Words that the query excludes.
    pub excluded_words: Vec<String>,
    /// Whether no section has the query's phrases.
    pub phrases_missing: bool,
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

impl Found {
    /// What a search of `index` gave.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn of(index: &Index, results: SearchResults) -> Result<Self, ReadError> {
        let hits = results.hits.into_iter().map(|hit| {
            let record = index.record(hit.record)?;
            Ok(FoundHit {
                id: record.id(),
                heading_path: heading_path(&record)?,
                score: hit.score,
                is_complete: hit.complete,
                snippet: hit.snippet,
            })
        });
        Ok(Self {
            hits: hits.collect::<Result<_, ReadError>>()?,
            unknown_words: results.unknown_words,
            is_truncated: results.truncated,
            excluded_words: results.excluded_words,
            phrases_missing: results.phrases_missing,
        })
    }
}

impl Section {
    /// The part with this number.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn of(index: &Index, number: RecordNumber) -> Result<Self, ReadError> {
        let record = index.record(number)?;
        let next = (record.part < record.part_count).then(|| record.part_id(record.part + 1));
        Ok(Self {
            id: record.id(),
            heading_path: heading_path(&record)?,
            text: index.text(number)?,
            part: record.part,
            part_count: record.part_count,
            next,
        })
    }
}

impl Lookup {
    /// The part that `id` names, be it in an unusual form or wrapped in something.
    ///
    /// # Errors
    ///
    /// [`ReadError::Damaged`].
    pub fn of(index: &Index, id: &str) -> Result<Self, ReadError> {
        let bare = bare_id(id);
        let exact = match index.find(id)? {
            None if bare != id => index.find(bare)?,
            found => found,
        };
        let mut number = match exact {
            None => index.find_leniently(bare)?,
            found => found,
        };
        // An id that was percent-encoded as a whole; in our own ids `%23` is a `#` of the file's name.
        if number.is_none() && !bare.contains('#') && bare.contains("%23") {
            number = index.find_leniently(&bare.replacen("%23", "#", 1))?;
        }
        Ok(match number {
            Some(number) => Self::Found(Section::of(index, number)?),
            None => Self::Unknown {
                similar: index.similar_ids(bare, SIMILAR_IDS)?,
            },
        })
    }
}

fn heading_path(record: &Record<'_>) -> Result<Vec<String>, ReadError> {
    Ok(record.heading_path()?.into_iter().map(str::to_owned).collect())
}

/// The id without what people and models paste with it: blanks, quotes, backticks, the brackets of a hit's line
/// and what stands there behind them.
pub fn bare_id(id: &str) -> &str {
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
            assert_eq!(bare_id(given), want, "{given:?}");
        }
    }
}
