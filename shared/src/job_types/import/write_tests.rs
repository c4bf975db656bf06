//! Chunks in any order, repeated and overlapping, leave the same records as one run in order. The tests use the
//! in-memory store; any store that keeps the rules of the port would pass.

use std::collections::BTreeMap;

use fastrand::Rng;
use futures::executor::block_on;
use longshore_domain::ids::JobId;
use longshore_domain::tenant::TenantId;
use serde_json::json;

use super::{Target, write};
use crate::handler::{ItemKey, Outcome};
use crate::job_types::import::Row;
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{NewRecord, RecordStore, StoredRecord};
use longshore_domain::writer::{Rule, Writer, Written};
use longshore_testing::MemoryRecords;

/// Rows with their number and key.
pub(super) type Numbered = Vec<(u64, String)>;

pub(super) fn dataset() -> Dataset {
    Dataset { tenant: TenantId::from_static("default"), name: "d".into() }
}

fn rows(job: JobId, numbered: &[(u64, String)]) -> Vec<(ItemKey, Row)> {
    let row = |(number, key): &(u64, String)| {
        let data = json!({"id": key, "row": number}).as_object().cloned().unwrap();
        (ItemKey { job_id: job, number: *number }, Row { key: key.clone(), data })
    };
    numbered.iter().map(row).collect()
}

pub(super) fn deliver(records: &impl RecordStore, rule: Rule, job: JobId, numbered: &[(u64, String)]) -> Vec<Outcome> {
    let target = Target { dataset: dataset(), rule, key: "id" };
    block_on(write(&target, rows(job, numbered), |records_of_keys| records.put(&target.dataset, rule, records_of_keys)))
}

pub(super) fn all(records: &MemoryRecords) -> BTreeMap<String, StoredRecord> {
    let page = block_on(records.list(&dataset(), usize::MAX - 1, None)).unwrap();
    page.items.into_iter().map(|record| (record.key.clone(), record)).collect()
}

pub(super) fn code(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Reject(rejection) => &rejection.code,
        Outcome::Ok(()) => "ok",
        Outcome::Skip { .. } => "skip",
        Outcome::Retry { .. } => "retry",
        Outcome::Busy { .. } => "busy",
        Outcome::Fatal(_) => "fatal",
    }
}

/// Forty rows over a dozen keys, in chunks of up to eight, delivered in any order, some of them twice or in part.
pub(super) fn deliveries(rng: &mut Rng) -> (Numbered, Vec<Numbered>) {
    let file: Vec<_> = (1..=40).map(|number| (number, format!("k{}", rng.u64(..12)))).collect();
    let size = 1 + rng.u64(..8) as usize;
    let chunks: Vec<_> = file.chunks(size).collect();
    let mut order: Vec<_> = (0..chunks.len() * 2).map(|n| n % chunks.len()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, rng.u64(..at as u64 + 1) as usize);
    }
    let mut seen = vec![false; chunks.len()];
    let deliveries = order.into_iter().map(|at| {
        // The first delivery may die on its way; the second one is then complete.
        let whole = std::mem::replace(&mut seen[at], true);
        let end = if whole { chunks[at].len() } else { rng.u64(..chunks[at].len() as u64 + 1) as usize };
        chunks[at][..end].to_vec()
    });
    let deliveries = deliveries.collect();
    (file, deliveries)
}

#[test]
fn an_upsert_keeps_the_last_row_of_a_key_in_any_order_of_chunks() {
    for seed in 0..500 {
        let (file, deliveries) = deliveries(&mut Rng::with_seed(seed));
        let (records, job) = (MemoryRecords::default(), JobId::generate());
        for chunk in &deliveries {
            assert!(deliver(&records, Rule::Upsert, job, chunk).iter().all(|o| *o == Outcome::Ok(())), "seed {seed}");
        }
        let last: BTreeMap<_, _> = file.into_iter().map(|(number, key)| (key, number)).collect();
        let stored: BTreeMap<_, _> =
            all(&records).into_iter().map(|(key, record)| (key, record.record["row"].as_u64().unwrap())).collect();
        assert_eq!(stored, last, "seed {seed}");
    }
}

#[test]
fn an_insert_stores_exactly_one_row_of_each_key_and_repeats_its_outcomes() {
    for seed in 0..500 {
        let (file, deliveries) = deliveries(&mut Rng::with_seed(seed));
        let (records, job) = (MemoryRecords::default(), JobId::generate());
        let mut ended: BTreeMap<u64, String> = BTreeMap::new();
        for chunk in &deliveries {
            for ((number, _), outcome) in chunk.iter().zip(deliver(&records, Rule::Insert, job, chunk)) {
                let before = ended.insert(*number, code(&outcome).to_owned());
                assert!(before.is_none_or(|before| before == code(&outcome)), "seed {seed}, row {number}");
            }
        }
        let stored = all(&records);
        for (number, key) in file {
            let winner = stored[&key].writer == Some(Writer { job, row: number });
            assert_eq!(ended[&number], if winner { "ok" } else { "duplicate_key" }, "seed {seed}, row {number}");
        }
    }
}

/// Any rows of the file together in any order of deliveries, as rounds, retries and crashes produce them. A delivery
/// may die between its writes and its commit.
fn random_deliveries(rng: &mut Rng, file: &Numbered) -> Vec<(Numbered, bool)> {
    let mut deliveries: Vec<(Numbered, bool)> = Vec::new();
    for _ in 0..12 {
        let share = 1 + rng.u64(..8);
        let mut rows: Numbered = file.iter().filter(|_| rng.u64(..8) < share).cloned().collect();
        let end = rng.u64(..rows.len() as u64 + 1) as usize;
        rows.truncate(end.max(1));
        deliveries.push((rows, rng.u64(..2) == 0));
    }
    deliveries
}

