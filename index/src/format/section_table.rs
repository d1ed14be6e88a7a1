//! Documents, records and their lengths: flat rkyv tables of integers, and one heap of bytes for all strings.
//!
//! rkyv is used for exactly this: a table is an array of fixed entries followed by 16 bytes that say where it
//! begins and how many entries it has, and reading entry *n* is a bounds check, whatever the table's size.
//! What is read only when a hit is shown (headings, anchors, part numbers) stands in the heap as
//! variable-length integers and bytes, so that the tables stay small. Spec chapters 5 and 6.

use super::{layout::Tag, varint};
use crate::error::ReadError;
use rkyv::{Archive, Portable, Serialize, bytecheck::CheckBytes, rancor, vec::ArchivedVec};

/// Bytes of a string in the heap. Longer ones say nothing to a reader and would cost every search for an id.
pub(crate) const STRING_LIMIT: usize = 65_536;

/// "None" in a record number.
pub(crate) const NONE: u32 = u32::MAX;

/// One document: an entry of region DOCS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Archive, Serialize)]
pub(crate) struct DocumentEntry {
    /// Place of its strings in the heap.
    pub(crate) strings: u64,
    pub(crate) source_bytes: u64,
    pub(crate) source_hash: [u8; 32],
    pub(crate) first_record: u32,
    pub(crate) record_count: u32,
    /// Terms of the title.
    pub(crate) title_length: u32,
    /// Terms of the path words.
    pub(crate) path_length: u32,
    /// Terms of the front matter, which count for the first record.
    pub(crate) front_matter_length: u32,
}

/// One record: an entry of region RECS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Archive, Serialize)]
pub(crate) struct RecordEntry {
    /// Place of its strings in the heap.
    pub(crate) strings: u64,
    pub(crate) document: u32,
    /// First record of the parent section, or [`NONE`].
    pub(crate) parent: u32,
    /// One past the last record of the section's subtree.
    pub(crate) subtree_end: u32,
    pub(crate) line_start: u32,
    pub(crate) line_end: u32,
    pub(crate) text_block: u32,
    /// Place of its text in the unpacked block.
    pub(crate) text_start: u32,
    pub(crate) text_length: u32,
    /// CRC-32 of its text: finds the same text twice, and damage.
    pub(crate) text_checksum: u32,
    pub(crate) level: u8,
}

/// Lengths of one record's fields in terms: an entry of region LENS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Archive, Serialize)]
pub(crate) struct LengthEntry {
    pub(crate) heading: u32,
    pub(crate) body: u32,
    pub(crate) incoming: u32,
}

/// Bytes of a table: the entries, then the place of the first one relative to this word and their number.
pub(crate) fn encode_table<T>(entries: &Vec<T>) -> Result<Vec<u8>, rancor::Error>
where
    Vec<T>: for<'a> Serialize<
        rkyv::api::high::HighSerializer<
            rkyv::util::AlignedVec,
            rkyv::ser::allocator::ArenaHandle<'a>,
            rancor::Error,
        >,
    >,
{
    rkyv::to_bytes::<rancor::Error>(entries).map(|bytes| bytes.to_vec())
}

/// The entries of a table. Costs the same for any number of them: the entries are plain integers, which no
/// value of their bytes can make invalid.
pub(crate) fn table<T>(region: &[u8], tag: Tag) -> Result<&[T], ReadError>
where
    T: Portable + for<'a> CheckBytes<rkyv::api::high::HighValidator<'a, rancor::Failure>>,
{
    let vector = rkyv::access::<ArchivedVec<T>, rancor::Failure>(region)
        .map_err(|_| ReadError::damaged(tag, "its table cannot be read"))?;
    let expected = size_of::<ArchivedVec<T>>().checked_add(size_of_val(vector.as_slice()));
    if expected != Some(region.len()) {
        return Err(ReadError::damaged(tag, "its length is not that of its entries"));
    }
    Ok(vector.as_slice())
}

/// A document's strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DocumentStrings<'h> {
    pub(crate) path: &'h [u8],
    pub(crate) title: &'h str,
    pub(crate) description: &'h str,
    /// One tag a line.
    pub(crate) tags: &'h str,
    pub(crate) url: &'h str,
    pub(crate) language: &'h str,
}

impl<'h> DocumentStrings<'h> {
    /// Appends the strings to the heap and gives their place.
    pub(crate) fn encode(&self, heap: &mut Vec<u8>) -> u64 {
        let place = heap.len() as u64;
        let texts = [self.title, self.description, self.tags, self.url, self.language];
        varint::encode(self.path.len() as u64, heap);
        for text in texts {
            varint::encode(text.len() as u64, heap);
        }
        heap.extend_from_slice(self.path);
        for text in texts {
            heap.extend_from_slice(text.as_bytes());
        }
        place
    }

