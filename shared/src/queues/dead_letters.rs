//! The dead-letter queues on SQS: read, and left as they are.
//!
//! A received message is invisible for a short while, so that one sweep does not meet it twice, and it is never
//! deleted: an operator reads it, replays it or discards it.

use aws_sdk_sqs::types::Message;
use longshore_domain::message::{ChunkMessage, CreateMessage};
use longshore_domain::ports::PortResult;
use serde::de::DeserializeOwned;

use super::{DeadLetter, DeadLetters, Unreadable, failed};

/// How long a message that was read stays invisible: longer than a sweep reads, shorter than a person waits.
const VISIBILITY_S: i32 = 20;

/// Messages in one call: SQS's limit.
const CALL_MESSAGES: i32 = 10;

/// Calls for one queue in one sweep: a thousand messages, in some two seconds.
const CALLS: usize = 100;

/// The dead-letter queues of chunks and of create messages.
#[derive(Clone, Debug)]
pub struct DeadLetterQueues {
    client: aws_sdk_sqs::Client,
    creates: String,
    chunks: String,
}

impl DeadLetterQueues {
    /// The queues behind these URLs.
    pub fn new(client: aws_sdk_sqs::Client, creates: String, chunks: String) -> Self {
        Self { client, creates, chunks }
    }

    /// ReceiveMessage until the queue shows no more.
    async fn read<T: DeserializeOwned>(&self, url: &str) -> PortResult<Vec<DeadLetter<T>>> {
        let mut letters = Vec::new();
        for _ in 0..CALLS {
            let call = self.client.receive_message().queue_url(url).visibility_timeout(VISIBILITY_S);
            let answer = call.max_number_of_messages(CALL_MESSAGES).send().await;
            let messages = answer.map_err(failed("dead_letters"))?.messages.unwrap_or_default();
            if messages.is_empty() {
                break;
            }
            letters.extend(messages.iter().map(parse));
        }
        Ok(letters)
    }
}

impl DeadLetters for DeadLetterQueues {
    async fn creates(&self) -> PortResult<Vec<DeadLetter<CreateMessage>>> {
        self.read(&self.creates).await
    }

    async fn chunks(&self) -> PortResult<Vec<DeadLetter<ChunkMessage>>> {
        self.read(&self.chunks).await
    }
}

fn parse<T: DeserializeOwned>(message: &Message) -> DeadLetter<T> {
    serde_json::from_str(message.body().unwrap_or_default()).map_err(|error| Unreadable {
        message_id: message.message_id().unwrap_or_default().to_owned(),
        reason: error.to_string(),
    })
}
