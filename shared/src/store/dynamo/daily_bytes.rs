//! Counts a tenant's bytes per day, so that the limits are exact: those of its uploads, and those of the files of its
//! jobs.
//!
//! The counter (`TENANT#tenant` / `UPLOADS#date` or `JOBS#date`) changes in the transaction that stores the upload or
//! makes the job active. So each counts once, even if its call is repeated, and a refused one does not count.

use aws_sdk_dynamodb::types::TransactWriteItem;
use longshore_domain::job::Job;
use longshore_domain::ports::{PortResult, Upload};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::item::{number, read_number};
use super::keys::Key;
use super::transaction::Transacted;
use super::update::Update;
use super::{DynamoStore, failed};

const OPERATION: &str = "daily_bytes";

/// Seconds for which a counter is kept after its day: a call may come late, and from a slow clock.
const RETENTION_S: i64 = 3_600;

/// Bytes that a call takes from a tenant's day.
pub(super) struct DailyBytes<'a> {
    counter: &'static str,
    tenant: &'a TenantId,
    bytes: u64,
    limit: u64,
    at: Timestamp,
}

impl DailyBytes<'_> {
    fn key(&self) -> Key {
        Key::daily_bytes(self.tenant, self.counter, &self.at.date())
    }
}

impl DynamoStore {
    /// Returns the bytes of an upload.
    pub(super) fn bytes_of_upload<'a>(&self, upload: &'a Upload) -> DailyBytes<'a> {
        let (bytes, limit) = (upload.size_bytes, self.limits.upload_bytes_per_day);
        DailyBytes { counter: "UPLOADS", tenant: &upload.tenant, bytes, limit, at: upload.promised_at }
    }

    /// Returns the bytes of the file of a job that becomes active; `None` if it has no file, or if there is no limit.
    pub(super) fn bytes_of_job<'a>(&self, job: &'a Job, at: Timestamp) -> Option<DailyBytes<'a>> {
        let (bytes, limit) = (job.source_bytes(), self.limits.job_bytes_per_day);
        let is_counted = bytes > 0 && limit < u64::MAX;
        is_counted.then_some(DailyBytes { counter: "JOBS", tenant: &job.tenant, bytes, limit, at })
    }

    /// Runs a transaction of these writes, followed by an update of the day's counter, if it stays within the limit.
    /// A single value above the limit is refused without a call.
    pub(super) async fn transact_within(
        &self,
        operation: &'static str,
        mut writes: Vec<TransactWriteItem>,
        daily: Option<&DailyBytes<'_>>,
    ) -> PortResult<Transacted> {
        if let Some(daily) = daily {
            let Some(room) = daily.limit.checked_sub(daily.bytes) else {
                return Ok(Transacted::Refused(writes.iter().map(|_| false).chain([true]).collect()));
            };
            writes.push(self.count_bytes(daily, room)?);
        }
        self.transact(operation, writes).await
    }

    fn count_bytes(&self, daily: &DailyBytes<'_>, room: u64) -> PortResult<TransactWriteItem> {
        self.update_of(Update {
            operation: OPERATION,
            key: daily.key(),
            update: "ADD #bytes :size SET #expiresAt = :expiry".into(),
            condition: "attribute_not_exists(#bytes) OR #bytes <= :room".into(),
            values: vec![
                (":size", number(daily.bytes)),
                (":room", number(room)),
                (":expiry", number(daily.at.end_of_day().plus_seconds(RETENTION_S).seconds())),
            ],
        })
    }

    /// Consistent GetItem of the day's counter.
    pub(super) async fn counted_bytes(&self, daily: &DailyBytes<'_>) -> PortResult<u64> {
        let counter = self.get(OPERATION, daily.key()).await?;
        counter.map_or(Ok(0), |counter| read_number(&counter, "bytes").map_err(failed(OPERATION)))
    }
}
