//! Direct access to the resources behind a stack's API: the table, the bucket, the queues with their messages, and the
//! sweeper's schedule.

use anyhow::{Context, Result};
use aws_sdk_dynamodb::config::{Credentials, Region};
use longshore::config::Aws;
use longshore::files::S3Files;
use longshore::queues::{QueueUrls, SqsQueues};
use longshore::store::dynamo::DynamoStore;
use longshore_domain::job::Priority;
use serde_json::{Value, json};

use super::stack::{NAME, Stack};

impl Stack {
    /// The jobs table.
    ///
    /// # Errors
    /// If the stack has no such output.
    pub fn store(&self) -> Result<DynamoStore> {
        Ok(DynamoStore::new(self.aws.dynamodb(), self.output("JobsTableName")?.to_owned()))
    }

    /// The bucket.
    ///
    /// # Errors
    /// If the stack has no such output.
    pub fn files(&self) -> Result<S3Files> {
        Ok(S3Files::new(self.aws.s3(), self.output("BucketName")?.to_owned()))
    }

    /// The queues.
    ///
    /// # Errors
    /// If the stack has no such outputs.
    pub fn queues(&self) -> Result<SqsQueues> {
        let urls = QueueUrls {
            create: Some(self.output("CreateJobQueueUrl")?.to_owned()),
            chunks: [
                (Priority::High, self.output("HighChunkQueueUrl")?.to_owned()),
                (Priority::Normal, self.output("ChunkQueueUrl")?.to_owned()),
                (Priority::Low, self.output("LowChunkQueueUrl")?.to_owned()),
            ]
            .into(),
            complete: Some(self.output("CompleteJobQueueUrl")?.to_owned()),
        };
        Ok(SqsQueues::new(self.aws.sqs(), urls))
    }

    /// Bodies of the messages in the queue of this output, without receiving them.
    ///
    /// # Errors
    /// If the emulator does not answer.
    pub fn peek(&self, queue_output: &str) -> Result<Vec<String>> {
        let queue = self.output(queue_output)?;
        let answer = self.client.get(&format!("{}/_ministack/sqs/messages?QueueUrl={queue}", self.endpoint))?;
        let (answer, mut bodies) = (answer.expect(200)?, Vec::new());
        collect_bodies(&answer["messages"], &mut bodies);
        Ok(bodies)
    }

    /// Clients of a user without any permission.
    ///
    /// # Errors
    /// If the emulator does not create the user.
    pub fn powerless_aws(&self) -> Result<Aws> {
        let (key, secret) = self.cloud.powerless_key()?;
        let credentials = Credentials::new(key, secret, None, None, "powerless");
        Ok(Aws::new(Region::from_static("us-east-1"), credentials, Some(self.endpoint.clone())))
    }
}

/// Collects message bodies. The emulator nests them by account, region and queue.
fn collect_bodies(answer: &Value, bodies: &mut Vec<String>) {
    match answer {
        Value::Array(messages) => bodies.extend(messages.iter().filter_map(|m| Some(m["Body"].as_str()?.to_owned()))),
        Value::Object(parts) => parts.values().for_each(|part| collect_bodies(part, bodies)),
        _ => {}
    }
}

/// Keys of the objects with this prefix.
///
/// # Errors
/// If the emulator refuses it.
pub fn objects(stack: &Stack, prefix: &str) -> Result<Vec<String>> {
    let list = stack.aws.s3().list_objects_v2().bucket(stack.output("BucketName")?).prefix(prefix);
    let page = stack.run(list.send()).context("cannot list the bucket")?;
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
    let page = stack.run(query.send()).context("cannot query the table")?;
    let keys = page.items().iter().filter_map(|item| item.get("SK")?.as_s().ok().cloned());
    Ok(keys.collect())
}

impl Stack {
    /// Starts the schedule: the sweeper runs every minute, counted from the deployment.
    ///
    /// # Errors
    /// If the stack has no schedule.
    pub fn start_schedule(&self) -> Result<()> {
        self.rule("EnableRule")
    }

    /// Stops the schedule.
    ///
    /// # Errors
    /// If the stack has no schedule.
    pub fn stop_schedule(&self) -> Result<()> {
        self.rule("DisableRule")
    }

    fn rule(&self, action: &str) -> Result<()> {
        let rule = json!({ "Name": self.cloud.physical_id(NAME, RULE)? });
        self.cloud.json("events", &format!("AWSEvents.{action}"), &rule).map(|_| ())
    }
}

/// Logical id that SAM gives the rule of the function `Sweep` with the event `EveryMinute`.
const RULE: &str = "SweepEveryMinute";
