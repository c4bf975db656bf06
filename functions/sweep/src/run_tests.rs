//! A sweep over in-memory ports, with a clock that moves.

use std::cell::Cell;

use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId, PauseId};
use longshore_domain::job::{ChunkQueue, Job, JobTimes};
use longshore_domain::message::{ChunkMessage, CompleteMessage, WebhookMessage};
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{DeadLetter, Definition, JobStore, JobTransitions, PauseRecords, PortError};
use longshore_domain::tenant::TenantId;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

use super::*;

const START: Timestamp = Timestamp(1_700_000_000_000);

thread_local! {
    static NOW: Cell<Timestamp> = const { Cell::new(START) };
}

/// A clock that advances by a second with each read.
fn clock() -> Timestamp {
    NOW.set(NOW.get().plus_seconds(1));
    NOW.get()
}

/// More dead letters than time allows.
struct FakeDeadLetters(ChunkMessage);

impl DeadLetters for FakeDeadLetters {
    async fn creates(&self) -> PortResult<Vec<DeadLetter<CreateMessage>>> {
        Ok(Vec::new())
    }

    async fn chunks(&self) -> PortResult<Vec<DeadLetter<ChunkMessage>>> {
        Ok((0..500).map(|_| Ok(self.0.clone())).collect())
    }
}

#[tokio::test]
async fn every_job_is_visited_regardless_of_the_number_of_dead_letters() {
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", START);
    let definition = Definition::new(serde_json::json!({}));
    ports.store.create_job(&job, &definition, None).await.unwrap();
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false, keys: None };
    let dead_letters = FakeDeadLetters(ChunkMessage::new(&job, ChunkId::new(0, 1), &plan));
    let sweep = Sweep { ports, dead_letters, stall_s: 60, retention_days: 14, clock };
    let summary = sweep.run(START.plus_seconds(200)).await;
    assert_eq!((summary.jobs, summary.dead_letters), (1, 500));
}

/// No dead letters.
pub(crate) struct NoDeadLetters;

impl DeadLetters for NoDeadLetters {
    async fn creates(&self) -> PortResult<Vec<DeadLetter<CreateMessage>>> {
        Ok(Vec::new())
    }

    async fn chunks(&self) -> PortResult<Vec<DeadLetter<ChunkMessage>>> {
        Ok(Vec::new())
    }
}

thread_local! {
    static SLOW: Cell<Timestamp> = const { Cell::new(START) };
}

/// A clock that advances by 25 milliseconds with each read.
fn slow_clock() -> Timestamp {
    SLOW.set(Timestamp(SLOW.get().0 + 25));
    SLOW.get()
}

/// Stores 3,000 waiting jobs, of which only job number `lost` needs a push. Returns that job.
async fn unfinished_jobs(store: &MemoryStore, lost: usize) -> JobId {
    let mut lost_id = None;
    for n in 0..3_000 {
        let created_at = START.plus_seconds(n as i64 - 10_000);
        let updated_at = if n == lost { created_at } else { START.plus_seconds(100_000) };
        let job = Job {
            times: JobTimes { created_at, updated_at, ..JobTimes::accepted(created_at) },
            ..Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", created_at)
        };
        store.create_job(&job, &Definition::new(serde_json::json!({})), None).await.unwrap();
        if n == lost {
            lost_id = Some(job.job_id);
        }
    }
    lost_id.unwrap()
}

/// Runs sweeps of 50 seconds until a lost job is pushed, at most ten. Returns their number.
async fn sweeps_until_pushed(lost: usize) -> usize {
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    let id = unfinished_jobs(&ports.store, lost).await;
    let sweep =
        Sweep { ports: ports.clone(), dead_letters: NoDeadLetters, stall_s: 60, retention_days: 14, clock: slow_clock };
    for sweeps in 1..=10 {
        sweep.run(slow_clock().plus_seconds(50)).await;
        if ports.queues.take_creates().iter().any(|create| create.job_id == id) {
            return sweeps;
        }
    }
    usize::MAX
}

