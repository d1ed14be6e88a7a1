//! What a page's path and a section's heading say about its worth, whatever the query.
//!
//! The release notes of a project name everything and explain nothing; "See also" and "Recap" stand on every page. Both
//! lists are data: `changelog_paths.txt` and `generic_headings.txt`.

use rustc_hash::{FxHashMap, FxHashSet};
use std::{borrow::Cow, sync::LazyLock};

/// Entries of a list.
fn list(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Names by their first word, with the words that follow it.
type Names = FxHashMap<&'static [u8], Vec<Vec<&'static [u8]>>>;

static CHANGELOG_PATHS: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names::default();
    for name in list(include_str!("changelog_paths.txt")) {
        let mut words = name.split(' ').map(str::as_bytes);
        if let Some(first) = words.next() {
            names.entry(first).or_default().push(words.collect());
        }
    }
    names
});
static GENERIC_HEADINGS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| list(include_str!("generic_headings.txt")).collect());

/// Longest heading of the list in bytes, generously.
const HEADING_LIMIT: usize = 64;

/// Whether a folder or a file of the path is named as changelogs are: `release-notes.md`, `docs/blog/a.md`.
pub(crate) fn is_changelog(path: &[u8]) -> bool {
    let path = path.to_ascii_lowercase();
    path.split(|&byte| byte == b'/').any(|name| {
        let mut words = name
            .split(|byte| matches!(byte, b'-' | b'_' | b'.' | b' '))
            .filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            let follows = |rest: &Vec<&[u8]>| {
                let mut next = words.clone();
                rest.iter().all(|&word| next.next() == Some(word))
            };
            if CHANGELOG_PATHS
                .get(word)
                .is_some_and(|names| names.iter().any(follows))
            {
                return true;
            }
        }
        false
    })
}

/// Whether a heading is one that every page has.
pub(crate) fn is_generic(heading: &str) -> bool {
    if heading.len() > HEADING_LIMIT {
        return false;
    }
    let plain = heading.trim().trim_end_matches(['.', ':', '!', '…']).trim_end();
    let plain: Cow<'_, str> = if plain.contains('’') {
        plain.replace('’', "'").into()
    } else {
        plain.into()
    };
    if plain.is_ascii() {
        let mut lower = [0; HEADING_LIMIT];
        let lower = &mut lower[..plain.len()];
        lower.copy_from_slice(plain.as_bytes());
        lower.make_ascii_lowercase();
        return std::str::from_utf8(lower).is_ok_and(|lower| GENERIC_HEADINGS.contains(lower));
    }
    GENERIC_HEADINGS.contains(plain.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changelogs_are_told_by_their_path() {
        for (path, expected) in [
            ("release-notes.md", true),
            ("docs/release_notes/v2.md", true),
            ("CHANGELOG.md", true),
            ("docs/change-log.md", true),
            ("blog/2024/a.md", true),
            ("whats-new.md", true),
            ("docs/what-s-new/3.12.md", true),
            ("history.md", true),
            ("a/changes.md", true),
            ("release.md", false),
            ("blogging/a.md", false),
            ("guide/history-api.md", true),
            ("guide/exchange.md", false),
            ("notes.md", false),
        ] {
            assert_eq!(is_changelog(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn generic_headings_are_told_in_any_case() {
        for (heading, expected) in [
            ("See also", true),
            ("SEE ALSO:", true),
            ("What's next", true),
            ("What’s next", true),
            ("References", true),
            ("Recap", true),
            ("Siehe auch", true),
            ("接下来", true),
            ("References in Rust", false),
            ("", false),
        ] {
            assert_eq!(is_generic(heading), expected, "{heading}");
        }
    }

    #[test]
    fn the_lists_are_in_the_form_that_is_looked_up() {
        for entry in list(include_str!("changelog_paths.txt")) {
            assert!(entry.is_ascii() && is_changelog(entry.as_bytes()), "{entry}");
        }
        for entry in list(include_str!("generic_headings.txt")) {
            assert!(is_generic(entry), "{entry}");
        }
    }
}
