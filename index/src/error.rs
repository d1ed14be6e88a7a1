//! Errors, one enum for each operation. A message states its own fact; the cause is its `source()`.

use std::{io, path::PathBuf};

/// An index could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file could not be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not begin with the magic bytes.
    #[error("not an index file: it does not begin with the magic bytes; build one with docs-indexer build")]
    Magic,
    /// The magic bytes were altered the way a text-mode transfer does it.
    #[error("the file was changed by a text-mode transfer; copy it again in binary mode")]
    TextMode,
    /// Another format version.
    #[error(
        "format version {found} cannot be read, only version {expected}; rebuild the index with this release"
    )]
    FormatVersion {
        /// Version in the file.
        found: u32,
        /// Version of this library.
        expected: u32,
    },
    /// Terms were made by other rules than those of this library.
    #[error(
        "analyzer version {found} cannot be searched, only version {expected}; rebuild the index with this release"
    )]
    AnalyzerVersion {
        /// Version in the file.
        found: u32,
        /// Version of this library.
        expected: u32,
    },
    /// The file is shorter or longer than its header says.
    #[error("the file has {found} bytes where its header says {expected}; copy or build it again")]
    Length {
        /// Bytes there.
        found: u64,
        /// Bytes expected.
        expected: u64,
    },
    /// A checksum of the header or of the region table does not match.
    #[error(
        "the {part} is damaged: its checksum is {found:08x}, expected {expected:08x}; build the index again"
    )]
    Checksum {
        /// `header` or `region table`.
        part: &'static str,
        /// Checksum of the bytes.
        found: u32,
        /// Checksum recorded.
        expected: u32,
    },
    /// A field of the header or of the region table has a value it cannot have.
    #[error("the {part} is damaged: {reason}; build the index again")]
    Invalid {
        /// `header`, `region table` or a region's tag.
        part: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// A region that this release needs is not there.
    #[error("the file has no region {tag}; build the index again")]
    MissingRegion {
        /// Tag of the region.
        tag: &'static str,
    },
    /// A region that readers must know, and this one does not.
    #[error("the file needs region {tag:?}, which this release does not know; use a newer release")]
    UnknownRegion {
        /// Tag found, as text where it is text.
        tag: String,
    },
}

/// Something in the file is not as it must be, found when it was used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Bytes of a region make no sense.
    #[error("region {region} is damaged: {reason}; build the index again")]
    Damaged {
        /// Tag of the region.
        region: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// A record number beyond the last record.
    #[error("there is no record {number}, the index has {count}")]
    NoSuchRecord {
        /// Number asked for.
        number: u32,
        /// Records there are.
        count: u32,
    },
    /// A document number beyond the last document.
    #[error("there is no document {number}, the index has {count}")]
    NoSuchDocument {
        /// Number asked for.
        number: u32,
        /// Documents there are.
        count: u32,
    },
}

impl ReadError {
    pub(crate) fn damaged(region: crate::format::layout::Tag, reason: &'static str) -> Self {
        Self::Damaged {
            region: region.name(),
            reason,
        }
    }
}

