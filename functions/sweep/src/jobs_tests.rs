//! The oldest waiting job of a sweep.

use longshore::chunk::DefinitionCache;
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::PauseId;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{Definition, JobStore, PauseRecords};
use longshore_domain::tenant::TenantId;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// Sweeps two waiting jobs: one of acme, a quarter of an hour old, and one of umbrella, five minutes old. Returns the
/// age of the oldest one that counts, in seconds.
async fn oldest_age_s(paused: Option<PauseScope>) -> Option<i64> {
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    for (tenant, age_s) in [("acme", 900), ("umbrella", 300)] {
        let created_at = NOW.plus_seconds(-age_s);
        let job = Job::waiting(JobId::generate(), TenantId::from_static(tenant), "import", created_at);
        ports.store.create_job(&job, &Definition::new(serde_json::json!({})), None).await.unwrap();
    }
    if let Some(scope) = paused {
        let (since, until) = (NOW.plus_seconds(-60), NOW.plus_seconds(60));
        let pause = Pause { id: PauseId::generate(), scope, since, until, by: "olga".to_owned() };
        ports.store.put_pause(&pause).await.unwrap();
    }
    let (registry, definitions, deadline) = (Registry::default(), DefinitionCache::default(), NOW.plus_seconds(50));
    let (clock, removal_ms) = (|| NOW, 0);
    let executor =
        Executor { ports: &ports, registry: &registry, definitions: &definitions, clock, deadline, removal_ms };
    let mut sweep = JobSweep::new(executor, 60);
    let end = sweep.turn(deadline, &mut SweepSummary::default()).await.unwrap();
    assert_eq!((end, sweep.seen.len()), (TurnEnd::AllVisited, 2));
    sweep.waiting_since.map(|since| NOW.millis_since(since) / 1_000)
}

#[tokio::test]
async fn a_job_that_a_pause_holds_is_not_the_oldest_waiting_job() {
    let tenant = |name| PauseScope::Tenant(TenantId::from_static(name));
    for (paused, expected) in [
        (None, Some(900)),
        (Some(tenant("umbrella")), Some(900)),
        (Some(tenant("acme")), Some(300)),
        (Some(PauseScope::JobType("import".to_owned())), None),
    ] {
        assert_eq!(oldest_age_s(paused.clone()).await, expected, "{paused:?}");
    }
}
