//! Makes index files: from documents, or from shards.
//!
//! A finished file appears under its name whole or not at all: it is written beside it, synced, and renamed.

use crate::{
    content::Content,
    error::{MergeError, ReadError, WriteError},
    format::layout,
    options::IndexOptions,
    prepare::PreparedDocument,
    reader::{Index, IndexSummary},
    shard::AppendError,
};
use std::{fs::File, io, io::Write as _, path::Path};

/// Collects the documents of an index.
#[derive(Debug)]
pub struct IndexWriter {
    content: Content,
}

impl IndexWriter {
    /// A writer without documents.
    pub fn new(options: IndexOptions) -> Self {
        Self {
            content: Content::new(options),
        }
    }

    /// Adds a document. Documents must come in ascending order of their path's bytes.
    ///
    /// # Errors
    ///
    /// [`WriteError::Order`], [`WriteError::TooManyRecords`].
    pub fn add(&mut self, document: PreparedDocument) -> Result<(), WriteError> {
        self.content.append(document)
    }

    /// The whole index.
    ///
    /// # Errors
    ///
    /// [`WriteError::Dictionary`].
    pub fn finish(self) -> Result<FinishedIndex, WriteError> {
        self.content.finish(None).map(|bytes| FinishedIndex { bytes })
    }

    /// One shard of a build, `number` from 1 to `count`: to be merged, not searched.
    ///
    /// # Errors
    ///
    /// [`WriteError::Shard`], [`WriteError::Dictionary`].
    pub fn finish_shard(self, number: u32, count: u32) -> Result<FinishedIndex, WriteError> {
        if !(1..=count).contains(&number) {
            return Err(WriteError::Shard { number, count });
        }
        self.content
            .finish(Some((number, count)))
            .map(|bytes| FinishedIndex { bytes })
    }
}

/// Merges the shards of one build, given in any order. The bytes are those of the build made at once.
///
/// # Errors
///
/// [`MergeError`]: shards missing, given twice, of different builds, or damaged.
pub fn merge(shards: &[Index]) -> Result<FinishedIndex, MergeError> {
    let ordered = in_order(shards)?;
    // What is taken over is not checked again: a shard may come from anywhere.
    for &(shard, position) in &ordered {
        shard
            .verify()
            .map_err(|source| MergeError::Damaged { position, source })?;
    }
    let damaged = |position| {
        move |source: ReadError| MergeError::Damaged {
            position,
            source: source.into(),
        }
    };
    let Some(&(first, position)) = ordered.first() else {
        return Err(MergeError::Nothing);
    };
    let mut content = Content::new(first.options().map_err(damaged(position))?);
    for (shard, position) in ordered {
        shard.append_to(&mut content).map_err(|failure| match failure {
            AppendError::Read(source) => damaged(position)(source),
            AppendError::Write(error) => MergeError::Write(error),
        })?;
    }
    content
        .finish(None)
        .map(|bytes| FinishedIndex { bytes })
        .map_err(MergeError::Write)
}

/// The shards by their numbers, each with its position among the files given.
fn in_order(shards: &[Index]) -> Result<Vec<(&Index, usize)>, MergeError> {
    let mut numbered = Vec::with_capacity(shards.len());
    for (shard, position) in shards.iter().zip(1..) {
        let Some((number, count)) = shard.header().shard else {
            return Err(MergeError::NotAShard { position });
        };
        let (header, expected) = (shard.header(), shards[0].header());
        for (differs, what) in [
            (
                Some(count) != expected.shard.map(|(_, count)| count),
                "number of shards",
            ),
            (header.options_hash != expected.options_hash, "set of options"),
        ] {
            if differs {
                return Err(MergeError::Mismatch { position, what });
            }
        }
        let own = (layout::unicode_version(), layout::normalization_version());
        if (header.unicode_version, header.normalization_version) != own {
            return Err(MergeError::Unicode { position });
        }
        numbered.push((number, count, shard, position));
    }
    numbered.sort_by_key(|&(number, ..)| number);
    let count = numbered.first().ok_or(MergeError::Nothing)?.1;
    let mut expected = 1;
    for &(number, ..) in &numbered {
        if number < expected {
            return Err(MergeError::Twice { number, count });
        }
        if number > expected {
            return Err(MergeError::Missing {
                number: expected,
                count,
            });
        }
        expected += 1;
    }
    if expected <= count {
        return Err(MergeError::Missing {
            number: expected,
            count,
        });
    }
    Ok(numbered
        .into_iter()
        .map(|(_, _, shard, position)| (shard, position))
        .collect())
}

/// The bytes of an index that is not yet on disk.
pub struct FinishedIndex {
    bytes: Vec<u8>,
}

impl std::fmt::Debug for FinishedIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FinishedIndex({} bytes)", self.bytes.len())
    }
}

impl FinishedIndex {
    /// The file's bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The file's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Opens the index where it is, in memory.
    ///
    /// # Errors
    ///
    /// None for a finished index; the signature is that of opening.
    pub fn open(self) -> Result<Index, crate::error::OpenError> {
        Index::from_bytes(self.bytes)
    }

    /// Counts and hashes, as [`Index::summary`] of the saved file would give them.
    ///
    /// # Errors
    ///
    /// None for a finished index; the signature is that of opening.
    pub fn summary(&self) -> Result<IndexSummary, crate::error::OpenError> {
        crate::reader::summary_of(&self.bytes)
    }

    /// Saves the file under `path`, whole or not at all: written beside it, synced, renamed over it. What
    /// stood there stays as it was if anything fails.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`].
    pub fn save(&self, path: &Path) -> Result<(), WriteError> {
        self.replace(path).map_err(|source| WriteError::Io {
            path: path.to_owned(),
            source,
        })
    }

    fn replace(&self, path: &Path) -> io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".docs-index-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // A temporary file is private by default; an index is as readable as any other new file.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(&self.bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        // The rename itself is on disk once the folder is; not every system can sync one.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}
