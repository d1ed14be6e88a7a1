//! What a person or a service manager tells a running server: read your files again, or stop.
//!
//! In: nothing. Out: futures that end at the next signal. Any number of tasks may wait, and each of them hears of it.
//! Where there is no such signal, nobody is ever asked; but for Ctrl-C, which all systems have.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGHUP, by which operators ask for files to be read again. From the time that one was made, the signal does not end the process any more.
#[derive(Debug)]
pub(crate) struct Hangups {
    #[cfg(unix)]
    signals: Option<Signal>,
}

impl Hangups {
    /// To be called within an event loop. A handler that can not be set up is logged, and none is then heard.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(unix)]
            signals: signal(SignalKind::hangup())
                .inspect_err(
                    |error| tracing::warn!(%error, "SIGHUP is not heard: its handler can not be set up"),
                )
                .ok(),
        }
    }

    /// Ends at the next signal; signals that came since the last call count as one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signals) = &mut self.signals
            && signals.recv().await.is_some()
        {
            return;
        }
        std::future::pending::<()>().await;
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
