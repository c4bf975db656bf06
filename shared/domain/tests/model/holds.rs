//! The unmodified protocol: every invariant holds in every state that a configuration can reach.
//!
//! Each configuration spends its faults on one story, and names the sights that it must reach to be meaningful.

use crate::checked::{holds, holds_at_large};
use crate::item::Nature::*;
use crate::protocol::Protocol;
use crate::record::Bounds;

#[test]
fn nothing_goes_wrong_and_the_file_is_empty() {
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
fn every_function_may_die_and_its_message_comes_again() {
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
fn every_message_may_be_lost_for_good() {
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
    let sights = &["round 1 is worked", "a lost reply is found to be its own", "a later attempt goes on from a cursor"];
    let bounds = Bounds { crashes: 1, duplicates: 1, lost_replies: 1, ..Bounds::default() };
    let small = Protocol { bounds, sights, checkpoint: 1, ..Protocol::new(vec![vec![vec![Fickle, Good]]]) };
    holds("rounds", small.clone());
    holds_at_large("rounds, two fickle items", Protocol { file: vec![vec![vec![Fickle, Fickle]]], ..small });
}

#[test]
fn an_item_is_transient_twice_and_the_rounds_are_swept() {
    holds(
        "rounds swept",
        Protocol {
            checkpoint: 1,
            sweeper: true,
            bounds: Bounds { losses: 1, duplicates: 1, ..Bounds::default() },
            sights: &["round 1 is worked", "completed after a sweep"],
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
fn a_stop_is_lost_and_swept() {
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
fn every_answer_adds_up_and_none_falls() {
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
