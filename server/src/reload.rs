//! A new index under the same name is noticed, opened, checked and served.
//!
//! In: the name of an index file and the state in which it was opened. Out: replacements in a [`Served`].
//!
//! A look is one `stat` each second, and it is all that an idle server does. There is no notification by the system:
//! network and overlay file systems give none, and a name that is a link, switched to another file, is to be noticed as
//! well. A file that differs from the one last judged is opened at once; what is wrong with it counts only when the next
//! look finds the same, so that one still being copied is not refused half-way. SIGHUP looks at once, and opens the file
//! whether it differs or not.
//!
//! What was found is opened and wholly checked on a thread of its own, which ends with that; there is none before. Only
//! what passed is served. What did not pass is dropped, counted and logged once, and the old index serves on; so it
//! does while there is no file at all. A file that changed while it was opened is neither served nor refused: it is
//! looked at again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use docs_index::{Index, OpenError};
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use crate::corpus::Corpus;
use crate::error::{StartError, chain};
use crate::fingerprint::Fingerprint;
use crate::served::Served;
use crate::signals::Hangups;
use crate::{OpenOptions, open};

/// Time between two looks at the file.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// An index file by its name, and the state in which it was opened.
#[derive(Debug)]
pub struct IndexFile {
    path: PathBuf,
    options: OpenOptions,
    opened: Option<Fingerprint>,
}

impl IndexFile {
    /// Opens an index to serve, and remembers which state of the file that was.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub fn open(path: &Path, options: &OpenOptions) -> Result<(Self, Index), StartError> {
        // Before it is opened: a file that takes its place in between then differs from what is remembered. One that
        // can not be asked is left to the error of opening it.
        let opened = Fingerprint::of(path).ok();
        let index = open(path, options)?;
        let file = Self {
            path: path.to_owned(),
            options: *options,
            opened,
        };
        Ok((file, index))
    }
}

/// Keeps what is served up to date with its file.
#[derive(Debug)]
pub struct Reloader {
    path: PathBuf,
    options: OpenOptions,
    served: Arc<Served>,
    opener: Opener,
    /// State that is served, or was refused.
    judged: Option<Fingerprint>,
    /// Another state, which was no good at the last look and may be half-way copied.
    seen: Option<Fingerprint>,
    /// State that could not be read at all, which was told already.
    told_unreadable: Option<Fingerprint>,
    told_missing: bool,
}

type Opener = fn(&Path, OpenOptions) -> Result<Arc<dyn Corpus>, StartError>;

/// Why a file is not served.
#[derive(Debug, Error)]
enum Refusal {
    #[error(transparent)]
    Unfit(#[from] StartError),
    /// Damage of a kind that no error was foreseen for.
    #[error("{} is damaged: checking it failed inside", .0.display())]
    Panicked(PathBuf),
    #[error("no thread could be started to check {}", path.display())]
    Thread { path: PathBuf, source: io::Error },
}

impl Refusal {
    /// Whether it says something of this moment rather than of the file.
    fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Thread { .. }
                | Self::Unfit(StartError::Open {
                    source: OpenError::Io { .. },
                    ..
                })
        )
    }
}

impl Reloader {
    /// Watches the file whose index is served.
    pub fn new(file: IndexFile, served: Arc<Served>) -> Self {
        Self {
            path: file.path,
            // What replaces a good index must be good, however that one was opened.
            options: OpenOptions {
                verify: true,
                ..file.options
            },
            served,
            opener: open_regular,
            judged: file.opened,
            seen: None,
            told_unreadable: None,
            told_missing: false,
        }
    }

