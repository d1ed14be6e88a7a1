//! Links between sections: region LINK, which only shards have.
//!
//! The text of a link is a field of the record it points at, and where it points is known only when all
//! documents are. A shard therefore keeps its links as they were written; merging resolves them. Spec
//! chapter 10.

use super::{layout::Tag, section_table::take_text, varint};
use crate::error::ReadError;

/// A link as a shard keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredLink {
    /// Record that holds the link.
    pub(crate) record: u32,
    /// Path it names; see [`crate::LinkSource`].
    pub(crate) path: Vec<u8>,
    pub(crate) fragment: String,
    pub(crate) text: String,
}

/// Bytes of region LINK.
pub(crate) fn encode(links: &[StoredLink]) -> Vec<u8> {
    let mut region = Vec::new();
    varint::encode(links.len() as u64, &mut region);
    for link in links {
        varint::encode(u64::from(link.record), &mut region);
        for bytes in [&link.path[..], link.fragment.as_bytes(), link.text.as_bytes()] {
            varint::encode(bytes.len() as u64, &mut region);
            region.extend_from_slice(bytes);
        }
    }
    region
}

/// Reads region LINK; records are below `records`.
pub(crate) fn decode(region: &[u8], records: u32) -> Result<Vec<StoredLink>, ReadError> {
    read(region, records).ok_or(ReadError::damaged(Tag::Links, "a link cannot be read"))
}

fn read(mut region: &[u8], records: u32) -> Option<Vec<StoredLink>> {
    let rest = &mut region;
    let count = varint::decode(rest)?;
    let mut links = Vec::new();
    for _ in 0..count {
        let record = varint::decode_u32(rest).filter(|&record| record < records)?;
        let path = varint::decode(rest)?;
        let path = varint::take(rest, path)?.to_vec();
        let fragment = varint::decode(rest)?;
        let fragment = take_text(rest, fragment)?.to_owned();
        let text = varint::decode(rest)?;
        let text = take_text(rest, text)?.to_owned();
        links.push(StoredLink {
            record,
            path,
            fragment,
            text,
        });
    }
    rest.is_empty().then_some(links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn links_are_read_back(links in prop::collection::vec((0_u32..50, any::<Vec<u8>>(), ".*", ".*"), 0..9)) {
            let links: Vec<_> = links
                .into_iter()
                .map(|(record, path, fragment, text)| StoredLink { record, path, fragment, text })
                .collect();
            let region = encode(&links);
            prop_assert_eq!(decode(&region, 50).unwrap(), links.clone());
            prop_assert!(decode(&region, 0).is_err() || links.is_empty());
            for length in 0..region.len() {
                prop_assert!(decode(&region[..length], 50).is_err());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(region in any::<Vec<u8>>()) {
            let _ = decode(&region, 9);
        }
    }
}
