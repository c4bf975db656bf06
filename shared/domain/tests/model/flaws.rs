//! The protocol made wrong in one place at a time: the model finds each, so it would find it in the protocol.
//!
//! Where a flaw costs only speed while the sweeper runs, the sweeper is off: crashes alone must not stop a job.

use std::collections::BTreeSet;

use stateright::{Checker, HasDiscoveries, Model};

use crate::bounds::{Bounds, Flaw, Nature::*};
use crate::protocol::Protocol;
use crate::story;

/// Steps after which a flaw counts as missed; each of these configurations comes to rest sooner.
const DEEPEST: usize = 40;

/// The shortest way to break this property, told; panics if there is none.
///
/// The checker keeps the last discovery of a block, not the first. So it may go one step deeper at a time.
fn caught(property: &'static str, protocol: Protocol) -> String {
    for depth in 1..=DEEPEST {
        let wanted = HasDiscoveries::AnyOf(BTreeSet::from([property]));
        let checker = protocol.clone().checker().target_max_depth(depth).finish_when(wanted).spawn_bfs().join();
        if let Some(path) = checker.discovery(property) {
            let story = story::tell(checker.model(), &path);
            println!("{:?}: caught in {} states\n{story}", protocol.flaw, checker.unique_state_count());
            return story;
        }
    }
    panic!("{:?}: not caught in {DEEPEST} steps", protocol.flaw);
}

fn one_fault() -> Bounds {
    Bounds { crashes: 1, ..Bounds::default() }
}

#[test]
fn a_plain_add_counts_a_redelivery_twice() {
    let story = caught(
        "counts are what cursors and files say",
        Protocol {
            flaw: Flaw::PlainAdd,
            bounds: Bounds { duplicates: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Good]]])
        },
    );
    assert_eq!(story, include_str!("counterexamples/plain_add.txt"));
}

#[test]
fn a_plain_add_counts_a_lost_reply_twice() {
    caught(
        "counts are what cursors and files say",
        Protocol {
            flaw: Flaw::PlainAdd,
            bounds: Bounds { lost_replies: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Good]]])
        },
    );
}

#[test]
fn a_commit_that_does_not_ask_whether_its_group_is_open_moves_counts_after_the_close() {
    caught(
        "no count moves after the close",
        Protocol {
            flaw: Flaw::CommitsAfterClose,
            bounds: Bounds { stops: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Good]]])
        },
    );
}

#[test]
fn a_token_without_a_nonce_lets_an_attempt_take_anothers_write_for_its_own() {
    caught(
        "counts are what cursors and files say",
        Protocol {
            flaw: Flaw::TokensRepeat,
            bounds: Bounds { duplicates: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Fickle]]])
        },
    );
}

#[test]
fn a_report_from_unvouched_files_lists_an_item_twice() {
    caught(
        "the report holds each item once, as counted",
        Protocol { flaw: Flaw::UnvouchedFiles, bounds: one_fault(), ..Protocol::of(vec![vec![vec![Bad]]]) },
    );
}

#[test]
fn a_completion_that_gives_up_when_refused_leaves_a_stopped_job_without_an_end() {
    caught(
        "what comes to rest is final",
        Protocol {
            flaw: Flaw::CompletionGivesUp,
            bounds: Bounds { stops: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Good]]])
        },
    );
}

#[test]
fn a_report_that_names_the_status_is_made_false_by_a_second_completion() {
    caught(
        "nothing moves after the end",
        Protocol {
            flaw: Flaw::ReportNamesStatus,
            runs: [1, 1, 2],
            bounds: Bounds { stops: 1, duplicates: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Good]]])
        },
    );
}

#[test]
fn a_roll_up_that_nobody_repeats_is_lost_with_its_worker() {
    caught(
        "what comes to rest is final",
        Protocol { flaw: Flaw::RollUpOnce, bounds: one_fault(), ..Protocol::of(vec![vec![vec![Good]]]) },
    );
}

#[test]
fn a_roll_up_that_does_not_ask_for_the_end_changes_a_finished_job() {
    caught(
        "nothing moves after the end",
        Protocol {
            flaw: Flaw::RollUpAfterEnd,
            bounds: Bounds { duplicates: 1, crashes: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Good]]])
        },
    );
}

#[test]
fn a_split_whose_end_is_recorded_after_its_message_is_gone_hangs() {
    caught(
        "what comes to rest is final",
        Protocol { flaw: Flaw::UnsealedSplit, bounds: one_fault(), ..Protocol::of(vec![vec![vec![Good]]]) },
    );
}

#[test]
fn a_splitter_that_gives_up_when_refused_strands_its_own_group() {
    caught(
        "what comes to rest is final",
        Protocol {
            flaw: Flaw::SplitterGivesUp,
            bounds: Bounds { lost_replies: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Good]]])
        },
    );
}

#[test]
fn all_done_before_the_split_has_ended_completes_a_part_of_the_file() {
    caught(
        "completed means that every item ended",
        Protocol { flaw: Flaw::DoneBeforeSplitEnd, ..Protocol::of(vec![vec![vec![Good]], vec![vec![Good]]]) },
    );
}

#[test]
fn a_round_that_is_opened_and_never_sent_hangs() {
    caught(
        "what comes to rest is final",
        Protocol { flaw: Flaw::RoundUnsent, bounds: one_fault(), ..Protocol::of(vec![vec![vec![Busy(1)]]]) },
    );
}

#[test]
fn an_answer_with_totals_of_groups_that_it_did_not_read_does_not_add_up() {
    caught(
        "answers add up and never fall",
        Protocol {
            flaw: Flaw::StaleAnswer,
            bounds: Bounds { stops: 1, reads: 1, ..Bounds::default() },
            ..Protocol::of(vec![vec![vec![Good]], vec![vec![Good]]])
        },
    );
}
