//! The server from outside: most tests speak to it in process over a pair of byte streams, some start the
//! program itself.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod calls;
mod documents;
mod fixture;
mod http;
mod in_process;
mod process;
mod session;
mod swap;
