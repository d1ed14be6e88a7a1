//! The bytes of the index file: one module for each chapter of `format-spec.md`.
//!
//! The writer and the reader of a region stand side by side in its module, so that they cannot drift apart.
//! Byte offsets of the header and the region table are in [`layout`] alone; the one unsafe expression of the
//! workspace is in [`mapping`]. Everything read from a file is checked where it is used: opening stays cheap
//! for any number of records.

// Offsets and counts come out of the file, so no index and no sum may be taken on trust.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod acronym_table;
pub(crate) mod checksum;
pub(crate) mod expansions;
pub(crate) mod layout;
pub(crate) mod link_table;
pub(crate) mod mapping;
pub(crate) mod metadata;
pub(crate) mod postings;
pub(crate) mod section_table;
#[cfg(test)]
mod specification;
pub(crate) mod term_dictionary;
pub(crate) mod text_blocks;
pub(crate) mod varint;
