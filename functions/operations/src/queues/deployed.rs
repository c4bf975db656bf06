//! Statistics of the queues on AWS: the numbers of SQS, and the ages of CloudWatch.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::HttpConnectorSettings;
use longshore::config::{Aws, ConfigError};
use longshore::queues::SqsQueueCounts;
use longshore_domain::ports::{MessageCounts, PortError, PortResult, QueueAges, QueueCounts, StackQueue};
use longshore_domain::timestamp::Timestamp;
use longshore_signed_json::JsonClient;

/// Limits of the time of a call of CloudWatch.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Statistics of the queues on AWS.
#[derive(Clone, Debug)]
pub struct DeployedStatistics {
    counts: SqsQueueCounts,
    cloudwatch: JsonClient,
}

impl DeployedStatistics {
    /// Creates the statistics from the URLs in the environment.
    ///
    /// # Errors
    /// If the URL of a queue is not set.
    pub fn from_env(aws: &Aws) -> Result<Self, ConfigError> {
        let timeouts = HttpConnectorSettings::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT);
        let cloudwatch = JsonClient { config: aws.config().clone(), connector: aws.connector(timeouts.build())? };
        Ok(Self { counts: aws.queue_counts()?, cloudwatch })
    }
}

impl QueueCounts for DeployedStatistics {
    async fn message_counts(&self, queue: StackQueue) -> PortResult<MessageCounts> {
        self.counts.message_counts(queue).await
    }
}

impl QueueAges for DeployedStatistics {
    /// GetMetricData of CloudWatch.
    async fn oldest_ages(&self) -> PortResult<BTreeMap<StackQueue, u64>> {
        let names = self.counts.names();
        let all: Vec<_> = names.values().map(String::as_str).collect();
        let ages = self.cloudwatch.queue_ages(&all, Timestamp::now().seconds()).await;
        let ages =
            ages.map_err(|error| PortError { service: "cloudwatch", operation: "oldest_ages", source: error.into() })?;
        Ok(names.into_iter().filter_map(|(queue, name)| Some((queue, *ages.get(&name)?))).collect())
    }
}
