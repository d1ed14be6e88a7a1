//! The report of a build as a SARIF 2.1.0 log, the form in which code-review tools take in findings.
//!
//! In: the report, and how the build ended. Out: a value that serializes to one log with one run. Warnings are its
//! results and their kinds its rules; what was left out is a notification of level note. Paths are relative to the docs tree,
//! by the base `DOCS`, which the log leaves open: the same tree gives the same log on any machine.
//!
//! Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0; the paragraphs are named below.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use blake2::digest::consts::U16;
use blake2::{Blake2b, Digest};
use serde::Serialize;

use crate::report::{BuildReport, Skipped, Warning, WarningKind, on_one_line};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Name of the base that paths are relative to.
const BASE: &str = "DOCS";

/// Name of the descriptor of what was left out.
const LEFT_OUT: &str = "left-out";

/// Name of a fingerprint; its number rises when fingerprints are made in another way.
const FINGERPRINT: &str = "docsIndexerWarning/v1";

/// How a build ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The index was written.
    Done,
    /// There were warnings, and `--strict` allows none. The analysis itself is complete.
    TooStrict,
    /// The index could not be written.
    Failed,
}

/// A log with one run.
#[derive(Debug, Serialize)]
pub struct SarifLog<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

impl<'r> SarifLog<'r> {
    /// The log of a build.
    pub fn new(report: &'r BuildReport, ending: Ending) -> Self {
        let mut occurrences = HashMap::new();
        let results = report
            .warnings
            .iter()
            .map(|warning| Finding::new(warning, &mut occurrences));
        let run = Run {
            tool: Tool {
                driver: Driver::this(),
            },
            invocations: [Invocation::new(report, ending)],
            original_uri_base_ids: BTreeMap::from([(
                BASE,
                Base {
                    description: Text::from("The docs tree: the folder given to docs-indexer build."),
                },
            )]),
            results: results.collect(),
        };
        Self {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [run],
        }
    }
}

/// Paragraph 3.14.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Tool,
    invocations: [Invocation<'r>; 1],
    original_uri_base_ids: BTreeMap<&'static str, Base>,
    results: Vec<Finding<'r>>,
}

/// Paragraph 3.18.
#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

/// Paragraph 3.19.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    information_uri: Option<&'static str>,
    rules: Vec<Descriptor>,
    notifications: [Descriptor; 1],
}

impl Driver {
    fn this() -> Self {
        let repository = env!("CARGO_PKG_REPOSITORY");
        Self {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            semantic_version: env!("CARGO_PKG_VERSION"),
            information_uri: (!repository.is_empty()).then_some(repository),
            rules: WarningKind::ALL
                .iter()
                .map(|&kind| Descriptor::of(kind))
                .collect(),
            notifications: [Descriptor {
                id: LEFT_OUT,
                short_description: Text::from("A document or folder that is left out"),
                full_description: Text::from(
                    "A file with a document's suffix, or a whole folder, is not in the index.",
                ),
                help: None,
                default_configuration: Configuration { level: "note" },
            }],
        }
    }
}

/// A rule, or a kind of notification. Paragraph 3.49.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Text<'static>,
    full_description: Text<'static>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Text<'static>>,
    default_configuration: Configuration,
}

impl Descriptor {
    fn of(kind: WarningKind) -> Self {
        let texts = kind.texts();
        Self {
            id: kind.name(),
            short_description: Text::from(texts.title),
            full_description: Text::from(texts.explanation),
            help: Some(Text::from(texts.advice)),
            default_configuration: Configuration { level: "warning" },
        }
    }
}

/// Paragraph 3.50.
#[derive(Debug, Serialize)]
struct Configuration {
    level: &'static str,
}

/// A message in plain text. Paragraphs 3.11 and 3.12.
#[derive(Debug, Serialize)]
struct Text<'r> {
    text: std::borrow::Cow<'r, str>,
}

impl<'r> From<&'r str> for Text<'r> {
    fn from(text: &'r str) -> Self {
        Self { text: text.into() }
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self { text: text.into() }
    }
}

/// A base of paths that the reader of the log has to know. Paragraph 3.14.14.
#[derive(Debug, Serialize)]
struct Base {
    description: Text<'static>,
}

