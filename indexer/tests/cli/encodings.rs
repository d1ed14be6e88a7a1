//! Bytes, front matter and sizes: whatever a file holds, it is read as well as can be and nothing else suffers.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::headings::Listed;
use crate::program::Place;

#[test]
fn metadata_is_no_text_and_its_last_line_no_heading() {
    let listed = Listed::page("---\ntitle: Night guide\nweight: 3\nlayout: heronry\n---\n\n# Walking\n\nr\n");
    assert_eq!(listed.outline(), [(1, "Walking")]);
    assert_eq!(listed.heading_paths(), ["Night guide > Walking"]);
    assert_eq!(listed.texts(), ["# Walking\n\nr"]);
    assert_eq!(listed.found("heronry"), [""; 0]);
    assert_eq!(listed.found("night"), ["a.md#walking"]);
}

#[test]
fn front_matter_that_is_no_yaml_costs_one_warning_and_not_the_page() {
    for (text, line) in [
        (
            "---\ntitle: Part 1: moving\nneeds: - x\n\tbad: tab\n---\n\n# Moving\n\nlift it\n",
            2,
        ),
        ("---\ntitle: ok\nlist: [a, b\n---\n\n# Moving\n\nlift it\n", 4),
        ("---\ntitle: @scope/name\n---\n\n# Moving\n\nlift it\n", 2),
        ("+++\ntitle = \"x\"\nbad = = 1\n+++\n\n# Moving\n\nlift it\n", 3),
        ("{\n\"title\": \"x\",\n}\n\n# Moving\n\nlift it\n", 3),
    ] {
        let place = Place::with(&[("docs/a.md", text)]);
        let run = place
            .run(&["build", "docs", "-o", "docs.idx", "--json"])
            .succeeds();
        let report = run.json();
        let warnings = report["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert_eq!(
            (&warnings[0]["path"], &warnings[0]["line"], &warnings[0]["kind"]),
            (&"a.md".into(), &line.into(), &"invalid-front-matter".into())
        );
        assert!(run.stderr.contains("1 warning"), "{}", run.stderr);
        let found = place.run(&["search", "docs.idx", "lift", "--json"]).succeeds();
        assert_eq!(found.json()["hits"][0]["id"], "a.md#moving");
        place
            .run(&["build", "docs", "-o", "strict.idx", "--strict"])
            .exits(1);
    }
}

#[test]
fn a_banner_between_dashes_is_text() {
    let listed = Listed::of(&[
        (
            "a.md",
            "---\n**NORTH STAR INN**\nMill Lane 3\n---\n\n# Bill\n\nn\n",
        ),
        ("b.md", "---\nNORTH STAR INN\n---\n\nplain banner\n"),
        ("c.md", "---\n\nnorth star between breaks\n\n---\n\nx\n"),
    ]);
    let mut pages: Vec<String> = listed.found("north star");
    for id in &mut pages {
        id.truncate(4);
    }
    pages.sort_unstable();
    assert_eq!(pages, ["a.md", "b.md", "c.md"]);
    assert!(listed.texts().iter().any(|text| text.contains("Mill Lane 3")));
}

#[test]
fn toml_and_json_give_titles_and_are_no_text() {
    let listed = Listed::of(&[
        (
            "j.md",
            "\u{FEFF}{\n  \"title\": \"By json\",\n  \"order\": {\"menu\": 3}\n}\n\n# J\n\nj\n",
        ),
        (
            "t.md",
            "+++ \r\ntitle = \"By toml\"\r\ndate = 2024-05-06\r\n[menu]\r\nmain = 3\r\n+++\r\n\r\n# T\r\n\r\nt\r\n",
        ),
    ]);
    assert_eq!(listed.heading_paths(), ["By json > J", "By toml > T"]);
    assert_eq!(listed.texts(), ["# J\n\nj", "# T\n\nt"]);
    assert_eq!(listed.found("menu"), [""; 0]);
}

#[test]
fn three_dots_end_front_matter_too_and_blanks_after_a_fence_do_not_matter() {
    for text in [
        "---\ntitle: Ended\n...\n\n# Body\n\nb\n",
        "---  \t\ntitle: Ended\n---   \n\n# Body\n\nb\n",
        "\u{FEFF}---\r\ntitle: Ended\r---\n\n# Body\n\nb\n",
        "---\nintro: |\n  x\n  ---\n  y\ntitle: Ended\n---\n\n# Body\n\nb\n",
    ] {
        let listed = Listed::page(text);
        assert_eq!(listed.heading_paths(), ["Ended > Body"], "{text:?}");
        assert_eq!(listed.texts(), ["# Body\n\nb"]);
    }
}

