//! The rows of a job's report and the succeeded items are the items of the input, each exactly once, for any history of
//! the job.

use std::collections::{BTreeMap, BTreeSet};

use complete_job::CompleteEnd;
use longshore::formula::original;
use longshore_domain::group::CommitOutcome;
use longshore_domain::job::{Status, Tolerance};
use longshore_domain::records::{Cutter, Format, Reading, Span};
use proptest::prelude::*;

use crate::crafted_worker::{CraftedWorker, Outcome};
use crate::fixture::{Fixture, Plans};

/// Rows that are well-formed, ragged, quoted, dangerous or too long (over 40 bytes), and blank lines, which are not
/// rows.
const ROWS: [&str; 12] = [
    "a,b,c",
    "1,-2,3.5",
    "short",
    "x,y",
    "a,b,c,d,\"e,f\"",
    "\"two\nlines\",=1+1,z",
    "=HYPERLINK(1),+x,@y",
    "\"say \"\"hi\"\"\",,",
    ",,",
    "this row is longer than a row in these tests may be,b,c",
    "\"\"",
    "\n",
];

/// A step of a worker, which commits `count` items.
#[derive(Clone, Debug)]
struct Step {
    count: usize,
    outcomes: Vec<Outcome>,
    /// True if the worker of a stopped job is killed before it records the end of the round.
    is_interrupted: bool,
}

/// End of a job.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum JobEnd {
    Stopped,
    Completed,
}

#[derive(Clone, Debug)]
pub(crate) struct Story {
    rows: Vec<usize>,
    pub(crate) chunk_items: u32,
    /// Less than the longest row, which then has its own chunk, or far more.
    pub(crate) chunk_bytes: u64,
    pub(crate) groups: Option<usize>,
    workers: Vec<Vec<Step>>,
    json: bool,
}

pub(crate) fn story() -> impl Strategy<Value = Story> {
    let outcome = prop_oneof![
        3 => Just(Outcome::Ok),
        2 => Just(Outcome::Fail),
        1 => Just(Outcome::Skip),
        3 => Just(Outcome::Later),
    ];
    let step = (1_usize..5, prop::collection::vec(outcome, 5), prop::bool::weighted(0.1));
    let step = step.prop_map(|(count, outcomes, is_interrupted)| Step { count, outcomes, is_interrupted });
    let steps = prop::collection::vec(step, 0..8);
    let rows = prop::collection::vec(0..ROWS.len(), 0..60);
    let groups = prop::option::of(0_usize..4);
    let chunk = (1_u32..6, prop_oneof![Just(40_u64), Just(1 << 20)]);
    (rows, chunk, groups, prop::collection::vec(steps, 12), any::<bool>()).prop_map(
        |(rows, (chunk_items, chunk_bytes), groups, workers, json)| Story {
            rows,
            chunk_items,
            chunk_bytes,
            groups,
            workers,
            json,
        },
    )
}

impl Story {
    pub(crate) fn source(&self) -> (String, Format) {
        if self.json {
            let line = |i: &usize| format!("{}\n", serde_json::json!(ROWS[*i]));
            return (self.rows.iter().map(line).collect::<String>() + "0\n", Format::JsonLines);
        }
        let rows: String = self.rows.iter().map(|i| format!("{}\n", ROWS[*i])).collect();
        // As with JSON Lines, at least one row has text.
        (format!("name,=b,c\n{rows}x\n"), Format::Csv)
    }
}

/// Outcome of every committed item.
pub(crate) type Outcomes = BTreeMap<u64, Outcome>;

/// The job of a story before its completion, with its chunks and the outcomes of its items.
pub(crate) fn job_of(story: &Story, end: JobEnd) -> (Fixture, Plans, Outcomes) {
    let (source, format) = story.source();
    let fixture =
        Fixture { chunk_bytes: story.chunk_bytes, ..Fixture::of_file(source.as_bytes(), format, Tolerance::default()) };
    let plans = fixture.split(story.chunk_items, story.groups.filter(|_| end == JobEnd::Stopped));
    let outcomes = work(&fixture, &plans, story, end);
    fixture.roll_up();
    if end == JobEnd::Stopped {
        fixture.cancel();
    }
    (fixture, plans, outcomes)
}

