//! What is noted of dead letters.

use std::future::Future;

use super::{Page, PortResult};
use crate::dead_letter::{DeadLetterRecord, Resolution};

/// Notes of dead letters, of all tenants.
pub trait DeadLetterRecords: Send + Sync {
    /// Notes a letter, with its body if that is to be kept. Harmless twice: the first note stays.
    fn record(&self, dead_letter: &DeadLetterRecord, body: Option<&str>)
    -> impl Future<Output = PortResult<()>> + Send;
    /// Reads a note, consistently.
    fn dead_letter(&self, id: &str) -> impl Future<Output = PortResult<Option<DeadLetterRecord>>> + Send;
    /// Reads a letter's body; none if it was not kept, or went with its job.
    fn body(&self, dead_letter: &DeadLetterRecord) -> impl Future<Output = PortResult<Option<String>>> + Send;
    /// Up to `limit` notes, settled ones too, newest first, behind the one of this id.
    fn dead_letters(
        &self,
        behind: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Page<DeadLetterRecord>>> + Send;
    /// Notes what was done about a letter, unless something was before: the note as it then is. None if there is none.
    fn resolve(
        &self,
        id: &str,
        resolution: &Resolution,
    ) -> impl Future<Output = PortResult<Option<DeadLetterRecord>>> + Send;
}
