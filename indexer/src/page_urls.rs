//! Addresses of the site that is made of the tree, and which destinations lie below them.
//!
//! In: a prefix as given (`/docs/`, `https://example.org/docs/`) and a link's destination. Out: the path from the tree's
//! root, where the destination lies below the prefix. Schemes count for nothing: a site has both.

/// An address of the site, without its scheme: host, if it names one, and path with a final `/`.
#[derive(Debug, Clone)]
pub(crate) struct SiteAddress {
    host: String,
    path: String,
}

impl SiteAddress {
    pub(crate) fn read(prefix: &str) -> Self {
        let (host, path) = host_and_path(prefix.trim());
        let trimmed = path.trim_matches('/');
        Self {
            host: host.to_owned(),
            path: if trimmed.is_empty() {
                "/".to_owned()
            } else {
                format!("/{trimmed}/")
            },
        }
    }

    /// The path from the site's root, with `/` in front, of a destination below this address.
    pub(crate) fn below(&self, destination: &str) -> Option<String> {
        let (host, path) = host_and_path(destination);
        let path = if host.is_empty() || path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        if !(host.is_empty() || host.eq_ignore_ascii_case(&self.host)) || !path.starts_with('/') {
            return None;
        }
        let end = path.find(['?', '#']).unwrap_or(path.len());
        let (own, query) = path.split_at(end);
        if own.len() + 1 == self.path.len() && self.path.starts_with(own) {
            return Some(format!("/{query}"));
        }
        own.strip_prefix(self.path.as_str())
            .map(|rest| format!("/{rest}{query}"))
    }
}

fn host_and_path(address: &str) -> (&str, &str) {
    let rest = ["https://", "http://", "//"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme));
    match rest {
        Some(rest) => rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())),
        None => ("", address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_below_an_address_become_paths() {
        for (prefix, destination, expected) in [
            ("/docs/", "/docs/a#b", Some("/a#b")),
            ("docs", "/docs/a", Some("/a")),
            ("/docs", "/docs", Some("/")),
            ("/docs", "/docs?q#x", Some("/?q#x")),
            ("/docs", "/docsa", None),
            ("/docs", "docs/a", None),
            ("/docs", "https://example.org/docs/a", None),
            ("/", "/a", Some("/a")),
            (
                "https://example.org/docs/",
                "https://example.org/docs/a/",
                Some("/a/"),
            ),
            (
                "https://example.org/docs/",
                "http://Example.ORG/docs/a",
                Some("/a"),
            ),
            ("https://example.org/docs/", "//example.org/docs", Some("/")),
            ("https://example.org/docs/", "/docs/a", Some("/a")),
            ("https://example.org", "https://example.org", Some("/")),
            ("https://example.org", "https://example.org#x", Some("/#x")),
            ("https://example.org/docs/", "https://example.com/docs/a", None),
            ("https://example.org/docs/", "https://example.org/other", None),
            ("https://example.org/docs/", "mailto:a@example.org", None),
            ("https://example.org/docs/", "", None),
        ] {
            let found = SiteAddress::read(prefix).below(destination);
            assert_eq!(found.as_deref(), expected, "{destination} below {prefix}");
        }
    }
}
