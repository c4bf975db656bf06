//! Layers: redundant mechanisms that only save work or time. Without one of them, nothing is wrong.

use measurements::row;

use crate::checked::{Checked, check};
use crate::item::Nature::*;
use crate::protocol::{Flaw, Protocol};
use crate::record::Bounds;

fn all_holds_without(layer: &str, protocol: Protocol) {
    let Checked { states, violations, unseen, .. } = check(protocol);
    println!("without {layer}: {states} states");
    row("model-layers", &[("layer", &layer), ("states", &states), ("violations", &violations.len())]);
    assert!(violations.is_empty() && unseen.is_empty(), "without {layer}: {} {unseen:?}", violations.join("\n"));
}

#[test]
fn without_deduplication_messages_are_delivered_more_often_and_nothing_else_changes() {
    let file = || vec![vec![vec![Good]], vec![vec![Correction]]];
    let faults = Bounds { crashes: 1, deadlines: 1, stops: 1, ..Bounds::default() };
    let off = |bounds| Protocol { deduplication: false, bounds, ..Protocol::new(file()) };
    all_holds_without("deduplication", off(faults));
    all_holds_without("deduplication, with a retry", off(Bounds { retries: 1, crashes: 1, ..Bounds::default() }));
}

#[test]
fn without_the_sweeper_a_job_waits_for_a_lost_message_and_nothing_else_is_wrong() {
    let bounds = Bounds { losses: 1, dead_letters: 1, stops: 1, duplicates: 1, ..Bounds::default() };
    let sights = &["stopped with items unprocessed", "an attempt loses its commit"];
    let file = vec![vec![vec![Good], vec![Bad]]];
    all_holds_without("sweeper", Protocol { bounds, sights, ..Protocol::new(file) });
}

#[test]
fn without_the_sweeper_every_job_ends_if_no_message_is_lost() {
    let bounds = Bounds { stops: 1, duplicates: 1, crashes: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good], vec![Busy(1)]]];
    all_holds_without("sweeper, and no message is lost", Protocol { bounds, ..Protocol::new(file) });
}

/// Each layer covers for the other; without both, a chunk is replanned twice.
#[test]
fn an_overtaken_splitter_is_stopped_by_the_position_and_by_the_answer() {
    for (layer, flaw) in
        [("position of the split", Flaw::PositionUnchecked), ("answer of a commit", Flaw::AnswerUnchecked)]
    {
        let bounds = Bounds { retries: 1, duplicates: 1, ..Bounds::default() };
        let file = vec![vec![vec![Correction], vec![Correction]]];
        all_holds_without(layer, Protocol { flaw, bounds, runs: [2, 1, 1], ..Protocol::new(file) });
    }
}

/// The same flaw is found while the sweeper is off.
#[test]
fn a_roll_up_by_the_last_worker_alone_costs_only_time_while_the_sweeper_is_on() {
    let bounds = Bounds { crashes: 2, duplicates: 1, ..Bounds::default() };
    let (flaw, sights) = (Flaw::WorkerAlone, &["completed after a sweep"][..]);
    let file = vec![vec![vec![Good]], vec![vec![Bad]]];
    let protocol = Protocol { flaw, sights, sweeper: true, bounds, ..Protocol::new(file) };
    all_holds_without("roll-up by any later worker, with the sweeper", protocol);
}
