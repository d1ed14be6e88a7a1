//! How a session is opened, kept and ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use docs_index::{ReadError, SearchRequest};
use docs_server::{Corpus, CorpusSummary, DEFAULT_MAX_RESULT_BYTES, Found, Lookup, Section};
use serde_json::{Value, json};

use crate::fixture;
use crate::in_process::{Client, modern_meta};

/// An index so damaged that it panics.
#[derive(Debug)]
struct Panicking;

impl Corpus for Panicking {
    fn summary(&self) -> CorpusSummary {
        CorpusSummary::default()
    }

    fn search(&self, request: &SearchRequest<'_>) -> Result<Found, ReadError> {
        assert_ne!(request.query, "panic", "asked to panic");
        Ok(Found::default())
    }

    fn section(&self, _id: &str) -> Result<Lookup, ReadError> {
        panic!("a root address outside of the dictionary")
    }
}

#[tokio::test]
async fn initialize_says_who_we_are_in_every_older_version() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::silent(fixture::index(), DEFAULT_MAX_RESULT_BYTES);
        let reply = client.initialize(asked).await;
        let result = &reply["result"];
        assert_eq!(result["protocolVersion"], agreed, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "docs-server");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        let instructions = result["instructions"].as_str().unwrap();
        assert!(instructions.len() < 500, "{instructions}");
        assert!(
            instructions
                .starts_with("Documentation of Widget handbook (How to make and mend widgets.): 64 pages, "),
            "{instructions}"
        );
        assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
        client.leave().await.unwrap();
    }
}

#[tokio::test]
async fn the_newer_generation_needs_no_handshake() {
    let mut client = Client::silent(fixture::index(), DEFAULT_MAX_RESULT_BYTES);
    let discovered = client
        .request("server/discover", json!({"_meta": modern_meta()}))
        .await;
    assert_eq!(discovered["result"]["ttlMs"], 3_600_000);
    assert_eq!(discovered["result"]["cacheScope"], "public");
    assert!(discovered["result"]["instructions"].is_string());
    let call = json!({"_meta": modern_meta(), "name": "search_docs", "arguments": {"query": "turbine"}});
    let answered = client.request("tools/call", call).await;
    assert_eq!(answered["result"]["resultType"], "complete");
    assert!(
        answered["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("[guide/long.md#steps"),
        "{answered}"
    );
    client.leave().await.unwrap();
}

#[tokio::test]
async fn a_client_may_discover_and_then_open_an_older_session() {
    let mut client = Client::silent(fixture::index(), DEFAULT_MAX_RESULT_BYTES);
    client
        .request("server/discover", json!({"_meta": modern_meta()}))
        .await;
    client.initialize("2025-06-18").await;
    assert!(
        client
            .answered("search_docs", json!({"query": "turbine"}))
            .await
            .starts_with('[')
    );
    client.leave().await.unwrap();
}

#[tokio::test]
async fn stray_messages_before_a_session_do_not_end_it() {
    let mut client = Client::silent(fixture::index(), DEFAULT_MAX_RESULT_BYTES);
    for stray in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "id": 5, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "x"}}),
        json!({"jsonrpc": "2.0", "method": "no/such"}),
    ] {
        client.line(&stray.to_string()).await;
    }
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    assert_eq!(
        client.request("tools/list", json!({})).await["error"]["code"],
        -32_602
    );
    client.initialize("2025-11-25").await;
    assert!(
        client
            .answered("search_docs", json!({"query": "turbine"}))
            .await
            .starts_with('[')
    );
    client.leave().await.unwrap();
}

#[tokio::test]
async fn leaving_is_no_failure_before_or_after_a_session() {
    Client::silent(fixture::index(), DEFAULT_MAX_RESULT_BYTES)
        .leave()
        .await
        .unwrap();
    Client::connected(fixture::index()).await.leave().await.unwrap();
}

