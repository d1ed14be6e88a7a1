//! `search`.

use std::fmt::Write as _;
use std::process::Stdio;

use crate::program::{Place, Run, keys};

#[test]
fn json_has_exactly_its_keys() {
    let place = Place::with_handbook();
    let run = place
        .run(&["search", "docs.idx", "line length", "--json"])
        .succeeds();
    assert_eq!(run.stdout.lines().count(), 1);
    assert_eq!(keys(&run.stdout), ["query", "hits"]);
    let answer = run.json();
    assert_eq!(answer["query"], "line length");
    let hit = &answer["hits"][0];
    let expected = [
        "heading_path",
        "id",
        "line_end",
        "line_start",
        "part",
        "path",
        "score",
        "snippet",
    ];
    let mut found: Vec<&str> = hit.as_object().unwrap().keys().map(String::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(hit["id"], "guide/configuration.mdx#line-length");
    assert_eq!(hit["path"], "guide/configuration.mdx");
    assert_eq!(hit["part"], 1);
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    assert!(hit["snippet"].as_str().unwrap().contains("lineLength"));
}

#[test]
fn people_get_the_form_of_the_servers_answer() {
    let place = Place::with_handbook();
    let run = place
        .run(&["search", "docs.idx", "line", "length", "--k", "1"])
        .succeeds();
    let mut lines = run.stdout.lines();
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("[guide/configuration.mdx#line-length] Configuration › Line length ("),
        "{first}"
    );
    assert!(first.ends_with(')'));
    assert!(lines.next().unwrap().contains("metres"));
    assert_eq!(lines.next(), None);
}

#[test]
fn no_hit_is_no_failure() {
    let place = Place::with_handbook();
    for query in [
        "",
        "   ",
        "zzyzx",
        "???",
        "--strict",
        "\"",
        "a".repeat(10_000).as_str(),
    ] {
        let run = place
            .run(&["search", "docs.idx", "--json", "--", query])
            .succeeds();
        assert_eq!(run.json()["query"], query);
        place.run(&["search", "docs.idx", "--", query]).succeeds();
    }
    assert_eq!(
        place.run(&["search", "docs.idx", "--json", ""]).json()["hits"],
        serde_json::json!([])
    );
    let words = place.run(&["search", "docs.idx", "zzyzx"]).succeeds();
    assert_eq!(
        words.stdout,
        "No hits for \"zzyzx\". Not in the index: \"zzyzx\". Try other words.\n"
    );
}

#[test]
fn what_readers_do_not_see_is_not_found() {
    let place = Place::with_handbook();
    for query in ["zephyrus", "hurricane", "salaries"] {
        let run = place.run(&["search", "docs.idx", query, "--json"]).succeeds();
        assert_eq!(run.json()["hits"], serde_json::json!([]), "{query}");
    }
}

#[test]
fn a_file_of_queries_gives_a_line_each() {
    let place = Place::with_handbook();
    place.write(
        "q.jsonl",
        "{\"id\": \"q1\", \"query\": \"wind\", \"expect\": []}\n\n{\"id\": 2, \"query\": \"\"}\n",
    );
    let run = place
        .run(&[
            "search",
            "docs.idx",
            "--queries",
            "q.jsonl",
            "--json",
            "--no-group",
        ])
        .succeeds();
    let lines = run.json_lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["id"], &lines[0]["query"]),
        (&"q1".into(), &"wind".into())
    );
    assert!(!lines[0]["hits"].as_array().unwrap().is_empty());
    assert_eq!(
        (&lines[1]["id"], &lines[1]["hits"]),
        (&2.into(), &serde_json::json!([]))
    );

    place.write("bad.jsonl", "{\"id\": 1, \"query\": \"wind\"}\n{\"query\": 1}\n");
    let bad = place
        .run(&["search", "docs.idx", "--queries", "bad.jsonl"])
        .exits(1);
    assert!(
        bad.stderr.starts_with("error: bad.jsonl:2 is no query; "),
        "{}",
        bad.stderr
    );
    place
        .run(&["search", "docs.idx", "--queries", "missing.jsonl"])
        .exits(1);
}

#[test]
fn k_offset_path_and_snippet_length_are_obeyed() {
    let place = Place::with_handbook();
    let ids = |flags: &[&str]| -> Vec<String> {
        let line = [
            &["search", "docs.idx", "wind kite", "--json", "--no-group"],
            flags,
        ]
        .concat();
        let answer = place.run(&line).succeeds().json();
        answer["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = ids(&[]);
    assert!(all.len() >= 4, "{all:?}");
    assert_eq!(ids(&["--k", "2"]), all[..2]);
    assert_eq!(ids(&["--k", "2", "--offset", "1"]), all[1..3]);
    let guide: Vec<&String> = all.iter().filter(|id| id.starts_with("guide/")).collect();
    assert!(!guide.is_empty() && guide.len() < all.len());
    assert_eq!(ids(&["--path", "guide/"]).iter().collect::<Vec<_>>(), guide);
    let without = place
        .run(&["search", "docs.idx", "wind", "--json", "--snippet-chars", "0"])
        .succeeds();
    assert_eq!(without.json()["hits"][0]["snippet"], "");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::with(&[]);
    for page in 0..20 {
        let mut text = String::new();
        for section in 0..400 {
            let _ = write!(text, "# Part {page} {section}\n\nText.\n\n");
        }
        place.write(&format!("docs/{page}.md"), text);
    }
    place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    let mut child = place.command(&["inspect", "docs.idx", "--json"]);
    let mut child = child
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().unwrap()).succeeds();
    assert_eq!(run.stderr, "");
}
