//! Damaged and hostile files: an error or the right answer, never a panic, a hang or a large allocation.

use crate::{
    Index, IndexOptions, MergeError, ReadError, SearchRequest, VerifyError, WriteError,
    format::layout::{self, Tag},
    merge, prepare, sample,
};

/// Opens and uses an index in every way; what it answers does not matter.
fn use_all(bytes: Vec<u8>) -> bool {
    let Ok(index) = Index::from_bytes(bytes) else {
        return false;
    };
    let summary = index.summary();
    for number in 0..summary.documents.min(300) {
        let _ = index.document(number);
    }
    for number in 0..summary.records.min(300) {
        if let Ok(record) = index.record(number) {
            let _ = (record.id(), record.heading_path(), record.aliases().count());
        }
        let _ = index.text(number);
    }
    for id in [
        "docs/uploads.md#example~2",
        "docs/forms.md#gone",
        "uploads",
        "docs/log.md",
    ] {
        let _ = index.find(id);
        let _ = index.find_leniently(id);
    }
    let _ = index.similar_ids("docs/form.md#field", 3);
    let _ = (index.synonyms(), index.acronym_count());
    if let Ok(expansions) = index.expansions() {
        for term in ["send", "dtf", "deep", "field", "absent"] {
            let _ = (
                expansions.synonyms(term),
                expansions.long_forms(term),
                expansions.acronyms_of(term),
            );
        }
    }
    for query in ["upload file entry", "green log", "uplaod", "検索"] {
        for grouped in [true, false] {
            let request = SearchRequest {
                grouped,
                path_prefix: Some("docs/"),
                ..SearchRequest::new(query)
            };
            let _ = index.search(&request);
        }
    }
    index.verify().is_ok()
}

fn small() -> Vec<u8> {
    let documents = sample::documents();
    sample::build(&documents[..3], &sample::options()).into_bytes()
}

#[test]
fn every_truncation_of_a_small_file_is_refused() {
    let file = small();
    assert!(use_all(file.clone()));
    for length in 0..file.len() {
        assert!(Index::from_bytes(file[..length].to_vec()).is_err(), "{length}");
    }
}

#[test]
fn a_flipped_bit_anywhere_is_found_by_verify_and_harms_nothing() {
    let file = small();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(!use_all(damaged), "byte {at}");
    }
}

#[test]
fn wild_values_under_right_checksums_harm_nothing() {
    // Checksums only find accidents: whoever makes a hostile file makes them fit.
    let documents = sample::documents();
    for file in [
        sample::build(&documents, &sample::options()).into_bytes(),
        sample::build(
            &documents,
            &IndexOptions {
                raw_text: false,
                ..sample::options()
            },
        )
        .into_bytes(),
    ] {
        for (number, region) in layout::read(&file).unwrap().regions.iter().enumerate() {
            let step = (region.range.len() / 60).max(1);
            for at in region.range.clone().step_by(step) {
                for value in [0x00, 0x7f, 0xff] {
                    let mut hostile = file.clone();
                    let end = (at + 1 + number % 4).min(region.range.end);
                    hostile[at..end].fill(value);
                    layout::reseal_all(&mut hostile);
                    use_all(hostile);
                }
            }
        }
    }
}

#[test]
fn wild_values_in_shards_are_refused_by_a_merge_or_harm_nothing() {
    let documents = sample::documents();
    let options = sample::options();
    let file = sample::shard_bytes(&documents[..4], &options, 1, 2);
    let other = sample::shard_bytes(&documents[4..], &options, 2, 2);
    for region in layout::read(&file).unwrap().regions {
        for at in region.range.clone().step_by((region.range.len() / 80).max(1)) {
            for value in [0x00, 0x01, 0xff] {
                let mut hostile = file.clone();
                hostile[at] = value;
                layout::reseal_all(&mut hostile);
                let Ok(hostile) = Index::from_bytes(hostile) else {
                    continue;
                };
                let other = Index::from_bytes(other.clone()).unwrap();
                if let Ok(merged) = merge(&[hostile, other]) {
                    merged.open().unwrap().verify().unwrap();
                }
            }
        }
    }
}

