//! Events to a receiver of webhooks that fails 30 % of the calls and restarts, while the functions that change jobs and
//! send events are killed. The receiver of one tenant does not answer.
//!
//! The events are those of jobs that are canceled before their start. At the end, the receiver that did not answer is
//! repaired, and a replay is requested. Afterwards the calls that the receiver has recorded are compared with the list of
//! events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use longshore_tests::harness::handlers::{Endpoint, parameters};
use longshore_tests::harness::stack::{Stack, StackOptions};
use serde_json::Value;

use super::jobs::{PARAMETERS, has_own_emulator, sweeping_every};
use super::losses::{Kills, Victim, kill_some, seed};
use super::receiver::{Call, Receiver, Tenant};

/// The functions that are killed: they change the status, call the receiver, and recover what was lost.
const VICTIMS: [Victim; 6] = [
    Victim::Output("JobsApiFunctionName"),
    Victim::Output("CompleteJobFunctionName"),
    Victim::Output("CompleteJobFunctionName"),
    Victim::Output("DeliverFunctionName"),
    Victim::Output("DeliverFunctionName"),
    Victim::Output("SweepFunctionName"),
];

/// Number of jobs of which one belongs to the tenant whose webhook does not answer.
const DEAD_SHARE: usize = 100;

/// Number of concurrent callers.
const CALLERS: usize = 8;

/// Maximum time from a replay until all events have arrived. A third attempt would come after 300 seconds.
const REPLAY_PATIENCE: Duration = Duration::from_secs(200);

/// Maximum of the median time from an event to its first call, in seconds.
const MEDIAN_S: f64 = 30.0;

/// Maximum time from an event to its first call, in seconds. Its function can be killed twice, and its first two attempts can
/// fail without a call while the receiver is paused; the third one comes after 330 seconds at most.
const SLOWEST_S: f64 = 600.0;

/// Interval between two sweeps. A sweep takes the emulator a second.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// Time during which a restarted receiver cannot be reached.
const DOWN: Duration = Duration::from_secs(2);

/// The extent of a run.
struct Extent {
    jobs: usize,
    kills: u64,
    /// Maximum interval between two kills, in milliseconds.
    kill_interval_ms: u64,
    restarts: u64,
    /// Age of an event from which on the receiver accepts it. A third attempt comes five minutes after the second one.
    failing: Duration,
    /// Maximum time from the last cancel until all events have arrived.
    patience: Duration,
}

impl Extent {
    fn new() -> Self {
        if measurements::is_complete_run() {
            let (failing, patience) = (Duration::from_secs(240), Duration::from_secs(2_400));
            return Self { jobs: 2_000, kills: 100, kill_interval_ms: 2_000, restarts: 5, failing, patience };
        }
        let (failing, patience) = (Duration::from_secs(4), Duration::from_secs(180));
        Self { jobs: 40, kills: 4, kill_interval_ms: 300, restarts: 0, failing, patience }
    }
}

#[test]
fn every_event_reaches_a_receiver_that_fails_and_restarts_under_one_id() {
    if !has_own_emulator() {
        return;
    }
    let started = Instant::now();
    let measured = run(&Extent::new()).unwrap_or_else(|error| panic!("{error:?}"));
    measurements::row(
        "faults-deliveries",
        &[
            ("events", &measured.events),
            ("calls", &measured.calls),
            ("functions killed", &measured.kills),
            ("receiver restarted", &measured.restarts),
            ("events accepted twice", &measured.repeated),
            ("events replayed", &measured.replayed),
            ("first call, median s", &format!("{:.1}", measured.median_s())),
            ("slowest first call, s", &format!("{:.1}", measured.slowest_s())),
            ("seconds", &started.elapsed().as_secs()),
            ("violations", &measured.violations.len()),
        ],
    );
    let list = measured.violations.join("\n");
    assert!(
        measured.violations.is_empty(),
        "{list}\nto reproduce: cargo test -p longshore-tests --test proof every_event"
    );
}

/// What happened in a run.
#[derive(Debug, Default)]
struct Measured {
    events: usize,
    calls: usize,
    kills: u64,
    restarts: u64,
    repeated: usize,
    replayed: usize,
    /// Time from each event to its first call, without the tenant whose webhook does not answer.
    first_calls_s: Vec<f64>,
    violations: Vec<String>,
}

fn run(extent: &Extent) -> Result<Measured> {
    let endpoint = Endpoint::new()?;
    let parameters = [&PARAMETERS[..], &parameters(&[&endpoint], &[]), &[("MaxActiveJobs", "300")]].concat();
    let stack = Stack::start(&StackOptions { parameters, ..Default::default() })?;
    let started = Instant::now();
    sweeping_every(SWEEP_INTERVAL, &stack, || {
        let receiver = Receiver::start(&stack, endpoint, extent.failing)?;
        let mut measured = Measured::default();
        let jobs = with_faults(&stack, &receiver, extent, &mut measured)?;
        for (tenant, jobs) in receiver.tenants.iter().zip(&jobs) {
            let mut deadline = Instant::now() + extent.patience;
            let listed = tenant.listed(jobs, deadline)?;
            if !tenant.answers() {
                measured.check_calls_without_an_answer(&receiver.calls(tenant)?, started);
                measured.replayed = listed.len() - tenant.delivered()?;
                deadline = Instant::now() + REPLAY_PATIENCE;
                receiver.repair(tenant)?;
            }
            let calls = arrived(&receiver, tenant, &listed, deadline, &mut measured.violations)?;
            measured.add(tenant, &calls, &listed);
        }
        measured.check_faults(extent);
        Ok(measured)
    })
}

