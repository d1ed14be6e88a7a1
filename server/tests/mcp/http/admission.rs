//! Who is let in.

use docs_server::http::{AuthenticationOptions, HttpOptions, HttpServer, OAuthOptions, bind};
use docs_server::{Served, StartError};
use serde_json::json;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::client::{Request, Server, until};
use crate::fixture;

const TOKEN: &str = "s3cret-token-of-the-test";

fn ping() -> Request {
    Request::message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
}

fn with_token(token: &str) -> Request {
    ping().header("Authorization", &format!("Bearer {token}"))
}

fn options() -> HttpOptions {
    HttpOptions {
        allowed_hosts: vec!["docs.example".to_owned()],
        allowed_origins: vec!["https://app.example".to_owned()],
        ..HttpOptions::default()
    }
}

#[tokio::test]
async fn foreign_hosts_and_pages_are_refused_wherever_there_is_something_to_see() {
    let server = Server::with(fixture::index(), &options()).await;
    for (name, value, status) in [
        ("Host", "docs.example", 200),
        ("Host", "docs.example:9", 200),
        ("Host", "127.0.0.1", 200),
        ("Host", "evil.example", 403),
        ("Host", "", 400),
        ("Origin", "https://app.example", 200),
        ("Origin", "http://localhost:6274", 200),
        ("Origin", "https://evil.example", 403),
        ("Origin", "null", 403),
    ] {
        let reply = server.send(&ping().header(name, value)).await;
        assert_eq!(reply.status, status, "{name}: {value}");
        if status != 200 {
            assert_eq!(reply.code(), -32_600, "{}", reply.body);
            assert_eq!(reply.header("access-control-allow-origin"), None);
        }
        let metrics = server.send(&Request::get("/metrics").header(name, value)).await;
        assert_eq!(metrics.status, status, "{name}: {value}");
        if name == "Origin" || !value.is_empty() {
            let health = server.send(&Request::get("/healthz").header(name, value)).await;
            assert_eq!(health.status, 200, "probes come by address: {name}: {value}");
        }
    }
}

#[tokio::test]
async fn pages_of_allowed_origins_may_read_answers_and_send_the_protocols_headers() {
    let server = Server::with(fixture::index(), &options()).await;
    let preflight = Request::get("/mcp")
        .line("OPTIONS /mcp HTTP/1.1")
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "mcp-method,mcp-name");
    let allowed = server
        .send(&preflight.clone().header("Origin", "https://app.example"))
        .await;
    assert_eq!(allowed.status, 200);
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    let headers = allowed.header("access-control-allow-headers").unwrap();
    for name in [
        "authorization",
        "content-type",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
    ] {
        assert!(
            headers.split(',').any(|header| header.trim() == name),
            "{headers}"
        );
    }
    let refused = server
        .send(&preflight.header("Origin", "https://evil.example"))
        .await;
    assert_eq!(refused.status, 403);
    let answer = server.send(&ping().header("Origin", "https://app.example")).await;
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    let exposed = answer.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("www-authenticate"), "{exposed}");
    assert_eq!(
        server.send(&ping()).await.header("access-control-allow-origin"),
        None
    );
}