#[test]
fn an_insert_succeeds_only_for_the_row_that_wrote_the_record_despite_crashes() {
    for seed in 0..2_000 {
        let mut rng = Rng::with_seed(seed);
        let file: Numbered = (1..=16).map(|number| (number, format!("k{}", rng.u64(..4)))).collect();
        let (records, job) = (MemoryRecords::default(), JobId::generate());
        let mut ended: BTreeMap<u64, Outcome> = BTreeMap::new();
        let mut deliveries = random_deliveries(&mut rng, &file);
        deliveries.push((file.clone(), false));
        for (rows, dies) in deliveries {
            // Rows reported as succeeded are never offered again.
            let rows: Numbered = rows.into_iter().filter(|(n, _)| ended.get(n) != Some(&Outcome::Ok(()))).collect();
            let outcomes = deliver(&records, Rule::Insert, job, &rows);
            if !dies {
                ended.extend(rows.iter().map(|(number, _)| *number).zip(outcomes));
            }
        }
        let stored = all(&records);
        for (number, key) in &file {
            let wrote = stored[key].writer == Some(Writer { job, row: *number });
            assert_eq!(code(&ended[number]), if wrote { "ok" } else { "duplicate_key" }, "seed {seed}, row {number}");
        }
    }
}

#[test]
fn an_insert_rejects_a_key_of_another_job_and_names_that_job() {
    let (records, first, second) = (MemoryRecords::default(), JobId::generate(), JobId::generate());
    deliver(&records, Rule::Insert, first, &[(7, "a".into())]);
    let outcomes = deliver(&records, Rule::Insert, second, &[(1, "a".into()), (2, "b".into()), (3, "b".into())]);
    assert_eq!(outcomes.iter().map(code).collect::<Vec<_>>(), ["duplicate_key", "ok", "duplicate_key"]);
    let Outcome::Reject(taken) = &outcomes[0] else { panic!("{outcomes:?}") };
    assert_eq!(taken.field.as_deref(), Some("id"));
    assert!(taken.message.contains(&format!("row 7 of job {first}")), "{}", taken.message);
    let Outcome::Reject(twin) = &outcomes[2] else { panic!("{outcomes:?}") };
    assert_eq!(twin.message, "row 2 of this file has the same key");
}

#[test]
fn a_job_that_was_created_later_is_not_overwritten_by_a_late_chunk() {
    let (records, old, new) = (MemoryRecords::default(), JobId::generate(), JobId::generate());
    assert_eq!(deliver(&records, Rule::Upsert, new, &[(1, "a".into())]), [Outcome::Ok(())]);
    assert_eq!(deliver(&records, Rule::Upsert, old, &[(9, "a".into())]).iter().map(code).collect::<Vec<_>>(), ["skip"]);
    assert_eq!(all(&records)["a"].writer, Some(Writer { job: new, row: 1 }));
}

/// A store that returns the same result for every record.
struct FixedResult(Written);

impl RecordStore for FixedResult {
    async fn put(&self, _: &Dataset, _: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        vec![self.0.clone(); records.len()]
    }

    async fn list(
        &self,
        _: &Dataset,
        _: usize,
        _: Option<&str>,
    ) -> Result<longshore_domain::ports::Page<StoredRecord>, longshore_domain::ports::ListError> {
        Err(longshore_domain::ports::ListError::BadCursor)
    }

    async fn delete(&self, _: &Dataset, _: &str) -> longshore_domain::ports::PortResult<()> {
        Ok(())
    }

    async fn datasets(
        &self,
        _: &TenantId,
        _: usize,
        _: Option<&str>,
    ) -> longshore_domain::ports::PortResult<longshore_domain::ports::Page<longshore_domain::ports::DatasetInfo>> {
        Ok(longshore_domain::ports::Page { items: Vec::new(), next: None })
    }

    async fn find_dataset(
        &self,
        _: &Dataset,
    ) -> longshore_domain::ports::PortResult<Option<longshore_domain::ports::DatasetInfo>> {
        Ok(None)
    }
}

#[test]
fn a_row_does_not_succeed_if_the_row_sent_for_its_key_failed() {
    let twice = [(1, String::from("a")), (2, String::from("a"))];
    let ended = |rule, written| {
        let outcomes = deliver(&FixedResult(written), rule, JobId::generate(), &twice);
        outcomes.iter().map(code).map(str::to_owned).collect::<Vec<_>>()
    };
    let unknown = || Written::Unknown("throttled".into());
    let refused = || Written::Refused("no".into());
    let throttled = || Written::Throttled("no capacity".into());
    assert_eq!(ended(Rule::Upsert, throttled()), ["busy", "busy"]);
    assert_eq!(ended(Rule::Insert, throttled()), ["busy", "busy"]);
    assert_eq!(ended(Rule::Upsert, unknown()), ["retry", "retry"]);
    assert_eq!(ended(Rule::Insert, unknown()), ["retry", "retry"]);
    assert_eq!(ended(Rule::Upsert, refused()), ["retry", "record_refused"]);
    assert_eq!(ended(Rule::Insert, refused()), ["record_refused", "retry"]);
    assert_eq!(ended(Rule::Upsert, Written::Untried), [""; 0]);
    assert_eq!(ended(Rule::Insert, Written::Taken(None)), ["duplicate_key", "duplicate_key"]);
}
