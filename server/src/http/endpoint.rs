//! `/mcp`: one message of the protocol in the body of a POST, its answer in the reply.
//!
//! In: a request that was let in. Out: the SDK's answer, as JSON. The transport is the streamable HTTP of MCP without
//! sessions and streams: each request stands for itself, so any replica can answer it. Both protocol generations are
//! served; the SDK tells them apart and checks their headers.
//!
//! The body is read here, not by the SDK, so that what is no JSON or no message gets an error of the protocol; and so
//! that a slow client holds no slot: those are given out when the body has arrived. Replies are always JSON, so a client
//! need not say that it would accept an event stream.

use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, EXPECT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::exchange::Exchange;
use super::refusal::{method_not_allowed, refusal, try_again, with_body};
use crate::handler::DocsServer;
use crate::wire::{self, Message};

/// Bytes of a body over the limit that are read and thrown away, so that the client gets to read the refusal.
const MAX_THROWN_AWAY: usize = 16 << 20;

/// What the SDK wants to see accepted; it does not matter to a client that gets JSON in any case.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The one address of the protocol.
pub(super) struct Endpoint {
    service: StreamableHttpService<Arc<DocsServer>, NeverSessionManager>,
    slots: Semaphore,
    max_body_bytes: usize,
    notes_queries: bool,
}

impl Endpoint {
    /// Serves with at most so many requests at once, none with a larger body.
    pub(super) fn new(
        server: Arc<DocsServer>,
        concurrent_requests: usize,
        max_body_bytes: usize,
        notes_queries: bool,
    ) -> Self {
        // Hosts and origins have been checked before, for all addresses and by one list.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(usize::MAX)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let service = StreamableHttpService::new(
            move || Ok(Arc::clone(&server)),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        Self {
            service,
            slots: Semaphore::new(concurrent_requests),
            max_body_bytes,
            notes_queries,
        }
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Body>, exchange: &Exchange) -> Response<Body> {
        if request.method() != Method::POST {
            return method_not_allowed("POST");
        }
        if !is_json(request.headers()) {
            return refusal(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Unsupported Media Type: Content-Type must be application/json",
            );
        }
        if is_encoded(request.headers()) {
            return refusal(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Unsupported Media Type: send the body without a Content-Encoding",
            );
        }
        if !accepts_json(request.headers()) {
            return refusal(
                StatusCode::NOT_ACCEPTABLE,
                "Not Acceptable: answers are application/json",
            );
        }
        let (mut head, body) = request.into_parts();
        let body = match self.read(&head.headers, body).await {
            Ok(body) => body,
            Err(response) => return *response,
        };
        exchange.note(|notes| notes.request_bytes = body.len());
        let message = match wire::read(&body) {
            Ok(Some(message)) => message,
            Ok(None) => {
                return with_body(StatusCode::BAD_REQUEST, wire::Refusal::empty().without_id());
            }
            Err(refusal) => return with_body(StatusCode::BAD_REQUEST, refusal.without_id()),
        };
        let body = match message {
            Message::Request(message) | Message::Notification(message) => {
                self.note(&message, exchange);
                Bytes::from(message.to_string())
            }
            Message::Response => {
                let why = "we ask nothing of clients, so there is nothing to answer";
                let refusal = wire::Refusal::invalid(Value::Null, why);
                return with_body(StatusCode::BAD_REQUEST, refusal.without_id());
            }
        };
        let Ok(_slot) = self.slots.try_acquire() else {
            return try_again(
                StatusCode::SERVICE_UNAVAILABLE,
                "Service Unavailable: too many requests at once",
                1,
            );
        };
        head.headers.insert(ACCEPT, ACCEPTED);
        head.extensions.insert(exchange.call().clone());
        let request = Request::from_parts(head, Full::new(body));
        // The SDK's future is large, and each layer around this one would copy it.
        let response = Box::pin(self.service.handle(request)).await;
        if response.status().is_client_error() && !is_json(response.headers()) {
            // The SDK refuses some requests in words only.
            let (head, body) = response.into_parts();
            let words = match body.collect().await {
                Ok(body) => body.to_bytes(),
                Err(never) => match never {},
            };
            return refusal(head.status, &String::from_utf8_lossy(&words));
        }
        response.map(Body::new)
    }

