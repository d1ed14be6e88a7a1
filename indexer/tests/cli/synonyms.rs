//! `build --synonyms` and `--no-synonyms`: which words mean the same.

use crate::program::Place;

fn tree() -> Place {
    Place::with(&[
        (
            "docs/a.md",
            "# Erase\n\nErase a widget with the Long Form (LF).\n",
        ),
        (
            "docs/b.md",
            "# Gadget\n\nA gadget is removed. LF (Long Form) again, or a Large File (LF).\n",
        ),
        ("words.txt", "# Ours.\nwidget, gadget\n\nerase  remove # two\n"),
    ])
}

fn fact(place: &Place, index: &str, name: &str) -> String {
    let shown = place.run(&["inspect", index]).succeeds().stdout;
    let line = shown.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in {shown}"))
        .trim()
        .to_owned()
}

#[test]
fn a_list_of_ones_own_takes_the_place_of_the_built_in_one() {
    let place = tree();
    place.run(&["build", "docs", "-o", "built-in.idx"]).succeeds();
    place
        .run(&["build", "docs", "-o", "own.idx", "--synonyms", "words.txt"])
        .succeeds();
    place
        .run(&["build", "docs", "-o", "none.idx", "--no-synonyms"])
        .succeeds();
    for (index, groups) in [
        ("built-in.idx", "299 groups"),
        ("own.idx", "2 groups"),
        ("none.idx", "0 groups"),
    ] {
        assert_eq!(fact(&place, index, "synonyms"), groups, "{index}");
        assert_eq!(fact(&place, index, "acronyms"), "1", "{index}");
        place.run(&["verify", index]).succeeds();
    }
    // Comments and the way of writing are not part of a list.
    place.write("same.txt", "widget gadget\r\nerase,remove");
    place
        .run(&["build", "docs", "-o", "same.idx", "--synonyms", "same.txt"])
        .succeeds();
    assert!(place.read("same.idx") == place.read("own.idx"));
    let bytes = place.read("own.idx");
    let holds = |entry: &[u8]| bytes.windows(entry.len()).any(|window| window == entry);
    assert!(holds(
        b"\x00\x06gadget\x01\x01\x06widget\x00\x05remov\x01\x01\x04eras\x00\x06widget"
    ));
    assert!(holds(b"\x01\x02lf\x02\x02\x04long\x04form\x02\x04larg\x04file"));
}

#[test]
fn the_built_in_list_can_be_given_as_a_file() {
    let place = tree();
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../index/src/search/synonyms.txt");
    place.run(&["build", "docs", "-o", "built-in.idx"]).succeeds();
    place
        .run(&["build", "docs", "-o", "given.idx", "--synonyms", list])
        .succeeds();
    assert!(place.read("given.idx") == place.read("built-in.idx"));
}

#[test]
fn a_file_that_is_no_list_is_refused_by_line() {
    let place = tree();
    let long = "word ".repeat(100_000);
    for (text, expected) in [
        (
            "erase remove\nlonely\n",
            "error: bad.txt:2: \"lonely\" is alone on its line; ",
        ),
        ("\na, b => c", "error: bad.txt:2: => is not supported: "),
        (
            "k8s, container platform",
            "error: bad.txt:1: \"container platform\" is more than one word; ",
        ),
        ("erase ---", "error: bad.txt:1: \"---\" cannot be searched for "),
        (
            long.as_str(),
            "error: bad.txt: a list of synonyms can have 262144 bytes ",
        ),
    ] {
        place.write("bad.txt", text);
        let run = place
            .run(&["build", "docs", "-o", "docs.idx", "--synonyms", "bad.txt"])
            .exits(1);
        assert!(run.stderr.starts_with(expected), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    place.write("bad.txt", b"erase\xff remove");
    for (file, expected) in [
        (
            "bad.txt",
            "error: --synonyms bad.txt cannot be read: it is not UTF-8",
        ),
        ("missing.txt", "error: --synonyms missing.txt cannot be read: "),
        ("docs", "error: --synonyms docs cannot be read: "),
    ] {
        let run = place
            .run(&["build", "docs", "-o", "docs.idx", "--synonyms", file])
            .exits(1);
        assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    }
    assert!(!place.names().contains(&"docs.idx".to_owned()));
}

#[test]
fn one_of_the_two_options_can_be_given_and_flags_beat_the_environment() {
    let place = tree();
    let both = [
        "build",
        "docs",
        "-o",
        "docs.idx",
        "--synonyms",
        "words.txt",
        "--no-synonyms",
    ];
    let run = place.run(&both).exits(2);
    assert!(
        run.stderr.contains("--synonyms and --no-synonyms disagree"),
        "{}",
        run.stderr
    );
    for (arguments, name, value, groups) in [
        (&both[..4], "DOCS_INDEXER_SYNONYMS", "words.txt", "2 groups"),
        (
            &["build", "docs", "-o", "docs.idx", "--no-synonyms"],
            "DOCS_INDEXER_SYNONYMS",
            "words.txt",
            "0 groups",
        ),
        (&both[..6], "DOCS_INDEXER_NO_SYNONYMS", "1", "2 groups"),
    ] {
        let done = place.command(arguments).env(name, value).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(fact(&place, "docs.idx", "synonyms"), groups, "{arguments:?}");
    }
}

#[test]
fn shards_of_different_lists_are_not_merged() {
    let place = tree();
    place
        .run(&["build", "docs", "-o", "1.idx", "--shard", "1/2"])
        .succeeds();
    for (name, options) in [
        ("alike.idx", &[][..]),
        ("own.idx", &["--synonyms", "words.txt"]),
        ("none.idx", &["--no-synonyms"]),
    ] {
        let line = [&["build", "docs", "-o", name, "--shard", "2/2"], options].concat();
        place.run(&line).succeeds();
    }
    for other in ["own.idx", "none.idx"] {
        let run = place.run(&["merge", "-o", "docs.idx", "1.idx", other]).exits(1);
        assert!(run.stderr.contains("another set of options"), "{}", run.stderr);
    }
    place
        .run(&["merge", "-o", "docs.idx", "1.idx", "alike.idx"])
        .succeeds();
    assert_eq!(fact(&place, "docs.idx", "acronyms"), "1");
}
