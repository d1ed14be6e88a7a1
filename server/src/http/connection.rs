//! One connection: requests in turn until somebody ends it.
//!
//! In: a stream of bytes from a client, a service that answers requests. Out: nothing; the connection has ended when the
//! call returns. What a slow or silent client can hold is bounded here: the head of a request must arrive within the
//! header timeout of its first byte (the first one of a connection: of its beginning), and a connection on which no
//! byte moves is given up after the idle timeout, whether it waits for a request or for a client that does not take its
//! answer. How long a request itself may take, its body included, is the service's matter.
//!
//! Where hyper would close at once, what the client still sends is read and thrown away for a moment first: otherwise
//! the system resets the connection and the client loses the answer that says what was wrong (RFC 9112, section 9.6).

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::sync::watch;
use tokio::time::Instant;

/// Bytes that the head of a request may have; more is answered with 431.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// How long, and how much, a client may go on sending after the last answer.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 4 << 20;

/// How long a connection may take for what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub(super) header: Duration,
    pub(super) idle: Duration,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// One of the two closed it between two requests.
    Closed,
    /// What came was no request, or its head was too large.
    NoRequest,
    /// The client left in the middle of a request or of its answer.
    BrokenOff,
    /// The head of a request took too long.
    HeaderTimeout,
    /// No byte moved for too long.
    IdleTimeout,
}

