//! Compiles a docs tree into an index.
//!
//! In: a folder and options. Out: a finished index, not yet on disk, and the report on it. Documents are read, split
//! and prepared in parallel, a batch at a time so that memory is bounded by the index and not by the tree; they
//! are added in the order of their paths. So the bytes depend on the tree and the options alone, never on the
//! number of threads or on the order in which the file system lists files.

use std::collections::HashMap;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use docs_index::{
    FinishedIndex, IndexOptions, IndexWriter, LinkTargets, PreparedDocument, SynonymError, SynonymList,
    WriteError, prepare,
};
use rayon::prelude::*;
use thiserror::Error;

use crate::flavour::Flavour;
use crate::include::IncludeRoots;
use crate::language::TreeLanguages;
use crate::link_check::{CheckedDocument, LinkCheck};
use crate::report::{BuildReport, Skipped, Warning, WarningKind, counted, path_for_people};
use crate::site::Site;
use crate::source_file::read_source;
use crate::split::{Tree, split_document, stem};
use crate::walk::{DOCUMENT_SUFFIXES, SourceFile, WalkError, WalkOptions, common_folder, native_path, walk};

/// Limits of a batch of documents: its source bytes, and its documents.
const BATCH_BYTES: u64 = 8 << 20;
const BATCH_DOCUMENTS: usize = 1024;

/// One of several shards of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub number: u32,
    /// How many there are.
    pub count: u32,
}

/// Which words mean the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Synonyms {
    /// Those of the list that comes with the program.
    #[default]
    BuiltIn,
    /// Those of the list in this file.
    File(PathBuf),
    /// None.
    Off,
}

/// What to compile, and how.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// The docs tree.
    pub tree: PathBuf,
    /// Which of its documents.
    pub walk: WalkOptions,
    /// Title of the whole; empty: that of the tree's first page.
    pub title: String,
    /// One sentence on the whole; may be empty.
    pub description: String,
    /// Whether texts of incoming links count for the section they point at.
    pub incoming: bool,
    /// zstd level of the stored text.
    pub compression_level: i32,
    /// Store the text as it is instead.
    pub raw_text: bool,
    /// Bytes above which a section is cut into parts.
    pub part_limit: u32,
    /// Whose rules name the headings; those of the tree's own configuration where this is none.
    pub anchors: Option<Flavour>,
    /// Address under which the tree is published; may be empty.
    pub base_url: String,
    /// Folders outside of the tree from which files may be included.
    pub include_roots: Vec<PathBuf>,
    /// Whether links to pages and headings of the tree are checked.
    pub check_links: bool,
    /// Addresses of the site made of the tree: links below them are links into the tree.
    pub url_prefixes: Vec<String>,
    /// Which words mean the same.
    pub synonyms: Synonyms,
    /// Build this shard of the tree only.
    pub shard: Option<Shard>,
    /// Threads to use; as many as there are cores where this is none.
    pub threads: Option<NonZeroUsize>,
}

/// What the build does at the moment, for a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The walk is done: this much lies ahead.
    Walked {
        /// Documents to read.
        documents: usize,
        /// Bytes to read.
        bytes: u64,
    },
    /// A document of so many bytes is done.
    Document {
        /// Its size.
        bytes: u64,
    },
    /// All documents are done; the index is put together.
    Finishing,
}

/// A compiled tree.
#[derive(Debug)]
pub struct Build {
    /// The index, not yet on disk. A tree without documents makes an empty one, and a warning.
    pub index: FinishedIndex,
    /// What to tell. `bytes_out` is 0 and `seconds` are those until now: whoever saves the index completes them.
    pub report: BuildReport,
}

