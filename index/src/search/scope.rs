//! The part of an index that a search is confined to: the records whose ids begin with a prefix.

use crate::{
    error::ReadError,
    reader::{DocumentNumber, Index, RecordNumber},
    section_id,
};
use std::ops::Range;

/// The records whose ids begin with `prefix`.
#[derive(Debug)]
pub(crate) struct Scope {
    records: Range<RecordNumber>,
    /// Beginning of the anchor, where the prefix has one.
    anchor: Option<String>,
}

impl Scope {
    /// A prefix is written as ids are: `guide/`, `guide/install.md`, `guide/install.md#lin`.
    pub(crate) fn new(index: &Index, prefix: &str) -> Result<Self, ReadError> {
        let prefix = prefix
            .strip_prefix("./")
            .unwrap_or(prefix)
            .trim_start_matches('/');
        let (path, anchor) = match prefix.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (prefix, None),
        };
        let path = section_id::decode(path);
        let is_whole = anchor.is_some();
        let begin = first_document(index, |other| other < &path[..])?;
        let end = first_document(index, |other| {
            if is_whole {
                other <= &path[..]
            } else {
                other < &path[..] || other.starts_with(&path)
            }
        })?;
        let record_of = |number: DocumentNumber| -> Result<RecordNumber, ReadError> {
            let summary = index.metadata();
            if number == summary.documents {
                Ok(summary.records)
            } else {
                Ok(index.document(number)?.first_record)
            }
        };
        let anchor = anchor.map(|anchor| String::from_utf8_lossy(&section_id::decode(anchor)).into_owned());
        Ok(Self {
            records: record_of(begin)?..record_of(end)?,
            anchor,
        })
    }

    /// First record that can be in it.
    pub(crate) fn start(&self) -> RecordNumber {
        self.records.start
    }

    /// One past the last record that can be in it.
    pub(crate) fn end(&self) -> RecordNumber {
        self.records.end
    }

    /// Whether a record's id begins with the prefix.
    pub(crate) fn holds(&self, index: &Index, record: RecordNumber) -> Result<bool, ReadError> {
        if !self.records.contains(&record) {
            return Ok(false);
        }
        match &self.anchor {
            Some(anchor) => Ok(index.record(record)?.anchor.starts_with(anchor.as_str())),
            None => Ok(true),
        }
    }
}

/// Number of the first document whose path does not lie before.
fn first_document(index: &Index, is_before: impl Fn(&[u8]) -> bool) -> Result<DocumentNumber, ReadError> {
    let (mut low, mut high) = (0, index.metadata().documents);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(index.document(middle)?.path) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
