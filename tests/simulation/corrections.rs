//! Retries with a corrected file. A row in the file runs with its corrected values, and a row that is not in the file
//! stays failed. A retry that is canceled, or whose file is lost, loses no row.

use std::collections::BTreeMap;

use longshore_domain::job::Status;
use proptest::prelude::*;

use crate::plan::Environment;
use crate::rng::Rng;
use crate::rows::ACTIONS;
use crate::world::World;

/// Number of random events before the faults end.
const EVENTS: usize = 150;

/// Edit of a row of the failures file: its new action, or `None` if it is removed.
type Edit = Option<usize>;

fn rows() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![4 => Just(0_usize), 3 => 0..ACTIONS.len() - 1], 0..40)
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec(prop::option::weighted(0.7, 0..ACTIONS.len() - 1), 40)
}

/// The corrected failures file: in another order, with another delimiter, with rows that belong to no item, and
/// optionally with a repeated row.
fn corrected_file(corrections: &BTreeMap<usize, usize>, repeated: Option<usize>) -> String {
    let row = |(n, action): (&usize, &usize)| format!("x;{n};{n};{};;\r\n", ACTIONS[*action]);
    let rows: String = corrections.iter().rev().map(row).collect();
    let repetition: String = repeated.iter().map(|n| format!(";{n};{n};ok;;\r\n")).collect();
    format!("\u{feff}message;row;id;action;;\r\n{rows};999;1;ok;;\r\n;;;;;\r\n{repetition}")
}

/// Expected outcome of a row with this action.
fn end_of(action: usize) -> &'static str {
    match ACTIONS[action] {
        "ok" | "retry" => "succeeded",
        "skip" => "skipped",
        _ => "failed",
    }
}

/// A job that has ended, with the corrected rows of its failures file.
fn failed_job(rows: &[usize], seed: u64, edits: &[Edit]) -> (World, BTreeMap<usize, usize>) {
    let mut world = World::new(rows, None).with_environment(Rng::from_seed(seed), Environment::PLAIN);
    world.run_events(EVENTS);
    world.run_to_the_end();
    let failed = world.report_rows("failed.csv");
    let corrections = failed.keys().filter_map(|n| Some((*n, edits[n - 1]?))).collect();
    (world, corrections)
}

/// The rows with their corrections, for the check of a report.
fn corrected_rows(rows: &[usize], corrections: &BTreeMap<usize, usize>, repeated: Option<usize>) -> Vec<usize> {
    let mut rows = rows.to_vec();
    corrections.iter().filter(|(n, _)| Some(**n) != repeated).for_each(|(n, action)| rows[n - 1] = *action);
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn corrected_rows_run_as_corrected_and_other_rows_stay_failed(
        rows in rows(), edits in edits(), repeats in any::<bool>(), seed in any::<u64>()
    ) {
        let (mut world, corrections) = failed_job(&rows, seed, &edits);
        let repeated = corrections.keys().next().copied().filter(|_| repeats);
        if !world.job().has_remaining() {
            return Ok(());
        }
        world.retry_with(&corrected_file(&corrections, repeated));
        world.run_events(EVENTS);
        world.run_to_the_end();
        let rows = corrected_rows(&rows, &corrections, repeated);
        world.check_report(&rows);
        let (job, totals) = (world.job(), world.job().completion.totals.unwrap());
        prop_assert_eq!((job.status, job.generation), (Status::Completed, 1));
        let count = |end: &str| rows.iter().filter(|action| end_of(**action) == end).count() as u64;
        prop_assert_eq!((totals.succeeded, totals.failed, totals.skipped), (count("succeeded"), count("failed"), count("skipped")));
        let reported: Vec<_> = world.report_rows("failed.csv").into_iter().collect();
        let failed = (1..).zip(&rows).filter(|(_, action)| end_of(**action) == "failed");
        let failed: Vec<(usize, String)> = failed.map(|(n, action)| (n, ACTIONS[*action].to_owned())).collect();
        prop_assert_eq!(reported, failed);
        let issues: Vec<_> = job.issues.iter().map(|issue| (issue.code.as_str(), issue.message.contains("(999)"))).collect();
        let mut expected = vec![("corrected_rows_unknown", true)];
        expected.extend(repeated.map(|_| ("corrected_rows_repeated", false)));
        prop_assert_eq!(issues, expected);
    }

    #[test]
    fn a_corrected_retry_that_is_canceled_or_loses_its_file_keeps_all_failed_rows_for_the_next_retry(
        rows in rows(), edits in edits(), seed in any::<u64>(), at in 0..EVENTS, lost in any::<bool>()
    ) {
        let (mut world, corrections) = failed_job(&rows, seed, &edits);
        if !world.job().has_remaining() {
            return Ok(());
        }
        world.retry_with(&corrected_file(&corrections, None));
        world.run_events(at);
        if world.job().generation == 1 && !world.job().status.is_final() {
            if lost { world.lose_corrected() } else { world.cancel() }
        }
        world.run_events(EVENTS - at);
        world.run_to_the_end();
        let ended = world.job();
        // A job that is canceled just before its end has no remaining items, and stays canceled.
        let status = if ended.has_remaining() { Status::Completed } else { ended.status };
        prop_assert!(ended.status != Status::Failed || ended.error.unwrap().code == "corrected_file_gone");
        world.retry();
        world.run_to_the_end();
        // A row that had been replanned runs with its corrected values, any other row with those of the original
        // file.
        let (failed, skipped) = (world.report_rows("failed.csv"), world.report_rows("skipped.csv"));
        prop_assert_eq!((world.job().status, world.report_rows("unprocessed.csv").len()), (status, 0));
        for (n, action) in (1..).zip(&rows) {
            let end = if failed.contains_key(&n) { "failed" } else if skipped.contains_key(&n) { "skipped" } else { "succeeded" };
            let possible = [Some(end_of(*action)), corrections.get(&n).map(|action| end_of(*action))];
            prop_assert!(possible.contains(&Some(end)), "row {} has {}, not one of {:?}", n, end, possible);
        }
        let totals = world.job().completion.totals.unwrap();
        prop_assert_eq!((totals.done() as usize, totals.failed as usize, totals.skipped as usize), (rows.len(), failed.len(), skipped.len()));
    }

    #[test]
    fn a_removed_job_leaves_no_corrected_file(rows in rows(), edits in edits(), steps in 0..80_usize) {
        let (mut world, mut corrections) = failed_job(&rows, 0, &edits);
        for _ in 0..2 {
            if world.job().has_remaining() {
                world.retry_with(&corrected_file(&corrections, None));
                world.run_to_the_end();
                corrections.clear();
            }
        }
        world.delete();
        let left = world.run_until_removed(steps);
        prop_assert!(left.is_empty(), "{:?}", left);
    }
}
