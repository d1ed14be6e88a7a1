//! A client in the same process: it writes lines and reads lines, so nothing of a client SDK hides what is said.

use std::sync::Arc;
use std::time::Duration;

use docs_server::{Corpus, Served, StartError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// What a request of the newer protocol generation carries with it.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    })
}

pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    server: JoinHandle<Result<(), StartError>>,
    next_id: i64,
}

impl Client {
    /// A client that has said nothing yet.
    pub(crate) fn silent(corpus: impl Corpus + 'static, max_result_bytes: usize) -> Self {
        Self::of(Arc::new(Served::new(Arc::new(corpus))), max_result_bytes)
    }

    /// The same, of a server whose corpus can be replaced.
    pub(crate) fn of(served: Arc<Served>, max_result_bytes: usize) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(docs_server::run(served, max_result_bytes, reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        Self {
            reader: BufReader::new(reader),
            writer,
            server,
            next_id: 100,
        }
    }

    /// A client that has opened a session of the older protocol generation.
    pub(crate) async fn connected(corpus: impl Corpus + 'static) -> Self {
        Self::with_budget(corpus, docs_server::DEFAULT_MAX_RESULT_BYTES).await
    }

    pub(crate) async fn with_budget(corpus: impl Corpus + 'static, max_result_bytes: usize) -> Self {
        let mut client = Self::silent(corpus, max_result_bytes);
        client.initialize("2025-11-25").await;
        client
    }

    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}});
        let reply = self.request("initialize", params).await;
        self.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())
            .await;
        reply
    }

    pub(crate) async fn line(&mut self, line: &str) {
        self.writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    pub(crate) async fn reply(&mut self) -> Value {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(20), read)
            .await
            .expect("no answer")
            .unwrap();
        assert!(line.ends_with('\n'), "the server closed its end: {line:?}");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.line(&request.to_string()).await;
        let reply = self.reply().await;
        assert_eq!(reply["id"], self.next_id, "{reply}");
        reply
    }

    /// Calls a tool; its text and whether it says that the call failed.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let reply = self
            .request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        let result = &reply["result"];
        assert!(result.is_object(), "{reply}");
        assert_eq!(result.get("structuredContent"), None, "{reply}");
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "one block: {reply}");
        (
            content[0]["text"].as_str().unwrap().to_owned(),
            result["isError"].as_bool().unwrap(),
        )
    }

    pub(crate) async fn answered(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(tool, arguments).await;
        assert!(!is_error, "{text}");
        text
    }

    pub(crate) async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(tool, arguments).await;
        assert!(is_error, "{text}");
        text
    }

    /// Closes the client's end; how the server ended.
    pub(crate) async fn leave(self) -> Result<(), StartError> {
        let Self {
            reader,
            mut writer,
            server,
            ..
        } = self;
        writer.shutdown().await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(5), server)
            .await
            .expect("the server goes on");
        drop(reader);
        ended.unwrap()
    }
}
