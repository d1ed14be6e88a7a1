//! Posting lists: in which records (or documents) a term stands, and how often in each field.
//!
//! One encoding serves both kinds; they differ in the number of fields ([`RECORD_FIELDS`],
//! [`DOCUMENT_FIELDS`]). A list of at least [`BLOCK`] postings is cut into posting blocks from its first
//! posting. A directory stands before them: for each block its last number, its place, and raw bounds (the
//! largest frequency of each field and the smallest body length), from which a search can bound the score of
//! a whole block whatever the averages are. A full block is bit-packed: the gaps, then the frequencies of each
//! field that occurs, each with the width its largest value needs. What is left over, and a list shorter than
//! one block, is a run of variable-length integers. Spec chapter 9.

use super::{layout::Tag, varint};
use crate::error::ReadError;
use bitpacking::{BitPacker as _, BitPacker4x};

/// Postings in a full block.
pub(crate) const BLOCK: usize = BitPacker4x::BLOCK_LEN;
/// Fields of a record, in the order of their frequencies; see [`crate::field::RecordField`].
pub(crate) const RECORD_FIELDS: usize = 7;
/// Fields of a document; see [`crate::field::DocumentField`].
pub(crate) const DOCUMENT_FIELDS: usize = 2;
/// Bit of a short posting's mask: frequencies follow. Without it each field named by the mask has 1.
const FREQUENCIES_FOLLOW: u8 = 0x80;

/// A number with the frequency of each field; at least one is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting<const FIELDS: usize> {
    pub(crate) number: u32,
    pub(crate) frequencies: [u32; FIELDS],
}

/// Bytes of one entry of a directory.
pub(crate) const fn directory_entry_length(fields: usize) -> usize {
    // Last number, place of the block's bytes, smallest body length, a bound for each field.
    4_usize
        .saturating_add(8)
        .saturating_add(4)
        .saturating_add(fields.saturating_mul(2))
}

/// Appends a short posting: gap to the number before (less one), mask of the fields, frequencies if any is
/// not 1.
pub(crate) fn encode_short<const FIELDS: usize>(
    posting: &Posting<FIELDS>,
    previous: Option<u32>,
    out: &mut Vec<u8>,
) {
    varint::encode(u64::from(gap(posting.number, previous)), out);
    let mut mask = 0_u8;
    let mut ones = true;
    for (field, &frequency) in posting.frequencies.iter().enumerate() {
        if frequency > 0 {
            mask |= 1_u8.wrapping_shl(field as u32);
            ones &= frequency == 1;
        }
    }
    if ones {
        out.push(mask);
    } else {
        out.push(mask | FREQUENCIES_FOLLOW);
        for &frequency in posting.frequencies.iter().filter(|&&frequency| frequency > 0) {
            varint::encode(u64::from(frequency), out);
        }
    }
}

/// Takes a short posting from the front of `bytes`.
pub(crate) fn decode_short<const FIELDS: usize>(
    bytes: &mut &[u8],
    previous: Option<u32>,
) -> Option<Posting<FIELDS>> {
    let gap = varint::decode_u32(bytes)?;
    let number = advance(previous, gap)?;
    let (&mask, rest) = bytes.split_first()?;
    *bytes = rest;
    let fields = mask & !FREQUENCIES_FOLLOW;
    if fields == 0 || u32::from(fields) >= 1_u32.checked_shl(FIELDS as u32)? {
        return None;
    }
    let mut frequencies = [0; FIELDS];
    for (field, frequency) in frequencies.iter_mut().enumerate() {
        if fields & 1_u8.wrapping_shl(field as u32) != 0 {
            *frequency = if mask & FREQUENCIES_FOLLOW == 0 {
                1
            } else {
                varint::decode_u32(bytes).filter(|&frequency| frequency > 0)?
            };
        }
    }
    Some(Posting { number, frequencies })
}

/// Gap of a number to the one before, less one; the first number is its own gap.
fn gap(number: u32, previous: Option<u32>) -> u32 {
    previous.map_or(number, |previous| number.wrapping_sub(previous).wrapping_sub(1))
}

fn advance(previous: Option<u32>, gap: u32) -> Option<u32> {
    previous.map_or(Some(gap), |previous| previous.checked_add(gap)?.checked_add(1))
}