/// An index could not be made or saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A document without a section, or a section without a part.
    #[error("document {path} has no {what}")]
    Empty {
        /// Path of the document.
        path: String,
        /// `section` or `part`.
        what: &'static str,
    },
    /// Documents did not come in ascending order of their paths, or one came twice.
    #[error("document {path} came after {previous}: documents must come in ascending order of path bytes")]
    Order {
        /// Path of the document.
        path: String,
        /// Path of the one before.
        previous: String,
    },
    /// Line ranges of sections that overlap or do not ascend.
    #[error("a section of {path} begins at line {line}, where the one before has not ended")]
    Lines {
        /// Path of the document.
        path: String,
        /// First line of the section.
        line: u32,
    },
    /// The same anchor twice in one document.
    #[error("document {path} has the anchor {anchor:?} twice")]
    DuplicateAnchor {
        /// Path of the document.
        path: String,
        /// The anchor.
        anchor: String,
    },
    /// A path or an anchor longer than a string of the file may be.
    #[error("a path or anchor of {path} has {length} bytes, at most {limit} are possible")]
    NameTooLong {
        /// Path of the document.
        path: String,
        /// Bytes of the name.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// A part longer than a text block may be.
    #[error("a part of {path} has {length} bytes of text, at most {limit} are possible")]
    PartTooLong {
        /// Path of the document.
        path: String,
        /// Bytes of the part.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// More records than their numbers have room for.
    #[error("more than {limit} records; split the docs tree into several indexes")]
    TooManyRecords {
        /// The limit.
        limit: u32,
    },
    /// A shard number outside its count.
    #[error("shard {number} of {count}: numbers run from 1 to the count")]
    Shard {
        /// Number asked for.
        number: u32,
        /// Count asked for.
        count: u32,
    },
    /// Text could not be compressed.
    #[error("cannot compress text")]
    Compress(#[source] io::Error),
    /// The term dictionary could not be made.
    #[error("cannot make the term dictionary")]
    Dictionary(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The file could not be written.
    #[error("cannot write {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A text is no list of words that mean the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SynonymError {
    /// A text longer than a list may be.
    #[error("a list of synonyms can have {limit} bytes at most")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// More groups than a list may have.
    #[error("a list of synonyms can have {limit} groups at most")]
    TooManyGroups {
        /// Line of the first group too many, from 1.
        line: usize,
        /// The limit.
        limit: usize,
    },
    /// More words than a group may have.
    #[error("a group can have {limit} words at most")]
    TooManyWords {
        /// Line of the group, from 1.
        line: usize,
        /// The limit.
        limit: usize,
    },
    /// A word in too many groups.
    #[error("{word:?} has more than {limit} synonyms in all its groups")]
    TooManySynonyms {
        /// Line of the group, from 1.
        line: usize,
        /// The word.
        word: String,
        /// The limit.
        limit: usize,
    },
    /// A group of one word, which stands for nothing.
    #[error("{word:?} is alone on its line; write the words that mean the same beside it")]
    OneWord {
        /// Line of the group, from 1.
        line: usize,
        /// The word.
        word: String,
    },
    /// A name of several words.
    #[error("{name:?} is more than one word; only single words can be synonyms")]
    SeveralWords {
        /// Line of the group, from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// A replacement in one direction, as other programs' lists have it.
    #[error("=> is not supported: all words of a group stand for each other; write them without it")]
    OneWay {
        /// Line of the group, from 1.
        line: usize,
    },
    /// A word that no single term of the index stands for.
    #[error("{word:?} cannot be searched for as one word; leave it out")]
    NoTerm {
        /// Line of the group, from 1.
        line: usize,
        /// The word.
        word: String,
    },
}

impl SynonymError {
    /// Where in the list it is wrong, from 1; none for the list as a whole.
    pub fn line(&self) -> Option<usize> {
        match *self {
            Self::TooLong { .. } => None,
            Self::TooManyGroups { line, .. }
            | Self::TooManyWords { line, .. }
            | Self::TooManySynonyms { line, .. }
            | Self::OneWord { line, .. }
            | Self::SeveralWords { line, .. }
            | Self::OneWay { line }
            | Self::NoTerm { line, .. } => Some(line),
        }
    }
}

/// Shards could not be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// No file was given.
    #[error("nothing to merge: name the shards made with build --shard")]
    Nothing,
    /// A whole index among the files.
    #[error("file {position} is a whole index, not a shard; merge takes what build --shard I/N wrote")]
    NotAShard {
        /// Which of the files given, from 1.
        position: usize,
    },
    /// Shards of different builds.
    #[error("file {position} was built with another {what} than file 1; build all shards alike")]
    Mismatch {
        /// Which of the files given, from 1.
        position: usize,
        /// What differs.
        what: &'static str,
    },
    /// The same shard twice.
    #[error("shard {number} of {count} was given twice")]
    Twice {
        /// Its number.
        number: u32,
        /// Shards of the build.
        count: u32,
    },
    /// A shard that was not given.
    #[error("shard {number} of {count} is missing")]
    Missing {
        /// Its number.
        number: u32,
        /// Shards of the build.
        count: u32,
    },
    /// A shard was built by a release with other Unicode tables than this one.
    #[error("file {position} was built with other Unicode tables; build and merge with the same release")]
    Unicode {
        /// Which of the files given, from 1.
        position: usize,
    },
    /// A shard is damaged.
    #[error("file {position} is damaged")]
    Damaged {
        /// Which of the files given, from 1.
        position: usize,
        /// What is wrong with it.
        source: VerifyError,
    },
    /// The merged index could not be made.
    #[error("cannot write the merged index")]
    Write(#[from] WriteError),
}

/// `verify` found something wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The checksum of a region does not match.
    #[error(
        "region {region} is damaged: its checksum is {found:08x}, expected {expected:08x}; build the index again"
    )]
    Checksum {
        /// Tag of the region.
        region: String,
        /// Checksum of the bytes.
        found: u32,
        /// Checksum recorded.
        expected: u32,
    },
    /// The content hash in the header is not that of the content.
    #[error("the content hash in the header is not that of the content; build the index again")]
    ContentHash,
    /// A structure is broken.
    #[error("the index is not consistent")]
    Structure(#[from] ReadError),
}
