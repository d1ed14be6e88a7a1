//! Golden queries: what somebody asks, and the sections that answer it.
//!
//! In: a file with one JSON object a line. Out: queries with expectations that hold together, or an error that names file
//! and line. Whether an index has what is expected is not looked at here.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::Value;

/// Grades reach so far; nobody tells more apart, and sums of them stay exact.
const HIGHEST_GRADE: u32 = 1000;

/// A query and what should be found by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenQuery {
    /// Its name, unique in the file; a number is taken as its digits.
    pub id: String,
    /// What is asked.
    pub query: String,
    /// Queries of one type are also judged by themselves.
    pub kind: Option<String>,
    /// What answers it; never empty.
    pub expect: Vec<Expectation>,
    /// Sections that count as if the index did not have them.
    pub exclude: Vec<Place>,
    /// Line of the file that it stands on.
    pub line: usize,
}

/// A place that answers, and how well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// Where the answer stands.
    pub place: Place,
    /// From 1; higher is better.
    pub grade: u32,
}

/// A section or a page, as a golden file names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Path in the docs tree.
    pub path: String,
    /// Which of the page's sections.
    pub at: At,
}

/// Which sections of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// Any of them.
    Page,
    /// The one that holds this line of the source file.
    Line(u32),
    /// The one with this anchor or alias.
    Anchor(String),
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Page => formatter.write_str(&self.path),
            At::Line(line) => write!(formatter, "{}:{line}", self.path),
            At::Anchor(anchor) => write!(formatter, "{}#{anchor}", self.path),
        }
    }
}

/// Why a golden file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// Reading failed.
    #[error("{file}:{line} cannot be read")]
    Unreadable {
        /// The file's name as it was given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What went wrong.
        source: io::Error,
    },
    /// A line is not an object of this form.
    #[error(
        "{file}:{line} is no golden query; write {{\"id\": …, \"query\": …, \"expect\": [{{\"path\": …, \"line\": …}}]}}"
    )]
    Form {
        /// The file's name as it was given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// A line has the form, but makes no sense.
    #[error("{file}:{line}")]
    Fault {
        /// The file's name as it was given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        source: Fault,
    },
    /// There is nothing to judge.
    #[error("{file} holds no query")]
    Empty {
        /// The file's name as it was given.
        file: String,
    },
}

/// What is wrong with a golden query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Results could not be told apart.
    #[error("the id is no text and no number")]
    Id,
    /// Two queries with one name.
    #[error("the id {id:?} is also that of line {first}")]
    DuplicateId {
        /// The name.
        id: String,
        /// The line that had it first.
        first: usize,
    },
    /// Nothing could ever be right.
    #[error("{id:?} expects nothing; name at least one path in \"expect\"")]
    NoExpectation {
        /// The query's name.
        id: String,
    },
    /// Two ways to name a section that may disagree.
    #[error("{path:?} has a line and an anchor; give one")]
    LineAndAnchor {
        /// The place's path.
        path: String,
    },
    /// Lines count from 1.
    #[error("{path:?} has line 0; the first line is 1")]
    LineZero {
        /// The place's path.
        path: String,
    },
    /// No grade.
    #[error("{path:?} has grade {grade}; write 1 to {HIGHEST_GRADE}, and leave out what is not right")]
    Grade {
        /// The place's path.
        path: String,
        /// What stands there.
        grade: u32,
    },
}

#[derive(Deserialize)]
struct QueryLine {
    id: Value,
    query: String,
    expect: Vec<PlaceObject>,
    #[serde(default)]
    exclude: Vec<PlaceObject>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

// A misspelt key here would turn a section into a page in silence.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceObject {
    path: String,
    line: Option<u32>,
    anchor: Option<String>,
    grade: Option<u32>,
}

/// Reads golden queries; `file` is their name in errors. Empty lines are passed over.
///
/// # Errors
/// Where a line cannot be read or makes no sense, and where there is no query.
pub fn read(file: &str, lines: impl BufRead) -> Result<Vec<GoldenQuery>, GoldenError> {
    let file = file.to_owned();
    let mut queries = Vec::new();
    let mut first_lines = HashMap::new();
    for (line, text) in (1..).zip(lines.lines()) {
        let text = match text {
            Ok(text) => text,
            Err(source) => return Err(GoldenError::Unreadable { file, line, source }),
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        let object = match serde_json::from_str(text) {
            Ok(object) => object,
            Err(source) => return Err(GoldenError::Form { file, line, source }),
        };
        let query = match checked(object, line) {
            Ok(query) => query,
            Err(source) => return Err(GoldenError::Fault { file, line, source }),
        };
        match first_lines.entry(query.id.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(line);
            }
            Entry::Occupied(entry) => {
                let source = Fault::DuplicateId {
                    id: query.id,
                    first: *entry.get(),
                };
                return Err(GoldenError::Fault { file, line, source });
            }
        }
        queries.push(query);
    }
    if queries.is_empty() {
        return Err(GoldenError::Empty { file });
    }
    Ok(queries)
}