/// Encodes a whole list. `length_of` gives a number's body length (0 for documents).
pub(crate) fn encode<const FIELDS: usize>(
    postings: &[Posting<FIELDS>],
    length_of: impl Fn(u32) -> u32,
    out: &mut Vec<u8>,
) {
    let mut previous = None;
    if postings.len() < BLOCK {
        for posting in postings {
            encode_short(posting, previous, out);
            previous = Some(posting.number);
        }
        return;
    }
    let mut directory = Vec::new();
    let mut blocks = Vec::new();
    for block in postings.chunks(BLOCK) {
        let place = blocks.len() as u64;
        let before = previous;
        if block.len() == BLOCK {
            pack_block(block, before, &mut blocks);
        } else {
            for posting in block {
                encode_short(posting, previous, &mut blocks);
                previous = Some(posting.number);
            }
        }
        previous = block.last().map(|posting| posting.number);
        let bounds = bounds_of(block, &length_of);
        directory.extend_from_slice(&bounds.last_number.to_le_bytes());
        directory.extend_from_slice(&place.to_le_bytes());
        directory.extend_from_slice(&bounds.smallest_length.to_le_bytes());
        for bound in bounds.largest_frequencies {
            directory.extend_from_slice(&bound.to_le_bytes());
        }
    }
    out.extend_from_slice(&directory);
    out.extend_from_slice(&blocks);
}

/// The raw bounds of a block.
fn bounds_of<const FIELDS: usize>(
    block: &[Posting<FIELDS>],
    length_of: &impl Fn(u32) -> u32,
) -> BlockBounds<FIELDS> {
    let mut largest_frequencies = [0; FIELDS];
    for (field, bound) in largest_frequencies.iter_mut().enumerate() {
        let largest = block
            .iter()
            .filter_map(|posting| posting.frequencies.get(field))
            .max();
        *bound = u16::try_from(largest.copied().unwrap_or(0)).unwrap_or(u16::MAX);
    }
    BlockBounds {
        last_number: block.last().map_or(0, |posting| posting.number),
        smallest_length: block
            .iter()
            .map(|posting| length_of(posting.number))
            .min()
            .unwrap_or(0),
        largest_frequencies,
    }
}

/// A width for the gaps and one for each field, then the packed words of each width that is not 0.
fn pack_block<const FIELDS: usize>(block: &[Posting<FIELDS>], before: Option<u32>, out: &mut Vec<u8>) {
    let packer = BitPacker4x::new();
    let mut columns: Vec<[u32; BLOCK]> = vec![[0; BLOCK]; FIELDS.saturating_add(1)];
    let mut previous = before;
    for (row, posting) in block.iter().enumerate() {
        let values = std::iter::once(gap(posting.number, previous)).chain(posting.frequencies);
        for (column, value) in columns.iter_mut().zip(values) {
            if let Some(cell) = column.get_mut(row) {
                *cell = value;
            }
        }
        previous = Some(posting.number);
    }
    let widths: Vec<u8> = columns.iter().map(|column| packer.num_bits(column)).collect();
    out.extend_from_slice(&widths);
    for (column, &width) in columns.iter().zip(&widths) {
        let mut packed = [0_u8; 4 * BLOCK];
        let length = packer.compress(column, &mut packed, width);
        out.extend_from_slice(packed.get(..length).unwrap_or_default());
    }
}

/// The postings of one block, unpacked; kept and used again from block to block.
#[derive(Debug)]
pub(crate) struct Block<const FIELDS: usize> {
    length: usize,
    numbers: [u32; BLOCK],
    frequencies: [[u32; BLOCK]; FIELDS],
    /// Whether any posting of the block has the field; the frequencies of other fields are not set.
    present: [bool; FIELDS],
}

impl<const FIELDS: usize> Default for Block<FIELDS> {
    fn default() -> Self {
        Self {
            length: 0,
            numbers: [0; BLOCK],
            frequencies: [[0; BLOCK]; FIELDS],
            present: [false; FIELDS],
        }
    }
}

impl<const FIELDS: usize> Block<FIELDS> {
    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    pub(crate) fn numbers(&self) -> &[u32] {
        self.numbers.get(..self.length).unwrap_or_default()
    }

