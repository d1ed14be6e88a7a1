//! `build`: what is taken, what is told, what is written.

use std::fs;
use std::process::{Command, Stdio};

use crate::program::{Place, Run, handbook, keys};

const TWO_PAGES: [(&str, &str); 2] = [
    ("docs/a.md", "# Alpha\n\nFirst page.\n"),
    ("docs/sub/b.md", "# Beta\n\nSecond page.\n"),
];

/// A document whose front matter is no YAML: one warning.
const WARNS: &str = "---\ntitle: [\n---\n\n# Gamma\n\nThird page.\n";

#[test]
fn json_goes_to_stdout_and_words_to_stderr() {
    let place = Place::with(&TWO_PAGES);
    let plain = place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    assert_eq!(plain.stdout, "");
    let summary = "docs.idx: 2 documents with 2 sections (42 bytes) became ";
    assert!(
        plain.stderr.starts_with(summary) && plain.stderr.contains("; 0 warnings"),
        "{}",
        plain.stderr
    );
    let json = place
        .run(&["build", "docs", "-o", "docs.idx", "--json"])
        .succeeds();
    assert_eq!(json.stdout.lines().count(), 1);
    let expected = [
        "documents",
        "sections",
        "bytes_in",
        "bytes_out",
        "seconds",
        "skipped",
        "warnings",
    ];
    assert_eq!(keys(&json.stdout), expected);
    let report = json.json();
    assert_eq!(report["bytes_in"], 42);
    assert_eq!(report["bytes_out"], place.read("docs.idx").len());
    assert!(report["seconds"].as_f64().unwrap() >= 0.0);
}

#[test]
fn the_report_of_the_handbook() {
    let place = Place::new();
    let mut report = place.report(&[&handbook()]);
    report["seconds"] = 0.into();
    report["bytes_out"] = 0.into();
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap());
}

#[test]
fn verbose_lists_what_is_left_out() {
    let place = Place::with(&TWO_PAGES);
    place.write("docs/.hidden.md", "# Hidden\n");
    place.write("docs/empty.md", "");
    let quiet = place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    assert!(
        quiet.stderr.contains("2 left out (--verbose lists them)"),
        "{}",
        quiet.stderr
    );
    let verbose = place
        .run(&["build", "docs", "-o", "docs.idx", "--verbose"])
        .succeeds();
    assert!(
        verbose
            .stderr
            .starts_with("left out: .hidden.md: hidden\nleft out: empty.md: no text\n")
    );
}

#[test]
fn globs_and_ignore_files_choose_documents() {
    let place = Place::with(&[
        ("repo/.git/HEAD", ""),
        ("repo/.gitignore", "generated.md\n"),
        ("repo/docs/.docsignore", "/private/\n"),
        ("repo/docs/a.md", "# A\n"),
        ("repo/docs/generated.md", "# G\n"),
        ("repo/docs/private/p.md", "# P\n"),
        ("repo/docs/guide/b.mdx", "# B\n"),
        ("repo/docs/guide/c.md", "# C\n"),
        ("repo/docs/.dot/d.md", "# D\n"),
    ]);
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["a.md", "guide/b.mdx", "guide/c.md"]),
        (&["--exclude", "guide/**"], &["a.md"]),
        (&["--exclude", "*.mdx", "--exclude", "a.md"], &["guide/c.md"]),
        (
            &["--include", "guide/*.{md,mdx}", "--exclude", "**/c.md"],
            &["guide/b.mdx"],
        ),
        (&["--hidden"], &[".dot/d.md", "a.md", "guide/b.mdx", "guide/c.md"]),
        (
            &["--no-ignore"],
            &[
                "a.md",
                "generated.md",
                "guide/b.mdx",
                "guide/c.md",
                "private/p.md",
            ],
        ),
    ];
    for (flags, expected) in cases {
        place.report(&[&["repo/docs"], *flags].concat());
        assert_eq!(place.documents("docs.idx"), *expected, "{flags:?}");
    }
}

