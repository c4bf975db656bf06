//! The run of one seed, which is deterministic.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use longshore_domain::job::{Job, Status};
use longshore_domain::random;

use crate::faults;
use crate::faults::{Rates, Tally};
use crate::kinds::Kind;
use crate::plan::Plan;
use crate::rng::Rng;
use crate::trace::{self, TraceMode};
use crate::unguarded::{remove_condition, without};
use crate::world::World;

/// The result of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunResult {
    /// Number of steps that functions took in calls of services.
    pub(crate) calls: u64,
    /// Number of faults by kind.
    pub(crate) tally: Tally,
    /// End of each job after each phase.
    pub(crate) ends: Vec<&'static str>,
    /// Special traits of the run.
    pub(crate) traits: Vec<&'static str>,
    /// Number of lines of the trace, and the hash of these lines and of the final state.
    pub(crate) digest: (u64, u64),
}

thread_local!(static QUIET: Cell<bool> = const { Cell::new(false) });

/// Runs a seed with all conditions, or without this condition or layer.
///
/// # Errors
/// The violation.
pub(crate) fn run(seed: u64, removed_condition: Option<&str>, trace_mode: TraceMode) -> Result<RunResult, String> {
    let output = if trace_mode == TraceMode::Printed { PanicOutput::Printed } else { PanicOutput::Suppressed };
    catch(output, || run_seed(seed, removed_condition, trace_mode))
}

/// Runs a story with all conditions, or without this one. Returns the violation, if any.
pub(crate) fn violation_of(removed_condition: Option<&str>, story: fn()) -> Option<String> {
    let run_story = || {
        remove_condition(removed_condition);
        story();
    };
    let output = if removed_condition.is_none() { PanicOutput::Printed } else { PanicOutput::Suppressed };
    catch(output, run_story).err()
}

/// Output of a panic message on standard error.
#[derive(Copy, Clone, Eq, PartialEq)]
enum PanicOutput {
    Printed,
    Suppressed,
}

/// Runs `run` and returns the message of its panic as an error.
fn catch<T>(output: PanicOutput, run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                hook(info);
            }
        }));
    });
    QUIET.set(output == PanicOutput::Suppressed);
    let result = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    remove_condition(None);
    result.map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    })
}

/// Runs `run` and returns the message of its panic as an error, without printing it.
pub(crate) fn caught(run: impl FnOnce()) -> Result<(), String> {
    catch(PanicOutput::Suppressed, run)
}

/// The first of the seeds whose jobs all have a remote handler that lies.
pub(crate) const LYING_SEEDS: u64 = 1_000_000_000_000;

/// Maximum number of times that clients undo their imports after the phases of a run.
const UNDO_ROUNDS: usize = 3;

fn run_seed(seed: u64, removed_condition: Option<&str>, trace_mode: TraceMode) -> RunResult {
    let mut rng = Rng::from_seed(seed);
    #[allow(clippy::disallowed_methods, reason = "the simulation decides all random numbers")]
    random::seed(rng.number());
    trace::begin(trace_mode);
    remove_condition(removed_condition);
    faults::begin(Rng::from_seed(rng.number()), Rates::default());
    let mut plan = Plan::random(&mut rng, (seed >= LYING_SEEDS).then_some(Kind::Lying));
    // Without the sweeper, only healthy runs must end. Every second run is then healthy.
    let has_sweeper = !without("sweeper");
    if !has_sweeper && seed.is_multiple_of(2) {
        plan = plan.healthy();
    }
    let must_end = has_sweeper || plan.environment.no_kills;
    if trace_mode == TraceMode::Printed {
        println!("{plan:#?}");
    }
    let mut world = World::from_plan(&plan, rng);
    // Only the sweeper continues what was paused.
    if has_sweeper {
        world = world.with_operators_of(seed);
    }
    let mut ends = Vec::new();
    for (n, events) in plan.phases.iter().enumerate() {
        if n > 0 && !world.retry_remaining() {
            break;
        }
        world.run_events(*events);
        if !must_end && !world.ends() {
            break;
        }
        world.run_to_the_end();
        world.check_ended();
        let end_of = |job: Job| if job.is_deleted() { "deleted" } else { name(job.status) };
        ends.extend(world.ends_of_jobs(|job| job.map_or("removed", end_of)));
    }
    if must_end && world.replay_dead_letters() {
        world.run_to_the_end();
        world.check_ended();
    }
    for _ in 0..UNDO_ROUNDS {
        if !must_end || !world.undo_imports() {
            break;
        }
        world.run_to_the_end();
        world.check_ended();
    }
    if has_sweeper {
        world.run_until_all_are_removed();
        world.check_ended();
        world.run_until_all_events_are_listed();
        world.check_events();
    }
    world.trace_stored_data();
    let (tally, calls) = faults::tally();
    let mut traits = plan.traits();
    traits.extend(world.exceeds_hops().then_some("a chain of more than 16 hops"));
    traits.extend(world.has_pauses().then_some("pauses of operators"));
    RunResult { calls, tally, ends, traits, digest: trace::digest() }
}

fn name(status: Status) -> &'static str {
    match status {
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Canceled => "canceled",
        Status::Waiting | Status::Running => "open",
    }
}
