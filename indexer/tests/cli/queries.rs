//! What people type, and what must be found by it.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::headings::Listed;
use crate::program::Place;

fn glossary() -> Listed {
    Listed::of(&[
        (
            "kinds.md",
            "# Kinds\n\nintro\n\n## C++\n\nUse C++23 modules.\n\n## C#\n\nUse C# spans.\n\n## .NET\n\nTarget .NET 10.\n\n## F#\n\nPipes.\n\n## C\n\nPlain C alone.\n",
        ),
        (
            "names.md",
            "# Names\n\n## core::option::Option\n\nA value or none, see `Option::map_or`.\n\n## readConfigFile\n\nCalls loadYAMLDocument.\n\n## user_login_name\n\nA snake. Also MAX_POOL_SIZE.\n\n## @cached_property\n\nDecorator.\n\n## --dry-run\n\nFlag, same as DRY_RUN=1.\n\n## shutil.rmtree\n\nRemoves x/y trees.\n\n## #[must_use]\n\nAttribute.\n",
        ),
        (
            "numbers.md",
            "# Numbers\n\n## 503\n\nNot ready, HTTP 503.\n\n## Release 2.1.34\n\nOut on 2023-11-30, with BLAKE2 sums. RFC-042 holds.\n",
        ),
        (
            "small.md",
            "# If\n\nThe If step branches when something holds.\n\n# To and from\n\nWays: to, from, and, not, is.\n\n# How\n\nBy hand.\n",
        ),
    ])
}

#[test]
fn names_with_signs_are_not_their_bare_letter() {
    let listed = glossary();
    for (query, title) in [
        ("C++", "C++"),
        ("C#", "C#"),
        (".NET", ".NET"),
        ("F#", "F#"),
        ("C", "C"),
        ("c++", "C++"),
    ] {
        let hits = listed.hits(query);
        let path = hits[0]["heading_path"].as_array().unwrap();
        assert_eq!(path.last().unwrap(), title, "{query}");
    }
}

#[test]
fn a_joined_name_is_found_whole_and_by_its_parts() {
    let listed = glossary();
    for query in [
        "user_login_name",
        "login name",
        "login",
        "pool",
        "MAX_POOL_SIZE",
        "max pool size",
    ] {
        assert_eq!(
            listed.found(query).first().map(String::as_str),
            Some("names.md#user_login_name"),
            "{query}"
        );
    }
    // As one word, too, as people type what they have only heard of.
    for query in [
        "readConfigFile",
        "readconfigfile",
        "read config file",
        "yaml document",
        "loadyamldocument",
    ] {
        assert_eq!(
            listed.found(query).first().map(String::as_str),
            Some("names.md#readconfigfile"),
            "{query}"
        );
    }
}

#[test]
fn numbers_versions_and_dates_are_found() {
    let listed = glossary();
    assert_eq!(listed.found("503")[0], "numbers.md#503");
    for query in [
        "2.1.34",
        "\"2.1.34\"",
        "v2.1.34",
        "2023-11-30",
        "\"2023-11-30\"",
        "blake2",
        "RFC-042",
    ] {
        assert_eq!(
            listed.found(query).first().map(String::as_str),
            Some("numbers.md#release-2134"),
            "{query}"
        );
    }
}

#[test]
fn a_query_of_small_words_alone_finds_the_title_made_of_them() {
    let listed = glossary();
    for (query, id) in [
        ("If", "small.md#if"),
        ("to from", "small.md#to-and-from"),
        ("how", "small.md#how"),
    ] {
        assert_eq!(
            listed.found(query).first().map(String::as_str),
            Some(id),
            "{query}"
        );
    }
}

#[test]
fn no_string_is_a_wrong_query() {
    let listed = glossary();
    for query in [
        "((b",
        "\"half",
        "'half",
        "b:",
        "path:x",
        "**",
        "?*",
        "OR",
        "AND NOT",
        "--",
        "+ +",
        "x*(x+1)",
        "https://example.org/a?b=c#d",
        "\\<\\<",
        "<<<",
        "x^3",
        "x~2",
        "{1 TO *}",
        "/a.*b/",
        "\"; delete from t;",
        "#{x}",
        "%s%n",
        "[0]",
        "\u{FFFD}",
        "\u{202E}abc",
        "🦊",
        "\n\t",
    ] {
        listed.hits(query);
    }
}

