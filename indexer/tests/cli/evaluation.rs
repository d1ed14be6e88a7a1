//! `eval`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::program::{Place, keys};

const GOLDEN: &str = r#"{"id": "h1", "type": "kw", "query": "line length metres", "expect": [{"path": "guide/configuration.mdx", "line": 13, "grade": 2}]}
{"id": "h2", "type": "q", "query": "how do I run the build?", "expect": [{"path": "guide/install.md", "anchor": "build"}]}
{"id": "h3", "type": "kw", "query": "launch land", "expect": [{"path": "reference/commands.markdown"}]}

{"id": "h4", "type": "q", "query": "the wind is too weak", "expect": [{"path": "guide/install.md", "line": 24, "grade": 2}, {"path": "guide/q & a.md"}]}
{"id": 5, "query": "aeroplane hangar", "expect": [{"path": "index.md"}]}
"#;

fn place() -> Place {
    let place = Place::with_handbook();
    place.write("golden.jsonl", GOLDEN);
    place
}

fn eval(place: &Place, flags: &[&str]) -> crate::program::Run {
    place.run(&[&["eval", "docs.idx", "--queries", "golden.jsonl"], flags].concat())
}

#[test]
fn people_get_a_table_the_cost_and_what_failed() {
    let run = eval(&place(), &[]).succeeds();
    assert_eq!(run.stderr, "");
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn json_is_one_object_with_every_query() {
    let place = place();
    let run = eval(&place, &["--json"]).succeeds();
    assert_eq!((run.stdout.lines().count(), run.stderr.as_str()), (1, ""));
    assert_eq!(
        keys(&run.stdout),
        ["content_hash", "all", "types", "cost", "missing", "results"]
    );
    let mut object = run.json();
    assert_eq!(object["content_hash"].as_str().unwrap().len(), 64);
    object["content_hash"] = "…".into();
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap());
    assert_eq!(eval(&place, &["--json"]).stdout, run.stdout, "the same again");
}

#[test]
fn the_metrics_are_those_of_the_bare_ranking() {
    let place = place();
    let object = eval(&place, &["--json"]).succeeds().json();
    let found = place
        .run(&[
            "search",
            "docs.idx",
            "--queries",
            "golden.jsonl",
            "--k",
            "100",
            "--no-group",
        ])
        .succeeds()
        .json_lines();
    // h1 is judged by sections, and its one right section holds line 13.
    let rank = found[0]["hits"].as_array().unwrap().iter().position(|hit| {
        hit["path"] == "guide/configuration.mdx" && hit["line_start"] == 1 && hit["line_end"] == 17
    });
    let first = &object["results"][0];
    #[expect(clippy::cast_precision_loss, reason = "a rank")]
    let want = 1.0 / (rank.unwrap() + 1) as f64;
    assert!((first["mrr@10"].as_f64().unwrap() - want).abs() < 1e-12);
    let kept: Vec<&Value> = first["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["id"])
        .collect();
    let bare: Vec<&Value> = found[0]["hits"]
        .as_array()
        .unwrap()
        .iter()
        .take(10)
        .map(|hit| &hit["id"])
        .collect();
    assert_eq!(kept, bare);
    // The mean over all five is that of the results.
    let sum: f64 = object["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["ndcg@10"].as_f64().unwrap())
        .sum();
    assert!((object["all"]["ndcg@10"]["mean"].as_f64().unwrap() - sum / 5.0).abs() < 1e-12);
}

#[test]
fn the_cost_is_that_of_the_answer_that_search_shows() {
    let place = place();
    for (k, chars) in [("5", "200"), ("1", "0")] {
        let object = eval(&place, &["--json", "--k", k, "--snippet-chars", chars])
            .succeeds()
            .json();
        for result in object["results"].as_array().unwrap() {
            let query = result["query"].as_str().unwrap();
            let shown = place
                .run(&[
                    "search",
                    "docs.idx",
                    "--k",
                    k,
                    "--snippet-chars",
                    chars,
                    "--",
                    query,
                ])
                .succeeds();
            let bytes = shown.stdout.len() - "\n".len();
            assert_eq!(result["answer_bytes"], json!(bytes), "{query}");
            let [answer, whole] =
                ["answer_tokens", "tokens_to_section"].map(|name| result[name].as_u64().unwrap());
            let has_hits = !result["hits"].as_array().unwrap().is_empty();
            assert_eq!(whole > answer, has_hits, "{query}");
        }
    }
}

#[test]
fn a_threshold_that_is_not_met_is_a_failure() {
    let place = place();
    eval(&place, &["--min", "recall@10=0.5", "--max-tokens", "100000"]).succeeds();
    let run = eval(
        &place,
        &[
            "--min",
            "recall@5=0.2",
            "--min",
            "success@1=1",
            "--max-tokens",
            "1",
        ],
    )
    .exits(1);
    assert!(run.stdout.contains("recall@5"), "the table comes all the same");
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].starts_with("not met: success@1 is 0.") && lines[0].ends_with(", less than 1"),
        "{lines:?}"
    );
    assert!(
        lines[1].starts_with("not met: tokens to the right section are ")
            && lines[1].ends_with(", more than 1"),
        "{lines:?}"
    );
    assert_eq!(lines[2], "error: 2 of 3 thresholds not met");
}

