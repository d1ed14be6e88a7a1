//! What clients can take up.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use docs_index::{ReadError, SearchRequest};
use docs_server::http::HttpOptions;
use docs_server::{Corpus, CorpusSummary, Found, Lookup};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::client::{Request, Server, receive, until};
use crate::fixture;

/// A corpus whose searches wait until they are let go.
#[derive(Debug, Clone, Default)]
pub(super) struct Gate(Arc<(Mutex<(usize, bool)>, Condvar)>);

impl Gate {
    /// How many searches wait, or have waited.
    pub(super) fn arrived(&self) -> usize {
        self.0.0.lock().unwrap().0
    }

    pub(super) fn open(&self) {
        self.0.0.lock().unwrap().1 = true;
        self.0.1.notify_all();
    }
}

impl Corpus for Gate {
    fn summary(&self) -> CorpusSummary {
        CorpusSummary::default()
    }

    fn search(&self, _request: &SearchRequest<'_>) -> Result<Found, ReadError> {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        state.0 += 1;
        let _open = changed.wait_while(state, |state| !state.1).unwrap();
        Ok(Found::default())
    }

    fn section(&self, _id: &str) -> Result<Lookup, ReadError> {
        Ok(Lookup::Unknown { similar: Vec::new() })
    }
}

#[tokio::test]
async fn a_body_may_be_so_large_however_it_is_sent() {
    let server = Server::plain(fixture::index()).await;
    let ping = |bytes: usize| {
        let empty = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": ""}}).to_string();
        let filling = "a".repeat(bytes - empty.len());
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": filling}}).to_string()
    };
    for (bytes, status) in [(64 << 10, 200), ((64 << 10) + 1, 413), (5_000_000, 413)] {
        let body = ping(bytes);
        let reply = server.send(&Request::post(body.clone())).await;
        assert_eq!(reply.status, status, "{bytes}");
        assert_eq!(reply.code(), if status == 413 { -32_600 } else { 0 });

        let mut chunks = Vec::new();
        for chunk in body.as_bytes().chunks(10_000) {
            chunks.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            chunks.extend_from_slice(chunk);
            chunks.extend_from_slice(b"\r\n");
        }
        chunks.extend_from_slice(b"0\r\n\r\n");
        let chunked = Request::post(chunks).header("Transfer-Encoding", "chunked");
        assert_eq!(server.send(&chunked).await.status, status, "{bytes} in chunks");
    }
    // Asked first, the server refuses without a byte of the body.
    let asked = Request::post("")
        .header("Expect", "100-continue")
        .header("Content-Length", "5000000");
    assert_eq!(server.send(&asked).await.status, 413);
    assert_eq!(server.send(&Request::search("turbine")).await.status, 200);
}

#[tokio::test]
async fn a_head_may_be_so_large() {
    let server = Server::plain(fixture::index()).await;
    let mut many = Request::search("turbine");
    for number in 0..10_000 {
        many.headers.push((format!("X-{number}"), "1".to_owned()));
    }
    assert_eq!(server.send(&many).await.status, 431);
    let long = Request::search("turbine").header("X-Long", &"a".repeat(1_000_000));
    assert_eq!(server.send(&long).await.status, 431);
    assert_eq!(server.send(&Request::search("turbine")).await.status, 200);
}

#[tokio::test]
async fn a_request_has_one_length() {
    let server = Server::plain(fixture::index()).await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let mut twice = Request::post(body.clone());
    for length in ["5", "6"] {
        twice
            .headers
            .push(("Content-Length".to_owned(), length.to_owned()));
    }
    assert_eq!(server.send(&twice).await.status, 400);
    let unfinished = Request::post(body.clone()).header("Transfer-Encoding", "chunked, identity");
    assert_eq!(server.send(&unfinished).await.status, 400);
    // A proxy that believes the length takes what follows for another request; here nothing follows.
    let chunked = format!(
        "{:x}\r\n{body}\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        body.len()
    );
    let both = Request::post(chunked)
        .header("Content-Length", "5")
        .header("Transfer-Encoding", "chunked");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let reply = super::client::send(&mut stream, &both).await;
    assert_eq!((reply.status, reply.header("connection")), (200, Some("close")));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn so_many_requests_are_answered_at_once() {
    let gate = Gate::default();
    let mut options = HttpOptions::default();
    options.limits.concurrent_requests = 2;
    let server = Arc::new(Server::with(gate.clone(), &options).await);
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let server = Arc::clone(&server);
            tokio::spawn(async move { server.send(&Request::search("a")).await.status })
        })
        .collect();
    until(|| async { gate.arrived() == 2 }).await;
    // A third one whose body has not arrived takes up nothing.
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
        .await
        .unwrap();
    let third = server.send(&Request::search("b")).await;
    assert_eq!((third.status, third.header("retry-after")), (503, Some("1")));
    gate.open();
    for waiting in waiting {
        assert_eq!(waiting.await.unwrap(), 200);
    }
    let (free, again) = (Request::search("c"), Request::search("d"));
    assert_eq!(server.send(&free).await.status, 200);
    assert_eq!(
        server.send(&again).await.status,
        200,
        "the slow one holds no slot"
    );
}

#[tokio::test]
async fn so_many_connections_are_open_at_once() {
    let mut options = HttpOptions::default();
    options.limits.connections = 3;
    let server = Server::with(fixture::index(), &options).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let reply = super::client::send(&mut stream, &Request::get("/healthz")).await;
        assert_eq!(reply.status, 200);
        open.push(stream);
    }
    let mut fourth = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(receive(&mut fourth).await.status, 503);
    drop(open);
    until(|| async {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        // A connection that is turned away may be reset while we write.
        if stream.write_all(&Request::get("/healthz").bytes()).await.is_err() {
            return false;
        }
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.is_ok() && first.ends_with(b"200")
    })
    .await;
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let mut options = HttpOptions::default();
    options.limits.request_timeout = Duration::from_millis(300);
    let server = Server::with(fixture::index(), &options).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = Request::post("{").header("Content-Length", "100");
    stream.write_all(&request.bytes()).await.unwrap();
    assert_eq!(receive(&mut stream).await.status, 408);
}
