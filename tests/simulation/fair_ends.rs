//! Many tenants, one of which cancels many large jobs at once, each with a long report. The test measures the time
//! that the small jobs of the other tenants wait for their end.
//!
//! The clock and the FIFO queue of completions are simulated, as in `fairness`. The decisions are the real code's:
//! message groups and turns.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use complete_job::TURN_S;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::CompleteMessage;
use longshore_domain::tenant::TenantId;
use longshore_domain::time_stamp::Timestamp;

use crate::rng::Rng;

/// Step of the clock and length of a run, in milliseconds.
const STEP: i64 = 100;
const RUN_MS: i64 = 600_000;
/// Concurrent completions in the template.
const PLACES: usize = 20;
/// Time for the report of a small job and of one of 5 GiB, in milliseconds.
const SMALL_MS: i64 = 300;
const LARGE_MS: i64 = 64_000;
/// Well-behaved tenants with four large reports each. Tenant 0 is the abuser; the others have small jobs.
const HEAVY: u64 = 8;
const TENANTS: u64 = 200;
const SMALL_JOBS: usize = 1_000;
/// Large jobs that the abuser cancels every five minutes.
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
    asked_at: i64,
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
    places: Vec<(i64, usize)>,
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
            places: Vec::new(),
            worst_ms: 0,
            ended: 0,
        };
        for at in [0, RUN_MS / 2] {
            (0..CANCELED).for_each(|_| world.ask(0, at, LARGE_MS));
            (1..=HEAVY).for_each(|tenant| (0..4).for_each(|_| world.ask(tenant, at, LARGE_MS)));
        }
        for _ in 0..SMALL_JOBS {
            let tenant = 1 + HEAVY + world.rng.below((TENANTS - 1 - HEAVY) as usize) as u64;
            let at = world.rng.between(0, RUN_MS - 2 * BOUND_MS) / STEP * STEP;
            world.ask(tenant, at, SMALL_MS);
        }
        world
    }

    fn ask(&mut self, tenant: u64, at: i64, left_ms: i64) {
        let id = JobId::parse(&format!("{:016x}{:016x}", self.rng.number(), self.rng.number())).unwrap();
        let job =
            Job::waiting(id, TenantId::parse(&format!("tenant-{tenant}")).expect("a name"), "import", Timestamp(at));
        self.later.entry(at).or_default().push(self.reports.len());
        let (message, is_small) = (CompleteMessage::new(&job), left_ms == SMALL_MS);
        self.reports.push(Report { message, asked_at: at, left_ms, is_small });
    }

    fn group(&self, report: usize) -> String {
        let message = &self.reports[report].message;
        if self.without == Some(Guard::Lanes) { message.job_id.to_string() } else { message.group_id() }
    }

    fn send(&mut self, report: usize) {
        self.sent += 1;
        let (group, sent) = (self.group(report), self.sent);
        let in_flight = self.places.iter().any(|(_, other)| self.group(*other) == group);
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
            let over: Vec<_> = self.places.extract_if(.., |(until, _)| *until <= now).collect();
            over.into_iter().for_each(|(_, report)| self.end_turn(report));
            self.begin();
            self.now += STEP;
            self.look();
        }
        self
    }

    fn begin(&mut self) {
        while self.places.len() < PLACES
            && let Some((_, group)) = self.heads.pop_first()
        {
            let Some((_, report)) = self.groups.get_mut(&group).and_then(VecDeque::pop_front) else { continue };
            let left = self.reports[report].left_ms;
            let turn = if self.without == Some(Guard::Turns) { left } else { left.min(TURN_S * 1_000) };
            self.reports[report].left_ms -= turn;
            self.places.push((self.now + turn, report));
        }
    }

    /// Ends a turn: a continuation goes to the end of its group, then the message is deleted and the next one of the
    /// group may be delivered.
    fn end_turn(&mut self, report: usize) {
        let group = self.group(report);
        if self.reports[report].left_ms > 0 {
            self.sent += 1;
            self.groups.entry(group.clone()).or_default().push_back((self.sent, report));
        } else if self.reports[report].is_small {
            self.ended += 1;
            self.worst_ms = self.worst_ms.max(self.now - self.reports[report].asked_at);
            self.reports[report].is_small = false;
        }
        if let Some((sent, _)) = self.groups.get(&group).and_then(VecDeque::front) {
            self.heads.insert((*sent, group));
        }
    }

    /// Updates the longest wait with the reports that still wait.
    fn look(&mut self) {
        let waiting = self.reports.iter().filter(|report| report.is_small && report.asked_at <= self.now);
        self.worst_ms = waiting.map(|report| self.now - report.asked_at).fold(self.worst_ms, i64::max);
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
fn without_lanes_or_turns_of_completions_a_small_job_waits_for_longer() {
    for guard in [Guard::Lanes, Guard::Turns] {
        let worst_ms = World::new(Some(guard)).run().worst_ms;
        println!("without {guard:?}: {worst_ms} ms");
        assert!(worst_ms > BOUND_MS, "without {guard:?}: {worst_ms} ms");
    }
}
