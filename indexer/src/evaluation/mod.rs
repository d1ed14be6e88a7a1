//! Judges retrieval: golden queries against an index.
//!
//! In: an index and queries with the sections that answer them. Out: metrics with confidence intervals, the cost of an
//! answer, what failed, and how it compares to an earlier run.
//!
//! ```text
//! golden file ──golden──▶ queries ──judgement──▶ grades of the bare ranking ──metrics──▶ scores
//!                                 ──cost──▶ tokens of the server's answers
//! scores and costs ──run──▶ Evaluation ──statistics──▶ intervals ──table──▶ lines, or JSON
//!                           Evaluation + earlier JSON ──comparison──▶ differences
//! ```
//!
//! What is judged is the bare ranking, as `search --no-group --k 100` gives it; what costs is the answer that the server
//! gives, grouped.

pub mod comparison;
pub mod cost;
pub mod golden;
pub mod judgement;
pub mod metrics;
pub mod run;
pub mod statistics;
pub mod table;
