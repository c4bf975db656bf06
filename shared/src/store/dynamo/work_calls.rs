//! Counts the calls of a tenant that make work, so that their rate holds over all processes.
//!
//! The counter of ten seconds (`TENANT#tenant` / `CALLS#window`) moves by a write of its own, before anything else is
//! written, compiled or begun. A call whose reply was lost may count twice, which costs its tenant one call of the window.

use longshore_domain::ports::{CallWindow, PortResult, TenantCounts};
use longshore_domain::time_stamp::Timestamp;

use super::DynamoStore;
use super::item::number;
use super::keys::Key;
use super::update::{Update, Updated};

/// A counter stays for so long after its window: a call may come late, and by a clock that is slow.
const KEPT_SECONDS: i64 = 600;

impl DynamoStore {
    /// Update of the window's counter, if it is below the limit. None if there is no limit.
    fn work_call(&self, tenant: &str, now: Timestamp) -> Option<Update> {
        let window = CallWindow::at(now);
        (self.limits.work_calls < u64::MAX).then(|| Update {
            operation: "work_calls",
            key: Key::work_calls(tenant, window),
            update: "ADD #calls :one SET #expiresAt = :expiry".into(),
            condition: "attribute_not_exists(#calls) OR #calls < :limit".into(),
            values: vec![
                (":one", number(1)),
                (":limit", number(self.limits.work_calls)),
                (":expiry", number(window.end().plus_seconds(KEPT_SECONDS).seconds())),
            ],
        })
    }
}

impl TenantCounts for DynamoStore {
    /// UpdateItem of the window's counter; nothing if there is no limit.
    async fn count_call(&self, tenant: &str, now: Timestamp) -> PortResult<bool> {
        let Some(update) = self.work_call(tenant, now) else { return Ok(true) };
        Ok(matches!(self.update(update).await?, Updated::Took(_)))
    }

    /// See `forget_ended`: it takes out of the set what is not active any more.
    async fn active_jobs(&self, tenant: &str) -> PortResult<u64> {
        self.forget_ended(tenant).await
    }
}
