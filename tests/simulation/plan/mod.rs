//! The plan of a run, decided by its seed: the file, the job's options, the client's actions, and the rates of
//! faults.

mod environment;

use longshore_domain::cost::NanoDollars;
use longshore_domain::job::Priority;

pub(crate) use self::environment::{Environment, STALL_S};
use crate::faults::Rates;
use crate::kinds::Kind;
use crate::rng::Rng;
use crate::rows::{ACTIONS, Dialect};

/// Frequency of the client's actions, per ten thousand events.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct ActionRates {
    pub(crate) cancels: u32,
    pub(crate) retries: u32,
    pub(crate) corrects: u32,
    pub(crate) deletes: u32,
    /// Replays of the job's dead letters by an operator.
    pub(crate) replays: u32,
    /// Deletes of the job whose items the job copies.
    pub(crate) source_deletes: u32,
    /// Undos of the job, and as many previews of them.
    pub(crate) undos: u32,
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The run's jobs, over the same services.
    pub(crate) jobs: Vec<JobPlan>,
    pub(crate) environment: Environment,
    /// Number of events in each phase with faults. After each phase there are no faults until the jobs have ended.
    pub(crate) phases: Vec<usize>,
}

/// A job of a run, and its client.
#[derive(Clone, Debug)]
pub(crate) struct JobPlan {
    pub(crate) tenant: &'static str,
    /// Index of the job's file among the run's uploads. Jobs may share a file.
    pub(crate) upload: usize,
    /// True if the uploads of the client are compressed, so that they must be prepared.
    pub(crate) is_compressed: bool,
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
    /// Seconds from the job's creation to its start, if it starts later.
    pub(crate) starts_in_s: Option<i64>,
    pub(crate) action_rates: ActionRates,
}

/// Time limit in seconds of a job that is not expected to exceed it.
pub(crate) const TEN_DAYS_S: i64 = 10 * 24 * 3_600;

/// Frequency of undos of imports.
const UNDOS: u32 = 150;

/// Tenants of runs with several tenants.
pub(crate) const TENANTS: [&str; 3] = ["default", "other", "third"];

impl JobPlan {
    /// Maximum cost of some of the jobs with a tolerance: that of their split, their end, and a few chunks.
    pub(crate) fn max_cost(&self) -> Option<NanoDollars> {
        (self.tolerated == Some(3)).then_some(NanoDollars(50_000))
    }

    /// True if the job has the items of its request instead of an upload. Their file has no byte order mark, no white
    /// space and no open end.
    pub(crate) fn has_items(&self) -> bool {
        let Dialect { json_lines, bom, crlf, quoted, open_end, .. } = self.dialect;
        let has_file = !self.kind.has_dataset() && self.kind != Kind::Copied;
        has_file && json_lines && !(bom || crlf || quoted || open_end || self.rows.is_empty())
    }

    /// A job without client actions and with enough time.
    pub(crate) fn plain(rows: &[usize], kind: Kind) -> Self {
        Self {
            tenant: TENANTS[0],
            upload: 0,
            is_compressed: false,
            rows: rows.to_vec(),
            dialect: Dialect::default(),
            tolerated: None,
            kind,
            priority: Priority::default(),
            time_limit_s: TEN_DAYS_S,
            kept_s: None,
            starts_in_s: None,
            action_rates: ActionRates::default(),
        }
    }
}

impl Plan {
    /// The plan that the random generator decides. Most runs have one job; others have several, which are smaller. If
    /// `kind` is given, all jobs have this kind.
    pub(crate) fn random(rng: &mut Rng, kind: Option<Kind>) -> Self {
        let mut jobs = vec![job(rng, kind, 40)];
        for number in 1..=rng.weighted(&[85, 9, 4, 2]) {
            let job = job(rng, kind, 15);
            jobs.push(another_job(rng, &jobs[0], JobPlan { upload: number, ..job }));
        }
        for job in jobs.iter_mut().filter(|job| job.kind.is_undoable(job.tolerated)) {
            job.action_rates.undos = UNDOS;
        }
        let (environment, max_events) = (Environment::random(rng, &jobs), 300 + 100 * jobs.len());
        let phases = 1 + rng.weighted(&[6, 3, 1]);
        Self { jobs, environment, phases: (0..phases).map(|_| rng.below(max_events)).collect() }
    }

    /// The same files and jobs without faults, kills, losses and client actions. All jobs end without a sweeper.
    pub(crate) fn healthy(self) -> Self {
        let environment =
            Environment { no_kills: true, losses: 0, rates: Rates::default(), retry_base_s: 0, ..self.environment };
        // Only the sweeper repeats a client's stop that coincides with the end of the job.
        let healthy = |job| JobPlan {
            action_rates: ActionRates::default(),
            time_limit_s: TEN_DAYS_S,
            kept_s: None,
            starts_in_s: None,
            ..job
        };
        Self { environment, jobs: self.jobs.into_iter().map(healthy).collect(), ..self }
    }

