//! What is known of one request when it is over, for the access log and the metrics.
//!
//! In: notes made on the request's way. Out: the same notes, read once the answer is made. Credentials are never noted,
//! and what was asked for only if the log may have it.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::call_record::CallRecord;

/// The notes on one request; clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchange {
    notes: Arc<Mutex<Notes>>,
    call: CallRecord,
}

/// What has been noted.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    /// Where the request comes from, proxies that are trusted left out.
    pub(super) address: Option<IpAddr>,
    /// Whose token it carried.
    pub(super) identity: Option<Arc<str>>,
    /// Why it went no further.
    pub(super) refusal: Option<String>,
    /// Its method of the protocol.
    pub(super) method: Option<String>,
    /// What was searched for or read, where the log may have it.
    pub(super) query: Option<String>,
    /// Bytes of its body.
    pub(super) request_bytes: usize,
}

impl Exchange {
    /// Makes notes.
    pub(super) fn note(&self, write: impl FnOnce(&mut Notes)) {
        write(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// All that has been noted.
    pub(super) fn notes(&self) -> Notes {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where the outcome of a tool call is written to.
    pub(super) fn call(&self) -> &CallRecord {
        &self.call
    }
}
