//! Numbers of messages of all queues of the stack.

use std::collections::BTreeMap;

use aws_sdk_sqs::types::QueueAttributeName;
use longshore_domain::ports::{MessageCounts, PortResult, QueueCounts, StackQueue};

use super::{NoQueueUrl, failed};

const COUNT: &str = "message_counts";

/// Counts of messages on SQS.
#[derive(Clone, Debug)]
pub struct SqsQueueCounts {
    client: aws_sdk_sqs::Client,
    urls: BTreeMap<StackQueue, String>,
}

impl SqsQueueCounts {
    /// Creates the counts of the queues at these URLs.
    pub fn new(client: aws_sdk_sqs::Client, urls: BTreeMap<StackQueue, String>) -> Self {
        Self { client, urls }
    }

    /// Returns the names of the queues.
    pub fn names(&self) -> BTreeMap<StackQueue, String> {
        let name = |url: &String| url.rsplit('/').next().unwrap_or(url).to_owned();
        self.urls.iter().map(|(queue, url)| (*queue, name(url))).collect()
    }
}

impl QueueCounts for SqsQueueCounts {
    /// GetQueueAttributes of the queue.
    async fn message_counts(&self, queue: StackQueue) -> PortResult<MessageCounts> {
        use QueueAttributeName as Name;
        let kinds = [
            Name::ApproximateNumberOfMessages,
            Name::ApproximateNumberOfMessagesNotVisible,
            Name::ApproximateNumberOfMessagesDelayed,
        ];
        let url = self.urls.get(&queue).ok_or_else(|| NoQueueUrl(format!("{queue:?}"))).map_err(failed(COUNT))?;
        let ask = self.client.get_queue_attributes().queue_url(url).set_attribute_names(Some(kinds.to_vec()));
        let answer = ask.send().await.map_err(failed(COUNT))?.attributes.unwrap_or_default();
        let [visible, in_flight, delayed] =
            kinds.map(|kind| answer.get(&kind).and_then(|count| count.parse().ok()).unwrap_or_default());
        Ok(MessageCounts { visible, in_flight, delayed })
    }
}
