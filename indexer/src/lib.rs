//! Compiles a documentation tree into one index file.
//!
//! ```text
//! docs tree ──walk──▶ source files, sorted by path
//!           ──split──▶ sections, cut into parts
//!           ──docs_index::prepare──▶ terms and packed text, in parallel
//!           ──docs_index::IndexWriter──▶ the index ──save──▶ temp file, fsync, rename
//! ```
//!
//! * [`walk`] finds the documents; [`rules`] says which paths are left out.
//! * [`split`] turns one document into sections; it knows Markdown and nothing of files.
//! * [`build`] drives both and the writer; [`report`] is what it has to tell, [`warning_kind`] the kinds of its warnings,
//!   [`sarif`] the same for code-review tools.
//! * [`cli`] is the command line; `build_command`, [`inspect`], `search_command`, `eval_command`, `verify_command` and
//!   `merge_command` are its commands; `explain` takes scores apart; [`evaluation`] judges retrieval; [`output`] holds the two streams.
//!
//! The program itself is a line: `docs_indexer::cli::run(std::env::args_os())`.

#![forbid(unsafe_code)]

mod anchor;
mod blocks;
pub mod build;
pub mod build_command;
pub mod cli;
mod component;
mod container;
mod decode;
mod directive;
mod edit;
pub mod eval_command;
pub mod evaluation;
mod explain;
mod fence;
pub mod flavour;
mod front_matter;
mod html_text;
mod include;
mod indent;
pub mod inspect;
mod jsx;
mod language;
pub mod link_check;
pub mod link_facts;
mod links;
mod markdown;
mod mask;
mod mdx;
pub mod merge_command;
mod nearest;
mod notation;
pub mod output;
mod page_url;
mod page_urls;
mod parts;
mod relink;
pub mod report;
mod role;
pub mod rules;
pub mod sarif;
mod scrub;
pub mod search_command;
mod sections;
mod shortcode;
pub mod site;
mod source_file;
pub mod split;
mod stored;
mod unseen;
pub mod verify_command;
pub mod walk;
pub mod warning_kind;
