//! Direct access to the resources behind a stack's API: table, bucket, queues and their messages.

use anyhow::Result;
use aws_sdk_dynamodb::config::{Credentials, Region};
use longshore::config::Aws;
use longshore::files::S3Files;
use longshore::queues::{QueueUrls, SqsQueues};
use longshore::store::dynamo::DynamoStore;
use longshore_domain::job::Priority;
use serde_json::Value;

use super::stack::Stack;

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

    /// Bodies of the messages in the queue that an output names. The messages are not received.
    ///
    /// # Errors
    /// If the emulator does not answer.
    pub fn peek(&self, queue_output: &str) -> Result<Vec<String>> {
        let queue = self.output(queue_output)?;
        let described = self.client.get(&format!("{}/_ministack/sqs/messages?QueueUrl={queue}", self.endpoint))?;
        let (described, mut bodies) = (described.expect(200)?, Vec::new());
        collect_bodies(&described["messages"], &mut bodies);
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
fn collect_bodies(described: &Value, bodies: &mut Vec<String>) {
    match described {
        Value::Array(messages) => bodies.extend(messages.iter().filter_map(|m| Some(m["Body"].as_str()?.to_owned()))),
        Value::Object(parts) => parts.values().for_each(|part| collect_bodies(part, bodies)),
        _ => {}
    }
}
