//! What is noted of dead letters.

use std::future::Future;

use super::{Page, PortResult};
use crate::dead_letter::{DeadLetter, Settled};

/// Notes of dead letters, of all tenants.
pub trait DeadLetterNotes: Send + Sync {
    /// Notes a letter, with its body if that is to be kept. Harmless twice: the first note stays.
    fn note(&self, letter: &DeadLetter, body: Option<&str>) -> impl Future<Output = PortResult<()>> + Send;
    /// Reads a note, consistently.
    fn letter(&self, id: &str) -> impl Future<Output = PortResult<Option<DeadLetter>>> + Send;
    /// Reads a letter's body; none if it was not kept, or went with its job.
    fn body(&self, letter: &DeadLetter) -> impl Future<Output = PortResult<Option<String>>> + Send;
    /// Up to `limit` notes, settled ones too, newest first, behind the one of this id.
    fn letters(&self, behind: Option<&str>, limit: usize) -> impl Future<Output = PortResult<Page<DeadLetter>>> + Send;
    /// Notes what was done about a letter, unless something was before: the note as it then is. None if there is none.
    fn settle(&self, id: &str, settled: &Settled) -> impl Future<Output = PortResult<Option<DeadLetter>>> + Send;
}
