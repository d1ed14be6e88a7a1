//! The public address of a page.
//!
//! In: the address under which a tree is published, a document's path, its `slug`, the tree's flavour. Out: the
//! address that the site generator gives the page.

use std::fmt::Write as _;

use crate::flavour::Flavour;

/// The address of the document at `path`; empty where `base_url` is.
pub(crate) fn page_url(base_url: &str, path: &[u8], slug: &str, flavour: Flavour) -> String {
    if base_url.is_empty() {
        return String::new();
    }
    let base = base_url.trim_end_matches('/');
    let path = String::from_utf8_lossy(path);
    let stem = match path.rsplit_once('.') {
        Some((stem, ending)) if !ending.contains('/') => stem,
        _ => &path,
    };
    if slug.contains("://") {
        return slug.to_owned();
    }
    if flavour == Flavour::Mdn && !slug.is_empty() {
        return format!("{base}/{}", slug.trim_start_matches('/'));
    }
    if slug.starts_with('/') {
        return format!("{base}{}", encoded(slug));
    }
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let folder = if folder.is_empty() {
        String::new()
    } else {
        format!("{}/", encoded(folder))
    };
    if slug.is_empty() && ["index", "README", "_index"].contains(&name) {
        return format!("{base}/{folder}");
    }
    let name = encoded(if slug.is_empty() {
        name
    } else {
        slug.trim_end_matches('/')
    });
    match flavour {
        Flavour::Mdbook => format!("{base}/{folder}{name}.html"),
        Flavour::Vitepress | Flavour::Docusaurus => format!("{base}/{folder}{name}"),
        _ => format!("{base}/{folder}{name}/"),
    }
}

fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_addresses_of_their_generator() {
        let cases = [
            ("guide/a.md", "", Flavour::Mkdocs, "https://x.org/d/guide/a/"),
            ("guide/index.md", "", Flavour::Mkdocs, "https://x.org/d/guide/"),
            ("README.md", "", Flavour::Github, "https://x.org/d/"),
            (
                "guide/a b.md",
                "",
                Flavour::Mdbook,
                "https://x.org/d/guide/a%20b.html",
            ),
            ("guide/a.mdx", "", Flavour::Docusaurus, "https://x.org/d/guide/a"),
            (
                "guide/a.md",
                "other",
                Flavour::Hugo,
                "https://x.org/d/guide/other/",
            ),
            ("guide/a.md", "/top", Flavour::Docusaurus, "https://x.org/d/top"),
            (
                "web/api/index.md",
                "Web/API",
                Flavour::Mdn,
                "https://x.org/d/Web/API",
            ),
            ("v1.2/notes", "", Flavour::Hugo, "https://x.org/d/v1.2/notes/"),
        ];
        for (path, slug, flavour, url) in cases {
            assert_eq!(page_url("https://x.org/d/", path.as_bytes(), slug, flavour), url);
        }
        assert_eq!(page_url("", b"a.md", "b", Flavour::Hugo), "");
    }
}
