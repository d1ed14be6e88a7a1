//! The header and the region table: the first bytes of the file and the map to all the others.
//!
//! In: the whole file's bytes. Out: [`Layout`], the checked header and where each region lies. Everything here
//! is read when a file is opened, and nothing else is, so opening costs the same for any number of records.
//! Spec chapter 2.

use super::checksum::{Hash, blake2b, crc32};
use crate::error::OpenError;
use std::ops::Range;

/// The first eight bytes: a byte that is no text, a name, and line ends that a text-mode transfer would alter
/// (the idea is PNG's).
pub(crate) const MAGIC: [u8; 8] = [0x89, b'D', b'I', b'X', 0x0d, 0x0a, 0x1a, 0x0a];
/// Version of everything in `format-spec.md`.
pub(crate) const FORMAT_VERSION: u32 = 1;
/// Version of the rules that make terms out of text.
pub(crate) const ANALYZER_VERSION: u32 = 1;

/// A field of fixed place and length, as the tables of the specification have them.
#[cfg(test)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

macro_rules! fields {
    ($table:ident: $($constant:ident = $name:literal at $offset:literal, $length:literal;)*) => {
        $(const $constant: Range<usize> = $offset..$offset + $length;)*
        #[cfg(test)]
        pub(crate) const $table: &[Field] =
            &[$(Field { name: $name, offset: $offset, length: $length }),*];
    };
}

fields! { HEADER_FIELDS:
    H_MAGIC = "magic" at 0, 8;
    H_FORMAT_VERSION = "format version" at 8, 4;
    H_ANALYZER_VERSION = "analyzer version" at 12, 4;
    H_FILE_LENGTH = "file length" at 16, 8;
    H_REGION_COUNT = "region count" at 24, 4;
    H_TABLE_CHECKSUM = "region table checksum" at 28, 4;
    H_CONTENT_HASH = "content hash" at 32, 32;
    H_OPTIONS_HASH = "options hash" at 64, 32;
    H_UNICODE_VERSION = "unicode version" at 96, 4;
    H_NORMALIZATION_VERSION = "normalization version" at 100, 4;
    H_SHARD_NUMBER = "shard number" at 104, 4;
    H_SHARD_COUNT = "shard count" at 108, 4;
    H_RESERVED = "reserved" at 112, 12;
    H_CHECKSUM = "header checksum" at 124, 4;
}

/// Bytes of the header; the region table follows at once.
pub(crate) const HEADER_LENGTH: usize = 128;

fields! { REGION_ENTRY_FIELDS:
    R_TAG = "tag" at 0, 4;
    R_FLAGS = "flags" at 4, 4;
    R_OFFSET = "offset" at 8, 8;
    R_LENGTH = "length" at 16, 8;
    R_CHECKSUM = "checksum" at 24, 4;
    R_RESERVED = "reserved" at 28, 4;
}

/// Bytes of an entry of the region table.
pub(crate) const REGION_ENTRY_LENGTH: usize = 32;
/// The only flag of a region: readers that do not know its tag must refuse the file.
pub(crate) const REQUIRED: u32 = 1;
/// More regions than any release will have; bounds the work of opening a hostile file.
pub(crate) const MAX_REGIONS: u32 = 64;

macro_rules! tags {
    ($($(#[$doc:meta])* $variant:ident = $tag:literal, $whole:literal, $shard:literal;)*) => {
        /// The regions of this format version, in the order of the file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Tag { $($(#[$doc])* $variant),* }

        impl Tag {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

            /// The four letters in the file.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $tag),* }
            }

            /// Whether a whole index, or a shard, must have the region.
            const fn needed(self, is_shard: bool) -> bool {
                let (in_whole, in_shard) = match self { $(Self::$variant => ($whole, $shard)),* };
                if is_shard { in_shard } else { in_whole }
            }
        }
    };
}

tags! {
    /// Counts, averages and options.
    Metadata = "META", true, true;
    /// Document records.
    Documents = "DOCS", true, true;
    /// Records.
    Records = "RECS", true, true;
    /// Field lengths of the records.
    Lengths = "LENS", true, true;
    /// Strings of documents and records.
    Heap = "HEAP", true, true;
    /// Where the text blocks are.
    TextBlockTable = "TBLK", true, true;
    /// Text blocks.
    Text = "TEXT", true, true;
    /// Term dictionary.
    Terms = "TERM", true, true;
    /// Posting lists.
    Postings = "POST", true, true;
    /// Words that stand for others, in whole indexes only.
    Expansions = "EXPN", true, false;
    /// Links between sections, in shards only.
    Links = "LINK", false, true;
    /// Acronyms as they were found, in shards only.
    Acronyms = "ACRO", false, true;
}

impl Tag {
    fn from_bytes(bytes: [u8; 4]) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|tag| tag.name().as_bytes() == bytes)
    }
}

