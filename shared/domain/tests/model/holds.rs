//! The unmodified protocol: every invariant holds in every state that a configuration can reach, with retries,
//! dead letters, hand-overs, and zombies of the previous generation.
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

/// The second item is deferred again while the first one is processed.
#[test]
fn an_item_waits_longer_than_another_of_its_chunk() {
    holds(
        "rounds of two waits",
        Protocol {
            checkpoint: 1,
            bounds: Bounds { crashes: 1, duplicates: 1, ..Bounds::default() },
            sights: &["round 1 is processed", "an attempt loses its commit"],
            ..Protocol::new(vec![vec![vec![Busy(1), Busy(2)]]])
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

#[test]
fn a_worker_of_the_previous_generation_is_still_running() {
    let sights = &["retried and all succeeded", "a zombie worker outlives its generation"];
    let bounds = Bounds { retries: 1, duplicates: 1, crashes: 1, ..Bounds::default() };
    let small = Protocol { bounds, sights, checkpoint: 1, ..Protocol::new(vec![vec![vec![Good, Correction]]]) };
    holds("retry, zombie worker", small.clone());
    let bounds = Bounds { retries: 2, duplicates: 1, crashes: 1, lost_replies: 1, ..Bounds::default() };
    holds_at_large("retries, zombie workers", Protocol { bounds, ..small });
}

#[test]
fn a_splitter_of_the_previous_generation_is_still_running() {
    let sights = &["retried and all succeeded", "a zombie splitter outlives its generation"];
    let bounds = Bounds { retries: 1, duplicates: 1, ..Bounds::default() };
    let file = vec![vec![vec![Correction]], vec![vec![Good]]];
    let small = Protocol { bounds, sights, runs: [2, 1, 1], ..Protocol::new(file) };
    holds("retry, zombie splitter", small.clone());
    let bounds = Bounds { retries: 1, duplicates: 1, stops: 1, ..Bounds::default() };
    holds_at_large("retry, zombie splitter, stop", Protocol { bounds, ..small });
}

#[test]
fn a_completion_of_the_previous_generation_is_still_running() {
    let sights = &["retried and all succeeded", "a zombie completion outlives its generation"];
    let bounds = Bounds { retries: 1, duplicates: 1, crashes: 1, stops: 1, ..Bounds::default() };
    let small = Protocol { bounds, sights, runs: [1, 1, 2], ..Protocol::new(vec![vec![vec![Correction, Good]]]) };
    holds("retry, zombie completion", small.clone());
    let bounds = Bounds { retries: 2, duplicates: 2, stops: 2, ..Bounds::default() };
    holds_at_large("retries, zombie completions", Protocol { bounds, ..small });
}

#[test]
fn a_job_is_stopped_and_retried_and_stopped_again() {
    let sights = &["retried and all succeeded", "stopped while it replans"];
    let bounds = Bounds { retries: 1, stops: 2, ..Bounds::default() };
    let file = vec![vec![vec![Correction]], vec![vec![Busy(1)]]];
    let small = Protocol { bounds, sights, runs: [1, 1, 1], ..Protocol::new(file) };
    holds("retry, stops", small.clone());
    holds_at_large("retry, stops, two workers", Protocol { runs: [1, 2, 1], ..small });
}

#[test]
fn the_message_of_a_retry_is_lost() {
    let sights = &["retried and all succeeded", "completed after a sweep"];
    let bounds = Bounds { retries: 1, losses: 1, duplicates: 1, ..Bounds::default() };
    let file = vec![vec![vec![Correction, Good]]];
    holds("retry, swept", Protocol { bounds, sights, sweeper: true, ..Protocol::new(file) });
}

#[test]
fn every_answer_of_a_retried_job_adds_up() {
    let sights = &["retried and all succeeded"];
    let bounds = Bounds { retries: 1, reads: 2, stops: 1, ..Bounds::default() };
    holds("retry, answers", Protocol { bounds, sights, ..Protocol::new(vec![vec![vec![Good, Correction]]]) });
}

#[test]
fn a_dead_lettered_chunk_is_given_up_while_a_zombie_processes_it() {
    let sights = &["a dead-lettered chunk is given up", "an attempt loses its commit"];
    let bounds = Bounds { dead_letters: 1, duplicates: 1, ..Bounds::default() };
    let file = vec![vec![vec![Busy(1), Good]]];
    let small = Protocol { bounds, sights, checkpoint: 1, sweeper: true, ..Protocol::new(file) };
    holds("dead letter", small.clone());
    let bounds = Bounds { dead_letters: 1, duplicates: 1, crashes: 1, ..Bounds::default() };
    holds_at_large("dead letter, crash", Protocol { bounds, ..small });
}

#[test]
fn a_dead_lettered_splitter_fails_its_job_which_is_retried() {
    let sights = &["a dead-lettered splitter fails the job", "retried and all succeeded"];
    let bounds = Bounds { dead_letters: 1, retries: 1, replays: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good]], vec![vec![Good]]];
    holds("dead letter, splitter", Protocol { bounds, sights, sweeper: true, ..Protocol::new(file) });
}

#[test]
fn a_replay_of_a_dead_letter_fixes_only_its_chunk() {
    let sights = &[
        "a dead letter is replayed while the job runs",
        "a replay fixes its chunk",
        "a replay leaves a failed item alone",
    ];
    let bounds = Bounds { dead_letters: 1, replays: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good], vec![Correction]]];
    let small = Protocol { bounds, sights, sweeper: true, ..Protocol::new(file) };
    holds("replay", small.clone());
    let bounds = Bounds { dead_letters: 1, replays: 1, duplicates: 1, ..Bounds::default() };
    holds_at_large("replay, zombie", Protocol { bounds, ..small });
}