#[test]
fn strict_fails_on_a_warning_and_leaves_the_old_file() {
    let place = Place::with(&TWO_PAGES);
    place
        .run(&["build", "docs", "-o", "docs.idx", "--strict"])
        .succeeds();
    let old = place.read("docs.idx");
    place.write("docs/c.md", WARNS);
    let strict = place
        .run(&["build", "docs", "-o", "docs.idx", "--strict", "--json"])
        .exits(1);
    assert!(strict.stderr.contains("warning: c.md:"), "{}", strict.stderr);
    assert!(
        strict
            .stderr
            .ends_with("error: 1 warning, and --strict allows none: docs.idx is left as it was\n")
    );
    assert_eq!(strict.json()["warnings"][0]["kind"], "invalid-front-matter");
    assert_eq!(place.read("docs.idx"), old);
    let lenient = place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    assert!(lenient.stderr.contains("1 warning"), "{}", lenient.stderr);
    assert_ne!(place.read("docs.idx"), old);
    assert_eq!(place.names(), ["docs", "docs.idx"]);
}

#[test]
fn a_tree_without_documents_makes_an_empty_index_and_a_warning() {
    let place = Place::with(&TWO_PAGES);
    for arguments in [&["--exclude", "**"][..], &["--include", "*.mdx"]] {
        let build = [&["build", "docs", "-o", "docs.idx", "--json"], arguments].concat();
        let report = place.run(&build).succeeds().json();
        assert_eq!(report["documents"], 0);
        assert_eq!(report["warnings"][0]["kind"], "no-documents");
        let message = report["warnings"][0]["message"].as_str().unwrap().to_owned();
        assert_eq!(
            message,
            "no document found (looked for .md, .markdown, .mdx, 2 paths left out); the index is empty"
        );
        place.run(&["verify", "docs.idx"]).succeeds();
        assert_eq!(
            place
                .run(&["search", "docs.idx", "page", "--json"])
                .succeeds()
                .json()["hits"],
            serde_json::json!([])
        );
    }
}

#[test]
fn a_failed_build_leaves_the_old_file_and_no_other() {
    let place = Place::with(&TWO_PAGES);
    place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    let old = place.read("docs.idx");
    place.write("empty/readme.txt", "text");
    let cases: &[(&[&str], &str)] = &[
        (
            &["build", "empty", "-o", "docs.idx", "--strict"],
            "warning: .: no document found (looked for .md, .markdown, .mdx); the index is empty ",
        ),
        (
            &["build", "missing", "-o", "docs.idx"],
            "error: missing cannot be read: ",
        ),
        (
            &["build", "docs/a.md", "-o", "docs.idx"],
            "error: docs/a.md is not a folder; ",
        ),
        (
            &["build", "docs", "-o", "none/docs.idx"],
            "error: none/docs.idx cannot be written: there is no folder none\n",
        ),
        (
            &["build", "docs", "-o", "docs"],
            "error: docs is a folder; name the file to write, ",
        ),
        (
            &["build", "docs", "-o", "docs.idx", "--exclude", "[a"],
            "error: --exclude \"[a\" is no glob: ",
        ),
    ];
    for (line, expected) in cases {
        let failed = place.run(line).exits(1);
        assert!(failed.stderr.starts_with(expected), "{line:?}: {}", failed.stderr);
        assert_eq!(failed.stdout, "", "{line:?}");
    }
    assert_eq!(place.read("docs.idx"), old);
    assert_eq!(place.names(), ["docs", "docs.idx", "empty"]);
}

