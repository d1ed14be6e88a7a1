//! What operators see and do.

use std::sync::Arc;

use docs_index::{ReadError, SearchRequest};
use docs_server::http::{HttpOptions, HttpServer, bind};
use docs_server::{Corpus, CorpusSummary, Found, Lookup, Served};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use super::client::{Request, Server, receive, send, until};
use super::limits::Gate;
use crate::fixture;

#[tokio::test]
async fn metrics_count_requests_calls_and_what_is_served() {
    let server = Server::plain(fixture::index()).await;
    let first = server.send(&Request::search("turbine")).await;
    let again = server.send(&Request::search("turbine")).await;
    assert_eq!(first.body, again.body);
    server.send(&Request::search("")).await;
    server.send(&Request::search("")).await;
    let unknown = json!({"name": "made-up-by-a-client"});
    server.send(&Request::modern("tools/call", unknown)).await;
    server.send(&Request::get("/made/up/by/a/client")).await;
    let page = server.send(&Request::get("/metrics")).await;
    assert_eq!(page.status, 200);
    assert!(
        page.header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    for line in [
        "docs_server_http_requests_total{path=\"/mcp\",status=\"200\"} 5",
        "docs_server_http_requests_total{path=\"other\",status=\"404\"} 1",
        "docs_server_tool_calls_total{tool=\"search_docs\",outcome=\"ok\"} 2",
        "docs_server_tool_calls_total{tool=\"search_docs\",outcome=\"error\"} 2",
        "docs_server_answer_cache_hits_total 1",
        "docs_server_tool_calls_total{tool=\"unknown\",outcome=\"unknown_tool\"} 1",
        "docs_server_tool_call_duration_seconds_count{tool=\"search_docs\"} 4",
        "docs_server_connections_open 1",
        "docs_index_swaps_total 0",
        "docs_index_documents 64",
    ] {
        assert!(
            page.body.lines().any(|other| other == line),
            "{line} in {}",
            page.body
        );
    }
    assert!(
        !page.body.contains("made"),
        "labels are never a client's: {}",
        page.body
    );
    let hash = page.body.split("content_hash=\"").nth(1).unwrap();
    assert!(hash.split('"').next().unwrap().len() >= 16, "{hash}");
    assert_eq!(page.body.matches("# EOF").count(), 1);
    assert!(page.body.ends_with("# EOF\n"));
}

#[tokio::test]
async fn a_new_index_is_served_on_the_same_connection() {
    let server = Server::plain(fixture::index()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let before = send(&mut stream, &Request::search("turbine")).await;
    assert!(
        before.text().contains("[guide/long.md#steps"),
        "{}",
        before.text()
    );
    let gate = Gate::default();
    gate.open();
    server.served.replace(Arc::new(gate));
    let after = send(&mut stream, &Request::search("turbine")).await;
    assert!(after.text().starts_with("No hits"), "{}", after.text());
    let metrics = send(&mut stream, &Request::get("/metrics")).await;
    assert!(
        metrics.body.contains("docs_index_swaps_total 1\n"),
        "{}",
        metrics.body
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_stops_answers_what_it_has_begun() {
    let gate = Gate::default();
    let server = Server::with(gate.clone(), &HttpOptions::default()).await;
    let address = server.address;
    let mut idle = TcpStream::connect(address).await.unwrap();
    assert_eq!(send(&mut idle, &Request::get("/readyz")).await.status, 200);
    let calling = tokio::spawn(async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        send(&mut stream, &Request::search("a")).await
    });
    until(|| async { gate.arrived() == 1 }).await;
    let running = server.stop();
    // What is idle is closed, what is new finds nobody.
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty());
    until(|| async { TcpStream::connect(address).await.is_err() }).await;
    assert!(!running.is_finished());
    gate.open();
    let reply = calling.await.unwrap();
    assert_eq!((reply.status, reply.header("connection")), (200, Some("close")));
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_server_that_stops_says_that_it_is_not_ready() {
    let mut options = HttpOptions::default();
    options.limits.request_timeout = std::time::Duration::from_secs(60);
    let server = Server::with(fixture::index(), &options).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    // A request whose body is still to come keeps its connection open.
    let ping = Request::message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let bytes = ping.bytes();
    let (head, body) = bytes.split_at(bytes.len() - 10);
    tokio::io::AsyncWriteExt::write_all(&mut stream, head)
        .await
        .unwrap();
    until(|| async {
        let page = server.send(&Request::get("/metrics")).await;
        page.body.contains("docs_server_connections_open 2\n")
    })
    .await;
    let running = server.stop();
    tokio::io::AsyncWriteExt::write_all(&mut stream, body)
        .await
        .unwrap();
    assert_eq!(receive(&mut stream).await.status, 200);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_tool_that_panics_is_one_failed_call() {
    #[derive(Debug)]
    struct Panics;

    impl Corpus for Panics {
        fn summary(&self) -> CorpusSummary {
            CorpusSummary::default()
        }

        fn search(&self, _request: &SearchRequest<'_>) -> Result<Found, ReadError> {
            panic!("as a hostile file might make us");
        }

        fn section(&self, _id: &str) -> Result<Lookup, ReadError> {
            Ok(Lookup::Unknown { similar: Vec::new() })
        }
    }

    let server = Server::plain(Panics).await;
    let reply = server.send(&Request::search("a")).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()["result"]["isError"], true);
    let page = server.send(&Request::get("/metrics")).await.body;
    let line = "docs_server_tool_calls_total{tool=\"search_docs\",outcome=\"panic\"} 1";
    assert!(page.contains(line), "{page}");
}

#[tokio::test]
async fn an_address_that_is_taken_is_an_error_that_says_so() {
    let taken = bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let error = bind(&address).await.unwrap_err();
    assert!(docs_server::chain(&error).starts_with(&format!("cannot listen at {address}: ")));
    assert_eq!(
        error.remedy().unwrap(),
        "choose another port, or 0 for any free one"
    );
    assert_eq!(
        bind("no address").await.unwrap_err().remedy().unwrap(),
        "give a host and a port, like 127.0.0.1:8765"
    );
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused_before_anything_listens() {
    let served = Arc::new(Served::new(Arc::new(fixture::index())));
    let mut options = HttpOptions::default();
    options.allowed_hosts.push("https://docs.example".to_owned());
    let error = HttpServer::new(Arc::clone(&served), &options).unwrap_err();
    insta::assert_snapshot!(docs_server::chain(&error), @r#"cannot tell who may call: "https://docs.example" is not a host like docs.example.com or docs.example.com:8443"#);
    let mut options = HttpOptions::default();
    options.authentication.token_file = Some("/no/such/file".into());
    let error = HttpServer::new(Arc::clone(&served), &options).unwrap_err();
    assert!(docs_server::chain(&error).contains("/no/such/file"));
    let options = HttpOptions {
        tls: Some(("/no/such/chain.pem".into(), "/no/such/key.pem".into())),
        ..HttpOptions::default()
    };
    let error = HttpServer::new(served, &options).unwrap_err();
    assert!(docs_server::chain(&error).contains("/no/such/chain.pem"));
}
