//! Text blocks: the stored text of sections, packed with zstd or stored as it is.
//!
//! A block holds text of one document only and is cut at record boundaries once it has [`TARGET`] bytes, so
//! that blocks can be copied from one file to another. The table says for each block where it is, how long it
//! is packed and unpacked, and its checksum; the unpacked length is bounded before anything is allocated.
//! Spec chapter 7.

use super::{checksum::crc32, layout::Tag};
use crate::error::ReadError;
use rkyv::{Archive, Serialize};
use std::io;

/// A block is closed once it has this many bytes of text.
pub(crate) const TARGET: usize = 16 * 1024;
/// No block has more bytes of text than this.
pub(crate) const LIMIT: usize = 32 * 1024 * 1024;

/// How a block is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    /// Bytes as they are.
    Raw = 0,
    /// One zstd frame (RFC 8878) without dictionary.
    Zstd = 1,
}

/// One block: an entry of region TBLK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Archive, Serialize)]
pub(crate) struct BlockEntry {
    /// Place in region TEXT.
    pub(crate) offset: u64,
    pub(crate) packed_length: u32,
    pub(crate) unpacked_length: u32,
    /// CRC-32 of the packed bytes.
    pub(crate) checksum: u32,
    pub(crate) codec: u8,
}

/// Fields of TBLK with their lengths in bytes, in file order: the table of the specification.
#[cfg(test)]
pub(crate) const FIELDS: &[(&str, usize)] = &[
    ("offset", 8),
    ("packed length", 4),
    ("unpacked length", 4),
    ("checksum", 4),
    ("codec", 1),
];

/// A packed block on its way into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedBlock {
    pub(crate) bytes: Vec<u8>,
    pub(crate) unpacked_length: u32,
    pub(crate) codec: Codec,
}

/// Packs blocks; keeps the compressor's tables from one block to the next.
pub(crate) struct Packer {
    /// None: blocks are stored as they are.
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl Packer {
    pub(crate) fn new(level: i32, raw: bool) -> io::Result<Self> {
        let compressor = if raw {
            None
        } else {
            Some(zstd::bulk::Compressor::new(level)?)
        };
        Ok(Self { compressor })
    }

    /// Packs `text` (at most [`LIMIT`] bytes); stored as it is where packing makes it no shorter.
    pub(crate) fn pack(&mut self, text: &[u8]) -> io::Result<PackedBlock> {
        let unpacked_length = u32::try_from(text.len())
            .ok()
            .filter(|_| text.len() <= LIMIT)
            .ok_or_else(|| io::Error::other("a text block would be too long"))?;
        if let Some(compressor) = &mut self.compressor {
            let bytes = compressor.compress(text)?;
            if bytes.len() < text.len() {
                return Ok(PackedBlock {
                    bytes,
                    unpacked_length,
                    codec: Codec::Zstd,
                });
            }
        }
        Ok(PackedBlock {
            bytes: text.to_vec(),
            unpacked_length,
            codec: Codec::Raw,
        })
    }
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Packer({})",
            if self.compressor.is_some() { "zstd" } else { "raw" }
        )
    }
}

/// Appends a block to region TEXT and gives its entry.
pub(crate) fn append(block: &PackedBlock, text: &mut Vec<u8>) -> BlockEntry {
    let offset = text.len() as u64;
    text.extend_from_slice(&block.bytes);
    BlockEntry {
        offset,
        packed_length: block.bytes.len() as u32,
        unpacked_length: block.unpacked_length,
        checksum: crc32(&block.bytes),
        codec: block.codec as u8,
    }
}

/// The packed bytes of a block, their checksum compared.
pub(crate) fn packed(text: &[u8], entry: &ArchivedBlockEntry) -> Result<PackedBlock, ReadError> {
    let (bytes, codec) = locate(text, entry)?;
    Ok(PackedBlock {
        bytes: bytes.to_vec(),
        unpacked_length: entry.unpacked_length.to_native(),
        codec,
    })
}

/// Unpacks blocks; keeps the decompressor's tables from one block to the next.
#[derive(Default)]
pub(crate) struct Unpacker {
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Unpacker")
    }
}

impl Unpacker {
    /// The text of a block.
    pub(crate) fn unpack(&mut self, text: &[u8], entry: &ArchivedBlockEntry) -> Result<Vec<u8>, ReadError> {
        let (bytes, codec) = locate(text, entry)?;
        let length = entry.unpacked_length.to_native() as usize;
        let unpacked = match codec {
            Codec::Raw => bytes.to_vec(),
            Codec::Zstd => self
                .decompress(bytes, length)
                .map_err(|_| ReadError::damaged(Tag::Text, "a text block cannot be unpacked"))?,
        };
        if unpacked.len() == length {
            Ok(unpacked)
        } else {
            Err(ReadError::damaged(
                Tag::Text,
                "a text block has another length than its table says",
            ))
        }
    }

