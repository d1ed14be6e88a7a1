//! Help, version and wrong usage.

use crate::program::{Place, handbook};

#[test]
fn help_says_what_can_be_done() {
    let place = Place::new();
    for command in ["", "build", "inspect", "search", "eval", "verify", "merge"] {
        let line: Vec<&str> = [command, "--help"]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        let run = place.run(&line).succeeds();
        assert_eq!(run.stderr, "");
        let name = if command.is_empty() { "help" } else { command };
        insta::assert_snapshot!(format!("help-{name}"), run.stdout);
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let run = Place::new().run(&["--version"]).succeeds();
    assert!(
        run.stdout
            .starts_with(concat!("docs-indexer ", env!("CARGO_PKG_VERSION"))),
        "{}",
        run.stdout
    );
}

#[test]
fn wrong_usage_exits_with_two() {
    let place = Place::with_handbook();
    let tree = handbook();
    let before = place.names();
    let cases: &[&[&str]] = &[
        &[],
        &["compile"],
        &["build"],
        &["build", &tree],
        &["build", "-o", "x.idx"],
        &["build", &tree, "other", "-o", "x.idx"],
        &["build", &tree, "-o", "x.idx", "--shard", "0/2"],
        &["build", &tree, "-o", "x.idx", "--shard", "3/2"],
        &["build", &tree, "-o", "x.idx", "--threads", "0"],
        &["build", &tree, "-o", "x.idx", "--max-file-size", "big"],
        &["build", &tree, "-o", "x.idx", "--compression-level", "99"],
        &["build", &tree, "-o", "x.idx", "--unknown"],
        &["search", "docs.idx"],
        &["search", "docs.idx", "wind", "--queries", "q.jsonl"],
        &["search", "docs.idx", "wind", "--k", "0"],
        &["search", "docs.idx", "wind", "--k", "1001"],
        &["search", "docs.idx", "wind", "--snippet-chars", "-1"],
        &["merge", "docs.idx"],
        &["merge", "-o", "x.idx"],
    ];
    for line in cases {
        let run = place.run(line).exits(2);
        assert_eq!(run.stdout, "", "{line:?}");
        assert!(!run.stderr.is_empty(), "{line:?}");
    }
    assert_eq!(place.names(), before);
    let two = place.run(&["build", &tree, "other", "-o", "x.idx"]);
    assert!(two.stderr.contains("give one DIR"), "{}", two.stderr);
}
