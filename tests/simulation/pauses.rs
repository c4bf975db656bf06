//! Pauses as operators know them, and the checks of what functions do during one.
//!
//! Any time passes between two steps of a function. So a check compares the acknowledgment of a pause with the last time
//! at which the function began or ended its previous call of a handler: after that it must read the pauses again, or
//! have them in its cache. `limits::pauses` checks the time itself, on a clock on which calls take milliseconds.

use std::cell::RefCell;
use std::collections::BTreeMap;

use longshore_domain::ids::PauseId;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::clock::{clock, true_time};
use crate::trace;

/// Time for which a worker uses the pauses that it has read, in milliseconds.
const CACHE_MS: i64 = 2_000;

/// Time for which a worker may use them if it cannot read them again, in milliseconds.
const STALE_MS: i64 = 60_000;

/// Maximum difference of two clocks, in milliseconds.
const SKEW_MS: i64 = 6_000;

/// A pause that was acknowledged.
struct Known {
    pause: Pause,
    /// Time before which the pause was not stored.
    requested_at: Timestamp,
    acknowledged_at: Timestamp,
}

#[derive(Default)]
struct State {
    known: Vec<Known>,
    /// Start of the last call that ends a pause of each scope.
    resumes: BTreeMap<PauseScope, Timestamp>,
    /// Time at which each function began, or last ended a call of a handler.
    free_since: BTreeMap<u64, Timestamp>,
    /// Time of the last read that has failed, of any function.
    failed_read_at: Option<Timestamp>,
    /// Number of ids so far.
    ids: u64,
}

thread_local!(static STATE: RefCell<State> = RefCell::default());

/// Resets the state at the beginning of a run.
pub(crate) fn begin() {
    STATE.take();
}

/// Returns the id of a new pause.
pub(crate) fn new_id() -> PauseId {
    let number = STATE.with_borrow_mut(|state| {
        state.ids += 1;
        state.ids
    });
    PauseId::parse(&format!("00000000-0000-4000-8000-{number:012}")).expect("a UUID")
}

/// Records the acknowledgment of a pause.
pub(crate) fn record_acknowledged(pause: &Pause) {
    let requested_at = Timestamp(pause.since.0 - SKEW_MS);
    let known = Known { pause: pause.clone(), requested_at, acknowledged_at: true_time() };
    STATE.with_borrow_mut(|state| state.known.push(known));
}

/// Records the start of a call that ends a pause of this scope.
pub(crate) fn record_resume(scope: &PauseScope) {
    STATE.with_borrow_mut(|state| state.resumes.insert(scope.clone(), true_time()));
}

/// Records that the running function begins, or is not in a call of a handler any more.
pub(crate) fn record_free() {
    STATE.with_borrow_mut(|state| {
        // A function that has begun before every pause may not know of any.
        if !state.known.is_empty() {
            state.free_since.insert(trace::function_number(), true_time());
        }
    });
}

/// Records that a read of the pauses has failed.
pub(crate) fn record_failed_read() {
    STATE.with_borrow_mut(|state| state.failed_read_at = Some(true_time()));
}

/// Runs a batch of a handler, which begins during no pause.
pub(crate) async fn batch<T>(job_type: &str, tenant: &TenantId, work: impl Future<Output = T> + Send) -> T {
    check_start(job_type, tenant);
    let outcomes = work.await;
    record_free();
    outcomes
}

/// Checks that the items that the running worker passes to a handler are not paused.
pub(crate) fn check_start(job_type: &str, tenant: &TenantId) {
    check("an item starts", CACHE_MS, job_type, tenant);
}

/// Checks that the job that the running sweeper pushes is not paused. An operator's replay is no push.
pub(crate) fn check_push(job_type: &str, tenant: &TenantId) {
    if trace::function_name() == "sweep" {
        check("a job is pushed", 0, job_type, tenant);
    }
}

/// Checks that the job that the running function splits or prepares is not paused.
pub(crate) fn check_split(job_type: &str, tenant: &TenantId) {
    check("a job is split", 0, job_type, tenant);
}

/// Panics if a pause is in force that was acknowledged so long before the running function was last free.
fn check(what: &str, cache_ms: i64, job_type: &str, tenant: &TenantId) {
    STATE.with_borrow(|state| {
        let Some(free_since) = state.free_since.get(&trace::function_number()) else { return };
        let paused = state.pauses_of(job_type, tenant).find(|known| {
            let has_failed_read = state.failed_read_at.is_some_and(|at| at >= known.acknowledged_at);
            let cache_ms = if cache_ms > 0 && has_failed_read { STALE_MS } else { cache_ms };
            // Of events in the same millisecond, the order is unknown.
            free_since.millis_since(known.acknowledged_at) > cache_ms
        });
        if let Some(Known { pause, acknowledged_at, .. }) = paused {
            panic!("{what} during {pause:?}, which was acknowledged at {}", acknowledged_at.0);
        }
    });
}

/// Returns true if an acknowledged pause of a job is in force.
pub(crate) fn is_paused(job_type: &str, tenant: &TenantId) -> bool {
    STATE.with_borrow(|state| state.pauses_of(job_type, tenant).next().is_some())
}

impl State {
    /// Pauses of a job that are in force by the clock of the running function, and that nobody has begun to end.
    fn pauses_of<'a>(&'a self, job_type: &'a str, tenant: &'a TenantId) -> impl Iterator<Item = &'a Known> {
        let now = clock();
        self.known.iter().filter(move |Known { pause, requested_at, .. }| {
            let includes = match &pause.scope {
                PauseScope::JobType(name) => name == job_type,
                PauseScope::Tenant(name) => name == tenant,
            };
            let is_ended = self.resumes.get(&pause.scope).is_some_and(|resume| resume >= requested_at);
            includes && pause.is_in_force(now) && !is_ended
        })
    }
}
