//! Shows a table by its header and the rows that answer.
//!
//! In: a table of the reading and what was found in it. Out: the words of its header and of its best rows, as
//! many as there is room for.

use super::{
    wanted::{Coverage, Wanted},
    window::{self, CUT_CHARS, Occurrences},
};
use crate::search::reading::{Reading, Table};
use std::ops::Range;

/// Rows shown.
const ROW_LIMIT: usize = 4;
/// Characters of the break between two pieces, with a mark of what was left out.
const BREAK_CHARS: usize = 5;

/// The pieces to show of the table that a passage lies in, if they show as much of what is wanted.
pub(super) fn of_table(
    reading: &Reading,
    found: &Occurrences,
    wanted: &Wanted,
    passage: &Range<usize>,
    limit: usize,
) -> Option<Vec<Range<usize>>> {
    let table = reading.tables.iter().find(|table| {
        let (Some(first), Some(last), Some(_)) = (table.rows.first(), table.rows.last(), &table.header)
        else {
            return false;
        };
        let shared = passage.start.max(first.start)..passage.end.min(last.end);
        !shared.is_empty() && !found.in_words(shared).is_empty()
    })?;
    let pieces = choose(reading, found, wanted, table, limit)?;
    let covered = |pieces: &[Range<usize>]| {
        let mut coverage = Coverage::new(wanted);
        for piece in pieces {
            for &member in found.in_words(piece.clone()) {
                coverage.add(member);
            }
        }
        coverage.covered()
    };
    let least = covered(std::slice::from_ref(passage)) - wanted.total() * 1e-4;
    (covered(&pieces) >= least).then_some(pieces)
}

/// The header and the best rows, in the order of the table.
fn choose(
    reading: &Reading,
    found: &Occurrences,
    wanted: &Wanted,
    table: &Table,
    limit: usize,
) -> Option<Vec<Range<usize>>> {
    let header = table.header.clone()?;
    let length = |words: &Range<usize>| reading.length(words.start, words.end);
    // Marks of what was left out stand at both ends, and beside each row at worst.
    let room = limit.checked_sub(length(&header) + 2 * CUT_CHARS)?;
    let mut coverage = Coverage::new(wanted);
    // Rows with what each covers by itself.
    let mut candidates: Vec<(f32, usize)> = Vec::new();
    for (place, row) in table.rows.iter().enumerate() {
        let members = found.in_words(row.clone());
        if !members.is_empty() {
            let alone = gain(&mut coverage, members);
            candidates.push((alone, place));
        }
    }
    let first = take_best(&mut candidates, |alone, _| alone)?;
    let best = table.rows[first.1].clone();
    if length(&best) + BREAK_CHARS > room {
        // A header as long as that would leave no room for what it heads.
        let room = room
            .checked_sub(BREAK_CHARS + 2 * CUT_CHARS)
            .filter(|&room| room > limit / 3)?;
        let part = window::best(reading, found, wanted, best, room);
        return Some(vec![header, part]);
    }
    let rounding = wanted.total() * 1e-4;
    let (mut used, mut tried) = (0, 0);
    let mut chosen: Vec<usize> = Vec::new();
    let mut next = Some(first);
    while let Some((_, place)) = next {
        let row = table.rows[place].clone();
        let more = length(&row) + BREAK_CHARS;
        if used + more <= room {
            used += more;
            chosen.push(place);
            for &member in found.in_words(row) {
                coverage.add(member);
            }
        }
        if chosen.len() == ROW_LIMIT || used >= room {
            break;
        }
        // A row that adds nothing is shown if it answers as well as the first.
        candidates.retain(|&(alone, place)| {
            alone >= first.0 || gain(&mut coverage, found.in_words(table.rows[place].clone())) > rounding
        });
        next = take_best(&mut candidates, |alone, place| {
            gain(&mut coverage, found.in_words(table.rows[place].clone())) + alone / 1000.0
        });
        tried += 1;
        if tried > 4 * ROW_LIMIT {
            break;
        }
    }
    chosen.sort_unstable();
    let rows = chosen.into_iter().map(|place| table.rows[place].clone());
    Some(std::iter::once(header).chain(rows).collect())
}

/// What `members` add to what is covered.
fn gain(coverage: &mut Coverage<'_>, members: &[usize]) -> f32 {
    let before = coverage.covered();
    for &member in members {
        coverage.add(member);
    }
    let gain = coverage.covered() - before;
    for &member in members {
        coverage.remove(member);
    }
    gain
}

/// Takes out the row of the greatest worth, the earliest of several.
fn take_best(rows: &mut Vec<(f32, usize)>, mut worth: impl FnMut(f32, usize) -> f32) -> Option<(f32, usize)> {
    let mut best: Option<(usize, f32)> = None;
    for (at, &(alone, place)) in rows.iter().enumerate() {
        let worth = worth(alone, place);
        if best.is_none_or(|(_, most)| worth > most) {
            best = Some((at, worth));
        }
    }
    best.map(|(at, _)| rows.remove(at))
}
