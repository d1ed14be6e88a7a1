//! Any string is a query.

use std::collections::HashSet;
use std::sync::LazyLock;

use docs_index::{Index, IndexOptions, IndexWriter, SearchRequest, SynonymList, prepare};
use docs_indexer::flavour::Flavour;
use docs_indexer::split::split_alone;

/// Pages in path order: languages, scripts, code, tables, links, acronyms, parts, and headings alike.
const PAGES: &[(&str, &str)] = &[
    (
        "de/hochladen.md",
        "---\nlang: de\n---\n# Dateien hochladen\n\nGroße Dateien werden in Stücken übertragen. Siehe [Formulare](../en/forms.md).\n",
    ),
    (
        "en/changelog.md",
        "# Changelog\n\n## 2.1.34\n\n* `readConfigFile` reads *two* files\n* upload fixes\n\n## 2.1.33\n\nNothing. C++, C# and .NET as before.\n",
    ),
    (
        "en/forms.md",
        "# Forms\n\nThe Deep Text Field (DTF) takes text; a form has a file field, see [upload](upload.md#limits \"how much\").\n\n## Fields\n\n| field | size | note |\n|---|---|---|\n| `name` | 20 | all a person's *names* |\n| `file` | 5 MB | delete it with `rm -f` |\n\n## See also\n\n- [Upload a file](upload.md)\n",
    ),
    (
        "en/upload.md",
        "# Upload a file\n\n> [!NOTE]\n> Send it in pieces of `1024` bytes, ``with `ticks` `` as they are.\n\n```sh\ncurl -X POST --data-binary @file https://example.org/x/y?z=1\n```\n\n## Limits\n\nA limit of 5 MB holds. Delete old files first. The limit is a `MAX_POOL_SIZE` of std::vec::Vec, and of `a|b`.\n\n### Limits\n\nThe DTF has none. e\u{301}te\u{301} \u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} naïve ﬁne.\n",
    ),
    (
        "ja/検索.md",
        "# 全文検索\n\n高速な形態素解析器を導入する。执行run-etlx后重启。설치방법 문서를 읽는다。\n\n## 設定\n\nاختبار البحث и поиск файлов.\n",
    ),
];

fn build() -> Index {
    let options = IndexOptions {
        synonyms: SynonymList::parse("delete, remove\nupload send").expect("a list of synonyms"),
        ..IndexOptions::default()
    };
    let mut writer = IndexWriter::new(options.clone());
    for (path, text) in PAGES {
        // Some pages are cut into parts.
        let split =
            split_alone(path.as_bytes(), text.as_bytes(), 120, Flavour::Github).expect("a page with text");
        let prepared = prepare(&split.document, &options).expect("a document");
        writer.add(prepared).expect("pages in order");
    }
    let finished = writer.finish().expect("an index");
    finished.open().expect("an index")
}

/// An answer is one whatever is asked: hits in order and within their limits, and the same explained.
///
/// The first byte of the input chooses the settings, the rest is the query.
///
/// # Panics
///
/// Where that does not hold.
pub fn search_query(input: &[u8]) {
    let Some((&settings, query)) = input.split_first() else {
        return;
    };
    search(&String::from_utf8_lossy(query), settings);
}

/// As [`search_query`], of a text.
///
/// # Panics
///
/// Where an answer is not as it must be.
pub fn search(query: &str, settings: u8) {
    static INDEX: LazyLock<Index> = LazyLock::new(build);
    let index = &*INDEX;
    let request = SearchRequest {
        query,
        limit: [1, 3, 10, usize::MAX][usize::from(settings & 3)],
        offset: [0, 0, 2, usize::MAX][usize::from(settings >> 2 & 3)],
        grouped: settings >> 4 & 1 == 0,
        snippet_chars: [200, 7, 0, 1][usize::from(settings >> 5 & 3)],
        path_prefix: (settings >> 7 == 1).then(|| [query, "en/"][usize::from(settings & 1)]),
    };
    let results = index.search(&request).expect("no query is an error");
    assert!(results.hits.len() <= request.limit);
    let ids: Vec<String> = results
        .hits
        .iter()
        .map(|hit| index.record(hit.record).expect("a record").section_id())
        .collect();
    let distinct: HashSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    for hit in &results.hits {
        assert!(hit.score.is_finite() && hit.score > 0.0, "{hit:?}");
        assert!(hit.snippet.chars().count() <= request.snippet_chars, "{hit:?}");
        assert!(!hit.snippet.contains(['\n', '\r']), "{hit:?}");
        assert_eq!(hit.snippet.matches('`').count() % 2, 0, "{hit:?}");
    }
    if !request.grouped {
        assert!(
            results.hits.is_sorted_by(|a, b| a.score >= b.score),
            "{:?}",
            results.hits
        );
    }
    let explained = index.explain(&request).expect("no query is an error");
    assert_eq!(explained.len(), results.hits.len());
    for (hit, explained) in results.hits.iter().zip(&explained) {
        assert_eq!(hit.record, explained.record);
        assert_eq!(hit.score.to_bits(), explained.total.to_bits(), "{explained:?}");
    }
}
