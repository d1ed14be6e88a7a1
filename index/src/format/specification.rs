//! Holds the tables of `format-spec.md` against the constants of the code.

use super::{
    expansions::{self, Kind},
    layout::{HEADER_FIELDS, REGION_ENTRY_FIELDS, Tag},
    metadata, section_table, text_blocks,
};
use crate::{
    field::{DocumentField, RecordField},
    search::language::Language,
};
use std::fmt::Write as _;

/// Tables of the specification: name and rows, cells joined by `|`.
fn tables() -> Vec<(String, Vec<String>)> {
    let text = include_str!("../../../format-spec.md");
    let mut tables = Vec::new();
    for piece in text.split("<!-- table: ").skip(2) {
        let (name, rest) = piece.split_once(" -->").unwrap();
        let (table, _) = rest.split_once("<!-- end -->").unwrap();
        let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
        let cells = |row: &str| {
            row.trim_matches('|')
                .split('|')
                .map(str::trim)
                .collect::<Vec<_>>()
                .join("|")
        };
        tables.push((name.to_owned(), rows.map(cells).collect()));
    }
    tables
}

fn expected() -> Vec<(&'static str, Vec<String>)> {
    let placed = |fields: &[super::layout::Field]| {
        fields
            .iter()
            .map(|f| format!("{}|{}|{}", f.offset, f.length, f.name))
            .collect::<Vec<_>>()
    };
    let sized = |fields: &[(&str, usize)]| {
        fields
            .iter()
            .map(|(name, length)| format!("{length}|{name}"))
            .collect::<Vec<_>>()
    };
    let numbered = |names: &[&str]| {
        names
            .iter()
            .enumerate()
            .map(|(number, name)| format!("{number}|{name}"))
            .collect::<Vec<_>>()
    };
    vec![
        ("header", placed(HEADER_FIELDS)),
        ("region entry", placed(REGION_ENTRY_FIELDS)),
        (
            "regions",
            Tag::ALL.iter().map(|tag| tag.name().to_owned()).collect(),
        ),
        ("META", sized(metadata::FIELDS)),
        ("DOCS", sized(section_table::fields::DOCUMENT)),
        ("RECS", sized(section_table::fields::RECORD)),
        ("LENS", sized(section_table::fields::LENGTHS)),
        ("TBLK", sized(text_blocks::FIELDS)),
        ("record fields", numbered(&RecordField::NAMES)),
        ("document fields", numbered(&DocumentField::NAMES)),
        ("languages", {
            let tags = Language::TAGS.map(|tags| tags.join(", "));
            numbered(&tags.each_ref().map(String::as_str))
        }),
        ("expansions", numbered(&Kind::NAMES)),
    ]
}

#[test]
fn the_tables_of_the_specification_are_those_of_the_code() {
    let mut tables = tables();
    // What a region is for is said in words; only the tags are compared.
    for (name, rows) in &mut tables {
        if name == "regions" {
            for row in rows {
                *row = row.split('|').next().unwrap().to_owned();
            }
        }
    }
    let found: Vec<(&str, Vec<String>)> = tables
        .iter()
        .map(|(name, rows)| (name.as_str(), rows.clone()))
        .collect();
    assert_eq!(found, expected());
}

#[test]
fn the_numbers_in_the_text_of_the_specification_are_those_of_the_code() {
    let text = include_str!("../../../format-spec.md");
    let mut magic = String::new();
    for byte in super::layout::MAGIC {
        write!(magic, "{byte:02X} ").unwrap();
    }
    for number in [
        format!(
            "# The index file, format version {}\n",
            super::layout::FORMAT_VERSION
        ),
        format!("*analyzer version* is {}.", super::layout::ANALYZER_VERSION),
        format!("`{}`", magic.trim()),
        format!("(at most {})", super::layout::MAX_REGIONS),
        format!("posting blocks** of {} postings", super::postings::BLOCK),
        format!("number of lists, 1 to {}", expansions::LISTS_IN_ENTRY),
        format!("number of its terms, 1 to {}", expansions::TERMS_IN_LIST),
        "reaches 16,384 bytes".to_owned(),
        "at most 33,554,432 bytes".to_owned(),
    ] {
        assert!(text.contains(&number), "{number}");
    }
    assert_eq!((text_blocks::TARGET, text_blocks::LIMIT), (16_384, 33_554_432));
}
