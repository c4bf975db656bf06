//! An undo or a preview, and another request for its import: each interrupts the other between any two of its steps.

use crate::kinds::Kind;
use crate::plan::JobPlan;
use crate::rows::{Dialect, NEVER, OK, RETRY, SKIP};
use crate::run::{run, violation_of};
use crate::trace::TraceMode;
use crate::world::{Act, What, World};

/// Number of steps: more than the call takes.
const STEPS: usize = 40;
/// Number of steps: more than the functions of the preview take.
const PREVIEW_STEPS: usize = 200;
/// Number of seeds within which a preview that writes must be detected.
const SEEDS: u64 = 1_000;

/// An import with rows that failed, and other rows whose records it has overwritten.
fn import() -> JobPlan {
    JobPlan::plain(&[OK, SKIP, NEVER, OK, SKIP, NEVER, OK, RETRY, NEVER, SKIP, OK], Kind::Update)
}

/// An import that has ended, or was canceled.
fn ended(is_canceled: bool) -> World {
    let mut world = World::alone(import());
    if is_canceled {
        world.cancel_after_the_split();
    }
    world.run_to_the_end();
    world
}

fn race(requests: fn(&World) -> [Act; 2], what: What) {
    for is_canceled in [false, true] {
        for steps in 0..STEPS {
            let mut world = ended(is_canceled);
            let requests = requests(&world);
            world.interrupt(steps, requests, what);
            world.run_to_the_end();
            world.check_ended();
        }
    }
}

fn two_undos() {
    race(|_| [Act::Undo, Act::Undo], What::Request);
}

fn a_retry_during_an_undo() {
    race(|world| [Act::Undo, world.retry_of_all()], What::Follows);
}

fn an_undo_during_a_retry() {
    race(|world| [world.retry_of_all(), Act::Undo], What::Request);
}

fn an_undo_during_a_delete() {
    race(|_| [Act::Delete, Act::Undo], What::Request);
}

fn a_delete_during_an_undo() {
    race(|_| [Act::Undo, Act::Delete], What::Request);
}

fn an_undo_during_a_preview() {
    race(|_| [Act::Preview, Act::Undo], What::Follows);
}

fn a_retry_during_a_preview() {
    race(|world| [Act::Preview, world.retry_of_all()], What::Follows);
}

fn a_delete_during_a_preview() {
    race(|_| [Act::Preview, Act::Delete], What::Follows);
}

fn a_preview_during_an_undo() {
    race(|_| [Act::Undo, Act::Preview], What::Follows);
}

fn a_preview_during_a_delete() {
    race(|_| [Act::Delete, Act::Preview], What::Request);
}

#[test]
fn an_undo_and_another_request_for_its_import_meet_at_any_step_and_one_of_them_is_refused() {
    for race in
        [two_undos, a_retry_during_an_undo, an_undo_during_a_retry, an_undo_during_a_delete, a_delete_during_an_undo]
    {
        race();
    }
}

#[test]
fn a_preview_and_another_request_for_its_import_meet_at_any_step_and_the_preview_changes_nothing() {
    for race in [
        an_undo_during_a_preview,
        a_retry_during_a_preview,
        a_delete_during_a_preview,
        a_preview_during_an_undo,
        a_preview_during_a_delete,
    ] {
        race();
    }
}

#[test]
fn a_preview_ends_and_changes_nothing_if_its_import_is_removed_meanwhile() {
    // The items of JSON Lines are those of the import's request, in the folder of the import.
    for json_lines in [false, true] {
        for steps in 0..PREVIEW_STEPS {
            let mut world = World::alone(JobPlan { dialect: Dialect { json_lines, ..Dialect::default() }, ..import() });
            world.run_to_the_end();
            world.retry();
            world.run_to_the_end();
            world.remove_during_preview(steps);
            world.run_to_the_end();
            world.check_ended();
        }
    }
}

#[test]
fn a_preview_that_writes_is_detected() {
    assert!(violation_of(Some("previews-write-nothing"), an_undo_during_a_preview).is_some());
    let is_detected = |seed| run(seed, Some("previews-write-nothing"), TraceMode::Off).is_err();
    assert!((0..SEEDS).any(is_detected), "no violation without the condition");
}

/// Conditions of an undo, each with the race that shows it.
pub(crate) const RACES: [(&str, fn()); 4] = [
    ("one-undo-at-once", two_undos),
    ("undo-of-the-generation-read", a_retry_during_an_undo),
    ("no-generation-after-an-undo", an_undo_during_a_retry),
    ("no-delete-during-an-undo", an_undo_during_a_delete),
];

#[test]
fn each_race_fails_without_its_condition() {
    for (condition, race) in RACES {
        assert!(violation_of(Some(condition), race).is_some(), "the race does not fail without {condition}");
    }
}
