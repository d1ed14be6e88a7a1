//! Serves an index of documentation to AI agents over the Model Context Protocol.
//!
//! An index file made by `docs-indexer` is opened, which costs the same for any size, and two tools are offered
//! on a pair of byte streams: `search_docs` and `get_section`. The route of a call:
//!
//! ```text
//! line ──stdio──▶ message ──handler──▶ call ──arguments──▶ typed parameters
//!      ──tools──▶ corpus (an index) ──answer──▶ one text within its budget ──▶ line
//! ```
//!
//! [`run`] does all of it for one client; tests and programs hand it any reader and writer:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! # async fn serve() -> Result<(), docs_server::StartError> {
//! let index = docs_server::open("docs.idx".as_ref(), &docs_server::OpenOptions::default())?;
//! let served = Arc::new(docs_server::Served::new(Arc::new(index)));
//! let (reader, writer) = docs_server::standard_streams();
//! docs_server::run(served, docs_server::DEFAULT_MAX_RESULT_BYTES, reader, writer).await
//! # }
//! ```
//!
//! [`http`] serves many clients. What is served can be replaced while calls run ([`Served`]); a [`Reloader`] does so when its file was.

#![forbid(unsafe_code)]
// Standard output belongs to the protocol.
#![deny(clippy::print_stdout)]

mod answer_cache;
mod arguments;
mod call_record;
mod corpus;
mod error;
mod fingerprint;
mod handler;
pub mod http;
mod line;
mod reload;
mod served;
mod signals;
mod stdio;
mod streams;
mod tools;
mod wire;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use docs_index::Index;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

pub use crate::corpus::{Corpus, CorpusSummary};
pub use crate::error::{ArgumentError, StartError, chain};
pub use crate::reload::{IndexFile, Reloader};
pub use crate::served::{Edition, Served};
pub use crate::streams::standard_streams;
pub use docs_index::answer::{Found, FoundHit, Lookup, Section};

/// Bytes of text that an answer may have unless told otherwise.
pub const DEFAULT_MAX_RESULT_BYTES: usize = docs_index::answer::DEFAULT_MAX_BYTES;
/// What that limit can be set to.
pub const MAX_RESULT_BYTES_RANGE: RangeInclusive<usize> = 1_000..=1_000_000;

/// How an index file is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenOptions {
    /// Read the whole file into memory instead of mapping it: safe even against a file cut short while it is
    /// served.
    pub in_memory: bool,
    /// Check every checksum and structure first, which takes time in the size of the file.
    pub verify: bool,
}

/// Opens an index to serve.
///
/// # Errors
///
/// When the file is no whole index of this version, or damaged (with `verify`).
pub fn open(path: &Path, options: &OpenOptions) -> Result<Index, StartError> {
    let opened = if options.in_memory {
        Index::open_in_memory(path)
    } else {
        Index::open(path)
    };
    let index = opened.map_err(|source| StartError::Open {
        path: path.to_owned(),
        source,
    })?;
    if let Some((number, count)) = index.summary().shard {
        return Err(StartError::Shard {
            path: path.to_owned(),
            number,
            count,
        });
    }
    if options.verify {
        index.verify().map_err(|source| StartError::Damaged {
            path: path.to_owned(),
            source,
        })?;
    }
    Ok(index)
}

/// Serves one client until its input ends, and answers what is in flight first; or until it takes no answers any more.
///
/// Both protocol generations are understood on the same streams: `initialize` and its session, or requests that
/// each carry their version.
///
/// # Errors
///
/// When the client opens the session in a way that can not be answered, or goes away while it is opened.
pub async fn run<R, W>(
    served: Arc<Served>,
    max_result_bytes: usize,
    reader: R,
    writer: W,
) -> Result<(), StartError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = handler::DocsServer::new(served, max_result_bytes);
    let transport = stdio::LineTransport::new(reader, writer);
    let progress = transport.progress();
    let session = async {
        match server.serve(transport).await {
            Ok(running) => {
                running
                    .waiting()
                    .await
                    .map_err(|error| StartError::Connection(Box::new(error)))?;
                Ok(())
            }
            // A client that leaves before it says anything is no failure: hosts probe like that.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(StartError::Connection(Box::new(error))),
        }
    };
    tokio::select! {
        ended = session => ended,
        () = progress.abandoned() => Ok(()),
    }
}

/// Runs an [`http::HttpServer`] at an address until the process is told to stop, and follows the file of what is served
/// if there is one.
///
/// The first signal to stop lets requests end that are being answered; a second one does not wait for them.
///
/// # Errors
///
/// As [`http::HttpServer::new`], [`http::bind`] and [`http::HttpServer::run`], and when the event loop can not be set up.
pub fn serve_http(
    served: Arc<Served>,
    file: Option<IndexFile>,
    address: &str,
    options: &http::HttpOptions,
) -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(StartError::Runtime)?;
    let ended = runtime.block_on(async {
        let mut stops = signals::Stops::new().map_err(StartError::Runtime)?;
        let server = http::HttpServer::new(Arc::clone(&served), options)?;
        let listener = http::bind(address).await?;
        if let Some(file) = file {
            tokio::spawn(Reloader::new(file, served).run());
        }
        let stopping = tokio::sync::Notify::new();
        let told_twice = async {
            stops.next().await;
            stopping.notify_one();
            stops.next().await;
        };
        tokio::select! {
            ended = server.run(listener, stopping.notified()) => ended,
            () = told_twice => {
                tracing::warn!("told to stop again: requests are cut off");
                Ok(())
            }
        }
    });
    runtime.shutdown_background();
    ended
}

/// Runs [`run`] on the standard streams, on this thread, and follows the file of what is served if there is one.
///
/// # Errors
///
/// As [`run`], and when the event loop can not be set up.
pub fn serve_stdio(
    served: Arc<Served>,
    file: Option<IndexFile>,
    max_result_bytes: usize,
) -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(StartError::Runtime)?;
    let ended = runtime.block_on(async {
        let (reader, writer) = standard_streams();
        if let Some(file) = file {
            // It ends with the event loop.
            tokio::spawn(Reloader::new(file, Arc::clone(&served)).run());
        }
        run(served, max_result_bytes, reader, writer).await
    });
    // Standard input that is no pipe is read on a thread, which may wait there for ever.
    runtime.shutdown_background();
    ended
}
