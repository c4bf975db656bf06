//! Turns: a splitter ends its turn after a short time, and its continuation resumes at its position.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::Cell;

use create_job::{SplitEnd, Splitter};
use longshore::job_types::builtin;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Priority, SourceFile};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, Queues};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use serde_json::json;

const KEY: &str = "uploads/default/file";

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(0) });

/// A clock that advances by a second with each read.
fn clock() -> Timestamp {
    Timestamp(CLOCK.replace(CLOCK.get() + 1_000))
}

/// Splits a file of several groups at this priority. Returns the number of deliveries, and the job.
async fn deliveries(priority: Priority) -> (usize, Job) {
    let files = MemoryFiles::default();
    let rows = (1..=40_000).map(|n| format!("{n},name of row {n}\n"));
    files.put(KEY, std::iter::once("id,name\n".to_owned()).chain(rows).collect::<String>());
    let info = files.info(KEY).await.unwrap().unwrap();
    let (size_bytes, etag) = (info.size_bytes, info.etag);
    let source = SourceFile { key: KEY.into(), size_bytes, etag, format: Format::Csv, name: "file.csv".into() };
    let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "import", Timestamp(0));
    let job = Job { source: Some(source), priority, ..job };
    let options = json!({"dataset": "people", "key": "id", "mode": "validate"});
    let (store, queues) = (MemoryStore::default(), MemoryQueues::default());
    store.create_job(&job, &Definition { options, columns: None }, None).await.unwrap();
    let ports = Ports { store: store.clone(), queues: queues.clone(), files };
    let registry = builtin(MemoryRecords::default());
    let splitter = Splitter { ports: &ports, registry: &registry, clock };
    let create = CreateMessage { tenant: None, job_id: job.job_id, generation: 0, position: 0, resend: 0, failures: 0 };
    queues.send_create(&create).await.unwrap();
    for delivery in 1..100 {
        let message = queues.take_creates().pop().unwrap();
        // The invocation has no deadline.
        if splitter.split(&message, Timestamp(i64::MAX)).await.unwrap() == SplitEnd::Ended {
            assert!(queues.take_chunks().iter().all(|sent| sent.message.priority == priority));
            return (delivery, store.job(job.job_id).await.unwrap().unwrap());
        }
    }
    panic!("the split does not end");
}

#[tokio::test]
async fn jobs_of_any_priority_are_split_in_turns_into_the_same_items() {
    for priority in Priority::ALL {
        let (deliveries, job) = deliveries(priority).await;
        assert_eq!((job.split.item_count, job.split.ended), (40_000, true), "{priority:?}");
        assert!(deliveries > 1, "{priority:?}: {deliveries} deliveries");
    }
}
