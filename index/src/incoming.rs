//! Finds where links point, when all documents are known.
//!
//! In: links as they were written, and the documents with their anchors. Out: for each record that is pointed at,
//! the texts of the links to it, each text once, in the order of the linking records.

use crate::{
    format::{link_table::StoredLink, section_table::lines},
    link_target::LinkTargets,
    prepare::{StoredDocument, StoredRecord},
};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Texts of the links to each record.
pub(crate) fn resolve<'l>(
    links: &'l [StoredLink],
    documents: &[StoredDocument],
    records: &[StoredRecord],
) -> BTreeMap<u32, Vec<&'l str>> {
    let targets = Targets::new(documents, records);
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
    documents: &'d [StoredDocument],
    by_path: LinkTargets<'d>,
    records: &'d [StoredRecord],
}

impl<'d> Targets<'d> {
    fn new(documents: &'d [StoredDocument], records: &'d [StoredRecord]) -> Self {
        Self {
            documents,
            by_path: LinkTargets::new(documents.iter().map(|document| document.path.as_slice())),
            records,
        }
    }

    /// The first record of the section that a link names; of the page, if it has no such section.
    fn find(&self, link: &StoredLink) -> Option<u32> {
        let from = &self.documents[self.records[link.record as usize].document as usize];
        let document = &self.documents[self.by_path.find(&link.path, &from.path)? as usize];
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
        let (documents, records) = tree(&["docs/a.md", "docs/b/index.mdx", "docs/b/c.markdown"]);
        let targets = Targets::new(&documents, &records);
        for (record, path, fragment, expected) in [
            (2, "../a.md", "", Some(0)),
            (2, "../a.md", "sub", Some(1)),
            (2, "../a.md", "older", Some(1)),
            (2, "../a.md", "SUB", Some(1)),
            (2, "../a.md", "gone", Some(0)),
            (2, "", "sub", Some(3)),
            (3, "", "", Some(2)),
            (4, "./", "sub", Some(3)),
            (0, "/b/c", "", Some(4)),
            (0, "docs/a.md", "", None),
        ] {
            assert_eq!(
                targets.find(&link(record, path, fragment, "x")),
                expected,
                "{path}#{fragment} from {record}"
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
        let texts = resolve(&links, &documents, &records);
        assert_eq!(texts.into_iter().collect::<Vec<_>>(), [(3, vec!["two", "one"])]);
    }
}
