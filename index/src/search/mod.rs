//! From text to terms, and from a query to hits.
//!
//! [`tokenizer`] finds tokens in text, [`analyzer`] makes terms of them (the same for documents and queries),
//! [`query`] turns a query into groups of weighted terms, [`bm25`] scores the records in a [`scope`],
//! [`ranking`] merges and groups them, [`snippet`] chooses the passage shown.
//!
//! What a later release adds has its place: typo candidates, synonyms and acronyms join a term's group in
//! [`query`]; evidence from the whole page re-orders the best records between [`bm25`] and [`ranking`].

pub(crate) mod acronyms;
pub(crate) mod analyzer;
pub(crate) mod bm25;
pub(crate) mod edit_distance;
pub(crate) mod identifiers;
pub(crate) mod query;
pub(crate) mod ranking;
pub(crate) mod scope;
pub(crate) mod snippet;
pub(crate) mod synonyms;
pub(crate) mod tokenizer;
