//! Shows why a hit stands where it does: `docs-indexer search --explain`.
//!
//! In: the [`Explanation`] of a hit. Out: indented lines for people, to stand below the hit, or an object for JSON. The
//! form for people, with a term of the query on each line and its places below:
//!
//! ```text
//!   line      4.92  q 1.00  idf 2.14
//!     heading  1× in  2 (average 1.6)  weight 4.00  value 3.64
//!   S 4.92 + 0.2 · P 3.71 + 0.4 · M 4.92 = 7.41
//! ```

use std::fmt::Write as _;

use docs_index::answer::short_line;
use docs_index::{Explanation, MatchExplanation, TermExplanation};
use serde::Serialize;

/// Bytes of a term that are shown; terms may come from a stranger's index.
const TERM_BYTES: usize = 40;

/// An explanation as JSON, in the order of its keys.
#[derive(Debug, Serialize)]
pub(crate) struct ExplanationObject<'a> {
    terms: Vec<TermObject<'a>>,
    first_stage: f32,
    page: f32,
    page_share: f32,
    best_of_page: f32,
    best_of_page_share: f32,
    path_factor: f32,
    heading_factor: f32,
    exact_heading: f32,
    total: f32,
}

#[derive(Debug, Serialize)]
struct TermObject<'a> {
    term: &'a str,
    query_weight: f32,
    inverse_section_frequency: f32,
    score: f32,
    matches: Vec<MatchObject<'a>>,
}

#[derive(Debug, Serialize)]
struct MatchObject<'a> {
    term: &'a str,
    role: &'a str,
    field: String,
    frequency: u32,
    length: u32,
    average_length: f32,
    weight: f32,
    value: f32,
}

impl<'a> From<&'a Explanation> for ExplanationObject<'a> {
    fn from(explanation: &'a Explanation) -> Self {
        Self {
            terms: explanation.terms.iter().map(TermObject::from).collect(),
            first_stage: explanation.first_stage,
            page: explanation.page,
            page_share: Explanation::PAGE_SHARE,
            best_of_page: explanation.best_of_page,
            best_of_page_share: Explanation::BEST_OF_PAGE_SHARE,
            path_factor: explanation.path_factor,
            heading_factor: explanation.heading_factor,
            exact_heading: explanation.exact_heading,
            total: explanation.total,
        }
    }
}

impl<'a> From<&'a TermExplanation> for TermObject<'a> {
    fn from(term: &'a TermExplanation) -> Self {
        Self {
            term: &term.term,
            query_weight: term.query_weight,
            inverse_section_frequency: term.inverse_section_frequency,
            score: term.score,
            matches: term.matches.iter().map(MatchObject::from).collect(),
        }
    }
}

impl<'a> From<&'a MatchExplanation> for MatchObject<'a> {
    fn from(found: &'a MatchExplanation) -> Self {
        Self {
            term: &found.term,
            role: found.role,
            // Fields have names for people; in JSON a name is a key to compare with.
            field: found.field.replace(' ', "_"),
            frequency: found.frequency,
            length: found.length,
            average_length: found.average_length,
            weight: found.weight,
            value: found.value,
        }
    }
}

/// The lines for people, without a line end at the last.
pub(crate) fn for_people(explanation: &Explanation) -> String {
    let mut text = String::new();
    let term_width = width(explanation.terms.iter().map(|term| shown_term(&term.term)));
    let columns = Columns::of(explanation);
    for term in &explanation.terms {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            text,
            "  {:term_width$}  {:>6.2}  q {:.2}  idf {:.2}",
            shown_term(&term.term),
            term.score,
            term.query_weight,
            term.inverse_section_frequency,
        );
        for found in &term.matches {
            columns.push_match(&mut text, term, found);
        }
    }
    push_sum(&mut text, explanation);
    text
}

fn shown_term(term: &str) -> String {
    short_line(term, TERM_BYTES)
}

/// The term that was found, where it is not the query's own.
fn stand_in(term: &TermExplanation, found: &MatchExplanation) -> String {
    if found.role == "own" && found.term == term.term {
        String::new()
    } else {
        format!("{} ({})  ", shown_term(&found.term), found.role)
    }
}

/// Widths that the matches of a hit share.
struct Columns {
    stand_in: usize,
    field: usize,
    frequency: usize,
    length: usize,
    average: usize,
}

impl Columns {
    fn of(explanation: &Explanation) -> Self {
        let pairs = || {
            let terms = explanation.terms.iter();
            terms.flat_map(|term| term.matches.iter().map(move |found| (term, found)))
        };
        Self {
            stand_in: width(pairs().map(|(term, found)| stand_in(term, found))),
            field: width(pairs().map(|(_, found)| found.field)),
            frequency: width(pairs().map(|(_, found)| found.frequency.to_string())),
            length: width(pairs().map(|(_, found)| found.length.to_string())),
            average: width(pairs().map(|(_, found)| format!("{:.1}", found.average_length))),
        }
    }

    fn push_match(&self, text: &mut String, term: &TermExplanation, found: &MatchExplanation) {
        let _ = writeln!(
            text,
            "    {:stand_in$}{:field$}  {:>frequency$}× in {:>length$} (average {:>average$.1})  weight {:.2}  value {:.2}",
            stand_in(term, found),
            found.field,
            found.frequency,
            found.length,
            found.average_length,
            found.weight,
            found.value,
            stand_in = self.stand_in,
            field = self.field,
            frequency = self.frequency,
            length = self.length,
            average = self.average,
        );
    }
}

