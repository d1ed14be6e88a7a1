//! Where log lines go: to standard error, since standard output belongs to the protocol.
//!
//! On stdio a person reads them in a host's log: plain lines, warnings and errors only. Over HTTP machines collect them:
//! one JSON object a line, written by a thread of its own that drops lines rather than let a reader which has stopped
//! reading hold up answers. `RUST_LOG` names other levels for both.

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Lines that may wait for a slow reader.
const WAITING_LINES: usize = 16_384;

/// Plain lines.
pub(crate) fn for_a_person() {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    match wanted(LevelFilter::WARN) {
        Some(filter) => log.with_env_filter(filter).init(),
        None => log
            .with_max_level(LevelFilter::WARN)
            .finish()
            .with(unless_told_otherwise(LevelFilter::WARN))
            .init(),
    }
}

/// JSON lines, all of which are written when the guard is dropped.
pub(crate) fn for_machines() -> WorkerGuard {
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(WAITING_LINES)
        .lossy(true)
        .thread_name("log")
        .finish(std::io::stderr());
    let log = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(writer);
    match wanted(LevelFilter::INFO) {
        Some(filter) => log.with_env_filter(filter).init(),
        None => log
            .with_max_level(LevelFilter::INFO)
            .finish()
            // A client that hangs up before its answer is made is no error of ours.
            .with(unless_told_otherwise(LevelFilter::INFO).with_target("rmcp::service", LevelFilter::OFF))
            .init(),
    }
    guard
}

/// What `RUST_LOG` says, if it says something.
fn wanted(default: LevelFilter) -> Option<EnvFilter> {
    let wanted = std::env::var("RUST_LOG").ok()?;
    (!wanted.trim().is_empty()).then(|| {
        EnvFilter::builder()
            .with_default_directive(default.into())
            .parse_lossy(wanted)
    })
}

/// Not parsed from text, which takes time that a launch does not have. Of the SDK only errors: it warns of every error
/// answer, which the client has got.
fn unless_told_otherwise(level: LevelFilter) -> Targets {
    Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("docs_server", level)
        .with_target("access", level)
        .with_target("rmcp", LevelFilter::ERROR)
}
