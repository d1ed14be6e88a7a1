//! What a build reports, in each of its forms: text, JSON, SARIF.

use std::collections::BTreeMap;
use std::process::Command;

use docs_indexer::report::WarningKind;
use serde_json::{Value, json};

use crate::program::{Place, Run};

/// A tree with a warning that has a line, one that has none, and things left out.
fn place_with_warnings() -> Place {
    Place::with(&[
        ("docs/a b.md", "---\ntitle: [\n---\n\n# Alpha\n\nFirst page.\n"),
        ("docs/good.md", "# Good\n\nNothing to say about it.\n"),
        ("docs/drafts/later.md", "# Later\n"),
        ("docs/.docsignore", "/drafts/\n"),
        ("docs/large.md", &format!("# Large\n\n{}", "word ".repeat(300))),
    ])
}

fn build(place: &Place, flags: &[&str]) -> Run {
    let line = ["build", "docs", "-o", "docs.idx", "--max-file-size", "1K"];
    place.run(&[&line, flags].concat())
}

fn with_environment(place: &Place, flags: &[&str], environment: &[(&str, &str)]) -> Run {
    let line = [&["build", "docs", "-o", "docs.idx"], flags].concat();
    let mut command: Command = place.command(&line);
    Run::of(command.envs(environment.iter().copied()).output().unwrap())
}

/// Checks a log against types that are generated from the standard's JSON schema. They pass over members they do not know,
/// so all that went in must come back.
fn check_sarif(log: &Value) {
    let typed: serde_sarif::sarif::Sarif = serde_json::from_value(log.clone()).unwrap();
    assert_eq!(serde_json::to_value(typed).unwrap(), *log);
}

#[test]
fn text_is_the_default_and_leaves_stdout_alone() {
    let place = place_with_warnings();
    let told = |run: &Run| -> Vec<String> {
        let warnings = run.stderr.lines().filter(|line| line.starts_with("warning: "));
        warnings.map(str::to_owned).collect()
    };
    let plain = build(&place, &[]).succeeds();
    let text = build(&place, &["--format", "text"]).succeeds();
    assert_eq!((plain.stdout.as_str(), text.stdout.as_str()), ("", ""));
    assert_eq!(told(&plain).len(), 2);
    assert_eq!(told(&plain), told(&text));
}

#[test]
fn json_is_a_format() {
    let place = place_with_warnings();
    let report = |flags: &[&str]| {
        let mut report = build(&place, flags).succeeds().json();
        report["seconds"] = 0.into();
        report
    };
    let json = report(&["--json"]);
    assert_eq!(json["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(report(&["--format", "json"]), json);
    assert_eq!(report(&["--format", "json", "--json"]), json);
}

#[test]
fn formats_that_disagree_are_wrong_usage_and_flags_beat_the_environment() {
    let place = place_with_warnings();
    for flags in [
        &["--json", "--format", "sarif"][..],
        &["--format", "text", "--json"],
        &["--format", "xml"],
        &["--format", "JSON"],
        &["--format", ""],
        &["--format"],
    ] {
        let run = build(&place, flags).exits(2);
        assert_eq!(run.stdout, "", "{flags:?}");
    }
    let told = build(&place, &["--json", "--format", "sarif"]);
    assert!(
        told.stderr.contains("--json and --format disagree: give one"),
        "{}",
        told.stderr
    );
    assert_eq!(place.names(), ["docs"]);

    let is_sarif = |run: Run| run.succeeds().json().get("runs").is_some();
    let (json, sarif) = (("DOCS_INDEXER_JSON", "1"), ("DOCS_INDEXER_FORMAT", "sarif"));
    assert!(is_sarif(with_environment(&place, &[], &[sarif])));
    assert!(is_sarif(with_environment(
        &place,
        &["--format", "sarif"],
        &[json]
    )));
    assert!(!is_sarif(with_environment(&place, &["--json"], &[sarif])));
    with_environment(&place, &[], &[json, sarif]).exits(2);
    let blank = [("DOCS_INDEXER_FORMAT", " ")];
    assert_eq!(with_environment(&place, &[], &blank).succeeds().stdout, "");
}

#[test]
fn a_sarif_log_goes_to_stdout_and_the_words_to_stderr() {
    let place = place_with_warnings();
    let run = build(&place, &["--format", "sarif"]).succeeds();
    assert_eq!(run.stdout.lines().count(), 1);
    assert!(
        run.stderr.contains("warning: a b.md:") && run.stderr.contains("docs.idx: 2 documents"),
        "{}",
        run.stderr
    );
    let mut log = run.json();
    check_sarif(&log);
    assert!(!run.stdout.contains(place.path("docs").to_str().unwrap()));

    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["name"], "docs-indexer");
    assert_eq!(driver["version"], env!("CARGO_PKG_VERSION"));
    let results = log["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<&str> = results
        .iter()
        .map(|result| result["ruleId"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["invalid-front-matter", "too-large"]);

    // What the program says of its version and its kinds changes with the program, not with the tree.
    log["runs"][0]["tool"]["driver"] = json!({"name": "docs-indexer"});
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).unwrap());
}

#[test]
fn the_same_tree_gives_the_same_log_anywhere() {
    let (one, other) = (place_with_warnings(), place_with_warnings());
    let first = build(&one, &["--format", "sarif", "--threads", "1"]).succeeds();
    let second = build(&other, &["--format", "sarif", "--threads", "3"]).succeeds();
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn a_tree_without_faults_gives_a_log_without_results() {
    let place = Place::with(&[("docs/a.md", "# A\n")]);
    let log = build(&place, &["--format", "sarif", "--strict"])
        .succeeds()
        .json();
    check_sarif(&log);
    assert_eq!(log["runs"][0]["results"], json!([]));
    assert_eq!(
        log["runs"][0]["invocations"][0]["toolExecutionNotifications"],
        json!([])
    );
}

#[test]
fn strict_reports_in_every_form_and_writes_nothing() {
    let place = place_with_warnings();
    for format in ["text", "json", "sarif"] {
        let run = build(&place, &["--format", format, "--strict"]).exits(1);
        assert!(
            run.stderr
                .ends_with("error: 2 warnings, and --strict allows none: docs.idx is left as it was\n"),
            "{format}: {}",
            run.stderr
        );
        assert_eq!(place.names(), ["docs"], "{format}");
        match format {
            "text" => assert_eq!(run.stdout, ""),
            "json" => {
                let report = run.json();
                assert_eq!(
                    (&report["bytes_out"], &report["warnings"][1]["kind"]),
                    (&json!(0), &json!("too-large"))
                );
            }
            _ => {
                let log = run.json();
                check_sarif(&log);
                assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 2);
                let invocation = &log["runs"][0]["invocations"][0];
                assert_eq!(invocation["exitCode"], 1);
                assert_eq!(invocation["executionSuccessful"], true);
            }
        }
    }
    let clean = Place::with(&[("docs/a.md", "# A\n")]);
    for format in ["text", "json", "sarif"] {
        build(&clean, &["--format", format, "--strict"]).succeeds();
    }
}

#[test]
fn a_tree_that_cannot_be_walked_gives_no_log() {
    let place = place_with_warnings();
    let run = place
        .run(&["build", "missing", "-o", "docs.idx", "--format", "sarif"])
        .exits(1);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr.starts_with("error: missing cannot be read: "),
        "{}",
        run.stderr
    );
}