    fn decompress(&mut self, bytes: &[u8], length: usize) -> io::Result<Vec<u8>> {
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(zstd::bulk::Decompressor::new()?),
        };
        decompressor.decompress(bytes, length)
    }
}

fn locate<'a>(text: &'a [u8], entry: &ArchivedBlockEntry) -> Result<(&'a [u8], Codec), ReadError> {
    let damaged = |reason| ReadError::damaged(Tag::TextBlockTable, reason);
    if entry.unpacked_length.to_native() as usize > LIMIT {
        return Err(damaged("a text block is longer than the limit"));
    }
    let codec = match entry.codec {
        0 => Codec::Raw,
        1 => Codec::Zstd,
        _ => return Err(damaged("a text block has an unknown codec")),
    };
    let bytes = usize::try_from(entry.offset.to_native())
        .ok()
        .and_then(|start| Some(start..start.checked_add(entry.packed_length.to_native() as usize)?))
        .and_then(|range| text.get(range))
        .ok_or_else(|| damaged("a text block does not fit its region"))?;
    if crc32(bytes) != entry.checksum.to_native() {
        return Err(ReadError::damaged(
            Tag::Text,
            "the checksum of a text block does not match",
        ));
    }
    Ok((bytes, codec))
}

#[cfg(test)]
mod tests {
    use super::super::section_table::{encode_table, table};
    use super::*;
    use proptest::prelude::*;

    fn store(blocks: &[PackedBlock]) -> (Vec<u8>, Vec<u8>) {
        let mut text = Vec::new();
        let entries: Vec<_> = blocks.iter().map(|block| append(block, &mut text)).collect();
        (encode_table(&entries).unwrap(), text)
    }

    proptest! {
        #[test]
        fn blocks_are_unpacked_to_what_was_packed(texts in prop::collection::vec(".{0,300}", 0..5), raw: bool) {
            let mut packer = Packer::new(3, raw).unwrap();
            let blocks: Vec<_> = texts.iter().map(|text| packer.pack(text.as_bytes()).unwrap()).collect();
            let (entries, region) = store(&blocks);
            let entries = table::<ArchivedBlockEntry>(&entries, Tag::TextBlockTable).unwrap();
            for ((entry, text), block) in entries.iter().zip(&texts).zip(&blocks) {
                prop_assert_eq!(Unpacker::default().unpack(&region, entry).unwrap(), text.as_bytes());
                prop_assert_eq!(&packed(&region, entry).unwrap(), block);
            }
        }
    }

    #[test]
    fn the_table_has_the_layout_of_the_specification() {
        assert_eq!(
            size_of::<ArchivedBlockEntry>(),
            FIELDS.iter().map(|(_, length)| length).sum::<usize>()
        );
    }

    #[test]
    fn wild_entries_are_refused_before_anything_is_allocated() {
        let mut packer = Packer::new(3, false).unwrap();
        let block = packer.pack(&[b'x'; 500]).unwrap();
        assert_eq!(block.codec, Codec::Zstd);
        let mut text = Vec::new();
        let good = append(&block, &mut text);
        let refuse = |entry: BlockEntry| {
            let bytes = encode_table(&vec![entry]).unwrap();
            let table = table::<ArchivedBlockEntry>(&bytes, Tag::TextBlockTable).unwrap();
            Unpacker::default().unpack(&text, &table[0]).unwrap_err()
        };
        for entry in [
            BlockEntry {
                offset: u64::MAX,
                ..good
            },
            BlockEntry { offset: 1, ..good },
            BlockEntry {
                packed_length: u32::MAX,
                ..good
            },
            BlockEntry {
                unpacked_length: u32::MAX,
                ..good
            },
            BlockEntry { codec: 2, ..good },
        ] {
            assert!(
                matches!(refuse(entry), ReadError::Damaged { region: "TBLK", .. }),
                "{entry:?}"
            );
        }
        for entry in [
            BlockEntry { checksum: 0, ..good },
            BlockEntry {
                unpacked_length: 499,
                ..good
            },
            BlockEntry {
                unpacked_length: 501,
                ..good
            },
            BlockEntry { codec: 0, ..good },
        ] {
            assert!(
                matches!(refuse(entry), ReadError::Damaged { region: "TEXT", .. }),
                "{entry:?}"
            );
        }
    }
}
