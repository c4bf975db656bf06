//! Versions of records: inserted, read by key, and overwritten only as they were read, in memory and in the table.

use longshore::store::records::VERSIONS_BYTES;
use longshore_domain::history::{PreviousVersion, RecordVersion, VersionMark, VersionPlace};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{NewRecord, Overwrite, RecordStore, RecordVersions, Revert};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer, Written};
use serde_json::{Value, json};

use crate::record_fixtures::{dataset, put_one, record};

on_both_records! {
    only_new_keys_are_inserted_with_their_creator,
    versions_are_read_by_key,
    large_versions_are_read_over_several_calls,
    only_the_version_that_was_read_is_overwritten,
    an_overwrite_keeps_the_creator_and_sets_the_place_of_the_previous_version,
    any_earlier_version_of_the_same_job_is_overwritten,
    only_the_version_that_was_read_is_reverted,
    a_restored_record_has_the_history_of_its_previous_version,
}

async fn version(records: &impl RecordVersions, key: &str) -> Option<RecordVersion> {
    let known = records.read_versions(&dataset("d"), &[key.to_owned()]).await.unwrap();
    assert_eq!(known.known, 1);
    known.versions.into_iter().next()
}

async fn overwrite(
    records: &impl RecordVersions,
    record: &NewRecord,
    mark: VersionMark,
    previous: Option<VersionPlace>,
) -> Written {
    records.overwrite(&dataset("d"), &[Overwrite { record, mark, previous }]).await.remove(0)
}

async fn only_new_keys_are_inserted_with_their_creator(records: impl RecordStore + RecordVersions) {
    let (first, second) = (JobId::generate(), JobId::generate());
    let rows: Vec<_> = (1..=60).map(|row| record(first, row, &format!("k{row}"), json!({"row": row}))).collect();
    let some: Vec<_> = rows.iter().step_by(2).collect();
    assert_eq!(records.insert_new(&dataset("d"), &some).await, vec![Written::Stored; 30]);
    let again: Vec<_> = rows.iter().collect();
    let written = records.insert_new(&dataset("d"), &again).await;
    for (index, written) in written.into_iter().enumerate() {
        assert_eq!(written, if index % 2 == 0 { Written::Taken(None) } else { Written::Stored }, "{index}");
    }
    assert_eq!(records.datasets(&dataset("d").tenant, 9, None).await.unwrap().items.len(), 1, "the dataset is listed");
    put_one(&records, Rule::Upsert, record(second, 1, "k1", json!({}))).await;
    put_one(&records, Rule::Upsert, record(second, 2, "other", json!({}))).await;
    let [old, new] = [version(&records, "k1").await.unwrap(), version(&records, "other").await.unwrap()];
    assert_eq!((old.writer, old.created_by), (Some(Writer { job: second, row: 1 }), Some(first)));
    assert_eq!((new.created_by, new.previous), (Some(second), None));
}

async fn versions_are_read_by_key(records: impl RecordStore + RecordVersions) {
    let job = JobId::generate();
    let keys: Vec<_> = (0..250).map(|n| format!("k{n:03}")).collect();
    let rows: Vec<_> = (0..).zip(&keys).map(|(row, key)| record(job, row, key, json!({"row": row}))).collect();
    records.insert_new(&dataset("d"), &rows.iter().filter(|row| row.writer.row != 7).collect::<Vec<_>>()).await;
    let known = records.read_versions(&dataset("d"), &keys).await.unwrap();
    assert_eq!((known.known, known.versions.len()), (250, 249));
    for found in known.versions {
        let row = found.writer.unwrap().row;
        assert_eq!((found.key, found.data["row"].as_u64()), (format!("k{row:03}"), Some(row)));
        assert!(found.updated_at.unwrap().0 > 1_700_000_000_000);
    }
    assert_eq!(records.read_versions(&dataset("d2"), &keys[..1]).await.unwrap().versions, [], "of another dataset");
}

async fn large_versions_are_read_over_several_calls(records: impl RecordStore + RecordVersions) {
    let job = JobId::generate();
    let keys: Vec<_> = (0..60).map(|n| format!("k{n:02}")).collect();
    let large = Value::String("x".repeat(350_000));
    for (row, key) in (0..).zip(&keys) {
        assert_eq!(
            records.insert_new(&dataset("d"), &[&record(job, row, key, json!({ "a": large }))]).await,
            [Written::Stored]
        );
    }
    let (mut read, mut at) = (Vec::new(), 0);
    while at < keys.len() {
        let known = records.read_versions(&dataset("d"), &keys[at..]).await.unwrap();
        assert!((1..=VERSIONS_BYTES / 350_000).contains(&known.known), "{}", known.known);
        read.extend(known.versions.into_iter().map(|version| version.key));
        at += known.known;
    }
    read.sort_unstable();
    assert_eq!(read, keys);
}

