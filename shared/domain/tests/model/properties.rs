//! The invariants of the protocol, as properties of every reachable state, and the sights: states that a configuration
//! must be able to reach. If it does not, the absence of violations would prove nothing.
//!
//! "Every job ends" is not an `eventually` property, because the checker drops those where paths join. It consists of
//! two properties of states (an idle job has a final status, no sweep is unnecessary) and a test (no state recurs).

use longshore_domain::ids::ChunkId;
use longshore_domain::job::Status;
use longshore_domain::outcome::Counts;

use crate::completion::build;
use crate::item::{ItemEnd, Report};
use crate::protocol::{Flaw, Protocol};
use crate::record::Record;
use crate::report;
use crate::step::{Message, Run, Step, View};
use crate::world::World;

/// A predicate over a state.
pub(crate) type Condition = fn(&Protocol, &World) -> bool;

/// Properties that hold in every state.
pub(crate) const INVARIANTS: [(&str, Condition); 15] = [
    ("counts equal the cursors and work files", counts_are_true),
    ("answers add up and never fall", answers_never_fall),
    ("completed means that every item ended", completed_is_whole),
    ("the report holds each item once, as counted", report_is_exact),
    ("no success is invented", successes_happened),
    ("a generation is finished once", |_, world| world.record.finishes <= 1),
    ("an idle job has a final status", idle_is_final),
    ("no sweep is unnecessary", sweeps_are_needed),
    ("nothing changes after the end", |_, world| world.record.sealed.is_none_or(|seal| seal == world.readable())),
    ("no count changes after the close", closed_counts_are_unchanged),
    ("no earlier generation changes", |_, world| world.record.history.is_none_or(|was| was == world.history())),
    ("items outside a replay stay failed", left_out_stays_failed),
    ("the results hold the output of each success once", results_are_exact),
    ("no item starts once every worker sees the pause", |_, world| !world.record.started_while_paused),
    ("work is given up only if a message was lost", |_, world| !world.record.gave_up || world.record.losses > 0),
];

fn counts_are_true(protocol: &Protocol, world: &World) -> bool {
    let view = View::new(&world.job);
    report::counts(&build(protocol, world, &view)) == Some(view.counts(&world.job, &world.groups))
}

fn answers_never_fall(_: &Protocol, world: &World) -> bool {
    let (before, now) = world.record.answers;
    let falls = now.counts.done() < before.counts.done() || now.percent < before.percent;
    let moves = before.ended && before != now;
    let same = before.generation == now.generation;
    now.counts.done() <= now.item_count && before.generation <= now.generation && !(same && (falls || moves))
}

fn completed_is_whole(protocol: &Protocol, world: &World) -> bool {
    world.job.status != Status::Completed
        || (world.job.split.item_count == protocol.item_count() as u64
            && world.job.completion.totals.is_some_and(|totals| totals.done() == world.job.split.item_count))
}

fn report_is_exact(_: &Protocol, world: &World) -> bool {
    let job = &world.job;
    let exact =
        |(report, status): &(Report, Status)| report::counts(report) == job.completion.totals && *status == job.status;
    !job.status.is_final() || world.report().is_some_and(exact)
}

fn successes_happened(protocol: &Protocol, world: &World) -> bool {
    let places = build(protocol, world, &View::new(&world.job));
    let happened = |item: usize| world.record.effects & (1 << item) != 0;
    places.iter().enumerate().all(|(item, places)| !places.contains(&ItemEnd::Succeeded) || happened(item))
}

/// The outputs that the cursors reach are those of the attempts that counted the items, and each item that succeeded has
/// one.
fn results_are_exact(protocol: &Protocol, world: &World) -> bool {
    if !protocol.outputs {
        return true;
    }
    let places = build(protocol, world, &View::new(&world.job));
    let succeeded = places.iter().enumerate().filter(|(_, places)| places.contains(&ItemEnd::Succeeded));
    let expected: Vec<_> = succeeded.map(|(item, _)| (item as u8, world.record.outputs.get(&(item as u8)))).collect();
    let mut found = report::results(world);
    found.sort_unstable();
    found.into_iter().map(|(item, token)| (item, Some(token))).eq(expected)
}

/// Without the sweeper, a job waits indefinitely for a message that is lost, or was acknowledged during a pause.
fn idle_is_final(protocol: &Protocol, world: &World) -> bool {
    let waits = world.record.losses > 0 || pauses(protocol, world) > 0;
    !world.is_idle() || world.job.status.is_final() || protocol.sweeper || waits
}

/// Returns the number of pauses so far.
pub(crate) fn pauses(protocol: &Protocol, world: &World) -> u8 {
    protocol.bounds.pauses - world.left.pauses
}

/// Only a lost message and a pause require a sweep each. With the flaw `WorkerAlone`, a crash requires one too.
fn sweeps_are_needed(protocol: &Protocol, world: &World) -> bool {
    let Record { sweeps, losses, .. } = world.record;
    let crashes = protocol.bounds.crashes - world.left.crashes;
    sweeps <= losses + pauses(protocol, world) + if protocol.flaw == Flaw::WorkerAlone { crashes } else { 0 }
}

fn closed_counts_are_unchanged(_: &Protocol, world: &World) -> bool {
    world.record.closed.iter().all(|(g, counts)| world.groups[*g as usize].counts == *counts)
}

fn left_out_stays_failed(protocol: &Protocol, world: &World) -> bool {
    let left_out = |item: usize| world.record.left_failed & (1 << item) != 0;
    let is_processed = |places: &[ItemEnd]| places.contains(&ItemEnd::Succeeded) || places.contains(&ItemEnd::Skipped);
    world.record.left_failed == 0
        || !build(protocol, world, &View::new(&world.job))
            .iter()
            .enumerate()
            .any(|(i, p)| left_out(i) && is_processed(p))
}

