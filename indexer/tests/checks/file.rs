//! Any bytes are an index file, or an error.

use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};
use docs_index::{Index, SearchRequest};

const HEADER_LENGTH: usize = 128;
const REGION_LENGTH: usize = 32;
/// Records and documents that are read.
const READ: u32 = 50;

/// A file from a stranger gives answers or errors, whatever stands in it. With the setting 1 its checksums are made
/// right first, so that what lies behind them is reached.
///
/// # Panics
///
/// Where the library does.
pub fn open_and_search(input: &[u8]) {
    let Some((&settings, bytes)) = input.split_first() else {
        return;
    };
    let mut bytes = bytes.to_vec();
    if settings & 1 == 1 {
        reseal(&mut bytes);
    }
    let Ok(index) = Index::from_bytes(bytes) else {
        return;
    };
    let summary = index.summary();
    for number in 0..summary.documents.min(READ) {
        let _ = index.document(number).map(|document| document.id());
    }
    for number in 0..summary.records.min(READ) {
        if let Ok(record) = index.record(number) {
            let _ = (record.id(), record.heading_path(), record.aliases().count());
        }
        let _ = index.text(number);
    }
    for id in ["docs/uploads.md#example~2", "docs/forms.md#gone", "uploads"] {
        let _ = (index.find(id), index.find_leniently(id));
    }
    let _ = index.similar_ids("docs/form.md#field", 3);
    let _ = (index.synonyms(), index.acronym_count());
    for query in [
        "upload a file",
        "\"entry 7\" -green",
        "uplaod sned dtf",
        "検索",
        "wpload",
    ] {
        for (grouped, path_prefix) in [(true, None), (false, Some("docs/"))] {
            let request = SearchRequest {
                grouped,
                path_prefix,
                ..SearchRequest::new(query)
            };
            let _ = (index.search(&request), index.explain(&request));
        }
    }
    let _ = index.verify();
}

/// Makes the checksums and the content hash right, as far as the region table leads to bytes of the file.
fn reseal(file: &mut [u8]) {
    if file.len() < HEADER_LENGTH {
        return;
    }
    let length = file.len() as u64;
    file[16..24].copy_from_slice(&length.to_le_bytes());
    let count = number(file, 24, 4).min((file.len() - HEADER_LENGTH) / REGION_LENGTH);
    let table_end = HEADER_LENGTH + count * REGION_LENGTH;
    for entry in (HEADER_LENGTH..table_end).step_by(REGION_LENGTH) {
        let (offset, length) = (number(file, entry + 8, 8), number(file, entry + 16, 8));
        if let Some(region) = offset.checked_add(length).and_then(|end| file.get(offset..end)) {
            let checksum = crc32(region);
            file[entry + 24..entry + 28].copy_from_slice(&checksum.to_le_bytes());
        }
    }
    let hash = Blake2b::<U32>::digest(&file[HEADER_LENGTH..]);
    file[32..64].copy_from_slice(&hash);
    let table = crc32(&file[HEADER_LENGTH..table_end]);
    file[28..32].copy_from_slice(&table.to_le_bytes());
    let header = crc32(&file[..124]);
    file[124..128].copy_from_slice(&header.to_le_bytes());
}

fn number(file: &[u8], at: usize, length: usize) -> usize {
    let mut bytes = [0; 8];
    bytes[..length].copy_from_slice(&file[at..at + length]);
    usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX)
}

/// CRC-32 as in zlib.
fn crc32(bytes: &[u8]) -> u32 {
    let rest = bytes.iter().fold(u32::MAX, |rest, &byte| {
        (0..8).fold(rest ^ u32::from(byte), |rest, _| {
            (rest >> 1) ^ (0xEDB8_8320 & (rest & 1).wrapping_neg())
        })
    });
    !rest
}