async fn only_the_version_that_was_read_is_overwritten(records: impl RecordStore + RecordVersions) {
    let (first, second) = (JobId::generate(), JobId::generate());
    put_one(&records, Rule::Upsert, record(first, 1, "a", json!({"v": 1}))).await;
    let read = version(&records, "a").await.unwrap();
    let new = record(second, 1, "a", json!({"v": 2}));
    let (writer, at) = (read.writer, read.updated_at.unwrap());
    for mark in [
        VersionMark { writer: Some(Writer { job: first, row: 2 }), updated_at: Some(at) },
        VersionMark { writer, updated_at: Some(Timestamp(at.0 - 1)) },
        VersionMark { writer, updated_at: None },
        VersionMark { writer: None, updated_at: Some(at) },
    ] {
        assert_eq!(overwrite(&records, &new, mark, None).await, Written::Changed, "{mark:?}");
    }
    assert_eq!(version(&records, "a").await.as_ref(), Some(&read), "nothing was written");
    assert_eq!(overwrite(&records, &new, read.mark(), None).await, Written::Stored);
    assert_eq!(overwrite(&records, &new, read.mark(), None).await, Written::Changed, "a second time");
    let missing = record(second, 2, "b", json!({}));
    assert_eq!(overwrite(&records, &missing, read.mark(), None).await, Written::Changed);
    assert_eq!(version(&records, "b").await, None, "an overwrite creates nothing");
}

async fn an_overwrite_keeps_the_creator_and_sets_the_place_of_the_previous_version(
    records: impl RecordStore + RecordVersions,
) {
    let [first, second] = [(); 2].map(|()| JobId::generate());
    put_one(&records, Rule::Upsert, record(first, 1, "a", json!({"v": 1}))).await;
    let place = VersionPlace { job: second, file: "abcdefgh".into(), start: 7, end: 90 };
    let read = version(&records, "a").await.unwrap();
    let new = record(second, 5, "a", json!({"v": 2}));
    assert_eq!(overwrite(&records, &new, read.mark(), Some(place.clone())).await, Written::Stored);
    let read = version(&records, "a").await.unwrap();
    assert_eq!((read.created_by, read.previous.as_ref()), (Some(first), Some(&place)));
    assert_eq!((read.writer, &read.data["v"]), (Some(new.writer), &json!(2)));
    let again = record(second, 6, "a", json!({"v": 3}));
    assert_eq!(overwrite(&records, &again, read.mark(), None).await, Written::Stored);
    assert_eq!(version(&records, "a").await.unwrap().previous, Some(place.clone()), "the place stays");
    put_one(&records, Rule::Upsert, record(JobId::generate(), 1, "a", json!({}))).await;
    let version = version(&records, "a").await.unwrap();
    assert_eq!((version.created_by, version.previous), (Some(first), Some(place)), "also in a write by rule");
}

async fn any_earlier_version_of_the_same_job_is_overwritten(records: impl RecordStore + RecordVersions) {
    let [first, own, later] = [(); 3].map(|()| JobId::generate());
    let place = VersionPlace { job: own, file: "abcdefgh-1".into(), start: 0, end: 9 };
    let row = |job, row| record(job, row, "a", json!({"row": row}));
    put_one(&records, Rule::Upsert, row(first, 1)).await;
    let read = version(&records, "a").await.unwrap();
    assert_eq!(overwrite(&records, &row(own, 1), read.mark(), Some(place.clone())).await, Written::Stored);
    let read = version(&records, "a").await.unwrap();
    // Row 3 has overwritten it meanwhile: row 5 does not mind, row 2 does, and so does one that sets another place.
    assert_eq!(overwrite(&records, &row(own, 3), read.mark(), None).await, Written::Stored);
    assert_eq!(overwrite(&records, &row(own, 2), read.mark(), None).await, Written::Changed);
    assert_eq!(overwrite(&records, &row(own, 5), read.mark(), Some(place.clone())).await, Written::Changed);
    assert_eq!(version(&records, "a").await.unwrap().data["row"], json!(3));
    assert_eq!(overwrite(&records, &row(own, 5), read.mark(), None).await, Written::Stored);
    assert_eq!(overwrite(&records, &row(own, 5), read.mark(), None).await, Written::Stored, "its own version");
    let stored = version(&records, "a").await.unwrap();
    assert_eq!((stored.writer, stored.created_by), (Some(Writer { job: own, row: 5 }), Some(first)));
    assert_eq!((&stored.data["row"], stored.previous.as_ref()), (&json!(5), Some(&place)));
    // The version of any other job must be stored first, also if it has an earlier writer.
    put_one(&records, Rule::Upsert, row(later, 1)).await;
    assert_eq!(overwrite(&records, &row(own, 9), stored.mark(), None).await, Written::Changed);
    records.delete(&dataset("d"), "a").await.unwrap();
    assert_eq!(overwrite(&records, &row(own, 9), stored.mark(), None).await, Written::Changed);
    put_one(&records, Rule::Upsert, row(first, 1)).await;
    assert_eq!(overwrite(&records, &row(own, 9), stored.mark(), None).await, Written::Changed);
    assert_eq!(version(&records, "a").await.unwrap().writer, Some(Writer { job: first, row: 1 }));
}

