//! A small corpus for the tests of this crate: every field, parts, odd names, and a term in more than one
//! posting block.

use crate::{
    DocumentSource, FinishedIndex, Index, IndexOptions, IndexWriter, LinkSource, PartSource, SectionSource,
    SynonymList, document::BodyText, prepare,
};

fn part(text: &str, prose: &str) -> PartSource {
    PartSource {
        text: text.to_owned(),
        fields: BodyText {
            prose: prose.to_owned(),
            ..BodyText::default()
        },
        ..PartSource::default()
    }
}

fn section(
    heading: &str,
    anchor: &str,
    level: u8,
    lines: (u32, u32),
    parts: Vec<PartSource>,
) -> SectionSource {
    SectionSource {
        heading: heading.to_owned(),
        anchor: anchor.to_owned(),
        aliases: Vec::new(),
        level,
        line_start: lines.0,
        line_end: lines.1,
        parts,
    }
}

fn document(path: &[u8], title: &str, sections: Vec<SectionSource>) -> DocumentSource {
    DocumentSource {
        path: path.to_vec(),
        title: title.to_owned(),
        source_hash: [path.len() as u8; 32],
        source_bytes: 100 + path.len() as u64,
        sections,
        ..DocumentSource::default()
    }
}

fn uploads() -> DocumentSource {
    let mut first = part(
        "# Uploads\n\nSend a `file` in a [form](forms.md#fields). The deep text [field](forms.md) (`DTF`).",
        "Send a in a . The deep text field DTF.",
    );
    first.fields.inline_code = "file".to_owned();
    first.fields.link_text = "form".to_owned();
    first.links.push(LinkSource {
        path: b"forms.md".to_vec(),
        fragment: "fields".to_owned(),
        text: "form of an upload".to_owned(),
    });
    let mut code = part("## Example\n\n```py\nupload_file(open(path))\n```\n", "");
    code.fields.code = "upload_file(open(path))".to_owned();
    let mut second = part("```py\nclose(path)\n```", "");
    second.fields.code = "close(path)".to_owned();
    second.repeated_head = 6;
    second.repeated_tail = 3;
    let mut example = section("Example", "example", 2, (5, 12), vec![code, second]);
    example.aliases = vec!["sample".to_owned(), "old-example".to_owned()];
    let mut uploads = document(
        b"docs/uploads.md",
        "Uploads",
        vec![section("Uploads", "uploads", 1, (1, 4), vec![first]), example],
    );
    uploads.description = "How to send files.".to_owned();
    uploads.tags = vec!["file".to_owned(), "http".to_owned()];
    uploads.url = "https://docs.example/uploads/".to_owned();
    uploads.language = "en".to_owned();
    uploads
}

/// The documents in path order.
pub(crate) fn documents() -> Vec<DocumentSource> {
    let mut entries = vec![section(
        "",
        "",
        0,
        (1, 2),
        vec![part("All entries of the log.", "All entries of the log.")],
    )];
    for number in 0..140_u32 {
        let text = format!(
            "## Entry {number}\n\nEntry {number} of the log, {}.",
            ["red", "green"][number as usize % 2]
        );
        let prose = text.lines().last().unwrap_or_default().to_owned();
        entries.push(section(
            &format!("Entry {number}"),
            &format!("entry-{number}"),
            2,
            (3 + 4 * number, 6 + 4 * number),
            vec![part(&text, &prose)],
        ));
    }
    vec![
        document(
            b"docs/# odd [name] 100%.md",
            "Odd",
            vec![section(
                "Ä b",
                "ä~b",
                3,
                (1, 3),
                vec![part("### Ä b\n\nZoné.", "Zoné.")],
            )],
        ),
        document(
            b"docs/caf\xe9.md",
            "Café",
            vec![section(
                "検索",
                "検索",
                1,
                (1, 3),
                vec![part("# 検索\n\n全文検索。", "全文検索。")],
            )],
        ),
        document(
            b"docs/forms.md",
            "Forms",
            vec![
                section("Forms", "forms", 1, (1, 2), vec![part("# Forms", "")]),
                section(
                    "Fields",
                    "fields",
                    2,
                    (3, 5),
                    vec![part("## Fields\n\nA field has a name.", "A field has a name.")],
                ),
                section(
                    "Deep",
                    "deep",
                    4,
                    (6, 8),
                    vec![part(
                        "#### Deep\n\nDeep text form (DTF).",
                        "Deep text form (DTF).",
                    )],
                ),
                section(
                    "Last",
                    "last",
                    2,
                    (9, 11),
                    vec![part("## Last\n\nThe end.", "The end.")],
                ),
            ],
        ),
        document(
            b"docs/index.md",
            "The handbook",
            vec![section(
                "The handbook",
                "the-handbook",
                1,
                (1, 3),
                vec![part(
                    "# The handbook\n\nRead the DTF (Deep Text Form).",
                    "Read the DTF (Deep Text Form).",
                )],
            )],
        ),
        document(b"docs/log.md", "Log", entries),
        uploads(),
    ]
}

pub(crate) fn options() -> IndexOptions {
    IndexOptions {
        description: "A corpus for tests.".to_owned(),
        path_prefix: b"docs/".to_vec(),
        raw_text: true,
        synonyms: SynonymList::parse("send upload\nfield, form, entry # of a log\nunknown name").unwrap(),
        ..IndexOptions::default()
    }
}

/// An index of `documents`.
pub(crate) fn build(documents: &[DocumentSource], options: &IndexOptions) -> FinishedIndex {
    let mut writer = IndexWriter::new(options.clone());
    for document in documents {
        writer.add(prepare(document, options).unwrap()).unwrap();
    }
    writer.finish().unwrap()
}

/// The shards of a build, cut at the given document numbers.
pub(crate) fn shards(documents: &[DocumentSource], options: &IndexOptions, cuts: &[usize]) -> Vec<Index> {
    let count = cuts.len() + 1;
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([documents.len()]);
    starts
        .zip(ends)
        .zip(1..)
        .map(|((start, end), number)| {
            let bytes = shard_bytes(&documents[start..end], options, number, count as u32);
            Index::from_bytes(bytes).unwrap()
        })
        .collect()
}

/// The file of one shard with the given documents.
pub(crate) fn shard_bytes(
    documents: &[DocumentSource],
    options: &IndexOptions,
    number: u32,
    count: u32,
) -> Vec<u8> {
    let mut writer = IndexWriter::new(options.clone());
    for document in documents {
        writer.add(prepare(document, options).unwrap()).unwrap();
    }
    writer.finish_shard(number, count).unwrap().into_bytes()
}
