//! Tests of concurrency limits.

use futures::FutureExt;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::Job;
use longshore_domain::tenant::TenantId;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

use super::*;

/// One delivery gets no permit, and its message is deleted. The other delivery gets a permit.
#[test]
fn a_chunk_stays_parked_if_another_delivery_of_it_gets_a_permit() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let ports = Ports { store, queues, files };
    let limiter = ConcurrencyLimiter { ports: &ports, job_type: "limited", limit: 1, clock: || Timestamp(0) };
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "limited", Timestamp(0));
    let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
    let message = ChunkMessage::new(&job, ChunkId::default(), &plan);
    let parked = ParkedChunk::new(&job, &message, 1);
    let park = || limiter.park(&parked, Timestamp(9_000)).now_or_never().unwrap().unwrap();
    let first = park();
    assert!(first.is_some() && park().is_none(), "only one permit is free");
    limiter.release(&first.unwrap()).now_or_never().unwrap();
    let second = park().unwrap();
    limiter.release(&second).now_or_never().unwrap();
    assert_eq!(limiter.wake().now_or_never().unwrap().unwrap(), 1, "the delivery without a permit is woken");
}

#[test]
fn the_tenants_take_turns() {
    let chunk = |tenant: &'static str, at: i64| {
        let job = Job::waiting(JobId::generate(), TenantId::from_static(tenant), "limited", Timestamp(at));
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
        ParkedChunk::new(&job, &ChunkMessage::new(&job, ChunkId::default(), &plan), 1)
    };
    let chunks = [("a", 1), ("a", 2), ("a", 3), ("b", 4), ("a", 5), ("c", 6), ("b", 7)];
    let ordered = in_turns_of_tenants(chunks.map(|(tenant, at)| chunk(tenant, at)).into());
    assert_eq!(ordered.iter().map(|chunk| chunk.turn.0).collect::<Vec<_>>(), [1, 4, 6, 2, 7, 3, 5]);
}
