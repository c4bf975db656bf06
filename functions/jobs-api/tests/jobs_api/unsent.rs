//! A job whose create message cannot be sent is still accepted.

use axum::body::Body;
use axum::http::Request;
use jobs_api::{Backend, router};
use lambda_http::tower::ServiceExt;
use longshore_domain::job::{ChunkQueue, Stage};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, PingMessage, WebhookMessage};
use longshore_domain::ports::{JobStore, PingQueue, PortError, PortResult, QueueDepth, Queues};
use longshore_testing::{MemoryFiles, MemoryRecords, MemoryStore};

use crate::world::World;

/// Queues that accept no message.
#[derive(Copy, Clone)]
pub(crate) struct Closed;

impl Closed {
    fn refuse() -> PortResult<()> {
        Err(PortError { service: "queues", operation: "send", source: "closed".into() })
    }
}

impl Queues for Closed {
    async fn send_create(&self, _: &CreateMessage) -> PortResult<()> {
        Self::refuse()
    }

    async fn send_prepare(&self, _: &CreateMessage) -> PortResult<()> {
        Self::refuse()
    }

    async fn send_chunks(&self, _: &[ChunkMessage], _: i32) -> PortResult<()> {
        Self::refuse()
    }

    async fn send_complete(&self, _: &CompleteMessage) -> PortResult<()> {
        Self::refuse()
    }

    async fn send_webhooks(&self, _: &[WebhookMessage], _: i32) -> PortResult<()> {
        Self::refuse()
    }
}

impl PingQueue for Closed {
    async fn send_ping(&self, _: &PingMessage) -> PortResult<()> {
        Self::refuse()
    }
}

impl QueueDepth for Closed {
    async fn chunks(&self, _: ChunkQueue) -> PortResult<u64> {
        Err(PortError { service: "queues", operation: "chunks", source: "closed".into() })
    }

    async fn webhooks(&self) -> PortResult<u64> {
        Err(PortError { service: "queues", operation: "webhooks", source: "closed".into() })
    }
}

pub(crate) struct ClosedBackend;

impl Backend for ClosedBackend {
    type Store = MemoryStore;
    type Queues = Closed;
    type Files = MemoryFiles;
    type Records = MemoryRecords;
    type JobTypes = MemoryStore;
    type Pings = Closed;
}

#[tokio::test]
async fn a_job_whose_message_is_lost_is_accepted_for_the_sweeper() {
    let world = World::default();
    let body = Body::from(world.import().await.to_string());
    let request = Request::post("/api/jobs").header("content-type", "application/json").body(body).unwrap();
    let response = router(world.api::<ClosedBackend>(Closed)).oneshot(world.signed_in(request)).await.unwrap();
    assert_eq!(response.status(), 202);
    assert_eq!(world.unfinished().await.len(), 1);
}

#[tokio::test]
async fn a_cancel_or_delete_whose_message_is_lost_is_accepted_for_the_sweeper() {
    let world = World::default();
    let id = world.job().await;
    for (method, path, status) in
        [("POST", format!("/api/jobs/{id}/cancel"), 202), ("DELETE", format!("/api/jobs/{id}"), 204)]
    {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let response = router(world.api::<ClosedBackend>(Closed)).oneshot(world.signed_in(request)).await.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(world.store.job(id).await.unwrap().unwrap().stage, Stage::Stopping);
    }
    assert_eq!(world.unfinished().await, [id]);
}
