//! Crafted batches, with a queue that records the time for which its messages are hidden.

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

const BEGUN: Invocation =
    Invocation { now: Timestamp(1_000_000), deadline: Timestamp(1_116_000), ends: Timestamp(1_120_000) };

fn server<H: MessageHandler>(handler: H) -> Server<H, Hidden> {
    Server { handler, queue: Hidden::default(), retry_base_s: 30 }
}

struct FailsOn(u32);

impl MessageHandler for FailsOn {
    type Message = u32;
    const FUNCTION: &'static str = "test";

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
    let answer = work(&server(FailsOn(2)), event(queue, messages), BEGUN).await;
    answer.batch_item_failures.into_iter().map(|f| f.item_identifier).collect()
}

#[tokio::test]
async fn a_standard_queue_reports_only_what_failed() {
    assert_eq!(failed("chunks", &[("t", "1"), ("t", "2"), ("t", "3")]).await, ["2"]);
}

/// Processes a message only after the number of failures in its body.
struct AfterFailures;

impl MessageHandler for AfterFailures {
    type Message = u32;
    const FUNCTION: &'static str = "test";

    async fn handle(&self, message: u32, delivery: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        let is_sent = delivery.sent_at == Some(Timestamp(77));
        if delivery.failures == message && is_sent { Ok("done".into()) } else { Err("not yet".into()) }
    }
}

#[tokio::test]
async fn a_handler_is_reported_how_often_its_message_failed_and_when_it_was_sent() {
    for (received, failures) in [("1", "0"), ("3", "2"), ("", "0")] {
        let attributes = [("ApproximateReceiveCount", received), ("SentTimestamp", "77")];
        let event = with(event("chunks", &[("t", failures)]), &attributes);
        let answer = work(&server(AfterFailures), event, BEGUN).await;
        assert!(answer.batch_item_failures.is_empty(), "received {received}");
    }
}

#[tokio::test]
async fn a_fifo_queue_stops_the_failed_messages_group_and_no_other() {
    let messages = [("a", "1"), ("a", "2"), ("b", "3"), ("a", "4")];
    assert_eq!(failed("create-job.fifo", &messages).await, ["2", "4"]);
}

#[tokio::test]
async fn a_message_that_cannot_be_parsed_fails_through_to_its_dead_letter_queue() {
    assert_eq!(failed("chunks", &[("t", "not json"), ("t", "1")]).await, ["not json"]);
}

#[tokio::test]
async fn a_delivery_that_failed_is_followed_within_thirty_seconds_and_later_ones_after_longer() {
    for queue in ["chunks", "create-job.fifo"] {
        let mut before = 0;
        for received in 1..=4 {
            let server = server(FailsOn(2));
            let event = with(event(queue, &[("t", "2")]), &[("ApproximateReceiveCount", &received.to_string())]);
            work(&server, event, BEGUN).await;
            let calls = server.queue.calls.into_inner().unwrap();
            let (handle, seconds) = calls.last().unwrap();
            assert_eq!(handle, "2", "{queue}");
            assert!(*seconds > before && (received > 1 || *seconds < 30), "{queue} {received}: {seconds} s");
            before = *seconds;
        }
    }
}

#[tokio::test]
async fn what_a_failed_message_of_a_fifo_group_holds_up_comes_again_with_it() {
    let server = server(FailsOn(2));
    work(&server, event("create-job.fifo", &[("a", "2"), ("a", "3"), ("b", "4")]), BEGUN).await;
    let calls = server.queue.calls.into_inner().unwrap();
    assert_eq!(calls.iter().map(|(handle, _)| handle.as_str()).collect::<Vec<_>>(), ["2", "3"]);
}

#[tokio::test]
async fn a_queue_that_refuses_to_hide_messages_keeps_none_from_being_worked() {
    let server = Server { queue: Hidden { fails: true, ..Hidden::default() }, ..server(FailsOn(2)) };
    let late = [("ApproximateReceiveCount", "2")];
    let answer = work(&server, with(event("chunks", &[("t", "1"), ("t", "2")]), &late), BEGUN).await;
    let failed: Vec<_> = answer.batch_item_failures.into_iter().map(|f| f.item_identifier).collect();
    assert_eq!(failed, ["2"]);
    assert_eq!(server.queue.calls.into_inner().unwrap().len(), 2);
}

/// 120 seconds remain, and five to spare.
#[tokio::test]
async fn a_message_that_waited_for_its_invocation_is_hidden_until_that_is_over() {
    for (first_receive, receives, hidden) in
        [("995001", "1", vec![]), ("995000", "1", vec![125]), ("999999", "2", vec![125]), ("", "1", vec![])]
    {
        let server = server(FailsOn(2));
        let attributes = [("ApproximateFirstReceiveTimestamp", first_receive), ("ApproximateReceiveCount", receives)];
        work(&server, with(event("chunks", &[("t", "1")]), &attributes), BEGUN).await;
        let calls = server.queue.calls.into_inner().unwrap();
        assert_eq!(calls.iter().map(|(_, seconds)| *seconds).collect::<Vec<_>>(), hidden, "{first_receive} {receives}");
    }
}
