//! `search --explain`: what makes up the score of a hit.

use serde_json::Value;

use crate::program::Place;

fn number(object: &Value, key: &str) -> f64 {
    object[key]
        .as_f64()
        .unwrap_or_else(|| panic!("no {key} in {object}"))
}

fn sum(objects: &Value, key: &str) -> f64 {
    objects
        .as_array()
        .unwrap()
        .iter()
        .map(|object| number(object, key))
        .sum()
}

#[test]
fn people_get_it_below_each_hit() {
    let place = Place::with_handbook();
    let run = place
        .run(&["search", "docs.idx", "line length", "--explain"])
        .succeeds();
    assert_eq!(run.stderr, "");
    insta::assert_snapshot!(run.stdout);
    let line = [
        "search",
        "docs.idx",
        "wind lenght",
        "--explain",
        "--snippet-chars",
        "0",
        "--k",
        "2",
    ];
    insta::assert_snapshot!(place.run(&line).succeeds().stdout);
}

#[test]
fn without_it_the_answer_is_the_same_but_for_the_explanations() {
    let place = Place::with_handbook();
    for query in ["line length", "wind lenght", "wind zzyzx -kite", "zzyzx"] {
        let plain = ["search", "docs.idx", "--", query];
        let explained = ["search", "docs.idx", "--explain", "--", query];
        let plain = place.run(&plain).succeeds().stdout;
        let explained = place.run(&explained).succeeds().stdout;
        // Only explanations are indented.
        let kept: Vec<&str> = explained.lines().filter(|line| !line.starts_with("  ")).collect();
        assert_eq!(kept, plain.lines().collect::<Vec<_>>(), "{query}");
        assert_eq!(explained.contains(" = "), plain.starts_with('['), "{query}");
    }
}

#[test]
fn json_adds_one_object_to_each_hit() {
    let place = Place::with_handbook();
    let run = place
        .run(&["search", "docs.idx", "line length", "--json", "--explain"])
        .succeeds();
    let answer = run.json();
    let mut hit = answer["hits"][0].clone();
    insta::assert_snapshot!(serde_json::to_string_pretty(&hit["explanation"]).unwrap());
    hit.as_object_mut().unwrap().remove("explanation");
    let plain = place
        .run(&["search", "docs.idx", "line length", "--json"])
        .succeeds();
    assert_eq!(plain.json()["hits"][0], hit);
}

#[test]
fn the_numbers_add_up_to_the_score() {
    let place = Place::with_handbook();
    place.write(
        "q.jsonl",
        concat!(
            "{\"id\": 1, \"query\": \"how do I install kite-tools on a windy day\"}\n",
            "{\"id\": 2, \"query\": \"line lenght\"}\n",
            "{\"id\": 3, \"query\": \"Line length\"}\n",
            "{\"id\": 4, \"query\": \"\"}\n",
        ),
    );
    let answers = place
        .run(&[
            "search",
            "docs.idx",
            "--queries",
            "q.jsonl",
            "--explain",
            "--no-group",
        ])
        .succeeds()
        .json_lines();
    let close = |left: f64, right: f64| (left - right).abs() < 1e-3;
    let mut exact_headings = 0;
    for answer in &answers {
        for hit in answer["hits"].as_array().unwrap() {
            let explanation = &hit["explanation"];
            let of = |key| number(explanation, key);
            assert!(
                close(sum(&explanation["terms"], "score"), of("first_stage")),
                "{hit}"
            );
            let sum = of("first_stage")
                + of("page_share") * of("page")
                + of("best_of_page_share") * of("best_of_page");
            let total = sum * of("path_factor") * of("heading_factor") + of("exact_heading");
            assert!(close(total, of("total")), "{hit}");
            assert_eq!(explanation["total"], hit["score"]);
            exact_headings += usize::from(of("exact_heading") > 0.0);
        }
    }
    let counts: Vec<usize> = answers
        .iter()
        .map(|answer| answer["hits"].as_array().unwrap().len())
        .collect();
    assert!(counts[..3].iter().all(|&count| count > 0), "{counts:?}");
    assert_eq!(counts[3], 0);
    assert!(exact_headings > 0);
}

#[test]
fn what_stands_for_a_word_is_named_with_its_role() {
    let place = Place::with(&[
        (
            "docs/a.md",
            "# Harvest\n\nThe gadget collects the harvest in autumn.\n",
        ),
        ("docs/b.md", "# Orchard\n\nTrees stand here.\n"),
        ("words.txt", "widget, gadget\n"),
    ]);
    place
        .run(&["build", "docs", "-o", "docs.idx", "--synonyms", "words.txt"])
        .succeeds();
    for (query, stands_in, role) in [
        ("harvset", "harvest", "spelling"),
        ("widget", "gadget", "synonym"),
        ("harvest", "harvest", "own"),
    ] {
        let run = place
            .run(&["search", "docs.idx", query, "--json", "--explain"])
            .succeeds();
        let term = &run.json()["hits"][0]["explanation"]["terms"][0];
        let found = &term["matches"][0];
        assert_eq!(
            (&term["term"], &found["term"], &found["role"]),
            (&query.into(), &stands_in.into(), &role.into())
        );
        let shown = place
            .run(&["search", "docs.idx", query, "--explain"])
            .succeeds()
            .stdout;
        let label = format!("    {stands_in} ({role})  ");
        assert_eq!(shown.contains(&label), role != "own", "{shown}");
        assert!(shown.contains(&format!("\n  {query}  ")), "{shown}");
    }
}
