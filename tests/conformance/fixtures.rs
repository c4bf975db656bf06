//! Fixtures: jobs, groups and commits.

use longshore_domain::cost::{ChunkUsage, Cost, CostEstimate, NanoDollars};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, JobError, JobTimes, SourceFile, Status, Stop, Tolerance, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{ByAge, Created, Definition, EventsMoved, FileInfo, Reopened, Store};
use longshore_domain::records::{Delimiter, Dialect, Format, GivenReading, Reading, TextEncoding};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

/// A fixed time; the tests count milliseconds from it.
pub(crate) const NOW: i64 = 1_700_000_000_000;

pub(crate) const fn at(millis: i64) -> Timestamp {
    Timestamp(NOW + millis)
}

/// A newly accepted job.
pub(crate) fn waiting_job() -> Job {
    let info = FileInfo { size_bytes: 1 << 40, etag: "\"abc\"".into() };
    Job {
        source: Some(SourceFile::new("uploads/default/1", info, Format::Csv, "people.csv").into()),
        metadata: [("team".into(), "crm".into()), ("note".into(), String::new())].into(),
        tolerance: Tolerance { max_failed: Some(3), max_failed_percent: Some(12.5), max_cost: Some(NanoDollars(7)) },
        cost_estimate: Some(estimated_cost()),
        times: JobTimes {
            deadline_at: at(86_400_000),
            expires_at: at(0).seconds() + 1_209_600,
            ..JobTimes::accepted(at(0))
        },
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "import", at(0))
    }
}

fn estimated_cost() -> CostEstimate {
    let cost = Cost { compute: NanoDollars(1), database: NanoDollars(2), ..Cost::default() };
    CostEstimate { cost, items: 3, assumed_item_bytes: Some(4), assumed_write_micros: None }
}

pub(crate) fn definition() -> Definition {
    let given_reading = GivenReading { header_row: Some(0), ..GivenReading::default() };
    let options = serde_json::json!({ "dataset": "people", "n": 1.5, "deep": [{ "a": null }] });
    Definition { given_reading, ..Definition::new(options) }
}

/// A group of two chunks of ten items each.
pub(crate) fn manifest(group: u32) -> Manifest {
    let first = u64::from(group) * 20 + 1;
    let chunk = |first: u64| ChunkPlan {
        first,
        items: 10,
        start: first * 100,
        end: first * 100 + 1000,
        oversize: false,
        keys: None,
    };
    Manifest { group, chunks: vec![chunk(first), chunk(first + 10)] }
}

/// Returns the ids of the unfinished jobs on the first page, oldest first.
pub(crate) async fn unfinished(store: &impl Store) -> Vec<JobId> {
    let page = store.unfinished(None, ByAge::OldestFirst).await.unwrap();
    page.into_iter().map(|position| position.job_id).collect()
}

/// A cursor written with this token.
pub(crate) fn cursor(token: &str, position: u32) -> Cursor {
    Cursor {
        round: 0,
        position,
        token: token.into(),
        file: None,
        deferred: 0,
        due: None,
        finished: false,
        by_sweeper: false,
    }
}

/// A commit of `succeeded` items of a chunk.
pub(crate) fn commit(chunk: u32, from: Option<Cursor>, to: Cursor, succeeded: u64) -> Commit {
    let usage = ChunkUsage { gb_ms: 5, deliveries: 1, writes: 3, reads: 2, object_writes: 4 };
    Commit { chunk, from, to, counts: Counts { succeeded, failed: 1, skipped: 0 }, usage, at: at(500) }
}

pub(crate) fn stop(millis: i64) -> Stop {
    Stop { status: Status::Canceled, error: Some(JobError::new("canceled", "as requested")), at: at(millis) }
}

pub(crate) fn finish(status: Status, millis: i64) -> Finish {
    let totals = Counts { succeeded: 7, failed: 2, skipped: 1 };
    Finish { report: Some("attempt1".into()), ..Finish::new(status, totals, at(millis)) }
}

/// Ends a job, and moves its events to the list, as completion does.
pub(crate) async fn end(store: &impl Store, id: JobId, finish: &Finish) -> Job {
    let ended = job_after(store.finish(id, finish).await.unwrap());
    assert_eq!(store.move_events(&ended, &[], finish.at).await.unwrap(), EventsMoved::Moved);
    store.job(id).await.unwrap().unwrap()
}

/// A group of the file as a splitter commits it, with 2,000 bytes of the file.
pub(crate) fn plan(group: u32) -> GroupPlan {
    let from = u64::from(group) * 2000;
    let reading = (group == 0).then(|| reading(Delimiter::Tab));
    GroupPlan { reading, ..GroupPlan::from_file(0, manifest(group), from..from + 2000) }
}

/// A reading with this delimiter, with all of its members.
pub(crate) fn reading(delimiter: Delimiter) -> Reading {
    let dialect = Dialect { delimiter, ..Dialect::default() };
    Reading { encoding: TextEncoding::named("latin1").unwrap(), dialect, header_row: 2, comment: Some('#') }
}

/// Stores a waiting job.
pub(crate) async fn accepted(store: &impl Store) -> Job {
    let job = waiting_job();
    assert_eq!(store.create_job(&job, &definition(), None).await.unwrap(), Created::New);
    job
}

/// Stores a job that is being split, with this many groups.
pub(crate) async fn split(store: &impl Store, groups: u32) -> Job {
    let mut job = job_after(store.begin(accepted(store).await.job_id, 0, at(1)).await.unwrap());
    for group in 0..groups {
        job = job_after(store.commit_group(&job, &plan(group), at(2 + i64::from(group))).await.unwrap());
    }
    job
}

/// Returns the job of a successful transition.
#[track_caller]
pub(crate) fn job_after(transition: Transition) -> Job {
    match transition {
        Transition::Made(job) => *job,
        Transition::Refused => panic!("the transition was refused"),
    }
}

/// Returns the job of a successful retry.
#[track_caller]
pub(crate) fn reopened_job(answer: Reopened) -> Job {
    match answer {
        Reopened::Made(job) => *job,
        other => panic!("unexpected answer: {other:?}"),
    }
}
