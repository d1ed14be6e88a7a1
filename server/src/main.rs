//! `docs-server`: the program. It parses the command line, opens the index and serves.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout)]

mod cli;
mod log;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use docs_server::{IndexFile, Served, StartError, chain};

use crate::cli::{Cli, Transport};

/// Tokens of those who may call over HTTP, in the environment instead of a file.
const TOKENS_VARIABLE: &str = "DOCS_SERVER_TOKENS";

fn main() -> ExitCode {
    let cli = Cli::parse();
    let transport = cli.transport(std::env::var(TOKENS_VARIABLE).ok());
    let log_is_written = match transport {
        Transport::Stdio => {
            log::for_a_person();
            None
        }
        Transport::Http { .. } => Some(log::for_machines()),
    };
    let ended = serve(&cli, transport);
    // Lines that wait to be written must come before what is said below.
    drop(log_is_written);
    let Err(error) = ended else {
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

fn serve(cli: &Cli, transport: Transport) -> Result<(), StartError> {
    let (file, index) = IndexFile::open(cli.index()?, &cli.open_options())?;
    let served = Arc::new(Served::new(Arc::new(index)));
    match transport {
        Transport::Stdio => docs_server::serve_stdio(served, Some(file), cli.max_result_bytes),
        Transport::Http { address, options } => {
            docs_server::serve_http(served, Some(file), &address, &options)
        }
    }
}
