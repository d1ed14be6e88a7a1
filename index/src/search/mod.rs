//! From text to terms, and from a query to hits.
//!
//! [`tokenizer`] finds tokens in text, [`analyzer`] makes terms of them (the same for documents and queries),
//! [`clause`] takes a query apart, [`query`] turns it into groups of weighted terms with what stands for them
//! ([`synonyms`], [`acronyms`], [`edit_distance`]), [`bm25`] scores the records in a [`scope`], [`second_stage`] re-orders
//! the best by what their page says and [`priors`] know, [`ranking`] merges and groups them, [`explanation`] takes a
//! score apart. [`reading`] takes the marks off a text, [`snippet`] chooses the passage of it that is shown, [`phrase`]
//! verifies what was quoted.

pub(crate) mod acronyms;
pub(crate) mod analyzer;
pub(crate) mod bm25;
pub(crate) mod clause;
pub(crate) mod edit_distance;
pub(crate) mod explanation;
pub(crate) mod folding;
#[cfg(test)]
pub(crate) mod formula;
pub(crate) mod identifiers;
pub(crate) mod language;
pub(crate) mod phrase;
pub(crate) mod posting_cursor;
pub(crate) mod priors;
pub(crate) mod query;
pub(crate) mod query_terms;
pub(crate) mod ranking;
pub(crate) mod reading;
pub(crate) mod scope;
pub(crate) mod second_stage;
pub(crate) mod snippet;
pub(crate) mod synonyms;
pub(crate) mod tokenizer;
pub(crate) mod top_k;