/// What the header says beside the layout itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) content_hash: Hash,
    pub(crate) options_hash: Hash,
    pub(crate) unicode_version: u32,
    pub(crate) normalization_version: u32,
    /// `(number, count)`, number from 1; none for a whole index.
    pub(crate) shard: Option<(u32, u32)>,
}

/// One entry of the region table, checked to lie within the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    /// None: an optional region that this release does not know.
    pub(crate) tag: Option<Tag>,
    pub(crate) range: Range<usize>,
    pub(crate) checksum: u32,
}

/// The checked header and region table.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) header: Header,
    pub(crate) regions: Vec<Region>,
}

impl Layout {
    /// Range of a region; empty for one that need not be there and is not.
    pub(crate) fn range(&self, tag: Tag) -> Range<usize> {
        self.regions
            .iter()
            .find(|region| region.tag == Some(tag))
            .map_or(0..0, |region| region.range.clone())
    }
}

fn u32_at(bytes: &[u8], range: Range<usize>) -> u32 {
    array_at(bytes, range).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], range: Range<usize>) -> u64 {
    array_at(bytes, range).map_or(0, u64::from_le_bytes)
}

fn array_at<const N: usize>(bytes: &[u8], range: Range<usize>) -> Option<[u8; N]> {
    bytes.get(range)?.try_into().ok()
}

/// Packs a Unicode version into a number that orders like it.
fn packed_version((major, minor, update): (u8, u8, u8)) -> u32 {
    u32::from_be_bytes([0, major, minor, update])
}

/// Version of this program's tables for letters and case.
pub(crate) fn unicode_version() -> u32 {
    packed_version(char::UNICODE_VERSION)
}

/// Version of this program's tables for normalisation.
pub(crate) fn normalization_version() -> u32 {
    packed_version(unicode_normalization::UNICODE_VERSION)
}

/// Reads and checks the header and the region table.
pub(crate) fn read(bytes: &[u8]) -> Result<Layout, OpenError> {
    let invalid_header = |reason| OpenError::Invalid {
        part: "header",
        reason,
    };
    let header = match bytes.get(..HEADER_LENGTH) {
        Some(header) if header.starts_with(&MAGIC) => header,
        _ => return Err(refuse_start(bytes)),
    };
    // The version is looked at before the checksum: another version may check itself in another way.
    let format_version = u32_at(header, H_FORMAT_VERSION);
    if format_version != FORMAT_VERSION {
        return Err(OpenError::FormatVersion {
            found: format_version,
            expected: FORMAT_VERSION,
        });
    }
    check(
        "header",
        header.get(..H_CHECKSUM.start).unwrap_or_default(),
        u32_at(header, H_CHECKSUM),
    )?;
    let analyzer_version = u32_at(header, H_ANALYZER_VERSION);
    if analyzer_version != ANALYZER_VERSION {
        return Err(OpenError::AnalyzerVersion {
            found: analyzer_version,
            expected: ANALYZER_VERSION,
        });
    }
    if header
        .get(H_RESERVED)
        .is_some_and(|reserved| reserved.iter().any(|&byte| byte != 0))
    {
        return Err(invalid_header("a reserved byte is not zero"));
    }
    let file_length = u64_at(header, H_FILE_LENGTH);
    if file_length != bytes.len() as u64 {
        return Err(OpenError::Length {
            found: bytes.len() as u64,
            expected: file_length,
        });
    }
    let shard = match (u32_at(header, H_SHARD_NUMBER), u32_at(header, H_SHARD_COUNT)) {
        (0, 0) => None,
        (number, count) if (1..=count).contains(&number) => Some((number, count)),
        _ => return Err(invalid_header("the shard number is not within its count")),
    };
    let count = u32_at(header, H_REGION_COUNT);
    if count > MAX_REGIONS {
        return Err(invalid_header("too many regions"));
    }
    let table_end = (count as usize)
        .saturating_mul(REGION_ENTRY_LENGTH)
        .saturating_add(HEADER_LENGTH);
    let table = bytes
        .get(HEADER_LENGTH..table_end)
        .ok_or_else(|| invalid_header("the region table does not fit the file"))?;
    check("region table", table, u32_at(header, H_TABLE_CHECKSUM))?;
    let regions = read_table(table, table_end, bytes.len())?;
    if let Some(tag) = Tag::ALL
        .iter()
        .find(|tag| tag.needed(shard.is_some()) && !regions.iter().any(|region| region.tag == Some(**tag)))
    {
        return Err(OpenError::MissingRegion { tag: tag.name() });
    }
    Ok(Layout {
        header: Header {
            content_hash: array_at(header, H_CONTENT_HASH).unwrap_or_default(),
            options_hash: array_at(header, H_OPTIONS_HASH).unwrap_or_default(),
            unicode_version: u32_at(header, H_UNICODE_VERSION),
            normalization_version: u32_at(header, H_NORMALIZATION_VERSION),
            shard,
        },
        regions,
    })
}

