//! A URL of the command line that names a resource, an issuer or a key set.
//!
//! In: text. Out: a [`WebAddress`] that is safe to ask and to quote in a header: `https`, or `http` to this very
//! machine, without user name, password or fragment.

use std::fmt;
use std::net::IpAddr;

use http::Uri;
use thiserror::Error;

/// A checked URL, as it was written.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct WebAddress {
    text: String,
    uri: Uri,
}

/// What is wrong with a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is none, or has characters that none has.
    #[error("it is no absolute URL")]
    Malformed,
    /// What is sent there could be read and changed on the way.
    #[error("it is not https (http is for localhost, 127.0.0.0/8 and [::1] only)")]
    Insecure,
    /// A user name or password stands in it.
    #[error("it has a user name or password in it")]
    Credentials,
    /// Nobody is asked for a fragment.
    #[error("it has a fragment (#)")]
    Fragment,
    /// The names of resources and issuers have none.
    #[error("it has a query (?)")]
    Query,
}

impl WebAddress {
    /// Checks a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, AddressError> {
        // The parser drops a fragment without a word, and lets quotes pass, which would end the header's.
        if text.contains('#') {
            return Err(AddressError::Fragment);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains(['"', '\\', '<', '>']) {
            return Err(AddressError::Malformed);
        }
        let uri: Uri = text.parse().map_err(|_| AddressError::Malformed)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(AddressError::Malformed);
        };
        if authority.as_str().contains('@') {
            return Err(AddressError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(AddressError::Malformed);
        }
        match scheme {
            "https" => {}
            "http" if is_loopback(authority.host()) => {}
            _ => return Err(AddressError::Insecure),
        }
        Ok(Self {
            text: text.to_owned(),
            uri,
        })
    }

    /// Checks the URL of a resource or an issuer, which has no query.
    pub(crate) fn parse_name(text: &str) -> Result<Self, AddressError> {
        let address = Self::parse(text)?;
        if address.uri.query().is_some() {
            return Err(AddressError::Query);
        }
        Ok(address)
    }

    /// As it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    pub(crate) fn is_https(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> &str {
        let path = self.uri.path_and_query().map_or("", |path| path.as_str());
        // A URL without a path is given "/" by the parser.
        self.text
            .strip_suffix(path)
            .unwrap_or(self.text.trim_end_matches('/'))
    }

    /// The path, empty where there is none.
    pub(crate) fn path(&self) -> &str {
        match self.uri.path() {
            "/" => "",
            path => path,
        }
    }
}

impl fmt::Debug for WebAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, formatter)
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_urls_are_taken() {
        for (text, expected) in [
            (
                "https://docs.example.org/mcp",
                Ok(("https://docs.example.org", "/mcp")),
            ),
            ("https://docs.example.org", Ok(("https://docs.example.org", ""))),
            ("https://docs.example.org/", Ok(("https://docs.example.org", ""))),
            (
                "https://docs.example.org:8443/a/mcp",
                Ok(("https://docs.example.org:8443", "/a/mcp")),
            ),
            ("http://127.0.0.1:8765/mcp", Ok(("http://127.0.0.1:8765", "/mcp"))),
            ("http://[::1]:8765/mcp", Ok(("http://[::1]:8765", "/mcp"))),
            ("http://localhost/mcp", Ok(("http://localhost", "/mcp"))),
            ("http://docs.example.org/mcp", Err(AddressError::Insecure)),
            ("http://localhost.example.org/mcp", Err(AddressError::Insecure)),
            ("ftp://localhost/mcp", Err(AddressError::Insecure)),
            (
                "https://user:word@docs.example.org/mcp",
                Err(AddressError::Credentials),
            ),
            (
                "http://localhost@docs.example.org/mcp",
                Err(AddressError::Credentials),
            ),
            ("https://docs.example.org/mcp#a", Err(AddressError::Fragment)),
            ("https://docs.example.org/mcp?a", Err(AddressError::Query)),
            ("https://docs.example.org/\"mcp", Err(AddressError::Malformed)),
            ("https://docs.example.org/ü", Err(AddressError::Malformed)),
            ("https://docs.example.org/a b", Err(AddressError::Malformed)),
            ("https:///mcp", Err(AddressError::Malformed)),
            ("/mcp", Err(AddressError::Malformed)),
            ("docs.example.org", Err(AddressError::Malformed)),
            ("", Err(AddressError::Malformed)),
        ] {
            let parsed = WebAddress::parse_name(text);
            assert_eq!(
                parsed.as_ref().map(|address| (address.origin(), address.path())),
                expected.as_ref().map(|(origin, path)| (*origin, *path)),
                "{text}"
            );
            if let Ok(address) = parsed {
                assert_eq!(address.as_str(), text);
                assert_eq!(address.is_https(), text.starts_with("https:"));
            }
        }
        // The address of a key set may have a query.
        assert!(WebAddress::parse("https://docs.example.org/keys?tenant=1").is_ok());
    }
}
