//! Sweepers that fire the schedules of a tenant, in random order, while clients change and trigger them: each occurrence
//! makes exactly one job, or has exactly one reason.
//!
//! The firing is that of the sweeper and of the API. Every call of the store can be interrupted before and after it; a
//! sweeper can be killed at every step. Meanwhile an operator registers the job type again, now with a schema that
//! refuses the options, now with one that accepts them.

mod verify;

use std::collections::BTreeMap;

use longshore_domain::ids::ScheduleId;
use longshore_domain::job::{Finish, Job, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{
    CreatedRange, JobStore, JobTransitions, JobTypes, JobsOf, JobsQuery, PingRecord, Schedules, TenantLimits, TypeWrite,
};
use longshore_domain::registration::{Activation, Candidate, Registration, StoredRegistration, Target, TypeName};
use longshore_domain::schedule::{JobTemplate, LATE_S, Overlap, Schedule, Timing};
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::{CheckOptions, Checked, FireEnd, Firer, next_after};
use longshore_testing::MemoryStore;
use serde_json::json;

use crate::clock::{CLOCK, clock, true_time};
use crate::faults::{self, Rates};
use crate::rng::Rng;
use crate::stepwise::Stepwise;
use crate::tasks::{Task, now, poll};
use crate::unguarded::Unguarded;

const START: Timestamp = Timestamp(1_782_896_400_000);

type Store = Stepwise<Unguarded<MemoryStore>>;

/// The check of the options: a registration with an even number refuses them.
enum Checks {
    Later,
    Now,
}

impl CheckOptions for Checks {
    fn check(&self, registration: &Registration, _: &JobTemplate) -> Checked {
        match self {
            Self::Later => Checked::Later,
            Self::Now if is_refusing(registration) => Checked::Refused("/options: even".into()),
            Self::Now => Checked::Accepted,
        }
    }
}

fn is_refusing(registration: &Registration) -> bool {
    registration.concurrency.is_multiple_of(2)
}

/// A run: the schedule of a tenant, and functions that are under way.
struct Run {
    rng: Rng,
    memory: MemoryStore,
    store: Store,
    tasks: Vec<Task<()>>,
    schedule: Schedule,
    /// True if a client has paused or changed the schedule: then times can have no occurrence.
    is_changed: bool,
    /// Number of the registration; 0 if the job type is not registered.
    registered: u32,
}

fn schedule(rng: &mut Rng) -> Schedule {
    let minutes = rng.pick(&[5, 7, 60]);
    let mut schedule = Schedule {
        schedule_id: ScheduleId::generate(),
        tenant: DEFAULT_TENANT.clone(),
        place: 0,
        name: "simulated".into(),
        timing: Timing::Every { minutes, from: START },
        overlap: rng.pick(&[Overlap::Skip, Overlap::Allow]),
        paused: false,
        job: JobTemplate { timeout_s: 3_600, ..JobTemplate::new("ping", json!({ "jobType": "ping" })) },
        next_at: None,
        last_at: None,
        last_job: None,
        created_at: START,
        revision: 0,
    };
    schedule.next_at = next_after(&schedule, START).unwrap();
    schedule
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::from_seed(seed);
        CLOCK.set(START.0);
        faults::begin(Rng::from_seed(seed + 1), Rates { throttled: 30, reply_dropped: 30, sent_twice: 30, stale: 0 });
        let memory = MemoryStore::default().with_limits(TenantLimits { active_jobs: 1, ..TenantLimits::default() });
        let schedule = schedule(&mut rng);
        let store = Stepwise(Unguarded(memory.clone()));
        let mut run = Self { rng, memory, store, tasks: Vec::new(), schedule, is_changed: false, registered: 0 };
        if run.rng.often(500) {
            run.schedule.job.is_registered = true;
            run.register();
        }
        run.put(None);
        run
    }

    /// An operator registers the job type, or registers it again.
    fn register(&mut self) {
        self.registered += 1;
        let name = TypeName::parse(&self.schedule.job.job_type).unwrap();
        let registration = Registration {
            concurrency: self.registered,
            options_schema: Some(json!({})),
            ..Registration::new(name.clone(), Target::Url("https://example.com/".into()))
        };
        let candidate = Candidate::new(registration, true_time());
        let seen = now(self.memory.job_type(&name)).unwrap().as_ref().map(StoredRegistration::revision);
        let write = now(self.memory.put_candidate(&name, Some(&candidate), seen.as_ref())).unwrap();
        let activation = Activation { modes: Vec::new(), at: true_time() };
        let record = now(self.memory.activate(&name, &candidate.version, &activation)).unwrap();
        assert_eq!((write, record), (TypeWrite::Stored, PingRecord::Recorded));
    }

    fn put(&mut self, read: Option<&Schedule>) {
        let _ = now(self.memory.put_schedule(&self.schedule, read)).unwrap();
    }

    /// A sweep as the sweeper makes it: it reads what is due, and fires until nothing is, first without checks.
    fn sweep(&self) -> Task<()> {
        let store = self.store.clone();
        Box::pin(async move {
            for options in &[Checks::Later, Checks::Now] {
                let firer = Firer { store: &store, job_types: &store, options, retention_days: 14 };
                let Ok(due) = store.due_schedules(clock(), 10).await else { return };
                for key in due {
                    while let Ok(Some(schedule)) = store.schedule(&key).await {
                        let Ok(end) = firer.fire(&schedule, clock()).await else { break };
                        if matches!(end, FireEnd::NotDue | FireEnd::Unchecked) {
                            break;
                        }
                    }
                }
            }
        })
    }

    fn trigger(&self) -> Task<()> {
        let (store, key) = (self.store.clone(), self.schedule.key());
        Box::pin(async move {
            let firer = Firer { store: &store, job_types: &store, options: &Checks::Now, retention_days: 14 };
            if let Ok(Some(schedule)) = store.schedule(&key).await {
                let _ = firer.trigger(&schedule, clock()).await;
            }
        })
    }

    fn event(&mut self) {
        match self.rng.weighted(&[20, 15, 100, 8, 4, 1, 3, 2]) {
            0 => CLOCK.set(CLOCK.get() + self.rng.between(0, 240_000)),
            1 if self.tasks.len() < 4 => self.tasks.push(self.sweep()),
            2 if !self.tasks.is_empty() => {
                let task = self.rng.below(self.tasks.len());
                if poll(&mut self.tasks[task]).is_some() {
                    drop(self.tasks.swap_remove(task));
                }
            }
            // A function is killed.
            3 if !self.tasks.is_empty() => {
                let task = self.rng.below(self.tasks.len());
                drop(self.tasks.swap_remove(task));
            }
            4 => self.end_a_job(),
            // An outage, longer than an occurrence can be late. Not of whole minutes: a call that triggers is no time of it.
            5 => CLOCK.set(CLOCK.get() + (LATE_S + 600) * 1_000 + 1),
            6 if self.rng.often(300) => self.change(),
            6 => self.tasks.push(self.trigger()),
            7 if self.registered > 0 => self.register(),
            _ => {}
        }
    }

    fn jobs(&self) -> Vec<Job> {
        let (metadata, tenant) = (BTreeMap::new(), &DEFAULT_TENANT);
        let query = JobsQuery {
            of: JobsOf::Tenant(tenant),
            created: CreatedRange::ALL,
            status: None,
            job_type: None,
            metadata: &metadata,
            limit: 10_000,
            after: None,
        };
        now(self.memory.jobs(&query)).unwrap().jobs
    }

    fn end_a_job(&mut self) {
        let active: Vec<_> = self.jobs().into_iter().filter(|job| job.is_unfinished()).collect();
        if active.is_empty() {
            return;
        }
        let job = &active[self.rng.below(active.len())];
        let finish = Finish::new(Status::Failed, Counts::default(), true_time());
        let _ = now(self.memory.finish(job.job_id, &finish)).unwrap();
    }

    /// A client pauses the schedule, or continues it.
    fn change(&mut self) {
        let read = now(self.memory.schedule(&self.schedule.key())).unwrap().unwrap();
        let mut changed = read.clone().changed(|schedule| schedule.paused = !schedule.paused);
        if !changed.paused {
            let after = changed.last_at.map_or(true_time(), |last_at| last_at.max(true_time()));
            changed.next_at = next_after(&changed, after).unwrap();
        }
        self.schedule = changed;
        self.put(Some(&read));
        self.is_changed = true;
    }
}
