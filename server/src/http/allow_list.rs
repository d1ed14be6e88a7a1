//! Which names this server answers to, and which web pages may speak to it.
//!
//! In: the `Host` and `Origin` headers of a request. Out: whether it may go on. A page that makes its own name point to
//! this machine (DNS rebinding) sends its name as the host, and a page of another site sends its origin; both are told
//! apart from the programs that are meant. The names of the loopback interface are always among the allowed ones: what
//! comes from there runs on the machine already.

use std::fmt;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};
use thiserror::Error;

/// Hosts and origins that are let in.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowList {
    hosts: Vec<Place>,
    origins: Vec<Origin>,
}

/// Why a request may not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// No `Host`, several, or one that is no host.
    HostUnreadable,
    /// Another name than ours.
    Host,
    /// A web page of another site, or one that has none (`null`).
    Origin,
}

/// An entry that can not be understood.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{value:?} is not {expected}")]
pub struct AllowListError {
    value: String,
    expected: &'static str,
}

const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A host, and a port if only that one is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    host: String,
    port: Option<u16>,
}

/// An origin (RFC 6454, section 4); without a port, any is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: String,
    place: Place,
}

impl AllowList {
    /// Reads what was given beside the loopback names: hosts as `HOST` or `HOST:PORT`, origins as
    /// `SCHEME://HOST`, `SCHEME://HOST:PORT` or `SCHEME://HOST:*`.
    ///
    /// # Errors
    ///
    /// When an entry is neither.
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Result<Self, AllowListError> {
        let hosts = hosts.iter().map(|host| {
            Place::read(host.trim()).ok_or_else(|| AllowListError {
                value: host.clone(),
                expected: "a host like docs.example.com or docs.example.com:8443",
            })
        });
        let origins = origins.iter().map(|origin| {
            Origin::read_entry(origin.trim()).ok_or_else(|| AllowListError {
                value: origin.clone(),
                expected: "an origin like https://app.example.com, or with :PORT or :* behind it",
            })
        });
        Ok(Self {
            hosts: hosts.collect::<Result<_, _>>()?,
            origins: origins.collect::<Result<_, _>>()?,
        })
    }

    /// Whether a request may go on, by its host and its origin.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Denied> {
        let host = host(uri, headers).ok_or(Denied::HostUnreadable)?;
        let known = is_loopback_name(&host.host)
            || self.hosts.iter().any(|allowed| {
                allowed.host == host.host && (allowed.port.is_none() || allowed.port == host.port)
            });
        if !known {
            return Err(Denied::Host);
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if self.allows_origin(origin) => Ok(()),
            _ => Err(Denied::Origin),
        }
    }

    /// Whether a page of this origin may read our answers.
    pub(crate) fn allows_origin(&self, origin: &HeaderValue) -> bool {
        let Some(origin) = origin.to_str().ok().and_then(Origin::read) else {
            return false;
        };
        is_loopback_name(&origin.place.host)
            || self.origins.iter().any(|allowed| {
                allowed.scheme == origin.scheme
                    && allowed.place.host == origin.place.host
                    && (allowed.place.port.is_none() || allowed.place.port == origin.place.port)
            })
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HostUnreadable => "Bad Request: one Host header is needed",
            Self::Host => "Forbidden: this server does not go by that Host",
            Self::Origin => "Forbidden: pages of that Origin may not call this server",
        })
    }
}

impl Place {
    fn read(text: &str) -> Option<Self> {
        // An address of version 6 may be given without its brackets.
        if let Ok(address) = text.parse::<std::net::Ipv6Addr>() {
            return Some(Self {
                host: address.to_string(),
                port: None,
            });
        }
        Self::of(&text.parse().ok()?)
    }

    fn of(authority: &Authority) -> Option<Self> {
        let host = authority.host();
        let rest = authority.as_str();
        if host.is_empty() || rest.contains('@') || host.contains('*') {
            return None;
        }
        let port = match rest.strip_prefix(host)? {
            "" => None,
            port => Some(port.strip_prefix(':')?.parse().ok()?),
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        // A name that ends in a dot is the same name.
        let bare = bare.strip_suffix('.').unwrap_or(bare);
        Some(Self {
            host: bare.to_ascii_lowercase(),
            port,
        })
    }
}

impl Origin {
    /// An origin as a browser sends it. Its port is left out where it is the scheme's own.
    fn read(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let mut place = Place::read(authority)?;
        place.port = place.port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self { scheme, place })
    }

    fn read_entry(text: &str) -> Option<Self> {
        let text = text.strip_suffix('/').unwrap_or(text);
        match text.strip_suffix(":*") {
            None => Self::read(text),
            Some(any_port) => {
                let (scheme, authority) = any_port.split_once("://")?;
                let place = Place::read(authority).filter(|place| place.port.is_none())?;
                Some(Self {
                    scheme: scheme.to_ascii_lowercase(),
                    place,
                })
            }
        }
    }
}