#[test]
fn verify_finds_wrong_numbers_under_right_checksums() {
    let file = sample::build(&sample::documents(), &sample::options()).into_bytes();
    for region in layout::read(&file).unwrap().regions {
        // What stands in these regions can be told from the rest of the file, but for what is only recorded: the
        // part limit, and the lengths of the corpus's strings, the compression level and the switches.
        let is_recorded = |place: usize| match region.tag {
            Some(Tag::Metadata) => (12..16).contains(&place) || place >= 104,
            _ => false,
        };
        if !matches!(
            region.tag,
            Some(Tag::Metadata | Tag::Lengths | Tag::TextBlockTable)
        ) {
            continue;
        }
        for (place, at) in region.range.clone().enumerate() {
            let mut wrong = file.clone();
            wrong[at] ^= 1;
            layout::reseal_all(&mut wrong);
            if !is_recorded(place) {
                assert!(!use_all(wrong), "{:?} byte {place}", region.tag);
            }
        }
    }
}

#[test]
fn circles_and_wild_graphs_in_the_term_dictionary_end() {
    let file = sample::build(&sample::documents(), &sample::options()).into_bytes();
    let terms = layout::read(&file).unwrap().range(Tag::Terms);
    // A node whose only transition leads to itself, and one with two such transitions, as the root.
    for (node, state) in [
        (&[0x00, b'u', 0x10][..], 0x80_u8),
        (&[0, 0, b'p', b'u', 0x10], 0x02),
    ] {
        let mut hostile = file.clone();
        let start = terms.start + 16;
        hostile[start..start + node.len()].copy_from_slice(node);
        hostile[start + node.len()] = state;
        let root = (16 + node.len()) as u64;
        for distance in [1_u8, 255, (256 - node.len()) as u8] {
            hostile[start] = distance;
            hostile[terms.end - 12..terms.end - 4].copy_from_slice(&root.to_le_bytes());
            layout::reseal_all(&mut hostile);
            assert!(!use_all(hostile.clone()));
        }
    }
}

#[test]
fn texts_and_ids_of_any_length_are_answered_in_bounded_time() {
    let index = sample::build(&sample::documents(), &sample::options())
        .open()
        .unwrap();
    let long = "docs form field ".repeat(60_000);
    assert!(index.similar_ids(&long, 3).unwrap().len() <= 3);
    assert_eq!(index.find_leniently(&long).unwrap(), None);
    assert!(index.search(&SearchRequest::new(&long)).unwrap().truncated);
}

#[test]
fn strings_that_are_too_long_are_cut_or_refused() {
    let mut documents = sample::documents();
    let long = "é".repeat(40_000);
    documents[2].sections[0].heading.clone_from(&long);
    documents[2].sections[0].aliases = vec![long.clone(), "short".to_owned()];
    documents[2].title.clone_from(&long);
    let index = sample::build(&documents, &sample::options()).open().unwrap();
    index.verify().unwrap();
    let record = index
        .record(index.find("docs/forms.md#forms").unwrap().unwrap())
        .unwrap();
    assert_eq!((record.heading.len(), record.aliases().count()), (65_536, 0));
    documents[2].sections[0].anchor = long;
    let refused = prepare(&documents[2], &sample::options());
    assert!(matches!(
        refused,
        Err(WriteError::NameTooLong { length: 80_000, .. })
    ));
}

#[test]
fn errors_name_what_is_wrong() {
    let documents = sample::documents();
    let index = sample::build(&documents, &sample::options()).open().unwrap();
    assert_eq!(
        index.record(999).unwrap_err(),
        ReadError::NoSuchRecord {
            number: 999,
            count: 151
        }
    );
    assert_eq!(
        index.document(6).unwrap_err(),
        ReadError::NoSuchDocument { number: 6, count: 6 }
    );
    let mut writer = crate::IndexWriter::new(sample::options());
    writer
        .add(prepare(&documents[1], &sample::options()).unwrap())
        .unwrap();
    let again = prepare(&documents[1], &sample::options()).unwrap();
    assert!(matches!(writer.add(again), Err(WriteError::Order { .. })));
    assert!(matches!(
        writer.finish_shard(3, 2),
        Err(WriteError::Shard { number: 3, count: 2 })
    ));
    let mut wrong = small();
    let last = wrong.len() - 1;
    wrong[last] ^= 1;
    let verified = Index::from_bytes(wrong).unwrap().verify();
    assert!(matches!(verified, Err(VerifyError::Checksum { region, .. }) if region == "EXPN"));
    let mut wrong = small();
    wrong[40] ^= 1;
    layout::reseal(&mut wrong);
    assert!(matches!(
        Index::from_bytes(wrong).unwrap().verify(),
        Err(VerifyError::ContentHash)
    ));
    let mut shards = sample::shards(&documents, &sample::options(), &[3]);
    let mut other_unicode = sample::shard_bytes(&documents[3..], &sample::options(), 2, 2);
    other_unicode[96] ^= 1;
    layout::reseal(&mut other_unicode);
    shards[1] = Index::from_bytes(other_unicode).unwrap();
    assert!(matches!(merge(&shards), Err(MergeError::Unicode { position: 2 })));
    let mut damaged = sample::shard_bytes(&documents[3..], &sample::options(), 2, 2);
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    shards[1] = Index::from_bytes(damaged).unwrap();
    assert!(matches!(
        merge(&shards),
        Err(MergeError::Damaged { position: 2, .. })
    ));
}