/// Why bytes that do not begin like an index are refused.
fn refuse_start(bytes: &[u8]) -> OpenError {
    let start = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    if start == MAGIC {
        return OpenError::Length {
            found: bytes.len() as u64,
            expected: HEADER_LENGTH as u64,
        };
    }
    // The name is right and what follows is not: line ends were translated, or the high bit was cut off.
    let is_named = start.get(1..4) == Some(b"DIX".as_slice());
    let is_first = start
        .first()
        .is_some_and(|&byte| byte == MAGIC[0] || byte == MAGIC[0] & 0x7f);
    if is_named && is_first && start.get(4).is_some_and(|&byte| byte == b'\r' || byte == b'\n') {
        return OpenError::TextMode;
    }
    OpenError::Magic
}

fn check(part: &'static str, bytes: &[u8], expected: u32) -> Result<(), OpenError> {
    let found = crc32(bytes);
    if found == expected {
        Ok(())
    } else {
        Err(OpenError::Checksum {
            part,
            found,
            expected,
        })
    }
}

/// Entries must be contiguous, from the table's end to the file's end, so that no byte is unaccounted for.
fn read_table(table: &[u8], table_end: usize, file_length: usize) -> Result<Vec<Region>, OpenError> {
    let invalid = |reason| OpenError::Invalid {
        part: "region table",
        reason,
    };
    let mut regions: Vec<Region> = Vec::with_capacity(table.len() / REGION_ENTRY_LENGTH);
    let mut end = table_end;
    for entry in table.chunks_exact(REGION_ENTRY_LENGTH) {
        let flags = u32_at(entry, R_FLAGS);
        if flags & !REQUIRED != 0 {
            return Err(invalid("an unknown flag is set"));
        }
        if u32_at(entry, R_RESERVED) != 0 {
            return Err(invalid("a reserved byte is not zero"));
        }
        let raw_tag: [u8; 4] = array_at(entry, R_TAG).unwrap_or_default();
        let tag = Tag::from_bytes(raw_tag);
        if tag.is_none() && flags & REQUIRED != 0 {
            return Err(OpenError::UnknownRegion {
                tag: String::from_utf8_lossy(&raw_tag).into_owned(),
            });
        }
        if tag.is_some() && regions.iter().any(|region| region.tag == tag) {
            return Err(invalid("a region is there twice"));
        }
        let start = usize::try_from(u64_at(entry, R_OFFSET)).ok();
        let length = usize::try_from(u64_at(entry, R_LENGTH)).ok();
        let range = match (start, length) {
            (Some(start), Some(length)) if start == end => {
                let stop = start.checked_add(length).filter(|&stop| stop <= file_length);
                start..stop.ok_or_else(|| invalid("a region does not fit the file"))?
            }
            _ => return Err(invalid("regions are not contiguous")),
        };
        end = range.end;
        regions.push(Region {
            tag,
            range,
            checksum: u32_at(entry, R_CHECKSUM),
        });
    }
    if end == file_length {
        Ok(regions)
    } else {
        Err(invalid("bytes follow the last region"))
    }
}

