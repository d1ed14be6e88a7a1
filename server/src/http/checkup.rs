//! Whether the index that is served is whole, found out at leisure.
//!
//! In: what is served. Out: the number of the edition that was found to be damaged, if one was. Opening an index reads
//! only its header, so that a server starts at once; the whole file is checked once afterwards, by a thread of the
//! lowest priority. Editions that come later were checked before they were served.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::chain;
use crate::served::Served;

/// What is known of the edition that was served first.
#[derive(Debug, Default)]
pub(super) struct Checkup {
    /// Number of the damaged edition; 0 if none is known.
    damaged: AtomicU64,
}

impl Checkup {
    /// Checks what is served now, on a thread of its own.
    pub(super) fn begin(served: &Arc<Served>) -> Arc<Self> {
        let checkup = Arc::new(Self::default());
        let (edition, result) = (served.current(), Arc::clone(&checkup));
        let started = std::thread::Builder::new()
            .name("index check".to_owned())
            .spawn(move || {
                lower_priority();
                let checked = catch_unwind(AssertUnwindSafe(|| edition.corpus().check()));
                let cause = match checked {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => chain(error.as_ref()),
                    Err(_panic) => "checking it failed inside".to_owned(),
                };
                tracing::error!(
                    %cause, content_hash = edition.summary().content_hash,
                    "the index is damaged: calls that meet the damage fail; build it again"
                );
                result.damaged.store(edition.number(), Ordering::Relaxed);
            });
        if let Err(error) = started {
            tracing::warn!(%error, "no thread could be started to check the index");
        }
        checkup
    }

    /// Whether what is served now is known to be damaged.
    pub(super) fn finds_damaged(&self, served: &Served) -> bool {
        self.damaged.load(Ordering::Relaxed) == served.current().number()
    }
}

/// Only this thread's, as Linux does it; answers must not wait for a check.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(19) {
        tracing::debug!(%error, "the index is checked at ordinary priority");
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::time::{Duration, Instant};

    use docs_index::answer::{Found, Lookup};
    use docs_index::{ReadError, SearchRequest};

    use super::*;
    use crate::corpus::{Corpus, CorpusSummary};

    #[derive(Debug, Clone, Copy)]
    enum State {
        Whole,
        Damaged,
        Hostile,
    }

    impl Corpus for State {
        fn summary(&self) -> CorpusSummary {
            CorpusSummary::default()
        }

        fn search(&self, _request: &SearchRequest<'_>) -> Result<Found, ReadError> {
            Ok(Found::default())
        }

        fn section(&self, _id: &str) -> Result<Lookup, ReadError> {
            Ok(Lookup::Unknown { similar: Vec::new() })
        }

        fn check(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
            match self {
                Self::Whole => Ok(()),
                Self::Damaged => Err("a checksum is wrong".into()),
                Self::Hostile => panic!("a root address outside of the dictionary"),
            }
        }
    }

    #[test]
    fn damage_is_known_until_a_new_edition_comes() {
        for state in [State::Damaged, State::Hostile] {
            let served = Arc::new(Served::new(Arc::new(state)));
            let checkup = Checkup::begin(&served);
            let deadline = Instant::now() + Duration::from_secs(20);
            while !checkup.finds_damaged(&served) {
                assert!(Instant::now() < deadline, "{state:?} was not found");
                std::thread::sleep(Duration::from_millis(5));
            }
            served.replace(Arc::new(State::Whole));
            assert!(!checkup.finds_damaged(&served));
        }
        let served = Arc::new(Served::new(Arc::new(State::Whole)));
        assert!(!Checkup::begin(&served).finds_damaged(&served));
    }
}
