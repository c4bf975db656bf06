//! The plan of a run, decided by its seed: the file, the job's options, the client's actions, and the rates of
//! faults.

use longshore_domain::job::Priority;

use crate::faults::Rates;
use crate::kinds::Kind;
use crate::rng::Rng;
use crate::rows::{ACTIONS, Dialect};

/// Seconds without progress that count as healthy, unless a story has its own value.
pub(crate) const STALL_S: i64 = 60;

/// Behavior of a run's environment.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// Functions die at their timeout. Otherwise they stay slow indefinitely, which only affects an exact concurrency
    /// limit and a removal.
    pub(crate) mortal: bool,
    /// Messages of a FIFO queue's group are delivered in order, one at a time.
    pub(crate) fifo: bool,
    /// Seconds until a delivered message is delivered again.
    pub(crate) visibility_s: i64,
    /// Base of the delays after deliveries that returned an error, in seconds. A message then has ten deliveries, as
    /// in the template. If `None`, such a message stays hidden until its visibility timeout ends, and has five.
    pub(crate) redelivery_base_s: Option<i64>,
    /// Base of the retry schedule, in seconds.
    pub(crate) retry_base_s: i64,
    /// Seconds without progress that count as healthy.
    pub(crate) stall_s: i64,
    /// Maximum error of a function's clock, in milliseconds.
    pub(crate) skew_ms: i64,
    /// Maximum number of lost messages, fewer than the sweeper's pushes.
    pub(crate) losses: u32,
    /// Maximum number of steps that a function takes before another may run.
    pub(crate) stride: usize,
    /// Some functions rarely progress.
    pub(crate) slow_ones: bool,
    /// A sweep runs to its end at once, without faults.
    pub(crate) sweeps_at_once: bool,
    /// No function is killed.
    pub(crate) nobody_dies: bool,
    /// Rates of random faults.
    pub(crate) rates: Rates,
}

impl Environment {
    /// Functions die, and messages are delivered twice, late, in any order or not at all. Calls of services have no
    /// faults.
    pub(crate) const PLAIN: Self = Self {
        mortal: false,
        fifo: false,
        visibility_s: 45,
        redelivery_base_s: None,
        retry_base_s: 0,
        stall_s: STALL_S,
        skew_ms: 0,
        losses: 2,
        stride: 30,
        slow_ones: false,
        sweeps_at_once: true,
        nobody_dies: false,
        rates: Rates { throttled: 0, reply_dropped: 0, sent_twice: 0, stale: 0 },
    };
}

/// Frequency of the client's actions, per ten thousand events.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct ActionRates {
    pub(crate) cancels: u32,
    pub(crate) retries: u32,
    pub(crate) corrects: u32,
    pub(crate) deletes: u32,
    /// Replays of the job's dead letters by an operator.
    pub(crate) replays: u32,
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The run's jobs, over the same services.
    pub(crate) jobs: Vec<JobPlan>,
    pub(crate) environment: Environment,
    /// Number of events in each phase with faults. After each phase everything is healthy until the jobs have ended.
    pub(crate) stretches: Vec<usize>,
}

/// A job of a run, and its client.
#[derive(Clone, Debug)]
pub(crate) struct JobPlan {
    pub(crate) tenant: &'static str,
    /// Index of the job's file among the run's uploads. Jobs may share a file.
    pub(crate) upload: usize,
    /// The action of each row, an index of [`ACTIONS`].
    pub(crate) rows: Vec<usize>,
    pub(crate) dialect: Dialect,
    pub(crate) tolerated: Option<u64>,
    pub(crate) kind: Kind,
    pub(crate) priority: Priority,
    /// Time limit of the job in seconds, for each generation.
    pub(crate) time_limit_s: i64,
    /// Seconds from the job's creation to its expiry.
    pub(crate) kept_s: Option<i64>,
    pub(crate) action_rates: ActionRates,
}

/// Time limit in seconds of a job that is not expected to exceed it.
pub(crate) const TEN_DAYS_S: i64 = 10 * 24 * 3_600;

/// Tenants of runs with several tenants.
const TENANTS: [&str; 3] = ["default", "other", "third"];

impl JobPlan {
    /// A job without client actions and with enough time.
    pub(crate) fn plain(rows: &[usize], kind: Kind) -> Self {
        Self {
            tenant: TENANTS[0],
            upload: 0,
            rows: rows.to_vec(),
            dialect: Dialect::default(),
            tolerated: None,
            kind,
            priority: Priority::default(),
            time_limit_s: TEN_DAYS_S,
            kept_s: None,
            action_rates: ActionRates::default(),
        }
    }
}