/// Processes the chunks by the steps of the story, and to their ends if the job is to complete.
fn work(fixture: &Fixture, plans: &Plans, story: &Story, end: JobEnd) -> Outcomes {
    let mut committed = Outcomes::new();
    for (i, plan) in plans.iter().enumerate() {
        let mut worker = CraftedWorker::new(fixture, plan);
        let mut finished = false;
        for Step { count, outcomes, is_interrupted } in &story.workers[i % story.workers.len()] {
            let numbers = worker.next_numbers(*count);
            if numbers.is_empty() {
                break;
            }
            worker.stray_file();
            let outcomes = &outcomes[..numbers.len()];
            committed.extend(numbers.into_iter().zip(outcomes.iter().copied()));
            let commit = if *is_interrupted && end == JobEnd::Stopped {
                worker.work_without_round_end(outcomes)
            } else {
                worker.work(outcomes)
            };
            assert!(matches!(commit, CommitOutcome::Committed(_)));
            finished = worker.remaining() == 0;
        }
        while end == JobEnd::Completed && !finished {
            let numbers = worker.next_numbers(worker.remaining());
            let outcomes = vec![Outcome::Ok; numbers.len()];
            committed.extend(numbers.into_iter().zip(outcomes.iter().copied()));
            assert!(matches!(worker.work(&outcomes), CommitOutcome::Committed(_)));
            finished = worker.remaining() == 0;
        }
    }
    committed
}

/// Returns number and text of every item, by the definition of a record.
fn input(source: &str, format: Format) -> BTreeMap<u64, String> {
    let cutter = match format {
        Format::Csv => Reading::default().cutter(0),
        Format::JsonLines => Cutter::new(format),
    };
    let text = |span: Span| String::from_utf8_lossy(span.content(source.as_bytes())).into_owned();
    (1..).zip(cutter.all(source.as_bytes()).map(text).skip(usize::from(format == Format::Csv))).collect()
}

/// Converts a row of the report to the form of `meaning`: without apostrophes, and without empty cells at the end.
fn plain(cells: &[String]) -> String {
    let bare = |cell: &String| String::from_utf8_lossy(&original(cell.as_bytes(), b',')).into_owned();
    cells.iter().map(bare).collect::<Vec<_>>().join(",").trim_end_matches(',').to_owned()
}

fn meaning(text: &str, format: Format) -> String {
    if format == Format::JsonLines {
        return text.to_owned();
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let cells: Vec<String> = reader.records().next().unwrap().unwrap().iter().map(str::to_owned).collect();
    cells.join(",").trim_end_matches(',').to_owned()
}

fn check(story: &Story, end: JobEnd) {
    let (source, format) = story.source();
    let (fixture, plans, outcomes) = job_of(story, end);
    let status = if end == JobEnd::Stopped { Status::Canceled } else { Status::Completed };
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(status));

    let numbers =
        |outcome| outcomes.iter().filter(move |(_, o)| **o == outcome).map(|(n, _)| *n).collect::<BTreeSet<_>>();
    let input = input(&source, format);
    let reported = ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| fixture.rows(name));
    let open = input.keys().filter(|n| !outcomes.get(n).is_some_and(|o| *o != Outcome::Later)).copied();
    let expected = [numbers(Outcome::Fail), numbers(Outcome::Skip), open.collect()];
    for (rows, expected) in reported.iter().zip(&expected) {
        assert_eq!(rows.keys().copied().collect::<BTreeSet<_>>(), *expected);
    }
    let too_long: BTreeSet<u64> = plans.iter().filter(|(_, plan)| plan.oversize).map(|(_, plan)| plan.first).collect();
    for (rows, report_columns) in reported.iter().zip([3, 1, 0]) {
        for (n, cells) in rows {
            let own = plain(&cells[..cells.len() - report_columns]);
            let expected = if too_long.contains(n) { String::new() } else { meaning(&input[n], format) };
            assert_eq!(own, expected, "row {n}");
        }
    }
    let counts = fixture.result().counts;
    assert_eq!((counts.total(), counts.succeeded), (input.len() as u64, numbers(Outcome::Ok).len() as u64));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_report_and_the_successes_of_a_stopped_job_are_the_input(story in story()) {
        check(&story, JobEnd::Stopped);
    }

    #[test]
    fn the_report_and_the_successes_of_a_completed_job_are_the_input(story in story()) {
        check(&story, JobEnd::Completed);
    }
}
