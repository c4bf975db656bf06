//! The dead-letter queues and records in memory.

use longshore_domain::dead_letter::{Resolution, ResolutionKind};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, Status, Stop};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Definition, JobTransitions};
use longshore_domain::tenant::TenantId;
use longshore_testing::{MemoryQueues, MemoryStore};

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// A message as received from its dead-letter queue.
fn dead_letter(queue: Queue, message_id: &str, body: String) -> Received {
    let (sent_at, message_id) = (NOW, message_id.to_owned());
    Received { queue, message_id, body, sent_at, receives: 6, source: None, group_id: None, handle: "h".into() }
}

fn chunk_of(job: &Job) -> String {
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false, keys: None };
    serde_json::to_string(&ChunkMessage {
        inline: Some("a row".into()),
        ..ChunkMessage::new(job, ChunkId::new(0, 1), &plan)
    })
    .unwrap()
}

async fn job(store: &MemoryStore) -> Job {
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
    store.create_job(&job, &Definition::new(serde_json::json!({})), None).await.unwrap();
    job
}

#[tokio::test]
async fn a_dead_letter_is_recorded_once_with_its_body_and_returned_by_every_sweep() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    let job = job(&store).await;
    let complete = CompleteMessage { job_id: job.job_id, generation: 0, resend: 0, step: 0, tenant: None, failures: 0 };
    queues.add_dead_letter(dead_letter(Queue::Chunk, "m1", chunk_of(&job)));
    queues.add_dead_letter(dead_letter(Queue::Complete, "m2", serde_json::to_string(&complete).unwrap()));
    queues.add_dead_letter(dead_letter(Queue::Create, "m3", "no message".into()));
    for later_s in [0, 60] {
        let open = read_dead_letters(&store, &queues, NOW.plus_seconds(later_s), &|| true).await;
        assert_eq!(open.chunks().await.unwrap()[0].as_ref().unwrap().inline, None, "rows are not kept in memory");
        assert!(open.creates().await.unwrap()[0].is_err());
    }
    let records = store.dead_letters(None, 9).await.unwrap().items;
    assert_eq!(
        records.iter().map(|record| (record.queue, record.seen_at)).collect::<Vec<_>>(),
        [(Queue::Create, NOW), (Queue::Complete, NOW), (Queue::Chunk, NOW)]
    );
    assert_eq!(store.body(&records[0]).await.unwrap().as_deref(), Some("no message"));
    assert_eq!(store.body(&records[2]).await.unwrap(), Some(chunk_of(&job)));
    assert_eq!(queues.dead_letters_left().len(), 3, "no dead letter is resolved");
}

#[tokio::test]
async fn a_resolved_dead_letter_is_deleted_and_not_returned() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    let job = job(&store).await;
    for id in ["m1", "m2"] {
        queues.add_dead_letter(dead_letter(Queue::Chunk, id, chunk_of(&job)));
    }
    read_dead_letters(&store, &queues, NOW, &|| true).await;
    let resolution = Resolution { kind: ResolutionKind::Replayed, by: "o".into(), at: NOW };
    store.resolve(&dead_letter::DeadLetterRecord::record_id(NOW, "m1"), &resolution).await.unwrap();
    let open = read_dead_letters(&store, &queues, NOW, &|| true).await;
    assert_eq!((open.chunks.len(), queues.dead_letters_left()), (1, vec!["m2".to_owned()]));
}

#[tokio::test]
async fn the_body_is_not_stored_if_the_job_no_longer_exists() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
    queues.add_dead_letter(dead_letter(Queue::Chunk, "m1", chunk_of(&job)));
    read_dead_letters(&store, &queues, NOW, &|| true).await;
    let record = store.dead_letters(None, 9).await.unwrap().items.remove(0);
    assert_eq!((record.message.job_id(), store.body(&record).await.unwrap()), (Some(job.job_id), None));
}

#[tokio::test]
async fn without_time_dead_letters_wait_for_the_next_sweep() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    queues.add_dead_letter(dead_letter(Queue::Chunk, "m1", chunk_of(&job(&store).await)));
    let open = read_dead_letters(&store, &queues, NOW, &|| false).await;
    assert_eq!((open.chunks.len(), queues.dead_letters_left().len()), (0, 1));
    assert_eq!(store.dead_letters(None, 9).await.unwrap().items, []);
}