#[test]
fn the_same_tree_gives_the_same_bytes() {
    let page = |number: usize| {
        let text = format!("Page {number} about topic{} and `code_{number}`.\n\n", number % 7);
        format!(
            "# Page {number}\n\n{}\n## More\n\n[next](p{:03}.md)\n",
            text.repeat(number % 40),
            number + 1
        )
    };
    let place = Place::new();
    // Created in one order here and in another order there.
    for number in 0..120 {
        place.write(&format!("one/d{}/p{number:03}.md", number % 5), page(number));
        let shuffled = (number * 77 + 13) % 120;
        place.write(
            &format!("two/d{}/p{shuffled:03}.md", shuffled % 5),
            page(shuffled),
        );
    }
    place
        .run(&["build", "one", "-o", "1.idx", "--threads", "1"])
        .succeeds();
    for (tree, threads) in [("one", "2"), ("one", "7"), ("two", "1"), ("two", "3")] {
        place
            .run(&["build", tree, "-o", "n.idx", "--threads", threads])
            .succeeds();
        assert!(
            place.read("1.idx") == place.read("n.idx"),
            "{tree} with {threads} threads"
        );
    }
    place.run(&["verify", "1.idx"]).succeeds();
}

#[test]
fn a_large_file_is_left_out_with_a_warning() {
    let place = Place::with(&TWO_PAGES);
    place.write("docs/large.md", "# Large\n\n".to_owned() + &"word ".repeat(300));
    let report = place.report(&["docs", "--max-file-size", "1K"]);
    assert_eq!(report["documents"], 2);
    assert_eq!(report["skipped"][0]["path"], "large.md");
    assert_eq!(report["warnings"][0]["kind"], "too-large");
    assert_eq!(report["warnings"][0]["line"], serde_json::Value::Null);
}

#[test]
fn options_come_from_the_environment_too() {
    let place = Place::with(&TWO_PAGES);
    place.write("docs/c.md", WARNS);
    let build = |flags: &[&str], environment: &[(&str, &str)]| {
        let line = [&["build", "docs", "-o", "docs.idx"], flags].concat();
        Run::of(
            place
                .command(&line)
                .envs(environment.iter().copied())
                .output()
                .unwrap(),
        )
    };
    build(&[], &[("DOCS_INDEXER_STRICT", "1")]).exits(1);
    build(
        &[],
        &[
            ("DOCS_INDEXER_STRICT", "yes"),
            ("DOCS_INDEXER_EXCLUDE", "c.md\nsub/**"),
        ],
    )
    .succeeds();
    assert_eq!(place.documents("docs.idx"), ["a.md"]);
    let blank = [
        ("DOCS_INDEXER_STRICT", ""),
        ("DOCS_INDEXER_THREADS", " "),
        ("DOCS_INDEXER_EXCLUDE", ""),
    ];
    build(&[], &blank).succeeds();
    assert_eq!(place.documents("docs.idx"), ["a.md", "c.md", "sub/b.md"]);
    build(&["--exclude", "a.md"], &[("DOCS_INDEXER_EXCLUDE", "c.md")]).succeeds();
    assert_eq!(place.documents("docs.idx"), ["c.md", "sub/b.md"], "flags win");
    build(&[], &[("DOCS_INDEXER_STRICT", "perhaps")]).exits(2);
    build(&[], &[("DOCS_INDEXER_THREADS", "none")]).exits(2);
    let output = [("DOCS_INDEXER_OUTPUT", "from-env.idx")];
    Run::of(place.command(&["build", "docs"]).envs(output).output().unwrap()).succeeds();
    assert!(place.names().contains(&"from-env.idx".to_owned()));
}

#[cfg(unix)]
#[test]
fn links_loops_and_odd_names_are_safe() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    let place = Place::with(&TWO_PAGES);
    symlink(".", place.path("docs/loop")).unwrap();
    symlink("../../docs", place.path("docs/sub/up")).unwrap();
    symlink("nowhere.md", place.path("docs/broken.md")).unwrap();
    fs::write(
        place.path("docs").join(OsStr::from_bytes(b"caf\xe9.md")),
        "# Latin\n\nText.\n",
    )
    .unwrap();
    place.write("docs/new\nline.md", "# Line\n\nText.\n");
    let built = place
        .run(&["build", "docs", "-o", "docs.idx", "--json", "--verbose"])
        .succeeds();
    let report = built.json();
    assert_eq!(report["documents"], 4);
    assert_eq!(report["warnings"][0]["kind"], "broken-symlink");
    assert_eq!(report["skipped"].as_array().unwrap().len(), 3);
    assert_eq!(
        place.documents("docs.idx"),
        ["a.md", "caf\u{fffd}.md", "new\nline.md", "sub/b.md"]
    );
    place.run(&["verify", "docs.idx"]).succeeds();
}

