//! Why an include is not resolved.

use thiserror::Error;

/// The directive stays in the text as it stands, and this is its warning.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum IncludeFault {
    #[error("the file lies outside the docs tree and every include root")]
    OutsideRoots,
    /// A checkout's own files may hold the credentials that it was fetched with.
    #[error("it is one of git's own files")]
    GitsOwn,
    #[error("the file is not found")]
    NotFound,
    #[error("the file includes itself")]
    Cycle,
    #[error("files include each other more than {limit} deep")]
    TooDeep { limit: usize },
    #[error("the file has more than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it is a URL, and nothing is fetched")]
    Remote,
    #[error("the file has no {name:?}")]
    NoSuchSection { name: String },
    #[error("the file has no lines {range:?}")]
    BadRange { range: String },
    #[error("the file cannot be read: {reason}")]
    Unreadable { reason: String },
    #[error(
        "the document's includes come to more than can be taken in; this one and those after it are left"
    )]
    Exhausted,
}

impl IncludeFault {
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Self::OutsideRoots | Self::NotFound => {
                "mend the path, or give the folder that holds the file with --include-root FOLDER"
            }
            Self::Cycle | Self::TooDeep { .. } => "break the circle of includes",
            Self::TooLarge { .. } => "include a smaller file, or raise --max-file-size",
            Self::NotAFile | Self::GitsOwn => "name another file",
            Self::Remote => "keep a copy of the file in the docs tree and include that",
            Self::NoSuchSection { .. } | Self::BadRange { .. } => "mend the directive or the included file",
            Self::Unreadable { .. } => "make the file readable",
            Self::Exhausted => "include less in one document",
        }
    }
}