    /// Special traits of the run.
    pub(crate) fn traits(&self) -> Vec<&'static str> {
        let (jobs, first) = (&self.jobs, &self.jobs[0]);
        let any = |has_trait: fn(&JobPlan) -> bool| jobs.iter().any(has_trait);
        let traits = [
            ("several jobs", jobs.len() > 1),
            ("several tenants", jobs.iter().any(|job| job.tenant != first.tenant)),
            ("shared upload", !first.has_items() && jobs[1..].iter().any(|job| job.upload == first.upload)),
            (
                "several jobs under one concurrency limit",
                jobs.iter().filter(|job| job.kind == Kind::Limited).count() > 1,
            ),
            ("compressed uploads", any(|job| job.is_compressed && !job.has_items() && !job.kind.has_dataset())),
            ("limited type", any(|job| job.kind == Kind::Limited)),
            ("chunks of one row", any(|job| job.kind == Kind::Fine)),
            ("chunks of many rows", any(|job| job.kind == Kind::Coarse)),
            ("rows with outputs", any(|job| job.kind == Kind::Enriching)),
            ("records of a dataset", any(|job| job.kind == Kind::Stored)),
            ("items of another job", any(|job| job.kind == Kind::Copied)),
            ("exports", any(|job| job.kind == Kind::Export)),
            ("a remote handler", any(|job| job.kind == Kind::Lying)),
            ("imports that insert", any(|job| job.kind == Kind::Insert)),
            ("imports that upsert", any(|job| job.kind == Kind::Upsert)),
            ("imports that update", any(|job| job.kind == Kind::Update)),
            ("imports that can be undone", any(|job| job.action_rates.undos > 0)),
            ("imports that delete", any(|job| job.kind == Kind::Delete)),
            ("JSON Lines", any(|job| job.dialect.json_lines)),
            ("another encoding and delimiter", any(|job| job.dialect.is_foreign())),
            ("items in the request", any(JobPlan::has_items)),
            ("rows not in messages", any(|job| job.dialect.padding > 0)),
            ("a job that starts later", any(|job| job.starts_in_s.is_some())),
            ("a job that expires", any(|job| job.kept_s.is_some())),
            ("short time limit", any(|job| job.time_limit_s < TEN_DAYS_S)),
        ];
        traits.into_iter().filter(|(_, applies)| *applies).map(|(name, _)| name).collect()
    }
}

/// A random job of up to `max_rows` rows, of any kind unless it is given.
fn job(rng: &mut Rng, kind: Option<Kind>, max_rows: usize) -> JobPlan {
    let (heavy, kind) = (rng.often(20), kind.unwrap_or_else(|| Kind::random(rng)));
    // With more rows, a retry replans so many chunks that they need several groups.
    let max_rows = if kind == Kind::Fine { 2 * max_rows } else { max_rows };
    let rows = rows(rng, if heavy { 10 } else { max_rows });
    // Without a random number more, the seeds of other kinds keep their runs.
    let kind = if kind == Kind::Stored && rows.len() % 2 == 1 { Kind::Copied } else { kind };
    let row_count = rows.len();
    let source_deletes = if kind == Kind::Copied && rows.len().is_multiple_of(3) { 100 } else { 0 };
    JobPlan {
        tenant: TENANTS[0],
        upload: 0,
        // Without a random number more.
        is_compressed: row_count % 4 == 1 && kind != Kind::Lying,
        rows,
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
        // Without a random number more, the seeds of other jobs keep their runs.
        starts_in_s: (row_count % 8 == 5).then_some(100),
        // The hour leaves time for the job to end.
        kept_s: if rng.often(60) { Some(3_600 + rng.pick(&[120, 900])) } else { None },
        action_rates: ActionRates {
            cancels: rng.pick(&[0, 0, 30, 150]),
            retries: rng.pick(&[0, 200]),
            corrects: rng.pick(&[0, 0, 100]),
            deletes: if rng.often(100) { 40 } else { 0 },
            replays: rng.pick(&[0, 100]),
            source_deletes,
            undos: 0,
        },
    }
}

/// Another job: of any tenant, or over the same upload as the first one.
fn another_job(rng: &mut Rng, first: &JobPlan, job: JobPlan) -> JobPlan {
    if rng.often(250) {
        let JobPlan { tenant, upload, is_compressed, rows, dialect, .. } = first.clone();
        return JobPlan { tenant, upload, is_compressed, rows, dialect, ..job };
    }
    // Half of these jobs have the kind of the first one, so that they share a concurrency limit.
    let kind = if rng.often(500) { first.kind } else { job.kind };
    // Without a random number more, many imports overwrite the records of another one.
    if first.kind.is_undoable(first.tolerated) && !job.rows.len().is_multiple_of(3) {
        return JobPlan { tenant: first.tenant, kind: first.kind, tolerated: None, ..job };
    }
    JobPlan { tenant: rng.pick(&TENANTS), kind, ..job }
}

fn rows(rng: &mut Rng, max_rows: usize) -> Vec<usize> {
    let has_fatal = rng.often(150);
    let actions = ACTIONS.len() - usize::from(!has_fatal);
    let count = rng.below(max_rows);
    (0..count).map(|_| if rng.often(570) { 0 } else { rng.below(actions) }).collect()
}
