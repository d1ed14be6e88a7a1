//! Golden files: what earlier builds wrote must be read today, and read alike by the second reader.
//!
//! `tests/golden/format-1.idx` is an index of [`crate::sample`], `format-1.txt` says all that is in it; the files
//! `format-1-shard` are a shard of it. Files
//! are only ever added: another format version has files of its own. To make them for a new version:
//! `cargo test -p docs-index --lib golden -- --ignored`.

use crate::{
    Index, SearchRequest,
    error::ReadError,
    format::{acronym_table, expansions::Kind, layout::Tag, link_table, postings::Posting},
    sample,
};
use std::{fmt::Write as _, path::PathBuf};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

/// Everything an index holds, as text; `scripts/read_index.py` prints the same.
fn dump(index: &Index) -> String {
    let mut out = String::new();
    let summary = index.summary();
    writeln!(
        out,
        "index {} documents {} records {} sections {} terms {} hash {}",
        summary.format_version,
        summary.documents,
        summary.records,
        summary.sections,
        summary.terms,
        summary.content_hash
    )
    .unwrap();
    writeln!(
        out,
        "title {:?} description {:?} languages {:#x}",
        summary.title,
        summary.description,
        index.metadata().languages().bits()
    )
    .unwrap();
    writeln!(out, "synonyms {:?}", index.synonyms().unwrap()).unwrap();
    for number in 0..summary.documents {
        let document = index.document(number).unwrap();
        writeln!(
            out,
            "document {} {} title {:?} description {:?} tags {:?} url {:?} language {:?} records {}+{} bytes {}",
            number,
            document.id(),
            document.title,
            document.description,
            document.tags,
            document.url,
            document.language,
            document.first_record,
            document.record_count,
            document.source_bytes,
        )
        .unwrap();
    }
    let lengths = index.length_entries().unwrap();
    for number in 0..summary.records {
        let record = index.record(number).unwrap();
        let parent = record.parent.map_or("-".to_owned(), |parent| parent.to_string());
        let length = &lengths[number as usize];
        writeln!(
            out,
            "record {} {} level {} lines {}-{} part {}/{} repeated {}+{} parent {} subtree {} lengths {} {} {} heading {:?} aliases {:?}",
            number,
            record.id(),
            record.level,
            record.line_start,
            record.line_end,
            record.part,
            record.part_count,
            record.repeated_head,
            record.repeated_tail,
            parent,
            record.subtree_end,
            length.heading,
            length.body,
            length.incoming,
            record.heading,
            record.aliases().collect::<Vec<_>>().join(" "),
        )
        .unwrap();
        writeln!(out, "text {:?}", index.text(number).unwrap()).unwrap();
    }
    index
        .dictionary()
        .for_each(|term, entry| -> Result<(), ReadError> {
            write!(out, "term {term} {}", entry.section_frequency).unwrap();
            list(&mut out, " records", &entry.records.collect()?);
            list(&mut out, " documents", &entry.documents.collect()?);
            out.push('\n');
            Ok(())
        })
        .unwrap();
    index
        .expansions()
        .unwrap()
        .for_each(|kind, key, lists| {
            let lists: Vec<String> = lists.iter().map(|list| list.join(" ")).collect();
            let kind = Kind::NAMES[kind as usize];
            writeln!(out, "{kind} {key}: {}", lists.join(" | ")).unwrap();
            Ok(())
        })
        .unwrap();
    if summary.shard.is_some() {
        for (acronym, count) in acronym_table::decode(index.region(Tag::Acronyms)).unwrap() {
            writeln!(out, "found {:?} {:?} {count}", acronym.letters, acronym.long_form).unwrap();
        }
        for link in link_table::decode(index.region(Tag::Links), summary.records).unwrap() {
            let path = String::from_utf8_lossy(&link.path).into_owned();
            writeln!(
                out,
                "link {} {path:?} {:?} {:?}",
                link.record, link.fragment, link.text
            )
            .unwrap();
        }
    }
    out
}

fn list<const FIELDS: usize>(out: &mut String, name: &str, postings: &[Posting<FIELDS>]) {
    out.push_str(name);
    for posting in postings {
        let frequencies = posting
            .frequencies
            .map(|frequency| frequency.to_string())
            .join(",");
        write!(out, " {}:{frequencies}", posting.number).unwrap();
    }
}

#[test]
fn the_golden_files_are_read_as_they_were_written() {
    for name in ["format-1", "format-1-shard"] {
        let index = Index::open(&golden(&format!("{name}.idx"))).unwrap();
        index.verify().unwrap();
        let expected = std::fs::read_to_string(golden(&format!("{name}.txt"))).unwrap();
        assert_eq!(dump(&index), expected, "{name}");
    }
}

#[test]
fn the_golden_file_answers_as_it_did() {
    let index = Index::open(&golden("format-1.idx")).unwrap();
    let mut answers = String::new();
    for query in [
        "upload a file",
        "name of a field",
        "検索",
        "entry 77 green",
        "zone",
        "nothing known",
    ] {
        writeln!(answers, "{query}").unwrap();
        for hit in index.search(&SearchRequest::new(query)).unwrap().hits {
            let id = index.record(hit.record).unwrap().id();
            let complete = if hit.complete { " complete" } else { "" };
            writeln!(answers, "  {id} {:.3}{complete}: {}", hit.score, hit.snippet).unwrap();
        }
    }
    insta::assert_snapshot!(answers);
}

#[test]
fn a_build_of_today_holds_the_same() {
    // Not the bytes: a later release of a library may pack or order them otherwise.
    let index = sample::build(&sample::documents(), &sample::options())
        .open()
        .unwrap();
    let expected = std::fs::read_to_string(golden("format-1.txt")).unwrap();
    let without_hash = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap();
    assert_eq!(without_hash(&dump(&index)), without_hash(&expected));
}

#[test]
#[ignore = "writes the golden files of the current format version"]
fn write_golden_files() {
    let finished = sample::build(&sample::documents(), &sample::options());
    finished.save(&golden("format-1.idx")).unwrap();
    std::fs::write(golden("format-1.txt"), dump(&finished.open().unwrap())).unwrap();
    let shard = sample::shard_bytes(&sample::documents()[4..], &sample::options(), 2, 2);
    std::fs::write(golden("format-1-shard.idx"), &shard).unwrap();
    std::fs::write(
        golden("format-1-shard.txt"),
        dump(&Index::from_bytes(shard).unwrap()),
    )
    .unwrap();
}