#[tokio::test]
async fn a_token_is_asked_for_and_can_be_changed_while_the_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    std::fs::write(&file, format!("# of the team\nci {TOKEN}\n")).unwrap();
    let options = HttpOptions {
        authentication: AuthenticationOptions {
            token_file: Some(file.clone()),
            tokens: Some("laptop another-token-of-the-test".to_owned()),
            ..AuthenticationOptions::default()
        },
        ..options()
    };
    let server = Server::with(fixture::index(), &options).await;
    for (request, status) in [
        (ping(), 401),
        (with_token(TOKEN), 200),
        (with_token("another-token-of-the-test"), 200),
        (with_token("s3cret-token-of-the-tesu"), 401),
        (ping().header("Authorization", "Basic dXNlcjpwYXNz"), 401),
        (
            ping().line(&format!("POST /mcp?access_token={TOKEN} HTTP/1.1")),
            401,
        ),
        (Request::get("/metrics"), 401),
        (Request::get("/healthz"), 200),
        (Request::get("/readyz"), 200),
    ] {
        let reply = server.send(&request).await;
        assert_eq!(reply.status, status, "{request:?}");
        if status == 401 {
            let challenge = reply.header("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer realm="), "{challenge}");
            assert!(
                !challenge.contains("resource_metadata"),
                "no OAuth here: {challenge}"
            );
            assert!(!reply.body.contains(TOKEN));
        }
    }
    // A preflight carries no token.
    let preflight = Request::get("/mcp")
        .line("OPTIONS /mcp HTTP/1.1")
        .header("Origin", "https://app.example")
        .header("Access-Control-Request-Method", "POST");
    assert_eq!(server.send(&preflight).await.status, 200);

    std::fs::write(&file, "ci the-next-token-of-the-test\n").unwrap();
    until(|| async {
        server
            .send(&with_token("the-next-token-of-the-test"))
            .await
            .status
            == 200
    })
    .await;
    assert_eq!(server.send(&with_token(TOKEN)).await.status, 401);
    // What makes no sense changes nothing.
    std::fs::write(&file, "short\n").unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    assert_eq!(
        server
            .send(&with_token("the-next-token-of-the-test"))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn whoever_asks_too_often_waits_each_for_himself() {
    let mut options = options();
    options.limits.requests_per_second = NonZeroU32::new(1);
    options.limits.burst = NonZeroU32::new(3).unwrap();
    options.authentication.tokens = Some(format!("a {TOKEN} b another-token-of-the-test"));
    let server = Server::with(fixture::index(), &options).await;
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let reply = server.send(&with_token(TOKEN)).await;
        statuses.push(reply.status);
        if reply.status == 429 {
            let seconds: u64 = reply.header("retry-after").unwrap().parse().unwrap();
            assert!(seconds >= 1, "{seconds}");
        }
    }
    assert!(statuses.starts_with(&[200, 200, 200]), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    let other = server.send(&with_token("another-token-of-the-test")).await;
    assert_eq!(other.status, 200);
    // Guesses count for the address they come from.
    let mut guesses = Vec::new();
    for _ in 0..6 {
        guesses.push(server.send(&with_token("a-guess-that-is-wrong")).await.status);
    }
    assert!(guesses.starts_with(&[401, 401, 401]), "{guesses:?}");
    assert!(guesses.contains(&429), "{guesses:?}");
    assert_eq!(server.send(&Request::get("/healthz")).await.status, 200);
}

#[tokio::test]
async fn a_proxy_that_is_trusted_says_who_asks() {
    let mut options = options();
    options.limits.requests_per_second = NonZeroU32::new(1);
    options.limits.burst = NonZeroU32::new(1).unwrap();
    options.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap(), "10.0.0.0/8".parse().unwrap()];
    let server = Server::with(fixture::index(), &options).await;
    let from = |hops: &str| ping().header("X-Forwarded-For", hops);
    for (hops, status) in [
        ("203.0.113.1", 200),
        ("203.0.113.1", 429),
        // What the client itself put in front changes nothing, nor does a second proxy.
        ("198.51.100.7, 203.0.113.1", 429),
        ("203.0.113.1, 10.0.0.9", 429),
        ("203.0.113.2", 200),
        ("nonsense", 200),
    ] {
        assert_eq!(server.send(&from(hops)).await.status, status, "{hops}");
    }
}

#[tokio::test]
async fn an_address_that_others_reach_needs_tokens_and_a_name() {
    let with = |host: bool, token: bool| {
        let mut options = HttpOptions::default();
        if host {
            options.allowed_hosts.push("docs.example".to_owned());
        }
        if token {
            options.authentication.tokens = Some(format!("ci {TOKEN}"));
        }
        options
    };
    let mut told = Vec::new();
    for (host, token) in [(false, false), (true, false), (false, true)] {
        let served = Arc::new(Served::new(Arc::new(fixture::index())));
        let server = HttpServer::new(served, &with(host, token)).unwrap();
        let listener = bind("0.0.0.0:0").await.unwrap();
        let error = server.run(listener, std::future::pending()).await.unwrap_err();
        assert!(matches!(error, StartError::Exposed { .. }) && error.is_usage());
        told.push(error.remedy().unwrap());
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    add --token-file FILE (or --oauth-resource URL) and --allow-host NAME, the name that clients call it by, or listen at 127.0.0.1
    add --token-file FILE (or --oauth-resource URL), or listen at 127.0.0.1
    add --allow-host NAME, the name that clients call it by, or listen at 127.0.0.1
    ");
    let served = Arc::new(Served::new(Arc::new(fixture::index())));
    let server = HttpServer::new(served, &with(true, true)).unwrap();
    let listener = bind("0.0.0.0:0").await.unwrap();
    server.run(listener, std::future::ready(())).await.unwrap();
}

/// The public half of `tests/keys/ed.pem`.
const PUBLIC_KEY: &str = "8XdkQh1cZGjXtBwgyv_b03I8794-EL3pyITcKLi-lEs";
const ISSUER: &str = "https://login.example";
const RESOURCE: &str = "https://docs.example/mcp";

/// A token of the authorization server, signed by one of the test keys.
fn access_token(key: &str, claims: &serde_json::Value) -> String {
    let path = format!("{}/tests/keys/{key}.pem", env!("CARGO_MANIFEST_DIR"));
    let key = jsonwebtoken::EncodingKey::from_ed_pem(&std::fs::read(path).unwrap()).unwrap();
    let mut header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::EdDSA);
    header.kid = Some("one".to_owned());
    jsonwebtoken::encode(&header, claims, &key).unwrap()
}

