//! Sensitivity tests: the model finds each flaw that is put into the protocol.
//!
//! The sweeper is off where a flaw costs only time while it runs: crashes alone must not stop a job.

use crate::checked::caught;
use crate::item::Nature::*;
use crate::protocol::{Flaw, Protocol};
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
    selections: 0,
    replays: 0,
    reads: 0,
    pauses: 0,
};
const A_CRASH: Bounds = Bounds { crashes: 1, ..NOTHING };
const A_DUPLICATE: Bounds = Bounds { duplicates: 1, ..NOTHING };
const A_LOST_REPLY: Bounds = Bounds { lost_replies: 1, ..NOTHING };
const A_STOP: Bounds = Bounds { stops: 1, ..NOTHING };

const COUNTS: &str = "counts equal the cursors and work files";
const IDLE: &str = "an idle job has a final status";
const REPORT: &str = "the report holds each item once, as counted";
const AFTER_END: &str = "nothing changes after the end";
const RESULTS: &str = "the results hold the output of each success once";
const COMPLETED: &str = "completed means that every item ended";

#[test]
fn an_unconditional_add_counts_a_redelivery_twice() {
    caught("unconditional-add-redelivery", COUNTS, broken(Flaw::UnconditionalAdd, A_DUPLICATE));
}

#[test]
fn an_unconditional_add_counts_a_lost_reply_twice() {
    caught("unconditional-add-lost-reply", COUNTS, broken(Flaw::UnconditionalAdd, A_LOST_REPLY));
}

#[test]
fn a_commit_without_a_cursor_check_counts_a_redelivery_twice() {
    caught("cursor-unchecked-redelivery", COUNTS, broken(Flaw::CursorUnchecked, A_DUPLICATE));
}

#[test]
fn a_commit_without_a_cursor_check_counts_a_lost_reply_twice() {
    caught("cursor-unchecked-lost-reply", COUNTS, broken(Flaw::CursorUnchecked, A_LOST_REPLY));
}

#[test]
fn a_commit_to_a_closed_group_changes_counts_after_the_close() {
    caught("commits-after-close", "no count changes after the close", broken(Flaw::CommitsAfterClose, A_STOP));
}

/// The attempt's own outcome of the first item differs from the committed one, and the attempt continues after it.
#[test]
fn with_repeated_cursor_values_an_attempt_mistakes_a_write_of_another_for_its_own() {
    let file = vec![vec![vec![Fickle, Good]]];
    let protocol = Protocol { checkpoint: 1, file, ..broken(Flaw::CursorsRepeat, A_DUPLICATE) };
    caught("cursors-repeat", COUNTS, protocol);
}

#[test]
fn a_work_file_named_without_its_attempt_is_overwritten_by_another_attempt() {
    let file = vec![vec![vec![Fickle]]];
    caught("files-share-names", COUNTS, Protocol { file, ..broken(Flaw::FilesShareNames, A_DUPLICATE) });
}

#[test]
fn an_output_in_a_file_named_without_its_attempt_is_replaced_by_that_of_another_attempt() {
    let protocol = broken(Flaw::FilesShareNames, A_DUPLICATE);
    caught("outputs-share-names", RESULTS, Protocol { outputs: true, ..protocol });
}

#[test]
fn outputs_of_a_commit_without_entries_are_lost_if_it_writes_no_work_file() {
    let protocol = broken(Flaw::OutputsNeedEntries, NOTHING);
    caught("outputs-need-entries", RESULTS, Protocol { outputs: true, ..protocol });
}

#[test]
fn a_report_from_unvouched_files_lists_an_item_twice() {
    let file = vec![vec![vec![Bad]]];
    caught("unvouched-files", REPORT, Protocol { file, ..broken(Flaw::UnvouchedFiles, A_CRASH) });
}

#[test]
fn after_a_final_status_before_the_close_a_late_commit_changes_the_counts() {
    caught("status-before-close", AFTER_END, broken(Flaw::StatusBeforeClose, A_STOP));
}

