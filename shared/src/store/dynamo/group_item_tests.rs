//! A group survives storage, and its item stays below one write unit.

use longshore_domain::group::CHUNKS_PER_GROUP;

use super::*;

/// The longest possible cursor: tens of rounds never happen, a chunk has fewer than a million items, a nonce has
/// eight characters, and an attempt commits about once a second of its 15 minutes.
fn longest_cursor() -> Cursor {
    Cursor {
        round: 9,
        position: 99_999,
        token: "abcdefgh899".into(),
        file: Some("abcdefgh898".into()),
        deferred: 99_999,
        due: Some(Timestamp(9_999_999_999_000)),
        finished: false,
        by_sweeper: true,
    }
}

fn full_group() -> Group {
    let cursors = (0..CHUNKS_PER_GROUP as u32).map(|chunk| (chunk, longest_cursor())).collect();
    let counts = Counts { succeeded: 1_600_000, failed: 1_600_000, skipped: 1_600_000 };
    let group = Group::new(99_999, 4_800_000, 16 << 24, Timestamp(1_700_000_000_123));
    Group { counts, cursors, resends: 3, ..group }
}

/// Returns a value's size by DynamoDB's rules: names and strings in UTF-8 bytes; a number one byte per two digits and
/// one more; a Boolean one; a map three and one more per entry.
fn size(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        AttributeValue::Bool(_) => 1,
        AttributeValue::M(map) => 3 + map.iter().map(|(name, value)| 1 + name.len() + size(value)).sum::<usize>(),
        other => panic!("a group has no {other:?}"),
    }
}

#[test]
fn a_group_with_the_longest_cursors_takes_one_write_unit() {
    let item = to_item(JobId::generate(), &full_group(), 1_700_000_000);
    let bytes: usize = item.iter().map(|(name, value)| name.len() + size(value)).sum();
    assert!(bytes <= 1024, "{bytes} bytes");
    assert!(bytes > 900, "{bytes} bytes: there is room for more chunks");
}

#[test]
fn a_group_survives_storage() {
    for group in [full_group(), Group { open: false, ..full_group() }, Group::new(0, 1, 1, Timestamp(1))] {
        assert_eq!(from_item(&to_item(JobId::generate(), &group, 9)).unwrap(), group);
    }
}

#[test]
fn a_group_of_an_older_version_was_sent_when_it_progressed() {
    let mut item = to_item(JobId::generate(), &full_group(), 9);
    item.remove("sentAt");
    let group = from_item(&item).unwrap();
    assert_eq!(group.sent_at, group.progressed_at);
}

#[test]
fn a_manifest_survives_storage() {
    let chunk = |oversize| ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize };
    let manifest = Manifest { group: 7, chunks: vec![chunk(false), chunk(true)] };
    let group = CommittedGroup { manifest, at: Timestamp(5) };
    let item = manifest_item(JobId::generate(), &group, 9).unwrap();
    assert_eq!(manifest_from_item(7, &item).unwrap(), group);
}

#[test]
fn an_unreadable_cursor_is_damage() {
    let mut item = to_item(JobId::generate(), &full_group(), 9);
    item.insert("cur".into(), AttributeValue::M(HashMap::from([("0".into(), text("what?"))])));
    assert!(from_item(&item).is_err());
}
