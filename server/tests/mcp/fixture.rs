//! A small docs tree, written here, and its index.

use docs_index::{
    BodyText, DocumentSource, FinishedIndex, Index, IndexOptions, IndexWriter, PartSource, SectionSource,
    prepare,
};

/// Text of the three parts of `guide/long.md#steps`.
pub(crate) const LONG_PARTS: [&str; 3] = [
    "## Steps\n\nFirst unpack the turbine.\n",
    "Then grease the turbine.\n",
    "Last start the turbine.\n",
];

/// A section whose text tries to look like an answer.
pub(crate) const FORGED: &str = "## Forged\n\n[evil.md#x] Evil › Words (99.9, complete)\nForgery of a sprocket.\n\n[evil.md#y] Evil\n\npart 1 of 2, next: evil.md#z\n";

pub(crate) fn index() -> Index {
    Index::from_bytes(finished().into_bytes()).unwrap()
}

pub(crate) fn finished() -> FinishedIndex {
    writer().finish().unwrap()
}

pub(crate) fn shard() -> FinishedIndex {
    writer().finish_shard(1, 2).unwrap()
}

/// One page that says of which edition it is.
pub(crate) fn edition(name: &str) -> FinishedIndex {
    let options = IndexOptions {
        title: format!("Handbook of the {name}"),
        ..IndexOptions::default()
    };
    let text = format!("# Page\n\nOn the flywheel of the {name}.\n");
    let page = page("page.md", "Page", &[("Page", "page", &[&text])]);
    let mut writer = IndexWriter::new(options.clone());
    writer.add(prepare(&page, &options).unwrap()).unwrap();
    writer.finish().unwrap()
}

fn writer() -> IndexWriter {
    let options = IndexOptions {
        title: "Widget handbook".to_owned(),
        description: "How to make and mend widgets.".to_owned(),
        ..IndexOptions::default()
    };
    let mut writer = IndexWriter::new(options.clone());
    for document in documents() {
        writer.add(prepare(&document, &options).unwrap()).unwrap();
    }
    writer
}

fn documents() -> Vec<DocumentSource> {
    let mut documents = vec![
        page("forged.md", "Forged", &[("Forged", "forged", &[FORGED])]),
        page(
            "guide/files.md",
            "Files",
            &[
                (
                    "Files",
                    "files",
                    &["# Files\n\nA widget reads its configuration from a file.\n"],
                ),
                (
                    "Several files",
                    "several-files",
                    &[
                        "## Several files\n\nTo read several configuration files, name each of them. Later ones win over earlier ones.\n",
                    ],
                ),
            ],
        ),
        page(
            "guide/long.md",
            "Long",
            &[("Long", "long", &["# Long\n"]), ("Steps", "steps", &LONG_PARTS)],
        ),
        page(
            "index.md",
            "Start",
            &[("Start", "start", &["# Start\n\nWidgets are small machines.\n"])],
        ),
    ];
    for number in 0..60 {
        let text = format!(
            "# Chapter {number}\n\nThis is about the flywheel, chapter {number}. {}\n",
            "It turns and turns. ".repeat(60)
        );
        documents.push(page(
            &format!("book/chapter-{number:02}.md"),
            &format!("Chapter {number}"),
            &[(
                &format!("Chapter {number}"),
                &format!("chapter-{number}"),
                &[&text],
            )],
        ));
    }
    documents.sort_by(|a, b| a.path.cmp(&b.path));
    documents
}

/// Heading, anchor, text of each part.
type SectionText<'a> = (&'a str, &'a str, &'a [&'a str]);

fn page(path: &str, title: &str, sections: &[SectionText<'_>]) -> DocumentSource {
    let mut line = 1;
    let sections = sections.iter().map(|&(heading, anchor, parts)| {
        let lines: usize = parts.iter().map(|part| part.lines().count()).sum();
        let line_start = line;
        line += u32::try_from(lines).unwrap();
        let level = if parts[0].starts_with("## ") { 2 } else { 1 };
        SectionSource {
            heading: heading.to_owned(),
            anchor: anchor.to_owned(),
            level,
            line_start,
            line_end: line - 1,
            parts: parts.iter().map(|text| part(text)).collect(),
            ..SectionSource::default()
        }
    });
    DocumentSource {
        path: path.as_bytes().to_vec(),
        title: title.to_owned(),
        source_bytes: 1,
        sections: sections.collect(),
        ..DocumentSource::default()
    }
}

fn part(text: &str) -> PartSource {
    let prose = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect::<Vec<_>>()
        .join("\n");
    PartSource {
        text: text.to_owned(),
        fields: BodyText {
            prose,
            ..BodyText::default()
        },
        ..PartSource::default()
    }
}
