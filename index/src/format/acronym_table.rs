//! Acronyms as they were found: region ACRO, which only shards have.
//!
//! Which long form of an acronym is the most frequent one is known only when all documents are. A shard therefore keeps
//! how often each was found; merging adds the counts. Spec chapter 13.

use super::{layout::Tag, section_table::take_text, varint};
use crate::{error::ReadError, search::acronyms::Acronym};
use std::collections::BTreeMap;

/// Bytes of region ACRO.
pub(crate) fn encode(acronyms: &BTreeMap<Acronym, u32>) -> Vec<u8> {
    let mut region = Vec::new();
    varint::encode(acronyms.len() as u64, &mut region);
    for (acronym, &count) in acronyms {
        for text in [&acronym.letters, &acronym.long_form] {
            varint::encode(text.len() as u64, &mut region);
            region.extend_from_slice(text.as_bytes());
        }
        varint::encode(u64::from(count), &mut region);
    }
    region
}

/// Reads region ACRO.
pub(crate) fn decode(region: &[u8]) -> Result<BTreeMap<Acronym, u32>, ReadError> {
    read(region).ok_or(ReadError::damaged(Tag::Acronyms, "an acronym cannot be read"))
}

fn read(mut region: &[u8]) -> Option<BTreeMap<Acronym, u32>> {
    let rest = &mut region;
    let mut acronyms = BTreeMap::new();
    for _ in 0..varint::decode(rest)? {
        let letters = varint::decode(rest)?;
        let letters = take_text(rest, letters)?.to_owned();
        let long_form = varint::decode(rest)?;
        let long_form = take_text(rest, long_form)?.to_owned();
        let count = varint::decode_u32(rest).filter(|&count| count > 0)?;
        let acronym = Acronym { letters, long_form };
        if acronyms
            .last_key_value()
            .is_some_and(|(last, _)| *last >= acronym)
        {
            return None;
        }
        acronyms.insert(acronym, count);
    }
    rest.is_empty().then_some(acronyms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn acronym(letters: &str, long_form: &str) -> Acronym {
        Acronym {
            letters: letters.to_owned(),
            long_form: long_form.to_owned(),
        }
    }

    #[test]
    fn the_example_of_the_specification() {
        let found = BTreeMap::from([
            (acronym("ci", "chosen item"), 1),
            (acronym("ci", "continuous integration"), 300),
        ]);
        let region = b"\x02\x02ci\x0bchosen item\x01\x02ci\x16continuous integration\xac\x02";
        assert_eq!(encode(&found), region);
        assert_eq!(decode(region).unwrap(), found);
        for wrong in [
            &b"\x01\x02ci\x0bchosen item\x00"[..],
            b"\x02\x02ci\x03b c\x01\x02ci\x03a b\x01",
            b"\x02\x02ci\x03b c\x01\x02ci\x03b c\x01",
            b"\x00\x00",
        ] {
            assert!(decode(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn acronyms_are_read_back(found in prop::collection::btree_map((".{0,4}", ".{0,9}"), 1_u32.., 0..9)) {
            let found = found.into_iter().map(|((a, b), count)| (acronym(&a, &b), count)).collect();
            let region = encode(&found);
            prop_assert_eq!(decode(&region).unwrap(), found);
            for length in 0..region.len() {
                prop_assert!(decode(&region[..length]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(region in any::<Vec<u8>>()) {
            let _ = decode(&region);
        }
    }
}