#[test]
fn a_retry_for_one_reason_leaves_the_other_failed_items_alone() {
    let sights = &["a retry for one reason fixes its items", "a replay leaves a failed item alone"];
    let bounds = Bounds { selections: 1, duplicates: 1, ..Bounds::default() };
    let file = vec![vec![vec![Correction, Fickle]]];
    let small = Protocol { bounds, sights, checkpoint: 1, ..Protocol::new(file) };
    holds("retry for one reason", small.clone());
    let bounds = Bounds { selections: 1, retries: 1, crashes: 1, ..Bounds::default() };
    holds_at_large("retry for one reason, then of all", Protocol { bounds, ..small });
}

#[test]
fn every_success_has_the_output_of_the_attempt_that_counted_it() {
    let sights = &["an attempt loses its commit", "a worker finds its own write after a lost reply"];
    let bounds = Bounds { crashes: 1, duplicates: 1, lost_replies: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good, Fickle]]];
    let small = Protocol { bounds, sights, outputs: true, checkpoint: 1, ..Protocol::new(file) };
    holds("outputs", small.clone());
    let bounds = Bounds { stops: 1, ..small.bounds.clone() };
    holds_at_large("outputs, stop", Protocol { bounds, ..small });
}

#[test]
fn the_outputs_of_earlier_generations_stay_in_the_results() {
    let sights = &["retried and all succeeded", "a zombie worker outlives its generation"];
    let bounds = Bounds { retries: 1, duplicates: 1, crashes: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good, Correction]]];
    holds("outputs, retry", Protocol { bounds, sights, outputs: true, checkpoint: 1, ..Protocol::new(file) });
}

/// Two splitters pass the same keys, also in a retry of a job whose walk was stopped.
#[test]
fn a_walk_of_a_dataset_passes_each_key_once() {
    let sights = &["stopped with items unprocessed", "retried and all succeeded"];
    let bounds = Bounds { duplicates: 1, stops: 1, retries: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good]], vec![vec![Correction]]];
    let small = Protocol { bounds, sights, walk: true, runs: [2, 1, 1], ..Protocol::new(file) };
    holds("walk", small.clone());
    let bounds = Bounds { deadlines: 1, lost_replies: 1, ..small.bounds.clone() };
    holds_at_large("walk, hand-over, lost reply", Protocol { bounds, ..small });
}

#[test]
fn functions_hand_over_before_their_timeout() {
    let sights = &["completed after a hand-over", "an attempt loses its commit"];
    let bounds = Bounds { deadlines: 2, duplicates: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good, Bad]], vec![vec![Unwanted]]];
    let small = Protocol { bounds, sights, checkpoint: 1, ..Protocol::new(file) };
    holds("hand-over", small.clone());
    let bounds = Bounds { deadlines: 2, duplicates: 1, crashes: 1, ..Bounds::default() };
    holds_at_large("hand-over, crash", Protocol { bounds, ..small });
}

#[test]
fn an_operator_pauses_the_job_and_every_item_is_still_counted_once() {
    let sights = &["completed after a pause and a push", "a later attempt continues from a cursor"];
    let bounds = Bounds { pauses: 1, crashes: 1, duplicates: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good, Bad]]];
    let small = Protocol { bounds, sights, checkpoint: 1, sweeper: true, ..Protocol::new(file) };
    holds("pause", small.clone());
    let bounds = Bounds { pauses: 2, stops: 1, lost_replies: 1, ..small.bounds.clone() };
    holds_at_large("pauses, stop, lost reply", Protocol { bounds, ..small });
}

#[test]
fn pauses_alone_do_not_use_up_the_pushes_of_the_sweeper() {
    let sights = &["completed after a pause and a push", "a message during a pause resets a later count"];
    let bounds = Bounds { pauses: 3, deadlines: 1, ..Bounds::default() };
    let file = vec![vec![vec![Good], vec![Bad]]];
    let small = Protocol { bounds, sights, sweeper: true, runs: [1, 1, 1], ..Protocol::new(file) };
    holds("pauses", small.clone());
    holds_at_large("pauses, two workers", Protocol { runs: [1, 2, 1], ..small });
}

#[test]
fn a_message_that_is_lost_again_and_again_is_given_up_despite_a_pause() {
    let sights = &["work is given up after its pushes", "completed after a pause and a push"];
    let bounds = Bounds { pauses: 1, losses: 3, ..Bounds::default() };
    let protocol = Protocol { bounds, sights, sweeper: true, ..Protocol::new(vec![vec![vec![Good]]]) };
    holds("pause, losses", protocol);
}