    /// Looks each second, and at once on SIGHUP; for ever.
    pub async fn run(mut self) {
        let mut hangups = Hangups::new();
        let mut looks = tokio::time::interval_at(tokio::time::Instant::now() + LOOK_INTERVAL, LOOK_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = hangups.next() => self.read_again().await,
                _ = looks.tick() => self.look().await,
            }
        }
    }

    /// One look: opens the file if it is due.
    async fn look(&mut self) {
        let Some(now) = self.state() else {
            return;
        };
        if self.judged == Some(now) {
            self.seen = None;
        } else {
            self.judge(now, self.seen == Some(now)).await;
        }
    }

    /// Opens the file, whether it changed or not.
    async fn read_again(&mut self) {
        self.told_missing = false;
        self.told_unreadable = None;
        if let Some(now) = self.state() {
            self.judge(now, true).await;
        }
    }

    /// The file's state; none where there is no file, which is told once.
    fn state(&mut self) -> Option<Fingerprint> {
        // Not handed to a thread: where `stat` hangs, so do the pages of the index that is mapped from there.
        match Fingerprint::of(&self.path) {
            Ok(now) => {
                self.told_missing = false;
                Some(now)
            }
            Err(error) => {
                self.seen = None;
                if !self.told_missing {
                    self.told_missing = true;
                    tracing::warn!(
                        path = %self.path.display(), %error,
                        "the index file is not there any more; what was opened is served on"
                    );
                }
                None
            }
        }
    }

    /// Opens the file, found in this state, and serves it; or says why not, once the file has settled.
    async fn judge(&mut self, state: Fingerprint, has_settled: bool) {
        let opened = self.opened().await;
        if Fingerprint::of(&self.path).ok() != Some(state) {
            tracing::debug!(path = %self.path.display(), "the index file changed while it was opened");
            self.seen = None;
            return;
        }
        match opened {
            Ok(corpus) => {
                self.judged = Some(state);
                self.told_unreadable = None;
                self.serve(corpus);
            }
            Err(refusal) if refusal.is_passing() => {
                // Tried again with each look, and told once.
                if self.told_unreadable != Some(state) {
                    self.told_unreadable = Some(state);
                    self.refuse(&refusal);
                }
                self.seen = Some(state);
            }
            Err(refusal) if has_settled => {
                self.judged = Some(state);
                self.refuse(&refusal);
            }
            Err(refusal) => {
                tracing::debug!(cause = %chain(&refusal), "the index file is no good yet");
                self.seen = Some(state);
            }
        }
    }

    fn serve(&self, corpus: Arc<dyn Corpus>) {
        let old = self.served.current();
        self.served.replace(corpus);
        let new = self.served.current();
        let summary = new.summary();
        if summary.content_hash == old.summary().content_hash {
            tracing::debug!(content_hash = %summary.content_hash, "the same index was opened again");
        } else {
            tracing::info!(
                content_hash = %summary.content_hash, pages = summary.documents, sections = summary.sections,
                "a new index is served"
            );
        }
    }

    fn refuse(&self, refusal: &Refusal) {
        self.served.refuse();
        let remedy = match refusal {
            Refusal::Unfit(error) => error.remedy(),
            Refusal::Panicked(path) => StartError::remedy_to_build(path).into(),
            Refusal::Thread { .. } => None,
        };
        tracing::error!(
            cause = %chain(refusal), remedy = %remedy.unwrap_or_default(),
            "a new index was refused; the old one is served on"
        );
    }

    /// Opens and checks the file on a thread of its own.
    async fn opened(&self) -> Result<Arc<dyn Corpus>, Refusal> {
        let (sender, receiver) = oneshot::channel();
        let (path, options, opener) = (self.path.clone(), self.options, self.opener);
        std::thread::Builder::new()
            .name("index check".to_owned())
            .spawn(move || {
                // Nobody waits for it if the server is ending.
                let _ = sender.send(opener(&path, options));
            })
            .map_err(|source| Refusal::Thread {
                path: self.path.clone(),
                source,
            })?;
        // A thread that panics drops its end.
        let opened = receiver
            .await
            .map_err(|_panicked| Refusal::Panicked(self.path.clone()))?;
        Ok(opened?)
    }
}

