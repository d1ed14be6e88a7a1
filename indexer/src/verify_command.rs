//! `docs-indexer verify`: every checksum and every structure of an index file.

use anyhow::{Context as _, Result};
use docs_index::Index;

use crate::cli::VerifyArgs;
use crate::output::Output;
use crate::report::{counted, size};

/// Prints one line where the file is whole.
///
/// # Errors
/// Where it is not, or cannot be opened or printed.
pub fn run(arguments: &VerifyArgs, output: &mut Output) -> Result<()> {
    let path = &arguments.index;
    let index = Index::open(path).with_context(|| path.display().to_string())?;
    let whole = index.verify().with_context(|| path.display().to_string())?;
    output.data(&format!(
        "{}: whole; {}, {}, {}, {}, {}, {} with {} of text",
        path.display(),
        counted(whole.regions, "region"),
        counted(whole.documents, "document"),
        counted(whole.records, "record"),
        counted(whole.terms, "term"),
        counted(whole.postings, "posting"),
        counted(whole.text_blocks, "text block"),
        size(whole.text_bytes),
    ))?;
    Ok(())
}
