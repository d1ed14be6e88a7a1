//! `build --shard` and `merge`: together they are one build, byte for byte.

use crate::program::Place;

/// A tree in which pages differ in size, link to each other and repeat themselves.
fn tree() -> Place {
    let place = Place::new();
    for number in 0..40 {
        let text = format!(
            "Topic{} and `fn_{number}` with words for page {number}. Long {} Form (LF).\n\n",
            number % 3,
            ["", "of"][number % 2],
        );
        let page = format!(
            "# Page {number}\n\n{}See [page {}](../d{}/p{:02}.md#more).\n\n## More\n\nThe same end everywhere.\n",
            text.repeat(1 + (number * number) % 90),
            (number + 7) % 40,
            (number + 7) % 4,
            (number + 7) % 40,
        );
        place.write(&format!("docs/site/d{}/p{number:02}.md", number % 4), page);
    }
    place.write(
        "docs/site/index.md",
        "---\ntitle: All pages\ndescription: Many\n---\n\n# Start\n\n[p](d1/p01.md)\n",
    );
    place
}

#[test]
fn merged_shards_equal_one_build() {
    let place = tree();
    place.run(&["build", "docs", "-o", "whole.idx"]).succeeds();
    let whole = place.read("whole.idx");
    // With 64 shards of 41 documents some are empty.
    for count in [1, 2, 3, 8, 64] {
        let names: Vec<String> = (1..=count)
            .map(|number| format!("{number}-of-{count}.idx"))
            .collect();
        for (number, name) in (1..).zip(&names) {
            let shard = format!("{number}/{count}");
            place
                .run(&["build", "docs", "-o", name, "--shard", &shard])
                .succeeds();
        }
        let mut line: Vec<&str> = vec!["merge", "-o", "merged.idx"];
        line.extend(names.iter().map(String::as_str));
        let merged = place.run(&line).succeeds();
        assert_eq!(merged.stdout, "");
        assert!(place.read("merged.idx") == whole, "{count} shards");
    }
}

#[test]
fn shards_that_do_not_belong_together_are_refused() {
    let place = tree();
    for shard in ["1/2", "2/2"] {
        place
            .run(&[
                "build",
                "docs",
                "-o",
                &format!("{}.idx", &shard[..1]),
                "--shard",
                shard,
            ])
            .succeeds();
    }
    place
        .run(&[
            "build",
            "docs",
            "-o",
            "other.idx",
            "--shard",
            "2/2",
            "--no-incoming",
        ])
        .succeeds();
    place
        .run(&["build", "docs", "-o", "third.idx", "--shard", "3/3"])
        .succeeds();
    let refused: [&[&str]; 5] = [
        &["1.idx"],
        &["1.idx", "1.idx"],
        &["1.idx", "other.idx"],
        &["1.idx", "third.idx"],
        &["1.idx", "missing.idx"],
    ];
    for shards in refused {
        let line = [&["merge", "-o", "merged.idx"], shards].concat();
        let run = place.run(&line).exits(1);
        assert!(run.stderr.starts_with("error: "), "{shards:?}: {}", run.stderr);
    }
    assert!(!place.names().contains(&"merged.idx".to_owned()));
    place
        .run(&["merge", "-o", "merged.idx", "1.idx", "2.idx"])
        .succeeds();
}

#[test]
fn a_shard_is_inspected_but_not_searched() {
    let place = tree();
    place
        .run(&["build", "docs", "-o", "1.idx", "--shard", "1/2"])
        .succeeds();
    let inspected = place.run(&["inspect", "1.idx"]).succeeds();
    assert!(
        inspected.stdout.contains("1 of 2; merge all of them"),
        "{}",
        inspected.stdout
    );
    let searched = place.run(&["search", "1.idx", "topic"]).exits(1);
    assert!(
        searched
            .stderr
            .starts_with("error: 1.idx is shard 1 of 2: merge "),
        "{}",
        searched.stderr
    );
    assert_eq!(searched.stdout, "");
}

#[test]
fn an_empty_tree_still_has_shards() {
    let place = Place::with(&[("docs/readme.txt", "text")]);
    place
        .run(&["build", "docs", "-o", "1.idx", "--shard", "1/2"])
        .succeeds();
    place.run(&["verify", "1.idx"]).succeeds();
}
