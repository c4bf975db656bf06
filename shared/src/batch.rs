//! Serves a function that is triggered by a queue: message by message, with a partial batch response.
//!
//! A message that fails, or that cannot be parsed, is reported as failed. It is delivered again, and finally reaches
//! its dead-letter queue, so no message is lost. On a FIFO queue, the later messages of the same group are reported as
//! failed without being processed: otherwise they would be deleted, and the order would be lost.
//!
//! After an error, the message does not wait for the queue's visibility timeout: it becomes visible again after seconds
//! the first time, then after increasing delays, see [`redelivery_s`]. The message of a worker that dies waits for the
//! timeout. A message that was received before, or waited for its invocation, is hidden until that invocation has
//! certainly ended, because the timeout may be only slightly longer than the function's run time, see
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html>.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Instant;

use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures::future::BoxFuture;
use lambda_runtime::{LambdaEvent, service_fn};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{InFlight, Visibility};
use longshore_domain::random::fraction;
use longshore_domain::retry::redelivery_s;
use longshore_domain::timestamp::Timestamp;
use serde::de::DeserializeOwned;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::config::take_calls;
use crate::telemetry;

/// Time reserved at the end of an invocation for the commit, the continuation and the response.
const RESERVE_MS: i64 = 4_000;

/// Maximum time between receive and invocation that needs no longer visibility timeout: the template gives a queue at
/// least ten seconds more than its function.
const FRESH_MS: i64 = 5_000;

/// Seconds for which a message stays hidden after its invocation has certainly ended.
const SPARE_S: i64 = 5;

/// Metadata of a message.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Delivery {
    /// Time by which the function should have stopped by itself.
    pub deadline: Timestamp,
    /// Deliveries of the message before this one. They failed, or their worker died.
    pub failures: u32,
    /// Time when the message was sent, if the queue reports it.
    pub sent_at: Option<Timestamp>,
}

/// A function's handler of one message.
pub trait MessageHandler: Send + Sync {
    /// Type of the message's body.
    type Message: DeserializeOwned + Send;
    /// Name of the function, for its logs.
    const FUNCTION: &'static str;

    /// Returns the job of a message, for the log.
    fn job_id(message: &Self::Message) -> Option<JobId>;

    /// Processes one message. Returns a description of the result for the log.
    fn handle(
        &self,
        message: Self::Message,
        delivery: Delivery,
    ) -> impl Future<Output = Result<String, Box<dyn Error + Send + Sync>>> + Send;
}

/// A handler with its queue.
#[derive(Debug)]
pub struct Server<H, V> {
    /// Processes the messages.
    pub handler: H,
    /// The source queue of the messages.
    pub queue: V,
    /// Base of the delays between deliveries that fail, in seconds.
    pub retry_base_s: i64,
}

/// The times of one invocation.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Invocation {
    /// Start of the invocation.
    pub now: Timestamp,
    /// Time by which it should have stopped by itself.
    pub deadline: Timestamp,
    /// Time at which it is killed.
    pub ends: Timestamp,
}

impl Invocation {
    fn new(now: Timestamp, ends: Timestamp) -> Self {
        // At most a quarter of the timeout, so that a short timeout (in tests) leaves time for work.
        let reserve_ms = RESERVE_MS.min(ends.millis_since(now) / 4);
        Self { now, deadline: Timestamp(ends.0 - reserve_ms), ends }
    }
}

/// Runs the Lambda runtime with this server until the process ends.
///
/// # Errors
/// If the runtime's API fails.
pub async fn serve<H: MessageHandler, V: Visibility>(server: Server<H, V>) -> Result<(), lambda_runtime::Error> {
    let server = &server;
    lambda_runtime::run(service_fn(|event: LambdaEvent<SqsEvent>| async move {
        let (started, now) = (Instant::now(), Timestamp::now());
        let ends = Timestamp(i64::try_from(event.context.deadline).unwrap_or(i64::MAX));
        let answer = work(server, event.payload, Invocation::new(now, ends)).await;
        telemetry::record_invocation(H::FUNCTION, started, &take_calls());
        Ok::<_, lambda_runtime::Error>(answer)
    }))
    .await
}

/// Processes the messages in order and reports those that failed.
pub async fn work<H: MessageHandler, V: Visibility>(
    server: &Server<H, V>,
    event: SqsEvent,
    invocation: Invocation,
) -> SqsBatchResponse {
    let (mut failures, mut stopped_groups) = (Vec::new(), BTreeSet::new());
    for record in event.records {
        let group = fifo_group(&record);
        let skipped = group.as_ref().is_some_and(|group| stopped_groups.contains(group));
        if skipped || !server.handle_one(&record, invocation).await {
            server.deliver_again(&record).await;
            stopped_groups.extend(group);
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = record.message_id.unwrap_or_default();
            failures.push(failure);
        }
    }
    let mut response = SqsBatchResponse::default();
    response.batch_item_failures = failures;
    response
}

