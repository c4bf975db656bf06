//! Port of the dead-letter records.

use std::future::Future;

use super::{Page, PortResult};
use crate::dead_letter::{DeadLetterRecord, Resolution};

/// Dead-letter records of all tenants.
pub trait DeadLetterRecords: Send + Sync {
    /// Records a dead letter, with its body if that is to be kept. Idempotent: the first record stays.
    fn record(&self, dead_letter: &DeadLetterRecord, body: Option<&str>)
    -> impl Future<Output = PortResult<()>> + Send;
    /// Reads a record, consistently.
    fn dead_letter(&self, id: &str) -> impl Future<Output = PortResult<Option<DeadLetterRecord>>> + Send;
    /// Reads a dead letter's body; `None` if it was not kept, or was removed with its job.
    fn body(&self, dead_letter: &DeadLetterRecord) -> impl Future<Output = PortResult<Option<String>>> + Send;
    /// Lists up to `limit` records, resolved ones included, newest first, after the one with this id.
    fn dead_letters(
        &self,
        behind: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Page<DeadLetterRecord>>> + Send;
    /// Records the resolution unless one exists. Returns the stored record, or `None` if the id is unknown.
    fn resolve(
        &self,
        id: &str,
        resolution: &Resolution,
    ) -> impl Future<Output = PortResult<Option<DeadLetterRecord>>> + Send;
}
