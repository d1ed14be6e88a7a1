//! The floor that the server's launch is measured against: the same SDK, streams, handler and build profile, with
//! an empty list in place of an index. What the server takes longer than this is opening the file and searching.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use docs_index::{ReadError, SearchRequest};
use docs_server::{Corpus, CorpusSummary, DEFAULT_MAX_RESULT_BYTES, Found, Lookup, Served, chain};

#[derive(Debug)]
struct Empty;

impl Corpus for Empty {
    fn summary(&self) -> CorpusSummary {
        CorpusSummary::default()
    }

    fn search(&self, _request: &SearchRequest<'_>) -> Result<Found, ReadError> {
        Ok(Found::default())
    }

    fn section(&self, _id: &str) -> Result<Lookup, ReadError> {
        Ok(Lookup::Unknown { similar: Vec::new() })
    }
}

fn main() -> ExitCode {
    let served = Arc::new(Served::new(Arc::new(Empty)));
    match docs_server::serve_stdio(served, None, DEFAULT_MAX_RESULT_BYTES) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("floor: {}", chain(&error));
            ExitCode::FAILURE
        }
    }
}
