//! Many tenants, one of which cancels many large jobs at once, each with a long report. The test measures how long the
//! small jobs of the other tenants wait for their end.
//!
//! The clock and the FIFO queue of completions are simulated, as in `fairness`. Message groups and turns are those of
//! the real code.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use complete_job::TURN_S;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::CompleteMessage;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::rng::Rng;

/// Step of the clock, and length of a run, in milliseconds.
const STEP: i64 = 100;
const RUN_MS: i64 = 600_000;
/// Concurrent completions in the template.
const CONCURRENCY: usize = 20;
/// Time for the report of a small job and of one of 5 GiB, in milliseconds.
const SMALL_MS: i64 = 300;
const LARGE_MS: i64 = 64_000;
/// Number of well-behaved tenants with four large reports each, and of all tenants. Tenant 0 is the abuser; the others
/// have small jobs.
const HEAVY: u64 = 8;
const TENANTS: u64 = 200;
const SMALL_JOBS: usize = 1_000;
/// Number of large jobs that the abuser cancels every five minutes.
const CANCELED: usize = 100;
/// Maximum wait of a small job from its last row to its end.
const BOUND_MS: i64 = 30_000;

/// A guard that a test can disable.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Guard {
    Lanes,
    Turns,
}

struct Report {
    message: CompleteMessage,
    requested_at: i64,
    left_ms: i64,
    is_small: bool,
}

struct World {
    without: Option<Guard>,
    rng: Rng,
    now: i64,
    sent: u64,
    reports: Vec<Report>,
    later: BTreeMap<i64, Vec<usize>>,
    /// Waiting reports by message group, in order, and the first message of each group that has none in flight.
    groups: BTreeMap<String, VecDeque<(u64, usize)>>,
    heads: BTreeSet<(u64, String)>,
    /// Reports in progress, each with the end of its turn.
    in_progress: Vec<(i64, usize)>,
    worst_ms: i64,
    ended: usize,
}

impl World {
    fn new(without: Option<Guard>) -> Self {
        let mut world = Self {
            without,
            rng: Rng::from_seed(11),
            now: 0,
            sent: 0,
            reports: Vec::new(),
            later: BTreeMap::new(),
            groups: BTreeMap::new(),
            heads: BTreeSet::new(),
            in_progress: Vec::new(),
            worst_ms: 0,
            ended: 0,
        };
        for at in [0, RUN_MS / 2] {
            (0..CANCELED).for_each(|_| world.request(0, at, LARGE_MS));
            (1..=HEAVY).for_each(|tenant| (0..4).for_each(|_| world.request(tenant, at, LARGE_MS)));
        }
        for _ in 0..SMALL_JOBS {
            let tenant = 1 + HEAVY + world.rng.below((TENANTS - 1 - HEAVY) as usize) as u64;
            let at = world.rng.between(0, RUN_MS - 2 * BOUND_MS) / STEP * STEP;
            world.request(tenant, at, SMALL_MS);
        }
        world
    }

    fn request(&mut self, tenant: u64, at: i64, left_ms: i64) {
        let id = JobId::parse(&format!("{:016x}{:016x}", self.rng.number(), self.rng.number())).unwrap();
        let job = Job::waiting(
            id,
            TenantId::parse(&format!("tenant-{tenant}")).expect("a valid tenant id"),
            "import",
            Timestamp(at),
        );
        self.later.entry(at).or_default().push(self.reports.len());
        let (message, is_small) = (CompleteMessage::new(&job), left_ms == SMALL_MS);
        self.reports.push(Report { message, requested_at: at, left_ms, is_small });
    }

    fn group(&self, report: usize) -> String {
        let message = &self.reports[report].message;
        if self.without == Some(Guard::Lanes) { message.job_id.to_string() } else { message.group_id() }
    }

    fn send(&mut self, report: usize) {
        self.sent += 1;
        let (group, sent) = (self.group(report), self.sent);
        let in_flight = self.in_progress.iter().any(|(_, other)| self.group(*other) == group);
        let queue = self.groups.entry(group.clone()).or_default();
        queue.push_back((sent, report));
        if queue.len() == 1 && !in_flight {
            self.heads.insert((sent, group));
        }
    }

    fn run(mut self) -> Self {
        while self.now < RUN_MS && self.worst_ms <= BOUND_MS {
            for report in self.later.remove(&self.now).unwrap_or_default() {
                self.send(report);
            }
            let now = self.now;
            let ended: Vec<_> = self.in_progress.extract_if(.., |(until, _)| *until <= now).collect();
            ended.into_iter().for_each(|(_, report)| self.end_turn(report));
            self.begin();
            self.now += STEP;
            self.update_worst();
        }
        self
    }

    fn begin(&mut self) {
        while self.in_progress.len() < CONCURRENCY
            && let Some((_, group)) = self.heads.pop_first()
        {
            let Some((_, report)) = self.groups.get_mut(&group).and_then(VecDeque::pop_front) else { continue };
            let left = self.reports[report].left_ms;
            let turn = if self.without == Some(Guard::Turns) { left } else { left.min(TURN_S * 1_000) };
            self.reports[report].left_ms -= turn;
            self.in_progress.push((self.now + turn, report));
        }
    }

    /// Ends a turn. A continuation is appended to its group. Then the message is deleted, and the next one of the group
    /// can be delivered.
    fn end_turn(&mut self, report: usize) {
        let group = self.group(report);
        if self.reports[report].left_ms > 0 {
            self.sent += 1;
            self.groups.entry(group.clone()).or_default().push_back((self.sent, report));
        } else if self.reports[report].is_small {
            self.ended += 1;
            self.worst_ms = self.worst_ms.max(self.now - self.reports[report].requested_at);
            self.reports[report].is_small = false;
        }
        if let Some((sent, _)) = self.groups.get(&group).and_then(VecDeque::front) {
            self.heads.insert((*sent, group));
        }
    }

    /// Updates the longest wait with the reports that still wait.
    fn update_worst(&mut self) {
        let waiting = self.reports.iter().filter(|report| report.is_small && report.requested_at <= self.now);
        self.worst_ms = waiting.map(|report| self.now - report.requested_at).fold(self.worst_ms, i64::max);
    }
}

#[test]
fn a_small_job_ends_within_thirty_seconds_of_its_last_row_whatever_another_tenant_cancels() {
    let world = World::new(None).run();
    println!("{} small jobs have ended, each within {} ms", world.ended, world.worst_ms);
    assert!(world.worst_ms <= BOUND_MS, "{} ms", world.worst_ms);
    assert_eq!(world.ended, SMALL_JOBS);
}

#[test]
fn without_lanes_or_turns_of_completions_a_small_job_waits_longer() {
    for guard in [Guard::Lanes, Guard::Turns] {
        let worst_ms = World::new(Some(guard)).run().worst_ms;
        println!("without {guard:?}: {worst_ms} ms");
        assert!(worst_ms > BOUND_MS, "without {guard:?}: {worst_ms} ms");
    }
}
