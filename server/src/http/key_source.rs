//! Where the issuer's keys come from, and when they are asked for again.
//!
//! In: the path of a key-set file, or its URL. Out: the key that a token's header asks for, as of now.
//!
//! A file is read at the start, and again when it changed. A URL is asked at the first need, so that a server starts
//! while its issuer is down; then again behind the back of a check when the keys are ten minutes old, and at once for
//! a key that is not there, but not more often than every half a minute: strangers can send any key's name. One
//! request is under way at a time, in a task of its own; whoever needs it waits for it, and nobody who goes away
//! stops it. Keys that are there are used as long as no newer ones can be had.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use bytes::Bytes;
use http::header::{ACCEPT, USER_AGENT};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jsonwebtoken::Algorithm;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio::sync::OwnedMutexGuard;

use crate::error::chain;
use crate::http::key_set::{KeySet, KeySetError};
use crate::http::watched_file::WatchedFile;
use crate::http::web_address::WebAddress;

const MAX_BYTES: usize = 256 * 1024;

/// How often a URL is asked.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Keys of this age are asked for again.
    refresh: Duration,
    /// The least time between two requests.
    pause: Duration,
    /// The same while there are no keys at all, and nobody can be let in.
    pause_without_keys: Duration,
    /// An answer is whole by then.
    timeout: Duration,
}

const PACE: Pace = Pace {
    refresh: Duration::from_secs(600),
    pause: Duration::from_secs(30),
    pause_without_keys: Duration::from_secs(5),
    timeout: Duration::from_secs(5),
};

/// Why there is no key for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// The issuer does not have it.
    Unknown,
    /// The issuer could not be asked so far.
    Unavailable,
}

/// Why keys were not taken.
#[derive(Debug, Error)]
pub(crate) enum KeySourceError {
    #[error("cannot read it")]
    Unreadable(#[from] std::io::Error),
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}

/// Keys from a file or a URL.
#[derive(Debug)]
pub(crate) enum KeySource {
    File(KeyFile),
    Url(Arc<KeyUrl>),
}

impl KeySource {
    /// Reads a key-set file.
    pub(crate) fn file(path: &Path) -> Result<Self, KeySourceError> {
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
        let (file, content) = WatchedFile::open(path, limit)?;
        let keys = KeySet::parse(&content)?;
        Ok(Self::File(KeyFile {
            file,
            current: ArcSwap::from_pointee(keys),
        }))
    }

    /// Prepares to ask a URL. The certificates that this machine trusts are read for `https`.
    pub(crate) fn url(address: WebAddress) -> std::io::Result<Self> {
        Ok(Self::Url(Arc::new(KeyUrl::new(address, None, PACE)?)))
    }

    /// The keys that this one came from, to tell later whether they still are in use.
    pub(crate) fn current(&self) -> Option<Arc<KeySet>> {
        match self {
            Self::File(source) => Some(source.current.load_full()),
            Self::Url(source) => source.keys(),
        }
    }