/// Opens an index, but nothing that could be waited for without end.
fn open_regular(path: &Path, options: OpenOptions) -> Result<Arc<dyn Corpus>, StartError> {
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        return Err(StartError::Open {
            path: path.to_owned(),
            source: OpenError::Io {
                path: path.to_owned(),
                source,
            },
        });
    }
    Ok(Arc::new(open(path, &options)?))
}

#[cfg(test)]
mod tests {
    use docs_index::answer::{Found, Lookup};
    use docs_index::{ReadError, SearchRequest};

    use super::*;
    use crate::corpus::CorpusSummary;

    /// A corpus with the title that stands in its file.
    #[derive(Debug)]
    struct Titled(String);

    impl Corpus for Titled {
        fn summary(&self) -> CorpusSummary {
            CorpusSummary {
                title: self.0.clone(),
                content_hash: self.0.clone(),
                ..CorpusSummary::default()
            }
        }

        fn search(&self, _request: &SearchRequest<'_>) -> Result<Found, ReadError> {
            Ok(Found::default())
        }

        fn section(&self, _id: &str) -> Result<Lookup, ReadError> {
            Ok(Lookup::Unknown { similar: Vec::new() })
        }
    }

    /// Opens a file that holds no more than a title, or says what to do.
    fn open_titled(path: &Path, options: OpenOptions) -> Result<Arc<dyn Corpus>, StartError> {
        assert!(options.verify, "a replacement was not checked");
        let text = std::fs::read_to_string(path).unwrap();
        let unfit = |source| StartError::Open {
            path: path.to_owned(),
            source,
        };
        match text.as_str() {
            "panic" => panic!("a root address outside of the dictionary"),
            "foreign" => Err(unfit(OpenError::Magic)),
            "locked" => Err(unfit(OpenError::Io {
                path: path.to_owned(),
                source: io::Error::other("no file handles left"),
            })),
            "changing" => {
                std::fs::write(path, "changed since").unwrap();
                Ok(Arc::new(Titled(text)))
            }
            _ => Ok(Arc::new(Titled(text))),
        }
    }

    /// A file with a title, and what watches it.
    struct Watched {
        folder: tempfile::TempDir,
        reloader: Reloader,
    }

    impl Watched {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("docs.idx");
            std::fs::write(&path, "first").unwrap();
            let file = IndexFile {
                opened: Fingerprint::of(&path).ok(),
                path,
                options: OpenOptions::default(),
            };
            let served = Arc::new(Served::new(Arc::new(Titled("first".to_owned()))));
            let reloader = Reloader {
                opener: open_titled,
                ..Reloader::new(file, served)
            };
            Self { folder, reloader }
        }

        /// A new file of this text, renamed over the old one.
        fn put(&self, text: &str) {
            let new = self.folder.path().join("new");
            std::fs::write(&new, text).unwrap();
            std::fs::rename(new, &self.reloader.path).unwrap();
        }

        async fn looks(&mut self, count: usize) {
            for _ in 0..count {
                self.reloader.look().await;
            }
        }

        /// What is served, how often it was replaced, how often a replacement was refused.
        fn state(&self) -> (String, u64, u64) {
            let served = &self.reloader.served;
            (
                served.current().summary().title.clone(),
                served.swaps(),
                served.refusals(),
            )
        }