/// Paragraph 3.20.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'r> {
    execution_successful: bool,
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code_description: Option<&'static str>,
    tool_execution_notifications: Vec<Notification<'r>>,
}

impl<'r> Invocation<'r> {
    fn new(report: &'r BuildReport, ending: Ending) -> Self {
        Self {
            execution_successful: ending != Ending::Failed,
            exit_code: i32::from(ending != Ending::Done),
            exit_code_description: match ending {
                Ending::Done => None,
                Ending::TooStrict => {
                    Some("there are warnings, and --strict allows none: no index was written")
                }
                Ending::Failed => Some("the index could not be written"),
            },
            tool_execution_notifications: report.skipped.iter().map(Notification::of).collect(),
        }
    }
}

/// What is told about the run and is no result. Paragraph 3.58.
#[derive(Debug, Serialize)]
struct Notification<'r> {
    descriptor: DescriptorReference,
    level: &'static str,
    message: Text<'r>,
    locations: [Location; 1],
}

impl<'r> Notification<'r> {
    fn of(skipped: &'r Skipped) -> Self {
        Self {
            descriptor: DescriptorReference {
                id: LEFT_OUT,
                index: 0,
            },
            level: "note",
            message: Text {
                text: on_one_line(&skipped.reason),
            },
            locations: [Location::new(&skipped.path, None)],
        }
    }
}

/// Paragraph 3.52.
#[derive(Debug, Serialize)]
struct DescriptorReference {
    id: &'static str,
    index: usize,
}

/// A result. Paragraph 3.27.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'r> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text<'r>,
    locations: [Location; 1],
    partial_fingerprints: BTreeMap<&'static str, String>,
}

impl<'r> Finding<'r> {
    /// `occurrences` counts the warnings so far that have the same hash.
    fn new(warning: &'r Warning, occurrences: &mut HashMap<String, u32>) -> Self {
        let hash = fingerprint(warning);
        let occurrence = occurrences.entry(hash.clone()).or_default();
        *occurrence += 1;
        Self {
            rule_id: warning.kind.name(),
            rule_index: warning.kind as usize,
            level: "warning",
            message: Text::from(warning.message_and_advice()),
            locations: [Location::new(&warning.path, warning.line)],
            partial_fingerprints: BTreeMap::from([(FINGERPRINT, format!("{hash}:{occurrence}"))]),
        }
    }
}

/// What makes a warning the same one after lines were added above it: its kind, path and message.
fn fingerprint(warning: &Warning) -> String {
    let mut hash = Blake2b::<U16>::new();
    for part in [warning.kind.name(), &warning.path, &warning.message] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Paragraph 3.28.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
}

/// Paragraph 3.29.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

/// Paragraph 3.4.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

/// Paragraph 3.30.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
}

impl Location {
    fn new(path: &str, line: Option<u32>) -> Self {
        Self {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation {
                    uri: relative_uri(path),
                    uri_base_id: BASE,
                },
                region: line.map(|start_line| Region { start_line }),
            },
        }
    }
}