/// Serves a connection until it ends. Once `draining` is true, no further request is taken.
pub(super) async fn serve<I, S, F>(
    stream: I,
    patience: Patience,
    mut draining: watch::Receiver<bool>,
    service: S,
) -> Ended
where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Fn(Request<Incoming>) -> F + Unpin,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let pace = Arc::new(Pace::new());
    let timed = Arc::clone(&pace);
    let service = hyper::service::service_fn(move |request| {
        let pace = Arc::clone(&timed);
        pace.request_began();
        let answer = service(request);
        Box::pin(async move {
            let answer = answer.await;
            pace.request_ended();
            Ok::<_, Infallible>(answer)
        })
    });
    let stream = Timed {
        stream,
        pace: Arc::clone(&pace),
    };
    let mut connection = http1::Builder::new()
        // Measured by `Pace`, which also knows of a connection that is silent between two requests.
        .header_read_timeout(None)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut watch = pin!(pace.overdue(patience));
    let mut is_draining = false;
    let ended = loop {
        tokio::select! {
            biased;
            ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => break match ended {
                Ok(()) => Ended::Closed,
                Err(error) if error.is_parse() => Ended::NoRequest,
                Err(_) => Ended::BrokenOff,
            },
            ended = &mut watch => break ended,
            _ = draining.wait_for(|&draining| draining), if !is_draining => {
                is_draining = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    if matches!(ended, Ended::Closed | Ended::NoRequest | Ended::BrokenOff) {
        linger(connection.into_parts().io.into_inner().stream).await;
    }
    ended
}

/// Closes our end and waits a moment for the client to close its own.
async fn linger<I: AsyncRead + AsyncWrite + Unpin>(mut stream: I) {
    let closing = async {
        stream.shutdown().await?;
        // Not in the future itself, whose size each connection takes all the time.
        let mut thrown_away = vec![0; 4096];
        let mut rest = LINGER_BYTES;
        while rest > 0 {
            match stream.read(&mut thrown_away).await? {
                0 => break,
                read => rest = rest.saturating_sub(read),
            }
        }
        io::Result::Ok(())
    };
    // That a client left without a word changes nothing.
    let _ = tokio::time::timeout(LINGER, closing).await;
}

/// When bytes last moved on a connection, and what it is waiting for.
#[derive(Debug)]
struct Pace {
    began: Instant,
    /// Milliseconds from the beginning to the last byte that moved.
    moved: AtomicU64,
    /// Milliseconds from the beginning to the first byte of the head that is arriving; [`Self::NO_HEAD`] if none is.
    head_began: AtomicU64,
    /// A request is being answered.
    is_busy: AtomicBool,
}

impl Pace {
    const NO_HEAD: u64 = u64::MAX;

    fn new() -> Self {
        Self {
            began: Instant::now(),
            moved: AtomicU64::new(0),
            // The first request is waited for as if it had begun to arrive.
            head_began: AtomicU64::new(0),
            is_busy: AtomicBool::new(false),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - 1)
    }

    fn bytes_arrived(&self) {
        let now = self.now();
        self.moved.store(now, Ordering::Relaxed);
        if !self.is_busy.load(Ordering::Relaxed) {
            // Left alone if a head has begun before.
            let _ =
                self.head_began
                    .compare_exchange(Self::NO_HEAD, now, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    fn bytes_left(&self) {
        self.moved.store(self.now(), Ordering::Relaxed);
    }

    fn request_began(&self) {
        self.is_busy.store(true, Ordering::Relaxed);
        self.head_began.store(Self::NO_HEAD, Ordering::Relaxed);
    }

    fn request_ended(&self) {
        self.moved.store(self.now(), Ordering::Relaxed);
        self.head_began.store(Self::NO_HEAD, Ordering::Relaxed);
        self.is_busy.store(false, Ordering::Relaxed);
    }

    /// Returns when the client has used up our patience.
    async fn overdue(&self, patience: Patience) -> Ended {
        // Looked at now and then, so that a request costs two stores and no timer of its own.
        let pause = patience.header.min(patience.idle) / 4;
        loop {
            tokio::time::sleep(pause.max(Duration::from_millis(5))).await;
            if self.is_busy.load(Ordering::Relaxed) {
                continue;
            }
            let now = self.now();
            let since = |then: u64| Duration::from_millis(now.saturating_sub(then));
            let head_began = self.head_began.load(Ordering::Relaxed);
            if head_began != Self::NO_HEAD && since(head_began) >= patience.header {
                return Ended::HeaderTimeout;
            }
            if since(self.moved.load(Ordering::Relaxed)) >= patience.idle {
                return Ended::IdleTimeout;
            }
        }
    }
}

/// A stream that tells when bytes move.
struct Timed<I> {
    stream: I,
    pace: Arc<Pace>,
}

impl<I: AsyncRead + Unpin> AsyncRead for Timed<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.pace.bytes_arrived();
        }
        polled
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Timed<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if matches!(polled, Poll::Ready(Ok(1..))) {
            self.pace.bytes_left();
        }
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        if matches!(polled, Poll::Ready(Ok(1..))) {
            self.pace.bytes_left();
        }
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tokio::io::DuplexStream;
    use tokio::task::JoinHandle;

    const PATIENCE: Patience = Patience {
        header: Duration::from_secs(10),
        idle: Duration::from_secs(100),
    };
    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    struct Client {
        stream: DuplexStream,
        draining: watch::Sender<bool>,
        server: JoinHandle<Ended>,
    }

    /// A client of a server that answers each request after `work` with `answer_bytes` bytes.
    fn client(work: Duration, answer_bytes: usize) -> Client {
        let (ours, theirs) = tokio::io::duplex(1 << 10);
        let (draining, is_draining) = watch::channel(false);
        let server = tokio::spawn(serve(theirs, PATIENCE, is_draining, move |_request| async move {
            tokio::time::sleep(work).await;
            Response::new(Body::from("x".repeat(answer_bytes)))
        }));
        Client {
            stream: ours,
            draining,
            server,
        }
    }

    impl Client {
        async fn answer(&mut self) -> String {
            let mut text = String::new();
            let mut buffer = [0; 4096];
            while !text.ends_with("\r\n\r\nx") {
                let read = self.stream.read(&mut buffer).await.unwrap();
                assert_ne!(read, 0, "closed after {text:?}");
                text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
            }
            text
        }

        async fn ended(self) -> (Ended, Duration) {
            let began = Instant::now();
            let ended = self.server.await.unwrap();
            (ended, began.elapsed())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_drips_in_is_cut_off_at_the_header_timeout() {
        let mut client = client(Duration::ZERO, 1);
        client.stream.write_all(GET).await.unwrap();
        client.answer().await;
        tokio::time::sleep(Duration::from_secs(50)).await;
        let began = Instant::now();
        for byte in GET {
            if client.stream.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let (ended, _) = client.ended().await;
        assert_eq!(ended, Ended::HeaderTimeout);
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_says_nothing_is_cut_off() {
        let fresh = client(Duration::ZERO, 1);
        let (ended, waited) = fresh.ended().await;
        assert_eq!(ended, Ended::HeaderTimeout);
        assert!(waited >= PATIENCE.header && waited < PATIENCE.idle, "{waited:?}");

        let mut used = client(Duration::ZERO, 1);
        used.stream.write_all(GET).await.unwrap();
        used.answer().await;
        let (ended, waited) = used.ended().await;
        assert_eq!(ended, Ended::IdleTimeout);
        assert!(waited >= PATIENCE.idle, "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_no_answer_is_cut_off() {
        let mut client = client(Duration::ZERO, 1 << 20);
        client.stream.write_all(GET).await.unwrap();
        let stream = client.stream;
        assert_eq!(client.server.await.unwrap(), Ended::IdleTimeout);
        drop(stream);
    }

    #[tokio::test(start_paused = true)]
    async fn time_for_an_answer_is_not_the_clients() {
        let mut client = client(Duration::from_secs(1_000), 1);
        client.stream.write_all(GET).await.unwrap();
        client.answer().await;
        drop(client.stream);
        assert_eq!(client.server.await.unwrap(), Ended::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn draining_ends_idle_connections_and_lets_answers_out() {
        let mut idle = client(Duration::ZERO, 1);
        idle.stream.write_all(GET).await.unwrap();
        idle.answer().await;
        idle.draining.send(true).unwrap();
        let (ended, waited) = idle.ended().await;
        assert_eq!(ended, Ended::Closed);
        assert!(waited <= LINGER * 2, "{waited:?}");

        let mut busy = client(Duration::from_secs(5), 1);
        busy.stream.write_all(GET).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        busy.draining.send(true).unwrap();
        let answer = busy.answer().await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(
            answer.to_ascii_lowercase().contains("connection: close"),
            "{answer}"
        );
        assert_eq!(busy.ended().await.0, Ended::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_too_large_is_answered_though_the_client_goes_on_sending() {
        for head in [
            format!("GET / HTTP/1.1\r\n{}\r\n", "X-Many: 1\r\n".repeat(10_000)),
            format!("GET / HTTP/1.1\r\nX-Long: {}\r\n\r\n", "a".repeat(100_000)),
        ] {
            let client = client(Duration::ZERO, 1);
            let (mut reader, mut writer) = tokio::io::split(client.stream);
            let writing = tokio::spawn(async move { writer.write_all(head.as_bytes()).await.is_ok() });
            let mut answer = String::new();
            reader.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
            assert!(
                writing.await.unwrap(),
                "the client was cut off while it was writing"
            );
            drop(reader);
            assert_eq!(client.server.await.unwrap(), Ended::NoRequest);
        }
    }
}
