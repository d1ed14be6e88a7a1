//! What tells one state of a file from another, without reading it.
//!
//! In: a path. Out: a [`Fingerprint`] that differs once the file under that name was replaced or written to. It is how
//! a running server notices a new index, certificate or token file; links are followed, so a name that is a link to
//! another file from now on counts as replaced.

use std::io;
use std::path::Path;
use std::time::SystemTime;

/// A file's identity, size and last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device and inode, where files have them: a file that was renamed into place can be as long and as old.
    identity: (u64, u64),
}

impl Fingerprint {
    /// The state of the file that stands under `path` now.
    ///
    /// # Errors
    ///
    /// When there is none, or it can not be asked.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        Ok(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(&metadata),
        })
    }
}

#[cfg(unix)]
fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_metadata: &std::fs::Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_or_written_to_differs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(
            Fingerprint::of(&path).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        std::fs::write(&path, "one").unwrap();
        let first = Fingerprint::of(&path).unwrap();
        assert_eq!(first, Fingerprint::of(&path).unwrap());
        std::fs::write(&path, "longer").unwrap();
        let written = Fingerprint::of(&path).unwrap();
        assert_ne!(first, written);
        // As long as the other and put in its place: told apart by what it is, not by when it was written.
        let other = folder.path().join("b");
        std::fs::write(&other, "LONGER").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_ne!(written, Fingerprint::of(&path).unwrap());
    }
}
