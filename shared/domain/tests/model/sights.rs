//! Sights: states that a configuration must be able to reach. If it does not, the absence of violations would prove
//! nothing.

use longshore_domain::job::Status;
use longshore_domain::outcome::Counts;

use crate::properties::Condition;
use crate::protocol::Protocol;
use crate::step::{Message, Step};
use crate::world::World;

/// The sights by name, each a predicate over a state.
pub(crate) const SIGHTS: [(&str, Condition); 20] = [
    ("an attempt loses its commit", |_, world| world.runs.iter().any(|run| run.step == Step::Lost)),
    ("a lost reply is found to be its own", own_write_found),
    ("a later attempt goes on from a cursor", later_attempt),
    ("round 1 is worked", |_, world| world.cursors().any(|c| c.round == 2 || (c.round == 1 && c.finished))),
    ("completed after a crash", |p, world| is(world, Status::Completed) && world.left.crashes < p.bounds.crashes),
    ("completed after a sweep", |_, world| is(world, Status::Completed) && world.record.sweeps > 0),
    ("completed after a hand-over", |p, w| is(w, Status::Completed) && w.left.deadlines < p.bounds.deadlines),
    ("stopped with items unprocessed", |p, world| is(world, Status::Canceled) && has_some_of_both(p, world)),
    ("stopped before it was split", |_, world| is(world, Status::Canceled) && !world.job.split.ended),
    ("two completions at once", |_, world| world.runs.iter().filter(|r| is_finish(&r.step)).count() == 2),
    ("a dead chunk is given up", |_, world| is(world, Status::Completed) && given_up(world)),
    ("a dead splitter fails the job", |_, w| is(w, Status::Failed) && w.dead.contains(&Message::Create(0))),
    ("a dead letter is replayed while the job runs", |p, w| w.left.replays < p.bounds.replays && w.job.generation == 0),
    ("a replay fixes its chunk", |_, w| {
        is(w, Status::Completed) && w.job.retry.selected_chunks.is_some() && succeeded_more(w)
    }),
    ("a replay leaves a failed item alone", |_, w| is(w, Status::Completed) && w.record.left_failed != 0),
    ("retried and all succeeded", |p, w| w.job.generation > 0 && succeeded(w) == p.item_count() as u64),
    ("stopped while it files again", |_, w| {
        is(w, Status::Canceled) && w.job.retry.replanned.group < w.job.retry.carried_over.groups
    }),
    ("a zombie worker outlives its generation", zombie_worker),
    ("a zombie splitter outlives its generation", zombie_splitter),
    ("a zombie completion outlives its generation", zombie_completion),
];

fn own_write_found(_: &Protocol, world: &World) -> bool {
    let stored = |token: &str| world.groups.iter().flat_map(|g| g.cursors.values()).any(|c| c.token == token);
    world.runs.iter().any(|run| matches!(&run.step, Step::Commit(attempt) if stored(&attempt.to.token)))
}

fn later_attempt(protocol: &Protocol, world: &World) -> bool {
    let resumed = |step: &Step| matches!(step, Step::Commit(a) if a.from.as_ref().is_some_and(|c| c.round == 0));
    world.left.crashes < protocol.bounds.crashes && world.runs.iter().any(|run| resumed(&run.step))
}

fn has_some_of_both(protocol: &Protocol, world: &World) -> bool {
    let done = world.job.completion.totals.map_or(0, Counts::done);
    done > 0 && done < protocol.item_count() as u64
}

fn given_up(world: &World) -> bool {
    let finished = |dead_letter: &Message| match dead_letter {
        Message::Chunk(g, c) => world.groups[*g as usize].cursors.get(c).is_some_and(|c| c.finished),
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
    let late = |m: Message| matches!(m, Message::Chunk(group, _) if !world.job.owns(group));
    world.runs.iter().any(|run| late(run.message) && matches!(run.step, Step::Commit(_)))
}

fn zombie_splitter(_: &Protocol, world: &World) -> bool {
    let late = |m: Message| matches!(m, Message::Create(generation) if generation < world.job.generation);
    world.runs.iter().any(|run| late(run.message) && matches!(run.step, Step::Advance { .. }))
}

fn zombie_completion(_: &Protocol, world: &World) -> bool {
    let late = |view: &crate::step::View| view.generation < world.job.generation;
    world.runs.iter().any(|run| matches!(&run.step, Step::Finish { view, .. } if late(view)))
}

fn is(world: &World, status: Status) -> bool {
    world.job.status == status
}

fn is_finish(step: &Step) -> bool {
    matches!(step, Step::Finish { .. })
}
