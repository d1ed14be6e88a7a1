//! Documents that are hard to name, to cut or to show, as a client sees them.

use docs_index::{
    BodyText, DocumentSource, Index, IndexOptions, IndexWriter, PartSource, SectionSource, prepare,
};
use serde_json::{Value, json};

use crate::fixture;
use crate::in_process::{Client, modern_meta};

/// Level, heading, anchor and the texts of the parts.
type SectionText<'a> = (u8, &'a str, &'a str, &'a [&'a str]);

/// An index of pages, each named by the bytes of its path.
fn index(pages: &[(&[u8], &[SectionText<'_>])]) -> Index {
    index_of(
        pages
            .iter()
            .map(|&(path, sections)| page(path, sections))
            .collect(),
    )
}

fn index_of(mut documents: Vec<DocumentSource>) -> Index {
    let options = IndexOptions::default();
    let mut writer = IndexWriter::new(options.clone());
    documents.sort_by(|a, b| a.path.cmp(&b.path));
    for document in &documents {
        writer.add(prepare(document, &options).unwrap()).unwrap();
    }
    Index::from_bytes(writer.finish().unwrap().into_bytes()).unwrap()
}

fn page(path: &[u8], sections: &[SectionText<'_>]) -> DocumentSource {
    let sections = sections
        .iter()
        .zip(1..)
        .map(|(&(level, heading, anchor, parts), line)| {
            let part = |text: &&str| PartSource {
                text: (*text).to_owned(),
                fields: BodyText {
                    prose: (*text).to_owned(),
                    ..BodyText::default()
                },
                ..PartSource::default()
            };
            SectionSource {
                heading: heading.to_owned(),
                anchor: anchor.to_owned(),
                level,
                line_start: line,
                line_end: line,
                parts: parts.iter().map(part).collect(),
                ..SectionSource::default()
            }
        });
    DocumentSource {
        path: path.to_vec(),
        title: "Page".to_owned(),
        source_bytes: 1,
        sections: sections.collect(),
        ..DocumentSource::default()
    }
}

/// Ids of the hits in an answer.
fn ids(text: &str) -> Vec<String> {
    let heads = text.lines().filter_map(|line| line.strip_prefix('['));
    heads
        .map(|head| head.split_once(']').unwrap().0.to_owned())
        .collect()
}

#[tokio::test]
async fn a_heading_path_leads_over_the_nearest_lower_levels() {
    let sections: [SectionText<'_>; 5] = [
        (3, "Low", "low", &["### Low\n\nlow"]),
        (1, "Alpha", "alpha", &["# Alpha\n\nalpha"]),
        (4, "Four", "four", &["#### Four\n\nfour"]),
        (2, "Two", "two", &["## Two\n\ntwo"]),
        (6, "Six", "six", &["###### Six\n\nsix of opals"]),
    ];
    let mut client = Client::connected(index(&[(b"a.md", &sections)])).await;
    for (anchor, path) in [
        ("low", "Page › Low"),
        ("four", "Page › Alpha › Four"),
        ("six", "Page › Alpha › Two › Six"),
    ] {
        let id = format!("a.md#{anchor}");
        let text = client.answered("get_section", json!({"id": id})).await;
        assert_eq!(text.lines().next().unwrap(), format!("[{id}] {path}"));
    }
    let text = client.answered("search_docs", json!({"query": "opals"})).await;
    assert!(
        text.starts_with("[a.md#six] Page › Alpha › Two › Six ("),
        "{text}"
    );
}

#[tokio::test]
async fn a_section_is_reached_by_the_id_its_author_gave_and_shown_from_its_heading_to_the_next() {
    let sections: [SectionText<'_>; 3] = [
        (
            1,
            "Opening",
            "open-here",
            &["# Opening {#open-here}\n\nfirst words\n"],
        ),
        (3, "Aim", "aim", &["### Aim\n\nexact words\n"]),
        (3, "Then", "then", &["### Then\n\nlast words\n"]),
    ];
    let mut client = Client::connected(index(&[(b"b.mdx", &sections)])).await;
    let text = client
        .answered("get_section", json!({"id": "b.mdx#open-here"}))
        .await;
    assert!(text.starts_with("[b.mdx#open-here] Page › Opening\n\n"), "{text}");
    let text = client.answered("get_section", json!({"id": "b.mdx#aim"})).await;
    let (_, body) = text.split_once("\n\n").unwrap();
    assert_eq!(body, "### Aim\n\nexact words");
}

#[tokio::test]
async fn no_answer_holds_a_nul_character() {
    let sections: [SectionText<'_>; 1] = [(1, "X\u{FFFD}Y", "xy", &["# X\u{FFFD}Y\n\np\u{FFFD}q gnu\n"])];
    let mut client = Client::connected(index(&[(b"a.md", &sections)])).await;
    for (tool, arguments) in [
        ("search_docs", json!({"query": "gnu"})),
        ("search_docs", json!({"query": "no\0thing"})),
        ("search_docs", json!({"query": "gnu", "path": "a\0b"})),
        ("search_docs", json!({"query": "gnu", "k": "\0"})),
        ("search_docs", json!({"query": "gnu", "\0": 1})),
        ("get_section", json!({"id": "a.md#xy"})),
        ("get_section", json!({"id": "a.md\0#xy"})),
    ] {
        let (text, _) = client.call(tool, arguments.clone()).await;
        assert!(!text.contains('\0'), "{arguments}: {text:?}");
    }
    let text = client.answered("get_section", json!({"id": "a.md#xy"})).await;
    assert!(text.contains("p\u{FFFD}q gnu"), "{text}");
}

#[tokio::test]
async fn whatever_the_budget_characters_stay_whole_and_nothing_is_lost() {
    let crowd = "👨‍👩‍👦🐙ö̂語".repeat(80);
    let body = format!("# M\n\n{crowd} lastword {crowd}");
    let texts = [body.as_str()];
    let pages: [SectionText<'_>; 1] = [(1, "M", "m", &texts)];
    let make = || index(&[(b"a.md", &pages)]);
    let mut client = Client::connected(make()).await;
    // A reply that is no UTF-8 or no JSON ends the test where it is read.
    for length in 1..=400 {
        let arguments = json!({"query": "lastword", "snippet_chars": length});
        let text = client.answered("search_docs", arguments).await;
        assert_eq!(ids(&text), ["a.md#m"], "{length}");
        assert!(!text.contains('\u{FFFD}'), "{length}: {text}");
    }
    for budget in 1_000..1_030 {
        let mut client = Client::with_budget(make(), budget).await;
        let (mut seen, mut offset) = (String::new(), 0);
        loop {
            let arguments = json!({"id": "a.md#m", "offset": offset});
            let text = client.answered("get_section", arguments).await;
            assert!(text.len() <= budget, "{}", text.len());
            let (_, rest) = text.split_once("\n\n").unwrap();
            let Some((shown, mark)) = rest.split_once("\n\n… cut at ") else {
                seen.push_str(rest);
                break;
            };
            seen.push_str(shown);
            let next: u64 = mark.rsplit_once("offset=").unwrap().1.parse().unwrap();
            assert!(next > offset);
            offset = next;
        }
        let folded = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(folded(&seen), folded(&body), "{budget}");
    }
}

#[tokio::test]
async fn every_id_of_a_search_is_taken_as_it_stands() {
    let paths: [&[u8]; 12] = [
        b"two words.md",
        b"# 1 & [new] 50%.md",
        b"who's?.md",
        "Карта.md".as_bytes(),
        "o\u{308}l.md".as_bytes(),
        b"line\nfeed.md",
        b"tab\there.md",
        b"back\\slash.md",
        b"caf\xE9.md",
        b"a~2.md",
        b"q=1;x,(y)!$'*+:@.md",
        b"%23.md",
    ];
    // The same text twice would be shown once.
    let documents = paths.iter().zip(0..).map(|(path, number)| {
        let before = format!("Gull {number} before.");
        let top = format!("# Top\n\nGull {number}.");
        page(
            path,
            &[(0, "Page", "", &[&before]), (1, "Top", "top", &[&top, "More."])],
        )
    });
    let mut client = Client::connected(index_of(documents.collect())).await;
    let text = client
        .answered(
            "search_docs",
            json!({"query": "gull", "k": 50, "snippet_chars": 0}),
        )
        .await;
    let found = ids(&text);
    assert_eq!(found.len(), 2 * paths.len(), "{text}");
    for id in &found {
        let text = client.answered("get_section", json!({"id": id})).await;
        assert!(text.starts_with(&format!("[{id}] ")), "{id}: {text}");
        // The way to the rest can be walked too.
        if let Some((_, next)) = text.split_once("next: ") {
            client.answered("get_section", json!({"id": next})).await;
        }
    }
    // However a file system writes the accents of a name.
    for id in ["\u{f6}l.md#top", "o\u{308}l.md#top"] {
        client.answered("get_section", json!({"id": id})).await;
    }
}

#[tokio::test]
async fn a_long_section_is_walked_to_its_end_by_the_ids_it_names() {
    let mut parts = vec!["# Long\n\nIt begins.\n".to_owned()];
    for number in 0..120 {
        parts.push(format!(
            "Paragraph {number} of many. {}\n",
            "Some words. ".repeat(300)
        ));
    }
    parts.insert(77, "Here the thimble_rig stands.\n".to_owned());
    let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let sections: [SectionText<'_>; 1] = [(1, "Long", "long", &texts)];
    let mut client = Client::connected(index(&[(b"long.md", &sections)])).await;
    let found = client
        .answered("search_docs", json!({"query": "thimble_rig"}))
        .await;
    assert_eq!(ids(&found), ["long.md#long~78"]);
    assert!(found.contains("thimble_rig stands"), "{found}");
    let (mut id, mut seen) = ("long.md#long".to_owned(), Vec::new());
    loop {
        let text = client.answered("get_section", json!({"id": id})).await;
        assert!(text.len() <= docs_server::DEFAULT_MAX_RESULT_BYTES);
        let (_, body) = text.split_once("\n\n").unwrap();
        let total = format!("\n\npart {} of {}, next: ", seen.len() + 1, texts.len());
        let Some((body, next)) = body.split_once(&total) else {
            seen.push(body.to_owned());
            break;
        };
        seen.push(body.to_owned());
        next.clone_into(&mut id);
    }
    let whole: Vec<&str> = texts.iter().map(|text| text.trim_end()).collect();
    assert_eq!(seen, whole);
}

#[tokio::test]
async fn a_number_is_read_as_it_is_meant_or_named_with_its_range() {
    let mut client = Client::connected(fixture::index()).await;
    let five = client
        .answered("search_docs", json!({"query": "flywheel", "k": 5}))
        .await;
    for k in [json!("5"), json!(5.0), json!(" 5 "), json!("5.0"), Value::Null] {
        let text = client
            .answered("search_docs", json!({"query": "flywheel", "k": k}))
            .await;
        assert_eq!(text, five, "{k}");
    }
    for (k, shown) in [
        (json!(0), "0"),
        (json!(-1), "-1"),
        (json!(1_000_000_000), "1000000000"),
        (json!(2.5), "2.5"),
        (json!("five"), "\"five\""),
        (json!(true), "true"),
        (json!([5]), "[5]"),
    ] {
        let text = client
            .refused("search_docs", json!({"query": "flywheel", "k": k}))
            .await;
        assert_eq!(text, format!("k is {shown}: it must be an integer from 1 to 50"));
    }
    let text = client.refused("search_docs", json!({"qurey": "flywheel"})).await;
    assert!(text.contains("\"query\"") && text.contains("\"qurey\""), "{text}");
}

#[tokio::test]
async fn the_usual_budget_holds_for_every_number_of_hits() {
    let mut client = Client::connected(fixture::index()).await;
    let mut cut = 0;
    for k in 1..=50 {
        let arguments = json!({"query": "flywheel turns", "k": k, "snippet_chars": 2000});
        let text = client.answered("search_docs", arguments).await;
        assert!(
            text.len() <= docs_server::DEFAULT_MAX_RESULT_BYTES,
            "{k}: {}",
            text.len()
        );
        cut += usize::from(text.contains("ask again with offset="));
    }
    assert!(cut > 0);
}

#[tokio::test]
async fn names_and_schemas_pass_the_strictest_client() {
    let mut client = Client::silent(fixture::index(), docs_server::DEFAULT_MAX_RESULT_BYTES);
    let hello = client.initialize("2025-11-25").await;
    let server = hello["result"]["serverInfo"]["name"].as_str().unwrap().to_owned();
    let listed = client
        .request("tools/list", json!({"_meta": modern_meta()}))
        .await;
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        assert!(name.bytes().all(is_plain), "{name}");
        let joined = format!("mcp__{server}__{name}");
        assert!(joined.len() <= 50, "{joined}");
        let schema = tool["inputSchema"].as_object().unwrap();
        let required = schema["required"].as_array().unwrap();
        for name in required {
            assert!(schema["properties"].get(name.as_str().unwrap()).is_some());
        }
        for property in schema["properties"].as_object().unwrap().values() {
            // Flat: each is one plain type.
            let kind = property["type"].as_str().unwrap();
            assert!(["string", "integer"].contains(&kind), "{property}");
            assert_eq!(property.get("properties"), None);
        }
    }
}

#[tokio::test]
async fn a_batch_is_answered_and_costs_nothing_else() {
    let mut client = Client::connected(fixture::index()).await;
    client
        .line("[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}]")
        .await;
    let refused = client.reply().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&Value::Null, &json!(-32_600))
    );
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
}
