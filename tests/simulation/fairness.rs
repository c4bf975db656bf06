//! Many tenants, one of which abuses the deployment. The test measures the time that the small jobs of the other
//! tenants wait.
//!
//! The clock is simulated, and so are the parts of AWS that a job waits for: instances of the API's function, the
//! FIFO queue of splits, the fair queue of chunks, and the workers of both. The decisions are the real code's:
//! message groups, turns, rate limits, admission.
//!
//! A FIFO queue delivers no message of a group while another message of the group is in flight
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html>).
//! A fair queue delivers the messages of a tenant that uses more than a tenth of the workers' time after those of
//! others
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html>).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use create_job::TURN_S as SPLIT_TURN_S;
use longshore::chunk::TURN_S as CHUNK_TURN_S;
use longshore_domain::admission::Admission;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::CreateMessage;
use longshore_domain::rate::Rate;
use longshore_domain::time_stamp::Timestamp;

use crate::rng::Rng;

mod abuser;

use abuser::Abuser;

/// Step of the clock, in milliseconds.
const STEP: i64 = 20;
/// Maximum instances of the API's function in the account.
const INSTANCES: usize = 50;
/// Concurrency in the template: splitters, and workers of normal priority.
const SPLITTERS: usize = 20;
const WORKERS: usize = 100;
/// Milliseconds of a call that reads and writes, and of a call that is refused immediately.
const CALL: i64 = 60;
const REFUSAL: i64 = 2;
/// The template's rate limit of one tenant in one instance.
const CALLS: Rate = Rate { per_second: 10, burst: 100 };
/// Maximum wait of a quiet tenant's small job, from its create to its split, and to its first row.
const BOUND_MS: [i64; 2] = [10_000, 30_000];
/// Well-behaved tenants with a few large files each. Tenant 0 is the abuser.
const HEAVY: usize = 8;
const ABUSER: usize = 0;

/// A guard that a test can disable.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Guard {
    Lanes,
    SplitTurns,
    ChunkTurns,
    CallRate,
    WorkCalls,
    ActiveJobs,
    Admission,
}

const GUARDS: [Guard; 7] = [
    Guard::Lanes,
    Guard::SplitTurns,
    Guard::ChunkTurns,
    Guard::CallRate,
    Guard::WorkCalls,
    Guard::ActiveJobs,
    Guard::Admission,
];

/// Size of a deployment and its load.
#[derive(Copy, Clone)]
struct Scale {
    tenants: usize,
    jobs: usize,
    seconds: i64,
    /// Milliseconds of a large file's split, and number of its chunks.
    large: (i64, u64),
    max_queued: u64,
    max_active: u64,
    /// Number of messages of the FIFO queue that SQS searches for a deliverable group.
    look_ahead: usize,
}

/// Scale of a test run: minutes instead of hours, with correspondingly lower limits.
const SMALL: Scale = Scale {
    tenants: 200,
    jobs: 1_000,
    seconds: 300,
    large: (60_000, 200),
    max_queued: 2_700,
    max_active: 100,
    look_ahead: 300,
};

/// Scale of a complete run, with the limits of the template and of SQS
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/avoid-backlog-with-the-same-message-group-id.html>).
const WHOLE: Scale = Scale {
    tenants: 1_000,
    jobs: 10_000,
    seconds: 1_800,
    large: (60_000, 2_500),
    max_queued: 100_000,
    max_active: 100,
    look_ahead: 120_000,
};

/// A job in progress.
#[derive(Clone)]
struct JobState {
    tenant: usize,
    create: CreateMessage,
    asked_at: i64,
    /// Remaining milliseconds of splitting, and number of chunks that it creates.
    split_left: i64,
    chunks_left: u64,
    /// Milliseconds of a chunk.
    chunk_ms: i64,
    /// Number of chunks that are not done yet.
    open: u64,
    /// True if the split has begun, and if the first row has.
    began: [bool; 2],
    is_deleted: bool,
}

/// A call that waits for an instance.
#[derive(Clone, Copy)]
enum Call {
    Create(usize),
    /// A create, delete or read by the abuser.
    Hostile,
    Delete,
    Read,
}

