//! Counts the calls of a tenant that create work, and the calls of its endpoints, so that their rate limits apply over all
//! processes.
//!
//! The counter of ten seconds (`TENANT#tenant` / `CALLS#window` or `ATTEMPTS#tenant` / `window`) changes by a write of its own, before anything else
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
    /// Counts a call in this counter of a window, if it is below the limit. No call of DynamoDB if there is no limit.
    async fn count(&self, operation: &'static str, key: Key, limit: u64, window: CallWindow) -> PortResult<CallCount> {
        if limit == u64::MAX {
            return Ok(CallCount::Counted);
        }
        let update = Update {
            operation,
            key,
            update: "ADD #calls :one SET #expiresAt = :expiry".into(),
            condition: "attribute_not_exists(#calls) OR #calls < :limit".into(),
            values: vec![
                (":one", number(1)),
                (":limit", number(limit)),
                (":expiry", number(window.end().plus_seconds(RETENTION_S).seconds())),
            ],
        };
        Ok(match self.update(update).await? {
            Updated::Applied(_) => CallCount::Counted,
            Updated::Refused(_) | Updated::Absent => CallCount::LimitReached,
        })
    }

    /// UpdateItem of the window's counter of attempts.
    pub(super) async fn count_webhook_attempt(&self, tenant: &TenantId, now: Timestamp) -> PortResult<CallCount> {
        let window = CallWindow::at(now);
        let key = Key::webhook_attempts(tenant, window);
        self.count("count_attempt", key, self.limits.webhook_attempts, window).await
    }
}

impl TenantCounts for DynamoStore {
    /// UpdateItem of the window's counter; no call if there is no limit.
    async fn count_call(&self, tenant: &TenantId, now: Timestamp) -> PortResult<CallCount> {
        let window = CallWindow::at(now);
        self.count("count_call", Key::work_calls(tenant, window), self.limits.work_calls, window).await
    }

    /// See `DynamoStore::remove_ended`: removes jobs from the set that are no longer active.
    async fn active_jobs(&self, tenant: &TenantId) -> PortResult<u64> {
        self.remove_ended(tenant).await
    }
}
