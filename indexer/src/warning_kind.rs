//! The kinds of warnings: for each its name in reports, what it means, and what an author can do.
//!
//! One table makes the enum, the names and the texts, so no kind is without any of them. The texts are about the
//! kind at large; what was found at one place is said by a [`Warning`](crate::report::Warning).

use serde::{Serialize, Serializer};

/// What is said about a kind wherever it occurs. Each text is one sentence or more, without a final line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KindTexts {
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// What is wrong, what the build does about it and why it matters.
    pub explanation: &'static str,
    /// What the author can do.
    pub advice: &'static str,
}

macro_rules! warning_kinds {
    ($($kind:ident, $name:literal, $title:literal, $explanation:literal, $advice:literal;)+) => {
        /// What a warning is about: the `kind` of the JSON report and the rule of the SARIF log, by which scripts
        /// filter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum WarningKind {
            $(#[doc = $explanation] $kind,)+
        }

        impl WarningKind {
            /// Every kind; one stands at its own number, `kind as usize`.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)+];

            /// Its name in reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// What is said about it wherever it occurs.
            pub const fn texts(self) -> KindTexts {
                match self {
                    $(Self::$kind => KindTexts {
                        title: $title,
                        explanation: $explanation,
                        advice: $advice,
                    },)+
                }
            }
        }
    };
}

warning_kinds! {
    InvalidFrontMatter, "invalid-front-matter",
        "Front matter that cannot be parsed",
        "The block at the start of the file is no valid YAML, TOML or JSON. What can be read of it is used, and the \
        rest is ignored, so the page may lack its title, description or tags.",
        "mend its syntax";
    InvalidEncoding, "invalid-encoding",
        "Bytes that are no text",
        "Some bytes are no text in the file's encoding. They are replaced by U+FFFD, and the words around them are \
        not found.",
        "save the file as UTF-8";
    NulCharacter, "nul-character",
        "NUL characters in a text",
        "The file holds NUL characters. They are replaced by U+FFFD. Often such a file is no text, or UTF-16 without \
        a byte order mark.",
        "remove them, or save the file as UTF-8";
    InvisibleCharacters, "invisible-characters",
        "Characters that no reader sees",
        "The file holds zero-width, bidirectional-control or tag characters. They are removed, since they can hide \
        words from people that a model would read.",
        "remove zero-width, bidirectional-control and tag characters";
    Unreadable, "unreadable",
        "A file or folder that cannot be read",
        "The system does not let the file or folder be read, or it vanished during the build. It is left out.",
        "make it readable, or exclude it";
    TooLarge, "too-large",
        "A file above the limit",
        "The file is larger than --max-file-size and is left out.",
        "split it, exclude it, or raise --max-file-size";
    ChangedDuringBuild, "changed-during-build",
        "A file that changed while it was read",
        "The file changed each time it was read. What was read last is in the index; it may be half old and half new.",
        "build from a tree at rest";
    BrokenSymlink, "broken-symlink",
        "A symbolic link that leads nowhere",
        "A symbolic link with a document's suffix leads to nothing, or round in a circle. It is left out.",
        "mend the link or remove it";
    InvalidIgnoreRule, "invalid-ignore-rule",
        "A rule of an ignore file that is no glob",
        "A line of a .gitignore, .ignore or .docsignore file cannot be understood. The line is ignored, so files that \
        it was to leave out are taken.",
        "write it as gitignore(5) says";
    NoDocuments, "no-documents",
        "A tree without documents",
        "Nothing in the tree is a document, or everything is left out. The index is empty.",
        "check the folder and the globs; --verbose lists what is left out";
    BrokenLink, "broken-link",
        "A link to a page that is not there",
        "A link in the text leads to a page of the tree that is not there. It stays in the text as it is, and nobody \
        can follow it.",
        "mend the link's path, or remove the link";
    MissingAnchor, "missing-anchor",
        "A link to a heading that is not there",
        "A link in the text leads to a page of the tree, but no heading or anchor there has the name after the #. \
        Followed, it shows the top of the page.",
        "mend the part after the #, or give the heading that id";
    UnresolvedInclude, "unresolved-include",
        "An include that cannot be resolved",
        "A directive that includes a file, or a part of one, could not be resolved: the file or the part is not there, \
        or lies outside of what may be read. The directive stays in the text as it is.",
        "mend the path, or the part of the file that it names";
    UnclosedComment, "unclosed-comment",
        "A comment that is never closed",
        "A comment begins and nothing closes it, so it hides all that follows, as it does on the rendered page.",
        "close it with -->";
    UnreadableConfiguration, "unreadable-configuration",
        "A site's configuration that cannot be read",
        "The configuration of the site generator around the tree cannot be read. What its name alone says is used: the \
        flavour of anchors.",
        "mend it, or choose the flavour of anchors with --anchors";
}

impl Serialize for WarningKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own_that_is_its_rust_name_in_kebab_case() {
        let mut names = HashSet::new();
        for (number, &kind) in WarningKind::ALL.iter().enumerate() {
            assert_eq!(kind as usize, number, "{kind:?}");
            assert!(names.insert(kind.name()), "{kind:?}");
            let mut kebab = String::new();
            for letter in format!("{kind:?}").chars() {
                if letter.is_ascii_uppercase() && !kebab.is_empty() {
                    kebab.push('-');
                }
                kebab.push(letter.to_ascii_lowercase());
            }
            assert_eq!(kind.name(), kebab);
            assert_eq!(serde_json::to_value(kind).unwrap(), kebab);
        }
    }

    #[test]
    fn every_kind_says_what_it_is_and_what_to_do() {
        let mut seen = HashSet::new();
        for &kind in WarningKind::ALL {
            let texts = kind.texts();
            for text in [texts.title, texts.explanation, texts.advice] {
                assert!(text.len() > 10 && !text.contains("  "), "{kind:?}: {text:?}");
                assert!(seen.insert(text), "{kind:?} repeats {text:?}");
            }
            assert!(texts.explanation.ends_with('.'), "{kind:?}");
            assert!(
                !texts.title.ends_with('.') && !texts.advice.ends_with('.'),
                "{kind:?}"
            );
        }
    }
}
