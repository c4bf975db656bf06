//! Pushes over in-memory ports.

use longshore_domain::group::{ChunkPlan, GroupPlan};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{Definition, JobStore, JobTransitions, Ledger};
use longshore_domain::tenant::TenantId;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

type MemoryPorts = Ports<MemoryStore, MemoryQueues, MemoryFiles>;

fn ports() -> MemoryPorts {
    Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() }
}

async fn push(ports: &MemoryPorts, job: &Job, action: Action) {
    let (registry, definitions) = (Registry::default(), DefinitionCache::default());
    let executor = Executor {
        ports,
        registry: &registry,
        definitions: &definitions,
        clock: || NOW,
        deadline: NOW.plus_seconds(60),
        removal_ms: 60_000,
    };
    executor.act(job, action).await.unwrap();
}

/// A job with one group of one chunk.
async fn job(ports: &MemoryPorts) -> Job {
    let (store, job) = (&ports.store, Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW));
    store.create_job(&job, &Definition::new(serde_json::json!({})), None).await.unwrap();
    store.begin(job.job_id, 0, NOW).await.unwrap();
    let job = store.job(job.job_id).await.unwrap().unwrap();
    let chunks = vec![ChunkPlan { first: 1, items: 2, start: 0, end: 9, oversize: false, keys: None }];
    let plan = GroupPlan::from_file(0, Manifest { group: 0, chunks }, 0..9);
    store.commit_group(&job, &plan, NOW).await.unwrap();
    store.job(job.job_id).await.unwrap().unwrap()
}

/// The second sweep has read the state after the first one's push. Its count is refused like that of a sweep whose
/// first response was lost.
#[tokio::test]
async fn a_push_is_sent_even_if_its_count_is_refused() {
    let ports = ports();
    let job = job(&ports).await;
    for time in 1..=2 {
        push(&ports, &job, Action::SendChunks { group: 0, seen: 0, chunks: vec![0] }).await;
        assert_eq!(ports.queues.take_chunks().len(), 1, "time {time}");
    }
    let stored = ports.store.chunk_state(job.job_id, 0).await.unwrap().unwrap();
    assert_eq!(stored.group.resends, 1, "both sweeps have pushed at the same time");
}

/// The queue accepts only one of two control messages with the same number; the next one has another number.
#[tokio::test]
async fn each_push_of_a_control_message_has_another_number() {
    let ports = ports();
    let mut job = job(&ports).await;
    for number in 1..=2 {
        push(&ports, &job, Action::SendComplete).await;
        assert_eq!(ports.queues.take_completes().iter().map(|m| m.resend).collect::<Vec<_>>(), [number]);
        job = ports.store.job(job.job_id).await.unwrap().unwrap();
    }
    push(&ports, &job, Action::SendCreate).await;
    assert_eq!(ports.queues.take_creates().iter().map(|m| m.resend).collect::<Vec<_>>(), [3]);
}
