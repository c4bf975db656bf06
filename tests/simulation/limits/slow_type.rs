//! A type whose every call takes its whole time-out, with many chunks of another tenant, beside a fast type.
//!
//! One type has at most its share of the function's concurrency, as in the environment `production` of the template.

use longshore_domain::timestamp::Timestamp;

use super::deployment::{Deployment, START, Settings};
use super::endpoint::CallTime;
use super::jobs::{NewJob, Type};

/// Values of the template.
const INSTANCES: usize = 100;
const SHARE: u32 = 75;

/// Maximum time of the fast job, as a multiple of its time alone.
const MOST: i64 = 2;

const FAST: &str = "fast";
const FAST_ITEMS: u32 = 2_000;
const FAST_AT: Timestamp = Timestamp(START.0 + 5_000);

/// What else the deployment has to do.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Beside {
    Nothing,
    SlowType,
}

/// Returns the milliseconds from the creation of the fast job to the end of its last call.
fn fast_ms(beside: Beside, share: u32) -> i64 {
    let of = |name, timeout_s, concurrency, call_time| Type {
        name,
        per_second: None,
        batch: 10,
        concurrency,
        timeout_s,
        call_time,
    };
    let fast = NewJob { job_type: FAST, tenant: "quiet", items: FAST_ITEMS, at: FAST_AT };
    let slow = NewJob { job_type: "slow", tenant: "busy", items: 20_000, at: START };
    let mut run = Deployment::new(Settings {
        seed: 3,
        instances: INSTANCES,
        share,
        types: vec![
            of(FAST, 5, 25, CallTime::Between(100, 300)),
            // More than the function's concurrency.
            of("slow", 110, 500, CallTime::WholeTimeout),
        ],
        jobs: if beside == Beside::Nothing { vec![fast] } else { vec![slow, fast] },
        killed_every_ms: None,
    });
    run.run(600, |run| run.endpoint.items_of(FAST) == FAST_ITEMS);
    let calls = run.endpoint.calls_of(FAST);
    calls.iter().map(|call| call.ends_at.millis_since(FAST_AT)).max().expect("the fast type is called")
}

#[test]
fn a_slow_type_delays_no_job_of_another_type() {
    let (alone, beside) = (fast_ms(Beside::Nothing, SHARE), fast_ms(Beside::SlowType, SHARE));
    println!("a fast job: {alone} ms alone, {beside} ms beside a slow type");
    assert!(beside <= MOST * alone, "{alone} ms alone, {beside} ms beside a slow type");
}

#[test]
fn without_its_share_a_slow_type_delays_the_jobs_of_others() {
    let (alone, beside) = (fast_ms(Beside::Nothing, u32::MAX), fast_ms(Beside::SlowType, u32::MAX));
    println!("a fast job: {alone} ms alone, {beside} ms beside a slow type without its share");
    assert!(beside > 10 * MOST * alone, "{alone} ms alone, {beside} ms beside a slow type");
}