/// Puts header, region table and regions together.
pub(crate) fn assemble(regions: &[(Tag, Vec<u8>)], options_hash: Hash, shard: Option<(u32, u32)>) -> Vec<u8> {
    let table_length = regions.len().saturating_mul(REGION_ENTRY_LENGTH);
    let mut offset = HEADER_LENGTH.saturating_add(table_length) as u64;
    let mut table = Vec::with_capacity(table_length);
    for (tag, content) in regions {
        let length = content.len() as u64;
        let mut entry = [0_u8; REGION_ENTRY_LENGTH];
        put(&mut entry, R_TAG, tag.name().as_bytes());
        put(&mut entry, R_FLAGS, &REQUIRED.to_le_bytes());
        put(&mut entry, R_OFFSET, &offset.to_le_bytes());
        put(&mut entry, R_LENGTH, &length.to_le_bytes());
        put(&mut entry, R_CHECKSUM, &crc32(content).to_le_bytes());
        table.extend_from_slice(&entry);
        offset = offset.saturating_add(length);
    }
    let mut pieces: Vec<&[u8]> = vec![&table];
    pieces.extend(regions.iter().map(|(_, content)| content.as_slice()));

    let mut header = [0_u8; HEADER_LENGTH];
    put(&mut header, H_MAGIC, &MAGIC);
    put(&mut header, H_FORMAT_VERSION, &FORMAT_VERSION.to_le_bytes());
    put(&mut header, H_ANALYZER_VERSION, &ANALYZER_VERSION.to_le_bytes());
    put(&mut header, H_FILE_LENGTH, &offset.to_le_bytes());
    put(&mut header, H_REGION_COUNT, &(regions.len() as u32).to_le_bytes());
    put(&mut header, H_TABLE_CHECKSUM, &crc32(&table).to_le_bytes());
    put(&mut header, H_CONTENT_HASH, &blake2b(&pieces));
    put(&mut header, H_OPTIONS_HASH, &options_hash);
    put(&mut header, H_UNICODE_VERSION, &unicode_version().to_le_bytes());
    put(
        &mut header,
        H_NORMALIZATION_VERSION,
        &normalization_version().to_le_bytes(),
    );
    let (number, count) = shard.unwrap_or((0, 0));
    put(&mut header, H_SHARD_NUMBER, &number.to_le_bytes());
    put(&mut header, H_SHARD_COUNT, &count.to_le_bytes());
    let checksum = crc32(header.get(..H_CHECKSUM.start).unwrap_or_default());
    put(&mut header, H_CHECKSUM, &checksum.to_le_bytes());

    let mut file = Vec::with_capacity(usize::try_from(offset).unwrap_or(0));
    file.extend_from_slice(&header);
    for piece in pieces {
        file.extend_from_slice(piece);
    }
    file
}

fn put(bytes: &mut [u8], range: Range<usize>, value: &[u8]) {
    if let Some(place) = bytes.get_mut(range) {
        place.copy_from_slice(value);
    }
}

/// Makes every checksum and the content hash right again after a test has altered anything.
#[cfg(test)]
pub(crate) fn reseal_all(file: &mut [u8]) {
    let count = u32_at(file, H_REGION_COUNT) as usize;
    for number in 0..count {
        let start = HEADER_LENGTH + number * REGION_ENTRY_LENGTH;
        let entry = &file[start..start + REGION_ENTRY_LENGTH];
        let (offset, length) = (u64_at(entry, R_OFFSET) as usize, u64_at(entry, R_LENGTH) as usize);
        let checksum = crc32(&file[offset..offset + length]);
        put(
            &mut file[start..start + REGION_ENTRY_LENGTH],
            R_CHECKSUM,
            &checksum.to_le_bytes(),
        );
    }
    let hash = blake2b(&[&file[HEADER_LENGTH..]]);
    put(file, H_CONTENT_HASH, &hash);
    reseal(file);
}

