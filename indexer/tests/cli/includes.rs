//! Includes, seen from the command line: what is resolved, what is refused, what is found by search.

use crate::program::Place;

/// A repository of the shape in which documentation often includes code: the docs tree is `docs/en/docs`, its site's
/// configuration stands beside it, and the code in a folder of the repository.
fn repository() -> Place {
    let place = Place::with(&[
        (
            "docs/en/mkdocs.yml",
            "site_name: Kites\ntheme: {name: material}\n",
        ),
        (
            "docs/en/docs/tutorial/fly.md",
            "# Fly\n\nThe whole file:\n\n{* ../../docs_src/fly/first.py *}\n\n## Some lines\n\n{* ../../docs_src/fly/first.py ln[1:2] hl[2] *}\n\n\
             * In a list:\n\n    {* ../../docs_src/fly/second.py ln[3] *}\n\n## Titled\n\n{* ../../docs_src/fly/second.py title[\"second.py\"] *}\n\nAfter.\n",
        ),
        (
            "docs/en/docs/old.md",
            "# Old\n\n```python\n{!../../../docs_src/fly/first.py!}\n```\n\n## Lines\n\n```python\n{!> ../../../docs_src/fly/first.py[ln:2]!}\n```\n",
        ),
        (
            "docs/en/docs/snippets.md",
            "# Snippets\n\n--8<-- \"parts/wind.md\"\n\n## Range\n\n```py\n--8<-- \"../../docs_src/fly/first.py:2:2\"\n```\n\n## Section\n\n\
             ```py\n--8<-- \"../../docs_src/fly/marked.py:reel\"\n```\n",
        ),
        (
            "docs/en/docs/parts/wind.md",
            "Mind the *gusty* wind.\n\n## Storms\n\nStay at home.\n",
        ),
        (
            "docs/en/docs/book.md",
            "# Book\n\n```rust\n{{#include code/kite.rs:2:3}}\n```\n\n## Anchor\n\n```rust\n{{#rustdoc_include code/kite.rs:tail}}\n```\n",
        ),
        (
            "docs/en/docs/code/kite.rs",
            "struct Kite;\nfn lift() {}\nfn drift() {}\n// ANCHOR: tail\nfn tail() {}\n// ANCHOR_END: tail\n",
        ),
        (
            "docs/en/docs/site.md",
            "# Site\n\n<<< ./code/line.ts{2}\n\n## Region\n\n<<< @/code/line.ts#knot{ts}\n\n## Part\n\n<!--@include: ./parts/wind.md{1,1}-->\n",
        ),
        (
            "docs/en/docs/code/line.ts",
            "const spool = 1\n// #region knot\nconst bowline = 2\n// #endregion knot\n",
        ),
        (
            "docs/en/docs/sphinx.md",
            "# Sphinx\n\n```{literalinclude} code/kite.rs\n:lines: 2\n:language: rust\n```\n\n```{include} parts/wind.md\n```\n",
        ),
        (
            "docs/en/docs/learn.md",
            "# Learn\n\n[!INCLUDE [wind](parts/wind.md)]\n\n:::code language=\"rust\" source=\"code/kite.rs\" range=\"3\":::\n",
        ),
        (
            "docs_src/fly/first.py",
            "import kite\nkite.launch_high()\nprint('flying')\n",
        ),
        ("docs_src/fly/second.py", "import kite\n\nkite.land_softly()\n"),
        (
            "docs_src/fly/marked.py",
            "import kite\n# --8<-- [start:reel]\nkite.reel_in()\n# --8<-- [end:reel]\nkite.pack()\n",
        ),
        ("secret.txt", "the password is hunter2\n"),
    ]);
    std::fs::create_dir(place.path(".git")).unwrap();
    place
}

fn build(place: &Place, further: &[&str]) -> serde_json::Value {
    let arguments = [&["build", "docs/en/docs", "-o", "docs.idx", "--json"], further].concat();
    place.run(&arguments).succeeds().json()
}

/// The stored text of each section, by id.
fn texts(place: &Place) -> Vec<(String, String)> {
    let run = place.run(&["inspect", "docs.idx", "--json", "--text"]).succeeds();
    let text = |section: &serde_json::Value, key: &str| section[key].as_str().unwrap().to_owned();
    run.json_lines()
        .iter()
        .map(|section| (text(section, "id"), text(section, "text")))
        .collect()
}

