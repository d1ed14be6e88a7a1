//! The program `docs-indexer`; everything is in the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    docs_indexer::cli::run(std::env::args_os())
}
