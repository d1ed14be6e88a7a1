//! The index that is served now, which can be replaced while calls run.
//!
//! In: an opened corpus, and later another in its place. Out: the [`Edition`] that a call works on. A call takes the
//! newest edition once and keeps it to its end, so that no answer is made of two; an edition that was replaced goes,
//! and its file's map with it, when the last call that reads it has ended. Nothing waits: taking an edition is a few
//! atomic operations, whatever is being replaced.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use arc_swap::ArcSwap;

use crate::corpus::{Corpus, CorpusSummary};

/// One opened index, for as long as somebody reads from it.
#[derive(Debug, Clone)]
pub struct Edition {
    corpus: Arc<dyn Corpus>,
    // Asked for with every request: made once.
    summary: CorpusSummary,
    instructions: String,
    since: SystemTime,
    number: u64,
}

impl Edition {
    fn new(corpus: Arc<dyn Corpus>, number: u64) -> Self {
        let summary = corpus.summary();
        Self {
            instructions: summary.instructions(),
            summary,
            corpus,
            since: SystemTime::now(),
            number,
        }
    }

    /// What is searched.
    pub fn corpus(&self) -> &dyn Corpus {
        self.corpus.as_ref()
    }

    /// What it is.
    pub fn summary(&self) -> &CorpusSummary {
        &self.summary
    }

    /// What a client reads of it once.
    pub(crate) fn instructions(&self) -> &str {
        &self.instructions
    }

    /// When it was opened to be served.
    pub fn since(&self) -> SystemTime {
        self.since
    }

    /// Which one it is of those that were served, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// What is served: the newest edition, and how often there was a newer one.
#[derive(Debug)]
pub struct Served {
    current: ArcSwap<Edition>,
    refusals: AtomicU64,
}

impl Served {
    /// Serves this corpus until it is replaced.
    pub fn new(corpus: Arc<dyn Corpus>) -> Self {
        Self {
            current: ArcSwap::from_pointee(Edition::new(corpus, 1)),
            refusals: AtomicU64::new(0),
        }
    }

    /// The newest edition. A call takes it once and works on it to its end.
    pub fn current(&self) -> Arc<Edition> {
        self.current.load_full()
    }

    /// Serves this corpus from now on; calls that have begun end on the edition that they took.
    pub fn replace(&self, corpus: Arc<dyn Corpus>) {
        let edition = Edition::new(corpus, 1);
        self.current.rcu(|newest| Edition {
            number: newest.number + 1,
            ..edition.clone()
        });
    }

    /// Counts a replacement that was not fit to be served.
    pub fn refuse(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// How many times the index was replaced.
    pub fn swaps(&self) -> u64 {
        self.current.load().number - 1
    }

    /// How many replacements were refused.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use docs_index::answer::{Found, Lookup};
    use docs_index::{ReadError, SearchRequest};

    use super::*;

    #[derive(Debug)]
    struct Titled(&'static str);

    impl Corpus for Titled {
        fn summary(&self) -> CorpusSummary {
            CorpusSummary {
                title: self.0.to_owned(),
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

    #[test]
    fn an_edition_lives_as_long_as_somebody_reads_it() {
        let first: Arc<dyn Corpus> = Arc::new(Titled("first"));
        let alive: Weak<dyn Corpus> = Arc::downgrade(&first);
        let served = Served::new(first);
        let held = served.current();
        served.replace(Arc::new(Titled("second")));
        assert_eq!((held.number(), held.summary().title.as_str()), (1, "first"));
        assert!(held.instructions().starts_with("Documentation of first: "));
        let newest = served.current();
        assert_eq!((newest.number(), newest.summary().title.as_str()), (2, "second"));
        assert!(newest.since() >= held.since());
        assert!(alive.upgrade().is_some());
        drop(held);
        assert!(alive.upgrade().is_none(), "an old edition was kept");
    }

    #[test]
    fn replacements_and_refusals_are_counted_from_any_thread() {
        let served = Served::new(Arc::new(Titled("first")));
        assert_eq!((served.swaps(), served.refusals()), (0, 0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        served.replace(Arc::new(Titled("next")));
                        served.refuse();
                        assert!(served.current().number() > 1);
                    }
                });
            }
        });
        assert_eq!(
            (served.swaps(), served.refusals(), served.current().number()),
            (200, 200, 201)
        );
    }
}
