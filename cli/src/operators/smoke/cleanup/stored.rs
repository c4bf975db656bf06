//! Removes an upload or a dataset. The API has no calls for this.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, WriteRequest};
use longshore::store::records::list_key;
use longshore::store::records::shard::partitions;
use longshore_domain::dataset::Dataset;

use super::process::Deployment;
use crate::aws::failed;

/// Maximum number of items in one call.
const BATCH: usize = 25;
/// Attempts for items that a throttled table does not process, and the first wait between attempts. The wait doubles.
const ATTEMPTS: u32 = 8;
const FIRST_WAIT: Duration = Duration::from_millis(50);

type Item = HashMap<String, AttributeValue>;

/// Removes an upload's file and record.
pub(super) async fn remove_upload(config: &SdkConfig, deployment: &Deployment, upload: &str) -> Result<()> {
    let key = format!("uploads/{}/{upload}", deployment.tenant()?);
    // The buckets of an emulator have no host names.
    let s3 = aws_sdk_s3::config::Builder::from(config).force_path_style(config.endpoint_url().is_some()).build();
    let delete = aws_sdk_s3::Client::from_conf(s3).delete_object().bucket(deployment.output("BucketName")?).key(key);
    delete.send().await.map_err(failed)?;
    let table = Table { client: Client::new(config), name: deployment.output("JobsTableName")? };
    table.delete(&format!("UPLOAD#{upload}"), "UPLOAD").await
}

/// Removes all records of a dataset, and its entry in the list of datasets.
pub(super) async fn remove_dataset(config: &SdkConfig, deployment: &Deployment, name: &str) -> Result<()> {
    let dataset = Dataset::named(deployment.tenant()?, name)?;
    let table = Table { client: Client::new(config), name: deployment.output("RecordsTableName")? };
    let mut outcome = Ok(());
    for partition in partitions(&dataset) {
        // A failure does not prevent the removal of the other partitions. The first one is reported.
        outcome = outcome.and(table.clear(&partition).await);
    }
    outcome?;
    let (partition, sort) = list_key(&dataset);
    table.delete(&partition, &sort).await
}

/// A table with the key `PK` and `SK`.
struct Table<'a> {
    client: Client,
    name: &'a str,
}

impl Table<'_> {
    /// Deletes all items of a partition.
    async fn clear(&self, partition: &str) -> Result<()> {
        for keys in self.keys(partition).await?.chunks(BATCH) {
            self.delete_all(keys).await?;
        }
        Ok(())
    }

    /// Reads the keys of a partition, page by page.
    async fn keys(&self, partition: &str) -> Result<Vec<Item>> {
        let query = self.client.query().table_name(self.name).projection_expression("PK, SK");
        let query = query.key_condition_expression("PK = :pk");
        let query = query.expression_attribute_values(":pk", AttributeValue::S(partition.to_owned()));
        let items = query.into_paginator().items().send().collect::<Result<_, _>>().await;
        items.map_err(failed)
    }

    /// Deletes items. Retries those that the table did not process.
    async fn delete_all(&self, keys: &[Item]) -> Result<()> {
        let request = |key: &Item| {
            let delete = DeleteRequest::builder().set_key(Some(key.clone())).build()?;
            Ok(WriteRequest::builder().delete_request(delete).build())
        };
        let mut remaining: Vec<_> = keys.iter().map(request).collect::<Result<_>>()?;
        let mut wait = FIRST_WAIT;
        for _ in 0..ATTEMPTS {
            let write = self.client.batch_write_item().request_items(self.name, remaining);
            let unprocessed = write.send().await.map_err(failed)?.unprocessed_items;
            remaining = unprocessed.unwrap_or_default().into_values().flatten().collect();
            if remaining.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        bail!("{} records were not deleted, because the table {} is throttled", remaining.len(), self.name)
    }

    async fn delete(&self, partition: &str, sort: &str) -> Result<()> {
        let [partition, sort] = [partition, sort].map(|text| AttributeValue::S(text.to_owned()));
        let delete = self.client.delete_item().table_name(self.name).key("PK", partition).key("SK", sort);
        delete.send().await.map_err(failed).map(drop).context("cannot delete its record")
    }
}
