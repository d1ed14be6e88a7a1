//! Finds the run of words that is worth most.
//!
//! In: a reading, what is wanted, and how many characters there is room for. Out: words from a start to an end.
//! Worth is the weight of the query's terms that stand in the run. Between runs of like worth those win that
//! begin a sentence or a line, that say what is asked early, once more and close together, in prose rather
//! than in a list of links. Then the run is ended where a sentence or a line ends, if one ends near.

use super::{
    ReadBody,
    wanted::{Coverage, Wanted},
};
use crate::search::reading::{Begins, Kind, Reading, Word};
use std::ops::Range;

// Shares of the query's weight.
/// For the start of a sentence or a line.
const SENTENCE_BONUS: f32 = 0.08;
const CLAUSE_BONUS: f32 = 0.02;
/// For a start in the middle of a line of code or of a run without spaces.
const INSIDE_COST: f32 = 0.05;
/// If everything before the first term found is of no interest.
const LATE_COST: f32 = 0.06;
/// If the first and the last term stand at both ends.
const SPREAD_COST: f32 = 0.03;
/// If all of it is links.
const LINK_COST: f32 = 0.08;
/// If all of it is code.
const CODE_COST: f32 = 0.03;
/// At most for terms met once more, and for each, in shares of the term's weight.
const REPEAT_LIMIT: f32 = 0.1;
const REPEAT_BONUS: f32 = 0.02;
/// Characters of the mark of a cut with its space.
pub(super) const CUT_CHARS: usize = 2;

/// The query's terms that stand in each word.
#[derive(Debug)]
pub(super) struct Occurrences {
    members: Vec<usize>,
    /// For each word where its terms begin in `members`; one more for the end.
    starts: Vec<usize>,
}

impl Occurrences {
    pub(super) fn of(body: &ReadBody, wanted: &mut Wanted) -> Self {
        let reading = &body.reading;
        let mut members = Vec::new();
        let mut starts = Vec::with_capacity(reading.words.len() + 1);
        let mut words = reading.words.iter().map(|word| word.range().end);
        let mut end = words.next();
        starts.push(0);
        for place in &body.tokens {
            if !wanted.may_begin(place.beginning) {
                continue;
            }
            wanted.find(&body.token(place), |member, place| {
                while end.is_some_and(|end| end <= place) {
                    starts.push(members.len());
                    end = words.next();
                }
                members.push(member);
            });
        }
        starts.resize(reading.words.len() + 1, members.len());
        Self { members, starts }
    }

    pub(super) fn in_word(&self, word: usize) -> &[usize] {
        self.in_words(word..word + 1)
    }

    pub(super) fn in_words(&self, words: Range<usize>) -> &[usize] {
        &self.members[self.starts[words.start]..self.starts[words.end]]
    }
}

/// Characters of a passage with the marks of what was cut off.
fn shown(reading: &Reading, words: &Range<usize>) -> usize {
    let before = if words.start > 0 { CUT_CHARS } else { 0 };
    let after = if words.end < reading.words.len() {
        CUT_CHARS
    } else {
        0
    };
    before + reading.length(words.start, words.end) + after
}