#[test]
fn swapped_regions_harm_nothing() {
    let file = small();
    let count = layout::read(&file).unwrap().regions.len();
    let entry = |number: usize| layout::HEADER_LENGTH + number * layout::REGION_ENTRY_LENGTH;
    for one in 0..count {
        for other in 0..one {
            let mut hostile = file.clone();
            for byte in 0..4 {
                hostile.swap(entry(one) + byte, entry(other) + byte);
            }
            layout::reseal(&mut hostile);
            assert!(!use_all(hostile), "{one} {other}");
        }
    }
}

#[test]
fn another_version_is_refused_by_name() {
    let mut file = small();
    file[8] = 2;
    let message = Index::from_bytes(file).unwrap_err().to_string();
    assert_eq!(
        message,
        "format version 2 cannot be read, only version 1; rebuild the index with this release"
    );
}

#[test]
fn shards_merge_to_the_bytes_of_one_build() {
    let documents = sample::documents();
    for options in [
        sample::options(),
        IndexOptions {
            incoming: false,
            raw_text: false,
            ..sample::options()
        },
    ] {
        let whole = sample::build(&documents, &options).into_bytes();
        for cuts in [&[][..], &[3], &[1, 4], &[0, 0, 2, 2, 6], &[1, 2, 3, 4, 5]] {
            let mut shards = sample::shards(&documents, &options, cuts);
            for shard in &shards {
                shard.verify().unwrap();
            }
            shards.rotate_left(cuts.len() / 2);
            assert!(merge(&shards).unwrap().into_bytes() == whole, "{cuts:?}");
        }
    }
}

#[test]
fn what_cannot_be_merged_is_refused_by_name() {
    let documents = sample::documents();
    let options = sample::options();
    let shards = |options, cuts: &[usize]| sample::shards(&documents, options, cuts);
    assert!(matches!(merge(&[]), Err(MergeError::Nothing)));
    let whole = sample::build(&documents, &options).open().unwrap();
    assert!(matches!(
        merge(&[whole]),
        Err(MergeError::NotAShard { position: 1 })
    ));
    let mut three = shards(&options, &[2, 4]);
    let last = three.pop().unwrap();
    assert!(matches!(
        merge(&three),
        Err(MergeError::Missing { number: 3, count: 3 })
    ));
    three.remove(0);
    three.push(last);
    assert!(matches!(
        merge(&three),
        Err(MergeError::Missing { number: 1, count: 3 })
    ));
    let mut twice = shards(&options, &[2]);
    twice.extend(shards(&options, &[2]));
    assert!(matches!(
        merge(&twice),
        Err(MergeError::Twice { number: 1, count: 2 })
    ));
    let mut mixed = shards(&options, &[2]);
    mixed.pop();
    mixed.extend(shards(&options, &[2, 4]));
    assert!(matches!(
        merge(&mixed),
        Err(MergeError::Mismatch {
            position: 2,
            what: "number of shards"
        })
    ));
    let mut mixed = shards(&options, &[2]);
    mixed.pop();
    mixed.extend(shards(
        &IndexOptions {
            part_limit: 1,
            ..options.clone()
        },
        &[2],
    ));
    assert!(matches!(
        merge(&mixed),
        Err(MergeError::Mismatch {
            position: 2,
            what: "set of options"
        })
    ));
}

#[test]
fn a_saved_file_replaces_the_old_one_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.idx");
    let documents = sample::documents();
    sample::build(&documents[..1], &sample::options())
        .save(&path)
        .unwrap();
    let old = Index::open(&path).unwrap();
    sample::build(&documents, &sample::options()).save(&path).unwrap();
    assert_eq!(old.summary().documents, 1);
    old.verify().unwrap();
    assert_eq!(Index::open(&path).unwrap().summary().documents, 6);
    assert_eq!(Index::open_in_memory(&path).unwrap().summary().documents, 6);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let missing = folder.path().join("no/such/folder/docs.idx");
    assert!(
        sample::build(&documents, &sample::options())
            .save(&missing)
            .is_err()
    );
    assert!(
        sample::build(&documents, &sample::options())
            .save(folder.path())
            .is_err()
    );
    assert!(Index::open(&missing).is_err());
    assert!(Index::open(folder.path()).is_err());
}
