//! Reads the bytes of a document, and notices when somebody writes to it meanwhile.
//!
//! In: a file that the walk found, and the limit of a file's size. Out: its bytes, and whether they can be relied
//! on. A file is whole if its length and its time of modification are the same before and after reading, and as many
//! bytes were read as it has. Where it is not, it is read again; a file that is replaced by renaming is always
//! whole, since the one that was opened stays as it is.

use std::fs::File;
use std::io::{self, Read};
use std::time::SystemTime;

use thiserror::Error;

use crate::report::{Warning, WarningKind};
use crate::walk::SourceFile;

/// How often a file is read until one reading is whole: once, and three times again.
const READINGS: usize = 4;

/// The bytes of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) bytes: Vec<u8>,
    /// Every reading was disturbed; these are the bytes of the last.
    pub(crate) changed: bool,
}

/// Why a document that the walk found cannot be read.
#[derive(Debug, Error)]
pub(crate) enum SourceError {
    #[error("vanished during the build")]
    Vanished,
    #[error("grew above --max-file-size during the build (limit {limit} bytes)")]
    Grew { limit: u64 },
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
}

impl From<io::Error> for SourceError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Vanished,
            _ => Self::Unreadable(error),
        }
    }
}

impl SourceError {
    /// What to tell the author.
    pub(crate) fn warning(&self, path: String) -> Warning {
        let kind = match self {
            Self::Grew { .. } => WarningKind::TooLarge,
            Self::Vanished | Self::Unreadable(_) => WarningKind::Unreadable,
        };
        let warning = Warning::new(kind, path, None, self.to_string());
        match self {
            Self::Vanished => warning.with_advice("build from a tree at rest"),
            Self::Grew { .. } | Self::Unreadable(_) => warning,
        }
    }
}

impl Source {
    /// What to tell the author of a file that changed.
    pub(crate) fn warning(&self, path: String) -> Option<Warning> {
        self.changed.then(|| {
            let message = format!(
                "the file changed while it was read, {READINGS} times in a row; what was read last is indexed"
            );
            Warning::new(WarningKind::ChangedDuringBuild, path, None, message)
        })
    }
}

/// Reads a document.
///
/// # Errors
/// Where the file is gone, is larger than `limit` by now, or cannot be read.
pub(crate) fn read_source(file: &SourceFile, limit: u64) -> Result<Source, SourceError> {
    read_whole(|| File::open(&file.absolute), limit)
}

/// What tells one state of a file from another. A system without times of modification gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// An opened file that can be asked for its state while it is read.
trait OpenedFile: Read {
    fn state(&self) -> io::Result<FileState>;
}

impl OpenedFile for File {
    fn state(&self) -> io::Result<FileState> {
        let metadata = self.metadata()?;
        Ok(FileState {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

fn read_whole<F: OpenedFile>(
    mut open: impl FnMut() -> io::Result<F>,
    limit: u64,
) -> Result<Source, SourceError> {
    let mut bytes = Vec::new();
    for _ in 0..READINGS {
        bytes.clear();
        let mut file = open()?;
        let before = file.state()?;
        // The length is a hint only, and above the limit nothing is kept.
        bytes.reserve_exact(usize::try_from(before.bytes.min(limit)).unwrap_or(0));
        (&mut file)
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(SourceError::Grew { limit });
        }
        let after = file.state()?;
        if before == after && after.bytes == bytes.len() as u64 {
            return Ok(Source {
                bytes,
                changed: false,
            });
        }
    }
    Ok(Source { bytes, changed: true })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use super::*;

    /// What somebody does to a file.
    type Disturbance = fn(&Path);

    /// A real file that somebody writes to after its first bytes have been read.
    struct Disturbed<D: FnMut()> {
        file: File,
        disturb: Option<D>,
    }

    impl<D: FnMut()> Read for Disturbed<D> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let end = buffer.len().min(4);
            let read = self.file.read(&mut buffer[..end])?;
            if let Some(mut disturb) = self.disturb.take() {
                disturb();
            }
            Ok(read)
        }
    }

    impl<D: FnMut()> OpenedFile for Disturbed<D> {
        fn state(&self) -> io::Result<FileState> {
            self.file.state()
        }
    }

    /// A file `a.md` with this text and a time of modification in the past.
    fn place(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, text).unwrap();
        set_time(&path, 1_000_000);
        (folder, path)
    }

    fn set_time(path: &Path, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    }

    /// Reads a file that is disturbed in each of the first `times` readings; also tells how often it was opened.
    fn read_disturbed(path: &Path, times: usize, disturb: impl Fn()) -> (Source, usize) {
        let opened = Cell::new(0);
        let open = || {
            opened.set(opened.get() + 1);
            Ok(Disturbed {
                file: File::open(path)?,
                disturb: (opened.get() <= times).then_some(&disturb),
            })
        };
        let source = read_whole(open, 1 << 20).unwrap();
        (source, opened.get())
    }

