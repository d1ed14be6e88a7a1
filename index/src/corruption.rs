//! Damaged and hostile files: an error or the right answer, never a panic, a hang or a large allocation.

use crate::{Index, MergeError, SearchRequest, format::layout, merge, sample};

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
    let file = sample::build(&sample::documents(), &sample::options()).into_bytes();
    let regions = layout::read(&file).unwrap().regions;
    for (number, region) in regions.iter().enumerate() {
        let step = (region.range.len() / 120).max(1);
        for at in region.range.clone().step_by(step) {
            for value in [0x00, 0x7f, 0xff] {
                let mut hostile = file.clone();
                let end = (at + 1 + number % 4).min(region.range.end);
                hostile[at..end].fill(value);
                use_all(hostile);
            }
        }
    }
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
        crate::IndexOptions {
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
        &crate::IndexOptions {
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
