//! Updates and deletes in any order of chunks, repeated and overlapping: outcomes and records are those of one run in
//! order.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use longshore_domain::ids::JobId;
use longshore_domain::ports::RecordStore;
use longshore_domain::writer::{Rule, Writer};
use longshore_testing::MemoryRecords;

use super::write_tests::{Numbered, all, code, dataset, deliver, deliveries};
use crate::handler::Outcome;

/// Records of the keys `k0` to `k5`, of an earlier job.
fn half_of_the_keys() -> MemoryRecords {
    let (records, keys) = (MemoryRecords::default(), (0..6_u64).map(|key| (key + 1, format!("k{key}"))));
    deliver(&records, Rule::Insert, JobId::generate(), &keys.collect::<Numbered>());
    records
}

#[test]
fn an_update_writes_existing_keys_and_fails_the_same_rows_in_any_order_of_chunks() {
    for seed in 0..500 {
        let (file, deliveries) = deliveries(&mut Rng::with_seed(seed));
        let (records, job) = (half_of_the_keys(), JobId::generate());
        let existing: BTreeSet<_> = all(&records).into_keys().collect();
        for chunk in &deliveries {
            for ((number, key), outcome) in chunk.iter().zip(deliver(&records, Rule::Update, job, chunk)) {
                let expected = if existing.contains(key) { "ok" } else { "key_not_found" };
                assert_eq!(code(&outcome), expected, "seed {seed}, row {number}");
            }
        }
        let last: BTreeMap<_, _> = file.into_iter().map(|(number, key)| (key, number)).collect();
        let stored = all(&records);
        assert!(stored.keys().eq(&existing), "seed {seed}: an update created a record");
        for (key, row) in last.into_iter().filter(|(key, _)| existing.contains(key)) {
            assert_eq!(stored[&key].writer, Some(Writer { job, row }), "seed {seed}");
        }
    }
}

#[test]
fn a_delete_succeeds_for_every_row_in_any_order_of_chunks() {
    for seed in 0..500 {
        let (file, deliveries) = deliveries(&mut Rng::with_seed(seed));
        let (records, job) = (half_of_the_keys(), JobId::generate());
        let mut expected = all(&records);
        for chunk in &deliveries {
            assert!(deliver(&records, Rule::Delete, job, chunk).iter().all(|o| *o == Outcome::Ok(())), "seed {seed}");
        }
        expected.retain(|key, _| file.iter().all(|(_, own)| own != key));
        assert!(all(&records).keys().eq(expected.keys()), "seed {seed}");
    }
}

#[test]
fn a_record_of_a_later_job_is_neither_updated_nor_deleted() {
    let (old, new) = (JobId::generate(), JobId::generate());
    for rule in [Rule::Update, Rule::Delete] {
        let records = MemoryRecords::default();
        deliver(&records, Rule::Insert, new, &[(1, "a".into())]);
        let outcomes = deliver(&records, rule, old, &[(8, "a".into()), (9, "a".into())]);
        assert_eq!(outcomes.iter().map(code).collect::<Vec<_>>(), ["skip", "skip"], "{rule:?}");
        assert_eq!(all(&records)["a"].writer, Some(Writer { job: new, row: 1 }), "{rule:?}");
    }
}

#[test]
fn a_rule_that_creates_no_record_creates_no_dataset() {
    for (rule, expected) in [(Rule::Update, "key_not_found"), (Rule::Delete, "ok")] {
        let records = MemoryRecords::default();
        let outcomes = deliver(&records, rule, JobId::generate(), &[(1, "a".into())]);
        assert_eq!(outcomes.iter().map(code).collect::<Vec<_>>(), [expected]);
        let datasets = futures::executor::block_on(records.datasets(&dataset().tenant, 10, None)).unwrap();
        assert_eq!(datasets.items, []);
    }
}
