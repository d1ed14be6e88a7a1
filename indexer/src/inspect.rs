//! `docs-indexer inspect`: what is in an index file.
//!
//! In: an index. Out: a page for people, or with `--json` one section a line, all of a document's sections together
//! in the order of the document; the parts of a section share its line.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use docs_index::{Document, Index, IndexSummary, ReadError, Record};
use serde::Serialize;

use crate::cli::InspectArgs;
use crate::output::Output;
use crate::report::{counted, number, on_one_line, path_for_people, size};
use crate::walk::common_folder;

/// Folders listed one by one for people.
const LISTED_FOLDERS: usize = 40;

/// A line of `inspect --json`, in the order of its keys.
#[derive(Debug, Serialize)]
struct SectionLine<'i> {
    id: String,
    path: &'i str,
    /// Of the document; left out where it is not known.
    #[serde(skip_serializing_if = "str::is_empty")]
    language: &'i str,
    level: u8,
    heading: &'i str,
    anchor: &'i str,
    heading_path: Vec<&'i str>,
    aliases: Vec<&'i str>,
    line_start: u32,
    line_end: u32,
    parts: u32,
    /// Of the section's text: what is repeated in its parts counts once.
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Prints what is in the index.
///
/// # Errors
/// Where it cannot be opened, read or printed.
pub fn run(arguments: &InspectArgs, output: &mut Output) -> Result<()> {
    let path = &arguments.index;
    let index = Index::open(path).with_context(|| path.display().to_string())?;
    if arguments.json || arguments.text {
        print_sections(&index, arguments.text, output)
    } else {
        print_summary(&index, output)
    }
    .with_context(|| path.display().to_string())
}

fn print_sections(index: &Index, with_text: bool, output: &mut Output) -> Result<()> {
    for document in documents(index) {
        let document = document?;
        let path = document.path_lossy();
        let mut next = document.first_record;
        let end = next.saturating_add(document.record_count);
        while next < end {
            let first = index.record(next)?;
            let line = section_line(index, &first, &path, with_text)?;
            output.json(&serde_json::to_string(&line)?)?;
            next = next.saturating_add(first.part_count.max(1));
        }
    }
    Ok(())
}

fn section_line<'i>(
    index: &Index,
    first: &Record<'i>,
    path: &'i str,
    with_text: bool,
) -> Result<SectionLine<'i>, ReadError> {
    let mut bytes = 0;
    let mut text = with_text.then(String::new);
    for number in first.number..first.number.saturating_add(first.part_count) {
        let part = index.record(number)?;
        let repeated = part.repeated_head.saturating_add(part.repeated_tail);
        bytes += u64::from(part.text_length.saturating_sub(repeated));
        if let Some(text) = &mut text {
            let stored = index.text(number)?;
            let end = stored.len().saturating_sub(part.repeated_tail as usize);
            text.push_str(stored.get(part.repeated_head as usize..end).unwrap_or_default());
        }
    }
    Ok(SectionLine {
        id: first.id(),
        path,
        language: first.document.language,
        level: first.level,
        heading: first.heading,
        anchor: first.anchor,
        heading_path: first.heading_path()?,
        aliases: first.aliases().collect(),
        line_start: first.line_start,
        line_end: first.line_end,
        parts: first.part_count,
        bytes,
        text,
    })
}

fn print_summary(index: &Index, output: &mut Output) -> Result<()> {
    for line in facts(&index.summary(), (index.synonyms()?, index.acronym_count()?)) {
        output.data(&line)?;
    }
    let documents = documents(index).collect::<Result<Vec<_>, ReadError>>()?;
    let shared = common_folder(documents.iter().map(|document| document.path));
    let mut folders: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for document in documents {
        let folder = folder_below(shared.len(), document.path);
        let (pages, parts) = folders.entry(folder).or_default();
        *pages += 1;
        *parts += u64::from(document.record_count);
    }
    if folders.len() > 1 {
        output.data("")?;
        for (folder, (pages, parts)) in folders.iter().take(LISTED_FOLDERS) {
            let folder = on_one_line(folder);
            output.data(&format!(
                "{folder:<32} {}, {}",
                counted(*pages, "document"),
                counted(*parts, "part")
            ))?;
        }
        let rest = folders.len().saturating_sub(LISTED_FOLDERS);
        if rest > 0 {
            output.data(&format!("… and {}", counted(rest, "more folder")))?;
        }
    }
    Ok(())
}

/// The facts of the file, one a line, names and values in two columns.
fn facts(summary: &IndexSummary, (synonyms, acronyms): (&str, usize)) -> Vec<String> {
    let mut facts: Vec<(&str, String)> = Vec::new();
    for (name, text) in [("title", &summary.title), ("description", &summary.description)] {
        if !text.is_empty() {
            facts.push((name, on_one_line(text).into_owned()));
        }
    }
    if let Some((number, count)) = summary.shard {
        facts.push((
            "shard",
            format!("{number} of {count}; merge all of them to search"),
        ));
    }
    facts.extend([
        ("documents", number(summary.documents)),
        ("sections", number(summary.sections)),
        ("parts", number(summary.records)),
        ("synonyms", counted(synonyms.lines().count(), "group")),
        ("acronyms", number(acronyms)),
        ("source", size(summary.source_bytes)),
        ("file", size(summary.file_bytes)),
        (
            "format",
            format!(
                "version {}, analyzer {}",
                summary.format_version, summary.analyzer_version
            ),
        ),
        ("content hash", summary.content_hash.clone()),
    ]);
    facts
        .into_iter()
        .map(|(name, value)| format!("{name:<13} {value}"))
        .collect()
}

fn documents(index: &Index) -> impl Iterator<Item = Result<Document<'_>, ReadError>> {
    (0..index.summary().documents).map(|number| index.document(number))
}

/// The folder of a path that is told apart for people: one level below the `shared` bytes, with its final `/`.
fn folder_below(shared: usize, path: &[u8]) -> String {
    let below = path.get(shared..).unwrap_or_default();
    let end = below
        .iter()
        .position(|&byte| byte == b'/')
        .map_or(shared, |slash| shared + slash + 1);
    match path_for_people(path.get(..end).unwrap_or_default()) {
        root if root.is_empty() => "./".to_owned(),
        folder => folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_apart_below_what_all_share() {
        for (shared, path, expected) in [
            ("", "a.md", "./"),
            ("", "guide/a.md", "guide/"),
            ("", "guide/deep/a.md", "guide/"),
            ("docs/en/", "docs/en/a.md", "docs/en/"),
            ("docs/en/", "docs/en/guide/deep/a.md", "docs/en/guide/"),
        ] {
            assert_eq!(folder_below(shared.len(), path.as_bytes()), expected, "{path}");
        }
    }
}
