//! The unmodified protocol: every invariant holds in every state that a configuration can reach.
//!
//! Each configuration covers one story of faults, and names the sights that it must reach to prove anything.

use crate::checked::{holds, holds_at_large};
use crate::item::Nature::*;
use crate::protocol::Protocol;
use crate::record::Bounds;

#[test]
fn an_empty_file_completes() {
    holds("empty", Protocol::new(vec![]));
    holds(
        "empty, faults",
        Protocol {
            bounds: Bounds { crashes: 2, duplicates: 1, lost_replies: 1, ..Bounds::default() },
            ..Protocol::new(vec![])
        },
    );
}

#[test]
fn a_function_crashes_and_its_message_is_redelivered() {
    holds(
        "crashes",
        Protocol {
            runs: [2, 2, 2],
            bounds: Bounds { crashes: 1, duplicates: 1, ..Bounds::default() },
            sights: &["completed after a crash", "an attempt loses its commit", "two completions at once"],
            ..Protocol::new(vec![vec![vec![Good]], vec![vec![Unwanted]]])
        },
    );
}

#[test]
fn messages_are_lost_and_the_sweeper_sends_them_again() {
    holds(
        "losses",
        Protocol {
            sweeper: true,
            runs: [1, 2, 1],
            bounds: Bounds { losses: 2, ..Bounds::default() },
            sights: &["completed after a sweep"],
            ..Protocol::new(vec![vec![vec![Good], vec![Bad]], vec![vec![Busy(1)]]])
        },
    );
}

#[test]
fn two_attempts_at_a_fickle_item_disagree() {
    let sights = &[
        "round 1 is processed",
        "a worker finds its own write after a lost reply",
        "a later attempt continues from a cursor",
    ];
    let bounds = Bounds { crashes: 1, duplicates: 1, lost_replies: 1, ..Bounds::default() };
    let small = Protocol { bounds, sights, checkpoint: 1, ..Protocol::new(vec![vec![vec![Fickle, Good]]]) };
    holds("rounds", small.clone());
    holds_at_large("rounds, two fickle items", Protocol { file: vec![vec![vec![Fickle, Fickle]]], ..small });
}

#[test]
fn an_item_is_transient_twice_and_the_sweeper_sends_the_rounds() {
    holds(
        "rounds swept",
        Protocol {
            checkpoint: 1,
            sweeper: true,
            bounds: Bounds { losses: 1, duplicates: 1, ..Bounds::default() },
            sights: &["round 1 is processed", "completed after a sweep"],
            ..Protocol::new(vec![vec![vec![Busy(2), Bad]]])
        },
    );
}

#[test]
fn the_client_cancels_at_any_moment() {
    let sights = &["stopped with items unprocessed", "stopped before it was split"];
    let bounds = Bounds { stops: 1, duplicates: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good, Bad]], vec![vec![Unwanted]]];
    let small = Protocol { bounds, sights, checkpoint: 1, runs: [1, 2, 2], ..Protocol::new(file) };
    holds("stop", small.clone());
    let bounds = Bounds { crashes: 1, ..small.bounds.clone() };
    holds_at_large("stop, crash", Protocol { bounds, ..small });
}

#[test]
fn the_message_of_a_cancel_is_lost_and_the_sweeper_sends_it_again() {
    holds(
        "stop swept",
        Protocol {
            sweeper: true,
            checkpoint: 1,
            bounds: Bounds { stops: 1, losses: 1, ..Bounds::default() },
            sights: &["stopped with items unprocessed"],
            ..Protocol::new(vec![vec![vec![Good, Bad]], vec![vec![Bad]]])
        },
    );
}

#[test]
fn every_answer_adds_up_and_progress_never_decreases() {
    holds(
        "answers",
        Protocol {
            checkpoint: 1,
            bounds: Bounds { stops: 1, reads: 2, ..Bounds::default() },
            sights: &["stopped with items unprocessed"],
            ..Protocol::new(vec![vec![vec![Good, Bad]], vec![vec![Bad]]])
        },
    );
}