#[test]
fn every_form_is_resolved_and_its_code_is_found() {
    let place = repository();
    let report = build(&place, &["--include-root", "docs_src"]);
    assert_eq!(report["warnings"], serde_json::json!([]));
    let texts = texts(&place);
    let text = |id: &str| {
        let found = texts.iter().find(|(found, _)| found == id);
        found
            .unwrap_or_else(|| panic!("{id} is not among {texts:#?}"))
            .1
            .as_str()
    };
    assert!(
        text("tutorial/fly.md#fly")
            .contains("```python\nimport kite\nkite.launch_high()\nprint('flying')\n```")
    );
    let some = text("tutorial/fly.md#some-lines");
    assert!(some.contains("```python\nimport kite\nkite.launch_high()\n") && !some.contains("flying"));
    assert!(some.contains("    kite.land_softly()") && !some.contains("hl["));
    assert!(
        text("tutorial/fly.md#titled").contains("second.py")
            && text("tutorial/fly.md#titled").ends_with("After.")
    );
    assert!(text("old.md#old").contains("print('flying')"));
    assert_eq!(
        text("old.md#lines"),
        "## Lines\n\n```python\nkite.launch_high()\n```"
    );
    assert!(text("snippets.md#snippets").contains("Mind the *gusty* wind.\n\n## Storms"));
    assert_eq!(
        text("snippets.md#section"),
        "## Section\n\n```py\nkite.reel_in()\n```"
    );
    assert_eq!(
        text("book.md#book"),
        "# Book\n\n```rust\nfn lift() {}\nfn drift() {}\n```"
    );
    assert!(text("book.md#anchor").contains("fn tail() {}") && !text("book.md#anchor").contains("ANCHOR"));
    assert!(text("site.md#site").contains("const spool = 1"));
    assert_eq!(
        text("site.md#region"),
        "## Region\n\n```ts\nconst bowline = 2\n```"
    );
    assert!(text("site.md#part").ends_with("Mind the *gusty* wind."));
    assert!(text("sphinx.md#sphinx").contains("fn lift() {}") && text("sphinx.md#sphinx").contains("gusty"));
    assert!(text("learn.md#learn").contains("fn drift() {}") && text("learn.md#learn").contains("gusty"));
    for (id, text) in &texts {
        for mark in [
            "{*",
            "{!",
            "--8<--",
            "#include",
            "<<<",
            "literalinclude",
            "INCLUDE",
            ":::code",
        ] {
            assert!(!text.contains(mark), "{id}: {text}");
        }
    }
    for (query, id) in [
        ("launch_high", "old.md#lines"),
        ("land_softly", "tutorial/fly.md#some-lines"),
        ("bowline", "site.md#region"),
        ("reel_in", "snippets.md#section"),
    ] {
        let hits = place
            .run(&["search", "docs.idx", query, "--json", "--no-group"])
            .succeeds()
            .json();
        let ids: Vec<&str> = hits["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["id"].as_str().unwrap())
            .collect();
        assert!(ids.contains(&id), "{query}: {ids:?}");
    }
}

#[test]
fn in_a_build_of_the_whole_repository_every_include_is_in_the_tree() {
    let place = repository();
    let report = place.report(&["."]);
    assert_eq!(report["warnings"], serde_json::json!([]));
    let hits = place
        .run(&["search", "docs.idx", "launch_high", "--json"])
        .succeeds()
        .json();
    assert!(
        hits["hits"][0]["id"]
            .as_str()
            .unwrap()
            .starts_with("docs/en/docs/"),
        "{hits}"
    );
}

#[test]
fn headings_of_an_included_file_lead_to_the_section_that_includes_it() {
    let place = repository();
    build(&place, &["--include-root", "docs_src"]);
    let run = place.run(&["inspect", "docs.idx", "--json"]).succeeds();
    let sections = run.json_lines();
    let section = sections
        .iter()
        .find(|section| section["id"] == "snippets.md#snippets")
        .unwrap();
    assert_eq!(section["aliases"], serde_json::json!(["storms"]));
    assert_eq!(
        (section["line_start"].as_u64(), section["line_end"].as_u64()),
        (Some(1), Some(4))
    );
}

#[test]
fn what_lies_outside_is_refused_and_stays_visible_with_its_line() {
    let place = repository();
    let inside = "# Out\n\n";
    for (number, directive) in [
        "{* ../../../secret.txt *}",
        "--8<-- \"../../secret.txt\"",
        "{{#include ../../../secret.txt}}",
        "<<< @/../../../secret.txt",
        "```{literalinclude} ../../../secret.txt\n```",
        "[!INCLUDE [x](../../../secret.txt)]",
        "--8<-- \"/etc/hostname\"",
        "--8<-- \"https://example.com/x.md\"",
        "{* link.txt *}",
    ]
    .iter()
    .enumerate()
    {
        place.write(
            &format!("docs/en/docs/out/{number}.md"),
            format!("{inside}{directive}\n"),
        );
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../../../secret.txt", place.path("docs/en/docs/out/link.txt")).unwrap();
    let report = build(&place, &["--include-root", "docs_src"]);
    let warnings = report["warnings"].as_array().unwrap();
    let paths: Vec<&str> = warnings
        .iter()
        .map(|warning| warning["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        (0..9)
            .map(|number| format!("out/{number}.md"))
            .collect::<Vec<_>>()
    );
    for warning in warnings {
        assert_eq!(
            (&warning["kind"], &warning["line"]),
            (&"unresolved-include".into(), &3.into()),
            "{warning}"
        );
    }
    assert!(warnings[0]["advice"].as_str().unwrap().contains("--include-root"));
    for (id, text) in texts(&place) {
        assert!(!text.contains("hunter2"), "{id}");
        if id.starts_with("out/") {
            assert!(
                text.contains("secret.txt")
                    || text.contains("/etc/hostname")
                    || text.contains("x.md")
                    || text.contains("link.txt")
            );
        }
    }
    place
        .run(&["build", "docs/en/docs", "-o", "strict.idx", "--strict"])
        .exits(1);
}

#[test]
fn a_folder_to_include_from_must_be_there() {
    let place = repository();
    let run = place
        .run(&[
            "build",
            "docs/en/docs",
            "-o",
            "docs.idx",
            "--include-root",
            "gone",
        ])
        .exits(1);
    assert!(
        run.stderr.contains("--include-root gone cannot be read"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_changed_include_changes_the_hash_of_its_documents() {
    let place = repository();
    let hash = || {
        build(&place, &["--include-root", "docs_src"]);
        place.read("docs.idx")
    };
    let before = hash();
    assert_eq!(hash(), before);
    place.write(
        "docs_src/fly/first.py",
        "import kite\nkite.launch_low()\nprint('flying')\n",
    );
    assert_ne!(hash(), before);
}
