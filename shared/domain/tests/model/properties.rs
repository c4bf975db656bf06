//! The invariants of the protocol, as properties of every reachable state, and the sights that show that a
//! configuration reaches what it is for.
//!
//! "Every job ends" is not an `eventually` property: the checker drops those where paths join. It is three
//! properties of states: what comes to rest is final, no sweep is in vain, and (a test) no state comes back.

use longshore_domain::job::Status;
use longshore_domain::outcome::Counts;
use stateright::Property;

use crate::completion::build;
use crate::protocol::Protocol;
use crate::report;
use crate::world::{Place, Step, World};

type Condition = fn(&Protocol, &World) -> bool;

const INVARIANTS: [(&str, Condition); 9] = [
    ("counts are what cursors and files say", counts_are_true),
    ("answers add up and never fall", answers_never_fall),
    ("completed means that every item ended", completed_is_whole),
    ("the report holds each item once, as counted", report_is_exact),
    ("no success is invented", successes_happened),
    ("a job is finished once", |_, world| world.record.finishes <= 1),
    ("what comes to rest is final", rest_is_final),
    ("no sweep is in vain", |_, world| world.record.sweeps <= world.record.losses),
    ("nothing moves after the end", |_, world| world.record.sealed.is_none_or(|seal| seal == world.readable())),
];

const SIGHTS: [(&str, Condition); 9] = [
    ("an attempt loses its commit", |_, world| world.runs.iter().any(|run| run.step == Step::Lost)),
    ("a lost reply is found to be its own", own_write_found),
    ("a later attempt goes on from a cursor", later_attempt),
    ("round 1 is worked", |_, world| world.cursors().any(|c| c.round == 2 || (c.round == 1 && c.finished))),
    ("completed after a crash", |p, world| is(world, Status::Completed) && world.left.crashes < p.bounds.crashes),
    ("completed after a sweep", |_, world| is(world, Status::Completed) && world.record.sweeps > 0),
    ("stopped with items unprocessed", |p, world| is(world, Status::Canceled) && has_some_of_both(p, world)),
    ("stopped before it was split", |_, world| is(world, Status::Canceled) && !world.job.split_ended),
    ("two completions at once", |_, world| world.runs.iter().filter(|r| is_finish(&r.step)).count() == 2),
];

/// Every invariant, and the sights of these names.
pub(crate) fn of(sights: &[&str]) -> Vec<Property<Protocol>> {
    let always = INVARIANTS.iter().map(|(name, holds)| Property::always(name, *holds));
    let closed = Property::always("no count moves after the close", closed_counts_stand);
    let wanted = SIGHTS.iter().filter(|(name, _)| sights.contains(name));
    let sometimes = wanted.map(|(name, seen)| Property::sometimes(name, *seen));
    always.chain([closed]).chain(sometimes).collect()
}

fn counts_are_true(protocol: &Protocol, world: &World) -> bool {
    let mut stored = Counts::default();
    world.groups.iter().for_each(|g| stored += g.counts);
    report::counts(&build(protocol, world)) == Some(stored)
}

fn answers_never_fall(_: &Protocol, world: &World) -> bool {
    let (before, now) = world.record.answers;
    now.counts.done() <= now.item_count
        && before.counts.done() <= now.counts.done()
        && before.percent <= now.percent
        && (!before.ended || before == now)
}

fn completed_is_whole(protocol: &Protocol, world: &World) -> bool {
    !is(world, Status::Completed)
        || (world.job.item_count == protocol.item_count() as u64
            && world.job.totals.is_some_and(|totals| totals.done() == world.job.item_count))
}

fn report_is_exact(_: &Protocol, world: &World) -> bool {
    !world.job.status.is_final() || world.report.as_ref().is_some_and(|r| report::counts(r) == world.job.totals)
}

fn successes_happened(protocol: &Protocol, world: &World) -> bool {
    let places = world.report.clone().unwrap_or_else(|| build(protocol, world));
    let happened = |item: usize| world.record.effects & (1 << item) != 0;
    places.iter().enumerate().all(|(item, places)| !places.contains(&Place::Succeeded) || happened(item))
}

fn rest_is_final(protocol: &Protocol, world: &World) -> bool {
    !world.is_idle() || world.job.status.is_final() || protocol.sweeper
}

fn closed_counts_stand(_: &Protocol, world: &World) -> bool {
    world.record.closed.iter().all(|(g, counts)| world.groups[*g as usize].counts == *counts)
}

fn own_write_found(_: &Protocol, world: &World) -> bool {
    let stored = |token: &str| world.groups.iter().flat_map(|g| g.cursors.values()).any(|c| c.token == token);
    world.runs.iter().any(|run| matches!(&run.step, Step::Commit(attempt) if stored(&attempt.to.token)))
}

fn later_attempt(protocol: &Protocol, world: &World) -> bool {
    let resumed = |step: &Step| matches!(step, Step::Commit(a) if a.from.as_ref().is_some_and(|c| c.round == 0));
    world.left.crashes < protocol.bounds.crashes && world.runs.iter().any(|run| resumed(&run.step))
}

fn has_some_of_both(protocol: &Protocol, world: &World) -> bool {
    let done = world.job.totals.map_or(0, Counts::done);
    done > 0 && done < protocol.item_count() as u64
}

fn is(world: &World, status: Status) -> bool {
    world.job.status == status
}

fn is_finish(step: &Step) -> bool {
    matches!(step, Step::Finish { .. })
}
