//! Where a link of a document leads inside the docs tree, by path arithmetic alone.
//!
//! In: the path of the document and a link's destination. Out: path and fragment, or nothing where the link leaves
//! the tree. Whether such a document exists is not known here.

use docs_index::LinkSource;

/// The place that `destination` names, seen from the document at `document`.
pub(crate) fn resolve(document: &[u8], destination: &str, text: String) -> Option<LinkSource> {
    let destination = destination.trim();
    if destination.is_empty() || destination.starts_with("//") || has_scheme(destination) {
        return None;
    }
    let (place, fragment) = destination.split_once('#').unwrap_or((destination, ""));
    let place = place.split('?').next().unwrap_or_default();
    let fragment = String::from_utf8_lossy(&percent_decoded(fragment)).into_owned();
    if place.is_empty() {
        // A query alone names the page itself, too.
        return Some(LinkSource {
            path: document.to_vec(),
            fragment,
            text,
        });
    }
    let path = percent_decoded(place);
    let (mut names, path) = match path.strip_prefix(b"/") {
        Some(rest) => (Vec::new(), rest),
        None => (folders(document), path.as_slice()),
    };
    let mut is_folder = false;
    for name in path.split(|&byte| byte == b'/') {
        is_folder = matches!(name, b"" | b"." | b"..");
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    let mut path = names.join(&b'/');
    if is_folder && !path.is_empty() {
        path.push(b'/');
    }
    Some(LinkSource { path, fragment, text })
}

fn folders(document: &[u8]) -> Vec<&[u8]> {
    let mut names: Vec<&[u8]> = document.split(|&byte| byte == b'/').collect();
    names.pop();
    names
}

fn has_scheme(destination: &str) -> bool {
    let Some((scheme, _)) = destination.split_once(':') else {
        return false;
    };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let digit = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    while let Some(&byte) = bytes.get(at) {
        let (byte, length) = match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => (u8::try_from(high * 16 + low).unwrap_or(b'%'), 3),
            _ => (byte, 1),
        };
        decoded.push(byte);
        at += length;
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_resolve_by_path_arithmetic() {
        let cases = [
            ("b.md", Some(("guide/b.md", ""))),
            ("./b.md#x", Some(("guide/b.md", "x"))),
            ("../top.md?plain=1#y%20z", Some(("top.md", "y z"))),
            ("/api/", Some(("api/", ""))),
            ("sub/", Some(("guide/sub/", ""))),
            ("..", Some(("", ""))),
            (".", Some(("guide/", ""))),
            ("#here", Some(("guide/a.md", "here"))),
            ("my%20file.md", Some(("guide/my file.md", ""))),
            ("100%.md", Some(("guide/100%.md", ""))),
            ("../../out.md", None),
            ("https://example.com/a", None),
            ("mailto:a@b.c", None),
            ("//example.com", None),
            ("", None),
        ];
        for (destination, expected) in cases {
            let link = resolve(b"guide/a.md", destination, String::new());
            let found = link
                .as_ref()
                .map(|l| (std::str::from_utf8(&l.path).unwrap(), l.fragment.as_str()));
            assert_eq!(found, expected, "{destination}");
        }
    }
}