/// The host that a request names: in its only `Host` header, or in the target where that is a whole URL, which counts
/// more (RFC 9112, section 3.2.2).
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Place> {
    let mut hosts = headers.get_all(HOST).iter();
    let header = match (hosts.next(), hosts.next()) {
        (Some(host), None) => Place::read(host.to_str().ok()?)?,
        _ => return None,
    };
    match uri.authority() {
        Some(authority) => Place::of(authority),
        None => Some(header),
    }
}

fn is_loopback_name(host: &str) -> bool {
    LOOPBACK_NAMES.contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> AllowList {
        let hosts = ["docs.example.com", "Other.example:8443", "2001:db8::1"].map(str::to_owned);
        let origins = [
            "https://app.example.com",
            "http://dev.example:*",
            "https://x.example:444/",
        ];
        AllowList::new(&hosts, &origins.map(str::to_owned)).unwrap()
    }

    fn checked(uri: &str, pairs: &[(http::HeaderName, &[u8])]) -> Result<(), Denied> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        list().check(&uri.parse().unwrap(), &headers)
    }

    #[test]
    fn hosts_are_ours_or_the_loopback_interface() {
        for (host, want) in [
            ("localhost", Ok(())),
            ("LOCALHOST:1", Ok(())),
            ("127.0.0.1:8765", Ok(())),
            ("[::1]:8765", Ok(())),
            ("docs.example.com", Ok(())),
            ("docs.example.com.", Ok(())),
            ("Docs.Example.Com:99", Ok(())),
            ("other.example:8443", Ok(())),
            ("[2001:db8::1]", Ok(())),
            ("other.example", Err(Denied::Host)),
            ("other.example:8444", Err(Denied::Host)),
            ("evil.example", Err(Denied::Host)),
            ("localhost.evil.example", Err(Denied::Host)),
            ("evil.example:127", Err(Denied::Host)),
            ("0.0.0.0:1", Err(Denied::Host)),
            ("user@localhost", Err(Denied::HostUnreadable)),
            ("localhost:x", Err(Denied::HostUnreadable)),
            ("local host", Err(Denied::HostUnreadable)),
            ("", Err(Denied::HostUnreadable)),
        ] {
            assert_eq!(checked("/mcp", &[(HOST, host.as_bytes())]), want, "{host}");
        }
        assert_eq!(checked("/mcp", &[]), Err(Denied::HostUnreadable));
        let twice = [(HOST, &b"localhost"[..]), (HOST, b"localhost")];
        assert_eq!(checked("/mcp", &twice), Err(Denied::HostUnreadable));
        assert_eq!(checked("/mcp", &[(HOST, b"\xff")]), Err(Denied::HostUnreadable));
    }

    #[test]
    fn a_target_with_a_host_counts_more_than_the_header() {
        let local = [(HOST, &b"localhost"[..])];
        assert_eq!(checked("http://evil.example/mcp", &local), Err(Denied::Host));
        assert_eq!(checked("http://localhost/mcp", &local), Ok(()));
    }

    #[test]
    fn origins_are_allowed_ones_local_pages_or_absent() {
        for (origin, want) in [
            ("http://localhost:6274", Ok(())),
            ("https://127.0.0.1", Ok(())),
            ("http://[::1]:3000", Ok(())),
            ("https://app.example.com", Ok(())),
            ("https://app.example.com:443", Ok(())),
            ("HTTPS://App.Example.com", Ok(())),
            ("http://dev.example:3000", Ok(())),
            ("http://dev.example", Ok(())),
            ("https://x.example:444", Ok(())),
            ("https://x.example", Err(Denied::Origin)),
            ("http://app.example.com", Err(Denied::Origin)),
            ("https://app.example.com:8443", Err(Denied::Origin)),
            ("https://app.example.com.evil.example", Err(Denied::Origin)),
            ("https://evil.example", Err(Denied::Origin)),
            ("http://localhost.evil.example", Err(Denied::Origin)),
            ("null", Err(Denied::Origin)),
            ("", Err(Denied::Origin)),
            ("nonsense", Err(Denied::Origin)),
        ] {
            let headers = [(HOST, &b"localhost"[..]), (ORIGIN, origin.as_bytes())];
            assert_eq!(checked("/mcp", &headers), want, "{origin}");
        }
        let twice = [
            (HOST, &b"localhost"[..]),
            (ORIGIN, b"http://localhost"),
            (ORIGIN, b"http://localhost"),
        ];
        assert_eq!(checked("/mcp", &twice), Err(Denied::Origin));
    }

    #[test]
    fn entries_that_make_no_sense_are_refused() {
        for host in ["", "*", "*.example.com", "https://docs.example.com", "a b", "a:x"] {
            let error = AllowList::new(&[host.to_owned()], &[]).unwrap_err();
            assert!(
                error.to_string().contains("is not a host like"),
                "{host}: {error}"
            );
        }
        for origin in [
            "*",
            "null",
            "app.example.com",
            "https://",
            "https://a:1:*",
            "https://*",
        ] {
            let error = AllowList::new(&[], &[origin.to_owned()]).unwrap_err();
            assert!(
                error.to_string().contains("is not an origin like"),
                "{origin}: {error}"
            );
        }
    }
}
