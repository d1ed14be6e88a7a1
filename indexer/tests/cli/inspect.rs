//! `inspect` and `verify`.

use std::fmt::Write as _;

use crate::program::{Place, keys};

#[test]
fn one_section_a_line_with_exactly_these_keys() {
    let place = Place::with_handbook();
    let run = place.run(&["inspect", "docs.idx", "--json"]).succeeds();
    assert_eq!(run.stderr, "");
    let expected = [
        "id",
        "path",
        "level",
        "heading",
        "anchor",
        "heading_path",
        "aliases",
        "line_start",
        "line_end",
        "parts",
        "bytes",
    ];
    for line in run.stdout.lines() {
        assert_eq!(keys(line), expected);
    }
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn text_is_the_section_without_what_its_parts_repeat() {
    let mut rows = String::new();
    let mut code = String::new();
    for number in 0..400 {
        let _ = writeln!(rows, "| row {number} | some words in the cells of this row |");
        let _ = writeln!(code, "let value_{number} = {number};");
    }
    let source = format!(
        "# Long\n\n| name | words |\n| --- | --- |\n{rows}\nBetween.\n\n```rust\n{code}```\n\nAfter.\n\n## Short\n\nEnd.\n"
    );
    let place = Place::with(&[("docs/a.md", &source)]);
    place.run(&["build", "docs", "-o", "docs.idx"]).succeeds();
    let run = place.run(&["inspect", "docs.idx", "--text"]).succeeds();
    let lines = run.json_lines();
    assert_eq!(lines.len(), 2);
    assert!(lines[0]["parts"].as_u64().unwrap() >= 4, "{}", lines[0]["parts"]);
    for line in &lines {
        assert_eq!(line["bytes"], line["text"].as_str().unwrap().len());
    }
    let whole: Vec<&str> = lines
        .iter()
        .flat_map(|line| line["text"].as_str().unwrap().lines())
        .collect();
    let expected: Vec<&str> = source.lines().collect();
    let filled = |lines: &[&str]| -> Vec<String> {
        lines
            .iter()
            .filter(|line| !line.is_empty())
            .map(|&line| line.to_owned())
            .collect()
    };
    assert_eq!(filled(&whole), filled(&expected));
    assert_eq!(
        (&lines[0]["line_start"], &lines[0]["line_end"]),
        (&1.into(), &(expected.len() - 3).into())
    );
}

#[test]
fn the_summary_is_for_people() {
    let place = Place::with_handbook();
    let run = place.run(&["inspect", "docs.idx"]).succeeds();
    let stable = run
        .stdout
        .lines()
        .filter(|line| !line.starts_with("content hash") && !line.starts_with("file "));
    insta::assert_snapshot!(stable.collect::<Vec<_>>().join("\n"));
}

#[test]
fn verify_tells_a_whole_file_from_a_damaged_one() {
    let place = Place::with_handbook();
    let whole = place.run(&["verify", "docs.idx"]).succeeds();
    assert!(whole.stdout.starts_with("docs.idx: whole; "), "{}", whole.stdout);
    assert_eq!(whole.stdout.lines().count(), 1);
    let bytes = place.read("docs.idx");
    for position in [0, 20, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[position] ^= 0x10;
        place.write("damaged.idx", damaged);
        let run = place.run(&["verify", "damaged.idx"]).exits(1);
        assert_eq!(run.stdout, "", "byte {position}");
        assert!(
            run.stderr.starts_with("error: damaged.idx: "),
            "byte {position}: {}",
            run.stderr
        );
    }
    place.write("short.idx", &bytes[..bytes.len() / 2]);
    place.run(&["verify", "short.idx"]).exits(1);
    place.write("foreign.idx", "not an index");
    place.run(&["verify", "foreign.idx"]).exits(1);
    place.run(&["verify", "missing.idx"]).exits(1);
}