    #[test]
    fn a_file_at_rest_is_read_once() {
        let (_folder, path) = place("# At rest\n");
        let (source, opened) = read_disturbed(&path, 0, || {});
        assert_eq!(
            (source.bytes.as_slice(), source.changed),
            (&b"# At rest\n"[..], false)
        );
        assert_eq!(opened, 1);
        assert_eq!(source.warning("a.md".to_owned()), None);
    }

    #[test]
    fn a_file_that_changes_once_is_read_again_and_whole() {
        let rewritten = |path: &Path, text: &str| {
            fs::write(path, text).unwrap();
            set_time(path, 2_000_000);
        };
        for new in [
            "# New\n",
            "# Old and long.\n",
            "# A text that is longer than the old one.\n",
        ] {
            let (_folder, path) = place("# Old and long,\n");
            let (source, opened) = read_disturbed(&path, 1, || rewritten(&path, new));
            assert_eq!(String::from_utf8_lossy(&source.bytes), new);
            assert_eq!((source.changed, opened), (false, 2), "{new}");
        }
    }

    #[test]
    fn any_sign_of_a_change_is_enough() {
        let signs: [(&str, Disturbance); 3] = [
            ("longer, the time as before", |path| {
                let mut file = File::options().append(true).open(path).unwrap();
                file.write_all(b"more\n").unwrap();
                set_time(path, 1_000_000);
            }),
            ("shorter, the time as before", |path| {
                File::options()
                    .write(true)
                    .open(path)
                    .unwrap()
                    .set_len(5)
                    .unwrap();
                set_time(path, 1_000_000);
            }),
            ("as long, another time", |path| set_time(path, 3_000_000)),
        ];
        for (sign, disturb) in signs {
            let (_folder, path) = place("# A title\n");
            let (source, opened) = read_disturbed(&path, 1, || disturb(&path));
            assert_eq!((source.changed, opened), (false, 2), "{sign}");
            assert_eq!(source.bytes, fs::read(&path).unwrap(), "{sign}");
        }
    }

    #[test]
    fn a_file_that_never_rests_is_taken_with_a_warning() {
        let (_folder, path) = place("# Log\n");
        let append = || {
            let mut file = File::options().append(true).open(&path).unwrap();
            file.write_all(b"line\n").unwrap();
        };
        let (source, opened) = read_disturbed(&path, usize::MAX, append);
        assert!(source.changed);
        assert_eq!(opened, READINGS);
        assert_eq!(source.bytes, fs::read(&path).unwrap());
        let warning = source.warning("a.md".to_owned()).unwrap();
        assert_eq!(warning.kind, WarningKind::ChangedDuringBuild);
        assert_eq!(
            warning.line_for_people(),
            "a.md: the file changed while it was read, 4 times in a row; what was read last is indexed \
             (build from a tree at rest)"
        );
    }

    #[test]
    fn a_file_that_vanishes_between_two_readings_is_told_so() {
        let (_folder, path) = place("# Short-lived\n");
        let open = || {
            Ok(Disturbed {
                file: File::open(&path)?,
                disturb: Some(|| {
                    set_time(&path, 2_000_000);
                    fs::remove_file(&path).unwrap();
                }),
            })
        };
        let error = read_whole(open, 1 << 20).unwrap_err();
        assert!(matches!(error, SourceError::Vanished));
    }

    #[test]
    fn what_the_walk_found_may_be_gone_or_another_thing() {
        let (folder, path) = place("# Four\n");
        let found = SourceFile {
            path_in_tree: b"a.md".to_vec(),
            absolute: path.clone(),
            bytes: 7,
        };
        assert_eq!(read_source(&found, 7).unwrap().bytes, b"# Four\n");
        let told = |limit| {
            let error = read_source(&found, limit).unwrap_err();
            let warning = error.warning("a.md".to_owned());
            (warning.kind, warning.line_for_people())
        };
        assert_eq!(
            told(6),
            (
                WarningKind::TooLarge,
                "a.md: grew above --max-file-size during the build (limit 6 bytes) \
                 (split it, exclude it, or raise --max-file-size)"
                    .to_owned()
            )
        );
        fs::remove_file(&path).unwrap();
        assert_eq!(
            told(7),
            (
                WarningKind::Unreadable,
                "a.md: vanished during the build (build from a tree at rest)".to_owned()
            )
        );
        fs::create_dir(&path).unwrap();
        let (kind, line) = told(7);
        assert_eq!(kind, WarningKind::Unreadable);
        assert!(line.starts_with("a.md: cannot be read: "), "{line}");
        drop(folder);
    }
}