/// Makes the checksums of the header and the region table right again after a test has altered them.
#[cfg(test)]
pub(crate) fn reseal(file: &mut [u8]) {
    let count = u32_at(file, H_REGION_COUNT) as usize;
    let table = crc32(
        file.get(HEADER_LENGTH..HEADER_LENGTH + count * REGION_ENTRY_LENGTH)
            .unwrap_or_default(),
    );
    put(file, H_TABLE_CHECKSUM, &table.to_le_bytes());
    let header = crc32(&file[..H_CHECKSUM.start]);
    put(file, H_CHECKSUM, &header.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let regions: Vec<_> = Tag::ALL
            .iter()
            .filter(|tag| tag.needed(false))
            .enumerate()
            .map(|(i, &tag)| (tag, vec![i as u8; i + 1]))
            .collect();
        assemble(&regions, [7; 32], None)
    }

    #[test]
    fn fields_are_contiguous_and_cover_their_structures() {
        for (fields, length) in [
            (HEADER_FIELDS, HEADER_LENGTH),
            (REGION_ENTRY_FIELDS, REGION_ENTRY_LENGTH),
        ] {
            let mut end = 0;
            for field in fields {
                assert_eq!(field.offset, end, "{}", field.name);
                end += field.length;
            }
            assert_eq!(end, length);
        }
    }

    #[test]
    fn what_was_assembled_is_read_back() {
        let file = sample();
        let layout = read(&file).unwrap();
        assert_eq!(layout.header.options_hash, [7; 32]);
        assert_eq!(layout.header.shard, None);
        assert_eq!(&file[layout.range(Tag::Records)], &[2, 2, 2]);
        assert_eq!(layout.range(Tag::Links), 0..0);
    }

    #[test]
    fn every_flipped_bit_of_header_and_table_is_refused() {
        let file = sample();
        let end = HEADER_LENGTH + read(&file).unwrap().regions.len() * REGION_ENTRY_LENGTH;
        for at in 0..end {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                // The content hash in the header is covered by the header's checksum.
                assert!(read(&damaged).is_err(), "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn every_shorter_length_is_refused() {
        let file = sample();
        for length in 0..file.len() {
            assert!(read(&file[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn reasons_name_the_remedy() {
        let file = sample();
        let altered = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut file = file.clone();
            change(&mut file);
            read(&file).unwrap_err()
        };
        assert!(matches!(altered(&|f| f.clear()), OpenError::Magic));
        assert!(matches!(altered(&|f| f[0] = b'#'), OpenError::Magic));
        assert!(matches!(
            altered(&|f| {
                f.remove(4);
            }),
            OpenError::TextMode
        ));
        assert!(matches!(altered(&|f| f[0] &= 0x7f), OpenError::TextMode));
        assert!(matches!(altered(&|f| f.truncate(100)), OpenError::Length { .. }));
        assert!(matches!(altered(&|f| f.push(0)), OpenError::Length { .. }));
        assert!(matches!(
            altered(&|f| f[8] = 9),
            OpenError::FormatVersion {
                found: 9,
                expected: 1
            }
        ));
        let resealed = |change: &dyn Fn(&mut Vec<u8>)| {
            altered(&|f| {
                change(f);
                reseal(f);
            })
        };
        assert!(matches!(
            resealed(&|f| f[12] = 9),
            OpenError::AnalyzerVersion { found: 9, .. }
        ));
        assert!(matches!(
            resealed(&|f| f[113] = 1),
            OpenError::Invalid { part: "header", .. }
        ));
        assert!(matches!(
            resealed(&|f| f[104] = 1),
            OpenError::Invalid { part: "header", .. }
        ));
        assert!(matches!(
            resealed(&|f| f[25] = 1),
            OpenError::Invalid { part: "header", .. }
        ));
        let entry = HEADER_LENGTH + REGION_ENTRY_LENGTH;
        assert!(matches!(
            resealed(&|f| f[entry] = b'X'),
            OpenError::UnknownRegion { tag } if tag == "XOCS"
        ));
        assert!(matches!(
            resealed(&|f| {
                f[entry] = b'X';
                f[entry + 4] = 0;
            }),
            OpenError::MissingRegion { tag: "DOCS" }
        ));
        for (at, value) in [(4, 3), (8, 1), (16, 200), (23, 255), (28, 1)] {
            assert!(
                matches!(
                    resealed(&|f| f[entry + at] = value),
                    OpenError::Invalid {
                        part: "region table",
                        ..
                    }
                ),
                "{at}"
            );
        }
        assert!(matches!(
            resealed(&|f| f.copy_within(HEADER_LENGTH..HEADER_LENGTH + 4, entry)),
            OpenError::Invalid {
                reason: "a region is there twice",
                ..
            }
        ));
    }

    #[test]
    fn an_unknown_optional_region_is_skipped() {
        let mut regions: Vec<_> = Tag::ALL
            .iter()
            .filter(|tag| tag.needed(false))
            .map(|&tag| (tag, vec![1]))
            .collect();
        let place = regions.len();
        regions.push((Tag::Links, vec![2; 5]));
        let mut file = assemble(&regions, [0; 32], None);
        let entry = HEADER_LENGTH + place * REGION_ENTRY_LENGTH;
        file[entry..entry + 4].copy_from_slice(b"VECT");
        file[entry + 4] = 0;
        reseal(&mut file);
        assert_eq!(read(&file).unwrap().regions[place].tag, None);
    }
}
