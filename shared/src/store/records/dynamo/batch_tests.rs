//! Writes against a table with a limited rate of statements, in virtual time.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use aws_sdk_dynamodb::types::{BatchStatementError, BatchStatementErrorCodeEnum as Code, BatchStatementResponse};
use futures::future::join_all;
use futures::task::noop_waker;
use longshore_domain::ids::JobId;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::Map;

use super::super::statement::Step;
use super::{Batch, CallError, Calls, Pending, WriteRate};
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::NewRecord;
use longshore_domain::writer::Writer;
use longshore_domain::writer::{Rule, Written};

thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static ASLEEP: RefCell<Vec<(Duration, Waker)>> = const { RefCell::new(Vec::new()) };
}

/// Runs a future; when nothing can proceed, the time moves to the end of the shortest sleep.
fn run<F: Future>(future: F) -> F::Output {
    NOW.set(Duration::ZERO);
    #[allow(clippy::disallowed_methods, reason = "the same waits in every run")]
    longshore_domain::random::seed(1);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&noop_waker())) {
            return output;
        }
        let next = ASLEEP.with_borrow(|asleep| asleep.iter().map(|(until, _)| *until).min()).unwrap();
        NOW.set(NOW.get().max(next));
        let asleep = ASLEEP.take();
        let (due, later): (Vec<_>, Vec<_>) = asleep.into_iter().partition(|(until, _)| *until <= next);
        ASLEEP.set(later);
        due.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

async fn sleep(time: Duration) {
    let until = NOW.get() + time;
    poll_fn(|context| {
        if NOW.get() >= until {
            return Poll::Ready(());
        }
        ASLEEP.with_borrow_mut(|asleep| asleep.push((until, context.waker().clone())));
        Poll::Pending
    })
    .await;
}

/// A table with a limited rate of statements per second. Every third key already has its own row's record, and needs
/// an update.
#[derive(Debug)]
struct Limited {
    rate: f64,
    refuses_calls: bool,
    state: Mutex<Bucket>,
}

#[derive(Debug, Default)]
struct Bucket {
    tokens: f64,
    filled_at: Duration,
    taken: usize,
    refused: usize,
}

impl Limited {
    fn new(rate: f64) -> Self {
        Self { rate, refuses_calls: false, state: Mutex::default() }
    }

    fn takes_one(&self) -> bool {
        let (mut bucket, now) = (self.state.lock().unwrap(), NOW.get());
        let filled = (now - bucket.filled_at).as_secs_f64() * self.rate;
        bucket.tokens = (bucket.tokens + filled).min(self.rate / 20.0);
        bucket.filled_at = now;
        let takes = bucket.tokens >= 1.0;
        if takes {
            bucket.tokens -= 1.0;
            bucket.taken += 1;
        } else {
            bucket.refused += 1;
        }
        takes
    }

    fn answer(&self, pending: &Pending) -> BatchStatementResponse {
        let refused = |code| BatchStatementError::builder().code(code).message("said the table").build();
        let error = match (self.takes_one(), pending.step) {
            (false, _) => Some(refused(Code::ThrottlingError)),
            (true, Step::Insert) if pending.index.is_multiple_of(3) => Some(refused(Code::DuplicateItem)),
            (true, _) => None,
        };
        BatchStatementResponse::builder().set_error(error).build()
    }
}

impl Calls for Limited {
    async fn execute(&self, _: Rule, open: &[Pending]) -> Result<Vec<BatchStatementResponse>, CallError> {
        assert!((1..=25).contains(&open.len()));
        sleep(Duration::from_millis(10)).await;
        let answers: Vec<_> = open.iter().map(|pending| self.answer(pending)).collect();
        let throttled = |answer: &BatchStatementResponse| {
            answer.error().is_some_and(|error| error.code() == Some(&Code::ThrottlingError))
        };
        if self.refuses_calls && answers.iter().all(throttled) {
            return Err(CallError::Throttled("ThrottlingException".into()));
        }
        Ok(answers)
    }

    fn now(&self) -> Duration {
        NOW.get()
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        // A future that is polled on one thread only.
        let until = NOW.get() + time;
        poll_fn(move |context| {
            if NOW.get() >= until {
                return Poll::Ready(());
            }
            ASLEEP.with_borrow_mut(|asleep| asleep.push((until, context.waker().clone())));
            Poll::Pending
        })
    }
}

