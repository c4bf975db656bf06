//! A job's report together with the succeeded items is the input, each item exactly once, regardless of the job's
//! history.

use std::collections::{BTreeMap, BTreeSet};

use complete_job::CompleteEnd;
use longshore::formula::original;
use longshore_domain::group::CommitOutcome;
use longshore_domain::job::{Status, Tolerance};
use longshore_domain::records::{Format, records};
use proptest::prelude::*;

use crate::crafted_worker::{CraftedWorker, What};
use crate::fixture::{Fixture, Plans};

/// Rows that are well-formed, ragged, quoted, dangerous or too long (over 40 bytes), and blank lines that are not rows.
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

/// A worker's steps: number of items, outcomes, and true if it is interrupted before it records the end of the round.
pub(crate) type Steps = Vec<(usize, Vec<What>, bool)>;

#[derive(Clone, Debug)]
pub(crate) struct Story {
    rows: Vec<usize>,
    pub(crate) chunk_items: u32,
    /// Either below the longest row, which then has a chunk of its own, or far above it.
    pub(crate) chunk_bytes: u64,
    pub(crate) groups: Option<usize>,
    workers: Vec<Steps>,
    json: bool,
}

pub(crate) fn story() -> impl Strategy<Value = Story> {
    let what = prop_oneof![3 => Just(What::Ok), 2 => Just(What::Fail), 1 => Just(What::Skip), 3 => Just(What::Later)];
    let step = (1_usize..5, prop::collection::vec(what, 5), prop::bool::weighted(0.1));
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
        (format!("name,=b,c\n{rows}"), Format::Csv)
    }
}

/// Outcome of every committed item.
pub(crate) type Truth = BTreeMap<u64, What>;

pub(crate) fn work(fixture: &Fixture, plans: &Plans, story: &Story, to_the_end: bool) -> Truth {
    let mut truth = Truth::new();
    for (i, plan) in plans.iter().enumerate() {
        let mut crafted_worker = CraftedWorker::new(fixture, plan);
        let mut finished = false;
        for (count, whats, cut) in &story.workers[i % story.workers.len()] {
            let numbers = crafted_worker.next_numbers(*count);
            if numbers.is_empty() {
                break;
            }
            crafted_worker.stray_file();
            let whats = &whats[..numbers.len()];
            finished = step(&mut crafted_worker, whats, *cut && !to_the_end, &mut truth);
        }
        while to_the_end && !finished {
            let all = vec![What::Ok; crafted_worker.left()];
            finished = step(&mut crafted_worker, &all, false, &mut truth);
        }
    }
    truth
}

/// Commits one step. Returns true if it was the chunk's last commit.
fn step(crafted_worker: &mut CraftedWorker<'_>, whats: &[What], cut: bool, truth: &mut Truth) -> bool {
    truth.extend(crafted_worker.next_numbers(whats.len()).into_iter().zip(whats.iter().copied()));
    assert!(matches!(crafted_worker.work(whats, cut), CommitOutcome::Committed(_)));
    crafted_worker.left() == 0
}

/// Returns number and text of every item, by the definition of a record.
fn input(source: &str, format: Format) -> BTreeMap<u64, String> {
    let items = records(format, source.as_bytes());
    let text =
        |span: longshore_domain::records::Span| String::from_utf8_lossy(span.content(source.as_bytes())).into_owned();
    (1..).zip(items.map(text).skip(usize::from(format == Format::Csv))).collect()
}

/// Converts a row of the report back to the meaning of an input row: removes apostrophes, and empty cells at the end.
fn plain(cells: &[String]) -> String {
    let bare = |cell: &String| String::from_utf8_lossy(&original(cell.as_bytes())).into_owned();
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

fn check(story: &Story, stopped: bool) {
    let (source, format) = story.source();
    let fixture =
        Fixture { chunk_bytes: story.chunk_bytes, ..Fixture::of_file(source.as_bytes(), format, Tolerance::default()) };
    let plans = fixture.split(story.chunk_items, story.groups.filter(|_| stopped));
    let truth = work(&fixture, &plans, story, !stopped);
    fixture.roll_up();
    if stopped {
        fixture.cancel();
    }
    let status = if stopped { Status::Canceled } else { Status::Completed };
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(status));

    let numbers = |what| truth.iter().filter(move |(_, w)| **w == what).map(|(n, _)| *n).collect::<BTreeSet<_>>();
    let input = input(&source, format);
    let listed = ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| fixture.rows(name));
    let open = input.keys().filter(|n| !truth.get(n).is_some_and(|w| *w != What::Later)).copied();
    let expected = [numbers(What::Fail), numbers(What::Skip), open.collect()];
    for (rows, expected) in listed.iter().zip(&expected) {
        assert_eq!(rows.keys().copied().collect::<BTreeSet<_>>(), *expected);
    }
    let too_long: BTreeSet<u64> = plans.iter().filter(|(_, plan)| plan.oversize).map(|(_, plan)| plan.first).collect();
    for (rows, reported) in listed.iter().zip([3, 1, 0]) {
        for (n, cells) in rows {
            let own = plain(&cells[..cells.len() - reported]);
            let expected = if too_long.contains(n) { String::new() } else { meaning(&input[n], format) };
            assert_eq!(own, expected, "row {n}");
        }
    }
    let counts = fixture.result().counts;
    assert_eq!((counts.total(), counts.succeeded), (input.len() as u64, numbers(What::Ok).len() as u64));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stopped_jobs_report_and_its_successes_are_the_input(story in story()) {
        check(&story, true);
    }

    #[test]
    fn a_completed_jobs_report_and_its_successes_are_the_input(story in story()) {
        check(&story, false);
    }
}
