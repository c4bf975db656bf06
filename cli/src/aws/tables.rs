//! Indexes of a stack's tables.

use anyhow::{Context, Result};
use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use deployment::indexes::{TABLE, TableIndexes};

use super::failed;
use super::inventory::resources;

/// Reads the names of the indexes of all tables of a stack.
///
/// # Errors
/// If a call fails.
pub async fn indexes(config: &SdkConfig, stack: &str) -> Result<TableIndexes> {
    let client = Client::new(config);
    let mut indexes = TableIndexes::new();
    for table in resources(config, stack).await?.into_iter().filter(|resource| resource.kind == TABLE) {
        let found = client.describe_table().table_name(&table.name).send().await.map_err(failed)?;
        let description = found.table().context("the answer has no table")?;
        let names = description.global_secondary_indexes().iter().filter_map(|index| index.index_name());
        indexes.insert(table.id, names.map(str::to_owned).collect());
    }
    Ok(indexes)
}