#[test]
fn a_threshold_that_makes_no_sense_is_wrong_usage() {
    let place = place();
    let run = eval(&place, &["--min", "recall@3=0.8"]).exits(2);
    let names = "ndcg@10, recall@5, recall@10, mrr@10, success@1";
    assert!(run.stderr.contains(names), "{}", run.stderr);
    for flags in [
        &["--min", "recall@5"][..],
        &["--min", "recall@5=80"],
        &["--max-tokens", "few"],
        &["--k", "0"],
        &["--k", "51"],
    ] {
        eval(&place, flags).exits(2);
    }
    place.run(&["eval", "docs.idx"]).exits(2);
}

#[test]
fn a_run_is_compared_with_an_earlier_one() {
    let place = place();
    let same = eval(&place, &["--json"]).succeeds();
    place.write("same.json", &same.stdout);
    let run = eval(&place, &["--baseline", "same.json"]).succeeds();
    assert_eq!(run.stderr, "");
    let (_, compared) = run.stdout.split_once("\nAgainst ").unwrap();
    let rows: Vec<&str> = compared.lines().collect();
    assert_eq!(rows.len(), 8, "{compared}");
    assert_eq!(rows[0], "same.json:");
    for row in &rows[2..7] {
        assert!(
            row.ends_with("  +0.000  0       0      5     1.0000"),
            "{compared}"
        );
    }
    assert!(rows[7].starts_with("tokens to section        5  "), "{compared}");

    // An earlier run in which h1 failed, h2 was worded otherwise, h3 was missing, and h9 was there.
    let mut earlier = same.json();
    let results = earlier["results"].as_array_mut().unwrap();
    for metric in ["ndcg@10", "recall@5", "recall@10", "mrr@10", "success@1"] {
        results[0][metric] = 0.0.into();
    }
    results[0]["tokens_to_section"] = 5000.into();
    results[1]["query"] = "build it".into();
    results[2]["id"] = "h9".into();
    place.write("earlier.json", earlier.to_string());
    let run = eval(&place, &["--baseline", "earlier.json"]).succeeds();
    insta::assert_snapshot!(run.stderr, @"
    warning: earlier.json: 1 query not compared, only in the earlier run: h9
    warning: earlier.json: 1 query not compared, only in this run: h3
    warning: earlier.json: 1 query not compared, worded otherwise in the earlier run: h2
    ");
    let (_, compared) = run.stdout.split_once("\nAgainst ").unwrap();
    assert!(compared.contains("\"line length metres\""), "{compared}");
    let object = eval(&place, &["--baseline", "earlier.json", "--json"])
        .succeeds()
        .json();
    let comparison = &object["comparison"];
    assert_eq!(comparison["queries"], 3);
    let success = &comparison["success@1"];
    assert_eq!(
        (&success["better"], &success["worse"], &success["same"]),
        (&json!(1), &json!(0), &json!(2))
    );
    assert_eq!(comparison["tokens_to_section"]["better"], 1);
    assert_eq!(comparison["changed"][0]["id"], "h1");
    assert_eq!(comparison["only_before"], json!(["h9"]));
    assert_eq!(comparison["only_now"], json!(["h3"]));
    assert_eq!(comparison["asked_otherwise"], json!(["h2"]));

    place.write("none.json", "{\"results\": []}");
    let none = eval(&place, &["--baseline", "none.json"]).exits(1);
    assert_eq!(
        none.stderr,
        "error: none.json has none of these queries: there is nothing to compare\n"
    );
    for (file, text) in [("bad.json", "{}"), ("worse.json", "[")] {
        place.write(file, text);
        let bad = eval(&place, &["--baseline", file]).exits(1);
        assert!(
            bad.stderr.starts_with(&format!("error: {file} is no run; ")),
            "{}",
            bad.stderr
        );
    }
    eval(&place, &["--baseline", "missing.json"]).exits(1);
}

#[test]
fn golden_queries_that_rot_are_named() {
    let place = place();
    place.write(
        "golden.jsonl",
        r#"{"id": "a", "query": "wind", "expect": [{"path": "guide/gone.md"}, {"path": "index.md"}]}
{"id": "b", "query": "wind", "expect": [{"path": "index.md", "anchor": "gone"}]}
{"id": "c", "query": "wind", "expect": [{"path": "index.md", "line": 900}]}
"#,
    );
    let run = eval(&place, &["--json"]).succeeds();
    insta::assert_snapshot!(run.stderr, @r#"
    warning: golden.jsonl:1: "a" expects guide/gone.md, which is not in the index
    warning: golden.jsonl:2: "b" expects index.md#gone, which is not in the index
    warning: golden.jsonl:3: "c" expects index.md:900, which is not in the index
    "#);
    assert_eq!(run.json()["missing"].as_array().unwrap().len(), 3);

    for (line, want) in [
        (
            r#"{"id": "b", "query": "wind", "expect": []}"#,
            "error: golden.jsonl:2: \"b\" expects nothing; name at least one path in \"expect\"\n",
        ),
        (
            r#"{"id": "a", "query": "wind", "expect": [{"path": "index.md"}]}"#,
            "error: golden.jsonl:2: the id \"a\" is also that of line 1\n",
        ),
    ] {
        let good = r#"{"id": "a", "query": "wind", "expect": [{"path": "index.md"}]}"#;
        place.write("golden.jsonl", format!("{good}\n{line}\n"));
        let run = eval(&place, &[]).exits(1);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", want));
    }
    place.write("golden.jsonl", "");
    assert_eq!(
        eval(&place, &[]).exits(1).stderr,
        "error: golden.jsonl holds no query\n"
    );
    place
        .run(&["eval", "docs.idx", "--queries", "missing.jsonl"])
        .exits(1);
}

#[test]
fn failures_are_shown_up_to_ten_unless_all_are_asked_for() {
    let place = Place::with_handbook();
    let mut golden = String::new();
    for number in 0..12 {
        let _ = writeln!(
            golden,
            r#"{{"id": {number}, "query": "zeppelin {number}{number}", "expect": [{{"path": "index.md"}}]}}"#
        );
    }
    place.write("golden.jsonl", golden);
    let short = eval(&place, &[]).succeeds().stdout;
    assert!(
        short.contains("12 of 12 queries without a right section among the first five hits:"),
        "{short}"
    );
    assert_eq!(
        short.matches("    wanted index.md\n    found  nothing\n").count(),
        10
    );
    assert!(short.ends_with("… and 2 more; --verbose shows all\n"), "{short}");
    let all = eval(&place, &["--verbose"]).succeeds().stdout;
    assert_eq!(all.matches("    found  nothing\n").count(), 12);
}

#[test]
fn a_shard_is_not_judged() {
    let place = place();
    let tree = crate::program::handbook();
    place
        .run(&["build", &tree, "-o", "docs.idx", "--shard", "1/2"])
        .succeeds();
    let run = eval(&place, &[]).exits(1);
    assert!(run.stderr.contains("is shard 1 of 2"), "{}", run.stderr);
}
