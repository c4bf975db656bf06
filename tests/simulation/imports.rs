//! The import handler with its records: chunks worked by several workers at once, each left, killed and refused at every
//! record, until every row has ended; then the failed ones again, gathered as a retry gathers them.
//!
//! A delivery works rows in order, as a worker does, and commits what it was told at its end, if no other delivery of
//! the same rows has. The calls are those of production; so are the rows that are told and the records that are left.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use longshore::handler::{ItemKey, JobContext, JobType, Outcome};
use longshore::job_types::import::{Import, ImportOptions, Row};
use longshore::store::records::{
    Dataset, KnownDataset, ListError, MemoryRecords, NewRecord, RecordStore, Rule, StoredRecord, Writer, Written,
};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{Page, PortResult};
use serde_json::json;

use crate::dice::Dice;
use crate::stepwise::Stepwise;
use crate::weather::{self, Fault, Rates, after, before};

/// Tries of a row that its handler could not do.
const TRIES: u32 = 3;
const SEEDS: u64 = 2_000;

/// Records of which each is written by itself: refused for want of capacity, written without an answer, or twice.
impl RecordStore for Stepwise<MemoryRecords> {
    async fn put(&self, into: &Dataset, rule: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        let mut written = Vec::new();
        for record in records {
            let Ok(fault) = before("put_record").await else {
                written.push(Written::Throttled("no capacity".into()));
                continue;
            };
            let mut one = self.0.put(into, rule, vec![record.clone()]).await;
            if fault == Fault::SentTwice {
                one = self.0.put(into, rule, vec![record]).await;
            }
            match after("put_record", fault).await {
                Ok(()) => written.append(&mut one),
                Err(_) => written.push(Written::Unknown("no answer".into())),
            }
        }
        written
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        self.0.list(from, limit, cursor).await
    }

    async fn datasets(&self, tenant: &str, limit: usize, after: Option<&str>) -> PortResult<Page<KnownDataset>> {
        self.0.datasets(tenant, limit, after).await
    }
}

/// A table that overwrites whatever is there: a rule that is not kept.
struct Careless(Stepwise<MemoryRecords>);

impl RecordStore for Careless {
    async fn put(&self, into: &Dataset, _: Rule, records: Vec<NewRecord>) -> Vec<Written> {
        self.0.put(into, Rule::Upsert, records).await
    }

    async fn list(&self, from: &Dataset, limit: usize, cursor: Option<&str>) -> Result<Page<StoredRecord>, ListError> {
        self.0.list(from, limit, cursor).await
    }

    async fn datasets(&self, tenant: &str, limit: usize, after: Option<&str>) -> PortResult<Page<KnownDataset>> {
        self.0.datasets(tenant, limit, after).await
    }
}

/// How a row stands by what was committed.
#[derive(Clone, Eq, PartialEq, Debug)]
enum Stand {
    /// Not ended: offered so many times to no avail.
    Open(u32),
    Succeeded,
    /// With this code.
    Failed(String),
}

/// A delivery of some rows, under way.
type Delivery = (Vec<u64>, Pin<Box<dyn Future<Output = Vec<Outcome>>>>);

struct Run<R: RecordStore> {
    import: Rc<Import<R>>,
    options: Rc<ImportOptions>,
    job: JobContext,
    rows: Rc<RefCell<BTreeMap<u64, Stand>>>,
    dice: Dice,
    keys: u64,
}

impl<R: RecordStore> Run<R> {
    fn of(records: R, mode: &str, mut dice: Dice) -> Self {
        let id = format!("{:032x}", (u128::from(dice.number()) << 64) | u128::from(dice.number()));
        let options = json!({ "dataset": "d", "key": "key", "mode": mode });
        let (rows, keys) = (1 + dice.below(24) as u64, 1 + dice.below(4) as u64);
        Self {
            import: Rc::new(Import::new(records)),
            options: Rc::new(serde_json::from_value(options).unwrap()),
            job: JobContext { job_id: JobId::parse(&id).unwrap(), tenant: "t".into(), round: 0 },
            rows: Rc::new(RefCell::new((1..=rows).map(|number| (number, Stand::Open(0))).collect())),
            dice,
            keys,
        }
    }

    fn key_of(&self, number: u64) -> String {
        format!("k{}", number % self.keys)
    }

    fn open(&self) -> Vec<u64> {
        let rows = self.rows.borrow();
        rows.iter().filter(|(_, stand)| matches!(stand, Stand::Open(_))).map(|(number, _)| *number).collect()
    }

    /// Some of the rows that have not ended, in order.
    fn delivery(&mut self) -> Delivery {
        let mut numbers = self.open();
        let share = 1 + self.dice.below(1_000) as u32;
        numbers.retain(|_| self.dice.often(share));
        numbers.truncate(1 + self.dice.below(6));
        let row = |number: u64| -> Row {
            let key = self.key_of(number);
            serde_json::from_value(json!({ "key": key, "data": { "key": key, "row": number } })).unwrap()
        };
        let items: Vec<_> =
            numbers.iter().map(|number| (ItemKey { job_id: self.job.job_id, number: *number }, row(*number))).collect();
        let (import, options, job) = (Rc::clone(&self.import), Rc::clone(&self.options), self.job.clone());
        let work = async move {
            if items.is_empty() { Vec::new() } else { import.process_batch(&job, &options, items).await }
        };
        (numbers, Box::pin(work))
    }

