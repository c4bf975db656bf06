//! Imports and their undos, compared with a plain program that runs one after the other.
//!
//! A seed decides imports into one dataset, undos of them in any order, writes and deletes of others, and all faults:
//! workers die at any step and come back late, batches overlap and are processed again, calls are refused, repeated and
//! unanswered, and rows that failed come back with other keys.

mod plain;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::FutureExt;
use longshore::handler::Outcome;
use longshore::job_types::import::Import;
use longshore::job_types::undo::{Undo, undo_options};
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::ports::RecordStore;
use longshore_domain::random;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer};
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::{Map, Value, json};

pub(crate) use self::plain::reason;

use self::plain::Plain;
use self::workers::{Late, Row, Working, data};
use crate::faults::{self, Rates};
use crate::imports::Records;
use crate::rng::Rng;
use crate::run::caught;
use crate::stepwise::Stepwise;
use crate::unguarded::{Unguarded, remove_condition};

/// Number of seeds.
const SEEDS: u64 = 10_000;
/// Conditions without which a seed must fail.
const CONDITIONS: [&str; 3] =
    ["overwrites-of-the-version-read", "reverts-of-the-version-read", "versions-stored-before-overwrites"];

type Files = Stepwise<Unguarded<MemoryFiles>>;

/// An import that has ended.
struct Ended {
    job: JobId,
    options: Value,
    /// The rows as workers were offered them: those of the file, and behind them the corrected ones.
    items: Vec<Row>,
}

/// The dataset, and the plain program.
struct World {
    rng: Rng,
    records: MemoryRecords,
    files: MemoryFiles,
    plain: Plain,
    late: Late,
    imports: Vec<Ended>,
}

fn dataset() -> Dataset {
    Dataset { tenant: TenantId::from_static("t"), name: "d".into() }
}

impl World {
    fn new(seed: u64) -> Self {
        let (records, files) = (MemoryRecords::default().with_clock(Timestamp::now), MemoryFiles::default());
        let (plain, late, imports) = Default::default();
        Self { rng: Rng::from_seed(seed), records, files, plain, late, imports }
    }

    fn store(&self) -> Arc<Records> {
        Arc::new(Stepwise(Unguarded(self.records.clone())))
    }

    fn stored_files(&self) -> Files {
        Stepwise(Unguarded(self.files.clone()))
    }

    fn key(&mut self) -> String {
        format!("k{}", self.rng.below(5))
    }

    fn import(&mut self) {
        let rule = [Rule::Upsert, Rule::Upsert, Rule::Insert, Rule::Update][self.rng.below(4)];
        let mode = match rule {
            Rule::Insert => "insert",
            Rule::Update => "update",
            Rule::Upsert | Rule::Delete => "upsert",
        };
        let undo = !self.rng.often(150);
        let options = json!({ "dataset": "d", "key": "k", "mode": mode, "undo": undo });
        let import = Working {
            job: JobId::generate(),
            job_type: Arc::new(Import::new(self.store(), self.stored_files())),
            options: Arc::new(serde_json::from_value(options.clone()).expect("options")),
        };
        let rows: Vec<Row> = (1..=1 + self.rng.below(7) as u64).map(|number| (number, self.key())).collect();
        // Rows that fail their check are not passed to the handler before they are corrected.
        let invalid: BTreeSet<u64> = rows.iter().map(|(number, _)| *number).filter(|_| self.rng.often(150)).collect();
        let valid: Vec<Row> = rows.iter().filter(|(number, _)| !invalid.contains(number)).cloned().collect();
        let mut outcomes = import.run(&valid, &mut self.rng, &mut self.late);
        let mut written: BTreeMap<u64, String> = valid.into_iter().collect();
        let is_failed = |number: &u64| !matches!(outcomes.get(number), Some(Outcome::Ok(()) | Outcome::Skip { .. }));
        let failed: Vec<u64> = rows.iter().map(|(number, _)| *number).filter(is_failed).collect();
        let correct = |number: u64| if self.rng.often(700) { Some((number, self.key())) } else { None };
        let corrected: Vec<Row> = failed.into_iter().filter_map(correct).collect();
        self.end_if_failed(import.job, &outcomes);
        outcomes.extend(import.run(&corrected, &mut self.rng, &mut self.late));
        self.end_if_failed(import.job, &outcomes);
        written.extend(corrected.iter().cloned());
        for (number, outcome) in &outcomes {
            if *outcome == Outcome::Ok(()) {
                self.plain.import(rule, &written[number], Writer { job: import.job, row: *number });
            }
        }
        let behind = (rows.len() as u64 + 1..).zip(corrected).map(|(number, (_, key))| (number, key));
        let items = rows.iter().cloned().chain(behind).collect();
        if undo {
            self.imports.push(Ended { job: import.job, options, items });
        }
    }