#[test]
fn parts_of_a_text_without_blanks_are_found() {
    let listed = Listed::of(&[(
        "east.md",
        "# 設定\n\n高速な形態素解析器を導入する。执行run-etlx后重启。\n\n## 안내\n\n설치방법 문서를 읽는다.\n",
    )]);
    for query in ["解析", "形態素解析", "重启", "etlx"] {
        assert!(
            listed.found(query).iter().any(|id| id.starts_with("east.md")),
            "{query}"
        );
    }
}

#[test]
fn an_empty_query_finds_nothing_and_a_huge_one_is_answered_at_once() {
    let listed = glossary();
    for query in ["", "   ", "\t\n"] {
        assert_eq!(listed.found(query), [""; 0], "{query:?}");
    }
    let words: Vec<String> = (0..10_000).map(|number| format!("v{number}")).collect();
    for query in ["b".repeat(10_000), words.join(" "), "modules ".repeat(12_000)] {
        let begin = Instant::now();
        listed.hits(&query);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }
}

#[test]
fn paths_and_sigils_are_words() {
    let listed = glossary();
    for (query, id) in [
        ("core::option::Option", "names.md#coreoptionoption"),
        ("Option::map_or", "names.md#coreoptionoption"),
        ("shutil.rmtree", "names.md#shutilrmtree"),
        ("x/y", "names.md#shutilrmtree"),
        ("@cached_property", "names.md#cached_property"),
        ("--dry-run", "names.md#--dry-run"),
        ("DRY_RUN", "names.md#--dry-run"),
        ("#[must_use]", "names.md#must_use"),
        ("option", "names.md#coreoptionoption"),
    ] {
        assert_eq!(
            listed.found(query).first().map(String::as_str),
            Some(id),
            "{query}"
        );
    }
}

#[test]
fn one_page_does_not_crowd_out_the_others() {
    let mut big = "# Athena\n\nathena\n".to_owned();
    for number in 0..8 {
        let _ = write!(
            big,
            "\n## Athena {number}\n\nathena athena athena, case {number}\n"
        );
    }
    let other =
        |name: &str| format!("# {name}\n\nA word on athena and much else that is said on this page.\n");
    let listed = Listed::of(&[
        ("big.md", big),
        ("x.md", other("Xenon")),
        ("y.md", other("Yttrium")),
        ("z.md", other("Zinc")),
    ]);
    let found = listed.found("athena");
    let pages = |ids: &[String]| -> Vec<String> {
        let pages = ids.iter().map(|id| id.split('#').next().unwrap().to_owned());
        pages.collect()
    };
    let first = pages(&found[..5]);
    assert_eq!(
        first.iter().filter(|page| *page == "big.md").count(),
        2,
        "{found:?}"
    );
    for page in ["x.md", "y.md", "z.md"] {
        assert!(first.iter().any(|found| found == page), "{found:?}");
    }
    assert_eq!(found.len(), 10);
}

/// A small page on a help desk, compiled.
fn desk() -> Place {
    let place = Place::with(&[(
        "docs/desk.md",
        "# Desk\n\n## Upload a file\n\nSend the file in a form. Uploads of any size are taken.\n\n\
         ## Delete a record\n\nA record is gone for good, its backup too.\n\n\
         ## Restore a backup\n\nThe backup of a record comes back. Run it with `--force` if need be.\n\n\
         ## Queue depth limit\n\nThe Queue Depth Limit (QDL) of a desk is ten.\n\n\
         ## Waiting\n\nCalls wait when the QDL is reached.\n",
    )]);
    place.report(&["docs"]);
    place
}

