//! Splits during a pause of an operator.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support {
    pub(crate) mod turns;
}

use create_job::{SplitEnd, Splitter};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::{JobId, PauseId};
use longshore_domain::job::{Job, Status};
use longshore_domain::message::CreateMessage;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{Definition, JobStore, JobTransitions, PauseRecords};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::json;
use support::turns::{Each, clock};

#[tokio::test]
async fn a_message_during_a_pause_splits_nothing_and_resets_the_count_of_pushes() {
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "each", Timestamp(0));
    store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    store.count_resend(&job, Timestamp(1)).await.unwrap();
    let scope = PauseScope::JobType("each".to_owned());
    let pause =
        Pause { id: PauseId::generate(), scope, since: Timestamp(0), until: Timestamp(i64::MAX), by: "o".into() };
    store.put_pause(&pause).await.unwrap();
    let (ports, registry) = (Ports { store, queues, files }, Registry::default().with(Each));
    let splitter = Splitter { ports: &ports, registry: &registry, clock };
    let end = splitter.split(&CreateMessage::new(&job), Timestamp(i64::MAX)).await.unwrap();
    assert_eq!(end, SplitEnd::Paused);
    let stored = ports.store.job(job.job_id).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.split.groups, stored.resends), (Status::Waiting, 0, 0));
}
