//! Attributes of the queues.

use std::collections::HashMap;

use anyhow::Result;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::QueueAttributeName;

use super::observer::Observer;
use crate::aws::failed;
use crate::operators::doctor::facts::Queue;

type Attributes = HashMap<QueueAttributeName, String>;

const ATTRIBUTES: [QueueAttributeName; 5] = [
    QueueAttributeName::ApproximateNumberOfMessages,
    QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
    QueueAttributeName::ApproximateNumberOfMessagesDelayed,
    QueueAttributeName::RedrivePolicy,
    QueueAttributeName::QueueArn,
];

impl Observer<'_> {
    /// Reads the queues of the stack.
    pub(super) fn queues(&mut self) -> Vec<Queue> {
        let (session, inventory) = (self.session, self.inventory);
        let client = Client::new(session.config());
        let mut queues = Vec::new();
        for queue in inventory.of_kind("AWS::SQS::Queue") {
            let what = format!("the queue {}", queue.id);
            if let Some(attributes) = self.wait(&what, attributes(&client, &queue.name)) {
                queues.push(read(&queue.id, name_of(&queue.name), &attributes));
            }
        }
        let names: Vec<_> = queues.iter().map(|queue| queue.name.as_str()).collect();
        let ages = if names.is_empty() { Default::default() } else { self.ages(&names) };
        queues.iter().map(|queue| Queue { oldest_seconds: ages.get(&queue.name).copied(), ..queue.clone() }).collect()
    }
}

async fn attributes(client: &Client, url: &str) -> Result<Attributes> {
    let get = client.get_queue_attributes().queue_url(url).set_attribute_names(Some(ATTRIBUTES.to_vec()));
    Ok(get.send().await.map_err(failed)?.attributes.unwrap_or_default())
}

/// Returns the name of a queue, the last part of its URL.
fn name_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

fn read(id: &str, name: &str, attributes: &Attributes) -> Queue {
    let [visible, in_flight, delayed, redrive, arn] = ATTRIBUTES.map(|attribute| attributes.get(&attribute));
    let count = |text: Option<&String>| text.and_then(|text| text.parse().ok()).unwrap_or_default();
    Queue {
        id: id.to_owned(),
        name: name.to_owned(),
        arn: arn.cloned().unwrap_or_default(),
        visible: count(visible),
        in_flight: count(in_flight),
        delayed: count(delayed),
        oldest_seconds: None,
        has_dead_letter_queue: redrive.is_some_and(|policy| policy.contains("deadLetterTargetArn")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_read_from_its_attributes() {
        let [visible, in_flight, _, redrive, arn] = ATTRIBUTES;
        let policy = r#"{"deadLetterTargetArn":"arn","maxReceiveCount":10}"#;
        let attributes =
            [(visible, "3"), (in_flight, "2"), (redrive, policy), (arn, "arn:aws:sqs:r:0:longshore-chunks")];
        let attributes = attributes.map(|(name, value)| (name, value.to_owned())).into();
        let queue = read("ChunkQueue", name_of("http://127.0.0.1:4566/000000000000/longshore-chunks"), &attributes);
        assert_eq!((queue.name.as_str(), queue.messages()), ("longshore-chunks", 5));
        assert!(queue.has_dead_letter_queue && !queue.is_for_dead_letters());
        assert!(queue.arn.ends_with(":longshore-chunks"));
    }
}
