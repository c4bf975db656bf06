//! Table, queues and bucket as the template declares them, created without CloudFormation in milliseconds. The flow
//! tests check the template itself.

use anyhow::{Context, Result};
use aws_sdk_dynamodb::config::{Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType,
};
use aws_sdk_sqs::types::QueueAttributeName;
use longshore::config::Aws;
use longshore::queues::{QueueUrls, SqsDeadLetters, SqsQueues};
use longshore_domain::dead_letter::Queue;
use longshore_domain::job::Priority;

/// Clients for this endpoint with arbitrary credentials.
pub fn aws(endpoint: &str) -> Aws {
    let credentials = Credentials::new("test", "test", None, None, "tests");
    Aws::new(Region::from_static("us-east-1"), credentials, Some(endpoint.to_owned()))
}

/// Creates the jobs table with this name.
///
/// # Errors
/// If the emulator refuses it.
pub async fn create_jobs_table(aws: &Aws, name: &str) -> Result<()> {
    let key = |name: &str, kind: KeyType| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
    let index = |name: &str, projection: Projection| -> Result<_> {
        let index = GlobalSecondaryIndex::builder().index_name(name).projection(projection);
        Ok(index.key_schema(key(name, KeyType::Hash)?).key_schema(key("createdAt", KeyType::Range)?).build()?)
    };
    let keys_only = Projection::builder().projection_type(ProjectionType::KeysOnly).build();
    let include = Projection::builder().projection_type(ProjectionType::Include);
    let include = include.non_key_attributes("status").non_key_attributes("jobType").build();
    let mut table = aws.dynamodb().create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    for attribute in ["PK", "SK", "unfinished", "tenant", "createdAt"] {
        let attribute = AttributeDefinition::builder().attribute_name(attribute);
        table = table.attribute_definitions(attribute.attribute_type(ScalarAttributeType::S).build()?);
    }
    let table = table.key_schema(key("PK", KeyType::Hash)?).key_schema(key("SK", KeyType::Range)?);
    let table = table.global_secondary_indexes(index("unfinished", keys_only)?);
    table.global_secondary_indexes(index("tenant", include)?).send().await.context("cannot create the table")?;
    Ok(())
}

/// Creates a bucket with this name.
///
/// # Errors
/// If the emulator refuses it.
pub async fn create_bucket(aws: &Aws, name: &str) -> Result<()> {
    aws.s3().create_bucket().bucket(name).send().await.context("cannot create the bucket")?;
    Ok(())
}

/// The queues and their dead-letter queues, with their URLs.
#[derive(Clone, Debug)]
pub struct CreatedQueues {
    /// URLs of the queues.
    pub urls: QueueUrls,
    /// URLs of the dead-letter queues: create, chunks, complete.
    pub dead: [String; 3],
}

impl CreatedQueues {
    /// Creates the queues. Their names begin with `prefix`.
    ///
    /// # Errors
    /// If the emulator refuses one.
    pub async fn create(aws: &Aws, prefix: &str) -> Result<Self> {
        let create = async |name: &str| create_queue(aws, &format!("{prefix}-{name}")).await;
        let urls = QueueUrls {
            create: Some(create("create-job.fifo").await?),
            chunks: [
                (Priority::High, create("chunks-high").await?),
                (Priority::Normal, create("chunks").await?),
                (Priority::Low, create("chunks-low").await?),
            ]
            .into(),
            complete: Some(create("complete-job.fifo").await?),
        };
        let dead =
            [create("create-job-dlq.fifo").await?, create("chunks-dlq").await?, create("complete-job-dlq.fifo").await?];
        Ok(Self { urls, dead })
    }

    /// The adapter for the queues.
    pub fn queues(&self, aws: &Aws) -> SqsQueues {
        SqsQueues::new(aws.sqs(), self.urls.clone())
    }

    /// The adapter for the dead letters.
    pub fn dead_letters(&self, aws: &Aws) -> SqsDeadLetters {
        SqsDeadLetters::new(aws.sqs(), Queue::ALL.into_iter().zip(self.dead.clone()).collect())
    }
}

async fn create_queue(aws: &Aws, name: &str) -> Result<String> {
    let mut call = aws.sqs().create_queue().queue_name(name);
    if name.ends_with(".fifo") {
        call = call
            .attributes(QueueAttributeName::FifoQueue, "true")
            .attributes(QueueAttributeName::DeduplicationScope, "messageGroup")
            .attributes(QueueAttributeName::FifoThroughputLimit, "perMessageGroupId");
    }
    let queue = call.send().await.with_context(|| format!("cannot create the queue {name}"))?;
    queue.queue_url.with_context(|| format!("the emulator returned no URL of the queue {name}"))
}
