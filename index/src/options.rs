//! What decides the bytes of an index beside its documents.

use crate::{
    format::checksum::{Hash, blake2b},
    search::synonyms::SynonymList,
};

/// Options of a build. Shards can be merged only if they were built with the same ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexOptions {
    /// Title of the whole corpus; empty: the title of the tree's first page (index, README).
    pub title: String,
    /// One sentence on the corpus; may be empty.
    pub description: String,
    /// Folders that all documents of the tree share, with the final `/`: not part of a path's words.
    pub path_prefix: Vec<u8>,
    /// Whether the texts of incoming links are a field of the record they point at.
    pub incoming: bool,
    /// Store text blocks as they are instead of packing them with zstd.
    pub raw_text: bool,
    /// zstd level of the text blocks.
    pub compression_level: i32,
    /// Bytes of text over which the caller cuts a section into parts. Recorded only.
    pub part_limit: u32,
    /// Whatever else of the caller's configuration decides how documents become sections. Recorded only.
    pub configuration: String,
    /// Words that mean the same.
    pub synonyms: SynonymList,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            title: String::new(),
            description: String::new(),
            path_prefix: Vec::new(),
            incoming: true,
            raw_text: false,
            compression_level: 9,
            part_limit: 6000,
            configuration: String::new(),
            synonyms: SynonymList::default(),
        }
    }
}

impl IndexOptions {
    /// The options hash of the header. Spec chapter 2.
    pub(crate) fn hash(&self) -> Hash {
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        for text in [
            self.title.as_bytes(),
            self.description.as_bytes(),
            &self.path_prefix,
            self.configuration.as_bytes(),
            self.synonyms.as_str().as_bytes(),
        ] {
            pieces.push((text.len() as u64).to_le_bytes().to_vec());
            pieces.push(text.to_vec());
        }
        pieces.push(vec![u8::from(self.incoming), u8::from(self.raw_text)]);
        pieces.push(self.compression_level.to_le_bytes().to_vec());
        pieces.push(self.part_limit.to_le_bytes().to_vec());
        blake2b(&pieces.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}