#[test]
fn a_suffix_decides_what_a_file_is_and_not_its_first_line() {
    let text =
        "---\nname: check\ndescription: try it\n---\n\n# Apply\n\nlong words on storks\n\n## Extra\n\nm\n";
    let listed = Listed::of(&[("AGENT.md", text), ("agent.yaml", text)]);
    assert_eq!(listed.outline(), [(1, "Apply"), (2, "Extra")]);
    assert_eq!(listed.found("storks"), ["AGENT.md#apply"]);
}

#[test]
fn a_byte_order_mark_hides_no_heading_and_counts_for_no_line() {
    let listed = Listed::page("\u{FEFF}# One\n\nx\n\n## Two\n\ny\n");
    assert_eq!(listed.outline(), [(1, "One"), (2, "Two")]);
    assert_eq!(listed.ranges(), [(1, 4), (5, 7)]);
    assert_eq!(listed.texts()[0], "# One\n\nx");
}

#[test]
fn a_page_without_headings_is_one_section_named_by_its_file() {
    let place = Place::with(&[
        ("docs/blank.md", "\r\n \t\r\n"),
        ("docs/bom.md", "\u{FEFF}"),
        ("docs/meta.md", "---\ntitle: Nothing but this\n---\n"),
        ("docs/notes/plain.md", "only words on ospreys\nand no title\n"),
        ("docs/null.md", ""),
    ]);
    let report = place.report(&["docs"]);
    let skipped: Vec<&str> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    assert_eq!(skipped, ["blank.md", "bom.md", "null.md"]);
    let listed = place.run(&["inspect", "docs.idx", "--json"]).succeeds();
    let sections: Vec<_> = listed
        .json_lines()
        .iter()
        .map(|line| (line["id"].clone(), line["level"].clone(), line["heading"].clone()))
        .collect();
    assert_eq!(
        sections,
        [
            ("meta.md".into(), 0.into(), "Nothing but this".into()),
            ("notes/plain.md".into(), 0.into(), "plain".into())
        ]
    );
    let found = place.run(&["search", "docs.idx", "ospreys", "--json"]).succeeds();
    assert_eq!(found.json()["hits"][0]["id"], "notes/plain.md");
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let unit = |unit: u16| {
        if big {
            unit.to_be_bytes()
        } else {
            unit.to_le_bytes()
        }
    };
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn wide_encodings_are_read_with_and_without_their_mark() {
    let text = "# Wide é\r\n\r\nsmall dingo 🦊\r\n";
    let marked = format!("\u{FEFF}{text}");
    let utf32: Vec<u8> = marked
        .chars()
        .flat_map(|unit| u32::from(unit).to_le_bytes())
        .collect();
    let listed = Listed::of(&[
        ("a.md", utf16(&marked, false)),
        ("b.md", utf16(&marked, true)),
        ("c.md", utf16(text, false)),
        ("d.md", utf16(text, true)),
        ("e.md", utf32),
    ]);
    assert_eq!(listed.outline(), [(1, "Wide é"); 5]);
    assert_eq!(listed.texts(), ["# Wide é\n\nsmall dingo 🦊"; 5]);
    assert!(!listed.found("dingo").is_empty());
}

#[test]
fn nul_and_control_characters_reach_no_answer() {
    let listed = Listed::page("# X\0Y\n\np\0q gnu\u{1B}[2J\u{7}\n\n```\nr\0s\n```\n");
    assert_eq!(listed.outline(), [(1, "X\u{FFFD}Y")]);
    assert_eq!(
        listed.texts(),
        ["# X\u{FFFD}Y\n\np\u{FFFD}q gnu[2J\n\n```\nr\u{FFFD}s\n```"]
    );
    assert_eq!(listed.found("gnu").len(), 1);
}

#[test]
fn characters_that_hide_words_are_removed_and_counted() {
    let hidden: String = (0..30)
        .filter_map(|number| char::from_u32(0xE0100 + number))
        .collect();
    let place = Place::with(&[(
        "docs/a.md",
        &format!("# Op\u{200B}en\n\nx😀{hidden} se\u{AD}en \u{E0041}\u{202E}\n"),
    )]);
    let report = place.report(&["docs"]);
    assert_eq!(report["warnings"][0]["kind"], "invisible-characters");
    let listed = place
        .run(&["inspect", "docs.idx", "--json", "--text"])
        .succeeds()
        .json_lines();
    assert_eq!(listed[0]["text"], "# Open\n\nx😀 seen");
    assert_eq!(listed[0]["anchor"], "open");
}

#[test]
fn every_kind_of_line_end_gives_the_same_sections_and_lines() {
    let text = "# F\n\n```sh\n# c\n```\n\n## G\n\nv\n";
    let mut mixed = String::new();
    for (line, end) in text.lines().zip(["\r\n", "\n", "\r", "\r\n"].iter().cycle()) {
        let _ = write!(mixed, "{line}{end}");
    }
    let listed = Listed::of(&[
        ("a.md", text.to_owned()),
        ("b.md", text.replace('\n', "\r\n")),
        ("c.md", text.replace('\n', "\r")),
        ("d.md", mixed),
        ("e.md", text.replace("\n\n", "\n\u{C}\n")),
    ]);
    assert_eq!(listed.outline(), [(1, "F"), (2, "G")].repeat(5));
    assert_eq!(listed.ranges(), [(1, 6), (7, 9)].repeat(5));
}

#[test]
fn snippets_of_any_length_are_whole_characters() {
    let crowd = "👨‍👩‍👦🐙ö̂語".repeat(150);
    let place = Place::with(&[("docs/a.md", &format!("# M\n\n{crowd} lastword {crowd}\n"))]);
    place.report(&["docs"]);
    for length in (0..40).chain([63, 64, 65, 127, 200, 333, 400, 2000]) {
        let length = length.to_string();
        let line = [
            "search",
            "docs.idx",
            "lastword",
            "--json",
            "--snippet-chars",
            &length,
        ];
        // The output is valid UTF-8 and valid JSON, or this fails.
        let answer = place.run(&line).succeeds().json();
        assert_eq!(answer["hits"][0]["id"], "a.md#m", "{length}");
        let snippet = answer["hits"][0]["snippet"].as_str().unwrap();
        assert!(!snippet.contains('\u{FFFD}'), "{length}: {snippet}");
    }
}

#[test]
fn a_huge_section_is_cut_into_parts_that_are_the_section() {
    let mut text = "# Long\n".to_owned();
    for number in 0..20_000 {
        let _ = write!(
            text,
            "\nSentence {number} of a section without an end, and some words.\n"
        );
        if number == 15_000 {
            text.push_str("\nHere the thimble_rig stands.\n");
        }
    }
    let listed = Listed::page(&text);
    assert_eq!(listed.texts(), [text.trim_end()]);
    let hits = listed.hits("thimble_rig");
    assert_eq!(hits.len(), 1);
    assert!(hits[0]["part"].as_u64().unwrap() > 100);
    let snippet = hits[0]["snippet"].as_str().unwrap();
    assert!(snippet.contains("thimble_rig"), "{snippet}");
}

#[test]
fn a_long_address_is_no_danger_and_its_words_are_found() {
    let name = "Quarterly_Paper_%28v2%29_".repeat(9);
    let listed = Listed::page(&format!(
        "# U\n\n```go\nx\n```\n\nhttps://store.example.com/press/room/{name}final.pdf\n\n```go\ny\n```\n"
    ));
    assert_eq!(listed.outline(), [(1, "U")]);
    for word in ["store.example.com", "press", "room"] {
        assert_eq!(listed.found(word), ["a.md#u"], "{word}");
    }
}

#[test]
fn repeated_openers_and_deep_nesting_take_bounded_time() {
    let lines = |line: fn(usize) -> String| (0..1_500).map(line).collect::<String>();
    let files = [
        ("brackets.md", "[ ".repeat(8_000) + &"](".repeat(8_000)),
        ("comments.md", "<!-- a ".repeat(8_000)),
        ("stars.md", "* ".repeat(8_000)),
        ("emphasis.md", "*a_ ".repeat(8_000)),
        ("quotes.md", "> ".repeat(8_000)),
        ("staircase.md", lines(|depth| "  ".repeat(depth % 400) + "- x\n")),
        (
            "table.md",
            format!("|{}\n|{}\n", "a|".repeat(4_000), "-|".repeat(4_000)) + &"|x|\n".repeat(4_000),
        ),
        ("headings.md", "## Same\n\n".repeat(8_000)),
        ("details.md", "<details>\n\n## x\n\n".repeat(2_000)),
        ("tags.mdx", "<A b={".repeat(4_000)),
        (
            "containers.md",
            lines(|depth| ":".repeat(3 + depth % 300) + "note\n"),
        ),
        ("braces.md", "{{< a ".repeat(8_000)),
    ];
    let begin = Instant::now();
    let listed = Listed::of(&files);
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let same = listed
        .ids()
        .iter()
        .filter(|id| id.starts_with("headings.md#same"))
        .count();
    assert_eq!(same, 8_000);
}
