//! What must hold of any input: one function for each fuzz target, which panics where it does not hold.
//!
//! The fuzz targets of `fuzz/` call these functions, and so do the ordinary tests, on generated inputs and on those that
//! once broke something. The first byte of an input is a choice of settings, the rest is what is tested.

pub mod document;
pub mod file;
pub mod query;