    /// Frequencies of a field, one for each number; none where no posting of the block has it.
    pub(crate) fn frequencies(&self, field: usize) -> Option<&[u32]> {
        if !*self.present.get(field)? {
            return None;
        }
        self.frequencies.get(field)?.get(..self.length)
    }

    pub(crate) fn postings(&self) -> impl Iterator<Item = Posting<FIELDS>> + '_ {
        self.numbers().iter().enumerate().map(|(row, &number)| {
            let mut frequencies = [0; FIELDS];
            for (field, frequency) in frequencies.iter_mut().enumerate() {
                *frequency = self
                    .frequencies(field)
                    .and_then(|column| column.get(row))
                    .copied()
                    .unwrap_or(0);
            }
            Posting { number, frequencies }
        })
    }
}

/// The raw bounds of one block, as its directory entry has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockBounds<const FIELDS: usize> {
    pub(crate) last_number: u32,
    pub(crate) smallest_length: u32,
    /// 65,535 stands for that or anything larger.
    pub(crate) largest_frequencies: [u16; FIELDS],
}

/// A posting list in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostingList<'a, const FIELDS: usize> {
    count: usize,
    /// Numbers are below this.
    limit: u32,
    directory: &'a [u8],
    blocks: &'a [u8],
}

impl<'a, const FIELDS: usize> PostingList<'a, FIELDS> {
    /// `bytes` are exactly the list's.
    pub(crate) fn new(bytes: &'a [u8], count: u32, limit: u32) -> Result<Self, ReadError> {
        let count = count as usize;
        let directory_length = if count < BLOCK {
            0
        } else {
            count
                .div_ceil(BLOCK)
                .saturating_mul(directory_entry_length(FIELDS))
        };
        let (directory, blocks) = bytes
            .split_at_checked(directory_length)
            .ok_or(ReadError::damaged(
                Tag::Postings,
                "a directory of posting blocks is cut short",
            ))?;
        Ok(Self {
            count,
            limit,
            directory,
            blocks,
        })
    }

    /// Number of blocks.
    pub(crate) fn block_count(&self) -> usize {
        self.count.div_ceil(BLOCK)
    }

    /// Bounds of a block; none for a list without a directory.
    pub(crate) fn bounds(&self, block: usize) -> Option<BlockBounds<FIELDS>> {
        let mut entry = self.directory_entry(block)?;
        let last_number = u32::from_le_bytes(take_array(&mut entry)?);
        let _place: [u8; 8] = take_array(&mut entry)?;
        let smallest_length = u32::from_le_bytes(take_array(&mut entry)?);
        let mut largest_frequencies = [0; FIELDS];
        for bound in &mut largest_frequencies {
            *bound = u16::from_le_bytes(take_array(&mut entry)?);
        }
        Some(BlockBounds {
            last_number,
            smallest_length,
            largest_frequencies,
        })
    }

