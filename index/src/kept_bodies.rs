//! Texts that were shown lately, kept as they were read.
//!
//! To show a passage of a section its block is unpacked and its text read, which together take as long as the ranking;
//! and the sections that are found today are those that were found yesterday. In: a record and what reads its body. Out:
//! the [`ReadBody`], the same whether it was kept or read anew, since an index does not change. Failures are not kept.
//!
//! All of it takes at most [`LIMIT`] bytes, and none before the first search. Where there is no room, of two chosen by
//! lot the one goes that was not asked for longer: so a round of queries that is a little too large for the room still
//! finds most of what it asks for, of which the eldest-first rule would keep none.

use crate::{reader::RecordNumber, search::snippet::ReadBody};
use rustc_hash::FxHashMap;
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Bytes of all that is kept.
const LIMIT: usize = 4 << 20;
/// One that is larger would drive out too many others.
const LARGEST: usize = LIMIT / 16;
/// Bytes that a body takes beside its own: its slot and its place in the table, generously.
const OVERHEAD: usize = 96;

/// The bodies kept of one index, shared by all threads that search it.
#[derive(Default)]
pub(crate) struct KeptBodies {
    kept: Mutex<Kept>,
}

impl fmt::Debug for KeptBodies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptBodies")
    }
}

impl KeptBodies {
    /// The body of a record: kept, or read now. Other threads do not wait while it is read.
    pub(crate) fn get<E>(
        &self,
        record: RecordNumber,
        read: impl FnOnce() -> Result<ReadBody, E>,
    ) -> Result<Arc<ReadBody>, E> {
        if let Some(body) = self.lock().find(record) {
            return Ok(body);
        }
        let mut body = read()?;
        body.shrink();
        let body = Arc::new(body);
        self.lock().keep(record, &body, LIMIT);
        Ok(body)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        // A panic between two statements of what follows would leave something kept or not, and no text wrong.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct Kept {
    slots: Vec<Slot>,
    /// Places in `slots`.
    places: FxHashMap<RecordNumber, usize>,
    bytes: usize,
    /// Counts what is asked for.
    now: u64,
    lot: u64,
}

struct Slot {
    record: RecordNumber,
    asked_for: u64,
    bytes: usize,
    body: Arc<ReadBody>,
}

impl Kept {
    fn find(&mut self, record: RecordNumber) -> Option<Arc<ReadBody>> {
        let slot = self.slots.get_mut(*self.places.get(&record)?)?;
        self.now += 1;
        slot.asked_for = self.now;
        Some(Arc::clone(&slot.body))
    }

    fn keep(&mut self, record: RecordNumber, body: &Arc<ReadBody>, limit: usize) {
        let bytes = body.bytes() + OVERHEAD;
        if bytes > LARGEST.min(limit) || self.places.contains_key(&record) {
            return;
        }
        while self.bytes + bytes > limit {
            let (one, other) = (self.draw(), self.draw());
            let (Some(first), Some(second)) = (self.slots.get(one), self.slots.get(other)) else {
                return;
            };
            self.remove(if first.asked_for <= second.asked_for {
                one
            } else {
                other
            });
        }
        self.now += 1;
        self.bytes += bytes;
        self.places.insert(record, self.slots.len());
        self.slots.push(Slot {
            record,
            asked_for: self.now,
            bytes,
            body: Arc::clone(body),
        });
    }

    /// Takes out the body at a place, and puts the last one there.
    fn remove(&mut self, place: usize) {
        let slot = self.slots.swap_remove(place);
        self.bytes -= slot.bytes;
        self.places.remove(&slot.record);
        if let Some(moved) = self.slots.get(place) {
            self.places.insert(moved.record, place);
        }
    }

    /// A place by lot; the same row of lots in every process.
    fn draw(&mut self) -> usize {
        // Knuth's linear congruential generator; its high bits are the good ones.
        self.lot = self
            .lot
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.lot >> 33) as usize % self.slots.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body(text: &str) -> ReadBody {
        ReadBody::of(text)
    }

    #[test]
    fn what_was_read_is_not_read_again_and_failures_are() {
        let bodies = KeptBodies::default();
        let mut reads = 0;
        for (fails, expected) in [(true, 1), (true, 2), (false, 3), (false, 3)] {
            let found = bodies.get(7, || {
                reads += 1;
                if fails { Err("damaged") } else { Ok(body("a text")) }
            });
            assert_eq!((found.is_err(), reads), (fails, expected));
        }
    }

    #[test]
    fn a_body_that_would_drive_out_the_others_is_not_kept() {
        let bodies = KeptBodies::default();
        let large = "one, two; ".repeat(6000);
        assert!(body(&large).bytes() > LARGEST);
        for reads in 1..3 {
            let mut read = 0;
            bodies
                .get(0, || {
                    read = reads;
                    Ok::<_, ()>(body(&large))
                })
                .unwrap();
            assert_eq!(read, reads);
        }
        assert_eq!(bodies.lock().bytes, 0);
    }

    #[test]
    fn a_round_that_is_too_large_still_finds_some_of_what_it_asks_for() {
        let text = Arc::new(body("a text of some words"));
        let limit = 90 * (text.bytes() + OVERHEAD);
        let mut kept = Kept::default();
        let mut found = 0;
        for record in (0..20).flat_map(|_| 0..100) {
            if kept.find(record).is_some() {
                found += 1;
            } else {
                kept.keep(record, &text, limit);
            }
        }
        assert_eq!(kept.slots.len(), 90);
        assert!(found > 1000, "{found} of 2000");
    }

    proptest! {
        #[test]
        fn bodies_are_found_under_their_records_and_keep_to_their_room(
            asked in prop::collection::vec((0_u32..30, 1_usize..60), 1..120), limit in 0_usize..20_000,
        ) {
            let mut kept = Kept::default();
            for (record, words) in asked {
                if let Some(found) = kept.find(record) {
                    let beginning = format!("word{record} ");
                    prop_assert!(found.text().starts_with(&beginning));
                } else {
                    let mut read = body(&format!("word{record} ").repeat(words));
                    read.shrink();
                    kept.keep(record, &Arc::new(read), limit);
                }
                prop_assert!(kept.bytes <= limit);
                prop_assert_eq!(kept.bytes, kept.slots.iter().map(|slot| slot.bytes).sum::<usize>());
                prop_assert_eq!(kept.places.len(), kept.slots.len());
            }
        }
    }
}
