//! Counts the calls of a tenant that create work, so that their rate limit applies over all processes.
//!
//! The counter of ten seconds (`TENANT#tenant` / `CALLS#window`) changes by a write of its own, before anything else
//! is written, compiled or started. A call whose response was lost may count twice, which costs its tenant one call of
//! the window.

use longshore_domain::ports::{CallCount, CallWindow, PortResult, TenantCounts};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::DynamoStore;
use super::item::number;
use super::keys::Key;
use super::update::{Update, Updated};

/// Seconds for which a counter is kept after its window: a call may come late, and from a slow clock.
const RETENTION_S: i64 = 600;

impl DynamoStore {
    /// Update of the window's counter, if it is below the limit. `None` if there is no limit.
    fn work_call(&self, tenant: &TenantId, now: Timestamp) -> Option<Update> {
        let window = CallWindow::at(now);
        (self.limits.work_calls < u64::MAX).then(|| Update {
            operation: "work_calls",
            key: Key::work_calls(tenant, window),
            update: "ADD #calls :one SET #expiresAt = :expiry".into(),
            condition: "attribute_not_exists(#calls) OR #calls < :limit".into(),
            values: vec![
                (":one", number(1)),
                (":limit", number(self.limits.work_calls)),
                (":expiry", number(window.end().plus_seconds(RETENTION_S).seconds())),
            ],
        })
    }
}

impl TenantCounts for DynamoStore {
    /// UpdateItem of the window's counter; no call if there is no limit.
    async fn count_call(&self, tenant: &TenantId, now: Timestamp) -> PortResult<CallCount> {
        let Some(update) = self.work_call(tenant, now) else { return Ok(CallCount::Counted) };
        Ok(match self.update(update).await? {
            Updated::Applied(_) => CallCount::Counted,
            Updated::Refused(_) | Updated::Absent => CallCount::LimitReached,
        })
    }

    /// See `DynamoStore::remove_ended`: removes jobs from the set that are no longer active.
    async fn active_jobs(&self, tenant: &TenantId) -> PortResult<u64> {
        self.remove_ended(tenant).await
    }
}