/// Deeper than any system call reaches: the superuser cannot read it either.
#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_a_warning() {
    let place = Place::with(&TWO_PAGES);
    // Two chains of folders, each short enough to be made; then one is moved to the end of the other.
    let chain = |top: &str| {
        vec!["d".repeat(200); 15]
            .iter()
            .fold(place.path(top), |path, name| path.join(name))
    };
    fs::create_dir_all(chain("docs")).unwrap();
    fs::create_dir_all(chain("lower")).unwrap();
    fs::write(chain("lower").join("deep.md"), "# Deep\n").unwrap();
    fs::rename(place.path("lower"), chain("docs").join("lower")).unwrap();
    let report = place.report(&["docs"]);
    assert_eq!(report["documents"], 2);
    assert_eq!(report["warnings"][0]["kind"], "unreadable");
    assert!(
        report["skipped"][0]["reason"]
            .as_str()
            .unwrap()
            .starts_with("cannot be read: "),
        "{report}"
    );
    place
        .run(&["build", "docs", "-o", "strict.idx", "--strict"])
        .exits(1);
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_documents_name_is_not_waited_for() {
    let place = Place::with(&TWO_PAGES);
    assert!(
        Command::new("mkfifo")
            .arg(place.path("docs/pipe.md"))
            .status()
            .unwrap()
            .success()
    );
    assert!(
        Command::new("mkfifo")
            .arg(place.path("docs/.gitignore"))
            .status()
            .unwrap()
            .success()
    );
    let report = place.report(&["docs"]);
    assert_eq!(report["documents"], 2);
    assert_eq!(report["skipped"][0]["reason"], "not a regular file");
}

#[test]
fn two_builds_at_once_leave_a_whole_file() {
    let place = Place::new();
    for number in 0..60 {
        place.write(
            &format!("one/{number}.md"),
            format!("# One {number}\n\nText of page {number}.\n"),
        );
        place.write(
            &format!("two/{number}.md"),
            format!("# Two {number}\n\nText of page {number}.\n"),
        );
    }
    let start = |tree| {
        let mut command = place.command(&["build", tree, "-o", "docs.idx"]);
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    let builds: Vec<_> = ["one", "two", "one", "two"].map(start).into_iter().collect();
    for mut build in builds {
        assert!(build.wait().unwrap().success());
    }
    place.run(&["verify", "docs.idx"]).succeeds();
    assert_eq!(place.documents("docs.idx").len(), 60);
    assert_eq!(place.names(), ["docs.idx", "one", "two"]);
}

#[test]
fn a_killed_build_leaves_a_whole_file_and_no_lock() {
    let place = Place::new();
    let tree = |name: &str| {
        for number in 0..150 {
            let sections = format!("## Part\n\n{name} text of page {number}.\n\n").repeat(20);
            place.write(
                &format!("{name}/{number}.md"),
                format!("# {name} {number}\n\n{sections}"),
            );
        }
    };
    tree("old");
    tree("new");
    place.run(&["build", "old", "-o", "docs.idx"]).succeeds();
    for delay in [0, 1, 5, 10, 20, 40, 80, 160] {
        let mut command = place.command(&["build", "new", "-o", "docs.idx"]);
        let mut build = command.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay));
        // On Unix this is SIGKILL; a build that is done already is no failure.
        let _ = build.kill();
        build.wait().unwrap();
        place.run(&["verify", "docs.idx"]).succeeds();
        assert_eq!(place.documents("docs.idx").len(), 150, "killed after {delay} ms");
    }
    place.run(&["build", "new", "-o", "docs.idx"]).succeeds();
    let found = place.run(&["search", "docs.idx", "new", "--json"]).succeeds();
    assert!(!found.json()["hits"].as_array().unwrap().is_empty());
}
