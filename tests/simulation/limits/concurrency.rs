//! The concurrency limit of a registered type over all instances, jobs and tenants. A call whose instance was killed
//! goes on at the handler, and the permit covers it.

use super::deployment::{Deployment, START, Settings};
use super::endpoint::CallTime;
use super::jobs::{NewJob, Type};
use super::windows::most_at_once;
use crate::unguarded::remove_condition;

const TYPE: &str = "limited-calls";
const CONCURRENCY: u32 = 3;

/// Longer than a permit of a killed instance is valid.
const RUN_S: i64 = 400;

/// Returns the maximum number of calls at the same time, and the number of instances that were killed.
fn most() -> (usize, usize) {
    let call_time = CallTime::Between(50, 500);
    let job = |tenant| NewJob { job_type: TYPE, tenant, items: 15_000, at: START };
    let mut run = Deployment::new(Settings {
        seed: 2,
        instances: 20,
        share: u32::MAX,
        types: vec![Type {
            name: TYPE,
            per_second: None,
            batch: 10,
            concurrency: CONCURRENCY,
            timeout_s: 30,
            call_time,
        }],
        jobs: ["one", "one", "two", "two"].map(job).to_vec(),
        killed_every_ms: Some(90_000),
    });
    run.run(RUN_S, |_| false);
    let calls = run.endpoint.calls_of(TYPE);
    assert!(run.endpoint.items_of(TYPE) < 60_000, "work waits");
    println!("{} calls, {} at once", calls.len(), most_at_once(&calls));
    (most_at_once(&calls), run.killed.len())
}

#[test]
fn no_more_calls_than_the_limit_run_at_once_although_instances_are_killed() {
    assert_eq!(most(), (CONCURRENCY as usize, 4));
}

#[test]
fn without_the_condition_of_a_permit_more_calls_run_at_once() {
    remove_condition(Some("permits-acquired-when-free"));
    assert!(most().0 > CONCURRENCY as usize);
}
