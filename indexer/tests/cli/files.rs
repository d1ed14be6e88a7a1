//! Which files of a tree become documents, under which ids, and that the rest is told.

use std::fs;

use serde_json::Value;

use crate::program::{Place, Run};

/// Ids of the sections in an index, in its order.
fn ids(place: &Place, index: &str) -> Vec<String> {
    let listed = place.run(&["inspect", index, "--json"]).succeeds();
    let id = |line: &Value| line["id"].as_str().unwrap().to_owned();
    listed.json_lines().iter().map(id).collect()
}

/// What a report says was left out, and why.
fn left_out(report: &Value) -> Vec<(&str, &str)> {
    let skipped = report["skipped"].as_array().unwrap().iter();
    skipped
        .map(|entry| (entry["path"].as_str().unwrap(), entry["reason"].as_str().unwrap()))
        .collect()
}

/// What a report warns of: paths and kinds.
fn warned(report: &Value) -> Vec<(&str, &str)> {
    let warnings = report["warnings"].as_array().unwrap().iter();
    warnings
        .map(|warning| {
            (
                warning["path"].as_str().unwrap(),
                warning["kind"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn ids_percent_encode_what_would_break_them_and_nothing_else() {
    let place = Place::new();
    // In the order of their ids' documents: that of the literal bytes.
    let cases = [
        ("# Q4 & [draft] 100%.md", "%23%20Q4%20&%20[draft]%20100%25.md"),
        ("a~2.md", "a%7E2.md"),
        ("it's?.md", "it's?.md"),
        ("my file.md", "my%20file.md"),
        ("über.md", "über.md"),
        ("Зоны.md", "Зоны.md"),
    ];
    for (name, _) in cases {
        place.write(&format!("docs/{name}"), "Text without a heading.\n");
    }
    place.report(&["docs"]);
    let expected = cases.map(|(_, id)| id.replace('[', "%5B").replace(']', "%5D"));
    assert_eq!(ids(&place, "docs.idx"), expected);
    assert_eq!(place.documents("docs.idx"), cases.map(|(name, _)| name));
    for id in expected {
        let line = ["search", "docs.idx", "heading", "--json", "--path", &id];
        let hits = place.run(&line).succeeds().json()["hits"].take();
        assert_eq!(hits[0]["id"], *id);
    }
}

#[test]
fn suffixes_count_in_any_case_and_folders_are_no_documents() {
    let place = Place::with(&[
        ("docs/UPPER.MD", "# Upper\n"),
        ("docs/Mixed.Markdown", "# Mixed\n"),
        ("docs/page.MdX", "# Page\n"),
        ("docs/folder.md/inside.md", "# Inside\n"),
        ("docs/notes.txt", "# Notes\n"),
        ("docs/md", "# No suffix\n"),
        ("docs/page.md.bak", "# Backup\n"),
    ]);
    let report = place.report(&["docs"]);
    assert_eq!(
        place.documents("docs.idx"),
        ["Mixed.Markdown", "UPPER.MD", "folder.md/inside.md", "page.MdX"]
    );
    assert_eq!((left_out(&report), warned(&report)), (vec![], vec![]));
}

#[test]
fn files_without_text_and_drafts_are_told() {
    let place = Place::with(&[
        ("docs/a.md", "# A\n"),
        ("docs/blank.md", "\n \n\t\n"),
        ("docs/comment.md", "<!-- nothing to see -->\n"),
        ("docs/draft.md", "---\ndraft: true\n---\n\n# Draft\n"),
        ("docs/empty.md", ""),
        ("docs/mark.md", "\u{feff}"),
    ]);
    let report = place.report(&["docs"]);
    assert_eq!(place.documents("docs.idx"), ["a.md"]);
    let expected = [
        ("blank.md", "no text"),
        ("comment.md", "no text"),
        ("draft.md", "draft"),
        ("empty.md", "no text"),
        ("mark.md", "no text"),
    ];
    assert_eq!(left_out(&report), expected);
}

#[test]
fn hidden_files_come_in_by_a_switch_or_a_rule() {
    let place = Place::with(&[
        ("docs/a.md", "# A\n"),
        ("docs/.b.md", "# B\n"),
        ("docs/.c/d.md", "# D\n"),
        ("docs/.c/.e.md", "# E\n"),
        ("docs/.git/f.md", "# F\n"),
    ]);
    let report = place.report(&["docs"]);
    assert_eq!(place.documents("docs.idx"), ["a.md"]);
    assert_eq!(
        left_out(&report),
        [(".b.md", "hidden"), (".c", "hidden"), (".git", "git's own")]
    );
    let report = place.report(&["docs", "--hidden"]);
    assert_eq!(
        place.documents("docs.idx"),
        [".b.md", ".c/.e.md", ".c/d.md", "a.md"]
    );
    assert_eq!(left_out(&report), [(".git", "git's own")]);
    place.write("docs/.docsignore", "!.c/\n");
    let report = place.report(&["docs"]);
    assert_eq!(place.documents("docs.idx"), [".c/d.md", "a.md"]);
    assert_eq!(
        left_out(&report),
        [(".b.md", "hidden"), (".c/.e.md", "hidden"), (".git", "git's own")]
    );
}

#[test]
fn nested_ignore_files_with_negation_mean_what_git_means() {
    let place = Place::with(&[
        ("docs/.gitignore", "*.md\n!keep.md\n/sub/*\n!/sub/deep/\nout/\n"),
        ("docs/keep.md", "# Keep\n"),
        ("docs/other.md", "# Other\n"),
        ("docs/page.mdx", "# Page\n"),
        (
            "docs/out/keep.md",
            "# A rule cannot reach into a folder that is left out\n",
        ),
        ("docs/sub/keep.md", "# The later rule wins\n"),
        ("docs/sub/deep/keep.md", "# Keep\n"),
        ("docs/sub/deep/other.md", "# Other\n"),
        ("docs/near/.gitignore", "!other.md\nkeep.md\n"),
        ("docs/near/keep.md", "# Keep\n"),
        ("docs/near/other.md", "# Other\n"),
    ]);
    let report = place.report(&["docs"]);
    assert_eq!(
        place.documents("docs.idx"),
        ["keep.md", "near/other.md", "page.mdx", "sub/deep/keep.md"]
    );
    let expected = [
        ("near/keep.md", "ignored by near/.gitignore: keep.md"),
        ("other.md", "ignored by .gitignore: *.md"),
        ("out", "ignored by .gitignore: out/"),
        ("sub/deep/other.md", "ignored by .gitignore: *.md"),
        ("sub/keep.md", "ignored by .gitignore: /sub/*"),
    ];
    assert_eq!(left_out(&report), expected);
}

#[test]
fn docsignore_beats_ignore_and_ignore_beats_gitignore() {
    let names = ["a.md", "b.md", "c.md", "d.md"];
    let place = Place::new();
    for name in names {
        place.write(&format!("docs/{name}"), "# Page\n");
    }
    place.write("docs/.gitignore", "a.md\nb.md\nc.md\n");
    place.write("docs/.ignore", "!a.md\n!b.md\nd.md\n");
    place.write("docs/.docsignore", "b.md\n!d.md\n");
    let report = place.report(&["docs"]);
    assert_eq!(place.documents("docs.idx"), ["a.md", "d.md"]);
    assert_eq!(
        left_out(&report),
        [
            ("b.md", "ignored by .docsignore: b.md"),
            ("c.md", "ignored by .gitignore: c.md")
        ]
    );
    let report = place.report(&["docs", "--no-ignore"]);
    assert_eq!(place.documents("docs.idx"), names);
    assert_eq!(left_out(&report), []);
    // A flag beats a rule that takes something in.
    let report = place.report(&["docs", "--exclude", "d.md"]);
    assert_eq!(left_out(&report)[2], ("d.md", "excluded by --exclude d.md"));
}

#[test]
fn globs_know_braces_and_double_stars() {
    let place = Place::new();
    for name in [
        "a.md",
        "blog/b.mdx",
        "guide/c.md",
        "guide/deep/d.md",
        "guide/deep/er/e.mdx",
        "x/guide/f.md",
    ] {
        place.write(&format!("docs/{name}"), "# Page\n");
    }
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["--include", "{blog,guide}/**"],
            &[
                "blog/b.mdx",
                "guide/c.md",
                "guide/deep/d.md",
                "guide/deep/er/e.mdx",
            ],
        ),
        (
            &["--include", "**/*.{md,mdx}", "--exclude", "**/deep/**"],
            &["a.md", "blog/b.mdx", "guide/c.md", "x/guide/f.md"],
        ),
        (&["--include", "**/guide/*.md"], &["guide/c.md", "x/guide/f.md"]),
        (
            &["--include", "guide/**/*.{mdx,markdown}"],
            &["guide/deep/er/e.mdx"],
        ),
        (
            &["--include", "*.md"],
            &["a.md", "guide/c.md", "guide/deep/d.md", "x/guide/f.md"],
        ),
        (
            &["--include", "a.md", "--include", "blog"],
            &["a.md", "blog/b.mdx"],
        ),
        (
            &["--exclude", "{a.md,x,guide/deep}"],
            &["blog/b.mdx", "guide/c.md"],
        ),
        (
            &["--exclude", "/guide", "--exclude", "*.mdx"],
            &["a.md", "x/guide/f.md"],
        ),
    ];
    for (flags, expected) in cases {
        let report = place.report(&[&["docs"], *flags].concat());
        assert_eq!(place.documents("docs.idx"), *expected, "{flags:?}");
        for (path, reason) in left_out(&report) {
            assert!(
                reason == "matches no --include" || reason.starts_with("excluded by --exclude "),
                "{path}: {reason}"
            );
        }
    }
    let report = place.report(&["docs", "--exclude", "guide/**", "--exclude", "{x,y}"]);
    assert_eq!(
        left_out(&report),
        [
            ("guide", "excluded by --exclude guide/**"),
            ("x", "excluded by --exclude {x,y}")
        ],
        "a folder is one entry"
    );
}

#[test]
fn the_list_for_people_is_the_list_of_the_report() {
    let place = Place::with(&[
        ("docs/a.md", "# A\n"),
        ("docs/.hidden/b.md", "# B\n"),
        ("docs/c.md", ""),
        ("docs/d\u{1b}[31m.md", ""),
        ("docs/large.md", "# Large\n\nMore than the limit allows.\n"),
        ("docs/archive/e.md", "# E\n"),
    ]);
    let line = [
        "build",
        "docs",
        "-o",
        "docs.idx",
        "--json",
        "--verbose",
        "--exclude",
        "archive",
        "--max-file-size",
        "20",
    ];
    let run = place.run(&line).succeeds();
    let report = run.json();
    assert_eq!(left_out(&report).len(), 5);
    let listed: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("left out: "))
        .collect();
    let expected: Vec<String> = left_out(&report)
        .iter()
        .map(|(path, reason)| format!("left out: {}: {reason}", path.replace('\u{1b}', "\\u{1b}")))
        .collect();
    assert_eq!(listed, expected);
    let quiet = place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    assert!(!quiet.stderr.contains("left out: "), "{}", quiet.stderr);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_backslash_in_a_name_is_no_separator() {
        let place = Place::with(&[
            ("docs/foo/bar.md", "# Folder\n"),
            ("docs/foo\\bar.md", "# Backslash\n"),
            ("docs/foo\\x/bar.md", "# Both\n"),
        ]);
        let report = place.report(&["docs"]);
        assert_eq!(report["documents"], 3);
        assert_eq!(
            ids(&place, "docs.idx"),
            ["foo/bar.md#folder", "foo\\bar.md#backslash", "foo\\x/bar.md#both"]
        );
        place.report(&["docs", "--exclude", "foo"]);
        assert_eq!(place.documents("docs.idx"), ["foo\\bar.md", "foo\\x/bar.md"]);
        place.report(&["docs", "--include", "foo/*.md"]);
        assert_eq!(place.documents("docs.idx"), ["foo/bar.md"]);
    }

    #[test]
    fn names_that_are_no_utf8_have_ids_of_their_own() {
        let place = Place::with(&[("docs/ok.md", "# Ok\n")]);
        let docs = place.path("docs");
        for name in [&b"caf\xe8.md"[..], b"caf\xe9.md", b"d\xe9r.md"] {
            fs::write(docs.join(OsStr::from_bytes(name)), "# Page\n").unwrap();
        }
        fs::create_dir(docs.join(OsStr::from_bytes(b"\xff"))).unwrap();
        fs::write(
            docs.join(OsStr::from_bytes(b"\xff/x.md")),
            "---\ntitle: [\n---\n# X\n",
        )
        .unwrap();
        fs::write(docs.join(OsStr::from_bytes(b"\xff/empty.md")), "").unwrap();
        let report = place.report(&["docs"]);
        assert_eq!(
            ids(&place, "docs.idx"),
            [
                "caf%E8.md#page",
                "caf%E9.md#page",
                "d%E9r.md#page",
                "ok.md#ok",
                "%FF/x.md#x"
            ]
        );
        assert_eq!(warned(&report), [("\u{fffd}/x.md", "invalid-front-matter")]);
        assert_eq!(left_out(&report), [("\u{fffd}/empty.md", "no text")]);
        place.run(&["verify", "docs.idx"]).succeeds();
    }

    #[test]
    fn links_in_circles_end_and_are_told() {
        let place = Place::with(&[("docs/a.md", "# A\n"), ("docs/sub/b.md", "# B\n")]);
        for (target, link) in [
            ("self.md", "self.md"),
            ("two.md", "one.md"),
            ("one.md", "two.md"),
            ("y", "x"),
            ("x", "y"),
            ("..", "sub/parent"),
            ("../../docs", "sub/again"),
            (".", "here.md"),
        ] {
            symlink(target, place.path("docs").join(link)).unwrap();
        }
        let report = place.report(&["docs"]);
        assert_eq!(place.documents("docs.idx"), ["a.md", "sub/b.md"]);
        let walked = "a symbolic link to a folder that is walked under its own path";
        let broken = "a broken symbolic link";
        assert_eq!(
            left_out(&report),
            [
                ("here.md", walked),
                ("one.md", broken),
                ("self.md", broken),
                ("sub/again", walked),
                ("sub/parent", walked),
                ("two.md", broken),
                ("x", broken),
                ("y", broken),
            ]
        );
        let expected = ["one.md", "self.md", "two.md"].map(|path| (path, "broken-symlink"));
        assert_eq!(warned(&report), expected);
    }

    #[test]
    fn links_out_of_the_tree_and_to_nothing_are_told() {
        let place = Place::with(&[
            ("docs/a.md", "# A\n"),
            ("docs/plain.txt", "# Plain\n"),
            ("outside/o.md", "# Outside\n"),
        ]);
        for (target, link) in [
            ("../outside/o.md", "out.md"),
            ("../outside", "out"),
            ("../outside/o.md", "out.txt"),
            ("gone.md", "gone-link.md"),
            ("gone", "v1.0"),
            ("gone", "gone-folder"),
            ("gone.png", "gone.png.svg"),
            ("plain.txt", "page.md"),
            ("a.md", "same.md"),
        ] {
            symlink(target, place.path("docs").join(link)).unwrap();
        }
        let report = place.report(&["docs"]);
        assert_eq!(place.documents("docs.idx"), ["a.md", "page.md"]);
        let (out, broken) = ("a symbolic link out of the tree", "a broken symbolic link");
        assert_eq!(
            left_out(&report),
            [
                ("gone-folder", broken),
                ("gone-link.md", broken),
                ("out", out),
                ("out.md", out),
                ("same.md", "the same file as a.md, by a symbolic link"),
                ("v1.0", broken),
            ]
        );
        assert_eq!(warned(&report), [("gone-link.md", "broken-symlink")]);
        // The tree itself may be a link.
        symlink("docs", place.path("tree")).unwrap();
        place.report(&["tree"]);
        assert_eq!(place.documents("docs.idx"), ["a.md", "page.md"]);
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let place = Place::with(&[("docs/a.md", "# A\n")]);
        for name in ["docs/pipe.md", "docs/pipe"] {
            let made = std::process::Command::new("mkfifo")
                .arg(place.path(name))
                .status();
            assert!(made.unwrap().success());
        }
        symlink("pipe", place.path("docs/to-pipe.md")).unwrap();
        symlink("/dev/zero", place.path("docs/zero.md")).unwrap();
        let _socket = UnixListener::bind(place.path("docs/socket.md")).unwrap();
        let report = place.report(&["docs"]);
        let irregular = "not a regular file";
        assert_eq!(
            left_out(&report),
            [
                ("pipe.md", irregular),
                ("socket.md", irregular),
                ("to-pipe.md", irregular),
                ("zero.md", "a symbolic link out of the tree"),
            ]
        );
        assert_eq!(warned(&report), []);
    }

    /// Rights bind everybody but the superuser, who reads all the same; then there is nothing to see.
    #[test]
    fn what_may_not_be_read_is_a_warning_and_the_rest_is_built() {
        use std::os::unix::fs::PermissionsExt as _;

        let place = Place::with(&[
            ("docs/a.md", "# A\n"),
            ("docs/locked.md", "# Locked\n"),
            ("docs/folder/b.md", "# B\n"),
        ]);
        let set = |name: &str, mode| fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode));
        symlink("folder/b.md", place.path("docs/link.md")).unwrap();
        set("docs/locked.md", 0).unwrap();
        set("docs/folder", 0).unwrap();
        let is_bound = fs::read(place.path("docs/locked.md")).is_err();
        let run = place.run(&["build", "docs", "-o", "docs.idx", "--json"]);
        let strict = place.run(&["build", "docs", "-o", "strict.idx", "--strict"]);
        set("docs/folder", 0o755).unwrap();
        check_locked(&run.succeeds(), &strict, is_bound);
    }

    fn check_locked(run: &Run, strict: &Run, is_bound: bool) {
        let report = run.json();
        if is_bound {
            assert_eq!(report["documents"], 1);
            let expected = ["folder", "link.md", "locked.md"].map(|path| (path, "unreadable"));
            assert_eq!(warned(&report), expected);
            assert_eq!(left_out(&report).len(), 3);
            for (path, reason) in left_out(&report) {
                assert!(reason.starts_with("cannot be read: "), "{path}: {reason}");
            }
        } else {
            assert_eq!((&report["documents"], warned(&report)), (&3.into(), vec![]));
        }
        assert_eq!(strict.code, Some(i32::from(is_bound)));
    }
}