    /// Ends the late workers of an import of which a row has failed: once others have changed its record, a late worker
    /// could still write it.
    fn end_if_failed(&mut self, job: JobId, outcomes: &BTreeMap<u64, Outcome>) {
        if outcomes.values().any(|outcome| *outcome != Outcome::Ok(())) {
            self.late.end(job, &mut self.rng);
        }
    }

    fn undo(&mut self) {
        if self.imports.is_empty() {
            return;
        }
        let at = self.rng.below(self.imports.len());
        let Ended { job, options, items } = &self.imports[at];
        let (undone, items) = (*job, items.clone());
        let options = undo_options(undone, options, false).expect("an import that can be undone");
        let undo = Working {
            job: JobId::generate(),
            job_type: Arc::new(Undo::new(self.store(), self.stored_files())),
            options: Arc::new(serde_json::from_value(options).expect("options")),
        };
        self.late.end(undone, &mut self.rng);
        let outcomes = undo.run(&items, &mut self.rng, &mut self.late);
        for (number, key) in &items {
            assert_eq!(code(&outcomes[number]), self.plain.outcome(key, undone), "row {number}, {key}");
        }
        self.plain.undo(undone);
    }

    fn write_directly(&mut self) {
        let key = self.key();
        self.records.write_directly(&dataset(), &key, Map::new());
        self.plain.write_directly(&key);
    }

    fn delete(&mut self) {
        // A late row of an import would write a deleted key again.
        self.late.die();
        let key = self.key();
        self.records.delete(&dataset(), &key).now_or_never().expect("records in memory never wait").expect("a delete");
        self.plain.delete(&key);
    }

    fn check(&self) {
        let stored = self.records.versions(&dataset());
        let actual: BTreeMap<_, _> =
            stored.iter().map(|(key, version)| (key.as_str(), (version.writer, version.created_by))).collect();
        assert_eq!(actual, self.plain.records());
        for (key, version) in &stored {
            let expected = version.writer.map_or_else(|| json!({}), |writer| data(writer.job, writer.row));
            assert_eq!(Value::Object(version.data.clone()), expected, "the data of {key}");
        }
    }
}

fn code(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Ok(()) => "ok",
        Outcome::Skip { reason } => reason,
        Outcome::Reject(why) => &why.code,
        Outcome::Retry { .. } | Outcome::Busy { .. } | Outcome::Fatal(_) => "not ended",
    }
}

/// Runs a seed without one of the conditions, or with all.
fn run(seed: u64, removed_condition: Option<&str>) {
    remove_condition(removed_condition);
    #[allow(clippy::disallowed_methods, reason = "a run is reproducible")]
    random::seed(seed);
    let rates = Rates { throttled: 30, reply_dropped: 30, sent_twice: 30, stale: 0 };
    faults::begin(Rng::from_seed(seed ^ 0xfa17), rates);
    let mut world = World::new(seed);
    for _ in 0..2 + world.rng.below(8) {
        match world.rng.weighted(&[40, 45, 8, 7]) {
            0 => world.import(),
            1 => world.undo(),
            2 => world.write_directly(),
            _ => world.delete(),
        }
        world.check();
    }
    faults::clear();
}

#[test]
fn undos_leave_the_records_that_a_plain_program_leaves() {
    let runs: Vec<_> = (0..SEEDS).filter_map(|seed| Some((seed, caught(|| run(seed, None)).err()?))).collect();
    assert!(runs.is_empty(), "{} seeds fail, first: {:?}", runs.len(), runs[0]);
}

#[test]
fn an_undo_without_one_of_its_conditions_is_detected() {
    for condition in CONDITIONS {
        let is_detected = (0..SEEDS).any(|seed| caught(|| run(seed, Some(condition))).is_err());
        remove_condition(None);
        assert!(is_detected, "no violation without {condition}");
    }
}
