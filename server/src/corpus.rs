//! What the tools ask of an index, and no more.
//!
//! In: a query or a section id. Out: owned values that an answer is rendered from. The tools speak to the
//! [`Corpus`] trait, so that they can be driven by a fixed list (the launch floor) or by one that fails on
//! purpose (tests); [`docs_index::Index`] is the one that ships.

use std::fmt;

use docs_index::answer::{Found, Lookup};
use docs_index::{Index, ReadError, SearchRequest};

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
        Found::of(self, Index::search(self, request)?)
    }

    fn section(&self, id: &str) -> Result<Lookup, ReadError> {
        Lookup::of(self, id)
    }
}