/// Returns the message group, if the queue is a FIFO queue; on other queues it only serves fairness between tenants.
fn fifo_group(record: &SqsMessage) -> Option<String> {
    let fifo = record.event_source_arn.as_ref().is_some_and(|arn| arn.ends_with(".fifo"));
    record.attributes.get("MessageGroupId").filter(|_| fifo).cloned()
}

fn number<T: std::str::FromStr>(record: &SqsMessage, attribute: &str) -> Option<T> {
    record.attributes.get(attribute)?.parse().ok()
}

/// Returns the number of deliveries of a message, including this one.
fn receives(record: &SqsMessage) -> u32 {
    number(record, "ApproximateReceiveCount").unwrap_or(1)
}

fn in_flight(record: &SqsMessage) -> InFlight<'_> {
    let queue_arn = record.event_source_arn.as_deref().unwrap_or_default();
    InFlight { queue_arn, handle: record.receipt_handle.as_deref().unwrap_or_default() }
}

/// Fields of every log record of a message. [`telemetry::record_job`] adds the trace of its job.
fn span<H: MessageHandler>(record: &SqsMessage, message: &H::Message) -> Span {
    tracing::error_span!(
        "message",
        message.id = record.message_id,
        job.id = H::job_id(message).map(display),
        trace.id = Empty,
    )
}

impl<H: MessageHandler, V: Visibility> Server<H, V> {
    /// Returns false if the message is to be delivered again.
    async fn handle_one(&self, record: &SqsMessage, invocation: Invocation) -> bool {
        match serde_json::from_str(record.body.as_deref().unwrap_or_default()) {
            Ok(message) => {
                let span = span::<H>(record, &message);
                self.run(record, message, invocation).instrument(span).await
            }
            Err(error) => {
                let message_id = record.message_id.as_deref();
                tracing::error!(message.id = message_id, %error, "cannot parse a message; it will be dead-lettered");
                false
            }
        }
    }

    async fn run(&self, record: &SqsMessage, message: H::Message, invocation: Invocation) -> bool {
        self.keep_hidden(record, invocation).await;
        let sent_at = number(record, "SentTimestamp").map(Timestamp);
        let delivery =
            Delivery { deadline: invocation.deadline, failures: receives(record).saturating_sub(1), sent_at };
        // Boxed, because the SDK's futures are nested too deeply for the compiler.
        let done: BoxFuture<'_, _> = Box::pin(self.handler.handle(message, delivery));
        match done.await {
            Ok(end) => {
                tracing::info!(end, "a message is done");
                true
            }
            Err(error) => {
                let error = telemetry::chain(error.as_ref());
                tracing::error!(error, "a message failed; it will be delivered again");
                false
            }
        }
    }

    /// Hides a message until its invocation has ended. Not needed for a message that was just received for the first
    /// time, because the queue's own timeout is long enough. The time of a later receive is unknown. Idempotent, and
    /// harmless if it fails: another worker may then receive the same message, and only one of the two moves the
    /// cursor.
    async fn keep_hidden(&self, record: &SqsMessage, invocation: Invocation) {
        let first: Option<i64> = number(record, "ApproximateFirstReceiveTimestamp");
        let is_fresh = first.is_none_or(|first| invocation.now.0 - first < FRESH_MS);
        if receives(record) > 1 || !is_fresh {
            let seconds = invocation.ends.millis_since(invocation.now).max(0) / 1000 + SPARE_S;
            self.hide(record, i32::try_from(seconds).unwrap_or(i32::MAX)).await;
        }
    }

    /// Makes a message visible again soon. Idempotent, and harmless if it fails: the message is then visible after
    /// the queue's timeout.
    async fn deliver_again(&self, record: &SqsMessage) {
        self.hide(record, redelivery_s(receives(record), self.retry_base_s, fraction())).await;
    }

    async fn hide(&self, record: &SqsMessage, seconds: i32) {
        // Boxed for the same reason as the handler.
        let message = in_flight(record);
        let hidden: BoxFuture<'_, _> = Box::pin(self.queue.hide(&message, seconds));
        if let Err(error) = hidden.await {
            let (message_id, error) = (record.message_id.as_deref().unwrap_or_default(), telemetry::chain(&error));
            tracing::warn!(message.id = message_id, error, "cannot change the visibility of a message");
        }
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
