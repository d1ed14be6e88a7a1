//! Answers that refuse a request before it reaches the protocol.
//!
//! In: a status and the reason. Out: a response whose body is a JSON-RPC error without an id, as the transport's
//! specification allows: the request's id is not known, or not to be trusted, at that point.

use axum::body::Body;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::wire::INVALID_REQUEST;

/// A refusal with the JSON-RPC code for a request that can not be served as it is.
pub(super) fn refusal(status: StatusCode, message: &str) -> Response<Body> {
    let body = json!({"jsonrpc": "2.0", "error": {"code": INVALID_REQUEST, "message": message}});
    with_body(status, body.to_string().into())
}

/// A refusal whose body is made already.
pub(super) fn with_body(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// 405, with what is allowed.
pub(super) fn method_not_allowed(allowed: &'static str) -> Response<Body> {
    let mut response = refusal(
        StatusCode::METHOD_NOT_ALLOWED,
        &format!("Method Not Allowed: use {allowed}; there are no streams and no sessions"),
    );
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// A refusal that says after how many seconds to try again.
pub(super) fn try_again(status: StatusCode, message: &str, seconds: u64) -> Response<Body> {
    let mut response = refusal(status, message);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// A refusal that asks for a token.
pub(super) fn challenge(status: StatusCode, message: &str, challenge: HeaderValue) -> Response<Body> {
    let mut response = refusal(status, message);
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}