    /// The keys, of which one is the header's.
    pub(crate) async fn with_key(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Arc<KeySet>, NoKey> {
        match self {
            Self::File(source) => {
                let keys = source.current.load_full();
                let is_there = keys.select(id, algorithm).is_some();
                is_there.then_some(keys).ok_or(NoKey::Unknown)
            }
            Self::Url(source) => source.with_key(id, algorithm).await,
        }
    }

    /// Takes a file's new content; has a URL asked at the next check, with `force`.
    pub(crate) fn reload(&self, force: bool) {
        match self {
            Self::File(source) => source.reload(force),
            Self::Url(source) => {
                if force {
                    source.is_forced.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

/// A key-set file.
#[derive(Debug)]
pub(crate) struct KeyFile {
    file: WatchedFile,
    current: ArcSwap<KeySet>,
}

impl KeyFile {
    fn reload(&self, force: bool) {
        let Some(content) = self.file.changed(force) else {
            return;
        };
        let keys = content
            .map_err(KeySourceError::from)
            .and_then(|content| Ok(KeySet::parse(&content)?));
        let file = self.file.path().display();
        match keys {
            Ok(keys) => {
                tracing::info!(%file, keys = keys.len(), "a new key set is in use");
                self.current.store(Arc::new(keys));
            }
            Err(error) => tracing::error!(
                %file,
                error = chain(&error),
                "the new key set is refused, the old one stays in use"
            ),
        }
    }
}

type HttpsClient = Client<HttpsConnector<HttpConnector>, Empty<Bytes>>;

/// A key set's URL.
#[derive(Debug)]
pub(crate) struct KeyUrl {
    address: WebAddress,
    client: HttpsClient,
    pace: Pace,
    current: ArcSwapOption<Fetched>,
    is_forced: AtomicBool,
    /// When it was last asked. Locked while it is asked.
    asked: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

#[derive(Debug)]
struct Fetched {
    keys: Arc<KeySet>,
    at: Instant,
}

#[derive(Debug, Error)]
enum FetchError {
    #[error("there was no answer in time")]
    Timeout,
    #[error("cannot ask")]
    Request(#[source] hyper_util::client::legacy::Error),
    #[error("the answer has status {0}, not 200")]
    Status(u16),
    #[error("the answer was cut off, or has more than {MAX_BYTES} bytes")]
    Body(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}

impl KeyUrl {
    fn new(address: WebAddress, trusted: Option<RootCertStore>, pace: Pace) -> std::io::Result<Self> {
        // Named, as the process has no default one.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(std::io::Error::other)?;
        let builder = match trusted {
            Some(trusted) => builder.with_root_certificates(trusted),
            None if address.is_https() => builder.with_native_roots()?,
            None => builder.with_root_certificates(RootCertStore::empty()),
        };
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(builder.with_no_client_auth())
            .https_or_http()
            .enable_http1()
            .build();
        // The next request is minutes away.
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build(connector);
        Ok(Self {
            address,
            client,
            pace,
            current: ArcSwapOption::empty(),
            is_forced: AtomicBool::new(false),
            asked: Arc::default(),
        })
    }

    fn keys(&self) -> Option<Arc<KeySet>> {
        self.current
            .load()
            .as_ref()
            .map(|fetched| Arc::clone(&fetched.keys))
    }

    async fn with_key(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Arc<KeySet>, NoKey> {
        if let Some(keys) = self.keys()
            && keys.select(id, algorithm).is_some()
        {
            if self.is_due() {
                self.refresh_behind();
            }
            return Ok(keys);
        }
        self.refresh().await;
        let keys = self.keys().ok_or(NoKey::Unavailable)?;
        let is_there = keys.select(id, algorithm).is_some();
        is_there.then_some(keys).ok_or(NoKey::Unknown)
    }

    fn is_due(&self) -> bool {
        self.is_forced.load(Ordering::Relaxed)
            || self
                .current
                .load()
                .as_ref()
                .is_some_and(|fetched| fetched.at.elapsed() >= self.pace.refresh)
    }

    /// Asks, unless that was done a moment ago; waits for whoever is asking.
    async fn refresh(self: &Arc<Self>) {
        let asked = Arc::clone(&self.asked).lock_owned().await;
        if let Some(task) = self.start(asked) {
            // It ends otherwise only when the whole program does.
            let _ = task.await;
        }
    }

    /// Asks, unless somebody does, and waits for nothing.
    fn refresh_behind(self: &Arc<Self>) {
        if let Ok(asked) = Arc::clone(&self.asked).try_lock_owned() {
            drop(self.start(asked));
        }
    }

    /// The lock goes into the task with the request: a check that is dropped leaves both alone.
    fn start(
        self: &Arc<Self>,
        mut asked: OwnedMutexGuard<Option<Instant>>,
    ) -> Option<tokio::task::JoinHandle<()>> {
        let pause = match *self.current.load() {
            Some(_) => self.pace.pause,
            None => self.pace.pause_without_keys,
        };
        let is_forced = self.is_forced.swap(false, Ordering::Relaxed);
        if !is_forced && asked.is_some_and(|at| at.elapsed() < pause) {
            return None;
        }
        let source = Arc::clone(self);
        Some(tokio::spawn(async move {
            let fetched = match tokio::time::timeout(source.pace.timeout, source.fetch()).await {
                Ok(fetched) => fetched,
                Err(_) => Err(FetchError::Timeout),
            };
            *asked = Some(Instant::now());
            source.take(fetched);
        }))
    }

    fn take(&self, fetched: Result<KeySet, FetchError>) {
        let url = self.address.as_str();
        match fetched {
            Ok(keys) => {
                tracing::debug!(url, keys = keys.len(), "the key set was fetched");
                self.current.store(Some(Arc::new(Fetched {
                    keys: Arc::new(keys),
                    at: Instant::now(),
                })));
            }
            Err(error) => tracing::error!(
                url,
                error = chain(&error),
                has_keys = self.current.load().is_some(),
                "the key set can not be fetched"
            ),
        }
    }

    async fn fetch(&self) -> Result<KeySet, FetchError> {
        let mut request = http::Request::new(Empty::new());
        *request.uri_mut() = self.address.uri().clone();
        let headers = request.headers_mut();
        headers.insert(ACCEPT, http::HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, http::HeaderValue::from_static("docs-server"));
        let response = self.client.request(request).await.map_err(FetchError::Request)?;
        // Another address that an answer names is not asked: it was not given.
        if response.status() != http::StatusCode::OK {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        let body = Limited::new(response.into_body(), MAX_BYTES);
        let bytes = body.collect().await.map_err(FetchError::Body)?.to_bytes();
        Ok(KeySet::parse(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    use serde_json::Value;
    use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::http::key_set::tests::{public, set};

    /// Longer than any test may take.
    const NEVER: Duration = Duration::from_secs(3_600);
    const QUIET: Pace = Pace {
        refresh: NEVER,
        pause: NEVER,
        pause_without_keys: NEVER,
        timeout: NEVER,
    };

    /// An issuer on this machine, which counts how often it is asked.
    struct Issuer {
        port: u16,
        requests: AtomicUsize,
        response: Mutex<Vec<u8>>,
        /// Answers are held back while this has no permit.
        gate: tokio::sync::Semaphore,
    }

    impl Issuer {
        async fn start() -> Arc<Self> {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let issuer = Arc::new(Self {
                port: listener.local_addr().unwrap().port(),
                requests: AtomicUsize::new(0),
                response: Mutex::default(),
                gate: tokio::sync::Semaphore::new(1_000),
            });
            let served = Arc::clone(&issuer);
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let served = Arc::clone(&served);
                    tokio::spawn(async move { served.serve(stream).await });
                }
            });
            issuer
        }

        async fn serve(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.unwrap());
            }
            assert!(request.starts_with(b"GET /keys HTTP/1.1\r\n"));
            self.requests.fetch_add(1, Ordering::SeqCst);
            self.gate.acquire().await.unwrap().forget();
            let response = self.response.lock().unwrap().clone();
            // The client closes early what is too long for it.
            let _ = stream.write_all(&response).await;
            let _ = stream.shutdown().await;
        }

        fn answer(&self, head: &str, body: &[u8]) {
            let mut response = format!(
                "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            )
            .into_bytes();
            response.extend_from_slice(body);
            *self.response.lock().unwrap() = response;
        }

        fn publish(&self, keys: &[Value]) {
            self.answer("200 OK", &set(keys));
        }

        fn requests(&self) -> usize {
            self.requests.load(Ordering::SeqCst)
        }

        fn source(&self, pace: Pace) -> Arc<KeyUrl> {
            let address = WebAddress::parse(&format!("http://127.0.0.1:{}/keys", self.port)).unwrap();
            Arc::new(KeyUrl::new(address, None, pace).unwrap())
        }
    }

    fn key(name: &str) -> Value {
        public("ed", Some(name))
    }

    async fn ask(source: &Arc<KeyUrl>, name: &str) -> Result<(), NoKey> {
        source.with_key(Some(name), Algorithm::EdDSA).await.map(|_| ())
    }

    /// Waits for what another task does.
    async fn eventually(condition: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !condition() {
            assert!(Instant::now() < deadline, "it did not happen in 30 s");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn a_url_is_asked_at_the_first_need_and_then_left_alone() {
        let issuer = Issuer::start().await;
        issuer.publish(&[key("one")]);
        let source = issuer.source(QUIET);
        assert_eq!(issuer.requests(), 0);
        assert!(source.keys().is_none());
        for _ in 0..3 {
            assert_eq!(ask(&source, "one").await, Ok(()));
            assert_eq!(ask(&source, "two").await, Err(NoKey::Unknown));
        }
        assert_eq!(issuer.requests(), 1);
    }

    #[tokio::test]
    async fn a_new_key_is_found_at_once() {
        let issuer = Issuer::start().await;
        issuer.publish(&[key("one")]);
        let source = issuer.source(Pace {
            pause: Duration::ZERO,
            ..QUIET
        });
        assert_eq!(ask(&source, "one").await, Ok(()));
        issuer.publish(&[key("one"), key("two")]);
        assert_eq!(ask(&source, "two").await, Ok(()));
        assert_eq!(issuer.requests(), 2);
        // The old one is given up by its issuer.
        issuer.publish(&[key("two")]);
        assert_eq!(ask(&source, "three").await, Err(NoKey::Unknown));
        assert_eq!(ask(&source, "one").await, Err(NoKey::Unknown));
        assert_eq!(ask(&source, "two").await, Ok(()));
    }

    #[tokio::test]
    async fn old_keys_are_used_while_new_ones_are_fetched() {
        let issuer = Issuer::start().await;
        issuer.publish(&[key("one")]);
        let source = issuer.source(Pace {
            refresh: Duration::ZERO,
            pause: Duration::ZERO,
            ..QUIET
        });
        assert_eq!(ask(&source, "one").await, Ok(()));
        issuer.publish(&[key("two")]);
        issuer.gate.forget_permits(1_000);
        // The issuer does not answer now: nobody waits for it.
        assert_eq!(ask(&source, "one").await, Ok(()));
        assert_eq!(ask(&source, "one").await, Ok(()));
        eventually(|| issuer.requests() == 2).await;
        issuer.gate.add_permits(1_000);
        let has_new = || {
            let keys = source.keys().unwrap();
            keys.select(Some("two"), Algorithm::EdDSA).is_some()
        };
        eventually(has_new).await;
    }

    #[tokio::test]
    async fn many_wait_for_one_request_and_nobody_who_leaves_stops_it() {
        let issuer = Issuer::start().await;
        issuer.publish(&[key("one")]);
        issuer.gate.forget_permits(1_000);
        let source = issuer.source(QUIET);
        let waiting: Vec<_> = (0..50)
            .map(|_| {
                let source = Arc::clone(&source);
                tokio::spawn(async move { ask(&source, "one").await })
            })
            .collect();
        eventually(|| issuer.requests() == 1).await;
        // Whoever sent the request is among the first half.
        for leaving in &waiting[..25] {
            leaving.abort();
        }
        tokio::task::yield_now().await;
        issuer.gate.add_permits(1_000);
        for (at, task) in waiting.into_iter().enumerate() {
            match task.await {
                Ok(found) => assert_eq!(found, Ok(())),
                Err(error) => assert!(error.is_cancelled() && at < 25),
            }
        }
        assert_eq!(issuer.requests(), 1);
    }

    #[tokio::test]
    async fn an_issuer_that_fails_leaves_the_keys_as_they_are() {
        let issuer = Issuer::start().await;
        let source = issuer.source(Pace {
            pause: Duration::ZERO,
            pause_without_keys: Duration::ZERO,
            ..QUIET
        });
        let failures: [(&str, Vec<u8>); 6] = [
            ("500 Internal Server Error", set(&[key("two")])),
            ("404 Not Found", Vec::new()),
            ("302 Found\r\nlocation: /keys", set(&[key("two")])),
            ("200 OK", b"<html>".to_vec()),
            ("200 OK", b"{\"keys\": []}".to_vec()),
            // It would be right, but for its length.
            ("200 OK", [set(&[key("two")]), vec![b' '; MAX_BYTES]].concat()),
        ];
        let fail_all = async || {
            for (head, body) in &failures {
                issuer.answer(head, body);
                let before = issuer.requests();
                assert!(ask(&source, "two").await.is_err(), "{head}");
                assert_eq!(issuer.requests(), before + 1);
            }
        };
        fail_all().await;
        assert_eq!(ask(&source, "one").await, Err(NoKey::Unavailable));
        issuer.publish(&[key("one")]);
        assert_eq!(ask(&source, "one").await, Ok(()));
        fail_all().await;
        assert_eq!(ask(&source, "one").await, Ok(()));
    }

    #[tokio::test]
    async fn an_issuer_that_is_not_there_is_not_asked_again_and_again() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        drop(listener);
        let source = Arc::new(KeyUrl::new(WebAddress::parse(&url).unwrap(), None, QUIET).unwrap());
        for _ in 0..3 {
            assert_eq!(ask(&source, "one").await, Err(NoKey::Unavailable));
        }
        assert!(source.asked.lock().await.is_some());
    }

    #[tokio::test]
    async fn an_issuer_that_does_not_answer_is_given_up() {
        let issuer = Issuer::start().await;
        issuer.gate.forget_permits(1_000);
        let source = issuer.source(Pace {
            timeout: Duration::from_millis(50),
            ..QUIET
        });
        let asked = tokio::time::timeout(Duration::from_secs(30), ask(&source, "one"));
        assert_eq!(asked.await, Ok(Err(NoKey::Unavailable)));
    }

    #[tokio::test]
    async fn a_url_can_be_asked_anew_at_once() {
        let issuer = Issuer::start().await;
        issuer.publish(&[key("one")]);
        let source = issuer.source(QUIET);
        assert_eq!(ask(&source, "one").await, Ok(()));
        issuer.publish(&[key("two")]);
        let any = KeySource::Url(Arc::clone(&source));
        any.reload(false);
        assert_eq!(ask(&source, "two").await, Err(NoKey::Unknown));
        any.reload(true);
        assert_eq!(ask(&source, "two").await, Ok(()));
        assert_eq!(issuer.requests(), 2);
    }

    #[tokio::test]
    async fn https_is_asked_only_where_the_certificate_is_trusted() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let private = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], private)
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let issuer = Issuer::start().await;
        issuer.publish(&[key("one")]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/keys", listener.local_addr().unwrap().port());
        let served = Arc::clone(&issuer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(stream) = acceptor.accept(stream).await {
                    served.serve(stream).await;
                }
            }
        });
        let address = WebAddress::parse(&url).unwrap();
        let strange = KeyUrl::new(address.clone(), Some(RootCertStore::empty()), QUIET).unwrap();
        assert_eq!(ask(&Arc::new(strange), "one").await, Err(NoKey::Unavailable));
        assert_eq!(issuer.requests(), 0);
        let mut trusted = RootCertStore::empty();
        trusted.add(certificate).unwrap();
        let known = KeyUrl::new(address, Some(trusted), QUIET).unwrap();
        assert_eq!(ask(&Arc::new(known), "one").await, Ok(()));
    }
}