#[tokio::test]
async fn access_tokens_are_judged_and_whoever_has_none_is_told_where_to_get_one() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.json");
    let set =
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "use": "sig", "x": PUBLIC_KEY}]});
    std::fs::write(&keys, set.to_string()).unwrap();
    let oauth = OAuthOptions {
        resource: RESOURCE.to_owned(),
        issuers: vec![ISSUER.to_owned()],
        key_set: keys.to_str().unwrap().to_owned(),
        audiences: Vec::new(),
        scopes: vec!["docs.read".to_owned()],
    };
    let options = HttpOptions {
        authentication: AuthenticationOptions {
            oauth: Some(oauth),
            ..AuthenticationOptions::default()
        },
        ..options()
    };
    let server = Server::with(fixture::index(), &options).await;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let claims = |changed: serde_json::Value| {
        let mut claims =
            json!({"iss": ISSUER, "aud": RESOURCE, "sub": "u", "exp": now + 600, "scope": "docs.read"});
        for (name, value) in changed.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    };
    let good = access_token("ed", &claims(json!({})));
    let [_, payload, _] = good.split('.').collect::<Vec<_>>()[..] else {
        panic!("{good}");
    };
    // {"alg":"none"}
    let unsigned = format!("eyJhbGciOiJub25lIn0.{payload}.");
    let cases = [
        ("good", good.clone(), 200, None),
        (
            "expired",
            access_token("ed", &claims(json!({"exp": now - 600}))),
            401,
            Some("invalid_token"),
        ),
        (
            "of another audience",
            access_token("ed", &claims(json!({"aud": "https://other.example/mcp"}))),
            401,
            Some("invalid_token"),
        ),
        (
            "of another issuer",
            access_token("ed", &claims(json!({"iss": "https://evil.example"}))),
            401,
            Some("invalid_token"),
        ),
        (
            "of another key",
            access_token("ed-other", &claims(json!({}))),
            401,
            Some("invalid_token"),
        ),
        ("without a signature", unsigned, 401, Some("invalid_token")),
        (
            "without the scope",
            access_token("ed", &claims(json!({"scope": "openid"}))),
            403,
            Some("insufficient_scope"),
        ),
    ];
    for (name, token, status, error) in cases {
        let reply = server.send(&with_token(&token)).await;
        assert_eq!(reply.status, status, "{name}: {}", reply.body);
        let challenge = reply.header("www-authenticate").unwrap_or_default();
        if let Some(error) = error {
            assert!(
                challenge.contains(&format!("error=\"{error}\"")),
                "{name}: {challenge}"
            );
            assert!(
                challenge.contains(
                    "resource_metadata=\"https://docs.example/.well-known/oauth-protected-resource/mcp\""
                ),
                "{name}: {challenge}"
            );
            assert!(!reply.body.contains(payload), "{name}");
        }
    }
    let bare = server.send(&ping()).await;
    let challenge = bare.header("www-authenticate").unwrap();
    assert_eq!(bare.status, 401);
    assert!(
        challenge.contains("resource_metadata") && challenge.contains("docs.read"),
        "{challenge}"
    );
    assert!(!challenge.contains("error="), "{challenge}");
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        let metadata = server.send(&Request::get(path)).await;
        assert_eq!(metadata.status, 200);
        let metadata = metadata.json();
        assert_eq!(metadata["resource"], RESOURCE);
        assert_eq!(metadata["authorization_servers"], json!([ISSUER]));
        assert_eq!(metadata["scopes_supported"], json!(["docs.read"]));
        let foreign = Request::get(path).header("Host", "evil.example");
        assert_eq!(server.send(&foreign).await.status, 403);
    }
}
