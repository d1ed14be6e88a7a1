//! Many clients over streamable HTTP.
//!
//! In: a listener that is bound, what is served, and a future that ends it. Out: answers at `/mcp`, the same ones as on
//! stdio, and what operators need beside them. A connection passes `connection` (and `tls`), a request `site` (the
//! layers), `admission` (who), `endpoint` (the protocol).
//!
//! ```no_run
//! use std::sync::Arc;
//! use docs_server::{Served, http};
//!
//! # async fn serve() -> Result<(), docs_server::StartError> {
//! let corpus = docs_server::open("docs.idx".as_ref(), &docs_server::OpenOptions::default())?;
//! let served = Arc::new(Served::new(Arc::new(corpus)));
//! let server = http::HttpServer::new(served, &http::HttpOptions::default())?;
//! let listener = http::bind("127.0.0.1:0").await?;
//! server.run(listener, std::future::pending()).await
//! # }
//! ```

mod access_log;
mod access_token;
mod admission;
mod allow_list;
mod authentication;
mod bearer_tokens;
mod checkup;
mod connection;
mod endpoint;
mod exchange;
mod key_set;
mod key_source;
mod metrics;
mod open_files;
mod protected_resource;
mod rate;
mod refusal;
mod site;
mod tls;
mod watched_file;
mod web_address;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

pub use self::access_log::AccessLog;
pub use self::allow_list::AllowListError;
pub use self::authentication::{AuthenticationError, AuthenticationOptions, OAuthOptions};
pub use self::bearer_tokens::{EntryFault, TokensError};
pub use self::key_set::KeySetError;
pub use self::tls::TlsError;
pub use self::web_address::AddressError;

use self::admission::Admission;
use self::allow_list::AllowList;
use self::authentication::Authentication;
use self::checkup::Checkup;
use self::connection::{Ended, Patience};
use self::endpoint::Endpoint;
use self::metrics::Metrics;
use self::rate::RateLimit;
use self::site::{Peer, Site};
use self::tls::Tls;
use crate::error::StartError;
use crate::handler::DocsServer;
use crate::served::Served;

/// How the server is reached, by whom, and how much of it anybody may use.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Names it goes by, beside those of the loopback interface: `HOST` or `HOST:PORT`.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may call it, beside those of the loopback interface.
    pub allowed_origins: Vec<String>,
    /// Who may call.
    pub authentication: AuthenticationOptions,
    /// Certificate chain and key, as PEM files; without them connections are not encrypted.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Proxies whose word on where a request comes from is taken.
    pub trusted_proxies: Vec<IpNet>,
    /// How much it takes on.
    pub limits: Limits,
    /// What is logged of requests.
    pub access_log: AccessLog,
    /// Bytes of text that an answer may have.
    pub max_result_bytes: usize,
    /// Bytes of answers that are kept, to be given again to whoever asks the same; 0 for none.
    pub answer_cache_bytes: usize,
}

/// Bytes of answers that are kept unless told otherwise.
pub const DEFAULT_ANSWER_CACHE_BYTES: usize = 16 << 20;

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            authentication: AuthenticationOptions::default(),
            tls: None,
            trusted_proxies: Vec::new(),
            limits: Limits::default(),
            access_log: AccessLog::default(),
            max_result_bytes: crate::DEFAULT_MAX_RESULT_BYTES,
            answer_cache_bytes: DEFAULT_ANSWER_CACHE_BYTES,
        }
    }
}

/// Bounds of what clients can take up.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Time for the head of a request, and for the handshake of an encrypted connection.
    pub header_timeout: Duration,
    /// Time that a connection may be silent.
    pub idle_timeout: Duration,
    /// Time for a request, from its head to its answer.
    pub request_timeout: Duration,
    /// Time that requests have to end once the server stops.
    pub shutdown_timeout: Duration,
    /// Requests answered at once.
    pub concurrent_requests: usize,
    /// Connections open at once.
    pub connections: usize,
    /// Requests per second of one client; none for no limit.
    pub requests_per_second: Option<NonZeroU32>,
    /// Requests that a client may send at once after a pause.
    pub burst: NonZeroU32,
}

