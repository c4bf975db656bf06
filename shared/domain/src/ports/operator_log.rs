//! Port of the log of what operators have done. Nothing in it is changed or deleted; it expires.

use std::future::Future;

use super::{Page, PortResult};
use crate::operator_log::{ActionResult, LogEntry, LoggedAction};

/// The operators' log.
pub trait OperatorLog: Send + Sync {
    /// Appends an entry, if none has its id: a repetition whose response was lost changes nothing.
    fn append(&self, entry: &LogEntry) -> impl Future<Output = PortResult<()>> + Send;
    /// Appends the result of an entry, unless it has one.
    fn append_result(&self, entry: &LogEntry, result: &ActionResult) -> impl Future<Output = PortResult<()>> + Send;
    /// Lists up to `limit` entries with their results, newest first, after the one with this id; consistent.
    fn logged_actions(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Page<LoggedAction>>> + Send;
}