/// Why a tree cannot be compiled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The tree cannot be walked.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A folder to include from cannot be reached.
    #[error("--include-root {} cannot be read", root.display())]
    IncludeRoot {
        /// The folder as given.
        root: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A list of synonyms cannot be read.
    #[error("--synonyms {} cannot be read", path.display())]
    SynonymFile {
        /// The file as given.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is no list of synonyms.
    #[error("{}{}", path.display(), line_of(source))]
    Synonyms {
        /// The file as given.
        path: PathBuf,
        /// What is wrong with it.
        source: SynonymError,
    },
    /// The system gives no threads.
    #[error("the worker threads cannot be started")]
    Threads(#[source] rayon::ThreadPoolBuildError),
    /// A document does not fit into the index.
    #[error("{path} cannot be indexed")]
    Document {
        /// Its path in the tree.
        path: String,
        /// What the index says.
        source: WriteError,
    },
    /// The index cannot be put together.
    #[error("the index cannot be put together")]
    Finish(#[source] WriteError),
}

/// `:LINE` of what is wrong with a list.
fn line_of(error: &SynonymError) -> String {
    error.line().map(|line| format!(":{line}")).unwrap_or_default()
}

/// The list to use, read from its file.
fn synonym_list(synonyms: &Synonyms) -> Result<SynonymList, BuildError> {
    match synonyms {
        Synonyms::BuiltIn => Ok(SynonymList::default()),
        Synonyms::Off => Ok(SynonymList::none()),
        Synonyms::File(path) => {
            let text = read_list(path).map_err(|source| BuildError::SynonymFile {
                path: path.clone(),
                source,
            })?;
            SynonymList::parse(&text).map_err(|source| BuildError::Synonyms {
                path: path.clone(),
                source,
            })
        }
    }
}

/// The text of a list; of one that is too long as much as shows that it is.
fn read_list(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let limit = SynonymList::BYTE_LIMIT as u64 + 4;
    std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > SynonymList::BYTE_LIMIT {
        // Where it was cut need not be the end of a character.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes)
        .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Compiles the tree.
///
/// # Errors
/// Where the tree cannot be walked or the index cannot hold it. A document that cannot be read is a warning.
pub fn build(options: &BuildOptions, progress: &(dyn Fn(Progress) + Sync)) -> Result<Build, BuildError> {
    let begin = std::time::Instant::now();
    let synonyms = synonym_list(&options.synonyms)?;
    let mut found = walk(&options.tree, &options.walk)?;
    let (site, site_warnings) = Site::detect(&options.tree);
    found.warnings.extend(site_warnings);
    let flavour = options.anchors.or(site.flavour).unwrap_or_default();
    let index_options = IndexOptions {
        title: options.title.clone(),
        description: options.description.clone(),
        path_prefix: common_folder(found.files.iter().map(|file| file.path_in_tree.as_slice())),
        incoming: options.incoming,
        raw_text: options.raw_text,
        compression_level: options.compression_level,
        part_limit: options.part_limit,
        configuration: format!(
            "anchors={flavour} mdx={} myst={} obsidian={} url={}{}",
            site.markdown_is_mdx,
            site.myst,
            site.obsidian,
            options.base_url,
            language_setting(&site.language)
        ),
        synonyms,
    };
    // Links lead into all of the tree, whatever is built of it.
    let paths: Vec<Vec<u8>> = found.files.iter().map(|file| file.path_in_tree.clone()).collect();
    let targets = LinkTargets::new(paths.iter().map(Vec::as_slice));
    let names = unique_names(&paths);
    let languages = TreeLanguages::new(&paths, &site.language);
    let includes = IncludeRoots::new(
        &options.tree,
        site.folder.as_deref(),
        &site.snippet_folders,
        &options.include_roots,
        options.walk.max_file_size,
    )
    .map_err(|error| BuildError::IncludeRoot {
        root: error.root,
        source: error.source,
    })?;
    let exists = |place: &[u8]| options.tree.join(native_path(place)).exists();
    let link_check = options
        .check_links
        .then(|| LinkCheck::new(&targets, &options.url_prefixes, &exists));
    let tree = Tree {
        part_limit: options.part_limit as usize,
        flavour,
        markdown_is_mdx: site.markdown_is_mdx,
        is_myst: site.myst,
        is_obsidian: site.obsidian,
        check_links: options.check_links,
        includes: Some(&includes),
        base_url: &options.base_url,
        targets: &targets,
        names: &names,
        languages: &languages,
    };
    if let Some(shard) = options.shard {
        found.files = shard_of(found.files, shard);
    }
    progress(Progress::Walked {
        documents: found.files.len(),
        bytes: found.files.iter().map(|file| file.bytes).sum(),
    });
    let threads = options.threads.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(BuildError::Threads)?;

    let mut report = BuildReport {
        skipped: found.skipped,
        warnings: found.warnings,
        ..BuildReport::default()
    };
    let mut checked = Vec::new();
    let mut writer = IndexWriter::new(index_options.clone());
    pool.install(|| {
        let reader = DocumentReader {
            options,
            tree: &tree,
            link_check: link_check.as_ref(),
            index_options: &index_options,
            progress,
        };
        let mut ready = Vec::new();
        // While one batch is added in order, the next one is prepared.
        for batch in batches(&found.files) {
            let (next, added) = rayon::join(
                || batch.par_iter().map(|file| reader.read(file)).collect::<Vec<_>>(),
                || add(&mut writer, &mut report, &mut checked, std::mem::take(&mut ready)),
            );
            added?;
            ready = next;
        }
        add(&mut writer, &mut report, &mut checked, ready)
    })?;
    if let Some(check) = &link_check {
        report.warnings.extend(check.finish(checked).warnings);
    }
    if report.documents == 0 && options.shard.is_none() {
        report.warnings.push(no_documents(&report));
    }
    report.skipped.sort();
    report.warnings.sort();

    progress(Progress::Finishing);
    let index = match options.shard {
        Some(shard) => writer.finish_shard(shard.number, shard.count),
        None => pool.install(|| writer.finish()),
    }
    .map_err(BuildError::Finish)?;
    report.seconds = begin.elapsed().as_secs_f64();
    Ok(Build { index, report })
}

/// An empty index is rarely what was meant.
fn no_documents(report: &BuildReport) -> Warning {
    let suffixes = DOCUMENT_SUFFIXES.map(|suffix| format!(".{suffix}")).join(", ");
    let left_out = match report.skipped.len() {
        0 => String::new(),
        count => format!(", {} left out", counted(count, "path")),
    };
    let message = format!("no document found (looked for {suffixes}{left_out}); the index is empty");
    Warning::new(WarningKind::NoDocuments, ".".to_owned(), None, message)
}

/// How the options name the language that the site's configuration does; a site that names none has no setting.
fn language_setting(language: &str) -> String {
    if language.is_empty() {
        String::new()
    } else {
        format!(" language={language}")
    }
}

/// The documents by their names without ending, in lower case; only names that one document has.
fn unique_names(paths: &[Vec<u8>]) -> HashMap<String, u32> {
    let mut names: HashMap<String, Option<u32>> = HashMap::new();
    for (path, number) in paths.iter().zip(0..) {
        names
            .entry(stem(path).to_lowercase())
            .and_modify(|found| *found = None)
            .or_insert(Some(number));
    }
    names
        .into_iter()
        .filter_map(|(name, number)| Some((name, number?)))
        .collect()
}

/// What became of one file.
struct Outcome {
    path: String,
    bytes: u64,
    warnings: Vec<Warning>,
    sections: usize,
    links: Option<CheckedDocument>,
    result: Result<PreparedDocument, NoDocument>,
}

/// Why a file gives no document.
enum NoDocument {
    LeftOut(String),
    Refused(WriteError),
}

struct DocumentReader<'b> {
    options: &'b BuildOptions,
    tree: &'b Tree<'b>,
    link_check: Option<&'b LinkCheck<'b>>,
    index_options: &'b IndexOptions,
    progress: &'b (dyn Fn(Progress) + Sync),
}

impl DocumentReader<'_> {
    fn read(&self, file: &SourceFile) -> Outcome {
        let path = path_for_people(&file.path_in_tree);
        let mut warnings = Vec::new();
        let mut bytes = 0;
        let mut sections = 0;
        let mut links = None;
        let result = match read_source(file, self.options.walk.max_file_size) {
            Err(error) => {
                warnings.push(error.warning(path.clone()));
                Err(NoDocument::LeftOut(error.to_string()))
            }
            Ok(source) => {
                warnings.extend(source.warning(path.clone()));
                let source = source.bytes;
                bytes = source.len() as u64;
                match split_document(&file.path_in_tree, &source, self.tree) {
                    Ok(split) => {
                        warnings.extend(split.warnings);
                        sections = split.document.sections.len();
                        let facts = self.link_check.zip(split.link_facts);
                        links = facts.map(|(check, facts)| check.document(&file.path_in_tree, facts));
                        prepare(&split.document, self.index_options).map_err(NoDocument::Refused)
                    }
                    Err(skip) => Err(NoDocument::LeftOut(skip.to_string())),
                }
            }
        };
        (self.progress)(Progress::Document { bytes: file.bytes });
        Outcome {
            path,
            bytes,
            warnings,
            sections,
            links,
            result,
        }
    }
}

fn add(
    writer: &mut IndexWriter,
    report: &mut BuildReport,
    checked: &mut Vec<CheckedDocument>,
    batch: Vec<Outcome>,
) -> Result<(), BuildError> {
    for Outcome {
        path,
        bytes,
        warnings,
        sections,
        links,
        result,
    } in batch
    {
        report.warnings.extend(warnings);
        checked.extend(links);
        match result {
            Ok(document) => {
                writer
                    .add(document)
                    .map_err(|source| BuildError::Document { path, source })?;
                report.documents += 1;
                report.sections += sections as u64;
                report.bytes_in += bytes;
            }
            Err(NoDocument::LeftOut(reason)) => report.skipped.push(Skipped { path, reason }),
            Err(NoDocument::Refused(source)) => return Err(BuildError::Document { path, source }),
        }
    }
    Ok(())
}

/// Cuts the files into batches that bound how much is in memory at once.
fn batches(mut files: &[SourceFile]) -> impl Iterator<Item = &[SourceFile]> {
    std::iter::from_fn(move || {
        let mut bytes = 0u64;
        let fits = |file: &&SourceFile| {
            bytes = bytes.saturating_add(file.bytes);
            bytes <= BATCH_BYTES
        };
        let count = files.iter().take(BATCH_DOCUMENTS).take_while(fits).count().max(1);
        let (batch, rest) = files.split_at_checked(count)?;
        files = rest;
        Some(batch)
    })
}

/// The contiguous range of the sorted files that is this shard's: a file belongs where its first byte falls when
/// all files laid end to end are cut into equal lengths. So every shard knows the cuts without knowing the others.
fn shard_of(files: Vec<SourceFile>, shard: Shard) -> Vec<SourceFile> {
    let total: u128 = files.iter().map(|file| u128::from(file.bytes)).sum();
    let count = u128::from(shard.count);
    let mut position: u128 = 0;
    let belongs = |file: &SourceFile| {
        let slot = (position * count).checked_div(total).unwrap_or(0).min(count - 1);
        position += u128::from(file.bytes);
        slot + 1 == u128::from(shard.number)
    };
    let chosen: Vec<bool> = files.iter().map(belongs).collect();
    files
        .into_iter()
        .zip(chosen)
        .filter_map(|(file, chosen)| chosen.then_some(file))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(sizes: &[u64]) -> Vec<SourceFile> {
        let file = |(index, &bytes): (usize, &u64)| SourceFile {
            path_in_tree: format!("{index:04}.md").into_bytes(),
            absolute: PathBuf::new(),
            bytes,
        };
        sizes.iter().enumerate().map(file).collect()
    }

    #[test]
    fn shards_are_contiguous_and_together_the_whole() {
        for sizes in [
            vec![],
            vec![0],
            vec![0, 0, 0],
            vec![5],
            vec![1, 1000, 1, 0, 7, 0],
            vec![10; 100],
        ] {
            for count in [1, 2, 3, 8, 64] {
                let whole = files(&sizes);
                let parts = (1..=count).flat_map(|number| shard_of(whole.clone(), Shard { number, count }));
                assert_eq!(parts.collect::<Vec<_>>(), whole, "{sizes:?} in {count}");
            }
        }
    }

    #[test]
    fn shards_are_balanced_by_bytes() {
        let whole = files(&[10; 100]);
        for number in 1..=4 {
            assert_eq!(shard_of(whole.clone(), Shard { number, count: 4 }).len(), 25);
        }
        let lopsided = files(&[1000, 1, 1, 1]);
        assert_eq!(shard_of(lopsided, Shard { number: 1, count: 2 }).len(), 1);
    }

    #[test]
    fn batches_are_bounded_and_lose_nothing() {
        let whole = files(&[BATCH_BYTES, 1, BATCH_BYTES + 1, 3, 4, BATCH_BYTES - 7]);
        let lengths: Vec<usize> = batches(&whole).map(<[_]>::len).collect();
        assert_eq!(lengths, [1, 1, 1, 3]);
        let many = files(&vec![0; 2500]);
        let lengths: Vec<usize> = batches(&many).map(<[_]>::len).collect();
        assert_eq!(lengths, [1024, 1024, 452]);
        assert_eq!(batches(&[]).count(), 0);
    }
}
