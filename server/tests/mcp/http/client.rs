//! A server in this process, and a client that sends requests as they are written down.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use docs_server::http::{HttpOptions, HttpServer, bind};
use docs_server::{Corpus, Served, StartError};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::in_process::modern_meta;

const PATIENCE: Duration = Duration::from_secs(20);

/// A server that runs until it is told to stop.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) served: Arc<Served>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Result<(), StartError>>,
}

impl Server {
    /// A server with the options of a newcomer.
    pub(super) async fn plain(corpus: impl Corpus + 'static) -> Self {
        Self::with(corpus, &HttpOptions::default()).await
    }

    pub(super) async fn with(corpus: impl Corpus + 'static, options: &HttpOptions) -> Self {
        let served = Arc::new(Served::new(Arc::new(corpus)));
        let server = HttpServer::new(Arc::clone(&served), options).unwrap();
        let listener = bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(server.run(listener, async move {
            // A sender that is dropped stops the server, too.
            let _ = stopped.await;
        }));
        Self {
            address,
            served,
            stop,
            running,
        }
    }

    /// Sends a request on a connection of its own.
    pub(super) async fn send(&self, request: &Request) -> Reply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        send(&mut stream, request).await
    }

    /// Tells the server to stop; how it ended.
    pub(super) fn stop(self) -> JoinHandle<Result<(), StartError>> {
        self.stop.send(()).unwrap();
        self.running
    }
}

/// A request, to be changed bit by bit.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) line: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn get(path: &str) -> Self {
        Self {
            line: format!("GET {path} HTTP/1.1"),
            headers: vec![("Host".to_owned(), "localhost".to_owned())],
            body: Vec::new(),
        }
    }

    /// A message of the older protocol generation.
    pub(super) fn post(body: impl Into<Vec<u8>>) -> Self {
        Self {
            line: "POST /mcp HTTP/1.1".to_owned(),
            body: body.into(),
            ..Self::get("/")
        }
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
    }

    pub(super) fn message(message: &Value) -> Self {
        Self::post(message.to_string())
    }

    /// A request of the newer protocol generation.
    pub(super) fn modern(method: &str, mut params: Value) -> Self {
        params["_meta"] = modern_meta();
        let name = params["name"].as_str().map(str::to_owned);
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = Self::message(&message)
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method);
        match name {
            Some(name) => request.header("Mcp-Name", &name),
            None => request,
        }
    }

    pub(super) fn search(query: &str) -> Self {
        Self::modern(
            "tools/call",
            json!({"name": "search_docs", "arguments": {"query": query}}),
        )
    }

    /// Sets a header; none for an empty value.
    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(super) fn line(mut self, line: &str) -> Self {
        line.clone_into(&mut self.line);
        self
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.line).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        let has_length = self
            .headers
            .iter()
            .any(|(name, _)| ["content-length", "transfer-encoding"].contains(&&*name.to_ascii_lowercase()));
        if !has_length {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other == name);
        values.next().map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of a JSON-RPC error; 0 if there is none.
    pub(super) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or(0)
    }

    /// The text of a tool's answer.
    pub(super) fn text(&self) -> String {
        let reply = self.json();
        let text = reply["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no answer: {reply}")).to_owned()
    }
}

/// Sends a request and reads its reply, as long as its length says.
pub(super) async fn send<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, request: &Request) -> Reply {
    stream.write_all(&request.bytes()).await.unwrap();
    receive(stream).await
}

pub(super) async fn receive<S: AsyncRead + Unpin>(stream: &mut S) -> Reply {
    tokio::time::timeout(PATIENCE, read_reply(stream))
        .await
        .expect("no reply")
}

async fn read_reply<S: AsyncRead + Unpin>(stream: &mut S) -> Reply {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await;
        head.push(byte.unwrap_or_else(|error| panic!("{error} after {:?}", String::from_utf8_lossy(&head))));
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_ascii_lowercase(), value.to_owned())
        })
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    Reply {
        status,
        headers,
        body: String::from_utf8(body).unwrap(),
    }
}

/// Waits until something holds.
pub(super) async fn until<F: Future<Output = bool>>(mut holds: impl FnMut() -> F) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .expect("it never came true");
}
