//! Removes a deleted job's records, the job last: if a removal fails half-way, the sweeper finds the job again.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{DeleteRequest, WriteRequest};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::ports::{JobStore, PortResult, Removal, UploadRelease};

use super::item::{Item, ItemError, read_text, text};
use super::keys::{JOB, Key, SK, USE, job_pk, upload_pk};
use super::retry::{unanswered, unwritten};
use super::{DynamoStore, failed};
use crate::back_off::BackOff;

/// Maximum number of items in one BatchWriteItem: DynamoDB's limit.
const BATCH_ITEMS: usize = 25;

impl Removal for DynamoStore {
    /// DeleteItem of `UPLOAD#upload` / `JOB#id`, a consistent Query for another use, and without one DeleteItem of
    /// `UPLOAD#upload` / `UPLOAD`. All idempotent. A job that is created over the upload between the last two calls
    /// fails, as if the file had been deleted a moment before.
    async fn release_upload(&self, id: JobId, upload: FileGuid) -> PortResult<UploadRelease> {
        self.delete_item(Key::upload_use(upload, id)).await?;
        let (keys, _) = self.keys_in(&upload_pk(upload), None).await?;
        if keys.iter().any(|key| read_text(key, SK).is_ok_and(|sk| sk.starts_with(USE))) {
            return Ok(UploadRelease::KeepFile);
        }
        self.delete_item(Key::upload(upload)).await?;
        Ok(UploadRelease::RemoveFile)
    }

    /// If the job is deleted and has ended, and its events are listed: Query of `JOB#id` and BatchWriteItem of all items but the job, page by
    /// page, then DeleteItem of `JOB`. All idempotent; nothing is written to a job that has ended.
    async fn remove(&self, id: JobId) -> PortResult<()> {
        if !self.job(id).await?.is_some_and(|job| job.is_removable()) {
            return Ok(());
        }
        let mut from = None;
        loop {
            let (keys, next) = self.keys_in(&job_pk(id), from).await?;
            let others: Vec<_> = keys.into_iter().filter(|key| read_text(key, SK).is_ok_and(|sk| sk != JOB)).collect();
            for batch in others.chunks(BATCH_ITEMS) {
                self.delete_batch(batch).await?;
            }
            from = next;
            if from.is_none() {
                return self.delete_item(Key::job(id)).await;
            }
        }
    }
}

impl DynamoStore {
    /// Returns a page of a partition's keys, and the start of the next page.
    async fn keys_in(&self, partition: &str, from: Option<Item>) -> PortResult<(Vec<Item>, Option<Item>)> {
        let query = self.client.query().table_name(&self.table).consistent_read(true);
        let query = query
            .key_condition_expression("PK = :partition")
            .expression_attribute_values(":partition", text(partition))
            .projection_expression("PK, SK")
            .set_exclusive_start_key(from);
        let page = query.send().await.map_err(unanswered("remove"))?;
        Ok((page.items.unwrap_or_default(), page.last_evaluated_key))
    }

    async fn delete_item(&self, key: Key) -> PortResult<()> {
        let delete = self.client.delete_item().table_name(&self.table).set_key(Some(key.attributes()));
        let answer = self.write(|| delete.clone().send()).await;
        answer.map(|_| ()).map_err(|error| unwritten("remove", error))
    }

    /// BatchWriteItem. Repeats the call, after a wait, for items that DynamoDB left; the SDK retries a call that is
    /// refused as a whole. Idempotent.
    pub(super) async fn delete_batch(&self, keys: &[Item]) -> PortResult<()> {
        let delete = |key: &Item| {
            let request = DeleteRequest::builder().set_key(Some(key.clone())).build().map_err(failed("remove"))?;
            Ok(WriteRequest::builder().delete_request(request).build())
        };
        let writes: PortResult<Vec<_>> = keys.iter().map(delete).collect();
        let mut left = HashMap::from([(self.table.clone(), writes?)]);
        let mut back_off = BackOff::new(self.sleep);
        loop {
            let answer = self.client.batch_write_item().set_request_items(Some(left)).send().await;
            left = answer.map_err(unanswered("remove"))?.unprocessed_items.unwrap_or_default();
            if left.is_empty() {
                return Ok(());
            }
            if !back_off.wait().await {
                return Err(failed("remove")(ItemError::Unwritten));
            }
        }
    }
}
