//! Random sequences of operations on both stores, with the same outcomes at every step and the same records at the
//! end.

use longshore::store::dynamo::DynamoStore;
use longshore_domain::cursor::Cursor;
use longshore_domain::event::{EventsQuery, ListedEvent};
use longshore_domain::group::{Commit, CommitOutcome};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobError, Reopen, Selection, Status, Stop, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{ByAge, Created, EventsMoved, JobProgress, PortResult, Reopened, ResendCount, Store};
use longshore_testing::MemoryStore;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::fixtures::{at, cursor, definition, finish, plan, waiting_job};
use crate::on_both::Local;

/// Number of sequences. Each has up to `STEPS` operations, and each operation on DynamoDB takes some milliseconds.
const CASES: u32 = 40;
const STEPS: usize = 30;

/// One call of a port. The ranges of all values are small, so that calls conflict.
#[derive(Clone, Debug)]
enum Step {
    Create,
    Enqueue(i64),
    Begin(i64),
    CommitGroup { group: u32, time: i64 },
    EndSplit { groups: u32, time: i64 },
    Stop(i64),
    Delete(i64),
    Finish { completed: bool, time: i64 },
    Reopen(i64),
    MoveEvents { read: bool, time: i64 },
    CountResend { resends: u32, generation: u32, time: i64 },
    Commit { group: u32, chunk: u32, from: Option<u32>, token: u32 },
    GroupDone { group: u32, time: i64 },
    Close(u32),
    CountGroupResend { group: u32, expected_resends: u32 },
    ResetSplitResends(u32),
    ResetGroupResends(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let time = 0_i64..3;
    let group = 0_u32..3;
    prop_oneof![
        1 => Just(Step::Create),
        1 => time.clone().prop_map(Step::Enqueue),
        2 => time.clone().prop_map(Step::Begin),
        6 => (group.clone(), time.clone()).prop_map(|(group, time)| Step::CommitGroup { group, time }),
        2 => (0_u32..4, time.clone()).prop_map(|(groups, time)| Step::EndSplit { groups, time }),
        1 => time.clone().prop_map(Step::Stop),
        1 => time.clone().prop_map(Step::Delete),
        1 => (any::<bool>(), time.clone()).prop_map(|(completed, time)| Step::Finish { completed, time }),
        1 => time.clone().prop_map(Step::Reopen),
        2 => (any::<bool>(), time.clone()).prop_map(|(read, time)| Step::MoveEvents { read, time }),
        1 => (0_u32..2, 0_u32..2, time.clone())
            .prop_map(|(resends, generation, time)| Step::CountResend { resends, generation, time }),
        8 => (group.clone(), 0_u32..2, proptest::option::of(0_u32..3), 0_u32..4)
            .prop_map(|(group, chunk, from, token)| Step::Commit { group, chunk, from, token }),
        2 => (group.clone(), time).prop_map(|(group, time)| Step::GroupDone { group, time }),
        1 => group.clone().prop_map(Step::Close),
        1 => (group.clone(), 0_u32..2)
            .prop_map(|(group, expected_resends)| Step::CountGroupResend { group, expected_resends }),
        1 => (0_u32..2).prop_map(Step::ResetSplitResends),
        1 => group.prop_map(Step::ResetGroupResends),
    ]
}

/// The result of a step, for comparison.
#[derive(Debug, PartialEq)]
enum Observed {
    Created(Created<JobId>),
    Transition(Transition),
    Reopened(Reopened),
    Commit(CommitOutcome),
    Group(Option<longshore_domain::group::Group>),
    Counted(ResendCount),
    Reset,
    Moved(EventsMoved),
}

fn token(number: u32) -> Cursor {
    cursor(&format!("token{number}"), number)
}

async fn take(store: &impl Store, job: &Job, step: &Step) -> PortResult<Observed> {
    let id = job.job_id;
    Ok(match step {
        Step::Create => Observed::Created(store.create_job(job, &definition(), None).await?),
        Step::Enqueue(time) => {
            let job = store.job(id).await?.unwrap_or_else(|| job.clone());
            Observed::Transition(store.enqueue(&job, at(*time)).await?)
        }
        Step::Begin(time) => Observed::Transition(store.begin(id, 0, at(*time)).await?),
        Step::CommitGroup { group, time } => {
            Observed::Transition(store.commit_group(job, &plan(*group), at(*time)).await?)
        }
        Step::EndSplit { groups, time } => {
            let issues = [JobError::new("a", "b")];
            Observed::Transition(store.end_split(job, *groups, &issues, at(*time)).await?)
        }
        Step::Stop(time) => {
            let stop = Stop { status: Status::Canceled, error: None, at: at(*time) };
            Observed::Transition(store.stop(id, 0, &stop).await?)
        }
        Step::Delete(time) => Observed::Transition(store.delete(id, at(*time)).await?),
        Step::Finish { completed, time } => {
            let status = if *completed { Status::Completed } else { Status::Failed };
            Observed::Transition(store.finish(id, &finish(status, *time)).await?)
        }
        Step::Reopen(time) => {
            let job = store.job(id).await?.unwrap_or_else(|| job.clone());
            let reopen = Reopen {
                generation: job.generation,
                at: at(*time),
                deadline_at: at(99),
                selection: Selection::All,
                registration: None,
            };
            Observed::Reopened(store.reopen(&job, &reopen).await?)
        }
        Step::MoveEvents { read, time } => {
            // Otherwise as if the job was read after its start.
            let mut seen = job.clone();
            seen.begin(0, at(0));
            let seen = if *read { store.job(id).await?.unwrap_or(seen) } else { seen };
            Observed::Moved(store.move_events(&seen, &[], at(*time)).await?)
        }
        Step::CountResend { resends, generation, time } => {
            let read = Job { resends: *resends, generation: *generation, ..job.clone() };
            Observed::Transition(store.count_resend(&read, at(*time)).await?)
        }
        Step::Commit { group, chunk, from, token: to } => {
            let counts = Counts { succeeded: 1, failed: 2, skipped: 3 };
            let commit = Commit {
                chunk: *chunk,
                from: from.map(token),
                to: token(*to),
                counts,
                usage: Default::default(),
                at: at(9),
            };
            Observed::Commit(store.commit(id, *group, &commit).await?)
        }
        Step::GroupDone { group, time } => Observed::Transition(store.group_done(id, *group, at(*time)).await?),
        Step::Close(group) => Observed::Group(store.close(id, *group).await?),
        Step::CountGroupResend { group, expected_resends } => {
            Observed::Counted(store.count_group_resend(id, *group, *expected_resends, at(9)).await?)
        }
        Step::ResetSplitResends(generation) => {
            store.reset_split_resends(id, *generation).await?;
            Observed::Reset
        }
        Step::ResetGroupResends(group) => {
            store.reset_group_resends(id, *group).await?;
            Observed::Reset
        }
    })
}

async fn compare(memory: &MemoryStore, dynamo: &DynamoStore, steps: &[Step]) {
    let mut job = Job { job_id: JobId::generate(), ..waiting_job() };
    if steps.len().is_multiple_of(4) {
        // The time lies between those of the steps.
        (job.is_scheduled, job.times.start_at) = (true, Some(at(1)));
    }
    // Most sequences should make progress.
    let header = [Step::Create, Step::Begin(0), Step::CommitGroup { group: 0, time: 0 }];
    let skipped = steps.len() % 2 * header.len();
    for (number, step) in header.iter().skip(skipped).chain(steps).enumerate() {
        let expected = take(memory, &job, step).await.unwrap();
        let answer = take(dynamo, &job, step).await.unwrap();
        assert_eq!(answer, expected, "step {number}, {step:?}");
    }
    let id = job.job_id;
    assert_eq!(dynamo.progress_of(id).await, memory.progress_of(id).await);
    for group in 0..3 {
        assert_eq!(dynamo.manifest_of(id, group).await, memory.manifest_of(id, group).await);
    }
    assert_eq!(dynamo.events_of(&job).await, memory.events_of(&job).await);
    assert_eq!(dynamo.needs_sweep(id).await, memory.needs_sweep(id).await);
    assert_eq!(dynamo.is_due(id).await, memory.is_due(id).await);
}

/// Reads for the comparison at the end.
trait Reads: Store {
    async fn progress_of(&self, id: JobId) -> Option<JobProgress> {
        self.progress(id).await.unwrap()
    }

