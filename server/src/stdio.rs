//! One client over a pair of byte streams, line by line.
//!
//! In: a reader and a writer. Out: the SDK's messages, and beside them the answers to lines that never become
//! one. Both are written through the same lock, a line at a time, so they can not mix.
//!
//! The SDK's own transport is not used because it drops broken lines silently; and its opening phase ends the
//! session at a stray notification, so what arrives before the session is opened and needs no answer is left
//! out here. It also reads all that has arrived before it answers any of it, however much that is; here a
//! request is answered before the next line is read, and none is read while too many answers wait to be taken.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProtocolVersion, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify};

use crate::line::{Line, LineReader, MAX_LINE_BYTES};
use crate::wire::{self, Message, Refusal};

/// Bytes of answers that may wait for a client which is slow to take them before we stop reading its requests.
/// Large enough for one that writes hundreds of requests before it reads an answer.
const MAX_BACKLOG_BYTES: usize = 8 << 20;

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The transport that the SDK is handed.
pub(crate) struct LineTransport<R, W> {
    lines: LineReader<R>,
    output: Arc<Output<W>>,
    progress: Arc<Progress>,
    /// A refusal on its way. It is kept here, not in [`Transport::receive`], because that call may be dropped at
    /// any wait and made again.
    refusal: Option<Sending>,
    /// The last message was handed out and may not have been dealt with yet.
    handed_out: bool,
    /// Whether the client has begun a session of either protocol generation.
    opened: bool,
}

struct Output<W> {
    writer: Mutex<Option<W>>,
    progress: Arc<Progress>,
}

/// How far the session is, for whoever waits for its end, and for the reader of requests.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    ended: Notify,
    /// The client has closed the end that it reads from.
    left: Notify,
    /// Bytes of answers that are made and not written.
    backlog: AtomicUsize,
    /// The backlog has become shorter.
    room: Notify,
    /// Writes begun and ended.
    steps: AtomicU64,
    /// A write has begun and not ended.
    writing: AtomicBool,
}

/// A line in the backlog, as long as it lives.
struct Waiting {
    progress: Arc<Progress>,
    bytes: usize,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.progress.backlog.fetch_sub(self.bytes, Ordering::Relaxed);
        self.progress.room.notify_one();
    }
}

impl Progress {
    /// Returns when nobody takes our answers any more: the client has closed that end, or [stalled](Self::stalled).
    pub(crate) async fn abandoned(&self) {
        tokio::select! {
            () = self.left.notified() => {}
            () = self.stalled() => {}
        }
    }

    fn waiting(self: &Arc<Self>, bytes: usize) -> Waiting {
        self.backlog.fetch_add(bytes, Ordering::Relaxed);
        Waiting {
            progress: Arc::clone(self),
            bytes,
        }
    }

    /// Returns when few enough answers wait to be taken.
    async fn backlog_is_short(&self) {
        while self.backlog.load(Ordering::Relaxed) > MAX_BACKLOG_BYTES {
            self.room.notified().await;
        }
    }

    /// Returns when input has ended and the client has stopped taking what is still to be written.
    ///
    /// Without it a client that closed its end but never reads would keep us for seconds. Time spent on answers
    /// does not count, only a write that goes on through two periods: one alone may have been spent computing,
    /// with the write able to go on all the while.
    async fn stalled(&self) {
        const PERIOD: Duration = Duration::from_millis(400);
        self.ended.notified().await;
        let mut idle_periods = 0;
        while idle_periods < 2 {
            let before = self.steps.load(Ordering::Relaxed);
            tokio::time::sleep(PERIOD).await;
            let is_idle =
                self.writing.load(Ordering::Relaxed) && self.steps.load(Ordering::Relaxed) == before;
            idle_periods = if is_idle { idle_periods + 1 } else { 0 };
        }
    }

    fn step(&self, writing: bool) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.writing.store(writing, Ordering::Relaxed);
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(reader: R, writer: W) -> Self {
        let progress = Arc::new(Progress::default());
        Self {
            lines: LineReader::new(reader, MAX_LINE_BYTES),
            output: Arc::new(Output {
                writer: Mutex::new(Some(writer)),
                progress: Arc::clone(&progress),
            }),
            progress,
            refusal: None,
            handed_out: false,
            opened: false,
        }
    }

    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

impl<W: AsyncWrite + Send + Unpin> Output<W> {
    /// Writes a line. That the client has left is no failure: it ends the session.
    async fn send(&self, line: &[u8]) -> io::Result<()> {
        match self.write(line).await {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
                ) =>
            {
                self.progress.left.notify_one();
                Ok(())
            }
            written => written,
        }
    }

    async fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let mut rest = line;
        while !rest.is_empty() {
            self.progress.step(true);
            let written = writer.write(rest).await?;
            self.progress.step(false);
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            rest = &rest[written..];
        }
        self.progress.step(true);
        let flushed = writer.flush().await;
        self.progress.step(false);
        flushed
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        let line = line_of(&message).map(|line| (self.progress.waiting(line.len()), line));
        async move {
            let (_waiting, line) = line?;
            output.send(&line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if self.handed_out {
            tokio::task::yield_now().await;
            self.handed_out = false;
        }
        self.progress.backlog_is_short().await;
        loop {
            if let Some(sending) = self.refusal.as_mut() {
                if let Err(error) = sending.as_mut().await {
                    tracing::warn!(%error, "cannot write to the client");
                }
                self.refusal = None;
            }
            let read = match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => accept(line, &mut self.opened),
                Ok(Some(Line::TooLong(beginning))) => Err(Refusal::too_long(beginning, MAX_LINE_BYTES)),
                Ok(None) => {
                    self.progress.ended.notify_one();
                    return None;
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot read from the client");
                    self.progress.ended.notify_one();
                    return None;
                }
            };
            match read {
                Ok(Some(message)) => {
                    self.handed_out = true;
                    return Some(message);
                }
                Ok(None) => {}
                Err(refusal) => {
                    tracing::warn!(%refusal, "refused a line");
                    let output = Arc::clone(&self.output);
                    self.refusal = Some(Box::pin(async move { output.send(&refusal.into_line()).await }));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.writer.lock().await.take();
        Ok(())
    }
}

/// The SDK's message for a line; none where there is nothing to do.
fn accept(line: &[u8], opened: &mut bool) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    match wire::read(line)? {
        None | Some(Message::Response) => Ok(None),
        Some(Message::Notification(_)) if !*opened => Ok(None),
        // A notification is never answered, not even one that makes no sense.
        Some(Message::Notification(value)) => Ok(serde_json::from_value(value).ok()),
        Some(Message::Request(value)) => {
            let id = value.get("id").cloned().unwrap_or(Value::Null);
            let message: ClientJsonRpcMessage = serde_json::from_value(value)
                .map_err(|_| Refusal::invalid(id, "this is no request of MCP"))?;
            *opened |= opens_session(&message);
            Ok(Some(message))
        }
    }
}

/// Whether the SDK's opening phase is over with this message: an `initialize`, or a request that carries its
/// protocol version with it.
fn opens_session(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(message) = message else {
        return false;
    };
    match &message.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28)
                .is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

fn line_of(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
