//! The operators' log in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use longshore_domain::operator_log::{ActionResult, LogEntry, LoggedAction};
use longshore_domain::ports::{OperatorLog, Page, PortResult};

/// A log in memory; clones share their entries.
#[derive(Clone, Debug, Default)]
pub struct MemoryOperatorLog(Arc<Mutex<BTreeMap<String, LoggedAction>>>);

impl OperatorLog for MemoryOperatorLog {
    async fn append(&self, entry: &LogEntry) -> PortResult<()> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.entry(entry.id.clone()).or_insert_with(|| LoggedAction { entry: entry.clone(), result: None });
        Ok(())
    }

    async fn append_result(&self, entry: &LogEntry, result: &ActionResult) -> PortResult<()> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(logged) = entries.get_mut(&entry.id) {
            logged.result.get_or_insert_with(|| result.clone());
        }
        Ok(())
    }

    async fn logged_actions(&self, after: Option<&str>, limit: usize) -> PortResult<Page<LoggedAction>> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let older = entries.values().rev().filter(|logged| after.is_none_or(|id| logged.entry.id.as_str() < id));
        let mut items: Vec<_> = older.take(limit + 1).cloned().collect();
        let has_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| has_more).map(|last| last.entry.id.clone());
        Ok(Page { items, next })
    }
}