#[test]
fn a_final_status_that_is_set_twice_finishes_a_generation_twice() {
    let protocol = broken(Flaw::StatusTwice, A_DUPLICATE);
    caught("status-twice", "a generation is finished once", Protocol { runs: [1, 1, 2], ..protocol });
}

#[test]
fn a_completion_that_gives_up_when_refused_leaves_a_stopped_job_without_a_final_status() {
    caught("completion-gives-up", IDLE, broken(Flaw::CompletionGivesUp, A_STOP));
}

#[test]
fn a_report_named_without_its_attempt_is_overwritten_by_a_completion_from_before_the_stop() {
    let bounds = Bounds { duplicates: 1, ..A_STOP };
    caught("reports-share-names", REPORT, Protocol { runs: [1, 1, 2], ..broken(Flaw::ReportsShareNames, bounds) });
}

/// With the sweeper, the flaw only costs time: see `layers`.
#[test]
fn a_roll_up_by_the_last_worker_alone_is_lost_in_its_crash_while_the_sweeper_is_off() {
    caught("worker-alone", IDLE, broken(Flaw::WorkerAlone, A_CRASH));
}

#[test]
fn a_roll_up_without_a_check_for_the_end_changes_a_finished_job() {
    let bounds = Bounds { crashes: 1, ..A_DUPLICATE };
    caught("roll-up-after-end", AFTER_END, broken(Flaw::RollUpAfterEnd, bounds));
}

#[test]
fn a_final_count_recorded_after_the_last_send_is_too_late_for_the_workers() {
    caught("count-after-last-send", IDLE, broken(Flaw::CountAfterLastSend, NOTHING));
}

#[test]
fn a_split_whose_end_is_recorded_after_its_acknowledgement_hangs() {
    caught("unsealed-split", IDLE, broken(Flaw::UnsealedSplit, A_CRASH));
}

#[test]
fn a_group_committed_without_a_split_cursor_check_exists_twice() {
    let protocol = broken(Flaw::SplitCursorUnchecked, A_DUPLICATE);
    caught("split-cursor-unchecked", COUNTS, Protocol { runs: [2, 1, 1], ..protocol });
}

/// Two splitters of a walk: the second one commits the keys again that the first one has passed.
#[test]
fn a_group_of_a_walk_committed_without_a_check_of_its_place_exists_twice() {
    let file = vec![vec![vec![Good]], vec![vec![Good]]];
    let protocol = broken(Flaw::SplitCursorUnchecked, A_DUPLICATE);
    caught("place-unchecked", COUNTS, Protocol { file, walk: true, runs: [2, 1, 1], ..protocol });
}

/// Two splitters of a retry: one replans a chunk, the other the next one. Then the first reads the job's position.
#[test]
fn a_splitter_that_continues_from_the_state_of_another_replans_a_chunk_twice() {
    let file = vec![vec![vec![Correction], vec![Correction]]];
    let protocol = broken(Flaw::ContinuesFromForeignState, Bounds { retries: 1, ..A_DUPLICATE });
    caught("continues-from-foreign-state", COUNTS, Protocol { file, runs: [2, 1, 1], ..protocol });
}

#[test]
fn a_splitter_that_gives_up_when_refused_never_sends_its_group() {
    caught("splitter-gives-up", IDLE, broken(Flaw::SplitterGivesUp, A_LOST_REPLY));
}

#[test]
fn a_job_that_is_done_before_the_end_of_the_split_completes_with_a_part_of_the_file() {
    let file = vec![vec![vec![Good]], vec![vec![Good]]];
    caught("done-before-split-end", COMPLETED, Protocol { file, ..broken(Flaw::DoneBeforeSplitEnd, NOTHING) });
}

#[test]
fn a_round_that_is_opened_and_never_sent_hangs() {
    let file = vec![vec![vec![Busy(1)]]];
    caught("round-unsent", IDLE, Protocol { file, ..broken(Flaw::RoundUnsent, A_CRASH) });
}

