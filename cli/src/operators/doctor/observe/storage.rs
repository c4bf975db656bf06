//! Tables, and the bucket's rules for uploads from pages.

use anyhow::{Context, Result};
use aws_config::SdkConfig;
use aws_sdk_cloudformation::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{IndexStatus, PointInTimeRecoveryStatus, TimeToLiveStatus};

use super::observer::Observer;
use crate::aws::failed;
use crate::operators::doctor::facts::{CorsRule, Table};

impl Observer<'_> {
    /// Reads the tables of the stack.
    pub(super) fn tables(&mut self) -> Vec<Table> {
        let (session, inventory) = (self.session, self.inventory);
        let client = Client::new(session.config());
        let mut tables = Vec::new();
        for table in inventory.of_kind("AWS::DynamoDB::Table") {
            let Some(mut found) = self.wait(&format!("the table {}", table.id), describe(&client, &table.name)) else {
                continue;
            };
            found.expires = self.wait(&format!("the expiry of {}", table.id), expires(&client, &table.name));
            found.has_backups = self.wait(&format!("the backups of {}", table.id), has_backups(&client, &table.name));
            found.throttled = self.throttled(&found);
            tables.push(found);
        }
        tables
    }

    /// Reads the bucket's rules for uploads from pages of other origins.
    pub(super) fn cors(&mut self) -> Option<Vec<CorsRule>> {
        let what = "the rules of the bucket for pages";
        let bucket = self.output("BucketName", what)?;
        let session = self.session;
        self.wait(what, cors(session.config(), &bucket))
    }
}

async fn describe(client: &Client, name: &str) -> Result<Table> {
    let found = client.describe_table().table_name(name).send().await.map_err(failed)?;
    let table = found.table().context("the answer has no table")?;
    let indexes = table.global_secondary_indexes();
    let unusable = indexes.iter().filter(|index| !is_usable(index.index_status()));
    Ok(Table {
        name: name.to_owned(),
        status: table.table_status().map(|status| status.as_str().to_owned()).unwrap_or_default(),
        unusable_indexes: unusable.filter_map(|index| index.index_name()).map(str::to_owned).collect(),
        indexes: indexes.iter().filter_map(|index| index.index_name()).map(str::to_owned).collect(),
        expires: None,
        has_backups: None,
        throttled: None,
    })
}

/// An index can be queried while its throughput changes. The emulator has no statuses of indexes.
fn is_usable(status: Option<&IndexStatus>) -> bool {
    status.is_none_or(|status| matches!(status, IndexStatus::Active | IndexStatus::Updating))
}

async fn expires(client: &Client, name: &str) -> Result<bool> {
    let found = client.describe_time_to_live().table_name(name).send().await.map_err(failed)?;
    let status = found.time_to_live_description().and_then(|description| description.time_to_live_status());
    Ok(matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)))
}

async fn has_backups(client: &Client, name: &str) -> Result<bool> {
    let found = client.describe_continuous_backups().table_name(name).send().await.map_err(failed)?;
    let recovery = found.continuous_backups_description().and_then(|found| found.point_in_time_recovery_description());
    let status = recovery.and_then(|recovery| recovery.point_in_time_recovery_status());
    Ok(status == Some(&PointInTimeRecoveryStatus::Enabled))
}

async fn cors(config: &SdkConfig, bucket: &str) -> Result<Vec<CorsRule>> {
    // The buckets of an emulator have no host names.
    let s3 = aws_sdk_s3::config::Builder::from(config).force_path_style(config.endpoint_url().is_some()).build();
    let rules = match aws_sdk_s3::Client::from_conf(s3).get_bucket_cors().bucket(bucket).send().await {
        Ok(found) => found.cors_rules.unwrap_or_default(),
        Err(error) if error.code() == Some("NoSuchCORSConfiguration") => Vec::new(),
        Err(error) => return Err(failed(error)),
    };
    let rule = |rule: &aws_sdk_s3::types::CorsRule| CorsRule {
        origins: rule.allowed_origins().to_vec(),
        methods: rule.allowed_methods().to_vec(),
    };
    Ok(rules.iter().map(rule).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_usable_while_it_is_updated() {
        for (status, expected) in [
            (IndexStatus::Active, true),
            (IndexStatus::Updating, true),
            (IndexStatus::Creating, false),
            (IndexStatus::Deleting, false),
        ] {
            assert_eq!(is_usable(Some(&status)), expected, "{status:?}");
        }
    }
}