impl Measured {
    fn add(&mut self, tenant: &Tenant, calls: &[Call], listed: &BTreeMap<String, Value>) {
        let mut accepted = BTreeSet::new();
        self.events += listed.len();
        self.violations.extend(calls.iter().filter_map(|call| call.difference(listed)));
        self.calls += calls.len();
        self.repeated += calls.iter().filter(|call| call.accepted && !accepted.insert(&call.id)).count();
        let mut called = BTreeSet::new();
        if tenant.answers() {
            let first = calls.iter().filter(|call| called.insert(&call.id));
            self.first_calls_s.extend(first.map(|call| call.age_s));
            self.first_calls_s.sort_by(f64::total_cmp);
        }
    }

    fn slowest_s(&self) -> f64 {
        self.first_calls_s.last().copied().unwrap_or_default()
    }

    fn median_s(&self) -> f64 {
        self.first_calls_s.get(self.first_calls_s.len() / 2).copied().unwrap_or_default()
    }

    /// A call without an answer takes 15 seconds. After the first ones, there is one in each pause.
    fn check_calls_without_an_answer(&mut self, calls: &[Call], started: Instant) {
        let maximum = 20 + started.elapsed().as_secs() / 15;
        if calls.is_empty() || calls.len() as u64 > maximum {
            self.violations.push(format!("{} calls without an answer, not 1 to {maximum}", calls.len()));
        }
    }

    fn check_faults(&mut self, extent: &Extent) {
        if self.kills == 0 || self.restarts != extent.restarts {
            self.violations.push(format!("{} kills and {} restarts", self.kills, self.restarts));
        }
        let (median_s, slowest_s) = (self.median_s(), self.slowest_s());
        if median_s > MEDIAN_S || slowest_s > SLOWEST_S {
            self.violations.push(format!("first calls after {median_s:.0} s in the median, {slowest_s:.0} s at most"));
        }
    }
}

/// Creates and cancels jobs during kills and restarts. Returns the canceled jobs of each tenant.
fn with_faults(
    stack: &Stack,
    receiver: &Receiver,
    extent: &Extent,
    measured: &mut Measured,
) -> Result<Vec<BTreeSet<String>>> {
    let (over, begun) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let killing = scope.spawn(|| kills(stack, &over, extent));
        let restarting = scope.spawn(|| restarts(receiver, &begun, &over, extent));
        let jobs = canceled_jobs(receiver, &begun, extent);
        over.store(true, Ordering::Relaxed);
        measured.kills = killing.join().unwrap_or_else(|_| bail!("the kills have panicked"))?;
        measured.restarts = restarting.join().unwrap_or_else(|_| bail!("the restarts have panicked"))?;
        jobs
    })
}

fn kills(stack: &Stack, over: &AtomicBool, extent: &Extent) -> Result<u64> {
    let (mut killed, seed) = (0, seed());
    while killed < extent.kills && !over.load(Ordering::Relaxed) {
        let max = extent.kills - killed;
        let kills = Kills { seed: seed ^ killed, max, interval_ms: extent.kill_interval_ms, victims: &VICTIMS };
        killed += kill_some(stack, over, kills)?;
    }
    Ok(killed)
}

/// Restarts the receiver at equal shares of the jobs, however fast they are created.
fn restarts(receiver: &Receiver, begun: &AtomicUsize, over: &AtomicBool, extent: &Extent) -> Result<u64> {
    let mut count = 0;
    while count < extent.restarts && !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(100));
        if begun.load(Ordering::Relaxed) as u64 * (extent.restarts + 1) > (count + 1) * extent.jobs as u64 {
            receiver.restart(DOWN)?;
            count += 1;
        }
    }
    Ok(count)
}

/// Creates and cancels the jobs, and counts those that it has begun.
fn canceled_jobs(receiver: &Receiver, begun: &AtomicUsize, extent: &Extent) -> Result<Vec<BTreeSet<String>>> {
    let caller = || {
        let mut jobs: Vec<_> = receiver.tenants.iter().map(|_| BTreeSet::new()).collect();
        loop {
            let number = begun.fetch_add(1, Ordering::Relaxed);
            if number >= extent.jobs {
                return anyhow::Ok(jobs);
            }
            let (dead, alive) = (receiver.tenants.len() - 1, number % (receiver.tenants.len() - 1));
            let tenant = if number.is_multiple_of(DEAD_SHARE) { dead } else { alive };
            jobs[tenant].insert(receiver.tenants[tenant].canceled_job()?);
        }
    };
    let callers = thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(caller)).collect();
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap_or_else(|_| bail!("a caller has panicked")))
            .collect::<Result<Vec<_>>>()
    });
    let mut jobs: Vec<_> = receiver.tenants.iter().map(|_| BTreeSet::new()).collect();
    for of_caller in callers? {
        jobs.iter_mut().zip(of_caller).for_each(|(jobs, mut more)| jobs.append(&mut more));
    }
    Ok(jobs)
}

/// Waits until a tenant's webhook has accepted all events, and the deliveries are recorded. Returns its calls.
fn arrived(
    receiver: &Receiver,
    tenant: &Tenant,
    listed: &BTreeMap<String, Value>,
    deadline: Instant,
    violations: &mut Vec<String>,
) -> Result<Vec<Call>> {
    loop {
        let (calls, delivered) = (receiver.calls(tenant)?, tenant.delivered()?);
        let accepted: BTreeSet<_> = calls.iter().filter(|call| call.accepted).map(|call| &call.id).collect();
        let missing: Vec<_> = listed.keys().filter(|id| !accepted.contains(id)).collect();
        if missing.is_empty() && delivered == listed.len() {
            return Ok(calls);
        }
        if Instant::now() > deadline {
            violations.push(format!("{delivered} of {} events delivered, missing {missing:?}", listed.len()));
            return Ok(calls);
        }
        thread::sleep(Duration::from_secs(2));
    }
}
