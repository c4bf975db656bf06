//! Leftovers of a job behind the API: objects of the bucket, items of the table.

use anyhow::{Context, Result};

use super::stack::Stack;

/// Keys of the objects with this prefix.
///
/// # Errors
/// If the emulator refuses it.
pub fn objects(stack: &Stack, prefix: &str) -> Result<Vec<String>> {
    let list = stack.aws.s3().list_objects_v2().bucket(stack.output("BucketName")?).prefix(prefix);
    let page = stack.run(list.send()).context("the bucket cannot be listed")?;
    Ok(page.contents().iter().filter_map(|object| object.key().map(str::to_owned)).collect())
}

/// Sort keys of the items in a partition of the jobs table.
///
/// # Errors
/// If the emulator refuses it.
pub fn items(stack: &Stack, partition: &str) -> Result<Vec<String>> {
    let value = aws_sdk_dynamodb::types::AttributeValue::S(partition.to_owned());
    let query = stack.aws.dynamodb().query().table_name(stack.output("JobsTableName")?).consistent_read(true);
    let query = query.key_condition_expression("PK = :partition").expression_attribute_values(":partition", value);
    let page = stack.run(query.send()).context("the table cannot be queried")?;
    let keys = page.items().iter().filter_map(|item| item.get("SK")?.as_s().ok().cloned());
    Ok(keys.collect())
}