async fn revert(records: &impl RecordVersions, revert: Revert<'_>) -> Written {
    records.revert(&dataset("d"), &[revert]).await.remove(0)
}

async fn only_the_version_that_was_read_is_reverted(records: impl RecordStore + RecordVersions) {
    let [import, undo] = [(); 2].map(|()| JobId::generate());
    let by = Writer { job: undo, row: 1 };
    put_one(&records, Rule::Upsert, record(import, 1, "a", json!({"v": 1}))).await;
    let read = version(&records, "a").await.unwrap();
    let previous = PreviousVersion::from_version(&read).unwrap();
    let (mark, at) = (read.mark(), read.updated_at.unwrap());
    for mark in [
        VersionMark { writer: Some(Writer { job: import, row: 2 }), ..mark },
        VersionMark { updated_at: Some(Timestamp(at.0 - 1)), ..mark },
        VersionMark { updated_at: None, ..mark },
    ] {
        for to in [None, Some(&previous)] {
            assert_eq!(revert(&records, Revert { key: "a", mark, by, to }).await, Written::Changed, "{mark:?}");
        }
    }
    assert_eq!(version(&records, "a").await, Some(read), "nothing was written");
    assert_eq!(revert(&records, Revert { key: "a", mark, by, to: None }).await, Written::Stored);
    assert_eq!(version(&records, "a").await, None);
    assert_eq!(revert(&records, Revert { key: "a", mark, by, to: None }).await, Written::Stored, "a second time");
    assert_eq!(revert(&records, Revert { key: "a", mark, by, to: Some(&previous) }).await, Written::Changed);
    assert_eq!(version(&records, "a").await, None, "a restore creates nothing");
}

async fn a_restored_record_has_the_history_of_its_previous_version(records: impl RecordStore + RecordVersions) {
    let [first, second, undo] = [(); 3].map(|()| JobId::generate());
    let by = Writer { job: undo, row: 7 };
    let place = VersionPlace { job: first, file: "abcdefgh".into(), start: 0, end: 9 };
    for (created_by, previous) in [(Some(first), None), (None, Some(place))] {
        let key = if created_by.is_some() { "created" } else { "overwritten" };
        put_one(&records, Rule::Upsert, record(second, 3, key, json!({"v": 2, "w": [1, null]}))).await;
        let read = version(&records, key).await.unwrap();
        let to = PreviousVersion {
            key: key.into(),
            data: json!({"v": 1, "x": {"y": -0.5}}).as_object().cloned().unwrap(),
            writer: Writer { job: first, row: 4 }.to_string(),
            created_by,
            previous: previous.as_ref().map(VersionPlace::to_string),
        };
        let again = || Revert { key, mark: read.mark(), by, to: Some(&to) };
        assert_eq!(revert(&records, again()).await, Written::Stored);
        let restored = version(&records, key).await.unwrap();
        assert_eq!((&restored.data, restored.writer), (&to.data, Some(Writer { job: first, row: 4 })));
        assert_eq!((restored.created_by, &restored.previous, restored.restored_by), (created_by, &previous, Some(by)));
        assert_eq!(revert(&records, again()).await, Written::Changed, "a second time");
        put_one(&records, Rule::Upsert, record(JobId::generate(), 1, key, json!({}))).await;
        assert_eq!(version(&records, key).await.unwrap().restored_by, Some(by), "other writes keep it");
    }
}
