//! Small trees written as people of each tool write: every section as a model would get it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::program::Place;

/// A query and the ids of all sections that it finds.
type Expectation = (&'static str, &'static [&'static str]);

/// A place with the tree of this name compiled to `docs.idx`.
fn compiled(name: &str) -> Place {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/dialects")
        .join(name);
    let place = Place::new();
    place
        .run(&["build", tree.to_str().unwrap(), "-o", "docs.idx"])
        .succeeds();
    place
}

/// Each section: its id and lines, its heading path, its other names, its text.
fn sections(place: &Place) -> String {
    let listed = place.run(&["inspect", "docs.idx", "--text"]).succeeds();
    let mut shown = String::new();
    for section in listed.json_lines() {
        let words = |key: &str, joint: &str| {
            let words = section[key].as_array().unwrap().iter();
            words
                .map(|word| word.as_str().unwrap())
                .collect::<Vec<_>>()
                .join(joint)
        };
        let id = section["id"].as_str().unwrap();
        let lines = (&section["line_start"], &section["line_end"]);
        let _ = writeln!(shown, "======== [{id}] {}-{}", lines.0, lines.1);
        let _ = writeln!(shown, "{}", words("heading_path", " › "));
        let aliases = words("aliases", ", ");
        if !aliases.is_empty() {
            let _ = writeln!(shown, "also {aliases}");
        }
        let _ = writeln!(shown, "--------\n{}", section["text"].as_str().unwrap());
    }
    shown
}

/// Ids of the sections that have the query itself, not only a word that stands for it.
fn found(place: &Place, query: &str) -> Vec<String> {
    let line = [
        "search",
        "docs.idx",
        query,
        "--json",
        "--explain",
        "--no-group",
        "--k",
        "20",
    ];
    let answer: Value = place.run(&line).succeeds().json();
    let has_own = |hit: &&Value| {
        let terms = hit["explanation"]["terms"].as_array().unwrap().iter();
        let mut matches = terms.flat_map(|term| term["matches"].as_array().unwrap());
        matches.any(|found| found["role"] == "own")
    };
    let hits = answer["hits"].as_array().unwrap().iter().filter(has_own);
    hits.map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

macro_rules! trees {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(sections(&compiled(stringify!($name))));
        })*
    };
}

trees! {
    docusaurus vitepress mkdocs hugo mdbook mdn myst microsoft jekyll github gitlab obsidian mintlify react
}

#[test]
fn what_readers_see_is_found_and_what_they_do_not_see_is_not() {
    let cases: [(&str, &[Expectation]); 9] = [
        (
            "docusaurus",
            &[
                ("Homebrew", &["docs/guide/install.mdx#setup"]),
                ("Download", &["docs/guide/install.mdx#check"]),
                ("Legacy", &["docs/reference.md#options"]),
                ("reviewed", &[]),
                ("backgroundColor", &[]),
                ("TabItem", &[]),
            ],
        ),
        (
            "vitepress",
            &[
                ("pnpm", &["guide/basics.md#boxes"]),
                ("STOP", &["guide/basics.md#boxes"]),
                ("setup", &[]),
                ("hidden", &[]),
                ("button", &[]),
            ],
        ),
        (
            "mkdocs",
            &[
                ("Nested", &["docs/boxes.md#boxes"]),
                ("Aside", &["docs/boxes.md#boxes"]),
                ("Windows", &["docs/boxes.md#tabs"]),
                ("Hyper", &["docs/index.md#keys"]),
                ("middle", &[]),
                ("primary", &[]),
            ],
        ),
        (
            "hugo",
            &[
                ("Careful", &["content/docs/tasks.md#setup"]),
                ("knob", &["content/docs/tasks.md#tabs"]),
                ("linenos", &[]),
                ("zebra", &[]),
                ("comment", &[]),
            ],
        ),
        (
            "mdn",
            &[
                (
                    "EventTarget",
                    &["files/en-us/web/api/lamp/index.md#instance_properties"],
                ),
                ("secret", &[]),
                ("EmbedLiveSample", &[]),
            ],
        ),
        (
            "myst",
            &[
                ("Windows", &["docs/guide.md#guide"]),
                ("Custom", &["docs/guide.md#guide"]),
                ("emphasize", &[]),
                ("maxdepth", &[]),
            ],
        ),
        (
            "microsoft",
            &[
                ("Screenshot", &["articles/deploy.md#deploy-lantern"]),
                ("lightbox", &[]),
                ("nextstepaction", &[]),
                ("moniker", &[]),
            ],
        ),
        (
            "jekyll",
            &[
                ("wick", &["_docs/start.md#setup"]),
                ("Nobody", &[]),
                ("endraw", &[]),
                ("primary", &[]),
            ],
        ),
        (
            "mintlify",
            &[
                ("Card", &[]),
                ("lightbulb", &[]),
                ("verbose", &[]),
                ("Expandable", &[]),
                ("installer", &["guides/start.mdx"]),
                ("Brightness", &["guides/start.mdx#parameters"]),
            ],
        ),
    ];
    for (tree, queries) in cases {
        let place = compiled(tree);
        for (query, expected) in queries {
            assert_eq!(found(&place, query), *expected, "{tree}: {query}");
        }
    }
}
