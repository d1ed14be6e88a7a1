//! Reads a link's destination: whether it may lead to a document of the tree, and its path and fragment.
//!
//! In: a destination as the parser gives it. Out: path and fragment as the index takes them in, or nothing for an
//! address elsewhere. Which document the path names is not known here: see [`docs_index::LinkTargets`].

use docs_index::LinkSource;

/// Path and fragment of a destination; none for an address with a scheme or a host.
pub(crate) fn read(destination: &str, text: String) -> Option<LinkSource> {
    let destination = destination.trim();
    if destination.is_empty() || destination.starts_with("//") || has_scheme(destination) {
        return None;
    }
    let (path, fragment) = destination.split_once('#').unwrap_or((destination, ""));
    // A query alone names the page itself, too.
    let path = path.split('?').next().unwrap_or_default();
    Some(LinkSource {
        path: percent_decoded(path),
        fragment: String::from_utf8_lossy(&percent_decoded(fragment)).into_owned(),
        text,
    })
}

/// A destination without the calls of a site generator: `{{< ref "x" >}}`, `{% link x %}` and `{{ "x" | relative_url }}`
/// are x, all others nothing.
pub(crate) fn without_calls(destination: &str) -> String {
    const LONGEST: usize = 4096;
    if destination.len() > LONGEST {
        return destination.to_owned();
    }
    let mut text = String::with_capacity(destination.len());
    let mut rest = destination;
    while let Some(open) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let close = if rest[open..].starts_with("{{") {
            "}}"
        } else {
            "%}"
        };
        let Some(length) = rest[open + 2..].find(close) else {
            break;
        };
        text.push_str(&rest[..open]);
        let call = rest[open + 2..open + 2 + length].trim_matches(['<', '>', '%', ' ', '-']);
        let quote = call.chars().next().filter(|quote| matches!(quote, '"' | '\''));
        if let Some((quoted, _)) = quote.and_then(|quote| call[1..].split_once(quote)) {
            text.push_str(quoted);
        } else if let Some((name, argument)) = call.split_once(char::is_whitespace)
            && matches!(name, "ref" | "relref" | "link" | "post_url")
        {
            let argument = argument.trim().trim_matches(['"', '\'', '`']);
            // Liquid's paths are those of the site's source.
            if name == "link" && !argument.starts_with('/') {
                text.push('/');
            }
            text.push_str(argument);
        }
        rest = &rest[open + 2 + length + 2..];
    }
    text.push_str(rest);
    text
}

/// The public address of what a destination names, seen from the page at `page`; both addresses may be empty.
pub(crate) fn address(page: &str, base_url: &str, destination: &str) -> Option<String> {
    if base_url.is_empty() || has_scheme(destination) || destination.starts_with("//") {
        return None;
    }
    let (site, base_path) = origin(base_url)?;
    if destination.starts_with('/') {
        return Some(format!("{site}{destination}"));
    }
    if page.is_empty() {
        return None;
    }
    let (place, end) = destination.split_at(destination.find(['#', '?']).unwrap_or(destination.len()));
    let page_path = page.strip_prefix(site).unwrap_or(base_path);
    let page_path = page_path.split(['#', '?']).next().unwrap_or_default();
    let mut names: Vec<&str> = page_path.split('/').collect();
    if place.is_empty() {
        return Some(format!("{site}{page_path}{end}"));
    }
    names.pop();
    for name in place.split('/') {
        match name {
            "." => {}
            ".." => {
                if names.len() > 1 {
                    names.pop();
                }
            }
            name => names.push(name),
        }
    }
    Some(format!("{site}{}{end}", names.join("/")))
}

/// `https://host` and the path of an address.
fn origin(url: &str) -> Option<(&str, &str)> {
    let host = url.find("://")? + 3;
    let end = url[host..].find('/').map_or(url.len(), |slash| host + slash);
    Some(url.split_at(end))
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
    fn calls_in_destinations_are_taken_apart() {
        let cases = [
            ("{{< ref \"a.md#b\" >}}", "a.md#b"),
            ("{% link a/b.md %}#c", "/a/b.md#c"),
            ("{{ site.baseurl }}{% link a.md %}", "/a.md"),
            ("{{ '/img/a.png' | relative_url }}", "/img/a.png"),
            ("{% post_url 2026-01-01-x %}", "2026-01-01-x"),
            ("{{ open", "{{ open"),
        ];
        for (destination, expected) in cases {
            assert_eq!(without_calls(destination), expected, "{destination}");
        }
    }

    #[test]
    fn destinations_become_path_and_fragment() {
        let cases = [
            ("b.md", Some(("b.md", ""))),
            (" ./b.md#x ", Some(("./b.md", "x"))),
            ("../top.md?plain=1#y%20z", Some(("../top.md", "y z"))),
            ("/api/", Some(("/api/", ""))),
            ("..", Some(("..", ""))),
            ("#here", Some(("", "here"))),
            ("?plain=1#here", Some(("", "here"))),
            ("#", Some(("", ""))),
            ("my%20file.md", Some(("my file.md", ""))),
            ("100%.md", Some(("100%.md", ""))),
            ("a/b:c.md", Some(("a/b:c.md", ""))),
            ("https://example.com/a", None),
            ("mailto:a@b.c", None),
            ("//example.com", None),
            ("", None),
        ];
        for (destination, expected) in cases {
            let link = read(destination, String::new());
            let found = link
                .as_ref()
                .map(|l| (std::str::from_utf8(&l.path).unwrap(), l.fragment.as_str()));
            assert_eq!(found, expected, "{destination}");
        }
    }
}
