//! The addresses of the server, and the layers around them.
//!
//! In: a request and its peer. Out: the answer. From the outside in:
//!
//! ```text
//! observe ── counts and logs what comes out
//!   /healthz, /readyz ── for whoever runs the server; they tell nothing of what is served
//!   place ── the right host, no foreign page
//!     CORS ── answers the preflights of pages that are allowed
//!       /.well-known/oauth-protected-resource ── where to get a token
//!       admission ── token, rate
//!         /metrics
//!         time limit ── /mcp
//! ```

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get};
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::timeout::TimeoutLayer;

use super::access_log::{self, AccessLog, Answered};
use super::admission::Admission;
use super::checkup::Checkup;
use super::endpoint::Endpoint;
use super::exchange::Exchange;
use super::metrics::{self, Metrics};
use super::refusal::refusal;
use crate::handler::DocsServer;

/// How long a browser may remember what a preflight said.
const PREFLIGHT_AGE: Duration = Duration::from_secs(3_600);

/// Where a connection comes from; its requests carry it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// All that answers need.
pub(super) struct Site {
    pub(super) admission: Admission,
    pub(super) endpoint: Endpoint,
    pub(super) metrics: Metrics,
    pub(super) access_log: AccessLog,
    pub(super) server: Arc<DocsServer>,
    /// No further requests are wanted.
    pub(super) is_draining: AtomicBool,
    pub(super) checkup: Arc<Checkup>,
}

/// Puts the layers together.
pub(super) fn router(site: &Arc<Site>, request_timeout: Duration) -> Router {
    let state = || Arc::clone(site);
    let protocol = Router::new()
        .route("/mcp", any(answer_message))
        .route("/mcp/", any(answer_message))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::REQUEST_TIMEOUT,
            request_timeout,
        ))
        .route("/metrics", get(answer_metrics))
        .layer(from_fn_with_state(state(), admit));
    let open = match site.admission.authentication.metadata() {
        None => protocol,
        Some(resource) => resource
            .paths()
            .iter()
            .fold(protocol, |router, path| router.route(path, get(answer_resource))),
    };
    open.layer(cors(site))
        .layer(from_fn_with_state(state(), check_place))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(answer_ready))
        .fallback(async || refusal(StatusCode::NOT_FOUND, "Not Found: the protocol is spoken at /mcp"))
        .layer(from_fn_with_state(state(), observe))
        .with_state(state())
}

/// What pages of allowed origins may do. Others never come this far.
fn cors(site: &Arc<Site>) -> CorsLayer {
    let allow_list = Arc::clone(&site.admission.allow_list);
    let request_headers = [
        AUTHORIZATION,
        CONTENT_TYPE,
        HeaderName::from_static("accept"),
        HeaderName::from_static("last-event-id"),
        HeaderName::from_static("mcp-method"),
        HeaderName::from_static("mcp-name"),
        HeaderName::from_static("mcp-protocol-version"),
        HeaderName::from_static("mcp-session-id"),
    ];
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| {
            allow_list.allows_origin(origin)
        }))
        .allow_methods([Method::POST, Method::GET])
        .allow_headers(request_headers)
        .expose_headers([WWW_AUTHENTICATE, RETRY_AFTER])
        .max_age(PREFLIGHT_AGE)
        .vary([ORIGIN])
}

async fn observe(State(site): State<Arc<Site>>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let exchange = Exchange::default();
    let peer = request.extensions().get::<Peer>().copied();
    if let Some(Peer(peer)) = peer {
        let address = site.admission.address(peer.ip(), request.headers());
        exchange.note(|notes| notes.address = Some(address));
    }
    request.extensions_mut().insert(exchange.clone());
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let (known, is_probe) = known_path(&path);
    let took = began.elapsed();
    site.metrics
        .request(known, response.status(), took, exchange.call().get());
    if site.access_log != AccessLog::Off && !is_probe {
        let answered = Answered {
            method: &method,
            path: &path,
            status: response.status(),
            took,
            response_bytes: response.body().size_hint().lower(),
        };
        access_log::write(&answered, &exchange);
    }
    response
}

/// The path as a label, and whether it is asked so often by machines that a log would hold little else.
fn known_path(path: &str) -> (&'static str, bool) {
    match path {
        "/mcp" | "/mcp/" => ("/mcp", false),
        "/metrics" => ("/metrics", true),
        "/healthz" => ("/healthz", true),
        "/readyz" => ("/readyz", true),
        path if path.starts_with("/.well-known/") => ("/.well-known", false),
        _ => ("other", false),
    }
}

async fn check_place(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let exchange = exchange(&request);
    match site
        .admission
        .check_place(request.uri(), request.headers(), &exchange)
    {
        Ok(()) => next.run(request).await,
        Err(response) => *response,
    }
}

async fn admit(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let exchange = exchange(&request);
    match site.admission.admit(request.headers(), &exchange).await {
        Ok(()) => next.run(request).await,
        Err(response) => *response,
    }
}

async fn answer_message(State(site): State<Arc<Site>>, request: Request) -> Response {
    let exchange = exchange(&request);
    let mut response = site.endpoint.answer(request, &exchange).await;
    // Answers are made for one client and may hold what only it may read.
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn answer_metrics(State(site): State<Arc<Site>>) -> Response {
    with_type(site.metrics.page(&site.server), metrics::CONTENT_TYPE)
}

async fn answer_resource(State(site): State<Arc<Site>>) -> Response {
    match site.admission.authentication.metadata() {
        Some(resource) => with_type(resource.document(), "application/json"),
        None => refusal(StatusCode::NOT_FOUND, "Not Found"),
    }
}

async fn answer_ready(State(site): State<Arc<Site>>) -> Response {
    let not_ready = |why| refusal(StatusCode::SERVICE_UNAVAILABLE, why);
    if site.is_draining.load(Ordering::Relaxed) {
        not_ready("Service Unavailable: the server is stopping")
    } else if site.checkup.finds_damaged(site.server.served()) {
        not_ready("Service Unavailable: the index is damaged")
    } else {
        Response::new(Body::from("ready\n"))
    }
}

fn with_type(body: impl Into<Body>, media_type: &'static str) -> Response {
    let mut response = Response::new(body.into());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// The notes that `observe` put beside the request.
fn exchange(request: &Request) -> Exchange {
    request.extensions().get().cloned().unwrap_or_default()
}
