//! Figures of a running server, in the text format of `OpenMetrics` 1.0, which Prometheus reads.
//!
//! In: requests, calls and connections as they end; what is served. Out: the page that a monitoring system fetches.
//! Labels take only values that we choose, never a client's, so their number is bounded.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::connection::Ended;
use crate::call_record::Called;
use crate::handler::DocsServer;

/// What the page is, to the client that reads it.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the latency histograms' buckets, in seconds.
const LATENCY_BOUNDS: [f64; 12] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5,
];

/// Names of labels with their values.
type Labels = Vec<(&'static str, String)>;

/// All figures.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    request_seconds: Histogram,
    calls: Family<Labels, Counter>,
    call_seconds: Family<Labels, Histogram>,
    result_bytes: Family<Labels, Counter>,
    open_connections: Gauge,
    connections: Counter,
    turned_away: Counter,
    cut_off: Family<[(&'static str, &'static str); 1], Counter>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("docs_server");
        let latency = || Histogram::new(LATENCY_BOUNDS);
        let metrics = Self {
            requests: Family::default(),
            request_seconds: latency(),
            calls: Family::default(),
            call_seconds: Family::new_with_constructor(|| Histogram::new(LATENCY_BOUNDS)),
            result_bytes: Family::default(),
            open_connections: Gauge::default(),
            connections: Counter::default(),
            turned_away: Counter::default(),
            cut_off: Family::default(),
            registry: Registry::default(),
        };
        registry.register(
            "http_requests",
            "HTTP requests by path and status",
            metrics.requests.clone(),
        );
        registry.register_with_unit(
            "http_request_duration",
            "Time from the head of a request to its answer",
            Unit::Seconds,
            metrics.request_seconds.clone(),
        );
        registry.register(
            "tool_calls",
            "Tool calls by tool and outcome",
            metrics.calls.clone(),
        );
        registry.register_with_unit(
            "tool_call_duration",
            "Time of the HTTP requests that called a tool",
            Unit::Seconds,
            metrics.call_seconds.clone(),
        );
        registry.register_with_unit(
            "tool_result",
            "Bytes of text in tool results",
            Unit::Bytes,
            metrics.result_bytes.clone(),
        );
        registry.register(
            "connections_open",
            "Connections that are open",
            metrics.open_connections.clone(),
        );
        registry.register(
            "connections",
            "Connections that were accepted",
            metrics.connections.clone(),
        );
        registry.register(
            "connections_turned_away",
            "Connections closed at once, since too many were open",
            metrics.turned_away.clone(),
        );
        registry.register(
            "connections_cut_off",
            "Connections ended by the server, by reason",
            metrics.cut_off.clone(),
        );
        Self { registry, ..metrics }
    }

    /// A request was answered, and called a tool if `call` says so.
    pub(super) fn request(
        &self,
        path: &'static str,
        status: http::StatusCode,
        took: Duration,
        call: Option<&Called>,
    ) {
        let labels = vec![("path", path.to_owned()), ("status", status.as_str().to_owned())];
        self.requests.get_or_create(&labels).inc();
        self.request_seconds.observe(took.as_secs_f64());
        let Some(call) = call else { return };
        let tool = vec![("tool", call.tool.clone().unwrap_or_else(|| "unknown".to_owned()))];
        self.call_seconds.get_or_create(&tool).observe(took.as_secs_f64());
        let bytes = u64::try_from(call.text_bytes).unwrap_or(u64::MAX);
        self.result_bytes.get_or_create(&tool).inc_by(bytes);
        let mut labels = tool;
        labels.push(("outcome", call.outcome.as_str().to_owned()));
        self.calls.get_or_create(&labels).inc();
    }

    /// A connection was accepted; it counts as open until the guard is dropped.
    pub(super) fn connected(&self) -> impl Drop + Send + use<> {
        struct Open(Gauge);
        impl Drop for Open {
            fn drop(&mut self) {
                self.0.dec();
            }
        }
        self.connections.inc();
        self.open_connections.inc();
        Open(self.open_connections.clone())
    }

    /// A connection found no room.
    pub(super) fn turned_away(&self) {
        self.turned_away.inc();
    }

    /// A connection has ended.
    pub(super) fn disconnected(&self, ended: Ended) {
        let reason = match ended {
            Ended::Closed => return,
            Ended::NoRequest => "no_request",
            Ended::BrokenOff => "broken_off",
            Ended::HeaderTimeout => "header_timeout",
            Ended::IdleTimeout => "idle_timeout",
        };
        self.cut_off.get_or_create(&[("reason", reason)]).inc();
    }

    /// The page, with what is served at this moment.
    pub(super) fn page(&self, server: &DocsServer) -> String {
        let mut page = String::with_capacity(8 << 10);
        // Writing to a string does not fail.
        let _ = encode(&mut page, &self.registry);
        page.truncate(page.rfind("# EOF").unwrap_or(page.len()));
        let _ = encode(&mut page, &registry_of_now(server));
        page
    }
}

/// What others count, and what is served now: made anew for each page, since labels of an index that was replaced must
/// not stay.
fn registry_of_now(server: &DocsServer) -> Registry {
    let served = server.served();
    let edition = served.current();
    let summary = edition.summary();
    let mut now = Registry::default();
    let again = Counter::<u64>::default();
    again.inc_by(server.answers_given_again());
    now.sub_registry_with_prefix("docs_server").register(
        "answer_cache_hits",
        "Answers that were given again",
        again,
    );
    let registry = now.sub_registry_with_prefix("docs_index");
    registry.register(
        "served",
        "The index that is served",
        Info::new(vec![("content_hash", summary.content_hash.clone())]),
    );
    let mut gauge = |name: &str, help: &str, value: u64| {
        let gauge = Gauge::<u64, AtomicU64>::default();
        gauge.set(value);
        registry.register(name, help, gauge);
    };
    gauge("documents", "Pages in the index", u64::from(summary.documents));
    gauge("sections", "Sections in the index", u64::from(summary.sections));
    gauge("bytes", "Bytes of the index file", summary.file_bytes);
    let mut counter = |name: &str, help: &str, value: u64| {
        let counter = Counter::<u64>::default();
        counter.inc_by(value);
        registry.register(name, help, counter);
    };
    counter(
        "swaps",
        "Times that a new index took the place of the one served",
        served.swaps(),
    );
    counter(
        "swaps_refused",
        "Times that a new index file was refused, since it was damaged or no index",
        served.refusals(),
    );
    now
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}
