//! A pause on a clock on which calls take time: no call begins later than five seconds after it, and none before its
//! end. A worker that waits for the rate limit has read the pauses before its wait.

use longshore_domain::pause::{Pause, PauseScope};

use super::deployment::{Deployment, START, Settings};
use super::endpoint::CallTime;
use super::jobs::{NewJob, Type};
use crate::pauses::new_id;
use crate::trace;
use crate::unguarded::remove_condition;

const FAST: &str = "fast-calls";
const RATED: &str = "rated-calls";
const OTHER: &str = "other-calls";

/// Time of the pauses in seconds after the start of the run.
const PAUSED_AT_S: i64 = 20;
const UNTIL_S: i64 = 60;
/// Maximum time from a pause to the start of a call, in milliseconds.
const BOUND_MS: i64 = 5_000;
/// Maximum difference of two clocks, in milliseconds.
const SKEW_MS: i64 = 4;

fn deployment() -> Deployment {
    let call_time = CallTime::Between(50, 500);
    let of = |name, per_second, batch| Type { name, per_second, batch, concurrency: 8, timeout_s: 30, call_time };
    let job = |job_type, items| NewJob { job_type, tenant: job_type, items, at: START };
    Deployment::new(Settings {
        seed: 4,
        instances: 24,
        share: u32::MAX,
        types: vec![of(FAST, None, 10), of(RATED, Some(1.0), 1), of(OTHER, None, 10)],
        jobs: vec![job(FAST, 20_000), job(RATED, 400), job(OTHER, 20_000)],
        killed_every_ms: None,
    })
}

/// Pauses two types, and returns the milliseconds from the pause to the last call of each type before its end.
fn last_calls() -> [i64; 3] {
    trace::set_function("work", 0);
    let mut run = deployment();
    run.run(PAUSED_AT_S, |_| false);
    let (since, until) = (START.plus_seconds(PAUSED_AT_S), START.plus_seconds(UNTIL_S));
    for name in [FAST, RATED] {
        let scope = PauseScope::JobType(name.into());
        run.pause(&Pause { id: new_id(), scope, since, until, by: "operator".into() });
    }
    run.run(UNTIL_S, |_| false);
    let last_calls = [FAST, RATED, OTHER].map(|name| {
        let calls = run.endpoint.calls_of(name);
        let before_end = calls.iter().filter(|call| call.at.0 < until.0 - SKEW_MS);
        before_end.map(|call| call.at.millis_since(since)).max().expect("the type is called")
    });
    println!("last calls after the pause, in ms: {last_calls:?}");
    last_calls
}

#[test]
fn no_call_begins_later_than_five_seconds_after_a_pause() {
    let [fast, rated, other] = last_calls();
    assert!(fast <= BOUND_MS && rated <= BOUND_MS, "calls of paused types");
    assert!(other > 30_000, "the type that is not paused waits");
}

#[test]
fn a_worker_that_reads_no_pauses_calls_during_one() {
    remove_condition(Some("no-item-during-a-pause"));
    let [fast, rated, _] = last_calls();
    assert!(fast > 30_000 && rated > 30_000);
}
