//! A small file that is read again once it changed.
//!
//! In: a path and the most bytes that are read from it. Out: its content at the start, and later each new content
//! once. A state that was handed out, or could not be read, is not offered again: the one who uses it decides whether
//! it is good, and complains once.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::fingerprint::Fingerprint;

/// A file and the state in which it was last read.
#[derive(Debug)]
pub(crate) struct WatchedFile {
    path: PathBuf,
    max_bytes: u64,
    /// None: there was no such file.
    seen: Mutex<Option<Fingerprint>>,
}

impl WatchedFile {
    /// Reads the file for the first time.
    ///
    /// # Errors
    ///
    /// When it can not be read, or has more bytes than allowed.
    pub(crate) fn open(path: &Path, max_bytes: u64) -> io::Result<(Self, Vec<u8>)> {
        // Asked for before the content is read: what is written in between differs from it, and is read next time.
        let seen = Fingerprint::of(path)?;
        let content = read(path, max_bytes)?;
        let file = Self {
            path: path.to_owned(),
            max_bytes,
            seen: Mutex::new(Some(seen)),
        };
        Ok((file, content))
    }

    /// The content, if the file changed since it was last read, or in any case with `force`.
    pub(crate) fn changed(&self, force: bool) -> Option<io::Result<Vec<u8>>> {
        // What comes out of a pipe can be read only once.
        if std::fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file()) {
            return None;
        }
        let now = Fingerprint::of(&self.path);
        let state = now.as_ref().ok().copied();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !force && *seen == state {
            return None;
        }
        *seen = state;
        Some(now.and_then(|_| read(&self.path, self.max_bytes)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The whole of a file that has at most so many bytes; [`io::ErrorKind::FileTooLarge`] if it has more.
pub(super) fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let read = File::open(path)?.take(max_bytes + 1).read_to_end(&mut content)?;
    if u64::try_from(read).is_ok_and(|read| read > max_bytes) {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {max_bytes} bytes"),
        ));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_of_a_file_is_handed_out_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(
            WatchedFile::open(&path, 10).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        std::fs::write(&path, "one").unwrap();
        let (file, content) = WatchedFile::open(&path, 10).unwrap();
        assert_eq!(content, b"one");
        assert!(file.changed(false).is_none());
        assert_eq!(file.changed(true).unwrap().unwrap(), b"one");

        std::fs::write(&path, "three").unwrap();
        assert_eq!(file.changed(false).unwrap().unwrap(), b"three");
        assert!(file.changed(false).is_none());

        std::fs::write(&path, "more than ten").unwrap();
        assert_eq!(
            file.changed(false).unwrap().unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
        assert!(file.changed(false).is_none());

        std::fs::remove_file(&path).unwrap();
        assert!(file.changed(false).unwrap().is_err());
        assert!(file.changed(false).is_none());
        std::fs::write(&path, "back").unwrap();
        assert_eq!(file.changed(false).unwrap().unwrap(), b"back");
    }

    #[test]
    fn what_is_no_file_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "one").unwrap();
        let (file, _) = WatchedFile::open(&path, 10).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(file.changed(true).is_none());
    }
}
