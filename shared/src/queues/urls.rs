//! The URLs of a function's queues.

use std::collections::BTreeMap;

use longshore_domain::job::ChunkQueue;
use longshore_domain::ports::PortResult;

use super::{NoQueueUrl, failed};

/// URLs of the queues; each function has those that it sends to.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct QueueUrls {
    /// Queue of create-job messages.
    pub create: Option<String>,
    /// Queue of jobs whose file must be prepared.
    pub prepare: Option<String>,
    /// Queues of chunks. That of registered job types also has the pings to their handlers.
    pub chunks: BTreeMap<ChunkQueue, String>,
    /// Queue of complete-job messages.
    pub complete: Option<String>,
    /// Queue of messages about webhooks.
    pub webhooks: Option<String>,
}

impl QueueUrls {
    pub(super) fn create(&self, operation: &'static str) -> PortResult<&str> {
        self.create.as_deref().ok_or_else(|| NoQueueUrl("create".to_owned())).map_err(failed(operation))
    }

    pub(super) fn prepare(&self, operation: &'static str) -> PortResult<&str> {
        self.prepare.as_deref().ok_or_else(|| NoQueueUrl("prepare".to_owned())).map_err(failed(operation))
    }

    pub(super) fn chunks(&self, queue: ChunkQueue, operation: &'static str) -> PortResult<&str> {
        let url = self.chunks.get(&queue).ok_or_else(|| NoQueueUrl(format!("{}-chunk", queue.as_str())));
        url.map(String::as_str).map_err(failed(operation))
    }

    pub(super) fn webhooks(&self, operation: &'static str) -> PortResult<&str> {
        self.webhooks.as_deref().ok_or_else(|| NoQueueUrl("webhook".to_owned())).map_err(failed(operation))
    }

    pub(super) fn complete(&self, operation: &'static str) -> PortResult<&str> {
        self.complete.as_deref().ok_or_else(|| NoQueueUrl("complete".to_owned())).map_err(failed(operation))
    }
}
