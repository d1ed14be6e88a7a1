//! Counts, field statistics and options of the whole index: one flat rkyv record. Spec chapter 4.
//!
//! Its five strings (title, description, path prefix, configuration, synonyms) stand at the start of the string heap,
//! one after the other; their lengths are here.

use super::layout::Tag;
use crate::{error::ReadError, search::language::LanguageSet};
use rkyv::{Archive, Serialize, rancor};

/// The fields that have a length of their own; prose, inline code, link text and code blocks share `Body`.
/// The numbers are places in [`Metadata::lengths`]. Spec chapter 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LengthKind {
    Heading = 0,
    Body = 1,
    Incoming = 2,
    FrontMatter = 3,
    Title = 4,
    Path = 5,
}

impl LengthKind {
    pub(crate) const COUNT: usize = 6;
}

/// Sum and number of the lengths of one kind, over the records or documents that have any term there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Archive, Serialize)]
#[rkyv(derive(Debug))]
pub(crate) struct LengthTotal {
    /// Terms in all.
    pub(crate) terms: u64,
    /// Records or documents with at least one.
    pub(crate) present: u32,
}

impl LengthTotal {
    pub(crate) fn add(&mut self, length: u32) {
        self.terms = self.terms.saturating_add(u64::from(length));
        self.present = self.present.saturating_add(u32::from(length > 0));
    }

    /// Average length where the field is present; 1 where it never is.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a score does not need more than 24 bits"
    )]
    pub(crate) fn average(self) -> f32 {
        if self.present == 0 || self.terms == 0 {
            1.0
        } else {
            self.terms as f32 / self.present as f32
        }
    }
}

/// The record of region META.
#[derive(Debug, Clone, Default, PartialEq, Eq, Archive, Serialize)]
#[rkyv(derive(Debug))]
pub(crate) struct Metadata {
    pub(crate) documents: u32,
    pub(crate) records: u32,
    pub(crate) sections: u32,
    pub(crate) part_limit: u32,
    pub(crate) source_bytes: u64,
    pub(crate) terms: u64,
    pub(crate) lengths: [LengthTotal; LengthKind::COUNT],
    pub(crate) title_length: u32,
    pub(crate) description_length: u32,
    pub(crate) path_prefix_length: u32,
    pub(crate) configuration_length: u32,
    pub(crate) synonyms_length: u32,
    /// zstd level of the text blocks.
    pub(crate) compression_level: i32,
    /// Languages of the documents: bits of [`LanguageSet`].
    pub(crate) languages: u32,
    /// 1: text blocks are stored as they are.
    pub(crate) raw_text: u8,
    /// 1: texts of incoming links are a field.
    pub(crate) incoming: u8,
}

impl Metadata {
    /// Languages of the documents.
    pub(crate) fn languages(&self) -> LanguageSet {
        LanguageSet::from_bits(self.languages).unwrap_or_default()
    }
}

/// Bytes of region META.
pub(crate) fn encode(metadata: &Metadata) -> Result<Vec<u8>, rancor::Error> {
    rkyv::to_bytes::<rancor::Error>(metadata).map(|bytes| bytes.to_vec())
}

/// Reads region META.
pub(crate) fn decode(region: &[u8]) -> Result<Metadata, ReadError> {
    if region.len() != size_of::<ArchivedMetadata>() {
        return Err(ReadError::damaged(
            Tag::Metadata,
            "it has another length than its record",
        ));
    }
    let archived = rkyv::access::<ArchivedMetadata, rancor::Failure>(region)
        .map_err(|_| ReadError::damaged(Tag::Metadata, "its record cannot be read"))?;
    let flag = |value: u8| value <= 1;
    if !flag(archived.raw_text) || !flag(archived.incoming) {
        return Err(ReadError::damaged(Tag::Metadata, "a switch is neither 0 nor 1"));
    }
    if LanguageSet::from_bits(archived.languages.to_native()).is_none() {
        return Err(ReadError::damaged(Tag::Metadata, "it names an unknown language"));
    }
    let mut lengths = [LengthTotal::default(); LengthKind::COUNT];
    for (total, stored) in lengths.iter_mut().zip(archived.lengths.iter()) {
        *total = LengthTotal {
            terms: stored.terms.to_native(),
            present: stored.present.to_native(),
        };
    }
    Ok(Metadata {
        documents: archived.documents.to_native(),
        records: archived.records.to_native(),
        sections: archived.sections.to_native(),
        part_limit: archived.part_limit.to_native(),
        source_bytes: archived.source_bytes.to_native(),
        terms: archived.terms.to_native(),
        lengths,
        title_length: archived.title_length.to_native(),
        description_length: archived.description_length.to_native(),
        path_prefix_length: archived.path_prefix_length.to_native(),
        configuration_length: archived.configuration_length.to_native(),
        synonyms_length: archived.synonyms_length.to_native(),
        compression_level: archived.compression_level.to_native(),
        languages: archived.languages.to_native(),
        raw_text: archived.raw_text,
        incoming: archived.incoming,
    })
}

/// Fields of META with their lengths in bytes, in file order: the table of the specification.
#[cfg(test)]
pub(crate) const FIELDS: &[(&str, usize)] = &[
    ("documents", 4),
    ("records", 4),
    ("sections", 4),
    ("part limit", 4),
    ("source bytes", 8),
    ("terms", 8),
    ("length totals", LengthKind::COUNT * 12),
    ("title length", 4),
    ("description length", 4),
    ("path prefix length", 4),
    ("configuration length", 4),
    ("synonyms length", 4),
    ("compression level", 4),
    ("languages", 4),
    ("raw text", 1),
    ("incoming", 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Metadata {
        let mut lengths = [LengthTotal::default(); LengthKind::COUNT];
        lengths[LengthKind::Body as usize] = LengthTotal {
            terms: 1 << 40,
            present: 9,
        };
        Metadata {
            documents: 3,
            records: 70_000,
            terms: 5,
            lengths,
            compression_level: -3,
            languages: 1 | 1 << 17,
            ..Metadata::default()
        }
    }

    #[test]
    fn metadata_is_read_back() {
        assert_eq!(decode(&encode(&sample()).unwrap()).unwrap(), sample());
    }

    #[test]
    fn the_layout_is_that_of_the_field_table() {
        let bytes = encode(&sample()).unwrap();
        assert_eq!(
            bytes.len(),
            FIELDS.iter().map(|(_, length)| length).sum::<usize>()
        );
        assert_eq!(bytes[4..8], 70_000_u32.to_le_bytes());
        let body = 32 + 12 * LengthKind::Body as usize;
        assert_eq!(bytes[body..body + 8], (1_u64 << 40).to_le_bytes());
        assert_eq!(bytes[body + 8..body + 12], 9_u32.to_le_bytes());
        assert_eq!(bytes[124..128], (-3_i32).to_le_bytes());
        assert_eq!(bytes[128..132], (1_u32 | 1 << 17).to_le_bytes());
    }

    #[test]
    fn wrong_lengths_and_switches_are_refused() {
        let bytes = encode(&sample()).unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err());
        }
        let mut wrong = bytes.clone();
        *wrong.last_mut().unwrap() = 2;
        assert!(decode(&wrong).is_err());
        let mut wrong = bytes.clone();
        wrong[130] |= 1 << 2;
        assert!(decode(&wrong).is_err());
    }
}