    async fn events_of(&self, job: &Job) -> Vec<ListedEvent> {
        let query = EventsQuery { tenant: &job.tenant, after: None, before: at(1_000), limit: 500 };
        let mut events = self.events(&query).await.unwrap();
        events.retain(|listed| listed.event.job().is_some_and(|of_job| of_job.job_id == job.job_id));
        events
    }

    /// Returns true if the job is on the index of the sweeper. The pages are read newest first: this job is new.
    async fn needs_sweep(&self, id: JobId) -> bool {
        let page = self.unfinished(None, ByAge::NewestFirst).await.unwrap();
        page.iter().any(|position| position.job_id == id)
    }

    /// Returns true if the job is on the index of what is due.
    async fn is_due(&self, id: JobId) -> bool {
        self.due_jobs(at(1_000), 500).await.unwrap().contains(&id)
    }

    async fn manifest_of(&self, id: JobId, group: u32) -> Option<longshore_domain::group::Manifest> {
        self.manifest(id, group).await.unwrap()
    }
}
impl<T: Store> Reads for T {}

#[test]
fn both_stores_agree_on_random_operations() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = runtime.block_on(Local::start());
    let dynamo = runtime.block_on(local.store());
    let memory = MemoryStore::default();
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let sequences = proptest::collection::vec(step(), 1..STEPS);
    let run = TestRunner::new(config).run(&sequences, |steps| {
        runtime.block_on(compare(&memory, &dynamo, &steps));
        Ok(())
    });
    run.unwrap();
}
