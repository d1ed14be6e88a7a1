//! Answers given lately, to be given again.
//!
//! In: a call whose arguments were read, and the edition of the index it is asked of. Out: the text of its answer, if it
//! was given before. An edition does not change and answers depend on nothing else, so the same call has the same
//! answer; with the first call of a newer edition all that was kept of the old one goes. Many clients of one server ask
//! alike: the agents of a team, the runs of a pipeline, a client that asks again.
//!
//! Kept are answers only, not errors. Which ones stay is decided by the crate `quick_cache` (S3-FIFO), within a number of
//! bytes.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde_json::{Map, Value};

/// Bytes that an entry takes beside its texts, generously.
const OVERHEAD: usize = 160;
/// Bytes of an ordinary answer with its key, by which room is made for the table.
const ORDINARY: usize = 2_048;

/// Answers within so many bytes.
#[derive(Debug)]
pub(crate) struct AnswerCache {
    answers: Cache<Call, Arc<str>, Bytes>,
    hits: AtomicU64,
    /// The newest edition that was asked.
    edition: AtomicU64,
}

/// A call of a tool, the same for all ways of writing it that mean the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    edition: u64,
    tool: String,
    arguments: String,
}

#[derive(Debug, Clone)]
struct Bytes;

impl Weighter<Call, Arc<str>> for Bytes {
    fn weight(&self, call: &Call, answer: &Arc<str>) -> u64 {
        let bytes = call.tool.len() + call.arguments.len() + answer.len() + OVERHEAD;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl Call {
    /// A call whose arguments have been brought to the form that the tool takes.
    pub(crate) fn new(edition: u64, tool: &str, arguments: &Map<String, Value>) -> Self {
        let mut written: Vec<_> = arguments.iter().collect();
        written.sort_unstable_by_key(|(name, _)| name.as_str());
        let mut text = String::new();
        for (name, value) in written {
            // Values are JSON, in which a line end is escaped; writing to a string does not fail.
            let _ = writeln!(text, "{name}={value}");
        }
        Self {
            edition,
            tool: tool.to_owned(),
            arguments: text,
        }
    }
}

impl AnswerCache {
    /// Room for answers of so many bytes together; none if there is no room for one.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let ordinary = bytes / ORDINARY;
        (ordinary > 0).then(|| Self {
            answers: Cache::with_weighter(ordinary, u64::try_from(bytes).unwrap_or(u64::MAX), Bytes),
            hits: AtomicU64::new(0),
            edition: AtomicU64::new(0),
        })
    }

    /// What was answered to this call before.
    pub(crate) fn get(&self, call: &Call) -> Option<Arc<str>> {
        if self.edition.fetch_max(call.edition, Ordering::Relaxed) < call.edition {
            self.answers.clear();
        }
        let answer = self.answers.get(call)?;
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    }

    /// How often an answer was there.
    pub(crate) fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Keeps an answer, as far as there is room.
    pub(crate) fn put(&self, call: Call, answer: &str) {
        self.answers.insert(call, answer.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::json;

    fn call(edition: u64, tool: &str, arguments: &Value) -> Call {
        Call::new(edition, tool, arguments.as_object().unwrap())
    }

    #[test]
    fn the_same_call_of_the_same_edition_is_answered_again() {
        let cache = AnswerCache::new(1 << 20).unwrap();
        let asked = call(1, "search_docs", &json!({"query": "a", "k": 5}));
        assert_eq!(cache.get(&asked), None);
        cache.put(asked.clone(), "an answer");
        assert_eq!(cache.get(&asked).as_deref(), Some("an answer"));
        let again = call(1, "search_docs", &json!({"k": 5, "query": "a"}));
        assert_eq!(cache.get(&again).as_deref(), Some("an answer"));
        assert_eq!(cache.hits(), 2);
        for other in [
            call(2, "search_docs", &json!({"query": "a", "k": 5})),
            call(1, "get_section", &json!({"query": "a", "k": 5})),
            call(1, "search_docs", &json!({"query": "a", "k": 6})),
            call(1, "search_docs", &json!({"query": "a"})),
            call(1, "search_docs", &json!({"query": "a\nk=5"})),
        ] {
            assert_eq!(cache.get(&other), None, "{other:?}");
        }
    }

    #[test]
    fn nothing_of_an_older_edition_is_kept() {
        let cache = AnswerCache::new(1 << 20).unwrap();
        let of = |edition| call(edition, "search_docs", &json!({"query": "a"}));
        cache.get(&of(1));
        cache.put(of(1), "of the first");
        assert_eq!(cache.get(&of(2)), None);
        assert_eq!(cache.answers.len(), 0);
        cache.put(of(2), "of the second");
        // A call that began before the second came.
        assert_eq!(cache.get(&of(1)), None);
        assert_eq!(cache.get(&of(2)).as_deref(), Some("of the second"));
    }

    #[test]
    fn so_many_bytes_are_kept() {
        let bytes = 1 << 20;
        let cache = AnswerCache::new(bytes).unwrap();
        let answer = "x".repeat(1_500);
        for number in 0..5_000 {
            cache.put(call(1, "search_docs", &json!({"query": number})), &answer);
        }
        assert!(cache.answers.weight() <= u64::try_from(bytes).unwrap());
        assert!(cache.answers.len() > 300, "{}", cache.answers.len());
        assert!(AnswerCache::new(0).is_none());
    }
}
