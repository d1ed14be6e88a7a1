//! One line of log for each request.
//!
//! In: a request that is over and the notes on it. Out: an event of the target `access`, with names for its values. A
//! line says who asked, what kind of thing and how it ended; neither credentials nor the query of a URL are ever in it,
//! and what was searched for or read only if the operator asked for that. Values that a client chooses are cut short.

use std::time::Duration;

use docs_index::answer::short_line;
use http::{Method, StatusCode};

use super::exchange::Exchange;

/// Longest value of a client's that is logged, in characters.
const MAX_VALUE: usize = 120;

/// What the log says of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AccessLog {
    /// Nothing.
    Off,
    /// One line for each, without what was searched for.
    #[default]
    On,
    /// One line for each, with what was searched for or read.
    WithQueries,
}

/// A request that has been answered.
#[derive(Debug)]
pub(super) struct Answered<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) status: StatusCode,
    pub(super) took: Duration,
    pub(super) response_bytes: u64,
}

/// Writes a line.
pub(super) fn write(answered: &Answered<'_>, exchange: &Exchange) {
    let notes = exchange.notes();
    let call = exchange.call().get();
    tracing::info!(
        target: "access",
        client = notes.address.map(tracing::field::display),
        identity = notes.identity.as_deref(),
        method = short_line(answered.method.as_str(), 20),
        path = short_line(answered.path, MAX_VALUE),
        status = answered.status.as_u16(),
        milliseconds = (answered.took.as_secs_f64() * 1e6).round() / 1e3,
        bytes_in = notes.request_bytes,
        bytes_out = answered.response_bytes,
        rpc = notes.method.as_deref().map(|method| short_line(method, MAX_VALUE)),
        tool = call.and_then(|call| call.tool.as_deref()),
        outcome = call.map(|call| call.outcome.as_str()),
        query = notes.query.as_deref().map(|query| short_line(query, MAX_VALUE)),
        refusal = notes.refusal.as_deref(),
    );
}
