//! The invariants of the protocol, as properties of every reachable state, and the sights that a configuration must
//! reach.
//!
//! "Every job ends" is not an `eventually` property: the checker drops those where paths join. It is three properties
//! of states: what comes to rest is final, no sweep is in vain, and (a test) no state recurs.

use longshore_domain::job::Status;
use stateright::Property;

use crate::completion::build;
use crate::flaw::Flaw;
use crate::protocol::Protocol;
use crate::record::Record;
use crate::report;
use crate::sights::SIGHTS;
use crate::step::View;
use crate::world::{ItemEnd, Report, World};

/// A predicate over a state.
pub(crate) type Condition = fn(&Protocol, &World) -> bool;

/// Properties that hold in every state.
pub(crate) const INVARIANTS: [(&str, Condition); 12] = [
    ("counts are what cursors and files say", counts_are_true),
    ("answers add up and never fall", answers_never_fall),
    ("completed means that every item ended", completed_is_whole),
    ("the report holds each item once, as counted", report_is_exact),
    ("no success is invented", successes_happened),
    ("a generation is finished once", |_, world| world.record.finishes <= 1),
    ("what comes to rest is final", rest_is_final),
    ("no sweep is in vain", sweeps_are_needed),
    ("nothing moves after the end", |_, world| world.record.sealed.is_none_or(|seal| seal == world.readable())),
    ("no count moves after the close", closed_counts_stand),
    ("no generation moves that has passed", |_, world| world.record.history.is_none_or(|was| was == world.history())),
    ("what a replay leaves out stays failed", left_out_stays_failed),
];

/// Returns every invariant, and the sights of these names.
pub(crate) fn for_conditions(sights: &[&str]) -> Vec<Property<Protocol>> {
    let always = INVARIANTS.iter().map(|(name, holds)| Property::always(name, *holds));
    let wanted = SIGHTS.iter().filter(|(name, _)| sights.contains(name));
    let sometimes = wanted.map(|(name, seen)| Property::sometimes(name, *seen));
    always.chain(sometimes).collect()
}

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

/// Without the sweeper, a job that waits for a lost message waits indefinitely.
fn rest_is_final(protocol: &Protocol, world: &World) -> bool {
    !world.is_idle() || world.job.status.is_final() || protocol.sweeper || world.record.losses > 0
}

/// Only lost messages have to be swept. A worker that alone completes leaves more to the sweeper.
fn sweeps_are_needed(protocol: &Protocol, world: &World) -> bool {
    let Record { sweeps, losses, .. } = world.record;
    let deaths = protocol.bounds.crashes - world.left.crashes;
    sweeps <= losses + if protocol.flaw == Flaw::WorkerAlone { deaths } else { 0 }
}

fn closed_counts_stand(_: &Protocol, world: &World) -> bool {
    world.record.closed.iter().all(|(g, counts)| world.groups[*g as usize].counts == *counts)
}

fn left_out_stays_failed(protocol: &Protocol, world: &World) -> bool {
    let left_out = |item: usize| world.record.left_failed & (1 << item) != 0;
    let worked = |places: &[ItemEnd]| places.contains(&ItemEnd::Succeeded) || places.contains(&ItemEnd::Skipped);
    world.record.left_failed == 0
        || !build(protocol, world, &View::new(&world.job)).iter().enumerate().any(|(i, p)| left_out(i) && worked(p))
}