    /// A commit, refused as a whole if one of its rows has ended since: somebody else has moved the cursor.
    fn commit(&mut self, numbers: &[u64], outcomes: Vec<Outcome>) {
        let mut rows = self.rows.borrow_mut();
        if numbers.iter().any(|number| !matches!(rows[number], Stand::Open(_))) {
            return;
        }
        for (number, outcome) in numbers.iter().zip(outcomes) {
            let Stand::Open(tries) = rows[number] else { continue };
            let stand = match outcome {
                Outcome::Ok => Stand::Succeeded,
                Outcome::Reject(rejection) => Stand::Failed(rejection.code),
                Outcome::Busy { .. } => Stand::Open(tries),
                Outcome::Retry { .. } if tries + 1 < TRIES => Stand::Open(tries + 1),
                Outcome::Retry { .. } => Stand::Failed("retries_exhausted".into()),
                other => panic!("row {number}: {other:?}"),
            };
            rows.insert(*number, stand);
        }
    }

    /// Deliveries side by side, until every row has ended.
    fn run_to_the_end(&mut self) {
        let mut under_way: Vec<Delivery> = Vec::new();
        for step in 0.. {
            assert!(step < 100_000, "rows never end: {:?}", self.rows);
            let open = self.open();
            if open.is_empty() {
                return;
            }
            if under_way.len() < 4 && self.dice.often(200) {
                let delivery = self.delivery();
                under_way.push(delivery);
            }
            if under_way.is_empty() {
                continue;
            }
            let at = self.dice.below(under_way.len());
            match self.dice.below(100) {
                0 => drop(under_way.swap_remove(at)),
                1 if step % 7 == 0 => {
                    let number = open[self.dice.below(open.len())];
                    self.rows.borrow_mut().insert(number, Stand::Failed("dead_lettered".into()));
                }
                _ => {
                    let polled = under_way[at].1.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                    if let Poll::Ready(outcomes) = polled {
                        let (numbers, _) = under_way.swap_remove(at);
                        // It may die between its writes and its commit.
                        if !self.dice.often(200) {
                            self.commit(&numbers, outcomes);
                        }
                    }
                }
            }
        }
    }

    /// A retry: what failed is open again.
    fn retry(&mut self) {
        let mut rows = self.rows.borrow_mut();
        rows.values_mut().filter(|stand| matches!(stand, Stand::Failed(_))).for_each(|stand| *stand = Stand::Open(0));
    }
}

/// Runs a seed in a mode, the records being what `wrapped` makes of them.
fn run<R: RecordStore>(seed: u64, rule: Rule, wrapped: impl Fn(Stepwise<MemoryRecords>) -> R) -> Result<(), String> {
    let mut dice = Dice::of(seed);
    let rates = Rates { throttled: 150, reply_dropped: 60, sent_twice: 60, behind: 0 };
    weather::begin(Dice::of(dice.number()), rates);
    let records = MemoryRecords::default();
    let mode = if rule == Rule::Insert { "insert" } else { "upsert" };
    let mut run = Run::of(wrapped(Stepwise(records.clone())), mode, Dice::of(dice.number()));
    for _ in 0..=dice.below(3) {
        run.run_to_the_end();
        check(&run, &records, rule)?;
        run.retry();
    }
    Ok(())
}

/// What is left says what the rows were told.
fn check<R: RecordStore>(run: &Run<R>, records: &MemoryRecords, rule: Rule) -> Result<(), String> {
    let dataset = Dataset { tenant: "t".into(), name: "d".into() };
    let stored = records.list(&dataset, 100, None).now_or_never().unwrap().unwrap().items;
    let holders: BTreeMap<_, _> = stored.into_iter().filter_map(|record| Some((record.key, record.writer?))).collect();
    let rows = run.rows.borrow();
    let ensure = |holds: bool, what: String| if holds { Ok(()) } else { Err(format!("{what}\n{rows:?}\n{holders:?}")) };
    for (number, stand) in rows.iter() {
        let holder = holders.get(&run.key_of(*number)).filter(|holder| holder.job == run.job.job_id).map(|h| h.row);
        match (stand, rule) {
            (Stand::Succeeded, Rule::Insert) => {
                ensure(
                    holder == Some(*number),
                    format!("row {number} succeeded, and {holder:?} is the record's writer"),
                )?;
            }
            (Stand::Succeeded, Rule::Upsert) => {
                ensure(
                    holder >= Some(*number),
                    format!("row {number} succeeded, and the earlier {holder:?} stands there"),
                )?;
            }
            (Stand::Failed(code), _) if code == "duplicate_key" => {
                ensure(holder.is_some_and(|h| h != *number), format!("row {number} is a duplicate of {holder:?}"))?;
            }
            (Stand::Failed(code), _) => {
                let known = code == "retries_exhausted" || code == "dead_lettered";
                ensure(known, format!("row {number} failed with {code}"))?;
            }
            (Stand::Open(_), _) => ensure(false, format!("row {number} has not ended"))?,
        }
    }
    for (key, Writer { row, .. }) in &holders {
        // A row that was told to have failed may have been written, but never one that was told to be a duplicate.
        let told = &rows[row];
        ensure(*told != Stand::Failed("duplicate_key".into()), format!("{key} is of row {row}, which is {told:?}"))?;
    }
    Ok(())
}

#[test]
fn each_key_has_one_winner_which_is_its_records_writer_whatever_happens_to_the_workers() {
    for seed in 0..SEEDS {
        for rule in [Rule::Insert, Rule::Upsert] {
            run(seed, rule, |records| records).unwrap_or_else(|violated| panic!("seed {seed}, {rule:?}: {violated}"));
        }
    }
}

#[test]
fn a_table_that_does_not_keep_the_rule_of_an_insert_is_found_out() {
    assert!((0..SEEDS).any(|seed| run(seed, Rule::Insert, Careless).is_err()));
}
