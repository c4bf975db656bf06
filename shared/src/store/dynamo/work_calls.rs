//! The rate limits of a tenant over all processes: calls that create work, and calls of its endpoints.
//!
//! The counter of ten seconds (`TENANT#tenant` / `CALLS#window`) changes by a write of its own, before anything else
//! is written, compiled or started. So does the next time for a call of an endpoint (`ATTEMPTS#tenant` / `NEXT`). A write
//! whose response was lost may count twice, which costs its tenant one call.

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::cost::{Month, MonthCost};
use longshore_domain::ports::{CallCount, CallTimes, CallWindow, PortResult, TenantCounts};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::item::{number, read_number};
use super::keys::Key;
use super::update::{Update, Updated};
use super::{DynamoStore, failed};

/// Seconds for which a counter is kept after its window: a call may come late, and from a slow clock.
const RETENTION_S: i64 = 600;

/// Seconds for which the next time is kept after the last reservation.
const RESERVED_S: i64 = 7 * 86_400;

/// Attempts to reserve a time. Two suffice, because the next time never goes back, unless clocks differ.
const RESERVATIONS: usize = 4;

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

    /// Reserves the next time for a call of a tenant's endpoints: one UpdateItem if no call waits, else two. DynamoDB's
    /// expressions have no maximum, so the time after a pause and the one after another time are different updates.
    pub(super) async fn reserve_time(&self, tenant: &TenantId, now: Timestamp) -> PortResult<Timestamp> {
        const RESERVE: &str = "reserve_call";
        let Some(times) = CallTimes::new(self.limits.webhook_calls) else { return Ok(now) };
        let now_us = number(now.0.saturating_mul(1_000));
        let update = |update: &str, condition: &str, mut values: Vec<(&'static str, AttributeValue)>| {
            values.push((":now", now_us.clone()));
            values.push((":expiry", number(now.plus_seconds(RESERVED_S).seconds())));
            Update {
                operation: RESERVE,
                key: Key::next_call(tenant),
                update: update.into(),
                condition: condition.into(),
                values,
            }
        };
        for _ in 0..RESERVATIONS {
            let after_pause = update(
                "SET #nextUs = :next, #expiresAt = :expiry",
                "attribute_not_exists(#nextUs) OR #nextUs <= :now",
                vec![(":next", number(times.after_reservation(None, now)))],
            );
            let after_call = update(
                "ADD #nextUs :interval SET #expiresAt = :expiry",
                "#nextUs > :now",
                vec![(":interval", number(times.interval_us))],
            );
            for update in [after_pause, after_call] {
                if let Updated::Applied(item) = self.update(update).await? {
                    let next_us = read_number(&item, "nextUs").map_err(failed(RESERVE))?;
                    return Ok(times.time_of(next_us, now));
                }
            }
        }
        Ok(now)
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

    /// See `DynamoStore::query_month`.
    async fn month_costs(&self, month: &Month, tenant: Option<&TenantId>) -> PortResult<Vec<MonthCost>> {
        self.query_month(month, tenant).await
    }
}
