//! Static bearer tokens: who may ask, by a word that both sides know.
//!
//! In: a file, or the value of an environment variable, with one entry a line:
//!
//! ```text
//! # name  token
//! ci      hG7s0-Kq2…                 at least 16 characters of A-Z a-z 0-9 - . _ ~ + / (and = at the end)
//! alice   sha256:9f86d081884c7d65…   SHA-256 of a token in hexadecimal: the server then never holds the token
//! ```
//!
//! Out: the name that a presented token belongs to. Several names are valid at once, so a token is changed by adding
//! the new one under another name, and removing the old one later.
//!
//! Only digests are kept in memory. What was presented is compared with all of them, in a time that depends on their
//! number alone. No message quotes an entry, not even its name: in a mistaken line that can be the token.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};
use thiserror::Error;

use crate::error::chain;
use crate::http::watched_file::WatchedFile;

const MIN_TOKEN_BYTES: usize = 16;
/// More than this of one header is not looked at.
pub(crate) const MAX_TOKEN_BYTES: usize = 8 * 1024;
const MAX_NAME_BYTES: usize = 64;
/// Each is compared with each request's token.
const MAX_ENTRIES: usize = 1_000;
const MAX_FILE_BYTES: u64 = 1 << 20;
const DIGEST_BYTES: usize = 32;
const DIGEST_PREFIX: &str = "sha256:";

/// Why static tokens were not taken. Tells places, never what stands there.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The file of tokens can not be read.
    #[error("cannot read the token file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Not UTF-8.
    #[error("{origin} is not UTF-8 text")]
    NotText {
        /// File or variable.
        origin: String,
    },
    /// An entry is wrong.
    #[error("{origin}:{line}")]
    Entry {
        /// File or variable.
        origin: String,
        /// Line, or place in the list, from 1.
        line: usize,
        /// What is wrong.
        #[source]
        fault: EntryFault,
    },
    /// Nobody could ask.
    #[error("{origin} has no entry")]
    Empty {
        /// File or variable.
        origin: String,
    },
    /// Comparing with all of them would cost too much.
    #[error("{count} tokens are more than {MAX_ENTRIES}")]
    TooMany {
        /// How many there are.
        count: usize,
    },
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryFault {
    /// Not two words.
    #[error("an entry is a name, blanks and a token")]
    Words,
    /// The name has other characters, or too many.
    #[error("the name is not 1 to {MAX_NAME_BYTES} characters of A-Z a-z 0-9 . _ -")]
    Name,
    /// The token can be guessed.
    #[error("the token has fewer than {MIN_TOKEN_BYTES} characters")]
    Short,
    /// The token would never be looked at.
    #[error("the token has more than {MAX_TOKEN_BYTES} characters")]
    Long,
    /// The token can not be sent in a header.
    #[error("the token has other characters than A-Z a-z 0-9 - . _ ~ + / and = at its end")]
    Alphabet,
    /// A digest is announced, but none follows.
    #[error("{DIGEST_PREFIX} is not followed by {} hexadecimal digits", DIGEST_BYTES * 2)]
    Digest,
    /// One name, two tokens.
    #[error("the name stands in {place} too")]
    SameName {
        /// The other entry.
        place: String,
    },
    /// One token, two names.
    #[error("the token stands in {place} too")]
    SameToken {
        /// The other entry.
        place: String,
    },
}

/// What was read of one or more lists of tokens.
#[derive(Clone, Default)]
pub(crate) struct BearerTokens {
    entries: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    name: Arc<str>,
    digest: [u8; DIGEST_BYTES],
    origin: Arc<str>,
    line: usize,
}

impl fmt::Debug for BearerTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_list()
            .entries(self.entries.iter().map(|entry| &entry.name))
            .finish()
    }
}

impl BearerTokens {
    /// Reads a file's text: one entry a line.
    fn parse_lines(origin: &str, text: &str) -> Result<Self, TokensError> {
        let lines = text.trim_start_matches('\u{feff}').lines();
        Self::parse(
            origin,
            lines
                .enumerate()
                .map(|(at, line)| (at + 1, without_comment(line).split_ascii_whitespace())),
        )
    }

