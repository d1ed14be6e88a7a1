//! What a page's path and a section's heading say about its worth, whatever the query.
//!
//! The release notes of a project name everything and explain nothing; "See also" and "Recap" stand on every page. Both
//! lists are data: `changelog_paths.txt` and `generic_headings.txt`.

use rustc_hash::FxHashSet;
use std::{borrow::Cow, sync::LazyLock};

/// Words of a list, lower-cased.
fn list(text: &'static str) -> FxHashSet<&'static str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

static CHANGELOG_PATHS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| list(include_str!("changelog_paths.txt")));
static GENERIC_HEADINGS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| list(include_str!("generic_headings.txt")));

/// Longest name in words; longer runs are not looked up.
const NAME_WORDS: usize = 3;
/// Longest heading of the list in bytes, generously.
const HEADING_LIMIT: usize = 64;

/// Whether a folder or a file of the path is named as changelogs are: `release-notes.md`, `docs/blog/a.md`.
pub(crate) fn is_changelog(path: &[u8]) -> bool {
    let path = String::from_utf8_lossy(path).to_lowercase();
    path.split('/').any(|name| {
        let words: Vec<&str> = name
            .split(['-', '_', '.', ' '])
            .filter(|word| !word.is_empty())
            .collect();
        (1..=NAME_WORDS).any(|count| {
            words
                .windows(count)
                .any(|window| CHANGELOG_PATHS.contains(window.join(" ").as_str()))
        })
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
        for entry in CHANGELOG_PATHS.iter().chain(GENERIC_HEADINGS.iter()) {
            assert_eq!(*entry, entry.to_lowercase());
        }
        assert!(
            CHANGELOG_PATHS
                .iter()
                .all(|name| name.split(' ').count() <= NAME_WORDS)
        );
        assert!(
            GENERIC_HEADINGS
                .iter()
                .all(|heading| heading.len() <= HEADING_LIMIT)
        );
    }
}