    fn directory_entry(&self, block: usize) -> Option<&'a [u8]> {
        let length = directory_entry_length(FIELDS);
        let start = block.checked_mul(length)?;
        self.directory.get(start..start.checked_add(length)?)
    }

    fn place(&self, block: usize) -> Option<usize> {
        let mut entry = self.directory_entry(block)?.get(4..)?;
        usize::try_from(u64::from_le_bytes(take_array(&mut entry)?)).ok()
    }

    /// Unpacks one block.
    pub(crate) fn unpack(&self, block: usize, out: &mut Block<FIELDS>) -> Result<(), ReadError> {
        self.read(block, out).ok_or(ReadError::damaged(
            Tag::Postings,
            "a posting block cannot be read",
        ))
    }

    fn read(&self, block: usize, out: &mut Block<FIELDS>) -> Option<()> {
        let done = block.checked_mul(BLOCK)?;
        let length = self.count.checked_sub(done)?.min(BLOCK);
        let (start, stop, before) = if self.directory.is_empty() {
            (0, self.blocks.len(), None)
        } else {
            let before = match block.checked_sub(1) {
                None => None,
                Some(earlier) => Some(self.bounds(earlier)?.last_number),
            };
            let following = block.checked_add(1)?;
            let stop = if following == self.block_count() {
                self.blocks.len()
            } else {
                self.place(following)?
            };
            (self.place(block)?, stop, before)
        };
        let mut bytes = self.blocks.get(start..stop)?;
        out.length = length;
        if length == BLOCK {
            unpack_block(&mut bytes, before, out)?;
        } else {
            out.present = [false; FIELDS];
            let mut previous = before;
            for row in 0..length {
                let posting: Posting<FIELDS> = decode_short(&mut bytes, previous)?;
                *out.numbers.get_mut(row)? = posting.number;
                for (field, &frequency) in posting.frequencies.iter().enumerate() {
                    if frequency > 0 {
                        let column = out.frequencies.get_mut(field)?;
                        let present = out.present.get_mut(field)?;
                        // A column is cleared when it is first met: few fields have a term.
                        if !std::mem::replace(present, true) {
                            column.get_mut(..length)?.fill(0);
                        }
                        *column.get_mut(row)? = frequency;
                    }
                }
                previous = Some(posting.number);
            }
        }
        // The directory is trusted for what comes before a block; it must say what the block says.
        if self
            .bounds(block)
            .is_some_and(|bounds| out.numbers().last() != Some(&bounds.last_number))
        {
            return None;
        }
        // Numbers ascend, so the last one bounds them all.
        (bytes.is_empty() && out.numbers().last().is_none_or(|&last| last < self.limit)).then_some(())
    }

    /// Whether the directory says what `postings`, the list's own, say; and none of them is without a frequency.
    pub(crate) fn has_bounds_of(&self, postings: &[Posting<FIELDS>], length_of: impl Fn(u32) -> u32) -> bool {
        postings
            .iter()
            .all(|posting| posting.frequencies.iter().any(|&frequency| frequency > 0))
            && postings.chunks(BLOCK).enumerate().all(|(number, block)| {
                self.bounds(number)
                    .is_none_or(|bounds| bounds == bounds_of(block, &length_of))
            })
    }

    /// All postings, unpacked; for merging and verifying.
    pub(crate) fn collect(&self) -> Result<Vec<Posting<FIELDS>>, ReadError> {
        // A hostile count can't ask for more than the bytes there are: a posting takes some of them.
        let mut postings = Vec::new();
        let mut block = Block::default();
        for number in 0..self.block_count() {
            self.unpack(number, &mut block)?;
            postings.extend(block.postings());
        }
        Ok(postings)
    }
}

fn unpack_block<const FIELDS: usize>(
    bytes: &mut &[u8],
    before: Option<u32>,
    out: &mut Block<FIELDS>,
) -> Option<()> {
    let widths = varint::take(bytes, FIELDS.checked_add(1)? as u64)?;
    let (&gap_width, widths) = widths.split_first()?;
    unpack_column(bytes, gap_width, &mut out.numbers)?;
    let mut previous = before;
    for number in &mut out.numbers {
        *number = advance(previous, *number)?;
        previous = Some(*number);
    }
    for ((&width, column), present) in widths.iter().zip(&mut out.frequencies).zip(&mut out.present) {
        *present = width > 0;
        if width > 0 {
            unpack_column(bytes, width, column)?;
        }
    }
    Some(())
}

fn unpack_column(bytes: &mut &[u8], width: u8, column: &mut [u32; BLOCK]) -> Option<()> {
    if width > 32 {
        return None;
    }
    let packed = varint::take(bytes, BitPacker4x::compressed_block_size(width) as u64)?;
    BitPacker4x::new().decompress(packed, column, width);
    Some(())
}