#[tokio::test]
async fn more_dead_letters_than_one_receive_returns_are_all_read_in_every_sweep() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    let job = job(&store).await;
    for n in 0..25 {
        queues.add_dead_letter(dead_letter(Queue::Chunk, &format!("m{n}"), chunk_of(&job)));
    }
    for _ in 0..2 {
        let open = read_dead_letters(&store, &queues, NOW, &|| true).await;
        assert_eq!(open.chunks.len(), 25);
    }
}

/// Dead create messages of ended jobs, all of one lane.
async fn lane(store: &MemoryStore, queues: &MemoryQueues, count: usize) -> Vec<Job> {
    let mut jobs = Vec::new();
    for n in 0..count {
        let job = job(store).await;
        let body = serde_json::to_string(&CreateMessage::new(&job)).unwrap();
        queues.add_dead_letter(Received {
            group_id: Some("lane".into()),
            ..dead_letter(Queue::Create, &format!("m{n:02}"), body)
        });
        jobs.push(job);
    }
    jobs
}

async fn sweep_dead_letters(store: &MemoryStore, queues: &MemoryQueues) -> Vec<JobId> {
    queues.make_all_visible();
    let open = read_dead_letters(store, queues, NOW, &|| true).await;
    open.creates.into_iter().map(|dead_letter| dead_letter.unwrap().job_id).collect()
}

#[tokio::test]
async fn all_dead_creates_of_a_lane_are_read_and_the_first_one_stays_in_the_queue() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    let jobs = lane(&store, &queues, 32).await;
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..8 {
        for id in sweep_dead_letters(&store, &queues).await {
            seen.insert(id);
            // The sweep stops the job.
            let at = NOW;
            store.stop(id, 0, &Stop { status: Status::Failed, error: None, at }).await.unwrap();
        }
    }
    assert_eq!(seen.len(), jobs.len(), "dead letters that no sweep has read");
    let records = store.dead_letters(None, 99).await.unwrap().items;
    assert_eq!(records.len(), jobs.len());
    for record in &records {
        assert!(record.is_open() && store.body(record).await.unwrap().is_some());
    }
    let remaining = queues.dead_letters_left();
    assert!(remaining.contains(&"m00".to_owned()) && remaining.len() < 10, "{remaining:?}");
}

#[tokio::test]
async fn all_dead_letters_of_lanes_that_share_a_batch_are_read() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    for lane in ["few", "many"] {
        for n in 0..if lane == "few" { 3 } else { 30 } {
            let job = job(&store).await;
            store.stop(job.job_id, 0, &Stop { status: Status::Failed, error: None, at: NOW }).await.unwrap();
            let body = serde_json::to_string(&CreateMessage::new(&job)).unwrap();
            let dead_letter = dead_letter(Queue::Create, &format!("{lane}{n:02}"), body);
            queues.add_dead_letter(Received { group_id: Some(lane.into()), ..dead_letter });
        }
    }
    for _ in 0..8 {
        sweep_dead_letters(&store, &queues).await;
    }
    assert_eq!(store.dead_letters(None, 99).await.unwrap().items.len(), 33, "dead letters that no sweep has read");
    let remaining = queues.dead_letters_left();
    assert!(["few00", "many00"].iter().all(|first| remaining.contains(&(*first).to_owned())), "{remaining:?}");
}

#[tokio::test]
async fn dead_creates_of_unfinished_jobs_stay_in_their_queue() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    lane(&store, &queues, 12).await;
    for _ in 0..3 {
        assert_eq!(sweep_dead_letters(&store, &queues).await.len(), 10);
    }
    assert_eq!(queues.dead_letters_left().len(), 12);
}

#[tokio::test]
async fn few_dead_creates_of_one_lane_stay_in_their_queue() {
    let (store, queues) = <(MemoryStore, MemoryQueues)>::default();
    for job in lane(&store, &queues, 9).await {
        store.stop(job.job_id, 0, &Stop { status: Status::Failed, error: None, at: NOW }).await.unwrap();
    }
    for _ in 0..3 {
        assert_eq!(sweep_dead_letters(&store, &queues).await.len(), 9);
    }
}