fn records(count: usize) -> Vec<Pending> {
    let (job, into) = (JobId::generate(), Dataset { tenant: TenantId::from_static("t"), name: "d".into() });
    let record =
        |row: usize| NewRecord { key: format!("k{row}"), data: Map::new(), writer: Writer { job, row: row as u64 } };
    (0..count).map(|row| Pending::new(&into, row, &record(row), Step::Insert, Timestamp(1))).collect()
}

/// One worker: writes rows until each is stored, in chunks of a thousand. Returns the number of rows deferred to a
/// later round.
async fn work(table: &Limited, rows: usize) -> usize {
    let write_rate = WriteRate::default();
    let (mut left, mut written) = (rows, 0);
    while left > 0 {
        let count = left.min(1_000);
        let done = Batch::new(table, &write_rate, Rule::Upsert, records(count)).run().await;
        assert_eq!(done.len(), count, "each record has one answer");
        for done in done {
            match done.written {
                Written::Stored => left -= 1,
                Written::Untried => {}
                Written::Throttled(reason) => {
                    assert!(!reason.is_empty());
                    written += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    written
}

#[test]
fn no_row_fails_on_a_slow_table_and_the_rate_stays_near_its_limit() {
    for (rate, workers, rows, refuses_calls) in
        [(1_000.0, 1, 20_000, false), (1_000.0, 4, 10_000, true), (4_000.0, 10, 10_000, false), (200.0, 2, 3_000, true)]
    {
        let table = Limited { refuses_calls, ..Limited::new(rate) };
        let written: usize = run(join_all((0..workers).map(|_| work(&table, rows)))).into_iter().sum();
        let bucket = table.state.lock().unwrap();
        let used = bucket.taken as f64 / NOW.get().as_secs_f64() / rate;
        let refused = bucket.refused as f64 / bucket.taken as f64;
        let described =
            format!("rate {rate}: {used:.2} used, {refused:.2} refused, {written} of {} filed", workers * rows);
        println!("{described}");
        assert!(used > 0.7, "{described}");
        assert!(refused < 0.8, "{described}");
        assert!(written * 10 < workers * rows, "{described}");
    }
}

#[test]
fn a_table_without_capacity_soon_gets_few_statements_and_every_row_is_reported_as_throttled() {
    let table = Limited::new(0.0);
    let write_rate = WriteRate::default();
    let done = run(Batch::new(&table, &write_rate, Rule::Insert, records(1_000)).run());
    let count = |wanted: fn(&Written) -> bool| done.iter().filter(|done| wanted(&done.written)).count();
    let (throttled, untried) =
        (count(|written| matches!(written, Written::Throttled(_))), count(|written| *written == Written::Untried));
    assert_eq!(throttled + untried, 1_000);
    assert!(throttled > 0 && done.iter().any(|done| done.index == 0 && done.written != Written::Untried));
    assert!(NOW.get() < Duration::from_secs(6), "{:?}", NOW.get());
    assert!(table.state.lock().unwrap().refused < 1_000);
    assert!(write_rate.statements() <= 50, "{} at once", write_rate.statements());
}

#[test]
fn records_without_throttling_are_written_in_full_calls() {
    let table = Limited::new(1e9);
    NOW.set(Duration::ZERO);
    table.state.lock().unwrap().tokens = 1e6;
    let done = run(Batch::new(&table, &WriteRate::default(), Rule::Upsert, records(1_000)).run());
    assert!(
        done.iter().all(|done| done.written == Written::Stored && done.was_present == done.index.is_multiple_of(3))
    );
    // 54 calls' worth of statements, eight calls at once, 10 ms each.
    assert!(NOW.get() <= Duration::from_millis(90), "{:?}", NOW.get());
}

#[test]
fn a_throttled_call_is_distinguished_from_a_failed_one() {
    for code in ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"] {
        assert_eq!(CallError::from_code(Some(code), String::new()), CallError::Throttled(code.into()));
    }
    for code in [None, Some("InternalServerError"), Some("AccessDeniedException")] {
        assert!(
            matches!(CallError::from_code(code, "why".into()).into(), Written::Unknown(reason) if reason.contains("why"))
        );
    }
}
