//! What the system tells a running server: stop, or look at your files again.
//!
//! In: nothing. Out: futures that end at the next signal. On systems without a signal they never do, but for
//! Ctrl-C, which all have.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hangups (`SIGHUP`), by which operators ask a server to read its files again.
#[derive(Debug)]
pub(crate) struct Hangups {
    #[cfg(unix)]
    signal: Option<Signal>,
}

impl Hangups {
    /// From now on a hangup no longer ends the process. Within an event loop.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(unix)]
            signal: signal(SignalKind::hangup())
                .inspect_err(|error| tracing::warn!(%error, "cannot wait for SIGHUP"))
                .ok(),
        }
    }

    /// Ends at the next hangup.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

/// Requests to stop: `SIGTERM`, which service managers send, and `SIGINT`, Ctrl-C.
#[derive(Debug)]
pub(crate) struct Stops {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl Stops {
    /// From now on such a signal no longer ends the process by itself. Within an event loop.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Ends at the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
