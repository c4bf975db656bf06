//! Sensitivity tests: the model finds each flaw that is put into the protocol, so it would find it in the real one.
//!
//! Where a flaw costs only speed while the sweeper runs, the sweeper is off: crashes alone must not stop a job.

use crate::checked::caught;
use crate::flaw::Flaw;
use crate::item::Nature::*;
use crate::protocol::Protocol;
use crate::record::Bounds;

/// Creates the protocol over one item, with this flaw.
fn broken(flaw: Flaw, bounds: Bounds) -> Protocol {
    Protocol { flaw, bounds, ..Protocol::new(vec![vec![vec![Good]]]) }
}

const NOTHING: Bounds = Bounds {
    crashes: 0,
    losses: 0,
    dead_letters: 0,
    duplicates: 0,
    lost_replies: 0,
    deadlines: 0,
    stops: 0,
    retries: 0,
    replays: 0,
    reads: 0,
};
const A_CRASH: Bounds = Bounds { crashes: 1, ..NOTHING };
const A_DUPLICATE: Bounds = Bounds { duplicates: 1, ..NOTHING };
const A_LOST_REPLY: Bounds = Bounds { lost_replies: 1, ..NOTHING };
const A_STOP: Bounds = Bounds { stops: 1, ..NOTHING };

const COUNTS: &str = "counts are what cursors and files say";
const REST: &str = "what comes to rest is final";
const REPORT: &str = "the report holds each item once, as counted";
const AFTER_END: &str = "nothing moves after the end";
const WHOLE: &str = "completed means that every item ended";

#[test]
fn a_plain_add_counts_a_redelivery_twice() {
    caught("plain-add-redelivery", COUNTS, broken(Flaw::PlainAdd, A_DUPLICATE));
}

#[test]
fn a_plain_add_counts_a_lost_reply_twice() {
    caught("plain-add-lost-reply", COUNTS, broken(Flaw::PlainAdd, A_LOST_REPLY));
}

#[test]
fn a_commit_that_does_not_ask_for_the_cursor_counts_a_redelivery_twice() {
    caught("cursor-not-asked-redelivery", COUNTS, broken(Flaw::CursorNotAsked, A_DUPLICATE));
}

#[test]
fn a_commit_that_does_not_ask_for_the_cursor_counts_a_lost_reply_twice() {
    caught("cursor-not-asked-lost-reply", COUNTS, broken(Flaw::CursorNotAsked, A_LOST_REPLY));
}

#[test]
fn a_commit_that_does_not_ask_whether_its_group_is_open_moves_counts_after_the_close() {
    caught("commits-after-close", "no count moves after the close", broken(Flaw::CommitsAfterClose, A_STOP));
}

/// The attempt's own outcome of the first item differs from the committed one, and the attempt continues from there.
#[test]
fn a_cursor_value_that_repeats_lets_an_attempt_take_anothers_write_for_its_own() {
    let file = vec![vec![vec![Fickle, Good]]];
    let protocol = Protocol { checkpoint: 1, file, ..broken(Flaw::CursorsRepeat, A_DUPLICATE) };
    caught("cursors-repeat", COUNTS, protocol);
}

#[test]
fn a_work_file_named_without_its_attempt_is_written_over_by_another() {
    let file = vec![vec![vec![Fickle]]];
    caught("files-share-names", COUNTS, Protocol { file, ..broken(Flaw::FilesShareNames, A_DUPLICATE) });
}

#[test]
fn a_report_from_unvouched_files_lists_an_item_twice() {
    let file = vec![vec![vec![Bad]]];
    caught("unvouched-files", REPORT, Protocol { file, ..broken(Flaw::UnvouchedFiles, A_CRASH) });
}

#[test]
fn a_final_status_before_the_groups_are_closed_is_made_false_by_a_late_commit() {
    caught("status-before-close", AFTER_END, broken(Flaw::StatusBeforeClose, A_STOP));
}

#[test]
fn a_final_status_that_is_given_twice_moves_after_the_end() {
    let protocol = broken(Flaw::StatusTwice, A_DUPLICATE);
    caught("status-twice", "a generation is finished once", Protocol { runs: [1, 1, 2], ..protocol });
}

#[test]
fn a_completion_that_gives_up_when_refused_leaves_a_stopped_job_without_an_end() {
    caught("completion-gives-up", REST, broken(Flaw::CompletionGivesUp, A_STOP));
}

