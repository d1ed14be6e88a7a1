//! No input is a danger: what the fuzz targets check, on generated inputs and on those that once broke something.

use std::path::Path;

use proptest::prelude::*;

use crate::checks::{document, file, query};

/// Runs the check on every input that `scripts/fuzz` left for its target.
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/crashes")
        .join(target);
    // A target that never found a fault has no folder.
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        check(&std::fs::read(&path).unwrap());
    }
}

#[test]
fn inputs_that_broke_something_do_no_more() {
    replay("search_query", query::search_query);
    replay("open_and_search", file::open_and_search);
    replay("split_markdown", document::split_markdown);
}

#[test]
fn damaged_files_are_answered_or_refused() {
    let golden =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../index/tests/golden/format-1.idx"));
    let golden = golden.unwrap();
    for settings in 0..2 {
        for at in (0..golden.len()).step_by(golden.len() / 40) {
            let mut input = vec![settings];
            input.extend(&golden);
            input[1 + at] ^= 0xFF;
            file::open_and_search(&input);
        }
    }
}

#[test]
fn a_query_of_any_length_is_answered() {
    for piece in [
        "a", "\"", "\"a\" ", " -", "-a ", "w ", "a_B", "検", "e\u{301}", "\u{301}", "(", "`", "::", "uplaod ",
    ] {
        let text = piece.repeat(30_000 / piece.len());
        for settings in [0, 0b0001_0110, 0b1010_0011] {
            query::search(&text, settings);
        }
    }
}

/// What queries are made of that are more than letters.
const PIECES: &[&str] = &[
    "upload",
    "uplaod",
    "file",
    "limit",
    "DTF",
    "deep text field",
    "delete",
    "remove",
    "readConfigFile",
    "MAX_POOL_SIZE",
    "std::vec::Vec",
    "C++",
    ".NET",
    "2.1.34",
    "検索",
    "解析器を",
    "etlx",
    "große",
    "hochladen",
    "e\u{301}te\u{301}",
    "поиск",
    "the",
    " ",
    " ",
    "\"",
    "“",
    "”",
    "-",
    "--",
    "+",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    "*",
    "?",
    "~",
    "^",
    "|",
    "&&",
    "AND",
    "NOT",
    "\\",
    "/",
    "%00",
    "`",
    "\n",
    "\t",
    "\0",
    "\u{7F}",
    "\u{301}",
    "\u{200D}",
    "\u{202E}",
    "\u{FEFF}",
    "\u{FFFD}",
    "👩\u{200D}👧",
    "ﬁ",
    "İ",
    "ß",
    "1",
    "x",
];

proptest! {
    #[test]
    fn any_string_is_a_query(text in any::<String>(), settings in any::<u8>()) {
        query::search(&text, settings);
    }

    #[test]
    fn operators_and_marks_are_no_syntax(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..25), settings in any::<u8>(),
    ) {
        query::search(&pieces.concat(), settings);
    }
}
