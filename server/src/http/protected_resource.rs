//! What a client learns about how to get an access token: OAuth's protected resource metadata (RFC 9728).
//!
//! In: the public URL of the resource, its issuers and the scopes it asks for. Out: a JSON document, the paths that it
//! is served under, and its URL, which refusals name. The path of the URL is the well-known one with the resource's
//! own path behind it (section 3.1); clients that try the root find the same document there.

use bytes::Bytes;
use serde_json::json;

use crate::http::web_address::WebAddress;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The metadata of the resource that this server is.
#[derive(Debug, Clone)]
pub(crate) struct ProtectedResource {
    document: Bytes,
    paths: Vec<String>,
    url: String,
}

impl ProtectedResource {
    /// Describes a resource.
    pub(crate) fn new(resource: &WebAddress, issuers: &[String], scopes: &[String]) -> Self {
        let mut document = json!({
            "resource": resource.as_str(),
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
        });
        if let Some(members) = document.as_object_mut().filter(|_| !scopes.is_empty()) {
            members.insert("scopes_supported".to_owned(), json!(scopes));
        }
        let own = format!("{WELL_KNOWN}{}", resource.path());
        let url = format!("{}{own}", resource.origin());
        let mut paths = vec![WELL_KNOWN.to_owned(), own];
        paths.dedup();
        Self {
            document: document.to_string().into(),
            paths,
            url,
        }
    }

    /// The document, `application/json`.
    pub(crate) fn document(&self) -> Bytes {
        self.document.clone()
    }

    /// The paths that it is found under, at the host's root; nobody needs a token for them.
    pub(crate) fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Its public URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_stands_where_the_standard_says() {
        for (resource, url, own) in [
            (
                "https://docs.example.org/mcp",
                "https://docs.example.org/.well-known/oauth-protected-resource/mcp",
                Some("/.well-known/oauth-protected-resource/mcp"),
            ),
            (
                "https://example.org:8443/docs/mcp",
                "https://example.org:8443/.well-known/oauth-protected-resource/docs/mcp",
                Some("/.well-known/oauth-protected-resource/docs/mcp"),
            ),
            (
                "https://docs.example.org/",
                "https://docs.example.org/.well-known/oauth-protected-resource",
                None,
            ),
            (
                "https://docs.example.org",
                "https://docs.example.org/.well-known/oauth-protected-resource",
                None,
            ),
        ] {
            let resource = WebAddress::parse_name(resource).unwrap();
            let metadata = ProtectedResource::new(&resource, &["https://id.example.org".to_owned()], &[]);
            assert_eq!(metadata.url(), url);
            let mut paths = vec!["/.well-known/oauth-protected-resource"];
            paths.extend(own);
            assert_eq!(metadata.paths(), paths);
            let document: serde_json::Value = serde_json::from_slice(&metadata.document()).unwrap();
            assert_eq!(
                document,
                json!({
                    "resource": resource.as_str(),
                    "authorization_servers": ["https://id.example.org"],
                    "bearer_methods_supported": ["header"],
                })
            );
        }
    }

    #[test]
    fn scopes_are_named_where_there_are_some() {
        let resource = WebAddress::parse_name("https://docs.example.org/mcp").unwrap();
        let scopes = ["docs:read".to_owned(), "docs:search".to_owned()];
        let metadata = ProtectedResource::new(&resource, &["https://id.example.org".to_owned()], &scopes);
        let document: serde_json::Value = serde_json::from_slice(&metadata.document()).unwrap();
        assert_eq!(document["scopes_supported"], json!(["docs:read", "docs:search"]));
    }
}