/// A relative path as a URI reference (RFC 3986): everything but unreserved characters and `/` is percent-encoded,
/// so that no name looks like a scheme, a query or a fragment.
fn relative_uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn report() -> BuildReport {
        let warning = |kind, path: &str, line, message: &str| {
            Warning::new(kind, path.to_owned(), line, message.to_owned())
        };
        BuildReport {
            documents: 2,
            skipped: vec![Skipped {
                path: "notes/a b.md".to_owned(),
                reason: "a draft".to_owned(),
            }],
            warnings: vec![
                warning(WarningKind::BrokenLink, "a.md", Some(3), "no page x.md"),
                warning(WarningKind::BrokenLink, "a.md", Some(9), "no page x.md"),
                warning(WarningKind::TooLarge, "b\\c\n.md", None, "too large"),
            ],
            ..BuildReport::default()
        }
    }

    fn log(ending: Ending) -> Value {
        serde_json::to_value(SarifLog::new(&report(), ending)).unwrap()
    }

    /// The types of the crate are generated from the standard's JSON schema. They accept unknown members, so what comes back
    /// from them must be all that went in.
    #[test]
    fn the_log_is_what_the_schema_says() {
        for (report, ending) in [
            (report(), Ending::Done),
            (report(), Ending::TooStrict),
            (report(), Ending::Failed),
            (BuildReport::default(), Ending::Done),
        ] {
            let log = serde_json::to_value(SarifLog::new(&report, ending)).unwrap();
            let typed: serde_sarif::sarif::Sarif = serde_json::from_value(log.clone()).unwrap();
            assert_eq!(serde_json::to_value(typed).unwrap(), log);
        }
    }

    #[test]
    fn every_kind_is_a_rule_at_its_number() {
        let log = log(Ending::Done);
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), WarningKind::ALL.len());
        for (rule, kind) in rules.iter().zip(WarningKind::ALL) {
            assert_eq!(rule["id"], kind.name());
            assert_eq!(rule["help"]["text"], kind.texts().advice);
            assert_eq!(rule["defaultConfiguration"]["level"], "warning");
        }
        for result in log["runs"][0]["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
    }

    #[test]
    fn a_warning_is_a_result_with_a_place() {
        let results = log(Ending::Done)["runs"][0]["results"].take();
        assert_eq!(
            results[0]["message"]["text"],
            "no page x.md (mend the link's path, or remove the link)"
        );
        let place = json!([{"physicalLocation": {
            "artifactLocation": {"uri": "a.md", "uriBaseId": "DOCS"},
            "region": {"startLine": 3},
        }}]);
        assert_eq!(results[0]["locations"], place);
        let without_line = json!([{"physicalLocation": {
            "artifactLocation": {"uri": "b%5Cc%0A.md", "uriBaseId": "DOCS"},
        }}]);
        assert_eq!(results[2]["locations"], without_line);
    }

    #[test]
    fn a_fingerprint_outlives_a_move_to_another_line_and_is_unique() {
        let of = |report: &BuildReport| -> Vec<String> {
            let log = serde_json::to_value(SarifLog::new(report, Ending::Done)).unwrap();
            let results = log["runs"][0]["results"].as_array().unwrap().clone();
            let print = |result: &Value| {
                result["partialFingerprints"][FINGERPRINT]
                    .as_str()
                    .unwrap()
                    .to_owned()
            };
            results.iter().map(print).collect()
        };
        let before = of(&report());
        let (first, second) = (before[0].strip_suffix(":1"), before[1].strip_suffix(":2"));
        assert!(first.is_some() && first == second, "{before:?}");
        assert!(!before[2].starts_with(first.unwrap()));
        let mut moved = report();
        moved.warnings[0].line = Some(5);
        assert_eq!(of(&moved), before);
        moved.warnings[0].path.insert(0, 'x');
        assert_ne!(of(&moved)[0], before[0]);
    }

    #[test]
    fn how_the_build_ended_is_told() {
        for (ending, successful, code) in [
            (Ending::Done, true, 0),
            (Ending::TooStrict, true, 1),
            (Ending::Failed, false, 1),
        ] {
            let invocation = log(ending)["runs"][0]["invocations"][0].take();
            assert_eq!(invocation["executionSuccessful"], successful, "{ending:?}");
            assert_eq!(invocation["exitCode"], code, "{ending:?}");
            assert_eq!(
                invocation["exitCodeDescription"].is_string(),
                code == 1,
                "{ending:?}"
            );
            let note = &invocation["toolExecutionNotifications"][0];
            assert_eq!(
                (&note["level"], &note["message"]["text"]),
                (&json!("note"), &json!("a draft"))
            );
            let place = &note["locations"][0]["physicalLocation"]["artifactLocation"];
            assert_eq!(place["uri"], "notes/a%20b.md");
        }
    }

    #[test]
    fn any_path_becomes_a_relative_reference() {
        for (path, expected) in [
            ("guide/a-b_c.~d.md", "guide/a-b_c.~d.md"),
            ("c:/x.md", "c%3A/x.md"),
            ("a?b#c%20.md", "a%3Fb%23c%2520.md"),
            ("é.md", "%C3%A9.md"),
            ("a\\b.md", "a%5Cb.md"),
            ("../.gitignore", "../.gitignore"),
            (".", "."),
        ] {
            assert_eq!(relative_uri(path), expected, "{path:?}");
        }
    }
}