fn take_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = bytes.split_first_chunk::<N>()?;
    *bytes = tail;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const F: usize = RECORD_FIELDS;

    fn postings(max: usize) -> impl Strategy<Value = Vec<Posting<F>>> {
        let frequency = prop_oneof![5 => Just(0_u32), 5 => 1_u32..4, 1 => 1_u32..100_000];
        let posting = (0_u32..2000, prop::array::uniform7(frequency), 0..F);
        prop::collection::vec(posting, 0..max).prop_map(|rows| {
            let mut next = 0;
            rows.into_iter()
                .map(|(gap, mut frequencies, sure)| {
                    let number = next + gap;
                    next = number + 1;
                    frequencies[sure] = frequencies[sure].max(1);
                    Posting { number, frequencies }
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn lists_are_read_back(list in postings(700)) {
            let mut bytes = Vec::new();
            encode(&list, |number| number % 7 + 3, &mut bytes);
            let read = PostingList::<F>::new(&bytes, list.len() as u32, u32::MAX).unwrap();
            prop_assert_eq!(read.collect().unwrap(), list.clone());
            for (number, block) in list.chunks(BLOCK).enumerate() {
                if let Some(bounds) = read.bounds(number) {
                    prop_assert_eq!(bounds.last_number, block.last().unwrap().number);
                    prop_assert_eq!(bounds.smallest_length, block.iter().map(|p| p.number % 7 + 3).min().unwrap());
                    for field in 0..F {
                        let largest = block.iter().map(|p| p.frequencies[field]).max().unwrap();
                        prop_assert_eq!(u32::from(bounds.largest_frequencies[field]), largest.min(65_535));
                    }
                } else {
                    prop_assert!(list.len() < BLOCK);
                }
            }
        }

        #[test]
        fn damaged_lists_give_an_error_or_postings_in_order(
            list in postings(400), at in any::<prop::sample::Index>(), byte in any::<u8>(), count in 0_u32..1000,
        ) {
            let mut bytes = Vec::new();
            encode(&list, |_| 1, &mut bytes);
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            for count in [list.len() as u32, count] {
                if let Ok(read) = PostingList::<F>::new(&bytes, count, 500_000) {
                    let mut block = Block::default();
                    for number in 0..read.block_count() {
                        if read.unpack(number, &mut block).is_ok() {
                            prop_assert!(block.numbers().windows(2).all(|pair| pair[0] < pair[1]));
                            prop_assert!(block.numbers().iter().all(|&number| number < 500_000));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn examples_of_the_specification() {
        let list = [
            Posting {
                number: 2,
                frequencies: [0, 1, 0, 0, 0, 0, 0],
            },
            Posting {
                number: 5,
                frequencies: [1, 3, 0, 0, 300, 0, 0],
            },
        ];
        let mut bytes = Vec::new();
        encode(&list, |_| 0, &mut bytes);
        assert_eq!(bytes, [0x02, 0x02, 0x02, 0x93, 0x01, 0x03, 0xac, 0x02]);

        let list: Vec<Posting<2>> = (0..130)
            .map(|i| Posting {
                number: 3 * i,
                frequencies: [1, i % 2],
            })
            .collect();
        let mut bytes = Vec::new();
        encode(&list, |number| number + 10, &mut bytes);
        let mut expected = Vec::new();
        expected.extend(381_u32.to_le_bytes());
        expected.extend(0_u64.to_le_bytes());
        expected.extend(10_u32.to_le_bytes());
        expected.extend([1, 0, 1, 0]);
        expected.extend(387_u32.to_le_bytes());
        expected.extend(67_u64.to_le_bytes());
        expected.extend(394_u32.to_le_bytes());
        expected.extend([1, 0, 1, 0]);
        // Widths 2, 1, 1; gaps 0, 2, 2, …; each lane holds every fourth value, lowest bits first.
        expected.extend([2, 1, 1]);
        for word in [0xaaaa_aaa8_u32, 0xaaaa_aaaa, 0xaaaa_aaaa, 0xaaaa_aaaa]
            .iter()
            .chain(&[0xaaaa_aaaa; 4])
        {
            expected.extend(word.to_le_bytes());
        }
        expected.extend([0xff; 16]);
        for word in [0_u32, u32::MAX, 0, u32::MAX] {
            expected.extend(word.to_le_bytes());
        }
        expected.extend([0x02, 0x01, 0x02, 0x03]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn a_number_at_the_limit_is_refused() {
        let list = [Posting {
            number: 9,
            frequencies: [1, 0],
        }];
        let mut bytes = Vec::new();
        encode(&list, |_| 0, &mut bytes);
        assert!(PostingList::<2>::new(&bytes, 1, 10).unwrap().collect().is_ok());
        assert!(PostingList::<2>::new(&bytes, 1, 9).unwrap().collect().is_err());
    }

    #[test]
    fn a_huge_count_allocates_nothing() {
        assert!(PostingList::<F>::new(&[0; 64], u32::MAX, u32::MAX).is_err());
        assert!(
            PostingList::<F>::new(&[0; 64], 127, u32::MAX)
                .unwrap()
                .collect()
                .is_err()
        );
    }
}
