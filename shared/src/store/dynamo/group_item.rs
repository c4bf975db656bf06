//! Groups and manifests as items. A group stays below 1,024 bytes, so that each commit costs one write unit. Its billed
//! units have short names for this reason.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::cost::ChunkUsage;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::ItemFile;
use longshore_domain::outcome::Counts;
use longshore_domain::timestamp::Timestamp;

use super::item::{Item, ItemError, number, read_number, read_text, text, time};
use super::keys::{GROUP, Key, SK};
use crate::store::own_write::CommittedGroup;

/// A chunk in a stored manifest: first item, items, start, end, and true if it is oversize. Names would double the
/// size.
type StoredPlan = (u64, u32, u64, u64, bool);

/// The item files of the chunks of a manifest, in order; absent if no chunk has one.
const KEYS: &str = "keys";

/// Names of the billed units of a group, in the order of [`units`]. Absent from groups of an earlier version.
pub(super) const UNITS: [&str; 5] = ["ms", "dl", "wu", "ru", "pu"];

/// Returns billed units: milliseconds times GB, deliveries, write units, read units and puts.
pub(super) fn units(usage: &ChunkUsage) -> [u64; 5] {
    let ChunkUsage { gb_ms, deliveries, writes, reads, object_writes } = *usage;
    [gb_ms, deliveries, writes, reads, object_writes]
}

fn usage(item: &Item) -> ChunkUsage {
    let [gb_ms, deliveries, writes, reads, object_writes] =
        UNITS.map(|name| read_number(item, name).unwrap_or_default());
    ChunkUsage { gb_ms, deliveries, writes, reads, object_writes }
}