#[test]
fn a_report_without_the_name_of_its_attempt_is_made_false_by_a_second_completion_across_a_stop() {
    let bounds = Bounds { duplicates: 1, ..A_STOP };
    caught("reports-share-names", REPORT, Protocol { runs: [1, 1, 2], ..broken(Flaw::ReportsShareNames, bounds) });
}

/// With the sweeper, the flaw only costs time: see `layers`.
#[test]
fn a_roll_up_by_the_worker_alone_is_lost_with_it_while_the_sweeper_is_off() {
    caught("worker-alone", REST, broken(Flaw::WorkerAlone, A_CRASH));
}

#[test]
fn a_roll_up_that_does_not_ask_for_the_end_changes_a_finished_job() {
    let bounds = Bounds { crashes: 1, ..A_DUPLICATE };
    caught("roll-up-after-end", AFTER_END, broken(Flaw::RollUpAfterEnd, bounds));
}

#[test]
fn a_final_count_that_is_recorded_after_the_last_send_comes_too_late_for_the_workers() {
    caught("count-after-last-send", REST, broken(Flaw::CountAfterLastSend, NOTHING));
}

#[test]
fn a_split_whose_end_is_recorded_after_its_message_is_gone_hangs() {
    caught("unsealed-split", REST, broken(Flaw::UnsealedSplit, A_CRASH));
}

#[test]
fn a_group_that_is_committed_wherever_the_split_cursor_is_is_there_twice() {
    let protocol = broken(Flaw::SplitCursorNotAsked, A_DUPLICATE);
    caught("split-cursor-not-asked", COUNTS, Protocol { runs: [2, 1, 1], ..protocol });
}

/// Two splitters of a retry: one replans a chunk, the other the next one, and then the first reads the job's position.
#[test]
fn a_splitter_that_goes_on_from_what_another_has_written_files_a_chunk_twice() {
    let file = vec![vec![vec![Correction], vec![Correction]]];
    let protocol = broken(Flaw::GoesOnFromAnothersState, Bounds { retries: 1, ..A_DUPLICATE });
    caught("goes-on-from-anothers-state", COUNTS, Protocol { file, runs: [2, 1, 1], ..protocol });
}

#[test]
fn a_splitter_that_gives_up_when_refused_strands_its_own_group() {
    caught("splitter-gives-up", REST, broken(Flaw::SplitterGivesUp, A_LOST_REPLY));
}

#[test]
fn all_done_before_the_split_has_ended_completes_a_part_of_the_file() {
    let file = vec![vec![vec![Good]], vec![vec![Good]]];
    caught("done-before-split-end", WHOLE, Protocol { file, ..broken(Flaw::DoneBeforeSplitEnd, NOTHING) });
}

#[test]
fn a_round_that_is_opened_and_never_sent_hangs() {
    let file = vec![vec![vec![Busy(1)]]];
    caught("round-unsent", REST, Protocol { file, ..broken(Flaw::RoundUnsent, A_CRASH) });
}

#[test]
fn an_answer_with_totals_of_groups_that_it_did_not_read_does_not_add_up() {
    let file = vec![vec![vec![Good]], vec![vec![Good]]];
    let protocol = broken(Flaw::StaleAnswer, Bounds { reads: 1, ..A_STOP });
    caught("stale-answer", "answers add up and never fall", Protocol { file, ..protocol });
}

/// A zombie of the previous generation ends the split of the next one, or the job itself, before anything is replanned.
#[test]
fn a_ledger_that_takes_writes_of_any_generation_completes_a_job_without_its_rest() {
    let file = vec![vec![vec![Correction]]];
    let protocol = broken(Flaw::AnyGeneration, Bounds { retries: 1, ..A_DUPLICATE });
    caught("any-generation", WHOLE, Protocol { file, runs: [2, 1, 2], ..protocol });
}

#[test]
fn a_retry_that_files_again_what_succeeded_counts_it_twice() {
    let file = vec![vec![vec![Good, Correction]]];
    let protocol = broken(Flaw::ReplansAll, Bounds { retries: 1, ..NOTHING });
    caught("replans-all", COUNTS, Protocol { file, ..protocol });
}

#[test]
fn a_replay_that_runs_all_that_failed_works_what_was_to_stay_failed() {
    let file = vec![vec![vec![Good], vec![Correction]]];
    let protocol = broken(Flaw::ReplayRunsAll, Bounds { dead_letters: 1, replays: 1, ..NOTHING });
    let property = "what a replay leaves out stays failed";
    caught("replay-runs-all", property, Protocol { file, sweeper: true, ..protocol });
}
