//! `docs-indexer merge`: the shards of one build become the index that one build of the whole makes.

use anyhow::{Context as _, Result};
use docs_index::Index;

use crate::cli::MergeArgs;
use crate::output::Output;
use crate::report::{counted, size};

/// Merges the shards into one file.
///
/// # Errors
/// Where a shard cannot be opened, they are not all of one build, or the output cannot be written.
pub fn run(arguments: &MergeArgs, output: &mut Output) -> Result<()> {
    let open = |path: &std::path::PathBuf| Index::open(path).with_context(|| path.display().to_string());
    let shards = arguments
        .shards
        .iter()
        .map(open)
        .collect::<Result<Vec<Index>>>()?;
    let index = docs_index::merge(&shards).context("the shards cannot be merged")?;
    let path = &arguments.output;
    index.save(path)?;
    let summary = index.summary()?;
    output.note(&format!(
        "{}: {} with {} in {}, from {}",
        path.display(),
        counted(summary.documents, "document"),
        counted(summary.sections, "section"),
        size(index.file_bytes()),
        counted(shards.len(), "shard"),
    ));
    Ok(())
}
