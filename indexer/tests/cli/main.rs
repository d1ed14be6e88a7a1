//! The program `docs-indexer` as a pipeline sees it: arguments, files, streams and exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot do its work fails")]

mod any_input;
mod build;
#[expect(unreachable_pub, reason = "a crate in fuzz/ has this module, too")]
#[path = "../checks/mod.rs"]
mod checks;
mod diagnostics;
mod dialects;
mod encodings;
mod evaluation;
mod explain;
mod files;
mod headings;
mod includes;
mod inspect;
mod languages;
mod links;
mod program;
mod queries;
mod search;
mod shards;
mod synonyms;
mod usage;