    /// Reads a variable's text, where an entry can end with a comma, a blank or a line end.
    fn parse_list(origin: &str, text: &str) -> Result<Self, TokensError> {
        let words: Vec<Vec<&str>> = text
            .lines()
            .flat_map(|line| without_comment(line).split(','))
            .map(|part| part.split_ascii_whitespace().collect())
            .collect();
        let entries = words.iter().flat_map(|words| words.chunks(2));
        Self::parse(
            origin,
            entries
                .enumerate()
                .map(|(at, words)| (at + 1, words.iter().copied())),
        )
    }

    fn parse<'a, W: Iterator<Item = &'a str>>(
        origin: &str,
        entries: impl Iterator<Item = (usize, W)>,
    ) -> Result<Self, TokensError> {
        let origin: Arc<str> = origin.into();
        let mut tokens = Self::default();
        for (line, mut words) in entries {
            let Some(name) = words.next() else { continue };
            let entry = match (words.next(), words.next()) {
                (Some(token), None) => parse_entry(name, token),
                _ => Err(EntryFault::Words),
            };
            let (name, digest) = entry.map_err(|fault| TokensError::Entry {
                origin: origin.to_string(),
                line,
                fault,
            })?;
            tokens.add(Entry {
                name,
                digest,
                origin: Arc::clone(&origin),
                line,
            })?;
        }
        if tokens.entries.is_empty() {
            return Err(TokensError::Empty {
                origin: origin.to_string(),
            });
        }
        Ok(tokens)
    }

    fn add(&mut self, entry: Entry) -> Result<(), TokensError> {
        let fault = self.entries.iter().find_map(|other| {
            let place = || format!("{}:{}", other.origin, other.line);
            if other.name == entry.name {
                Some(EntryFault::SameName { place: place() })
            } else if other.digest == entry.digest {
                Some(EntryFault::SameToken { place: place() })
            } else {
                None
            }
        });
        if let Some(fault) = fault {
            return Err(TokensError::Entry {
                origin: entry.origin.to_string(),
                line: entry.line,
                fault,
            });
        }
        self.entries.push(entry);
        let count = self.entries.len();
        if count > MAX_ENTRIES {
            return Err(TokensError::TooMany { count });
        }
        Ok(())
    }

    /// These and the others.
    fn joined(mut self, others: &Self) -> Result<Self, TokensError> {
        for entry in &others.entries {
            self.add(entry.clone())?;
        }
        Ok(self)
    }

    /// The name of a token.
    fn find(&self, presented: &str) -> Option<Arc<str>> {
        let digest = digest(presented.as_bytes());
        let mut found = Choice::from(0);
        let mut place = 0_u32;
        for (at, entry) in (0_u32..).zip(&self.entries) {
            let equal = entry.digest.as_slice().ct_eq(&digest);
            place.conditional_assign(&at, equal);
            found |= equal;
        }
        let entry = self.entries.get(usize::try_from(place).ok()?)?;
        bool::from(found).then(|| Arc::clone(&entry.name))
    }
}

/// Static tokens that are read again when their file changes.
#[derive(Debug)]
pub(crate) struct TokenLists {
    file: Option<WatchedFile>,
    /// Those of the environment, which stay.
    fixed: BearerTokens,
    current: ArcSwap<BearerTokens>,
}

