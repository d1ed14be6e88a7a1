//! Links, seen from the command line: as answers show them, and as `--check-links` judges them.

use serde_json::json;

use crate::program::Place;

fn tree() -> Place {
    Place::with(&[
        (
            "docs/index.md",
            "# Home\n\nSee [the guide](guide/), [setup](guide/setup.md#first-steps), [old name](guide/setup.md#begin), [here](#home),\n\
             [gone](guide/gone.md), [no heading](guide/setup.md#nowhere), [site](/docs/guide/setup), [file](data.csv),\n\
             [away](https://example.org/x), <a href=\"guide/setup.md\">html</a>, [by label][label] and [label].\n\n![A kite](img/kite.png)\n\n\
             ## Names\n\nA note[^1].\n\n## Last\n\n[label]: guide/setup.md \"Setup\"\n[^1]: The note's text.\n",
        ),
        (
            "docs/guide/index.md",
            "# Guide\n\n[Up](../index.md) and [next](setup) and [wiki](../Odd%20name.md).\n",
        ),
        (
            "docs/guide/setup.md",
            "# Setup\n\n<a id=\"begin\"></a>\n\n## First steps\n\nSee [[Odd name]].\n",
        ),
        ("docs/Odd name.md", "# Odd\n\ntext\n"),
        ("docs/data.csv", "a,b\n"),
    ])
}

fn text(place: &Place, id: &str) -> String {
    let run = place.run(&["inspect", "docs.idx", "--json", "--text"]).succeeds();
    let sections = run.json_lines();
    let section = sections.iter().find(|section| section["id"] == id).unwrap();
    section["text"].as_str().unwrap().to_owned()
}

#[test]
fn relative_links_become_ids_and_the_rest_stays() {
    let place = tree();
    place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    let home = text(&place, "index.md#home");
    for link in [
        "[the guide](guide/index.md)",
        "[setup](guide/setup.md#first-steps)",
        "[old name](guide/setup.md#begin)",
        "[here](index.md#home)",
        "[gone](guide/gone.md)",
        "[site](guide/setup.md)",
        "[file](data.csv)",
        "[away](https://example.org/x)",
        "<a href=\"guide/setup.md\">html</a>",
        "[by label](guide/setup.md)",
        "[label](guide/setup.md).",
        "![A kite](img/kite.png)",
    ] {
        assert!(home.contains(link), "{link} is not in {home}");
    }
    assert!(
        text(&place, "guide/index.md#guide")
            .contains("[Up](index.md) and [next](guide/setup.md) and [wiki](Odd%20name.md)")
    );
    assert!(text(&place, "guide/setup.md#first-steps").contains("[Odd name](Odd%20name.md)"));
}

#[test]
fn definitions_go_and_footnotes_follow_the_section_that_uses_them() {
    let place = tree();
    place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    assert_eq!(
        text(&place, "index.md#names"),
        "## Names\n\nA note[^1].\n\n[^1]: The note's text."
    );
    assert_eq!(text(&place, "index.md#last"), "## Last\n\n[^1]: The note's text.");
}

#[test]
fn with_a_base_url_files_and_pages_have_public_addresses() {
    let place = tree();
    let base = [
        "build",
        "docs",
        "-o",
        "docs.idx",
        "--base-url",
        "https://kites.example/docs/",
    ];
    place.run(&base).succeeds();
    let home = text(&place, "index.md#home");
    assert!(
        home.contains("[file](https://kites.example/docs/data.csv)"),
        "{home}"
    );
    assert!(
        home.contains("![A kite](https://kites.example/docs/img/kite.png)"),
        "{home}"
    );
    assert!(home.contains("[the guide](guide/index.md)"), "{home}");
    let wrong = place
        .run(&["build", "docs", "-o", "docs.idx", "--base-url", "kites.example"])
        .exits(2);
    assert!(
        wrong.stderr.contains("https://example.com/docs/"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn broken_links_are_found_when_asked_for() {
    let place = tree();
    let quiet = place.report(&["docs"]);
    assert_eq!(quiet["warnings"], json!([]));
    let report = place.report(&["docs", "--check-links"]);
    let found: Vec<_> = report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| {
            (
                warning["path"].clone(),
                warning["line"].clone(),
                warning["kind"].clone(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (json!("index.md"), json!(4), json!("broken-link")),
            (json!("index.md"), json!(4), json!("missing-anchor")),
        ]
    );
    place.write(
        "docs/site.md",
        "# Site\n\n[a](/manual/gone) and [b](/manual/guide/setup)\n",
    );
    let unknown = place.report(&["docs", "--check-links"]);
    assert_eq!(unknown["warnings"].as_array().unwrap().len(), 2);
    let known = place.report(&["docs", "--check-links", "--url-prefix", "/manual/"]);
    let paths: Vec<_> = known["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["path"].clone())
        .collect();
    assert_eq!(paths, [json!("index.md"), json!("index.md"), json!("site.md")]);
}