/// The sights by name, each a predicate over a state.
pub(crate) const SIGHTS: [(&str, Condition); 24] = [
    ("an attempt loses its commit", |_, world| world.runs.iter().any(|run| run.step == Step::Lost)),
    ("a worker finds its own write after a lost reply", own_write_found),
    ("a later attempt continues from a cursor", later_attempt),
    ("round 1 is processed", |_, world| world.cursors().any(|c| c.round == 2 || (c.round == 1 && c.finished))),
    ("completed after a crash", |p, world| is(world, Status::Completed) && world.left.crashes < p.bounds.crashes),
    ("completed after a sweep", |_, world| is(world, Status::Completed) && world.record.sweeps > 0),
    ("completed after a hand-over", |p, w| is(w, Status::Completed) && w.left.deadlines < p.bounds.deadlines),
    ("stopped with items unprocessed", |p, world| is(world, Status::Canceled) && is_partly_done(p, world)),
    ("stopped before it was split", |_, world| is(world, Status::Canceled) && !world.job.split.ended),
    ("two completions at once", |_, world| world.runs.iter().filter(|r| is_finish(&r.step)).count() == 2),
    ("a dead-lettered chunk is given up", |_, world| is(world, Status::Completed) && has_given_up_chunk(world)),
    ("a dead-lettered splitter fails the job", |_, w| is(w, Status::Failed) && w.dead.contains(&Message::Create(0))),
    ("a dead letter is replayed while the job runs", |p, w| w.left.replays < p.bounds.replays && w.job.generation == 0),
    ("a replay fixes its chunk", |_, w| {
        is(w, Status::Completed) && w.job.retry.selection.chunks().is_some() && succeeded_more(w)
    }),
    ("a retry for one reason fixes its items", |_, w| {
        is(w, Status::Completed) && w.job.retry.selection.failure().is_some() && succeeded_more(w)
    }),
    ("a replay leaves a failed item alone", |_, w| is(w, Status::Completed) && w.record.left_failed != 0),
    ("retried and all succeeded", |p, w| w.job.generation > 0 && succeeded(w) == p.item_count() as u64),
    ("stopped while it replans", |_, w| {
        is(w, Status::Canceled) && w.job.retry.replanned.group < w.job.retry.carried_over.groups
    }),
    ("a zombie worker outlives its generation", zombie_worker),
    ("a zombie splitter outlives its generation", zombie_splitter),
    ("a zombie completion outlives its generation", zombie_completion),
    ("completed after a pause and a push", |p, w| is(w, Status::Completed) && pauses(p, w) > 0 && w.record.sweeps > 0),
    ("a message during a pause resets a later count", |_, w| w.runs.iter().any(|run| is_late_reset(w, run))),
    ("work is given up after its pushes", |_, world| is(world, Status::Completed) && world.record.gave_up),
];

fn own_write_found(_: &Protocol, world: &World) -> bool {
    let stored = |token: &str| world.groups.iter().flat_map(|g| g.cursors.values()).any(|c| c.token == token);
    world.runs.iter().any(|run| matches!(&run.step, Step::Commit(attempt) if stored(&attempt.to.token)))
}

fn later_attempt(protocol: &Protocol, world: &World) -> bool {
    let resumed = |step: &Step| matches!(step, Step::Commit(a) if a.from.as_ref().is_some_and(|c| c.round == 0));
    world.left.crashes < protocol.bounds.crashes && world.runs.iter().any(|run| resumed(&run.step))
}

fn is_partly_done(protocol: &Protocol, world: &World) -> bool {
    let done = world.job.completion.totals.map_or(0, Counts::done);
    done > 0 && done < protocol.item_count() as u64
}

fn has_given_up_chunk(world: &World) -> bool {
    let finished = |dead_letter: &Message| match dead_letter {
        Message::Chunk(chunk) => world.cursor(*chunk).is_some_and(|c| c.finished),
        _ => false,
    };
    world.job.completion.totals.is_some_and(|totals| totals.failed > 0) && world.dead.iter().any(finished)
}

fn succeeded(world: &World) -> u64 {
    world.job.completion.totals.map_or(0, |totals| totals.succeeded)
}

fn succeeded_more(world: &World) -> bool {
    succeeded(world) > world.job.retry.carried_over.counts.succeeded
}

fn zombie_worker(_: &Protocol, world: &World) -> bool {
    let late = |m: Message| matches!(m, Message::Chunk(ChunkId { group, .. }) if !world.job.owns(group));
    world.runs.iter().any(|run| late(run.message) && matches!(run.step, Step::Commit(_)))
}

fn zombie_splitter(_: &Protocol, world: &World) -> bool {
    let late = |m: Message| matches!(m, Message::Create(generation) if generation < world.job.generation);
    world.runs.iter().any(|run| late(run.message) && matches!(run.step, Step::Advance { .. }))
}

fn zombie_completion(_: &Protocol, world: &World) -> bool {
    let late = |view: &View| view.generation < world.job.generation;
    world.runs.iter().any(|run| matches!(&run.step, Step::Finish { view, .. } if late(view)))
}

fn is_late_reset(world: &World, run: &Run) -> bool {
    let stored = match run.message {
        Message::Chunk(chunk) => world.groups[chunk.group as usize].resends,
        Message::Create(_) | Message::Complete(_) => world.job.resends,
    };
    matches!(run.step, Step::Paused { seen } if seen < stored)
}

fn is(world: &World, status: Status) -> bool {
    world.job.status == status
}

fn is_finish(step: &Step) -> bool {
    matches!(step, Step::Finish { .. })
}