impl TokenLists {
    /// Reads the file, and the value of the variable named with it.
    ///
    /// # Errors
    ///
    /// When a list can not be read, is empty or has a wrong entry.
    pub(crate) fn new(file: Option<&Path>, variable: Option<(&str, &str)>) -> Result<Self, TokensError> {
        let fixed = match variable {
            Some((name, value)) => BearerTokens::parse_list(name, value)?,
            None => BearerTokens::default(),
        };
        let (file, tokens) = match file {
            Some(path) => {
                let (file, content) =
                    WatchedFile::open(path, MAX_FILE_BYTES).map_err(|source| TokensError::Unreadable {
                        path: path.to_owned(),
                        source,
                    })?;
                let tokens = read_file(path, content)?.joined(&fixed)?;
                (Some(file), tokens)
            }
            None => (None, fixed.clone()),
        };
        Ok(Self {
            file,
            fixed,
            current: ArcSwap::from_pointee(tokens),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        // A list that was given has an entry.
        self.file.is_none() && self.fixed.entries.is_empty()
    }

    /// The name of a token.
    pub(crate) fn find(&self, presented: &str) -> Option<Arc<str>> {
        self.current.load().find(presented)
    }

    /// Takes the file's new content, if it changed and is right.
    pub(crate) fn reload(&self, force: bool) {
        let Some(file) = &self.file else { return };
        let Some(content) = file.changed(force) else {
            return;
        };
        let path = file.path();
        let tokens = content
            .map_err(|source| TokensError::Unreadable {
                path: path.to_owned(),
                source,
            })
            .and_then(|content| read_file(path, content)?.joined(&self.fixed));
        match tokens {
            Ok(tokens) => {
                tracing::info!(file = %path.display(), names = tokens.entries.len(), "new bearer tokens are in use");
                self.current.store(Arc::new(tokens));
            }
            Err(error) => tracing::error!(
                error = chain(&error),
                "the new bearer tokens are refused, the old ones stay valid"
            ),
        }
    }
}

fn read_file(path: &Path, content: Vec<u8>) -> Result<BearerTokens, TokensError> {
    let origin = path.display().to_string();
    let Ok(text) = String::from_utf8(content) else {
        return Err(TokensError::NotText { origin });
    };
    let tokens = BearerTokens::parse_lines(&origin, &text)?;
    warn_of_readers(path);
    Ok(tokens)
}

/// Others on the machine who can read the file can ask in everybody's name.
#[cfg(unix)]
fn warn_of_readers(path: &Path) {
    use std::os::unix::fs::MetadataExt as _;

    if std::fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0) {
        tracing::warn!(
            file = %path.display(),
            "other users may read or write the token file: chmod 600 would keep it to its owner"
        );
    }
}

#[cfg(not(unix))]
fn warn_of_readers(_path: &Path) {}

/// A line up to a word that starts with `#`. Within a word it is no comment, but a fault: half a token would be taken
/// for a whole one.
fn without_comment(line: &str) -> &str {
    let starts_word = |at: usize| line[..at].ends_with([' ', '\t', ',']) || at == 0;
    let comment = line.match_indices('#').find(|(at, _)| starts_word(*at));
    comment.map_or(line, |(at, _)| &line[..at])
}

fn parse_entry(name: &str, token: &str) -> Result<(Arc<str>, [u8; DIGEST_BYTES]), EntryFault> {
    let is_name = name.len() <= MAX_NAME_BYTES
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !is_name {
        return Err(EntryFault::Name);
    }
    let digest = match token.strip_prefix(DIGEST_PREFIX) {
        Some(digits) => parse_digest(digits).ok_or(EntryFault::Digest)?,
        None if !is_token(token) => return Err(EntryFault::Alphabet),
        None if token.len() < MIN_TOKEN_BYTES => return Err(EntryFault::Short),
        None if token.len() > MAX_TOKEN_BYTES => return Err(EntryFault::Long),
        None => digest(token.as_bytes()),
    };
    Ok((name.into(), digest))
}

/// Whether a word is a `b64token` of RFC 6750 section 2.1.
pub(crate) fn is_token(word: &str) -> bool {
    let body = word.trim_end_matches('=');
    !body.is_empty()
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

fn parse_digest(digits: &str) -> Option<[u8; DIGEST_BYTES]> {
    let digits: Vec<u32> = digits
        .chars()
        .map(|digit| digit.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect::<Option<_>>()?;
    bytes.try_into().ok()
}

/// SHA-256.
pub(crate) fn digest(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "aaaaaaaaaaaaaaa1";
    const TWO: &str = "bbbbbbbbbbbbb+/==";
    /// Of "0123456789abcdef".
    const DIGEST: &str = "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f";

    fn names(tokens: &BearerTokens) -> Vec<&str> {
        tokens.entries.iter().map(|entry| &*entry.name).collect()
    }

    #[test]
    fn a_file_has_one_entry_a_line() {
        let text = format!(
            "\u{feff}# those who may ask\r\n\r\n  ci\t{ONE}  # the pipeline\r\nalice.b {TWO}\nhashed_-1 sha256:{DIGEST}"
        );
        let tokens = BearerTokens::parse_lines("tokens.txt", &text).unwrap();
        assert_eq!(names(&tokens), ["ci", "alice.b", "hashed_-1"]);
        for (presented, name) in [
            (ONE, Some("ci")),
            (TWO, Some("alice.b")),
            ("0123456789abcdef", Some("hashed_-1")),
            (DIGEST, None),
            ("sha256", None),
            ("aaaaaaaaaaaaaaa", None),
            ("aaaaaaaaaaaaaaa2", None),
            ("", None),
        ] {
            assert_eq!(tokens.find(presented).as_deref(), name, "{presented}");
        }
        assert!(BearerTokens::default().find(ONE).is_none());
    }

    #[test]
    fn a_variable_has_entries_one_after_the_other() {
        for text in [
            format!("ci {ONE},alice {TWO}"),
            format!("ci {ONE}, alice {TWO},"),
            format!("ci {ONE} alice {TWO}"),
            format!("  ci   {ONE}\n# and\nalice {TWO}\n"),
        ] {
            let tokens = BearerTokens::parse_list("DOCS_SERVER_TOKENS", &text).unwrap();
            assert_eq!(names(&tokens), ["ci", "alice"], "{text}");
            assert_eq!(tokens.find(TWO).as_deref(), Some("alice"));
        }
    }

    #[test]
    fn a_wrong_entry_is_told_by_its_place_and_never_quoted() {
        let secret = "Sesam-open-the-door";
        let long = "x".repeat(MAX_TOKEN_BYTES + 1);
        let name = "n".repeat(MAX_NAME_BYTES + 1);
        let cases = [
            (
                format!("{secret}\n"),
                "t:1: an entry is a name, blanks and a token",
            ),
            (
                format!("ci {ONE} {secret}"),
                "t:1: an entry is a name, blanks and a token",
            ),
            (
                format!("ci = {secret}"),
                "t:1: an entry is a name, blanks and a token",
            ),
            (
                format!("\n\nä {secret}"),
                "t:3: the name is not 1 to 64 characters of A-Z a-z 0-9 . _ -",
            ),
            (
                format!("{name} {secret}"),
                "t:1: the name is not 1 to 64 characters of A-Z a-z 0-9 . _ -",
            ),
            (
                format!("ci {}", &secret[..15]),
                "t:1: the token has fewer than 16 characters",
            ),
            (
                format!("ci {long}"),
                "t:1: the token has more than 8192 characters",
            ),
            (
                format!("ci {secret}!"),
                "t:1: the token has other characters than A-Z a-z 0-9 - . _ ~ + / and = at its end",
            ),
            (
                format!("ci {secret}#more"),
                "t:1: the token has other characters than A-Z a-z 0-9 - . _ ~ + / and = at its end",
            ),
            (
                "ci ================".to_owned(),
                "t:1: the token has other characters than A-Z a-z 0-9 - . _ ~ + / and = at its end",
            ),
            (
                format!("ci sha256:{}", &DIGEST[1..]),
                "t:1: sha256: is not followed by 64 hexadecimal digits",
            ),
            (
                format!("ci sha256:{DIGEST}00"),
                "t:1: sha256: is not followed by 64 hexadecimal digits",
            ),
            (
                format!("ci sha256:{secret}"),
                "t:1: sha256: is not followed by 64 hexadecimal digits",
            ),
            (
                format!("ci {ONE}\nci {secret}"),
                "t:2: the name stands in t:1 too",
            ),
            (
                format!("ci sha256:{DIGEST}\nb 0123456789abcdef"),
                "t:2: the token stands in t:1 too",
            ),
            ("# nobody\n\n".to_owned(), "t has no entry"),
            (String::new(), "t has no entry"),
        ];
        for (text, expected) in cases {
            let error = BearerTokens::parse_lines("t", &text).unwrap_err();
            assert_eq!(chain(&error), expected, "{text}");
            assert!(!format!("{error:?}").contains("Sesam"));
        }
        let many: Vec<String> = (0..=MAX_ENTRIES)
            .map(|at| format!("n{at} token-number-{at:08}"))
            .collect();
        let error = BearerTokens::parse_lines("t", &many.join("\n")).unwrap_err();
        assert_eq!(chain(&error), "1001 tokens are more than 1000");
        let error = BearerTokens::parse_list("V", &format!("ci {ONE}, alice")).unwrap_err();
        assert_eq!(chain(&error), "V:2: an entry is a name, blanks and a token");
    }

    #[test]
    fn no_secret_is_shown() {
        let tokens = BearerTokens::parse_lines("t", &format!("ci {ONE}")).unwrap();
        assert_eq!(format!("{tokens:?}"), r#"["ci"]"#);
        let lists = TokenLists::new(None, Some(("V", &format!("ci {ONE}")))).unwrap();
        let shown = format!("{lists:?}");
        assert!(!shown.contains("aaaa") && !shown.contains("digest"), "{shown}");
    }

    #[test]
    fn tokens_are_exchanged_without_a_restart_and_broken_ones_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let fixed = "cccccccccccccccccccc";
        std::fs::write(&path, format!("old {ONE}")).unwrap();
        let lists = TokenLists::new(Some(&path), Some(("V", &format!("always {fixed}")))).unwrap();
        let found = |token: &str| lists.find(token).map(|name| name.to_string());
        assert_eq!(found(ONE).as_deref(), Some("old"));
        assert_eq!(found(fixed).as_deref(), Some("always"));

        std::fs::write(&path, format!("old {ONE}\nnew {TWO}")).unwrap();
        assert_eq!(found(TWO), None);
        lists.reload(false);
        assert_eq!(
            (found(ONE).as_deref(), found(TWO).as_deref()),
            (Some("old"), Some("new"))
        );

        for broken in [
            "new short".to_owned(),
            String::new(),
            // Both lists would have the name.
            format!("always {ONE}"),
        ] {
            std::fs::write(&path, &broken).unwrap();
            lists.reload(false);
            assert_eq!(found(ONE).as_deref(), Some("old"), "{broken}");
        }
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        lists.reload(true);
        std::fs::remove_file(&path).unwrap();
        lists.reload(false);
        assert_eq!(found(TWO).as_deref(), Some("new"));

        std::fs::write(&path, format!("new {TWO}")).unwrap();
        lists.reload(false);
        assert_eq!(
            (found(ONE), found(TWO).as_deref(), found(fixed).as_deref()),
            (None, Some("new"), Some("always"))
        );
    }

    #[test]
    fn lists_that_can_not_be_read_are_errors_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        assert!(matches!(
            TokenLists::new(Some(&path), None),
            Err(TokensError::Unreadable { .. })
        ));
        std::fs::write(&path, [0xff]).unwrap();
        assert!(matches!(
            TokenLists::new(Some(&path), None),
            Err(TokensError::NotText { .. })
        ));
        std::fs::write(&path, format!("ci {ONE}")).unwrap();
        assert!(matches!(
            TokenLists::new(Some(&path), Some(("V", &format!("b {ONE}")))),
            Err(TokensError::Entry {
                fault: EntryFault::SameToken { .. },
                ..
            })
        ));
        assert!(matches!(
            TokenLists::new(None, Some(("V", ""))),
            Err(TokensError::Empty { .. })
        ));
        assert!(TokenLists::new(None, None).unwrap().is_empty());
        assert!(!TokenLists::new(Some(&path), None).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn each_token_is_found_under_its_name_alone(
            entries in prop::collection::hash_map("[A-Za-z0-9._-]{1,64}", "[A-Za-z0-9._~+/-]{16,60}={0,2}", 1..20),
            hashed in any::<bool>(),
        ) {
            let unlike: std::collections::HashSet<&String> = entries.values().collect();
            prop_assume!(unlike.len() == entries.len());
            let lines: Vec<String> = entries
                .iter()
                .map(|(name, token)| {
                    if hashed {
                        let digits: Vec<String> =
                            digest(token.as_bytes()).iter().map(|byte| format!("{byte:02X}")).collect();
                        format!("{name} sha256:{}", digits.concat())
                    } else {
                        format!("{name} {token}")
                    }
                })
                .collect();
            let file = BearerTokens::parse_lines("t", &lines.join("\n")).unwrap();
            let list = BearerTokens::parse_list("t", &lines.join(",")).unwrap();
            for (name, token) in &entries {
                for tokens in [&file, &list] {
                    let found = tokens.find(token);
                    prop_assert_eq!(found.as_deref(), Some(&**name));
                    prop_assert_eq!(tokens.find(&token[1..]), None);
                }
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[ -~\\n\\t\u{e4}]{0,200}", spaced in "([#,a ]|a{16} ?|\\n){0,40}") {
            for text in [text, spaced] {
                for read in [BearerTokens::parse_lines("t", &text), BearerTokens::parse_list("t", &text)] {
                    prop_assert!(read.map_or(true, |tokens| !tokens.entries.is_empty()));
                }
            }
        }
    }
}