/// Returns the item of a group.
pub(super) fn to_item(id: JobId, group: &Group, expires_at: i64) -> Item {
    let mut item = Key::group(id, group.number).attributes();
    let cursors = group.cursors.iter().map(|(chunk, cursor)| (chunk.to_string(), text(cursor.to_string())));
    item.extend(
        [
            ("items", number(group.items)),
            ("bytes", number(group.bytes)),
            ("succeeded", number(group.counts.succeeded)),
            ("failed", number(group.counts.failed)),
            ("skipped", number(group.counts.skipped)),
            ("cur", AttributeValue::M(cursors.collect())),
            ("progressedAt", time(group.progressed_at)),
            ("resends", number(group.resends)),
            ("sentAt", time(group.sent_at)),
            ("expiresAt", number(expires_at)),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    let used = UNITS.into_iter().zip(units(&group.usage)).filter(|(_, units)| *units > 0);
    item.extend(used.map(|(name, units)| (name.to_owned(), number(units))));
    if group.open {
        item.insert("open".into(), AttributeValue::Bool(true));
    }
    item
}

/// Returns the group of an item.
pub(super) fn from_item(item: &Item) -> Result<Group, ItemError> {
    let progressed_at = Timestamp(read_number(item, "progressedAt")?);
    let number = read_text(item, SK)?.strip_prefix(GROUP).and_then(|digits| digits.parse().ok());
    Ok(Group {
        number: number.ok_or(ItemError::Attribute(SK))?,
        items: read_number(item, "items")?,
        bytes: read_number(item, "bytes")?,
        counts: Counts {
            succeeded: read_number(item, "succeeded")?,
            failed: read_number(item, "failed")?,
            skipped: read_number(item, "skipped")?,
        },
        usage: usage(item),
        open: item.contains_key("open"),
        cursors: cursors(item).ok_or(ItemError::Attribute("cur"))?,
        progressed_at,
        resends: read_number(item, "resends")?,
        // Absent from groups that an older version has committed.
        sent_at: read_number(item, "sentAt").map_or(progressed_at, Timestamp),
    })
}

fn cursors(item: &Item) -> Option<BTreeMap<u32, Cursor>> {
    let stored: &HashMap<_, _> = item.get("cur")?.as_m().ok()?;
    let cursor =
        |(chunk, value): (&String, &AttributeValue)| Some((chunk.parse().ok()?, Cursor::parse(value.as_s().ok()?)?));
    stored.iter().map(cursor).collect()
}

/// Returns the item of a manifest.
pub(super) fn manifest_item(id: JobId, group: &CommittedGroup, expires_at: i64) -> Result<Item, ItemError> {
    let plan = |c: &ChunkPlan| (c.first, c.items, c.start, c.end, c.oversize);
    let plans: Vec<StoredPlan> = group.manifest.chunks.iter().map(plan).collect();
    let mut item = Key::manifest(id, group.manifest.group).attributes();
    item.insert("chunks".into(), text(serde_json::to_string(&plans)?));
    item.insert("at".into(), time(group.at));
    item.insert("expiresAt".into(), number(expires_at));
    let keys: Vec<_> = group.manifest.chunks.iter().map(|c| c.keys.as_ref()).collect();
    if keys.iter().any(Option::is_some) {
        item.insert(KEYS.into(), text(serde_json::to_string(&keys)?));
    }
    Ok(item)
}

/// Returns the manifest of an item.
pub(super) fn manifest_from_item(group: u32, item: &Item) -> Result<CommittedGroup, ItemError> {
    let plan =
        |(first, items, start, end, oversize): StoredPlan| ChunkPlan { first, items, start, end, oversize, keys: None };
    let plans: Vec<StoredPlan> = serde_json::from_str(read_text(item, "chunks")?)?;
    let mut chunks: Vec<_> = plans.into_iter().map(plan).collect();
    if item.contains_key(KEYS) {
        let keys: Vec<Option<ItemFile>> = serde_json::from_str(read_text(item, KEYS)?)?;
        chunks.iter_mut().zip(keys).for_each(|(chunk, keys)| chunk.keys = keys);
    }
    let manifest = Manifest { group, chunks };
    Ok(CommittedGroup { manifest, at: Timestamp(read_number(item, "at")?) })
}

#[cfg(test)]
mod tests {
    use longshore_domain::group::CHUNKS_PER_GROUP;

    use super::super::item::size;
    use super::*;

    /// The longest possible cursor: tens of rounds never happen, a chunk has fewer than a million items, a nonce has
    /// eight characters, and an attempt commits about once a second of its 15 minutes. A round that the sweeper sends
    /// has not begun, so its position and its number of deferred items are 0, which is shorter.
    fn longest_cursor() -> Cursor {
        Cursor {
            round: 9,
            position: 99_999,
            token: "abcdefgh899".into(),
            file: Some("abcdefgh898".into()),
            deferred: 99_999,
            due: Some(Timestamp(9_999_999_999_000)),
            finished: false,
            by_sweeper: false,
        }
    }

    fn full_group() -> Group {
        let cursors = (0..CHUNKS_PER_GROUP as u32).map(|chunk| (chunk, longest_cursor())).collect();
        let counts = Counts { succeeded: 1_600_000, failed: 1_600_000, skipped: 1_600_000 };
        let group = Group::new(99_999, 4_800_000, 16 << 24, Timestamp(1_700_000_000_123));
        // Sixteen workers for a day; each item is a record of 4 KB.
        let usage = ChunkUsage {
            gb_ms: 999_999_999,
            deliveries: 9_999,
            writes: 19_999_999,
            reads: 9_999_999,
            object_writes: 99_999,
        };
        Group { counts, cursors, usage, resends: 3, ..group }
    }

    #[test]
    fn a_group_with_the_longest_cursors_takes_one_write_unit() {
        let item = to_item(JobId::generate(), &full_group(), 1_700_000_000);
        let bytes = size(&item);
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
        let chunk = |oversize| ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize, keys: None };
        let keys = Some(ItemFile { name: "k1".into(), etag: "\"e\"".into() });
        let manifest =
            Manifest { group: 7, chunks: vec![chunk(false), chunk(true), ChunkPlan { keys, ..chunk(false) }] };
        let group = CommittedGroup { manifest, at: Timestamp(5) };
        let item = manifest_item(JobId::generate(), &group, 9).unwrap();
        assert_eq!(manifest_from_item(7, &item).unwrap(), group);
    }

    #[test]
    fn an_unreadable_cursor_is_an_error() {
        let mut item = to_item(JobId::generate(), &full_group(), 9);
        item.insert("cur".into(), AttributeValue::M(HashMap::from([("0".into(), text("what?"))])));
        assert!(from_item(&item).is_err());
    }
}
