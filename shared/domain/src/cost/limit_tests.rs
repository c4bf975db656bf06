//! The stop before a maximum cost is exceeded.

use super::*;
use crate::cost::{Units, cost_so_far};
use crate::cursor::Cursor;
use crate::ids::JobId;
use crate::job::{JobTimes, SourceFile, SplitState};
use crate::ports::FileInfo;
use crate::records::Format;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Items in a chunk, and work of its worker: a second of one GB.
const ITEMS: u64 = 100;
const GB_MS: u64 = 1_000;

/// A job of so many groups of one chunk, of which the first `done` have ended.
fn job(groups: u32, done: u32) -> (Job, Vec<Group>) {
    let job = Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0));
    let split = SplitState { groups, item_count: u64::from(groups) * ITEMS, ended: true, ..SplitState::default() };
    let times = JobTimes { started_at: Some(Timestamp(1)), ..job.times.clone() };
    let group = |number| {
        let mut group = Group::new(number, ITEMS, 1, Timestamp(1));
        if number < done {
            group.counts = Counts { succeeded: ITEMS, ..Counts::default() };
            group.usage = ChunkUsage { gb_ms: GB_MS, deliveries: 1, writes: 1, reads: 2, object_writes: 0 };
            group.cursors.insert(0, Cursor { finished: true, ..Cursor::for_round(0, "t".into()) });
        }
        group
    };
    (Job { split, times, ..job }, (0..groups).map(group).collect())
}

/// A file of so many bytes.
fn file_of(size_bytes: u64) -> SourceFile {
    let info = FileInfo { size_bytes, etag: "e".into() };
    SourceFile::new("k", info, Format::JsonLines, "f.jsonl")
}

fn limit(max: NanoDollars, chunks_at_once: u32) -> SpendingLimit {
    SpendingLimit { max, chunks_at_once, worker_gb: 1.0, commit_ms: 1_000.0 }
}

/// Processes one chunk after the other until a check that is due stops the job, with `at_once` more under way by then.
/// Returns the number of chunks that are processed, and the cost at the end.
fn run(chunks: u32, max: NanoDollars, at_once: u32) -> (u32, NanoDollars) {
    let (running, groups) = job(chunks, chunks);
    for done in 1..=chunks {
        let group = &groups[done as usize - 1];
        if is_check_due(&running, group.usage, group)
            && limit(max, at_once).exceeded(&running, &job(chunks, done).1).is_some()
        {
            let (stopped, groups) = job(chunks, (done + at_once).min(chunks));
            let stop = crate::job::Stop::canceled(Timestamp(2));
            let cost = crate::cost::generation_cost(&Job { stop: Some(stop), ..stopped }, &groups);
            return ((done + at_once).min(chunks), cost.total());
        }
    }
    (chunks, crate::cost::generation_cost(&running, &groups).total())
}

/// Returns the cost of the commit of one chunk.
fn cost_of_chunk(job: &Job, usage: ChunkUsage) -> NanoDollars {
    let ledger = Ledger { usage, ..Ledger::default() };
    Prices::current().cost(&steps::chunks(SourceSize::new(job), &ledger)).total()
}

#[test]
fn a_job_stops_before_its_maximum_is_exceeded_whatever_is_under_way() {
    let (_, whole) = run(200, NanoDollars(u64::MAX), 0);
    let (running, groups) = job(200, 1);
    let (interval, chunk) = (interval(&running), cost_of_chunk(&running, groups[0].usage));
    assert!(interval > chunk.times(3.0), "a check is not due after each chunk");
    // The first chunks are processed before anything is known of their cost.
    let first = (interval.times(2.0).0 / chunk.0) as u32 + 1;
    for at_once in [0, 1, 2, 10, 100] {
        for percent in 1..=99 {
            let max = whole.times(f64::from(percent) / 100.0);
            let (processed, cost) = run(200, max, at_once);
            let is_bounded = cost <= max || processed <= first + at_once;
            assert!(is_bounded, "{at_once} at once, {percent} %: {cost:?} of {max:?} after {processed} chunks");
            assert!(processed < 200, "{at_once} at once, {percent} %");
        }
    }
}

#[test]
fn a_job_that_costs_less_than_its_maximum_is_not_stopped() {
    let (_, whole) = run(200, NanoDollars(u64::MAX), 0);
    for at_once in [0, 1, 10, 100, 1_000] {
        // A job that is stopped has its groups closed, and what is left of its file is listed.
        let stop = NanoDollars(200 * 625 + 10_000);
        assert_eq!(run(200, whole + stop, at_once), (200, whole), "{at_once} at once");
    }
}

#[test]
fn a_job_whose_items_have_all_ended_is_not_stopped() {
    let (ended, groups) = job(4, 4);
    assert_eq!(limit(NanoDollars(1), 2).exceeded(&ended, &groups), None);
    // Its split has not ended: more items may follow.
    let split = SplitState { ended: false, ..ended.split.clone() };
    assert!(limit(NanoDollars(1), 2).exceeded(&Job { split, ..ended }, &groups).is_some());
}

