//! Arguments of a tool call, read leniently and checked strictly.
//!
//! In: the JSON object that a model sent. Out: an object that fits the tool's schema, and the names of what was
//! left aside; or an error that names the field, the value and what is allowed.
//!
//! Models send `"5"` and `5.0` for 5, null for "the default", and invent names (`q`, `limit`, `section_id`).
//! All of that is understood. What is then still out of range or of another type is refused rather than bent:
//! the answer to a question that was not asked costs more than a second call.
//!
//! The rules come from the very schema that the client was shown, which is generated from the tool's parameter
//! type: there is no second list of bounds that could differ.

use serde_json::{Map, Value};

use crate::error::ArgumentError;

/// Names that models use, and the parameter they mean. They hold for every tool that has the parameter.
const ALIASES: &[(&str, &str)] = &[
    ("q", "query"),
    ("question", "query"),
    ("search", "query"),
    ("search_query", "query"),
    ("search_term", "query"),
    ("term", "query"),
    ("text", "query"),
    ("count", "k"),
    ("limit", "k"),
    ("max_results", "k"),
    ("n", "k"),
    ("num_results", "k"),
    ("size", "k"),
    ("top_k", "k"),
    ("max_snippet_chars", "snippet_chars"),
    ("snippet_length", "snippet_chars"),
    ("snippet_size", "snippet_chars"),
    ("skip", "offset"),
    ("start", "offset"),
    ("path_prefix", "path"),
    ("prefix", "path"),
    ("doc_id", "id"),
    ("document_id", "id"),
    ("section", "id"),
    ("section_id", "id"),
];

/// The parameters of one tool, as its schema states them.
#[derive(Debug)]
pub(crate) struct Parameters {
    tool: String,
    parameters: Vec<Parameter>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    kind: Kind,
    required: bool,
}

#[derive(Debug)]
enum Kind {
    Text,
    Integer {
        minimum: i64,
        maximum: i64,
    },
    /// Anything that needs no reading of ours; the tool's own type checks it.
    Other,
}

/// Arguments that fit the schema.
#[derive(Debug, PartialEq)]
pub(crate) struct Read {
    /// What the tool is called with.
    pub(crate) arguments: Map<String, Value>,
    /// Names that no parameter has.
    pub(crate) ignored: Vec<String>,
}

impl Parameters {
    /// From the JSON schema of a tool's input.
    pub(crate) fn from_schema(tool: &str, schema: &Map<String, Value>) -> Self {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let parameters = properties
            .into_iter()
            .flatten()
            .map(|(name, property)| Parameter {
                name: name.clone(),
                kind: Kind::from_schema(property),
                required: required.contains(&name.as_str()),
            });
        Self {
            tool: tool.to_owned(),
            parameters: parameters.collect(),
        }
    }

    /// Reads the arguments of one call.
    pub(crate) fn read(&self, sent: Map<String, Value>) -> Result<Read, ArgumentError> {
        let mut arguments = Map::new();
        let mut others = Vec::new();
        for (name, value) in sent {
            match self.parameter(&name) {
                // Null is the default, and for a required parameter the same as nothing.
                Some(_) if value.is_null() => {}
                Some(parameter) => {
                    arguments.insert(name, parameter.kind.read(&parameter.name, value)?);
                }
                None => others.push((name, value)),
            }
        }
        let mut ignored = Vec::new();
        for (name, value) in others {
            match self.meant_by(&name) {
                Some(parameter) if !arguments.contains_key(&parameter.name) => {
                    if !value.is_null() {
                        let value = parameter.kind.read(&name, value)?;
                        arguments.insert(parameter.name.clone(), value);
                    }
                }
                _ => ignored.push(name),
            }
        }
        let missing = self
            .parameters
            .iter()
            .find(|p| p.required && !arguments.contains_key(&p.name));
        if let Some(parameter) = missing {
            let near = ignored.iter().find(|name| is_near(name, &parameter.name));
            return Err(ArgumentError::Missing {
                tool: self.tool.clone(),
                name: parameter.name.clone(),
                expected: parameter.kind.expected(),
                sent: near.cloned(),
            });
        }
        Ok(Read { arguments, ignored })
    }

    fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The parameter behind an alias, or behind its own name in another spelling (`snippetChars`, `Top-K`).
    fn meant_by(&self, name: &str) -> Option<&Parameter> {
        let plain = plain_spelling(name);
        let own = self
            .parameters
            .iter()
            .find(|parameter| plain_spelling(&parameter.name) == plain);
        own.or_else(|| {
            let (_, meant) = ALIASES.iter().find(|(alias, _)| plain_spelling(alias) == plain)?;
            self.parameter(meant)
        })
    }
}

impl Kind {
    fn from_schema(property: &Value) -> Self {
        let bound = |name: &str| property.get(name).and_then(Value::as_i64);
        match property.get("type").and_then(Value::as_str) {
            Some("string") => Self::Text,
            Some("integer") => Self::Integer {
                minimum: bound("minimum").unwrap_or(i64::MIN),
                maximum: bound("maximum").unwrap_or(i64::MAX),
            },
            _ => Self::Other,
        }
    }

    fn expected(&self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Integer { minimum, maximum } => format!("an integer from {minimum} to {maximum}"),
            Self::Other => "a value of the type in the schema".to_owned(),
        }
    }

    fn read(&self, name: &str, value: Value) -> Result<Value, ArgumentError> {
        let refused = |value: &Value| ArgumentError::Refused {
            name: name.to_owned(),
            value: shown(value),
            expected: self.expected(),
        };
        match self {
            Self::Text if value.is_string() => Ok(value),
            Self::Text => Err(refused(&value)),
            Self::Integer { minimum, maximum } => match whole_number(&value) {
                Some(number) if (*minimum..=*maximum).contains(&number) => Ok(number.into()),
                _ => Err(refused(&value)),
            },
            Self::Other => Ok(value),
        }
    }
}

/// 5, 5.0, `"5"` and `"5.0"` are 5.
fn whole_number(value: &Value) -> Option<i64> {
    /// Above this a float no longer tells one integer from the next.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = match value {
        Value::String(text) => {
            let text = text.trim();
            if let Ok(number) = text.parse() {
                return Some(number);
            }
            text.parse::<f64>().ok()?
        }
        _ => value.as_f64()?,
    };
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

/// A value as JSON, no longer than a line.
fn shown(value: &Value) -> String {
    docs_index::answer::short_line(&value.to_string(), 60)
}