/// The largest number of characters.
fn width(texts: impl Iterator<Item = impl AsRef<str>>) -> usize {
    texts.map(|text| text.as_ref().chars().count()).max().unwrap_or(0)
}

fn push_sum(text: &mut String, explanation: &Explanation) {
    let Explanation {
        first_stage, total, ..
    } = explanation;
    // Where the second stage has looked, M is at least the hit's own S.
    if explanation.best_of_page <= 0.0 {
        let _ = write!(
            text,
            "  S {first_stage:.2} = {total:.2}  (not among the best: page and heading do not count)"
        );
        return;
    }
    let mut sum = format!(
        "S {first_stage:.2} + {} · P {:.2} + {} · M {:.2}",
        Explanation::PAGE_SHARE,
        explanation.page,
        Explanation::BEST_OF_PAGE_SHARE,
        explanation.best_of_page,
    );
    let factors = [
        (explanation.path_factor, "changelog"),
        (explanation.heading_factor, "common heading"),
    ];
    if factors.iter().any(|(factor, _)| *factor < 1.0) {
        sum = format!("({sum})");
    }
    for (factor, name) in factors {
        if factor < 1.0 {
            let _ = write!(sum, " · {factor} {name}");
        }
    }
    if explanation.exact_heading > 0.0 {
        let _ = write!(sum, " + {:.2} exact heading", explanation.exact_heading);
    }
    let _ = write!(text, "  {sum} = {total:.2}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(term: &str, role: &'static str, field: &'static str, frequency: u32) -> MatchExplanation {
        MatchExplanation {
            term: term.to_owned(),
            role,
            field,
            frequency,
            length: 7 * frequency,
            average_length: 9.25,
            weight: 0.5,
            value: 1.234,
        }
    }

    fn explanation() -> Explanation {
        let term = |term: &str, query_weight, matches| TermExplanation {
            term: term.to_owned(),
            query_weight,
            inverse_section_frequency: 2.0,
            score: 3.456,
            matches,
        };
        Explanation {
            record: 0,
            terms: vec![
                term(
                    "uplaod",
                    1.0,
                    vec![
                        found("upload", "spelling", "inline code", 12),
                        found("upload", "spelling", "prose", 1),
                    ],
                ),
                term("a\n[b]", 0.5, vec![found("a\n[b]", "own", "heading", 1)]),
            ],
            first_stage: 6.912,
            page: 5.0,
            best_of_page: 7.0,
            path_factor: 1.0,
            heading_factor: 1.0,
            exact_heading: 0.0,
            total: 10.412,
        }
    }

    #[test]
    fn people_see_terms_places_and_the_sum_in_columns() {
        insta::assert_snapshot!(for_people(&explanation()), @r"
          uplaod    3.46  q 1.00  idf 2.00
            upload (spelling)  inline code  12× in 84 (average 9.2)  weight 0.50  value 1.23
            upload (spelling)  prose         1× in  7 (average 9.2)  weight 0.50  value 1.23
          a [b]     3.46  q 0.50  idf 2.00
                               heading       1× in  7 (average 9.2)  weight 0.50  value 1.23
          S 6.91 + 0.2 · P 5.00 + 0.4 · M 7.00 = 10.41
        ");
    }

    #[test]
    fn the_sum_shows_what_changed_it() {
        let sum = |changed: Explanation| for_people(&changed).lines().last().unwrap_or_default().to_owned();
        let lines = [
            explanation(),
            Explanation {
                path_factor: 0.75,
                ..explanation()
            },
            Explanation {
                path_factor: 0.75,
                heading_factor: 0.875,
                exact_heading: 2.5,
                ..explanation()
            },
            Explanation {
                exact_heading: 2.5,
                ..explanation()
            },
            Explanation {
                page: 0.0,
                best_of_page: 0.0,
                total: 6.912,
                ..explanation()
            },
        ]
        .map(sum);
        insta::assert_snapshot!(lines.join("\n"), @r"
          S 6.91 + 0.2 · P 5.00 + 0.4 · M 7.00 = 10.41
          (S 6.91 + 0.2 · P 5.00 + 0.4 · M 7.00) · 0.75 changelog = 10.41
          (S 6.91 + 0.2 · P 5.00 + 0.4 · M 7.00) · 0.75 changelog · 0.875 common heading + 2.50 exact heading = 10.41
          S 6.91 + 0.2 · P 5.00 + 0.4 · M 7.00 + 2.50 exact heading = 10.41
          S 6.91 = 6.91  (not among the best: page and heading do not count)
        ");
    }

    #[test]
    fn json_names_fields_as_keys() {
        let shown = explanation();
        let object = serde_json::to_value(ExplanationObject::from(&shown)).unwrap();
        let found = &object["terms"][0]["matches"][0];
        assert_eq!(
            (&found["field"], &found["role"], &found["frequency"]),
            (&"inline_code".into(), &"spelling".into(), &12.into())
        );
        assert_eq!(object["terms"][1]["term"], "a\n[b]");
    }
}