    /// The whole body, or the response that refuses it.
    async fn read(&self, headers: &HeaderMap, mut body: Body) -> Result<Vec<u8>, Box<Response<Body>>> {
        let too_large = || {
            Box::new(refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("Payload Too Large: a body may have {} bytes", self.max_body_bytes),
            ))
        };
        let announced = body.size_hint().lower();
        let is_too_large = announced > u64::try_from(self.max_body_bytes).unwrap_or(u64::MAX);
        if is_too_large && headers.contains_key(EXPECT) {
            // The client waits for our word before it sends anything.
            return Err(too_large());
        }
        let mut whole = Vec::new();
        let mut seen = 0_usize;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                let broke_off = "Bad Request: the body broke off";
                return Err(Box::new(refusal(StatusCode::BAD_REQUEST, broke_off)));
            };
            let Some(data) = frame.data_ref() else { continue };
            seen = seen.saturating_add(data.len());
            if seen > MAX_THROWN_AWAY {
                break;
            }
            if seen <= self.max_body_bytes && !is_too_large {
                whole.extend_from_slice(data);
            }
        }
        if seen > self.max_body_bytes {
            return Err(too_large());
        }
        Ok(whole)
    }

    /// Notes what is asked for, as far as the log may have it.
    fn note(&self, message: &Value, exchange: &Exchange) {
        let method = message.get("method").and_then(Value::as_str);
        let query = self.notes_queries.then(|| {
            let arguments = message.get("params")?.get("arguments")?.as_object()?;
            let asked = ["query", "id"].iter().find_map(|name| arguments.get(*name));
            asked.and_then(Value::as_str).map(str::to_owned)
        });
        exchange.note(|notes| {
            notes.method = method.map(str::to_owned);
            notes.query = query.flatten();
        });
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else {
        return false;
    };
    only.to_str()
        .is_ok_and(|value| media_type(value) == "application/json")
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether a client takes JSON: it says so, or it says nothing.
fn accepts_json(headers: &HeaderMap) -> bool {
    let mut ranges = headers
        .get_all(ACCEPT)
        .iter()
        .flat_map(|value| value.to_str().unwrap_or_default().split(','))
        .peekable();
    ranges.peek().is_none()
        || ranges.any(|range| {
            let refused = range
                .split(';')
                .skip(1)
                .any(|parameter| matches!(parameter.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
            !refused && matches!(&*media_type(range), "application/json" | "application/*" | "*/*")
        })
}

fn media_type(value: &str) -> String {
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &http::HeaderName, values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn whoever_takes_json_is_served() {
        for (values, want) in [
            (&[][..], true),
            (&["application/json, text/event-stream"], true),
            (&["text/event-stream", "application/json"], true),
            (&["application/json"], true),
            (&["Application/JSON; charset=utf-8"], true),
            (&["*/*"], true),
            (&["text/html, */*;q=0.8"], true),
            (&["application/*"], true),
            (&["text/event-stream"], false),
            (&["text/html"], false),
            (&["application/json;q=0"], false),
            (&["application/json; q=0.0, text/html"], false),
            (&[""], false),
        ] {
            assert_eq!(accepts_json(&headers(&ACCEPT, values)), want, "{values:?}");
        }
    }

    #[test]
    fn a_body_says_that_it_is_json() {
        for (values, want) in [
            (&["application/json"][..], true),
            (&["Application/Json;charset=utf-8"], true),
            (&[], false),
            (&["text/plain"], false),
            (&["application/jsonp"], false),
            (&["application/json", "text/plain"], false),
        ] {
            assert_eq!(is_json(&headers(&CONTENT_TYPE, values)), want, "{values:?}");
        }
    }
}