impl Limits {
    /// The limits unless told otherwise.
    pub const DEFAULT: Self = Self {
        body_bytes: 64 << 10,
        header_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_secs(120),
        request_timeout: Duration::from_secs(30),
        shutdown_timeout: Duration::from_secs(30),
        concurrent_requests: 256,
        connections: 2_048,
        requests_per_second: NonZeroU32::new(200),
        burst: NonZeroU32::new(1_000).unwrap(),
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Binds a listener at `HOST:PORT`; port 0 takes any free one.
///
/// # Errors
///
/// When the address can not be resolved, or not be had.
pub async fn bind(address: &str) -> Result<TcpListener, StartError> {
    // Connections that wait to be accepted; a burst of clients must not be turned away by the system.
    const BACKLOG: u32 = 1_024;
    let bound = async {
        let mut last_error = None;
        for address in tokio::net::lookup_host(address).await? {
            let socket = if address.is_ipv4() {
                TcpSocket::new_v4()
            } else {
                TcpSocket::new_v6()
            }?;
            // Elsewhere it would let two servers have one address.
            #[cfg(unix)]
            socket.set_reuseaddr(true)?;
            match socket.bind(address).and_then(|()| socket.listen(BACKLOG)) {
                Ok(listener) => return Ok(listener),
                Err(error) => last_error = Some(error),
            }
        }
        Err(last_error.unwrap_or_else(|| std::io::ErrorKind::AddrNotAvailable.into()))
    };
    bound.await.map_err(|source| StartError::Bind {
        address: address.to_owned(),
        source,
    })
}

/// A server that is set up and not bound to an address yet.
pub struct HttpServer {
    site: Arc<Site>,
    tls: Option<Tls>,
    limits: Limits,
    has_own_name: bool,
}

impl HttpServer {
    /// Reads all files that the options name.
    ///
    /// # Errors
    ///
    /// When one of them or an option makes no sense.
    pub fn new(served: Arc<Served>, options: &HttpOptions) -> Result<Self, StartError> {
        let allow_list = AllowList::new(&options.allowed_hosts, &options.allowed_origins)
            .map_err(StartError::AllowList)?;
        let authentication =
            Authentication::new(&options.authentication).map_err(StartError::Authentication)?;
        let tls = match &options.tls {
            Some((certificates, key)) => Some(Tls::load(certificates, key).map_err(StartError::Tls)?),
            None => None,
        };
        let limits = options.limits;
        let checkup = Checkup::begin(&served);
        let server =
            DocsServer::new(served, options.max_result_bytes).with_answer_cache(options.answer_cache_bytes);
        let server = Arc::new(server);
        let site = Site {
            admission: Admission {
                allow_list: Arc::new(allow_list),
                authentication,
                rate: RateLimit::new(limits.requests_per_second, limits.burst),
                trusted_proxies: options.trusted_proxies.clone(),
            },
            endpoint: Endpoint::new(
                Arc::clone(&server),
                limits.concurrent_requests,
                limits.body_bytes,
                options.access_log == AccessLog::WithQueries,
            ),
            metrics: Metrics::new(),
            access_log: options.access_log,
            checkup,
            server,
            is_draining: AtomicBool::new(false),
        };
        Ok(Self {
            site: Arc::new(site),
            tls,
            limits,
            has_own_name: !options.allowed_hosts.is_empty(),
        })
    }

    /// Answers requests until `shutdown` ends; then takes no more, and lets those that are being answered end.
    ///
    /// # Errors
    ///
    /// When the listener is open to other machines, and nothing was said about who may call under which name.
    pub async fn run(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), StartError> {
        let address = listener.local_addr().map_err(StartError::Listener)?;
        self.refuse_exposure(address)?;
        open_files::make_room_for(self.limits.connections);
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        tracing::info!(url = %format_args!("{scheme}://{address}/mcp"), "serving");
        let router = site::router(&self.site, self.limits.request_timeout);
        let (drain, draining) = watch::channel(false);
        let slots = Arc::new(Semaphore::new(self.limits.connections));
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        let mut housekeeping = pin!(self.keep_house());
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = connections.join_next(), if !connections.is_empty() => continue,
                () = &mut housekeeping => continue,
                () = &mut shutdown => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
                        self.turn_away(&stream);
                        continue;
                    };
                    // Nothing around it: a future within a future is stored twice over.
                    let connection = self.connection(stream, peer, slot, router.clone(), draining.clone());
                    connections.spawn(connection);
                }
                Err(error) => {
                    // One that left at once costs nothing; out of descriptors, a pause lets some be closed.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(listener);
        self.site.is_draining.store(true, Ordering::Relaxed);
        tracing::info!(connections = connections.len(), "stopping");
        drain.send_replace(true);
        let all_ended = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.shutdown_timeout, all_ended)
            .await
            .is_err()
        {
            tracing::warn!(connections = connections.len(), "connections cut off");
        }
        Ok(())
    }

