//! Batches, and a queue that records the visibility timeouts of its messages.

use std::sync::Mutex;

use longshore_domain::ports::{PortError, PortResult};

use super::*;

/// Handle and seconds of each call, also of calls that are set to fail.
#[derive(Default)]
struct Hidden {
    calls: Mutex<Vec<(String, i32)>>,
    fails: bool,
}

impl Visibility for Hidden {
    async fn hide(&self, message: &InFlight<'_>, seconds: i32) -> PortResult<()> {
        self.calls.lock().unwrap().push((message.handle.to_owned(), seconds));
        let error = PortError { service: "queues", operation: "hide", source: "refused".into() };
        if self.fails { Err(error) } else { Ok(()) }
    }
}

const INVOCATION: Invocation =
    Invocation { now: Timestamp(1_000_000), deadline: Timestamp(1_116_000), ends: Timestamp(1_120_000) };

fn server<H: MessageHandler>(handler: H) -> Server<H, Hidden> {
    Server { handler, queue: Hidden::default(), retry_base_s: 30 }
}

struct FailsOn(u32);

impl MessageHandler for FailsOn {
    type Message = u32;
    const FUNCTION: &'static str = "test";

    fn job_id(_: &u32) -> Option<JobId> {
        None
    }

    async fn handle(&self, message: u32, _: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        if message == self.0 { Err("asked to".into()) } else { Ok("done".into()) }
    }
}

fn event(queue: &str, messages: &[(&str, &str)]) -> SqsEvent {
    let records: Vec<_> = messages
        .iter()
        .map(|(group, body)| {
            serde_json::json!({"messageId": body, "receiptHandle": body, "body": body,
                "attributes": {"MessageGroupId": group}, "messageAttributes": {},
                "eventSourceARN": format!("arn:aws:sqs:r:1:{queue}")})
        })
        .collect();
    serde_json::from_value(serde_json::json!({ "Records": records })).unwrap()
}

fn with(mut event: SqsEvent, attributes: &[(&str, &str)]) -> SqsEvent {
    for (name, value) in attributes {
        event.records[0].attributes.insert((*name).to_owned(), (*value).to_owned());
    }
    event
}

async fn failed(queue: &str, messages: &[(&str, &str)]) -> Vec<String> {
    let answer = work(&server(FailsOn(2)), event(queue, messages), INVOCATION).await;
    answer.batch_item_failures.into_iter().map(|f| f.item_identifier).collect()
}

#[tokio::test]
async fn a_standard_queue_reports_only_failed_messages() {
    assert_eq!(failed("chunks", &[("t", "1"), ("t", "2"), ("t", "3")]).await, ["2"]);
}

/// Processes a message only after the number of failures in its body.
struct AfterFailures;

impl MessageHandler for AfterFailures {
    type Message = u32;
    const FUNCTION: &'static str = "test";

    fn job_id(_: &u32) -> Option<JobId> {
        None
    }

    async fn handle(&self, message: u32, delivery: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        let is_sent = delivery.sent_at == Some(Timestamp(77));
        if delivery.failures == message && is_sent { Ok("done".into()) } else { Err("not yet".into()) }
    }
}

#[tokio::test]
async fn a_handler_gets_the_number_of_failures_and_the_time_of_sending() {
    for (received, failures) in [("1", "0"), ("3", "2"), ("", "0")] {
        let attributes = [("ApproximateReceiveCount", received), ("SentTimestamp", "77")];
        let event = with(event("chunks", &[("t", failures)]), &attributes);
        let answer = work(&server(AfterFailures), event, INVOCATION).await;
        assert!(answer.batch_item_failures.is_empty(), "received {received}");
    }
}

#[tokio::test]
async fn a_fifo_queue_stops_only_the_group_of_the_failed_message() {
    let messages = [("a", "1"), ("a", "2"), ("b", "3"), ("a", "4")];
    assert_eq!(failed("create-job.fifo", &messages).await, ["2", "4"]);
}

#[tokio::test]
async fn a_message_that_cannot_be_parsed_is_reported_as_failed() {
    assert_eq!(failed("chunks", &[("t", "not json"), ("t", "1")]).await, ["not json"]);
}

#[tokio::test]
async fn the_first_redelivery_follows_within_thirty_seconds_and_later_ones_after_longer() {
    for queue in ["chunks", "create-job.fifo"] {
        let mut before = 0;
        for received in 1..=4 {
            let server = server(FailsOn(2));
            let event = with(event(queue, &[("t", "2")]), &[("ApproximateReceiveCount", &received.to_string())]);
            work(&server, event, INVOCATION).await;
            let calls = server.queue.calls.into_inner().unwrap();
            let (handle, seconds) = calls.last().unwrap();
            assert_eq!(handle, "2", "{queue}");
            assert!(*seconds > before && (received > 1 || *seconds < 30), "{queue} {received}: {seconds} s");
            before = *seconds;
        }
    }
}

#[tokio::test]
async fn later_messages_of_a_failed_fifo_group_are_redelivered_too() {
    let server = server(FailsOn(2));
    work(&server, event("create-job.fifo", &[("a", "2"), ("a", "3"), ("b", "4")]), INVOCATION).await;
    let calls = server.queue.calls.into_inner().unwrap();
    assert_eq!(calls.iter().map(|(handle, _)| handle.as_str()).collect::<Vec<_>>(), ["2", "3"]);
}

#[tokio::test]
async fn messages_are_processed_even_if_they_cannot_be_hidden() {
    let server = Server { queue: Hidden { fails: true, ..Hidden::default() }, ..server(FailsOn(2)) };
    let late = [("ApproximateReceiveCount", "2")];
    let answer = work(&server, with(event("chunks", &[("t", "1"), ("t", "2")]), &late), INVOCATION).await;
    let failed: Vec<_> = answer.batch_item_failures.into_iter().map(|f| f.item_identifier).collect();
    assert_eq!(failed, ["2"]);
    assert_eq!(server.queue.calls.into_inner().unwrap().len(), 2);
}

/// 120 seconds remain, and five to spare.
#[tokio::test]
async fn a_message_that_waited_for_its_invocation_is_hidden_until_the_end() {
    for (first_receive, receives, hidden) in
        [("995001", "1", vec![]), ("995000", "1", vec![125]), ("999999", "2", vec![125]), ("", "1", vec![])]
    {
        let server = server(FailsOn(2));
        let attributes = [("ApproximateFirstReceiveTimestamp", first_receive), ("ApproximateReceiveCount", receives)];
        work(&server, with(event("chunks", &[("t", "1")]), &attributes), INVOCATION).await;
        let calls = server.queue.calls.into_inner().unwrap();
        assert_eq!(calls.iter().map(|(_, seconds)| *seconds).collect::<Vec<_>>(), hidden, "{first_receive} {receives}");
    }
}
