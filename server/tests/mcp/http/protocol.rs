//! The protocol at `/mcp`: the answers of stdio, and statuses for what is no message.

use serde_json::{Value, json};

use super::client::{Request, Server};
use crate::fixture;
use crate::in_process::{Client, modern_meta};

#[tokio::test]
async fn answers_are_those_of_stdio_byte_for_byte() {
    let server = Server::plain(fixture::index()).await;
    let mut client = Client::silent(fixture::index(), docs_server::DEFAULT_MAX_RESULT_BYTES);
    client.initialize("2025-11-25").await;
    let calls = [
        ("tools/list", json!({})),
        ("ping", json!({})),
        (
            "tools/call",
            json!({"name": "search_docs", "arguments": {"query": "several configuration files"}}),
        ),
        (
            "tools/call",
            json!({"name": "search_docs", "arguments": {"query": "turbine", "k": "7", "nonsense": 1}}),
        ),
        (
            "tools/call",
            json!({"name": "get_section", "arguments": {"id": "guide/long.md#steps"}}),
        ),
        (
            "tools/call",
            json!({"name": "get_section", "arguments": {"id": "no/such.md"}}),
        ),
        (
            "tools/call",
            json!({"name": "search_docs", "arguments": {"k": 99, "query": "x"}}),
        ),
        ("tools/call", json!({"name": "nope"})),
        ("tools/call", json!({"name": 5})),
        ("no/such/method", json!({})),
    ];
    for (method, params) in calls {
        let mut message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        client.line(&message.to_string()).await;
        let on_stdio = client.reply().await;
        let reply = server
            .send(&Request::message(&message).header("MCP-Protocol-Version", "2025-11-25"))
            .await;
        assert_eq!(reply.json(), on_stdio, "{message}");
        assert_eq!(
            reply.status, 200,
            "an error of the older generation, too: {message}"
        );

        if method == "ping" {
            continue;
        }
        message["params"]["_meta"] = modern_meta();
        client.line(&message.to_string()).await;
        let on_stdio = client.reply().await;
        let request = Request::message(&message)
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method);
        let request = match &message["params"]["name"] {
            Value::String(name) => request.header("Mcp-Name", name),
            Value::Number(name) => request.header("Mcp-Name", &name.to_string()),
            _ => request,
        };
        let reply = server.send(&request).await;
        assert_eq!(reply.json(), on_stdio, "{message}");
        let unknown_method = on_stdio["error"]["code"] == -32_601;
        assert_eq!(reply.status, if unknown_method { 404 } else { 200 }, "{message}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("mcp-session-id"), None);
    }
}

#[tokio::test]
async fn both_protocol_generations_open_on_the_same_address() {
    let server = Server::plain(fixture::index()).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let reply = server.send(&Request::message(&message)).await;
        assert_eq!(reply.json()["result"]["protocolVersion"], version);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let accepted = server.send(&Request::message(&initialized)).await;
        assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
    }
    let reply = server.send(&Request::modern("server/discover", json!({}))).await;
    let instructions = reply.json()["result"]["instructions"].to_string();
    assert!(instructions.contains("Widget handbook"), "{instructions}");
}

#[tokio::test]
async fn what_is_no_message_gets_an_error_of_the_protocol() {
    let server = Server::plain(fixture::index()).await;
    for (body, code) in [
        (&b"{nope"[..], -32_700),
        (b"", -32_700),
        (b" \r\n", -32_700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32_700),
        (b"[]", -32_600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32_600),
        (b"{\"a\":1}", -32_600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}", -32_600),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":[1]}",
            -32_602,
        ),
    ] {
        let reply = server.send(&Request::post(body)).await;
        let shown = String::from_utf8_lossy(body);
        assert_eq!((reply.status, reply.code()), (400, code), "{shown}");
        let id = reply.json().get("id").cloned();
        let want = (code == -32_602).then(|| json!(4));
        assert_eq!(id, want, "no null: {shown}");
    }
    let bad_version = Request::message(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
        .header("MCP-Protocol-Version", "1999-01-01");
    let reply = server.send(&bad_version).await;
    assert_eq!((reply.status, reply.code()), (400, -32_600));
    assert!(reply.body.contains("1999-01-01"), "{}", reply.body);
}

#[tokio::test]
async fn headers_must_agree_with_the_body() {
    let server = Server::plain(fixture::index()).await;
    let search = Request::search("turbine");
    for (request, status, code) in [
        (search.clone(), 200, 0),
        (search.clone().header("Mcp-Method", ""), 400, -32_020),
        (search.clone().header("Mcp-Name", ""), 400, -32_020),
        (search.clone().header("Mcp-Name", "get_section"), 400, -32_020),
        (search.clone().header("MCP-Protocol-Version", ""), 400, -32_020),
        (
            search.clone().header("MCP-Protocol-Version", "2025-11-25"),
            400,
            -32_020,
        ),
    ] {
        let reply = server.send(&request).await;
        assert_eq!((reply.status, reply.code()), (status, code), "{request:?}");
    }
}

#[tokio::test]
async fn media_types_methods_and_paths_have_their_statuses() {
    let server = Server::plain(fixture::index()).await;
    let ping = Request::message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    for (request, status) in [
        (ping.clone(), 200),
        (ping.clone().line("POST /mcp/ HTTP/1.1"), 200),
        (ping.clone().line("POST /mcp?token=x HTTP/1.1"), 200),
        (ping.clone().header("Accept", "application/json"), 200),
        (ping.clone().header("Accept", "*/*"), 200),
        (ping.clone().header("Accept", ""), 200),
        (ping.clone().header("Accept", "text/event-stream"), 406),
        (ping.clone().header("Accept", "text/html"), 406),
        (ping.clone().header("Content-Type", "text/plain"), 415),
        (ping.clone().header("Content-Type", ""), 415),
        (ping.clone().header("Content-Encoding", "gzip"), 415),
        (ping.clone().header("Content-Encoding", "identity"), 200),
        (ping.clone().header("Mcp-Session-Id", "made-up"), 200),
        (ping.clone().line("PUT /mcp HTTP/1.1"), 405),
        (Request::get("/mcp"), 405),
        (Request::get("/mcp").line("DELETE /mcp HTTP/1.1"), 405),
        (ping.clone().line("POST / HTTP/1.1"), 404),
        (ping.clone().line("POST /mcp/x HTTP/1.1"), 404),
        (ping.clone().line("POST /metrics HTTP/1.1"), 405),
        (Request::get("/.well-known/oauth-protected-resource"), 404),
    ] {
        let reply = server.send(&request).await;
        assert_eq!(reply.status, status, "{request:?}");
        if status == 405 && !request.line.contains("metrics") {
            assert_eq!(reply.header("allow"), Some("POST"));
        }
    }
}