    /// Reads what may have changed on disk at once, as on a hangup signal.
    fn reload(&self, force: bool) {
        self.site.admission.authentication.reload(force);
        if let Some(tls) = &self.tls {
            tls.reload(force);
        }
    }

    /// Looks after files that are replaced while the server runs, and forgets what is over. Never ends.
    async fn keep_house(&self) {
        const LOOK: Duration = Duration::from_secs(1);
        const FORGET_EVERY: u32 = 60;
        let mut hangups = crate::signals::Hangups::new();
        let mut looks = 0_u32;
        loop {
            let is_hangup = tokio::select! {
                () = hangups.next() => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            self.reload(is_hangup);
            looks = (looks + 1) % FORGET_EVERY;
            if looks == 0 {
                self.site.admission.rate.forget_idle();
            }
        }
    }

    /// Nobody else's machine may call a server that does not say who may and what it is called.
    fn refuse_exposure(&self, address: SocketAddr) -> Result<(), StartError> {
        let is_local = address.ip().to_canonical().is_loopback();
        let needs_token = !self.site.admission.authentication.is_required();
        if !is_local && (needs_token || !self.has_own_name) {
            return Err(StartError::Exposed {
                address,
                needs_token,
                needs_host: !self.has_own_name,
            });
        }
        if !is_local && self.tls.is_none() {
            tracing::warn!(
                "tokens and answers cross the network unencrypted: add --tls-cert and --tls-key, or put a proxy \
                 with TLS in front"
            );
        }
        Ok(())
    }

    fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        slot: OwnedSemaphorePermit,
        router: Router,
        draining: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send + use<> {
        // An answer is written at once; waiting to fill a packet only delays it.
        let _ = stream.set_nodelay(true);
        let acceptor = self.tls.as_ref().map(Tls::acceptor);
        let patience = Patience {
            header: self.limits.header_timeout,
            idle: self.limits.idle_timeout,
        };
        let site = Arc::clone(&self.site);
        async move {
            let _slot = slot;
            let _open = site.metrics.connected();
            let ended = match acceptor {
                None => speak(stream, peer, router, patience, draining).await,
                Some(acceptor) => {
                    match tokio::time::timeout(patience.header, acceptor.accept(stream)).await {
                        // Apart, so that connections without encryption are not as large as those with it.
                        Ok(Ok(stream)) => Box::pin(speak(stream, peer, router, patience, draining)).await,
                        Ok(Err(error)) => {
                            tracing::debug!(%error, "no encrypted connection came about");
                            Ended::NoRequest
                        }
                        Err(_) => Ended::HeaderTimeout,
                    }
                }
            };
            site.metrics.disconnected(ended);
        }
    }

    /// Tells a client that there is no room, as far as that can be done without waiting for it.
    fn turn_away(&self, stream: &TcpStream) {
        const FULL: &[u8] =
            b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        self.site.metrics.turned_away();
        if self.tls.is_none() {
            let _ = stream.try_write(FULL);
        }
    }
}

impl std::fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServer")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Serves a connection, encrypted or not.
async fn speak<I: AsyncRead + AsyncWrite + Unpin>(
    stream: I,
    peer: SocketAddr,
    router: Router,
    patience: Patience,
    draining: watch::Receiver<bool>,
) -> Ended {
    connection::serve(stream, patience, draining, move |mut request| {
        request.extensions_mut().insert(Peer(peer));
        let answer = router.clone().oneshot(request.map(Body::new));
        async move {
            match answer.await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }
    })
    .await
}