#[test]
fn an_answer_with_totals_of_groups_that_were_not_read_does_not_add_up() {
    let file = vec![vec![vec![Good]], vec![vec![Good]]];
    let protocol = broken(Flaw::StaleAnswer, Bounds { reads: 1, ..A_STOP });
    caught("stale-answer", "answers add up and never fall", Protocol { file, ..protocol });
}

/// A zombie of the previous generation ends the split of the next one, or the job itself, before anything is replanned.
#[test]
fn a_ledger_that_accepts_writes_of_any_generation_completes_a_job_without_its_remaining_items() {
    let file = vec![vec![vec![Correction]]];
    let protocol = broken(Flaw::AnyGeneration, Bounds { retries: 1, ..A_DUPLICATE });
    caught("any-generation", COMPLETED, Protocol { file, runs: [2, 1, 2], ..protocol });
}

#[test]
fn a_retry_that_replans_succeeded_items_counts_them_twice() {
    let file = vec![vec![vec![Good, Correction]]];
    let protocol = broken(Flaw::ReplansAll, Bounds { retries: 1, ..NOTHING });
    caught("replans-all", COUNTS, Protocol { file, ..protocol });
}

#[test]
fn a_replay_of_all_failed_items_processes_items_of_other_chunks() {
    let file = vec![vec![vec![Good], vec![Correction]]];
    let protocol = broken(Flaw::ReplayRunsAll, Bounds { dead_letters: 1, replays: 1, ..NOTHING });
    let property = "items outside a replay stay failed";
    caught("replay-runs-all", property, Protocol { file, sweeper: true, ..protocol });
}

#[test]
fn a_retry_for_one_reason_of_all_failed_items_processes_items_with_another_reason() {
    let file = vec![vec![vec![Correction, Fickle]]];
    let protocol = broken(Flaw::ReplayRunsAll, Bounds { selections: 1, ..NOTHING });
    caught("retry-runs-all", "items outside a replay stay failed", Protocol { file, ..protocol });
}

/// Creates the protocol with the sweeper, this flaw, and one function of each kind.
fn paused(flaw: Flaw, bounds: Bounds) -> Protocol {
    Protocol { sweeper: true, runs: [1, 1, 1], ..broken(flaw, bounds) }
}

#[test]
fn a_worker_that_ignores_a_pause_starts_items() {
    let bounds = Bounds { pauses: 1, ..NOTHING };
    let property = "no item starts once every worker sees the pause";
    caught("pause-ignored-by-worker", property, paused(Flaw::PauseIgnoredByWorker, bounds));
}

#[test]
fn a_sweeper_that_ignores_a_pause_pushes_what_is_paused_again_and_again() {
    let bounds = Bounds { pauses: 1, ..NOTHING };
    caught("pause-ignored-by-sweeper", "no sweep is unnecessary", paused(Flaw::PauseIgnoredBySweeper, bounds));
}

const LOST: &str = "work is given up only if a message was lost";
const PAUSES: Bounds = Bounds { pauses: 3, ..NOTHING };

#[test]
fn without_the_reset_a_chunk_is_given_up_after_pauses_alone() {
    caught("held-chunk-counts", LOST, paused(Flaw::HeldChunkCounts, PAUSES));
}

#[test]
fn without_the_reset_a_split_is_given_up_after_pauses_alone() {
    caught("held-split-counts", LOST, paused(Flaw::HeldSplitCounts, Bounds { deadlines: 1, ..PAUSES }));
}

/// The message of a push is received before the push is counted, so the count has changed before it is reset.
#[test]
fn with_a_reset_of_an_unchanged_count_alone_a_chunk_is_given_up_after_pauses_alone() {
    caught("reset-only-if-unchanged", LOST, paused(Flaw::ResetOnlyIfUnchanged, PAUSES));
}