impl Plan {
    /// The plan that the random generator decides. Most runs have one job; others have several, which are smaller.
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let mut jobs = vec![job(rng, 40)];
        for number in 1..=rng.weighted(&[85, 9, 4, 2]) {
            let another = job(rng, 15);
            jobs.push(beside(rng, &jobs[0], JobPlan { upload: number, ..another }));
        }
        let exact = jobs.iter().any(|job| job.kind == Kind::Limited || job.action_rates.deletes > 0);
        let (environment, most) = (environment(rng, exact), 300 + 100 * jobs.len());
        let stretches = 1 + rng.weighted(&[6, 3, 1]);
        Self { jobs, environment, stretches: (0..stretches).map(|_| rng.below(most)).collect() }
    }

    /// The same files and jobs without faults, deaths, losses and client actions: all jobs end without a sweeper.
    pub(crate) fn healthy(self) -> Self {
        let environment =
            Environment { nobody_dies: true, losses: 0, rates: Rates::default(), retry_base_s: 0, ..self.environment };
        // Only the sweeper repeats a client's stop that coincides with the job's end.
        let well =
            |job| JobPlan { action_rates: ActionRates::default(), time_limit_s: TEN_DAYS_S, kept_s: None, ..job };
        Self { environment, jobs: self.jobs.into_iter().map(well).collect(), ..self }
    }

    /// Special traits of the run.
    pub(crate) fn traits(&self) -> Vec<&'static str> {
        let (jobs, first) = (&self.jobs, &self.jobs[0]);
        let any = |is: fn(&JobPlan) -> bool| jobs.iter().any(is);
        let all = [
            ("several jobs", jobs.len() > 1),
            ("several tenants", jobs.iter().any(|job| job.tenant != first.tenant)),
            ("shared upload", jobs[1..].iter().any(|job| job.upload == first.upload)),
            (
                "several jobs under one concurrency limit",
                jobs.iter().filter(|job| job.kind == Kind::Limited).count() > 1,
            ),
            ("limited type", any(|job| job.kind == Kind::Limited)),
            ("chunks of one row", any(|job| job.kind == Kind::Fine)),
            ("chunks of many rows", any(|job| job.kind == Kind::Coarse)),
            ("imports that insert", any(|job| job.kind == Kind::Insert)),
            ("imports that upsert", any(|job| job.kind == Kind::Upsert)),
            ("JSON Lines", any(|job| job.dialect.json_lines)),
            ("rows not in messages", any(|job| job.dialect.padding > 0)),
            ("a job that expires", any(|job| job.kept_s.is_some())),
            ("short time limit", any(|job| job.time_limit_s < TEN_DAYS_S)),
        ];
        all.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect()
    }
}

/// A random job of up to `most` rows.
fn job(rng: &mut Rng, most: usize) -> JobPlan {
    let (heavy, kind) = (rng.often(20), Kind::random(rng));
    // A retry replans so many chunks that they make several groups.
    let most = if kind == Kind::Fine { 2 * most } else { most };
    JobPlan {
        tenant: TENANTS[0],
        upload: 0,
        rows: rows(rng, if heavy { 10 } else { most }),
        dialect: Dialect {
            json_lines: rng.often(150),
            bom: rng.often(200),
            crlf: rng.often(200),
            quoted: rng.often(200),
            open_end: rng.often(200),
            padding: if heavy { 19_000 } else { 0 },
        },
        tolerated: if rng.often(300) { Some(rng.number() % 4) } else { None },
        kind,
        priority: rng.pick(&Priority::ALL),
        time_limit_s: if rng.often(60) { rng.pick(&[20, 120, 900]) } else { TEN_DAYS_S },
        // The hour leaves time for the job to end.
        kept_s: if rng.often(60) { Some(3_600 + rng.pick(&[120, 900])) } else { None },
        action_rates: ActionRates {
            cancels: rng.pick(&[0, 0, 30, 150]),
            retries: rng.pick(&[0, 200]),
            corrects: rng.pick(&[0, 0, 100]),
            deletes: if rng.often(100) { 40 } else { 0 },
            replays: rng.pick(&[0, 100]),
        },
    }
}

/// Another job beside the first: of any tenant, or over the same upload.
fn beside(rng: &mut Rng, first: &JobPlan, job: JobPlan) -> JobPlan {
    if rng.often(250) {
        let JobPlan { tenant, upload, rows, dialect, .. } = first.clone();
        return JobPlan { tenant, upload, rows, dialect, ..job };
    }
    // Half of them share the concurrency limit.
    let kind = if rng.often(500) { first.kind } else { job.kind };
    JobPlan { tenant: rng.pick(&TENANTS), kind, ..job }
}

fn rows(rng: &mut Rng, most: usize) -> Vec<usize> {
    let fatal = rng.often(150);
    let last = ACTIONS.len() - usize::from(!fatal);
    let count = rng.below(most);
    (0..count).map(|_| if rng.often(570) { 0 } else { rng.below(last) }).collect()
}

fn environment(rng: &mut Rng, exact: bool) -> Environment {
    let bad = |rng: &mut Rng, most: usize| if rng.often(600) { rng.below(most) as u32 } else { 0 };
    let mortal = exact || rng.often(500);
    Environment {
        mortal,
        fifo: rng.often(300),
        // If functions outlive the visibility timeout, two of them process one message.
        visibility_s: if mortal { 45 } else { rng.pick(&[5, 15, 45]) },
        redelivery_base_s: None,
        retry_base_s: rng.pick(&[0, 0, 10, 600]),
        stall_s: STALL_S,
        skew_ms: rng.pick(&[0, 500, 3_000]),
        losses: rng.pick(&[0, 2, 2]),
        stride: rng.pick(&[4, 10, 30]),
        slow_ones: rng.often(300),
        sweeps_at_once: rng.often(300),
        nobody_dies: false,
        rates: Rates {
            throttled: bad(rng, 60),
            reply_dropped: bad(rng, 60),
            sent_twice: bad(rng, 80),
            stale: bad(rng, 200),
        },
    }
}