#[test]
fn an_index_that_cannot_be_written_is_told_in_the_log_too() {
    let place = place_with_warnings();
    // No file system takes so long a name; that shows only when the file is written.
    let name = "n".repeat(300);
    let run = place
        .run(&["build", "docs", "-o", &name, "--format", "sarif"])
        .exits(1);
    assert!(
        run.stderr.lines().last().unwrap().starts_with("error: "),
        "{}",
        run.stderr
    );
    let log = run.json();
    check_sarif(&log);
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
    assert_eq!(place.names(), ["docs"]);
}

/// Kinds that this test cannot provoke: a file that changes as it is read is tested where it is read, and links and includes
/// have tests of their own.
const NOT_HERE: [WarningKind; 4] = [
    WarningKind::ChangedDuringBuild,
    WarningKind::BrokenLink,
    WarningKind::MissingAnchor,
    WarningKind::UnresolvedInclude,
];

#[cfg(unix)]
#[test]
fn every_warning_says_where_what_and_what_to_do() {
    let place = Place::with(&[
        ("docs/.gitignore", "# globs\n{a\n"),
        ("docs/front.md", "---\nok: 1\ntitle: [\n---\n\n# Front\n"),
        ("docs/invisible.md", "# One\n\nTwo\u{200b} three\n"),
        ("docs/nul.md", "# One\n\nTwo\0\n"),
        ("docs/large.md", &format!("# Large\n\n{}", "word ".repeat(300))),
        ("docs/comment.md", "# One\n\n<!-- two\n\n# Three\n"),
        ("docs/mkdocs.yml", "site_name: x\nnav: [\n"),
        ("empty/readme.txt", ""),
    ]);
    place.write("docs/bytes.md", b"# One\n\n\n\xff\n");
    std::os::unix::fs::symlink("gone.md", place.path("docs/link.md")).unwrap();
    // An ignore file that is a link to itself cannot be read, whoever tries.
    std::os::unix::fs::symlink(".ignore", place.path("docs/.ignore")).unwrap();

    let mut warnings = build(&place, &["--json"]).succeeds().json()["warnings"].take();
    let empty = place.report(&["empty"])["warnings"].take();
    let all = warnings.as_array_mut().unwrap();
    all.extend(empty.as_array().unwrap().iter().cloned());

    let mut lines = BTreeMap::new();
    for warning in all.iter() {
        for member in ["path", "kind", "message", "advice"] {
            assert!(!warning[member].as_str().unwrap().trim().is_empty(), "{warning}");
        }
        let kind = warning["kind"].as_str().unwrap().to_owned();
        assert!(
            lines.insert(kind, warning["line"].as_u64()).is_none(),
            "{warning}"
        );
    }
    let line = |kind: WarningKind| match kind {
        WarningKind::InvalidFrontMatter | WarningKind::InvalidEncoding => Some(4),
        WarningKind::InvisibleCharacters | WarningKind::NulCharacter | WarningKind::UnclosedComment => {
            Some(3)
        }
        WarningKind::InvalidIgnoreRule => Some(2),
        WarningKind::UnreadableConfiguration => Some(3),
        _ => None,
    };
    let here = WarningKind::ALL.iter().filter(|kind| !NOT_HERE.contains(kind));
    let expected: BTreeMap<_, _> = here.map(|&kind| (kind.name().to_owned(), line(kind))).collect();
    assert_eq!(lines, expected);
}

#[test]
fn the_guide_has_a_row_for_every_kind() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/building.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let table = guide.split("\n### Warnings\n").nth(1).unwrap();
    let rows: Vec<&str> = table
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .collect();
    let expected = WarningKind::ALL.iter().map(|kind| {
        let texts = kind.texts();
        format!("| `{}` | {} | {} |", kind.name(), texts.title, texts.advice)
    });
    assert_eq!(rows[..WarningKind::ALL.len()], expected.collect::<Vec<_>>());
    assert_eq!(rows[WarningKind::ALL.len()], "", "no row without a kind");
}