struct Instance {
    free_at: i64,
    /// Time at which the abuser's token bucket in this instance is full.
    full_at: Timestamp,
}

struct World {
    scale: Scale,
    without: Option<Guard>,
    rng: Rng,
    now: i64,
    sent: u64,
    jobs: Vec<JobState>,
    instances: Vec<Instance>,
    calls: VecDeque<Call>,
    later: BTreeMap<i64, Vec<Call>>,
    active: Vec<u64>,
    /// The FIFO queue: messages by group, in order, and the first message of each group that has none in flight.
    groups: BTreeMap<String, VecDeque<(u64, usize)>>,
    heads: BTreeSet<(u64, String)>,
    queued: BTreeSet<u64>,
    splitting: Vec<(i64, usize, i64)>,
    /// The fair queue: messages by tenant, in order, each with its milliseconds of work. The depth includes messages
    /// in flight.
    chunks: BTreeMap<usize, VecDeque<(u64, usize, i64)>>,
    working: Vec<(i64, usize, i64)>,
    in_flight: Vec<usize>,
    depth: u64,
    worst: [i64; 2],
    begun: usize,
    abuser: Abuser,
}

impl World {
    fn new(scale: Scale, without: Option<Guard>) -> Self {
        let idle = || Instance { free_at: 0, full_at: Timestamp(0) };
        let mut world = Self {
            scale,
            without,
            rng: Rng::from_seed(7),
            now: 0,
            sent: 0,
            jobs: Vec::new(),
            instances: std::iter::repeat_with(idle).take(INSTANCES).collect(),
            calls: VecDeque::new(),
            later: BTreeMap::new(),
            active: vec![0; scale.tenants],
            groups: BTreeMap::new(),
            heads: BTreeSet::new(),
            queued: BTreeSet::new(),
            splitting: Vec::new(),
            chunks: BTreeMap::new(),
            working: Vec::new(),
            in_flight: vec![0; scale.tenants],
            depth: 0,
            worst: [0; 2],
            begun: 0,
            abuser: Abuser::default(),
        };
        for _ in 0..scale.jobs {
            let tenant = 1 + HEAVY + world.rng.below(scale.tenants - 1 - HEAVY);
            let at = world.rng.between(0, (scale.seconds - 60) * 1_000) / STEP * STEP;
            world.ask(tenant, at, (100, 1), 200);
        }
        for tenant in 1..=HEAVY {
            (0..4).for_each(|_| world.ask(tenant, 0, scale.large, 2_000));
        }
        world
    }

    fn has(&self, guard: Guard) -> bool {
        self.without != Some(guard)
    }

    /// Queues a client's request for a job at this time.
    fn ask(&mut self, tenant: usize, at: i64, size: (i64, u64), chunk_ms: i64) {
        let job = self.add_job(tenant, at, size, chunk_ms);
        self.later.entry(at).or_default().push(Call::Create(job));
    }

    fn add_job(&mut self, tenant: usize, at: i64, (split_left, chunks_left): (i64, u64), chunk_ms: i64) -> usize {
        let id = JobId::parse(&format!("{:016x}{:016x}", self.rng.number(), self.rng.number())).unwrap();
        let job = Job::waiting(id, format!("tenant-{tenant}"), "import", Timestamp(at));
        let create = CreateMessage::new(&job);
        self.jobs.push(JobState {
            tenant,
            create,
            asked_at: at,
            split_left,
            chunks_left,
            chunk_ms,
            open: chunks_left,
            began: [false; 2],
            is_deleted: false,
        });
        self.jobs.len() - 1
    }

    /// Runs until the end, or until a small job has waited too long.
    fn run(mut self) -> Self {
        while self.now < self.scale.seconds * 1_000 && self.within_bounds() {
            self.abuse();
            self.calls.extend(self.later.remove(&self.now).into_iter().flatten());
            self.answer();
            self.split();
            self.work();
            self.now += STEP;
        }
        self
    }

