//! An undo or a preview, and another request for its import: each interrupts the other between any two of its steps.

use std::collections::BTreeSet;

use longshore_domain::job::{Job, Status};

use crate::kinds::Kind;
use crate::plan::JobPlan;
use crate::rng::Rng;
use crate::rows::{Dialect, NEVER, OK, RETRY, SKIP};
use crate::run::violation_of;
use crate::world::{Act, Removals, What, World};

/// Number of steps: more than the call takes.
const STEPS: usize = 40;
/// Number of steps: more than the functions of the preview take.
const PREVIEW_STEPS: usize = 250;
/// Number of parts in which the import is removed.
const PARTS: usize = 24;

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

/// Previews the undo of an import that was retried, and removes it in two steps of the preview: some of its parts after
/// `first` steps, and the others before or after the end of the preview. Returns the ends of the jobs.
fn removal(json_lines: bool, rng: &mut Rng, first: usize, parts: Option<usize>) -> Vec<&'static str> {
    let mut world = World::alone(JobPlan { dialect: Dialect { json_lines, ..Dialect::default() }, ..import() });
    world.run_to_the_end();
    world.retry();
    world.run_to_the_end();
    let parts = parts.unwrap_or_else(|| rng.below(PARTS + 1));
    let rest = PREVIEW_STEPS - first;
    let then = if rng.often(500) { rest } else { rng.below(rest + 1) };
    let at = Removals { parts, first, then };
    let has_ended = world.remove_during_preview(at);
    assert!(has_ended || then < rest, "the preview takes more steps: {at:?}");
    world.run_to_the_end();
    world.check_ended();
    world.ends_of_jobs(end_of_preview)
}

fn end_of_preview(job: Option<Job>) -> &'static str {
    let Some(job) = job else { return "removed" };
    let failed = job.completion.totals.map_or(0, |totals| totals.failed);
    match (job.status, job.error.as_ref().map(|error| error.code.as_str())) {
        (Status::Completed, None) if failed > 0 => "versions missing",
        (Status::Completed, None) => "completed",
        (Status::Failed, Some("source_missing")) => "source missing",
        _ => panic!("unexpected end of {job:?}"),
    }
}

#[test]
fn a_preview_ends_and_changes_nothing_if_its_import_is_removed_in_any_two_steps_meanwhile() {
    let (mut rng, mut ends) = (Rng::from_seed(0), BTreeSet::new());
    let all_parts: Vec<_> = (0..=PARTS).map(Some).collect();
    let parts = if measurements::is_complete_run() { &all_parts[..] } else { &[None, None] };
    // The items of JSON Lines are those of the import's request, in the folder of the import.
    for json_lines in [false, true] {
        for first in 0..=PREVIEW_STEPS {
            parts.iter().for_each(|parts| ends.extend(removal(json_lines, &mut rng, first, *parts)));
        }
    }
    assert_eq!(Vec::from_iter(ends), ["completed", "removed", "source missing", "versions missing"]);
}

/// Conditions of an undo and of a preview, each with the race that shows it.
pub(crate) const RACES: [(&str, fn()); 5] = [
    ("one-undo-at-once", two_undos),
    ("undo-of-the-generation-read", a_retry_during_an_undo),
    ("no-generation-after-an-undo", an_undo_during_a_retry),
    ("no-delete-during-an-undo", an_undo_during_a_delete),
    ("previews-write-nothing", an_undo_during_a_preview),
];

#[test]
fn each_race_fails_without_its_condition() {
    for (condition, race) in RACES {
        assert!(violation_of(Some(condition), race).is_some(), "the race does not fail without {condition}");
    }
}