        #[track_caller]
        fn is(&self, title: &str, swaps: u64, refusals: u64) {
            assert_eq!(self.state(), (title.to_owned(), swaps, refusals));
        }
    }

    #[tokio::test]
    async fn a_new_file_is_served_at_the_first_look_that_finds_it_whole() {
        let mut watched = Watched::new();
        watched.looks(3).await;
        watched.is("first", 0, 0);
        // Half-way copied, which is no reason to refuse it.
        watched.put("foreign");
        watched.looks(1).await;
        watched.is("first", 0, 0);
        watched.put("second");
        watched.looks(1).await;
        watched.is("second", 1, 0);
        watched.looks(5).await;
        watched.is("second", 1, 0);
    }

    #[tokio::test]
    async fn what_is_unfit_is_refused_once_and_the_next_file_gets_its_chance() {
        for unfit in ["foreign", "panic", "locked"] {
            let mut watched = Watched::new();
            watched.put(unfit);
            watched.looks(6).await;
            watched.is("first", 0, 1);
            watched.put(unfit);
            watched.looks(6).await;
            watched.is("first", 0, 2);
            watched.put("second");
            watched.looks(2).await;
            watched.is("second", 1, 2);
        }
    }

    #[tokio::test]
    async fn a_file_that_could_not_be_read_for_the_moment_is_tried_again() {
        fn locked(path: &Path, _options: OpenOptions) -> Result<Arc<dyn Corpus>, StartError> {
            let source = io::Error::other("no file handles left");
            Err(StartError::Open {
                path: path.to_owned(),
                source: OpenError::Io {
                    path: path.to_owned(),
                    source,
                },
            })
        }
        let mut watched = Watched::new();
        watched.put("second");
        watched.reloader.opener = locked;
        watched.looks(4).await;
        watched.is("first", 0, 1);
        watched.reloader.opener = open_titled;
        watched.looks(1).await;
        watched.is("second", 1, 1);
    }

    #[tokio::test]
    async fn a_file_that_changed_while_it_was_opened_is_looked_at_again() {
        let mut watched = Watched::new();
        watched.put("changing");
        watched.looks(1).await;
        watched.is("first", 0, 0);
        watched.looks(1).await;
        watched.is("changed since", 1, 0);
    }

    #[tokio::test]
    async fn a_missing_file_is_waited_for() {
        let mut watched = Watched::new();
        std::fs::remove_file(&watched.reloader.path).unwrap();
        watched.looks(3).await;
        assert!(watched.reloader.told_missing);
        watched.reloader.read_again().await;
        watched.is("first", 0, 0);
        watched.put("second");
        watched.looks(2).await;
        watched.is("second", 1, 0);
        assert!(!watched.reloader.told_missing);
    }

    #[tokio::test]
    async fn who_asks_gets_the_file_opened_at_once_even_if_it_is_the_same() {
        let mut watched = Watched::new();
        watched.reloader.read_again().await;
        watched.is("first", 1, 0);
        watched.put("second");
        watched.reloader.read_again().await;
        watched.is("second", 2, 0);
        watched.put("foreign");
        watched.reloader.read_again().await;
        watched.reloader.read_again().await;
        watched.is("second", 2, 2);
    }

    #[tokio::test]
    async fn a_file_that_took_the_place_before_the_watch_began_is_noticed() {
        let mut watched = Watched::new();
        watched.put("second");
        watched.looks(2).await;
        watched.is("second", 1, 0);
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let error = open_regular(folder.path(), OpenOptions::default()).unwrap_err();
        assert!(chain(&error).ends_with("not a regular file"), "{}", chain(&error));
        let missing = folder.path().join("none");
        assert!(open_regular(&missing, OpenOptions::default()).is_err());
    }

    #[test]
    fn a_refusal_says_what_is_wrong() {
        let path = || PathBuf::from("docs.idx");
        let cause = || io::Error::other("no room");
        let refusals = [
            Refusal::Unfit(StartError::Open {
                path: path(),
                source: OpenError::Magic,
            }),
            Refusal::Panicked(path()),
            Refusal::Thread {
                path: path(),
                source: cause(),
            },
        ];
        let lines = refusals.map(|refusal| format!("{} | {}", chain(&refusal), refusal.is_passing()));
        insta::assert_snapshot!(lines.join("\n"), @r"
        cannot serve docs.idx: not an index file: it does not begin with the magic bytes; build one with docs-indexer build | false
        docs.idx is damaged: checking it failed inside | false
        no thread could be started to check docs.idx: no room | true
        ");
    }
}