    /// Checks the waiting small jobs once a second.
    fn within_bounds(&mut self) -> bool {
        if self.now % 1_000 == 0 {
            for job in self.jobs.iter().filter(|job| job.tenant > HEAVY && job.asked_at <= self.now) {
                for (began, worst) in job.began.iter().zip(&mut self.worst) {
                    *worst = if *began { *worst } else { (self.now - job.asked_at).max(*worst) };
                }
            }
        }
        self.worst.iter().zip(BOUND_MS).all(|(worst, bound)| *worst <= bound)
    }

    /// Records the begin of a job's split, or of its first row.
    fn begins(&mut self, job: usize, what: usize) {
        let state = &mut self.jobs[job];
        if state.tenant > HEAVY && !state.began[what] {
            state.began[what] = true;
            self.begun += what;
            self.worst[what] = self.worst[what].max(self.now - state.asked_at);
        }
    }

    fn answer(&mut self) {
        let mut free: Vec<_> = (0..INSTANCES).filter(|i| self.instances[*i].free_at <= self.now).collect();
        while !free.is_empty() {
            let Some(call) = self.calls.pop_front() else { return };
            let instance = free.swap_remove(self.rng.below(free.len()));
            let took = match call {
                Call::Read => self.read(instance),
                Call::Hostile => self.create_hostile(),
                Call::Delete => self.delete_one(instance),
                Call::Create(job) => {
                    self.create(job);
                    CALL
                }
            };
            self.instances[instance].free_at = self.now + took;
        }
    }

    fn read(&mut self, instance: usize) -> i64 {
        let (guarded, now) = (self.has(Guard::CallRate), Timestamp(self.now));
        let instance = &mut self.instances[instance];
        match CALLS.spend(instance.full_at, 1, now) {
            Ok(full_at) => instance.full_at = full_at,
            Err(_) if guarded => return REFUSAL,
            Err(_) => {}
        }
        CALL
    }

    fn create(&mut self, job: usize) {
        let tenant = self.jobs[job].tenant;
        if self.admits(tenant) {
            self.active[tenant] += 1;
            self.send(job);
        } else {
            self.later.entry(self.now + 1_000).or_default().push(Call::Create(job));
        }
    }

    fn admits(&self, tenant: usize) -> bool {
        let admission = match Admission::from_depth(self.depth, self.scale.max_queued) {
            Admission::FewJobs if !self.has(Guard::Admission) => Admission::Closed,
            admission => admission,
        };
        let has_room = self.active[tenant] < self.scale.max_active || !self.has(Guard::ActiveJobs);
        has_room && admission.admits(self.active[tenant])
    }

    fn group(&self, job: usize) -> String {
        let create = &self.jobs[job].create;
        if self.has(Guard::Lanes) { create.group_id() } else { create.job_id.to_string() }
    }

    fn send(&mut self, job: usize) {
        self.sent += 1;
        let (group, sent) = (self.group(job), self.sent);
        let queue = self.groups.entry(group.clone()).or_default();
        queue.push_back((sent, job));
        self.queued.insert(sent);
        let in_flight = self.splitting.iter().any(|(_, other, _)| self.group(*other) == group);
        if self.groups[&group].len() == 1 && !in_flight {
            self.heads.insert((sent, group));
        }
    }