/// Anchors of the hits for people, best first, and the whole answer.
fn answer(place: &Place, query: &str) -> (Vec<String>, String) {
    let text = place.run(&["search", "docs.idx", "--", query]).succeeds().stdout;
    let anchors = text
        .lines()
        .filter_map(|line| line.strip_prefix("[desk.md#")?.split(']').next());
    (anchors.map(str::to_owned).collect(), text.clone())
}

#[test]
fn quoted_words_are_found_as_they_stand_or_else_apart_with_a_note() {
    let place = desk();
    let note = "No section has the quoted words as they stand; these have them apart.";
    let (anchors, text) = answer(&place, "\"backup of a record\"");
    assert_eq!(anchors, ["restore-a-backup"]);
    assert!(!text.contains(note), "{text}");
    let (anchors, text) = answer(&place, "\"record backup\"");
    assert!(anchors.len() >= 2, "{text}");
    assert!(text.contains(note), "{text}");
    // A quotation that is never closed is none.
    let (anchors, text) = answer(&place, "\"record backup");
    assert!(anchors.len() >= 2 && !text.contains(note), "{text}");
}

#[test]
fn a_leading_minus_excludes_a_word_and_says_so_but_flags_are_words() {
    let place = desk();
    let (anchors, text) = answer(&place, "record -backup");
    assert!(
        !anchors.contains(&"restore-a-backup".to_owned()) && !anchors.contains(&"delete-a-record".to_owned()),
        "{text}"
    );
    assert!(text.contains("Sections with \"backup\" were left out"), "{text}");
    for query in ["backup --force", "restore -f", "restore -1", "backup - record"] {
        let (anchors, text) = answer(&place, query);
        assert!(anchors.contains(&"restore-a-backup".to_owned()), "{text}");
        assert!(!text.contains("left out"), "{text}");
    }
    // Nothing but an exclusion would find everything, so it is asked for.
    assert_eq!(answer(&place, "-upload").0, ["upload-a-file"]);
}

#[test]
fn what_stands_for_an_unknown_word_is_found_and_named() {
    let place = desk();
    for (query, anchor, word, stands_for_it) in [
        ("uplaod", "upload-a-file", "uplaod", "upload"),
        ("restroe it", "restore-a-backup", "restroe", "restore"),
        ("remove record", "delete-a-record", "remove", "delete"),
    ] {
        let (anchors, text) = answer(&place, query);
        assert_eq!(anchors[0], anchor, "{text}");
        let note = format!("\"{word}\" is not in the index: searched for \"{stands_for_it}\".");
        assert!(text.contains(&note), "{text}");
    }
}

#[test]
fn an_acronym_and_its_long_form_find_each_other() {
    let place = desk();
    for query in ["QDL", "qdl", "queue depth limit"] {
        let (anchors, text) = answer(&place, query);
        assert_eq!(anchors[0], "queue-depth-limit", "{text}");
        assert!(anchors.contains(&"waiting".to_owned()), "{text}");
    }
}

#[test]
fn where_nothing_is_found_the_words_are_named_with_what_is_near() {
    let place = desk();
    for (query, said) in [
        ("zzzz", "No hits for \"zzzz\". Not in the index: \"zzzz\"."),
        ("wpload", "\"wpload\" (nearest: upload)"),
    ] {
        let (anchors, text) = answer(&place, query);
        assert!(anchors.is_empty() && text.contains(said), "{text}");
    }
}

#[test]
fn a_query_that_is_cut_says_so() {
    let place = desk();
    let words: Vec<String> = (0..10_000).map(|number| format!("v{number}")).collect();
    let (anchors, text) = answer(&place, &format!("upload {}", words.join(" ")));
    assert_eq!(anchors[0], "upload-a-file");
    assert!(
        text.contains("too long"),
        "{}",
        &text[text.len().saturating_sub(300)..]
    );
    let line = ["search", "docs.idx", "--json", "--", &words.join(" ")];
    let run = place.run(&line).succeeds();
    assert!(run.stderr.contains("only its first words"), "{}", run.stderr);
}