    pub(crate) fn decode(heap: &'h [u8], place: u64) -> Result<Self, ReadError> {
        Self::read(heap, place).ok_or(ReadError::damaged(
            Tag::Heap,
            "a document's strings cannot be read",
        ))
    }

    /// The path alone: the ranking asks for it of many documents.
    pub(crate) fn decode_path(heap: &'h [u8], place: u64) -> Result<&'h [u8], ReadError> {
        let read = || {
            let ([path, ..], mut rest) = Self::lengths(heap, place)?;
            varint::take(&mut rest, path)
        };
        read().ok_or(ReadError::damaged(
            Tag::Heap,
            "a document's strings cannot be read",
        ))
    }

    /// How long each string is, and the bytes from the first one on.
    fn lengths(heap: &'h [u8], place: u64) -> Option<([u64; 6], &'h [u8])> {
        let mut rest = heap.get(usize::try_from(place).ok()?..)?;
        let mut lengths = [0_u64; 6];
        for length in &mut lengths {
            *length = string_length(&mut rest)?;
        }
        Some((lengths, rest))
    }

    fn read(heap: &'h [u8], place: u64) -> Option<Self> {
        let ([path, title, description, tags, url, language], mut rest) = Self::lengths(heap, place)?;
        Some(Self {
            path: varint::take(&mut rest, path)?,
            title: take_text(&mut rest, title)?,
            description: take_text(&mut rest, description)?,
            tags: take_text(&mut rest, tags)?,
            url: take_text(&mut rest, url)?,
            language: take_text(&mut rest, language)?,
        })
    }
}

/// A record's strings, and the numbers that are needed only to show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordStrings<'h> {
    /// From 1.
    pub(crate) part: u32,
    pub(crate) part_count: u32,
    pub(crate) repeated_head: u32,
    pub(crate) repeated_tail: u32,
    pub(crate) heading: &'h str,
    pub(crate) anchor: &'h str,
    /// One alias a line.
    pub(crate) aliases: &'h str,
}

impl<'h> RecordStrings<'h> {
    /// Appends the strings to the heap and gives their place.
    pub(crate) fn encode(&self, heap: &mut Vec<u8>) -> u64 {
        let place = heap.len() as u64;
        for number in [self.part, self.part_count, self.repeated_head, self.repeated_tail] {
            varint::encode(u64::from(number), heap);
        }
        let texts = [self.heading, self.anchor, self.aliases];
        for text in texts {
            varint::encode(text.len() as u64, heap);
        }
        for text in texts {
            heap.extend_from_slice(text.as_bytes());
        }
        place
    }

    pub(crate) fn decode(heap: &'h [u8], place: u64) -> Result<Self, ReadError> {
        Self::read(heap, place)
            .filter(|strings| (1..=strings.part_count).contains(&strings.part))
            .ok_or(ReadError::damaged(Tag::Heap, "a record's strings cannot be read"))
    }

    /// The heading alone: the ranking asks for it of many records.
    pub(crate) fn decode_heading(heap: &'h [u8], place: u64) -> Result<&'h str, ReadError> {
        let read = || {
            let (_, [heading, ..], mut rest) = Self::numbers(heap, place)?;
            take_text(&mut rest, heading)
        };
        read().ok_or(ReadError::damaged(Tag::Heap, "a record's strings cannot be read"))
    }

    /// The four numbers, how long each string is, and the bytes from the first one on.
    fn numbers(heap: &'h [u8], place: u64) -> Option<([u32; 4], [u64; 3], &'h [u8])> {
        let mut rest = heap.get(usize::try_from(place).ok()?..)?;
        let mut numbers = [0_u32; 4];
        for number in &mut numbers {
            *number = varint::decode_u32(&mut rest)?;
        }
        let mut lengths = [0_u64; 3];
        for length in &mut lengths {
            *length = string_length(&mut rest)?;
        }
        Some((numbers, lengths, rest))
    }

    fn read(heap: &'h [u8], place: u64) -> Option<Self> {
        let (numbers, lengths, mut rest) = Self::numbers(heap, place)?;
        let [part, part_count, repeated_head, repeated_tail] = numbers;
        let [heading, anchor, aliases] = lengths;
        Some(Self {
            part,
            part_count,
            repeated_head,
            repeated_tail,
            heading: take_text(&mut rest, heading)?,
            anchor: take_text(&mut rest, anchor)?,
            aliases: take_text(&mut rest, aliases)?,
        })
    }
}

/// Takes the length of a string from the front.
fn string_length(bytes: &mut &[u8]) -> Option<u64> {
    varint::decode(bytes).filter(|&length| length <= STRING_LIMIT as u64)
}

/// Takes `length` bytes of UTF-8 from the front.
pub(crate) fn take_text<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a str> {
    std::str::from_utf8(varint::take(bytes, length)?).ok()
}

/// The lines of a heap string that holds one value a line.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.is_empty())
}

