//! The command line.

use std::path::PathBuf;

use clap::Parser;
use docs_server::{DEFAULT_MAX_RESULT_BYTES, MAX_RESULT_BYTES_RANGE, OpenOptions, StartError};

/// Serve an index of documentation to AI agents over the Model Context Protocol
#[derive(Debug, Parser)]
#[command(name = "docs-server", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Index file made by docs-indexer build
    #[arg(value_name = "INDEX", required = true)]
    indexes: Vec<PathBuf>,

    /// Longest answer, in bytes of text (1000 to 1000000)
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_MAX_RESULT_BYTES, value_parser = result_bytes)]
    pub(crate) max_result_bytes: usize,

    /// Read the index into memory instead of mapping it
    #[arg(long)]
    no_mmap: bool,

    /// Check the whole index before serving it
    #[arg(long)]
    verify: bool,
}

const EXAMPLES: &str = "\
The client speaks on standard input and output; agent hosts start the program themselves.

Examples:
  docs-indexer build ./docs -o docs.idx
  docs-server docs.idx
  claude mcp add docs -- docs-server /abs/docs.idx

Logs go to standard error, at the level in RUST_LOG (default: warn).";

impl Cli {
    /// The one index to serve.
    pub(crate) fn index(&self) -> Result<&PathBuf, StartError> {
        match self.indexes.as_slice() {
            [index] => Ok(index),
            several => Err(StartError::SeveralIndexes { count: several.len() }),
        }
    }

    pub(crate) fn open_options(&self) -> OpenOptions {
        OpenOptions {
            in_memory: self.no_mmap,
            verify: self.verify,
        }
    }
}

fn result_bytes(text: &str) -> Result<usize, String> {
    let (least, most) = (MAX_RESULT_BYTES_RANGE.start(), MAX_RESULT_BYTES_RANGE.end());
    match text.parse() {
        Ok(bytes) if MAX_RESULT_BYTES_RANGE.contains(&bytes) => Ok(bytes),
        _ => Err(format!("it must be an integer from {least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent_and_its_help_stays() {
        Cli::command().debug_assert();
        insta::assert_snapshot!(Cli::command().term_width(100).render_help());
    }

    #[test]
    fn the_budget_has_a_range() {
        for (text, want) in [
            ("1000", Some(1_000)),
            ("1000000", Some(1_000_000)),
            ("999", None),
            ("1000001", None),
            ("x", None),
        ] {
            let cli = Cli::try_parse_from(["docs-server", "a.idx", "--max-result-bytes", text]);
            assert_eq!(cli.ok().map(|cli| cli.max_result_bytes), want, "{text}");
        }
    }

    #[test]
    fn one_index_is_served() {
        let cli = Cli::try_parse_from(["docs-server", "a.idx"]).unwrap();
        assert_eq!(cli.index().unwrap(), &PathBuf::from("a.idx"));
        let cli = Cli::try_parse_from(["docs-server", "a.idx", "b.idx"]).unwrap();
        assert!(matches!(
            cli.index(),
            Err(StartError::SeveralIndexes { count: 2 })
        ));
        assert!(Cli::try_parse_from(["docs-server"]).is_err());
    }
}
