//! Whether a hit is right.
//!
//! In: a golden query, the index, and hits. Out: the grade that each hit earns. An expectation without a line or an anchor
//! is met by any section of its page; each is met once, by the best hit that covers it. Where all of a query's
//! expectations are pages, pages are ranked, by their best section. Excluded sections are taken out before judging.

use std::collections::{HashMap, HashSet};

use docs_index::{DocumentNumber, Index, ReadError, Record};

use super::golden::{At, GoldenQuery, Place};

/// Hits that are judged.
pub const JUDGED_HITS: usize = 100;

/// The documents of an index by their paths.
#[derive(Debug)]
pub struct Documents<'i> {
    index: &'i Index,
    numbers: HashMap<String, DocumentNumber>,
}

/// What of a hit is judged: the section's place in its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Path in the docs tree.
    pub path: String,
    /// The section's first line.
    pub line_start: u32,
    /// The section's last line.
    pub line_end: u32,
}

impl Spot {
    /// Of the section that a record belongs to.
    pub fn of(record: &Record<'_>) -> Self {
        Self {
            path: record.document.path_lossy().into_owned(),
            line_start: record.line_start,
            line_end: record.line_end,
        }
    }
}

/// A place as the index has it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    path: String,
    lines: Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Any,
    At(u32),
    /// The index does not have the place.
    Nowhere,
}

impl Target {
    fn covers(&self, spot: &Spot) -> bool {
        let holds = match self.lines {
            Lines::Any => true,
            Lines::At(line) => (spot.line_start..=spot.line_end).contains(&line),
            Lines::Nowhere => false,
        };
        holds && self.path == spot.path
    }
}

/// A golden query, ready to judge hits of one index.
#[derive(Debug)]
pub struct Judgement {
    expect: Vec<(Target, u32)>,
    exclude: Vec<Target>,
    by_page: bool,
    /// Places among the expectations that the index does not have.
    pub missing: Vec<Place>,
}

/// A hit in the ranking that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gain {
    /// Which of the hits that were handed in.
    pub hit: usize,
    /// The grade of what it meets; 0 if it is not right.
    pub grade: u32,
}

impl<'i> Documents<'i> {
    /// All of an index.
    ///
    /// # Errors
    /// [`ReadError::Damaged`].
    pub fn of(index: &'i Index) -> Result<Self, ReadError> {
        let numbers = (0..index.summary().documents).map(|number| {
            let path = index.document(number)?.path_lossy().into_owned();
            Ok((path, number))
        });
        Ok(Self {
            index,
            numbers: numbers.collect::<Result<_, ReadError>>()?,
        })
    }

    /// Makes a golden query ready.
    ///
    /// # Errors
    /// [`ReadError::Damaged`].
    pub fn judgement(&self, query: &GoldenQuery) -> Result<Judgement, ReadError> {
        let mut expect = Vec::with_capacity(query.expect.len());
        let mut missing = Vec::new();
        for expectation in &query.expect {
            let target = self.target(&expectation.place)?;
            if target.lines == Lines::Nowhere {
                missing.push(expectation.place.clone());
            }
            expect.push((target, expectation.grade));
        }
        let exclude = query.exclude.iter().map(|place| self.target(place));
        Ok(Judgement {
            expect,
            exclude: exclude.collect::<Result<_, _>>()?,
            by_page: query.expect.iter().all(|e| e.place.at == At::Page),
            missing,
        })
    }

    fn target(&self, place: &Place) -> Result<Target, ReadError> {
        let lines = match self.numbers.get(&place.path) {
            None => Lines::Nowhere,
            Some(_) if place.at == At::Page => Lines::Any,
            Some(&number) => self
                .first_line(number, &place.at)?
                .map_or(Lines::Nowhere, Lines::At),
        };
        Ok(Target {
            path: place.path.clone(),
            lines,
        })
    }

    /// A line of the section that is meant, if the document has it.
    fn first_line(&self, number: DocumentNumber, at: &At) -> Result<Option<u32>, ReadError> {
        let document = self.index.document(number)?;
        let end = document.first_record.saturating_add(document.record_count);
        let mut by_alias = None;
        for number in document.first_record..end {
            let record = self.index.record(number)?;
            match at {
                At::Page => return Ok(Some(record.line_start)),
                At::Line(line) if (record.line_start..=record.line_end).contains(line) => {
                    return Ok(Some(*line));
                }
                At::Anchor(anchor) if record.anchor == anchor => return Ok(Some(record.line_start)),
                At::Anchor(anchor) if by_alias.is_none() && record.aliases().any(|alias| alias == anchor) => {
                    by_alias = Some(record.line_start);
                }
                At::Line(_) | At::Anchor(_) => {}
            }
        }
        Ok(by_alias)
    }
}