    fn split(&mut self) {
        let (over, on): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.splitting).into_iter().partition(|(until, ..)| *until <= self.now);
        self.splitting = on;
        for (_, job, took) in over {
            self.end_turn(job, took);
        }
        while self.splitting.len() < SPLITTERS {
            let beyond =
                (self.queued.len() > self.scale.look_ahead).then(|| self.queued.iter().nth(self.scale.look_ahead));
            let seen = beyond.flatten().copied().unwrap_or(u64::MAX);
            let Some((sent, group)) = self.heads.first().filter(|(sent, _)| *sent < seen).cloned() else { return };
            self.heads.remove(&(sent, group.clone()));
            self.queued.remove(&sent);
            let Some((_, job)) = self.groups.get_mut(&group).and_then(VecDeque::pop_front) else { continue };
            self.begins(job, 0);
            let left = self.jobs[job].left(self.jobs[job].split_left);
            let turn = if self.has(Guard::SplitTurns) { left.min(SPLIT_TURN_S * 1_000) } else { left };
            self.splitting.push((self.now + turn, job, turn));
        }
    }

    /// Sends the chunks of a turn, and a continuation. Then the message is deleted and the next one of its group may
    /// be delivered.
    fn end_turn(&mut self, job: usize, took: i64) {
        let state = &mut self.jobs[job];
        if state.is_deleted {
            (state.chunks_left, state.split_left) = (0, took);
        }
        let made = (state.chunks_left as i64 * took / state.split_left.max(1)) as u64;
        state.split_left -= took;
        state.chunks_left -= made;
        let (tenant, chunk_ms, left) = (state.tenant, state.chunk_ms, state.split_left);
        for _ in 0..made {
            self.sent += 1;
            self.chunks.entry(tenant).or_default().push_back((self.sent, job, chunk_ms));
        }
        self.depth += made;
        let group = self.group(job);
        if left > 0 {
            self.sent += 1;
            self.groups.entry(group.clone()).or_default().push_back((self.sent, job));
            self.queued.insert(self.sent);
        }
        match self.groups.get(&group).and_then(VecDeque::front) {
            Some((sent, _)) => {
                self.heads.insert((*sent, group));
            }
            None => {
                self.groups.remove(&group);
            }
        }
    }

    fn work(&mut self) {
        let (over, on): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.working).into_iter().partition(|(until, ..)| *until <= self.now);
        self.working = on;
        for (_, job, left) in over {
            self.end_delivery(job, left);
        }
        while self.working.len() < WORKERS {
            let Some(tenant) = self.next_tenant() else { return };
            let Some((_, job, left)) = self.chunks.get_mut(&tenant).and_then(VecDeque::pop_front) else { return };
            let left = self.jobs[job].left(left);
            let turn = if self.has(Guard::ChunkTurns) { left.min(CHUNK_TURN_S * 1_000) } else { left };
            self.in_flight[tenant] += 1;
            self.working.push((self.now + turn, job, left - turn));
            self.begins(job, 1);
        }
    }

    fn end_delivery(&mut self, job: usize, left: i64) {
        let tenant = self.jobs[job].tenant;
        self.in_flight[tenant] -= 1;
        if left > 0 {
            self.sent += 1;
            self.chunks.entry(tenant).or_default().push_back((self.sent, job, left));
            return;
        }
        self.depth -= 1;
        let state = &mut self.jobs[job];
        state.open -= 1;
        // A deleted job counts until the sweeper has removed it.
        if state.open == 0 && !state.is_deleted {
            self.active[tenant] -= 1;
            self.abuser.live.retain(|live| *live != job);
        }
    }

    /// The tenant whose oldest message is delivered next. Noisy neighbors come last.
    fn next_tenant(&self) -> Option<usize> {
        let all = self.working.len();
        let is_noisy = |tenant: usize| self.in_flight[tenant] * 10 > all;
        let heads =
            self.chunks.iter().filter_map(|(tenant, queue)| Some((is_noisy(*tenant), queue.front()?.0, *tenant)));
        heads.min().map(|(_, _, tenant)| tenant)
    }
}

#[test]
fn a_small_job_is_split_within_ten_seconds_and_begins_within_thirty_whatever_another_tenant_does() {
    let scale = if measurements::is_whole() { WHOLE } else { SMALL };
    let world = World::new(scale, None).run();
    let [split, row] = world.worst;
    println!("{} jobs of {} tenants: split within {split} ms, begun within {row} ms", scale.jobs, scale.tenants);
    assert!(split <= BOUND_MS[0] && row <= BOUND_MS[1], "{split} ms, {row} ms");
    assert_eq!(world.begun, scale.jobs, "every small job has begun");
}

#[test]
fn without_any_one_guard_a_small_job_waits_for_longer() {
    for guard in GUARDS {
        let [split, row] = World::new(SMALL, Some(guard)).run().worst;
        println!("without {guard:?}: {split} ms, {row} ms");
        assert!(split > BOUND_MS[0] || row > BOUND_MS[1], "without {guard:?}: {split} ms, {row} ms");
    }
}
