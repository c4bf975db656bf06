//! A deployment with many tenants: its size, its load, and its state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::CallWindow;
use longshore_domain::rate::Rate;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::rng::Rng;

/// Step of the clock, in milliseconds.
pub(super) const STEP: i64 = 20;
/// Maximum instances of the API's function in the account.
pub(super) const INSTANCES: usize = 50;
/// Concurrency in the template: splitters, and workers of normal priority.
pub(super) const SPLITTERS: usize = 20;
pub(super) const WORKERS: usize = 100;
/// Milliseconds of a call that reads and writes, and of a call that is refused immediately.
pub(super) const CALL: i64 = 60;
pub(super) const REFUSAL: i64 = 2;
/// The template's rate limit of one tenant in one instance.
pub(super) const CALLS: Rate = Rate { per_second: 10, burst: 100 };
/// Maximum wait of a small job from its create to its split, and to its first row.
pub(super) const BOUND_MS: [i64; 2] = [10_000, 30_000];
/// Number of well-behaved tenants with a few large files each. Tenant 0 is the abuser.
pub(super) const HEAVY: usize = 8;
pub(super) const ABUSER: usize = 0;

/// Milliseconds of a delivery whose job is deleted.
pub(super) const SKIPPED_MS: i64 = 60;

/// A guard that a test can disable.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Guard {
    Lanes,
    SplitTurns,
    ChunkTurns,
    CallRate,
    WorkCalls,
    ActiveJobs,
    Admission,
}

pub(super) const GUARDS: [Guard; 7] = [
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
pub(super) struct Scale {
    pub(super) tenants: usize,
    pub(super) jobs: usize,
    pub(super) seconds: i64,
    /// Milliseconds of a large file's split, and number of its chunks.
    pub(super) large: (i64, u64),
    pub(super) max_queued: u64,
    pub(super) max_active: u64,
    /// Number of messages of the FIFO queue that SQS searches for a deliverable group.
    pub(super) look_ahead: usize,
}

/// Scale of a test run: minutes instead of hours, with correspondingly lower limits.
pub(super) const SMALL: Scale = Scale {
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
pub(super) const COMPLETE: Scale = Scale {
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
pub(super) struct JobState {
    pub(super) tenant: usize,
    pub(super) create: CreateMessage,
    pub(super) requested_at: i64,
    /// Remaining milliseconds of splitting, and number of chunks that it creates.
    pub(super) split_left: i64,
    pub(super) chunks_left: u64,
    /// Milliseconds of a chunk.
    pub(super) chunk_ms: i64,
    /// Number of chunks that are not done yet.
    pub(super) open: u64,
    /// True if the split has begun, and if the first row has.
    pub(super) began: [bool; 2],
    pub(super) is_deleted: bool,
}

/// A call that waits for an instance.
#[derive(Clone, Copy)]
pub(super) enum Call {
    Create(usize),
    /// A create, delete or read by the abuser.
    Hostile,
    Delete,
    Read,
}

pub(super) struct Instance {
    pub(super) free_at: i64,
    /// Time at which the abuser's token bucket in this instance is full.
    pub(super) full_at: Timestamp,
}

/// State of the abuser.
#[derive(Default)]
pub(super) struct Abuser {
    /// Jobs that are neither done nor deleted, oldest first.
    pub(super) live: VecDeque<usize>,
    /// Times at which deleted jobs are removed.
    pub(super) removals: VecDeque<i64>,
    pub(super) window: Option<CallWindow>,
    pub(super) counted: u64,
}

pub(super) struct World {
    pub(super) scale: Scale,
    pub(super) without: Option<Guard>,
    pub(super) rng: Rng,
    pub(super) now: i64,
    pub(super) sent: u64,
    pub(super) jobs: Vec<JobState>,
    pub(super) instances: Vec<Instance>,
    pub(super) calls: VecDeque<Call>,
    pub(super) later: BTreeMap<i64, Vec<Call>>,
    pub(super) active: Vec<u64>,
    /// The FIFO queue: messages by group, in order, and the first message of each group that has none in flight.
    pub(super) groups: BTreeMap<String, VecDeque<(u64, usize)>>,
    pub(super) heads: BTreeSet<(u64, String)>,
    pub(super) queued: BTreeSet<u64>,
    pub(super) splitting: Vec<(i64, usize, i64)>,
    /// The fair queue: messages by tenant, in order, each with its milliseconds of work. The depth includes messages
    /// in flight.
    pub(super) chunks: BTreeMap<usize, VecDeque<(u64, usize, i64)>>,
    pub(super) working: Vec<(i64, usize, i64)>,
    pub(super) in_flight: Vec<usize>,
    pub(super) depth: u64,
    pub(super) worst: [i64; 2],
    pub(super) begun: usize,
    pub(super) abuser: Abuser,
}

impl JobState {
    /// Remaining milliseconds of work. A deleted job is skipped quickly.
    pub(super) fn left(&self, left: i64) -> i64 {
        if self.is_deleted { left.min(SKIPPED_MS) } else { left }
    }
}

impl World {
    pub(super) fn new(scale: Scale, without: Option<Guard>) -> Self {
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
            world.request(tenant, at, (100, 1), 200);
        }
        for tenant in 1..=HEAVY {
            (0..4).for_each(|_| world.request(tenant, 0, scale.large, 2_000));
        }
        world
    }

    pub(super) fn has(&self, guard: Guard) -> bool {
        self.without != Some(guard)
    }

    /// Queues a client's request for a job at this time.
    pub(super) fn request(&mut self, tenant: usize, at: i64, size: (i64, u64), chunk_ms: i64) {
        let job = self.add_job(tenant, at, size, chunk_ms);
        self.later.entry(at).or_default().push(Call::Create(job));
    }

    pub(super) fn add_job(
        &mut self,
        tenant: usize,
        at: i64,
        (split_left, chunks_left): (i64, u64),
        chunk_ms: i64,
    ) -> usize {
        let id = JobId::parse(&format!("{:016x}{:016x}", self.rng.number(), self.rng.number())).unwrap();
        let job = Job::waiting(
            id,
            TenantId::parse(&format!("tenant-{tenant}")).expect("a valid tenant id"),
            "import",
            Timestamp(at),
        );
        let create = CreateMessage::new(&job);
        self.jobs.push(JobState {
            tenant,
            create,
            requested_at: at,
            split_left,
            chunks_left,
            chunk_ms,
            open: chunks_left,
            began: [false; 2],
            is_deleted: false,
        });
        self.jobs.len() - 1
    }

    /// Records the begin of a job's split (0), or of its first row (1).
    pub(super) fn begins(&mut self, job: usize, phase: usize) {
        let state = &mut self.jobs[job];
        if state.tenant > HEAVY && !state.began[phase] {
            state.began[phase] = true;
            self.begun += phase;
            self.worst[phase] = self.worst[phase].max(self.now - state.requested_at);
        }
    }
}