impl Judgement {
    /// The ranking as it is judged, best first: without excluded sections, and each section or page once.
    pub fn gains(&self, hits: &[Spot]) -> Vec<Gain> {
        let mut seen = HashSet::new();
        let mut open: Vec<&(Target, u32)> = self.expect.iter().collect();
        let mut gains = Vec::new();
        for (hit, spot) in hits.iter().enumerate() {
            let line = if self.by_page { 0 } else { spot.line_start };
            if self.excludes(spot) || !seen.insert((spot.path.as_str(), line)) {
                continue;
            }
            if gains.len() == JUDGED_HITS {
                break;
            }
            let mut grade = 0;
            open.retain(|(target, grade_of_target)| {
                let is_met = target.covers(spot);
                if is_met {
                    grade = grade.max(*grade_of_target);
                }
                !is_met
            });
            gains.push(Gain { hit, grade });
        }
        gains
    }

    /// The best grade of an expectation that a section meets, whatever was found before it; 0 for none.
    pub fn grade(&self, spot: &Spot) -> u32 {
        if self.excludes(spot) {
            return 0;
        }
        let met = self.expect.iter().filter(|(target, _)| target.covers(spot));
        met.map(|(_, grade)| *grade).max().unwrap_or(0)
    }

    /// Grades of all that is expected.
    pub fn grades(&self) -> Vec<u32> {
        self.expect.iter().map(|(_, grade)| *grade).collect()
    }

    fn excludes(&self, spot: &Spot) -> bool {
        self.exclude.iter().any(|target| target.covers(spot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str, line: u32) -> Target {
        let lines = if line == 0 { Lines::Any } else { Lines::At(line) };
        Target {
            path: path.to_owned(),
            lines,
        }
    }

    fn judgement(expect: &[(&str, u32, u32)], exclude: &[(&str, u32)]) -> Judgement {
        Judgement {
            expect: expect
                .iter()
                .map(|&(path, line, grade)| (target(path, line), grade))
                .collect(),
            exclude: exclude.iter().map(|&(path, line)| target(path, line)).collect(),
            by_page: expect.iter().all(|&(_, line, _)| line == 0),
            missing: Vec::new(),
        }
    }

    fn spots(list: &[(&str, u32, u32)]) -> Vec<Spot> {
        list.iter()
            .map(|&(path, line_start, line_end)| Spot {
                path: path.to_owned(),
                line_start,
                line_end,
            })
            .collect()
    }

    fn grades(judgement: &Judgement, hits: &[(&str, u32, u32)]) -> Vec<u32> {
        judgement
            .gains(&spots(hits))
            .iter()
            .map(|gain| gain.grade)
            .collect()
    }

    const HITS: [(&str, u32, u32); 5] = [
        ("a.md", 1, 9),
        ("b.md", 1, 9),
        ("a.md", 10, 20),
        ("b.md", 10, 20),
        ("a.md", 1, 9),
    ];

    #[test]
    fn a_section_is_right_if_it_holds_the_line() {
        for (expect, want) in [
            (vec![("a.md", 9, 1)], vec![1, 0, 0, 0]),
            (vec![("a.md", 10, 2)], vec![0, 0, 2, 0]),
            (vec![("a.md", 21, 1)], vec![0, 0, 0, 0]),
            (vec![("c.md", 1, 1)], vec![0, 0, 0, 0]),
            // Both are met by the first hit, which earns the better grade once.
            (vec![("a.md", 1, 1), ("a.md", 9, 3)], vec![3, 0, 0, 0]),
            // A page among sections is met by its first hit only.
            (vec![("b.md", 0, 1), ("a.md", 10, 2)], vec![0, 1, 2, 0]),
        ] {
            assert_eq!(grades(&judgement(&expect, &[]), &HITS), want, "{expect:?}");
        }
    }

    #[test]
    fn where_pages_are_expected_pages_are_ranked() {
        let pages = judgement(&[("b.md", 0, 2), ("z.md", 0, 1)], &[]);
        assert_eq!(grades(&pages, &HITS), [0, 2]);
        assert_eq!(pages.grades(), [2, 1]);
    }

    #[test]
    fn excluded_sections_are_not_there() {
        let one = judgement(&[("b.md", 0, 1)], &[("b.md", 3), ("a.md", 0)]);
        let gains = one.gains(&spots(&HITS));
        assert_eq!(gains, [Gain { hit: 3, grade: 1 }]);
        assert_eq!(one.grade(&spots(&HITS)[1]), 0);
        assert_eq!(one.grade(&spots(&HITS)[3]), 1);
    }

    #[test]
    fn a_place_that_is_not_there_is_met_by_nothing() {
        let mut nowhere = judgement(&[("a.md", 1, 1)], &[]);
        nowhere.expect[0].0.lines = Lines::Nowhere;
        assert_eq!(grades(&nowhere, &HITS), [0; 4]);
    }

    #[test]
    fn a_hundred_hits_are_judged() {
        let many: Vec<_> = (1..=150).map(|line| ("a.md", line, line)).collect();
        assert_eq!(judgement(&[("a.md", 3, 1)], &[]).gains(&spots(&many)).len(), 100);
    }
}
