//! `docs-server`: the program. It parses the command line, opens the index and serves.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout)]

mod cli;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use docs_server::{StartError, chain};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    log_to_stderr();
    let Err(error) = serve(&cli) else {
        return ExitCode::SUCCESS;
    };
    let remedy = error
        .remedy()
        .map(|remedy| format!("; {remedy}"))
        .unwrap_or_default();
    eprintln!("docs-server: {}{remedy}", chain(&error));
    if error.is_usage() {
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}

fn serve(cli: &Cli) -> Result<(), StartError> {
    let index = docs_server::open(cli.index()?, &cli.open_options())?;
    docs_server::serve_stdio(Arc::new(index), cli.max_result_bytes)
}

/// Standard output belongs to the protocol, so logs go to standard error, warnings and errors only unless
/// `RUST_LOG` says otherwise. Of the SDK only errors: it warns of every error answer, which the client has got.
fn log_to_stderr() {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    match std::env::var("RUST_LOG") {
        Ok(wanted) if !wanted.trim().is_empty() => {
            let default = LevelFilter::WARN.into();
            log.with_env_filter(
                EnvFilter::builder()
                    .with_default_directive(default)
                    .parse_lossy(wanted),
            )
            .init();
        }
        // Not parsed from text, which takes time that a launch does not have.
        _ => {
            let quiet = Targets::new()
                .with_default(LevelFilter::WARN)
                .with_target("rmcp", LevelFilter::ERROR);
            log.with_max_level(LevelFilter::WARN).finish().with(quiet).init();
        }
    }
}