#[test]
fn what_is_under_way_is_reserved_although_all_items_that_are_split_have_ended() {
    let (ended, groups) = job(4, 4);
    let file = |offset| {
        let split = SplitState { ended: false, offset, ..ended.split.clone() };
        Job { split, source: Some(file_of(1_000).into()), ..ended.clone() }
    };
    let needs = |job: &Job| {
        let stop = crate::job::Stop::canceled(Timestamp(2));
        crate::cost::generation_cost(&Job { stop: Some(stop), ..job.clone() }, &groups).total()
    };
    let is_exceeded = |job: &Job, share: f64| {
        let chunk = Prices::current().cost(&Units { gb_ms: GB_MS, ..Units::default() }).total();
        limit(needs(job) + chunk.times(share), 10).exceeded(job, &groups).is_some()
    };
    // It is not known how many items follow: eleven chunks can be under way.
    assert_eq!([10.0, 20.0].map(|share| is_exceeded(&file(0), share)), [true, false]);
    // Half of the file is split, so about four chunks follow. Then nearly nothing does.
    assert_eq!([3.0, 6.0].map(|share| is_exceeded(&file(500), share)), [true, false]);
    assert!(!is_exceeded(&file(999), 0.1));
}

#[test]
fn calls_under_way_are_reserved_with_the_time_of_the_last_one() {
    // Chunks of 1,000 s of work: in short calls, or in calls of 100 s each.
    let (running, mut groups) = job(40, 4);
    groups.iter_mut().take(4).for_each(|group| group.usage.gb_ms = 1_000_000);
    let spent = cost_so_far(&running, &groups).unwrap().total();
    let second = Prices::current().cost(&Units { gb_ms: 1_000, ..Units::default() }).total();
    let max = |seconds: f64| spent + second.times(seconds);
    let is_exceeded = |max, commit_ms| {
        let limit = SpendingLimit { commit_ms, ..limit(max, 9) };
        limit.exceeded(&running, &groups).is_some()
    };
    // Ten chunks, each of which ends its call and has three seconds to notice the stop.
    assert_eq!([39.0, 50.0].map(|seconds| is_exceeded(max(seconds), 200.0)), [true, false]);
    assert_eq!([1_029.0, 1_040.0].map(|seconds| is_exceeded(max(seconds), 100_000.0)), [true, false]);
}

#[test]
fn the_error_names_both_amounts_and_the_fix() {
    let (job, groups) = job(4, 1);
    let error = limit(NanoDollars(1_000), 2).exceeded(&job, &groups).unwrap();
    assert_eq!(error.code, "cost_limit");
    assert!(error.message.contains("$0.000001") && error.message.contains("maxCost"), "{}", error.message);
    assert!(cost_so_far(&job, &groups).unwrap().total() > NanoDollars(1_000));
}

/// Commits in turn to all groups of a job, each commit with this usage. Returns the number of checks, and the highest
/// cost of the commits between two of them.
fn checks(groups: u32, commits: u32, usage: ChunkUsage) -> (u64, NanoDollars) {
    let (job, mut all) = job(groups, 0);
    let of_commit = cost_of_chunk(&job, usage);
    let (mut checks, mut unchecked, mut most) = (0, NanoDollars::default(), NanoDollars::default());
    for _ in 0..commits {
        for group in &mut all {
            group.usage += usage;
            unchecked = unchecked + of_commit;
            most = most.max(unchecked);
            if is_check_due(&job, usage, group) {
                (checks, unchecked) = (checks + 1, NanoDollars::default());
            }
        }
    }
    (checks, most)
}

#[test]
fn checks_cost_a_tenth_of_the_commits_and_are_spread_over_all_groups() {
    // No group ends here: each has items that wait for their next try, as after a failure of a handler.
    for (groups, gb_ms) in [1, 5, 30, 40, 500].into_iter().flat_map(|groups| (0..40).map(move |n| (groups, 25 * n))) {
        let usage = ChunkUsage { gb_ms, deliveries: 1, writes: 1, reads: 2, object_writes: 0 };
        let commits = 100;
        let (job, _) = job(groups, 0);
        let (interval, of_commit) = (interval(&job), cost_of_chunk(&job, usage));
        let all = of_commit.0 * u64::from(groups * commits);
        let (checks, most) = checks(groups, commits, usage);
        let case = format!("{groups} groups, {gb_ms} ms");
        assert!(checks <= all / interval.0 + u64::from(groups), "{case}: {checks} checks");
        let bound = interval.times(UNCHECKED).0 + of_commit.0;
        assert!(most.0 <= bound, "{case}: {most:?} without a check, and {interval:?} is an interval");
    }
}

#[test]
fn a_commit_that_costs_an_interval_is_checked() {
    let usage = ChunkUsage { gb_ms: 1_000_000, deliveries: 1, writes: 1, reads: 2, object_writes: 0 };
    assert_eq!(checks(500, 3, usage).0, 1_500);
}

#[test]
fn a_check_of_a_retry_costs_the_reads_of_its_own_groups() {
    let (first, _) = job(10, 0);
    let (mut retry, _) = job(4_510, 0);
    retry.retry.carried_over.groups = 4_500;
    assert_eq!(interval(&retry), interval(&first));
}
