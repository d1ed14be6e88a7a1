//! The server over HTTP, from a client that writes bytes and reads bytes.

mod admission;
mod client;
mod limits;
mod operations;
mod process;
mod protocol;