#[tokio::test]
async fn the_newest_lost_job_is_pushed_by_the_first_sweep_despite_too_many_jobs() {
    assert_eq!(sweeps_until_pushed(2_999).await, 1);
}

#[tokio::test]
async fn every_lost_job_is_pushed_within_six_sweeps() {
    for lost in [0, 1_500, 2_500] {
        let sweeps = sweeps_until_pushed(lost).await;
        assert!(sweeps <= 6, "job {lost}: {sweeps} sweeps");
    }
}

#[tokio::test]
async fn a_scheduled_job_is_put_into_its_queue_once_its_time_has_come() {
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    let now = slow_clock();
    let mut ids = Vec::new();
    for (start_s, is_deleted) in [(-5, false), (-4, true), (3_600, false)] {
        let mut job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", now);
        (job.is_scheduled, job.times.start_at) = (true, Some(now.plus_seconds(start_s)));
        ports.store.create_job(&job, &Definition::new(serde_json::json!({})), None).await.unwrap();
        if is_deleted {
            ports.store.delete(job.job_id, now).await.unwrap();
        }
        ids.push(job.job_id);
    }
    let sweep =
        Sweep { ports: ports.clone(), dead_letters: NoDeadLetters, stall_s: 60, retention_days: 14, clock: slow_clock };
    let summary = sweep.run(slow_clock().plus_seconds(50)).await;
    assert_eq!(summary.enqueued, 1);
    assert_eq!(ports.queues.take_creates().into_iter().map(|create| create.job_id).collect::<Vec<_>>(), ids[..1]);
    let summary = sweep.run(slow_clock().plus_seconds(50)).await;
    assert_eq!((summary.enqueued, ports.queues.take_creates().len()), (0, 0));
}

/// A dead create message, and nothing else.
struct DeadSplit(CreateMessage);

impl DeadLetters for DeadSplit {
    async fn creates(&self) -> PortResult<Vec<DeadLetter<CreateMessage>>> {
        Ok(vec![Ok(self.0.clone())])
    }

    async fn chunks(&self) -> PortResult<Vec<DeadLetter<ChunkMessage>>> {
        Ok(Vec::new())
    }
}

/// Returns a running job whose splitter has just committed a group, and which was pushed so many times.
async fn splitting(store: &MemoryStore, pushes: u32) -> Job {
    NOW.set(START);
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", START);
    store.create_job(&job, &Definition::new(serde_json::json!({})), None).await.unwrap();
    store.begin(job.job_id, 0, START).await.unwrap();
    for _ in 0..pushes {
        let job = store.job(job.job_id).await.unwrap().unwrap();
        store.count_resend(&job, START).await.unwrap();
    }
    job
}

