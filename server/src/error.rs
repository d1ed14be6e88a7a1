//! What can go wrong, as values.
//!
//! [`StartError`] ends the program, [`ArgumentError`] is answered to the model. Each states its own fact in lower
//! case; causes are in `source()`, and [`StartError::remedy`] says what a person can do.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use docs_index::{OpenError, VerifyError};
use thiserror::Error;

use crate::http::{AllowListError, AuthenticationError, TlsError};

/// Why the server does not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The index file is missing, damaged, of another version, or no index at all.
    #[error("cannot serve {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: OpenError,
    },
    /// The file is one shard of an index.
    #[error("{} is shard {number} of {count}: shards can be merged, not served", path.display())]
    Shard {
        /// The file.
        path: PathBuf,
        /// Which shard, from 1.
        number: u32,
        /// Of how many.
        count: u32,
    },
    /// `--verify` found damage.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        #[source]
        source: VerifyError,
    },
    /// More than one index file was named.
    #[error("{count} index files were named: this version serves one")]
    SeveralIndexes {
        /// How many.
        count: usize,
    },
    /// The asynchronous runtime could not be set up.
    #[error("cannot set up the event loop")]
    Runtime(#[source] std::io::Error),
    /// The address to listen at can not be had.
    #[error("cannot listen at {address}")]
    Bind {
        /// The address, as given.
        address: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The listener does not know its own address.
    #[error("cannot use the listener")]
    Listener(#[source] std::io::Error),
    /// Other machines could call, and nothing says which of them may.
    #[error("{address} can be reached from other machines")]
    Exposed {
        /// The address that was bound.
        address: SocketAddr,
        /// No token is asked for.
        needs_token: bool,
        /// The server has no name of its own.
        needs_host: bool,
    },
    /// A host or an origin is none.
    #[error("cannot tell who may call")]
    AllowList(#[source] AllowListError),
    /// Tokens can not be checked.
    #[error("cannot check tokens")]
    Authentication(#[source] AuthenticationError),
    /// Connections can not be encrypted.
    #[error("cannot encrypt connections")]
    Tls(#[source] TlsError),
    /// The client and the server did not come to terms.
    #[error("the connection failed")]
    Connection(#[source] Box<dyn Error + Send + Sync>),
}

impl StartError {
    /// What to do about it, as a command or a sentence; none where there is nothing to say.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Open { path, .. } | Self::Damaged { path, .. } => Some(Self::remedy_to_build(path)),
            Self::Shard { .. } => {
                Some("merge all shards first: docs-indexer merge SHARD... -o docs.idx".to_owned())
            }
            Self::SeveralIndexes { .. } => Some("start one server for each of them".to_owned()),
            Self::Bind { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse => {
                Some("choose another port, or 0 for any free one".to_owned())
            }
            Self::Bind { source, .. } if source.kind() == std::io::ErrorKind::InvalidInput => {
                Some("give a host and a port, like 127.0.0.1:8765".to_owned())
            }
            Self::Exposed {
                needs_token,
                needs_host,
                ..
            } => {
                let token = needs_token.then_some("--token-file FILE (or --oauth-resource URL)");
                let host = needs_host.then_some("--allow-host NAME, the name that clients call it by");
                let missing: Vec<&str> = token.into_iter().chain(host).collect();
                Some(format!("add {}, or listen at 127.0.0.1", missing.join(" and ")))
            }
            Self::Authentication(error) => error.remedy().map(str::to_owned),
            Self::Tls(error) => error.remedy(),
            Self::Runtime(_)
            | Self::Bind { .. }
            | Self::Listener(_)
            | Self::AllowList(_)
            | Self::Connection(_) => None,
        }
    }

    /// For a file that is no good index.
    pub(crate) fn remedy_to_build(path: &Path) -> String {
        format!("to build it: docs-indexer build ./docs -o {}", path.display())
    }

    /// Whether the command line is at fault.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::SeveralIndexes { .. } | Self::Exposed { .. } | Self::AllowList(_)
        )
    }
}

/// Why arguments were refused. Shown to the model.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentError {
    /// Ill-typed or out of range.
    #[error("{name} is {value}: it must be {expected}")]
    Refused {
        /// Name as sent.
        name: String,
        /// Value as sent, as JSON.
        value: String,
        /// What is allowed.
        expected: String,
    },
    /// A required argument is not there.
    #[error("{tool} needs the argument \"{name}\" ({expected}){}", did_you_mean(sent.as_deref()))]
    Missing {
        /// The tool.
        tool: String,
        /// The parameter.
        name: String,
        /// What is allowed.
        expected: String,
        /// What was sent and may have been meant by it.
        sent: Option<String>,
    },
}

fn did_you_mean(sent: Option<&str>) -> String {
    sent.map(|sent| format!("; did you mean it by {}?", docs_index::answer::quoted(sent)))
        .unwrap_or_default()
}

/// An error and its causes on one line.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_start_error_says_what_to_do_or_has_nothing_to_say() {
        let cause = || std::io::Error::other("no file handles left");
        let errors = [
            StartError::Shard {
                path: "1.idx".into(),
                number: 1,
                count: 4,
            },
            StartError::SeveralIndexes { count: 2 },
            StartError::Runtime(cause()),
            StartError::Connection(Box::new(cause())),
        ];
        let lines: Vec<String> = errors
            .iter()
            .map(|error| {
                format!(
                    "{} | {} | {}",
                    chain(error),
                    error.remedy().unwrap_or_default(),
                    error.is_usage()
                )
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        1.idx is shard 1 of 4: shards can be merged, not served | merge all shards first: docs-indexer merge SHARD... -o docs.idx | false
        2 index files were named: this version serves one | start one server for each of them | true
        cannot set up the event loop: no file handles left |  | false
        the connection failed: no file handles left |  | false
        ");
    }
}