fn checked(object: QueryLine, line: usize) -> Result<GoldenQuery, Fault> {
    let id = match object.id {
        Value::String(id) => id,
        Value::Number(id) => id.to_string(),
        _ => return Err(Fault::Id),
    };
    if object.expect.is_empty() {
        return Err(Fault::NoExpectation { id });
    }
    let expect = object.expect.into_iter().map(|object| {
        let grade = object.grade.unwrap_or(1);
        if grade == 0 || grade > HIGHEST_GRADE {
            let path = object.path;
            return Err(Fault::Grade { path, grade });
        }
        let place = place(object)?;
        Ok(Expectation { place, grade })
    });
    Ok(GoldenQuery {
        id,
        query: object.query,
        kind: object.kind,
        expect: expect.collect::<Result<_, _>>()?,
        exclude: object.exclude.into_iter().map(place).collect::<Result<_, _>>()?,
        line,
    })
}

fn place(object: PlaceObject) -> Result<Place, Fault> {
    let path = object.path;
    let at = match (object.line, object.anchor) {
        (Some(_), Some(_)) => return Err(Fault::LineAndAnchor { path }),
        (Some(0), None) => return Err(Fault::LineZero { path }),
        (Some(line), None) => At::Line(line),
        (None, Some(anchor)) => At::Anchor(anchor),
        (None, None) => At::Page,
    };
    Ok(Place { path, at })
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn parsed(text: &str) -> Result<Vec<GoldenQuery>, GoldenError> {
        read("g.jsonl", text.as_bytes())
    }

    #[test]
    fn a_line_is_a_query_with_places() {
        let text = "\u{feff}{\"id\": \"a\", \"query\": \"q\", \"note\": 1, \"type\": \"kw\", \"expect\": [{\"path\": \"p.md\"}, \
                    {\"path\": \"p.md\", \"line\": 3, \"grade\": 2}], \"exclude\": [{\"path\": \"p.md\", \"anchor\": \"x\"}]}\n\n\
                    {\"id\": 7, \"query\": \"\", \"expect\": [{\"path\": \"p.md\"}]}";
        let queries = parsed(text).unwrap();
        let first = &queries[0];
        assert_eq!(
            (first.id.as_str(), first.kind.as_deref(), first.line),
            ("a", Some("kw"), 1)
        );
        let shown: Vec<String> = first
            .expect
            .iter()
            .map(|e| format!("{} {}", e.place, e.grade))
            .collect();
        assert_eq!(shown, ["p.md 1", "p.md:3 2"]);
        assert_eq!(first.exclude[0].to_string(), "p.md#x");
        assert_eq!((queries[1].id.as_str(), queries[1].line), ("7", 3));
    }

    #[test]
    fn what_makes_no_sense_is_named_with_its_line() {
        let good = r#"{"id": "a", "query": "q", "expect": [{"path": "p.md"}]}"#;
        for (line, want) in [
            (good, "the id \"a\" is also that of line 1"),
            (
                r#"{"id": [], "query": "q", "expect": [{"path": "p.md"}]}"#,
                "the id is no text and no number",
            ),
            (
                r#"{"id": "b", "query": "q", "expect": []}"#,
                "\"b\" expects nothing; name at least one path in \"expect\"",
            ),
            (
                r#"{"id": "b", "query": "q", "expect": [{"path": "p.md", "line": 1, "anchor": "x"}]}"#,
                "\"p.md\" has a line and an anchor; give one",
            ),
            (
                r#"{"id": "b", "query": "q", "expect": [{"path": "p.md", "line": 0}]}"#,
                "\"p.md\" has line 0; the first line is 1",
            ),
            (
                r#"{"id": "b", "query": "q", "expect": [{"path": "p.md", "grade": 0}]}"#,
                "\"p.md\" has grade 0; write 1 to 1000, and leave out what is not right",
            ),
        ] {
            let error = parsed(&format!("{good}\n\n{line}\n")).unwrap_err();
            assert_eq!(error.to_string(), "g.jsonl:3");
            assert_eq!(error.source().unwrap().to_string(), want);
        }
        for line in [
            "{",
            "[]",
            r#"{"id": "b", "query": "q"}"#,
            r#"{"id": "b", "expect": [{"path": "p.md"}]}"#,
            r#"{"id": "b", "query": "q", "expect": [{"path": "p.md", "lines": 3}]}"#,
            r#"{"id": "b", "query": "q", "expect": [{"path": "p.md", "grade": -1}]}"#,
        ] {
            let error = parsed(line).unwrap_err();
            assert!(
                error.to_string().starts_with("g.jsonl:1 is no golden query; "),
                "{error}"
            );
        }
        assert_eq!(parsed(" \n\n").unwrap_err().to_string(), "g.jsonl holds no query");
        let unreadable = read("g.jsonl", &b"\xff\xfe"[..]).unwrap_err();
        assert_eq!(unreadable.to_string(), "g.jsonl:1 cannot be read");
    }
}