/// Fields of DOCS, RECS and LENS with their lengths in bytes, in file order: the tables of the specification.
#[cfg(test)]
pub(crate) mod fields {
    pub(crate) const DOCUMENT: &[(&str, usize)] = &[
        ("strings", 8),
        ("source bytes", 8),
        ("source hash", 32),
        ("first record", 4),
        ("record count", 4),
        ("title length", 4),
        ("path length", 4),
        ("front matter length", 4),
    ];
    pub(crate) const RECORD: &[(&str, usize)] = &[
        ("strings", 8),
        ("document", 4),
        ("parent", 4),
        ("subtree end", 4),
        ("first line", 4),
        ("last line", 4),
        ("text block", 4),
        ("text start", 4),
        ("text length", 4),
        ("text checksum", 4),
        ("level", 1),
    ];
    pub(crate) const LENGTHS: &[(&str, usize)] = &[("heading", 4), ("body", 4), ("incoming", 4)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(n: u32) -> RecordEntry {
        RecordEntry {
            strings: 1 << 33,
            document: n,
            parent: NONE,
            subtree_end: 4,
            line_start: 5,
            line_end: 6,
            text_block: 7,
            text_start: 8,
            text_length: 9,
            text_checksum: 10,
            level: 11,
        }
    }

    #[test]
    fn tables_have_the_layout_of_the_specification() {
        let total = |fields: &[(&str, usize)]| fields.iter().map(|(_, length)| length).sum::<usize>();
        assert_eq!(size_of::<ArchivedDocumentEntry>(), total(fields::DOCUMENT));
        assert_eq!(size_of::<ArchivedRecordEntry>(), total(fields::RECORD));
        assert_eq!(size_of::<ArchivedLengthEntry>(), total(fields::LENGTHS));

        let bytes = encode_table(&vec![record(1), record(2)]).unwrap();
        let entry = size_of::<ArchivedRecordEntry>();
        assert_eq!(bytes.len(), 2 * entry + 16);
        assert_eq!(bytes[entry..entry + 8], (1_u64 << 33).to_le_bytes());
        assert_eq!(bytes[entry + 8..entry + 12], 2_u32.to_le_bytes());
        assert_eq!(bytes[2 * entry - 1], 11);
        // The place of the first entry, relative to this word; then the number of entries.
        assert_eq!(
            bytes[2 * entry..2 * entry + 8],
            (-(2 * i64::try_from(entry).unwrap())).to_le_bytes()
        );
        assert_eq!(bytes[2 * entry + 8..], 2_u64.to_le_bytes());
    }

    #[test]
    fn tables_are_read_back_or_refused() {
        for count in [0_u32, 1, 100] {
            let entries: Vec<_> = (0..count).map(record).collect();
            let bytes = encode_table(&entries).unwrap();
            let read = table::<ArchivedRecordEntry>(&bytes, Tag::Records).unwrap();
            assert_eq!(read.len(), count as usize);
            assert!(read.iter().zip(&entries).all(|(a, b)| a.document == b.document));
            for length in 0..bytes.len() {
                assert!(table::<ArchivedRecordEntry>(&bytes[..length], Tag::Records).is_err());
            }
            // Any other place or number of entries is refused.
            for at in bytes.len() - 16..bytes.len() {
                for bit in 0..8 {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 1 << bit;
                    let read = table::<ArchivedRecordEntry>(&damaged, Tag::Records);
                    assert!(read.is_err() || count == 0, "{at} {bit}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn strings_are_read_back(
            path in any::<Vec<u8>>(), title in ".*", tags in ".*", heading in ".*", anchor in ".*",
            part in 1_u32.., head in any::<u32>(), before in any::<Vec<u8>>(),
        ) {
            let mut heap = before;
            let document = DocumentStrings { path: &path, title: &title, tags: &tags, ..Default::default() };
            let record = RecordStrings {
                part, part_count: part, repeated_head: head, heading: &heading, anchor: &anchor,
                ..Default::default()
            };
            let document_place = document.encode(&mut heap);
            let record_place = record.encode(&mut heap);
            prop_assert_eq!(DocumentStrings::decode(&heap, document_place), Ok(document));
            prop_assert_eq!(RecordStrings::decode(&heap, record_place), Ok(record));
        }

        #[test]
        fn any_heap_is_read_or_refused(heap in any::<Vec<u8>>(), place in 0_u64..40) {
            let _ = DocumentStrings::decode(&heap, place);
            let _ = RecordStrings::decode(&heap, place);
        }
    }
}
