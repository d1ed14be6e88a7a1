//! The index file of docs-indexer and docs-server, and the search over it.
//!
//! One file holds everything about a documentation tree that an agent may ask for: the text of its sections,
//! their headings and ids, and the posting lists to find them by. It is written once, mapped read-only, and
//! opened in the same time whatever it holds. `format-spec.md` describes its bytes.
//!
//! The way in: a [`DocumentSource`] for each document, [`prepare`]d in parallel, added to an [`IndexWriter`] in
//! path order, and saved. The way out: [`Index::open`], [`Index::search`], [`Index::find`], [`Index::text`]. What is
//! said of what was found is in [`answer`].
//!
//! ```no_run
//! use docs_index::{Index, SearchRequest};
//! use std::path::Path;
//!
//! let index = Index::open(Path::new("docs.idx"))?;
//! for hit in index.search(&SearchRequest::new("upload a file"))?.hits {
//!     let record = index.record(hit.record)?;
//!     println!("{} {}: {}", record.id(), record.heading_path()?.join(" › "), hit.snippet);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate is synchronous. It never logs, prints or reads the environment, and a file from a stranger gives
//! an error, never undefined behaviour, a hang or a large allocation.

#![warn(missing_docs)]
// Numbers of records, documents, terms and bytes within one document are 32 bits wide by design; where a value
// could be larger it is checked before it is stored.
#![allow(clippy::cast_possible_truncation)]

pub mod answer;
mod content;
#[cfg(test)]
mod corruption;
mod document;
mod error;
mod field;
mod format;
#[cfg(test)]
mod golden;
mod incoming;
mod kept_bodies;
mod link_target;
mod lookup;
mod options;
mod prepare;
mod reader;
#[cfg(test)]
mod sample;
mod search;
mod searching;
mod section_id;
mod shard;
mod text;
mod verify;
mod writer;

pub use document::{BodyText, DocumentSource, LinkSource, PartSource, SectionSource};
pub use error::{MergeError, OpenError, ReadError, SynonymError, VerifyError, WriteError};
pub use link_target::{LinkTargets, find_place};
pub use options::IndexOptions;
pub use prepare::{PreparedDocument, prepare};
pub use reader::{Document, DocumentNumber, Index, IndexSummary, Record, RecordNumber};
pub use search::synonyms::SynonymList;
pub use searching::{
    Explanation, Hit, MatchExplanation, SearchRequest, SearchResults, TermExplanation, UnknownWord,
};
pub use section_id::section_id;
pub use verify::VerifySummary;
pub use writer::{FinishedIndex, IndexWriter, merge};