#[tokio::test]
async fn broken_lines_are_answered_and_the_session_lives() {
    let mut client = Client::silent(fixture::index(), DEFAULT_MAX_RESULT_BYTES);
    for (line, code, id) in [
        ("not json", -32_700, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":2", -32_700, Value::Null),
        ("[]", -32_600, Value::Null),
        (
            "[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]",
            -32_600,
            Value::Null,
        ),
        ("{\"jsonrpc\":\"2.0\",\"id\":8}", -32_600, json!(8)),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            -32_600,
            Value::Null,
        ),
    ] {
        client.line(line).await;
        let reply = client.reply().await;
        assert_eq!(
            (&reply["error"]["code"], &reply["id"]),
            (&json!(code), &id),
            "{line}"
        );
        assert!(reply.as_object().unwrap().contains_key("id"), "{line}");
    }
    client.line("").await;
    client.line("  \r").await;
    client.initialize("2025-11-25").await;
    client.line("{\"jsonrpc\":").await;
    assert_eq!(client.reply().await["error"]["code"], -32_700);
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    client.leave().await.unwrap();
}

/// Counts the sections it is asked for, each half a megabyte long.
#[derive(Debug, Default)]
struct Counting(Arc<AtomicUsize>);

impl Corpus for Counting {
    fn summary(&self) -> CorpusSummary {
        CorpusSummary::default()
    }

    fn search(&self, _request: &SearchRequest<'_>) -> Result<Found, ReadError> {
        Ok(Found::default())
    }

    fn section(&self, id: &str) -> Result<Lookup, ReadError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Lookup::Found(Section {
            id: id.to_owned(),
            text: "word ".repeat(100_000),
            ..Section::default()
        }))
    }
}

#[tokio::test]
async fn requests_are_answered_as_they_come_and_not_for_a_client_that_does_not_read() {
    const REQUESTS: usize = 60;
    let asked = Arc::new(AtomicUsize::new(0));
    let mut client = Client::silent(Counting(Arc::clone(&asked)), 1_000_000);
    client.initialize("2025-11-25").await;
    let requests: Vec<String> = (0..REQUESTS)
        .map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "get_section", "arguments": {"id": "a.md"}}}).to_string())
        .collect();
    client.line(&requests.join("\n")).await;
    client.reply().await;
    // Others are worked on while so long an answer is taken, but by no means all.
    let first = asked.load(Ordering::Relaxed);
    assert!(first < 40, "{first} were worked on before the first was answered");
    let mut unread = first;
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = asked.load(Ordering::Relaxed);
        if now == unread {
            break;
        }
        unread = now;
    }
    assert!(
        unread < 40,
        "{unread} answers wait for a client that does not read"
    );
    for _ in 1..REQUESTS {
        client.reply().await;
    }
    assert_eq!(asked.load(Ordering::Relaxed), REQUESTS);
    client.leave().await.unwrap();
}

#[tokio::test]
async fn a_panic_is_one_error_answer() {
    let mut client = Client::connected(Panicking).await;
    for (tool, arguments) in [
        ("search_docs", json!({"query": "panic"})),
        ("get_section", json!({"id": "a.md"})),
    ] {
        let text = client.refused(tool, arguments).await;
        assert_eq!(
            text,
            format!("\"{tool}\" failed inside. The server still runs: try another query or id.")
        );
    }
    assert_eq!(
        client.answered("search_docs", json!({"query": "fine"})).await,
        "No hits for \"fine\". Try other words."
    );
    client.leave().await.unwrap();
}

#[tokio::test]
async fn requests_that_make_no_sense_are_told_so_by_the_protocol() {
    let mut client = Client::connected(fixture::index()).await;
    let unknown = client
        .request("tools/call", json!({"name": "read_docs", "arguments": {}}))
        .await;
    assert_eq!(unknown["error"]["code"], -32_602);
    assert_eq!(
        unknown["error"]["message"],
        "no tool is called \"read_docs\"; there are get_section, search_docs"
    );
    for params in [
        json!({"name": 5}),
        json!({}),
        json!({"name": "search_docs", "arguments": "query"}),
        json!({"name": "search_docs", "arguments": [1]}),
        json!([1]),
    ] {
        let reply = client.request("tools/call", params.clone()).await;
        assert_eq!(reply["error"]["code"], -32_602, "{params}: {reply}");
    }
    let unknown_page = client.request("tools/list", json!({"cursor": "2"})).await;
    assert_eq!(unknown_page["error"]["code"], -32_602);
    for method in ["prompts/list", "resources/list", "no/such"] {
        assert_eq!(
            client.request(method, json!({})).await["error"]["code"],
            -32_601,
            "{method}"
        );
    }
    let reply = client.request("initialize", json!({"protocolVersion": 5})).await;
    assert_eq!(reply["error"]["code"], -32_601);
    client.leave().await.unwrap();
}
