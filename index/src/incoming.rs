//! Finds where links point, when all documents are known.
//!
//! In: links as they were written (path arithmetic already done), and the documents with their anchors. Out:
//! for each record that is pointed at, the texts of the links to it, each text once, in the order of the
//! linking records.

use crate::{
    format::{link_table::StoredLink, section_table::lines},
    prepare::{StoredDocument, StoredRecord},
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Endings of documents, in the order in which a link without one is tried.
const ENDINGS: [&str; 3] = [".md", ".mdx", ".markdown"];
/// Names of a folder's own page.
const FOLDER_PAGES: [&str; 3] = ["index", "README", "_index"];

/// Texts of the links to each record.
pub(crate) fn resolve<'l>(
    links: &'l [StoredLink],
    documents: &[StoredDocument],
    records: &[StoredRecord],
    path_prefix: &[u8],
) -> BTreeMap<u32, Vec<&'l str>> {
    let targets = Targets::new(documents, records, path_prefix);
    let mut texts: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    let mut seen = FxHashSet::default();
    for link in links {
        let Some(target) = targets.find(link) else {
            continue;
        };
        let source = &records[link.record as usize];
        let is_own = records[target as usize].document == source.document
            && records[target as usize].anchor == source.anchor;
        if is_own || link.text.is_empty() {
            continue;
        }
        if seen.insert((target, link.text.as_str())) {
            texts.entry(target).or_default().push(&link.text);
        }
    }
    texts
}

struct Targets<'d> {
    documents: FxHashMap<&'d [u8], &'d StoredDocument>,
    records: &'d [StoredRecord],
    path_prefix: &'d [u8],
}

impl<'d> Targets<'d> {
    fn new(documents: &'d [StoredDocument], records: &'d [StoredRecord], path_prefix: &'d [u8]) -> Self {
        let documents = documents
            .iter()
            .map(|document| (document.path.as_slice(), document))
            .collect();
        Self {
            documents,
            records,
            path_prefix,
        }
    }

    /// The first record of the section that a link names; of the page, if it has no such section.
    fn find(&self, link: &StoredLink) -> Option<u32> {
        let document = self.document(&link.path)?;
        if link.fragment.is_empty() {
            return Some(document.first_record);
        }
        let first = document.first_record as usize;
        let records = &self.records[first..first + document.record_count as usize];
        let place = records
            .iter()
            .position(|record| record.anchor == link.fragment)
            .or_else(|| {
                records
                    .iter()
                    .position(|r| lines(&r.aliases).any(|alias| alias == link.fragment))
            })
            .or_else(|| {
                records
                    .iter()
                    .position(|r| r.anchor.to_lowercase() == link.fragment.to_lowercase())
            })
            .unwrap_or(0);
        Some((first + place) as u32)
    }

    fn document(&self, path: &[u8]) -> Option<&'d StoredDocument> {
        self.under(path).or_else(|| {
            // A path from the site's root says nothing of the folders that all sources stand in.
            if self.path_prefix.is_empty() {
                None
            } else {
                self.under(&[self.path_prefix, path].concat())
            }
        })
    }

    fn under(&self, path: &[u8]) -> Option<&'d StoredDocument> {
        let found = |candidate: &[u8]| self.documents.get(candidate).copied();
        let with = |stem: &[u8], name: &str| {
            ENDINGS
                .iter()
                .find_map(|ending| found(&[stem, name.as_bytes(), ending.as_bytes()].concat()))
        };
        if let Some(document) = found(path) {
            return Some(document);
        }
        let page = path.strip_suffix(b".html").unwrap_or(path);
        let folder = page.strip_suffix(b"/").unwrap_or(page);
        if folder.is_empty() {
            return FOLDER_PAGES.iter().find_map(|name| with(b"", name));
        }
        with(folder, "").or_else(|| {
            let inside = [folder, b"/"].concat();
            FOLDER_PAGES.iter().find_map(|name| with(&inside, name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(record: u32, path: &str, fragment: &str, text: &str) -> StoredLink {
        StoredLink {
            record,
            path: path.into(),
            fragment: fragment.into(),
            text: text.into(),
        }
    }

    /// Two records a document: `top` and `sub` (alias `old`).
    fn tree(paths: &[&str]) -> (Vec<StoredDocument>, Vec<StoredRecord>) {
        let mut records = Vec::new();
        let documents = paths
            .iter()
            .enumerate()
            .map(|(number, path)| {
                let first_record = records.len() as u32;
                for (anchor, aliases) in [("top", ""), ("sub", "old\nolder")] {
                    records.push(StoredRecord {
                        anchor: anchor.into(),
                        aliases: aliases.into(),
                        document: number as u32,
                        ..StoredRecord::default()
                    });
                }
                StoredDocument {
                    path: path.as_bytes().to_vec(),
                    first_record,
                    record_count: 2,
                    ..Default::default()
                }
            })
            .collect();
        (documents, records)
    }

    #[test]
    fn links_find_their_sections() {
        let (documents, records) = tree(&[
            "docs/a.md",
            "docs/b/index.mdx",
            "docs/b/c.markdown",
            "docs/index.md",
        ]);
        let targets = Targets::new(&documents, &records, b"docs/");
        for (path, fragment, expected) in [
            ("docs/a.md", "", Some(0)),
            ("docs/a.md", "sub", Some(1)),
            ("docs/a.md", "older", Some(1)),
            ("docs/a.md", "SUB", Some(1)),
            ("docs/a.md", "gone", Some(0)),
            ("docs/a", "sub", Some(1)),
            ("docs/a/", "", Some(0)),
            ("docs/a.html", "", Some(0)),
            ("docs/b/", "", Some(2)),
            ("docs/b", "sub", Some(3)),
            ("docs/b/c", "", Some(4)),
            ("b/c", "", Some(4)),
            ("", "", Some(6)),
            ("docs/gone.md", "", None),
        ] {
            assert_eq!(
                targets.find(&link(0, path, fragment, "x")),
                expected,
                "{path}#{fragment}"
            );
        }
    }

    #[test]
    fn texts_are_kept_once_and_not_from_the_section_itself() {
        let (documents, records) = tree(&["a.md", "b.md"]);
        let links = [
            link(0, "b.md", "sub", "two"),
            link(1, "b.md", "sub", "one"),
            link(2, "b.md", "sub", "two"),
            link(3, "b.md", "sub", "own"),
            link(2, "a.md", "", ""),
            link(2, "nowhere.md", "", "lost"),
        ];
        let texts = resolve(&links, &documents, &records, b"");
        assert_eq!(texts.into_iter().collect::<Vec<_>>(), [(3, vec!["two", "one"])]);
    }
}
