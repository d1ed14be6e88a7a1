//! The standard streams, waited for without a thread where the system allows it.
//!
//! Hosts written in Python or Rust start a server on pipes, for which the SDK has a way; those written in
//! JavaScript start it on Unix sockets, which would fall back to a thread for each direction: one more hand-over
//! for each message, and the start of two threads before the first. Files and terminals still get them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Standard input.
#[derive(Debug)]
pub struct Input(Either<StdioReader>);

/// Standard output.
#[derive(Debug)]
pub struct Output(Either<StdioWriter>);

#[derive(Debug)]
enum Either<S> {
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    Other(S),
}

/// Standard input and output. To be called within an event loop.
pub fn standard_streams() -> (Input, Output) {
    #[cfg(unix)]
    if let (Some(input), Some(output)) = (socket(&io::stdin()), socket(&io::stdout())) {
        tracing::debug!("the standard streams are sockets");
        return (Input(Either::Socket(input)), Output(Either::Socket(output)));
    }
    let (input, output) = stdio_pipes();
    (Input(Either::Other(input)), Output(Either::Other(output)))
}

/// A standard stream as a socket, if it is one of Unix's.
#[cfg(unix)]
fn socket(stream: &impl std::os::fd::AsFd) -> Option<tokio::net::UnixStream> {
    use std::os::unix::fs::FileTypeExt as _;

    let file = std::fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
    if !file.metadata().ok()?.file_type().is_socket() {
        return None;
    }
    let socket = std::os::unix::net::UnixStream::from(std::os::fd::OwnedFd::from(file));
    // An internet socket (inetd) has no such address, and is left to the other way.
    socket.local_addr().ok()?;
    socket.set_nonblocking(true).ok()?;
    tokio::net::UnixStream::from_std(socket).ok()
}

impl AsyncRead for Input {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Either::Socket(stream) => Pin::new(stream).poll_read(cx, buf),
            Either::Other(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Either::Socket(stream) => Pin::new(stream).poll_write(cx, bytes),
            Either::Other(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Either::Socket(stream) => Pin::new(stream).poll_flush(cx),
            Either::Other(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Either::Socket(stream) => Pin::new(stream).poll_shutdown(cx),
            Either::Other(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