/// The best run of the words `within` (not empty) for which there is room; at least one word.
#[expect(clippy::cast_precision_loss, reason = "a few thousand characters")]
pub(super) fn best(
    reading: &Reading,
    found: &Occurrences,
    wanted: &Wanted,
    within: Range<usize>,
    limit: usize,
) -> Range<usize> {
    let words = &reading.words;
    let total = wanted.total();
    let mut coverage = Coverage::new(wanted);
    let mut end = within.start;
    // Characters of links and of code in the run.
    let (mut links, mut code) = (0_usize, 0_usize);
    // The next word with a term, and the last one of the run.
    let (mut next_match, mut last_match) = (within.start, None);
    let mut best = (within.start..within.start, f32::NEG_INFINITY);
    for start in within.clone() {
        while end < within.end && (end <= start || shown(reading, &(start..end + 1)) <= limit) {
            let terms = found.in_word(end);
            for &member in terms {
                coverage.add(member);
            }
            if !terms.is_empty() {
                last_match = Some(end);
            }
            match words[end].kind {
                Kind::Prose => {}
                Kind::Link => links += words[end].chars(),
                Kind::Code => code += words[end].chars(),
            }
            end += 1;
        }
        next_match = next_match.max(start);
        while next_match < within.end && found.in_word(next_match).is_empty() {
            next_match += 1;
        }
        let share = |chars: usize| chars.min(limit) as f32 / limit as f32;
        let wait = words.get(next_match).map_or(usize::MAX, Word::offset) - words[start].offset();
        let spread = last_match
            .filter(|&last| last > next_match)
            .map_or(0, |last| reading.length(next_match, last + 1));
        let beginning = match words[start].begins {
            Begins::Sentence => SENTENCE_BONUS,
            Begins::Clause => CLAUSE_BONUS,
            Begins::Word => 0.0,
            Begins::Nothing => -INSIDE_COST,
        };
        let repeated = (REPEAT_BONUS * coverage.repeated()).min(REPEAT_LIMIT * total);
        let form = beginning
            - LATE_COST * share(wait)
            - SPREAD_COST * share(spread)
            - LINK_COST * share(links)
            - CODE_COST * share(code);
        let worth = coverage.covered() + repeated + total * form;
        // Later passages must be better by more than rounding.
        if best.0.is_empty() || worth > best.1 + total * 1e-4 {
            best = (start..end, worth);
        }
        for &member in found.in_word(start) {
            coverage.remove(member);
        }
        match words[start].kind {
            Kind::Prose => {}
            Kind::Link => links -= words[start].chars(),
            Kind::Code => code -= words[start].chars(),
        }
    }
    let filled = fill(reading, best.0, &within, limit);
    ended_well(reading, found, wanted, filled, limit)
}

/// Gives a passage that is short, at the end of the text or before a long word, the sentences before it that
/// there is room for; if it would begin in the middle of one all the same, the words.
fn fill(reading: &Reading, chosen: Range<usize>, within: &Range<usize>, limit: usize) -> Range<usize> {
    if shown(reading, &chosen) >= limit - limit / 10 {
        return chosen;
    }
    let words = &reading.words;
    let mut start = chosen.start;
    let mut sentence = None;
    while start > within.start && shown(reading, &(start - 1..chosen.end)) <= limit {
        start -= 1;
        if words[start].begins == Begins::Sentence {
            sentence = Some(start);
        }
    }
    let begins_well = words[chosen.start].begins == Begins::Sentence;
    match sentence {
        Some(sentence) => sentence..chosen.end,
        None if begins_well && shown(reading, &chosen) >= limit / 3 => chosen,
        None => start..chosen.end,
    }
}

/// Takes the beginning of a sentence or a line off the end of a passage, if nothing that is wanted goes with it.
fn ended_well(
    reading: &Reading,
    found: &Occurrences,
    wanted: &Wanted,
    chosen: Range<usize>,
    limit: usize,
) -> Range<usize> {
    let words = &reading.words;
    if chosen.end == words.len() {
        return chosen;
    }
    let chosen = chosen.start..without_label(reading, found, &chosen);
    if words[chosen.end - 1].is_end {
        return chosen;
    }
    let is_code = words[chosen.end - 1].kind == Kind::Code;
    let least = if is_code { limit / 2 } else { limit - limit / 3 };
    let Some(end) = (chosen.start + 1..chosen.end)
        .rev()
        .take_while(|&end| shown(reading, &(chosen.start..end)) >= least)
        .find(|&end| words[end - 1].is_end)
    else {
        return chosen;
    };
    let covered = |words: Range<usize>| {
        let mut coverage = Coverage::new(wanted);
        for &member in found.in_words(words) {
            coverage.add(member);
        }
        coverage.covered()
    };
    let shorter = chosen.start..end;
    if covered(shorter.clone()) + wanted.total() * 1e-4 >= covered(chosen.clone()) {
        shorter
    } else {
        chosen
    }
}

/// The end of a passage without the line of one or two words that it ends with, such as `Tip`, which says
/// something only with what it stands over.
fn without_label(reading: &Reading, found: &Occurrences, chosen: &Range<usize>) -> usize {
    let words = &reading.words;
    let is_label = |start: usize| {
        start > chosen.start
            && words[start].begins == Begins::Sentence
            && words[start..chosen.end]
                .iter()
                .all(|word| word.kind == Kind::Prose)
            && !reading.slice(start..chosen.end).ends_with(['.', '!', '?', '。'])
            && found.in_words(start..chosen.end).is_empty()
    };
    let last = &words[chosen.end - 1];
    if last.is_end && last.chars() <= 20 {
        (chosen.end.saturating_sub(2)..chosen.end)
            .rev()
            .find(|&start| is_label(start))
            .unwrap_or(chosen.end)
    } else {
        chosen.end
    }
}