/// Sweeps with the dead create message of a job, which is then without progress for about so many seconds. Returns true
/// if the job is stopped.
async fn is_stopped_by_its_dead_split(store: &MemoryStore, job: &Job, idle_s: i64) -> bool {
    NOW.set(START.plus_seconds(idle_s - 20));
    let ports = Ports { store: store.clone(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    let dead_letters = DeadSplit(CreateMessage::new(job));
    let sweep = Sweep { ports, dead_letters, stall_s: 60, retention_days: 14, clock };
    sweep.run(clock().plus_seconds(200)).await;
    store.job(job.job_id).await.unwrap().unwrap().stop.is_some()
}

#[tokio::test]
async fn a_dead_split_stops_its_job_only_without_progress_of_another_splitter() {
    for (pushes, idle_s, stopped) in [(0, 70, false), (1, 400, false), (2, 239, false), (2, 250, true)] {
        let store = MemoryStore::default();
        let job = splitting(&store, pushes).await;
        let is_stopped = is_stopped_by_its_dead_split(&store, &job, idle_s).await;
        assert_eq!(is_stopped, stopped, "{idle_s} s without progress, {pushes} pushes");
    }
}

#[tokio::test]
async fn a_dead_split_does_not_stop_a_job_that_a_pause_holds() {
    let tenant = || PauseScope::Tenant(TenantId::from_static("t"));
    let job_type = || PauseScope::JobType("import".to_owned());
    let another = || PauseScope::JobType("export".to_owned());
    for (scope, stopped) in [(tenant(), false), (job_type(), false), (another(), true)] {
        let store = MemoryStore::default();
        let job = splitting(&store, 2).await;
        let (id, until, by) = (PauseId::generate(), START.plus_seconds(900), "olga".to_owned());
        store.put_pause(&Pause { id, scope: scope.clone(), since: START, until, by }).await.unwrap();
        let is_stopped = is_stopped_by_its_dead_split(&store, &job, 250).await;
        assert_eq!(is_stopped, stopped, "{scope:?}");
    }
}

/// A queue drops a message whose deduplication id was used in the last five minutes.
#[tokio::test]
async fn a_push_after_a_pause_is_delivered_although_its_number_was_used() {
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    let job = splitting(&ports.store, 0).await;
    let sweep = Sweep { ports: ports.clone(), dead_letters: NoDeadLetters, stall_s: 60, retention_days: 14, clock };
    for idle_s in [100, 200] {
        NOW.set(START.plus_seconds(idle_s));
        sweep.run(clock().plus_seconds(200)).await;
        let sent = ports.queues.take_creates();
        assert_eq!(sent.iter().map(|message| message.resend).collect::<Vec<_>>(), [1], "after {idle_s} s");
        ports.store.reset_split_resends(job.job_id, 0).await.unwrap();
    }
}

/// Queues that refuse every message about group 0.
#[derive(Clone)]
struct Refusing(MemoryQueues);

impl Queues for Refusing {
    async fn send_create(&self, message: &CreateMessage) -> PortResult<()> {
        self.0.send_create(message).await
    }

    async fn send_prepare(&self, message: &CreateMessage) -> PortResult<()> {
        self.0.send_prepare(message).await
    }

    async fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> PortResult<()> {
        if messages.iter().any(|message| message.group == 0) {
            return Err(PortError { service: "queues", operation: "send_chunks", source: "refused".into() });
        }
        self.0.send_chunks(messages, delay_s).await
    }

    async fn send_complete(&self, message: &CompleteMessage) -> PortResult<()> {
        self.0.send_complete(message).await
    }

    async fn send_webhooks(&self, messages: &[WebhookMessage], delay_s: i32) -> PortResult<()> {
        self.0.send_webhooks(messages, delay_s).await
    }
}

impl QueueDepth for Refusing {
    async fn chunks(&self, _: ChunkQueue) -> PortResult<u64> {
        Ok(0)
    }

    async fn webhooks(&self) -> PortResult<u64> {
        self.0.webhooks().await
    }
}

#[tokio::test]
async fn a_failed_push_does_not_prevent_other_pushes_of_the_job() {
    NOW.set(START.plus_seconds(100));
    let (store, queues) = (MemoryStore::default(), MemoryQueues::default());
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", START);
    store.create_job(&job, &Definition::new(serde_json::json!({})), None).await.unwrap();
    store.begin(job.job_id, 0, START).await.unwrap();
    for group in 0..2 {
        let job = store.job(job.job_id).await.unwrap().unwrap();
        let chunks = vec![ChunkPlan { first: 1, items: 2, start: 0, end: 9, oversize: false, keys: None }];
        let plan = GroupPlan::from_file(0, Manifest { group, chunks }, u64::from(group) * 9..u64::from(group + 1) * 9);
        store.commit_group(&job, &plan, START).await.unwrap();
    }
    let ports = Ports { store, queues: Refusing(queues.clone()), files: MemoryFiles::default() };
    let summary = Sweep { ports, dead_letters: NoDeadLetters, stall_s: 60, retention_days: 14, clock }
        .run(START.plus_seconds(900))
        .await;
    assert_eq!(summary.failures, 1);
    assert_eq!(queues.take_chunks().iter().map(|sent| sent.message.group).collect::<Vec<_>>(), [1]);
    assert_eq!(queues.take_creates().len(), 1, "the split is resumed too");
}
