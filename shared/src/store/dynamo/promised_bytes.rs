//! Counts the bytes that were promised to a tenant in a day, so that a limit holds exactly.
//!
//! The counter (`TENANT#tenant` / `UPLOADS#date`) moves in the transaction that stores the upload: an upload counts once,
//! however often its call is repeated, and one that is not stored does not count.

use aws_sdk_dynamodb::types::TransactWriteItem;
use longshore_domain::ports::{PortResult, Upload};

use super::item::{number, read_number};
use super::keys::Key;
use super::update::Update;
use super::{DynamoStore, failed};

const OPERATION: &str = "promised_bytes";

/// A counter stays for so long after its day: a call may come late, and by a clock that is slow.
const KEPT_SECONDS: i64 = 3_600;

impl DynamoStore {
    /// Update of the day's counter, if it does not go over the limit. None if the upload alone would.
    pub(super) fn count_promised(&self, upload: &Upload) -> PortResult<Option<TransactWriteItem>> {
        let Some(room) = self.limits.upload_bytes_per_day.checked_sub(upload.size_bytes) else { return Ok(None) };
        let update = self.update_of(Update {
            operation: OPERATION,
            key: counter(upload),
            update: "ADD #bytes :size SET #expiresAt = :expiry".into(),
            condition: "attribute_not_exists(#bytes) OR #bytes <= :room".into(),
            values: vec![
                (":size", number(upload.size_bytes)),
                (":room", number(room)),
                (":expiry", number(upload.promised_at.end_of_day().plus_seconds(KEPT_SECONDS).seconds())),
            ],
        });
        update.map(Some)
    }

    /// Consistent GetItem of the day's counter.
    pub(super) async fn promised(&self, upload: &Upload) -> PortResult<u64> {
        let counter = self.get(OPERATION, counter(upload)).await?;
        counter.map_or(Ok(0), |counter| read_number(&counter, "bytes").map_err(failed(OPERATION)))
    }
}

fn counter(upload: &Upload) -> Key {
    let at = upload.promised_at.to_rfc3339();
    Key::promised_bytes(&upload.tenant, at.split('T').next().unwrap_or_default())
}
