//! Operators who pause job types and tenants, for a time that they end themselves or forget.

use std::collections::BTreeMap;
use std::rc::Rc;

use longshore::pause_cache::PauseCache;
use longshore_domain::group::Group;
use longshore_domain::ids::{JobId, PauseId};
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{JobProgress, Ledger, PauseOutcome, PauseRecords, Pauses, PortResult};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::acts::{Act, Shared};
use super::{World, now};
use crate::clock::{clock, true_time};
use crate::faults::count_fault;
use crate::pauses;
use crate::plan::STALL_S;
use crate::rng::Rng;

/// Share of the seeds with operators, per thousand.
const SEEDS_WITH_OPERATORS: u32 = 200;
/// Number that makes the sequence of the operators another one than that of the run.
const SEQUENCE: u64 = 0x5ca1_ab1e;
/// Requests of operators per thousand events.
const REQUESTS: u32 = 25;
/// Maximum number of pauses of a run: fewer than the pushes without effect after which work is given up.
const MAX_PAUSES: u32 = 3;
/// Length of a pause in seconds, unless an operator ends it before.
const LENGTHS_S: [i64; 5] = [4, 30, 120, 600, 1_800];
/// Seconds after the end of a pause in which the table may remove it.
const REMOVED_AFTER_S: i64 = 10;

/// Sweeps after which a job has ended whose completion was requested again.
const COMPLETION_SWEEPS: i64 = 3;

/// The operators of a run. Their random numbers are their own, so that the other seeds keep their runs.
pub(super) struct Operators {
    rng: Rng,
    pauses: u32,
}

impl Operators {
    /// Returns the operators of a seed; `None` for most seeds.
    pub(super) fn of_seed(seed: u64) -> Option<Self> {
        let mut rng = Rng::from_seed(seed ^ SEQUENCE);
        rng.often(SEEDS_WITH_OPERATORS).then_some(Self { rng, pauses: 0 })
    }
}

impl World {
    /// Adds the operators of a seed, if it has any.
    pub(crate) fn with_operators_of(mut self, seed: u64) -> Self {
        self.operators = Operators::of_seed(seed);
        let has_one_clock = self.operators.is_some() && self.environment.skew_ms == 0;
        if let Some(shared) = Rc::get_mut(&mut self.shared).filter(|_| has_one_clock) {
            shared.pauses = Some(PauseCache::default());
        }
        self
    }

    /// Returns true if operators have paused anything.
    pub(crate) fn has_pauses(&self) -> bool {
        self.operators.as_ref().is_some_and(|operators| operators.pauses > 0)
    }

    /// Pauses the type of the current job for a time, and returns its end.
    pub(crate) fn pause_the_type(&self, seconds: i64) -> Timestamp {
        let (since, until) = (clock(), clock().plus_seconds(seconds));
        let scope = PauseScope::JobType(self.customer().kind.name().to_owned());
        let pause = Pause { id: pauses::new_id(), scope, since, until, by: "operator".into() };
        assert_eq!(now(self.store.put_pause(&pause)).unwrap(), PauseOutcome::Made);
        pauses::record_acknowledged(&pause);
        until
    }

    /// Sends a random request of an operator, in some events.
    pub(super) fn send_operator_request(&mut self) {
        let Some(mut operators) = self.operators.take() else { return };
        if operators.rng.often(REQUESTS) {
            self.remove_ended_pauses(&mut operators.rng);
            let stored = now(self.store.pauses()).unwrap();
            let act = match stored.len() {
                0 => self.random_pause(&mut operators),
                count if operators.rng.often(500) => Some(Act::Resume(stored[operators.rng.below(count)].id)),
                _ => self.random_pause(&mut operators),
            };
            act.into_iter().for_each(|act| self.begin_request(act));
        }
        self.operators = Some(operators);
    }

    /// A pause of the type or the tenant of a random job.
    fn random_pause(&self, operators: &mut Operators) -> Option<Act> {
        if operators.pauses >= MAX_PAUSES {
            return None;
        }
        operators.pauses += 1;
        let rng = &mut operators.rng;
        let customer = &self.customers[rng.below(self.customers.len())];
        let scope = match rng.often(500) {
            true => PauseScope::JobType(customer.kind.name().to_owned()),
            false => PauseScope::Tenant(TenantId::from_static(customer.tenant)),
        };
        Some(Act::Pause { scope, seconds: rng.pick(&LENGTHS_S) })
    }

    /// Removes some of the pauses that have ended, as the table does.
    fn remove_ended_pauses(&self, rng: &mut Rng) {
        for pause in now(self.store.pauses()).unwrap() {
            if true_time() > pause.until.plus_seconds(REMOVED_AFTER_S) && rng.often(500) {
                now(self.store.end_pause(&pause)).unwrap();
            }
        }
    }

    /// Checks that a job whose items have all ended completes although it is paused. `done` has the time at which
    /// the items of each such job had ended.
    pub(super) fn check_completions(&mut self, done: &mut BTreeMap<JobId, Timestamp>) {
        if !self.has_pauses() {
            return;
        }
        let stall_s = self.shared.stall_s;
        self.each(|world| {
            let progress = now(world.store.progress(world.customer().id)).unwrap();
            let Some(JobProgress { groups, job }) = progress else { return };
            let mut owned = groups.iter().filter(|group| job.owns(group.number));
            let is_done = job.split.ended && owned.all(Group::is_done) && !job.status.is_final();
            if !is_done || !pauses::is_paused(&job.job_type, &job.tenant) {
                done.remove(&job.job_id);
                return;
            }
            let since = *done.entry(job.job_id).or_insert(true_time());
            let wait_s = (stall_s << job.resends.min(6)) + COMPLETION_SWEEPS * STALL_S;
            assert!(true_time() <= since.plus_seconds(wait_s), "a pause delays the end of a job: {job:?}");
        });
    }
}

/// Pauses a job type or a tenant, as the API does.
pub(super) async fn pause(shared: &Shared, scope: PauseScope, seconds: i64) -> PortResult<&'static str> {
    let (since, until) = (clock(), clock().plus_seconds(seconds));
    let pause = Pause { id: pauses::new_id(), scope, since, until, by: "operator".into() };
    let in_force = match shared.ports.store.put_pause(&pause).await? {
        PauseOutcome::Made => pause,
        PauseOutcome::InForce(earlier) => {
            count_fault("paused already");
            earlier
        }
    };
    count_fault("paused");
    pauses::record_acknowledged(&in_force);
    Ok("200")
}

/// Ends a pause, as the API does.
pub(super) async fn resume(shared: &Shared, id: PauseId) -> PortResult<&'static str> {
    let store = &shared.ports.store;
    if let Some(pause) = store.pauses().await?.into_iter().find(|pause| pause.id == id) {
        pauses::record_resume(&pause.scope);
        count_fault("resumed");
        store.end_pause(&pause).await?;
    }
    Ok("204")
}