fn plain_spelling(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether somebody who wrote `sent` may have meant `name`.
fn is_near(sent: &str, name: &str) -> bool {
    /// Nobody's typing error; and the comparison takes time in the square of the length.
    const LONGEST: usize = 64;
    let allowed = if name.len() < 5 { 1 } else { 2 };
    sent.len() <= LONGEST && edit_distance(&plain_spelling(sent), &plain_spelling(name)) <= allowed
}

/// Insertions, deletions and replacements from one word to the other (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parameters() -> Parameters {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
                "snippet_chars": {"type": "integer", "minimum": 0, "maximum": 2000},
                "flags": {"type": "array"},
            },
            "required": ["query"],
        });
        Parameters::from_schema("search_docs", schema.as_object().unwrap())
    }

    fn read(sent: Value) -> Result<Read, String> {
        let Value::Object(sent) = sent else {
            panic!("not an object")
        };
        parameters().read(sent).map_err(|error| error.to_string())
    }

    #[test]
    fn what_models_send_is_understood() {
        for (sent, want) in [
            (json!({"query": "x"}), json!({"query": "x"})),
            (json!({"query": ""}), json!({"query": ""})),
            (json!({"query": "x", "k": 7}), json!({"query": "x", "k": 7})),
            (json!({"query": "x", "k": "7"}), json!({"query": "x", "k": 7})),
            (json!({"query": "x", "k": " 7 "}), json!({"query": "x", "k": 7})),
            (json!({"query": "x", "k": 7.0}), json!({"query": "x", "k": 7})),
            (json!({"query": "x", "k": "7.0"}), json!({"query": "x", "k": 7})),
            (json!({"query": "x", "k": null}), json!({"query": "x"})),
            (json!({"q": "x"}), json!({"query": "x"})),
            (json!({"search": "x"}), json!({"query": "x"})),
            (json!({"text": "x", "limit": "3"}), json!({"query": "x", "k": 3})),
            (json!({"query": null, "q": "x"}), json!({"query": "x"})),
            (
                json!({"query": "x", "max_results": 4}),
                json!({"query": "x", "k": 4}),
            ),
            (
                json!({"query": "x", "maxResults": 4}),
                json!({"query": "x", "k": 4}),
            ),
            (json!({"query": "x", "top_k": null}), json!({"query": "x"})),
            (
                json!({"Query": "x", "snippetChars": 0}),
                json!({"query": "x", "snippet_chars": 0}),
            ),
            (
                json!({"query": "x", "flags": [1]}),
                json!({"query": "x", "flags": [1]}),
            ),
        ] {
            let read = read(sent.clone()).unwrap();
            assert_eq!(Value::Object(read.arguments), want, "{sent}");
            assert!(read.ignored.is_empty(), "{sent}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_range() {
        for (sent, want) in [
            (
                json!({"query": "x", "k": 0}),
                "k is 0: it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": 51}),
                "k is 51: it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": -1}),
                "k is -1: it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": "many"}),
                "k is \"many\": it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": 5.5}),
                "k is 5.5: it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": 1e300}),
                "k is 1e+300: it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": u64::MAX}),
                "k is 18446744073709551615: it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": true}),
                "k is true: it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": [5]}),
                "k is [5]: it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": ""}),
                "k is \"\": it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "k": "nan"}),
                "k is \"nan\": it must be an integer from 1 to 50",
            ),
            (
                json!({"query": "x", "limit": 51}),
                "limit is 51: it must be an integer from 1 to 50",
            ),
            (json!({"query": 5}), "query is 5: it must be a string"),
            (json!({"query": ["x"]}), "query is [\"x\"]: it must be a string"),
            (
                json!({"query": "x", "snippet_chars": 2001}),
                "snippet_chars is 2001: it must be an integer from 0 to 2000",
            ),
        ] {
            assert_eq!(read(sent.clone()).unwrap_err(), want, "{sent}");
        }
    }

    #[test]
    fn a_missing_argument_is_named_and_so_is_its_near_miss() {
        for (sent, want) in [
            (json!({}), "search_docs needs the argument \"query\" (a string)"),
            (
                json!({"query": null}),
                "search_docs needs the argument \"query\" (a string)",
            ),
            (
                json!({"k": 3}),
                "search_docs needs the argument \"query\" (a string)",
            ),
            (
                json!({"language": "en"}),
                "search_docs needs the argument \"query\" (a string)",
            ),
            (
                json!({"querry": "x"}),
                "search_docs needs the argument \"query\" (a string); did you mean it by \"querry\"?",
            ),
            (
                json!({"foo": 1, "qery": "x"}),
                "search_docs needs the argument \"query\" (a string); did you mean it by \"qery\"?",
            ),
        ] {
            assert_eq!(read(sent.clone()).unwrap_err(), want, "{sent}");
        }
    }

    #[test]
    fn an_unknown_argument_beside_all_required_ones_is_left_aside() {
        let read = read(json!({"lang": "en", "query": "x", "q": "y", "kk": 3})).unwrap();
        assert_eq!(Value::Object(read.arguments), json!({"query": "x"}));
        assert_eq!(read.ignored.len(), 3);
        for name in ["lang", "q", "kk"] {
            assert!(read.ignored.iter().any(|ignored| ignored == name), "{name}");
        }
    }

    #[test]
    fn distance_counts_edits() {
        for (a, b, want) in [
            ("", "", 0),
            ("a", "", 1),
            ("query", "querry", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edit_distance(a, b), want, "{a} {b}");
        }
    }
}
