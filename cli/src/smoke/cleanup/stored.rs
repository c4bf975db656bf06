//! Removal of an upload and of a dataset. No call of the API removes them.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, WriteRequest};
use longshore::store::records::list_key;
use longshore::store::records::shard::partitions;
use longshore_domain::dataset::Dataset;

use super::message::Deployment;
use crate::aws::failed;

/// Maximum number of items in one call.
const BATCH: usize = 25;
/// Attempts for items that a throttled table does not process, and the first wait between them, which doubles.
const ATTEMPTS: u32 = 8;
const FIRST_WAIT: Duration = Duration::from_millis(50);

type Item = HashMap<String, AttributeValue>;

/// Removes an upload's file and record.
pub(super) async fn remove_upload(config: &SdkConfig, deployment: &Deployment, upload: &str) -> Result<()> {
    let key = format!("uploads/{}/{upload}", deployment.tenant()?);
    // An emulator's buckets have no host names.
    let s3 = aws_sdk_s3::config::Builder::from(config).force_path_style(config.endpoint_url().is_some()).build();
    let delete = aws_sdk_s3::Client::from_conf(s3).delete_object().bucket(deployment.output("BucketName")?).key(key);
    delete.send().await.map_err(failed)?;
    let table = Table { client: Client::new(config), name: deployment.output("JobsTableName")? };
    table.delete(&format!("UPLOAD#{upload}"), "UPLOAD").await
}

/// Removes all records of a dataset, and the item by which it is listed.
pub(super) async fn remove_dataset(config: &SdkConfig, deployment: &Deployment, name: &str) -> Result<()> {
    let dataset = Dataset::named(deployment.tenant()?, name)?;
    let table = Table { client: Client::new(config), name: deployment.output("RecordsTableName")? };
    for partition in partitions(&dataset) {
        let keys = table.keys(&partition).await?;
        for keys in keys.chunks(BATCH) {
            table.delete_all(keys).await?;
        }
    }
    let (partition, sort) = list_key(&dataset);
    table.delete(&partition, &sort).await
}

/// A table with the key `PK` and `SK`.
struct Table<'a> {
    client: Client,
    name: &'a str,
}

impl Table<'_> {
    /// Reads the keys of a partition, page by page.
    async fn keys(&self, partition: &str) -> Result<Vec<Item>> {
        let query = self.client.query().table_name(self.name).projection_expression("PK, SK");
        let query = query.key_condition_expression("PK = :pk");
        let query = query.expression_attribute_values(":pk", AttributeValue::S(partition.to_owned()));
        let items = query.into_paginator().items().send().collect::<Result<_, _>>().await;
        items.map_err(failed)
    }

    /// Deletes items. Sends those again that the table did not process.
    async fn delete_all(&self, keys: &[Item]) -> Result<()> {
        let request = |key: &Item| {
            let delete = DeleteRequest::builder().set_key(Some(key.clone())).build()?;
            Ok(WriteRequest::builder().delete_request(delete).build())
        };
        let mut rest: Vec<_> = keys.iter().map(request).collect::<Result<_>>()?;
        let mut wait = FIRST_WAIT;
        for _ in 0..ATTEMPTS {
            let write = self.client.batch_write_item().request_items(self.name, rest);
            let unprocessed = write.send().await.map_err(failed)?.unprocessed_items;
            rest = unprocessed.unwrap_or_default().into_values().flatten().collect();
            if rest.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        bail!("{} records are left: the table {} is throttled", rest.len(), self.name)
    }

    async fn delete(&self, partition: &str, sort: &str) -> Result<()> {
        let [partition, sort] = [partition, sort].map(|text| AttributeValue::S(text.to_owned()));
        let delete = self.client.delete_item().table_name(self.name).key("PK", partition).key("SK", sort);
        delete.send().await.map_err(failed).map(drop).context("its record")
    }
}
