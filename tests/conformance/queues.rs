//! The queues: messages arrive unchanged, control messages once, and dead letters stay.

use std::collections::BTreeSet;

use longshore::queues::SqsQueues;
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Queue};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::JobId;
use longshore_domain::job::{ChunkQueue, Priority};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, PingMessage};
use longshore_domain::ports::{DeadLetterQueues, PingQueue, QueueDepth, Queues, Received, RedriveToSource};
use longshore_domain::registration::{TypeName, Version};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryQueues;
use longshore_tests::harness::setup::CreatedQueues;

use crate::on_both::Local;

async fn sqs() -> (Local, CreatedQueues, SqsQueues) {
    let local = Local::start().await;
    let created = CreatedQueues::create(&local.aws, &local.name).await.unwrap();
    let queues = created.queues(&local.aws);
    (local, created, queues)
}

const NORMAL: ChunkQueue = ChunkQueue::Priority(Priority::Normal);

fn chunk(number: u32, bytes: usize) -> ChunkMessage {
    ChunkMessage {
        job_id: JobId::generate(),
        tenant: TenantId::from_static("default"),
        priority: Priority::Normal,
        is_registered: false,
        group: 3,
        chunk: number,
        plan: ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false, keys: None },
        inline: Some("ü\n".repeat(bytes / 3)),
        failures: 0,
        bisection: None,
        parked_until: None,
    }
}

/// Bodies of a queue's messages, each received once.
async fn receive(local: &Local, url: &str) -> Vec<String> {
    let mut bodies = Vec::new();
    loop {
        let call = local.aws.sqs().receive_message().queue_url(url).max_number_of_messages(10);
        let messages = call.send().await.unwrap().messages.unwrap_or_default();
        if messages.is_empty() {
            return bodies;
        }
        bodies.extend(messages.into_iter().filter_map(|message| message.body));
    }
}

#[tokio::test]
async fn chunks_arrive_unchanged_and_count_toward_the_queue_depth() {
    let (local, created, queues) = sqs().await;
    let mut sent: Vec<_> = (0..25).map(|number| chunk(number, 60_000)).collect();
    queues.send_chunks(&sent, 0).await.unwrap();
    assert_eq!(queues.chunks(NORMAL).await.unwrap(), 25);
    let bodies = receive(&local, &created.urls.chunks[&NORMAL]).await;
    let mut received: Vec<ChunkMessage> = bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    received.sort_by_key(|message| message.chunk);
    sent.sort_by_key(|message| message.chunk);
    assert_eq!(received, sent);
    assert_eq!(queues.chunks(NORMAL).await.unwrap(), 25, "chunks in flight count, too");
}

#[tokio::test]
async fn a_delayed_chunk_counts_toward_the_queue_depth() {
    let (local, created, queues) = sqs().await;
    queues.send_chunks(&[chunk(0, 9)], 900).await.unwrap();
    assert_eq!(receive(&local, &created.urls.chunks[&NORMAL]).await, [""; 0]);
    assert_eq!(queues.chunks(NORMAL).await.unwrap(), 1);
}

#[tokio::test]
async fn each_priority_and_the_registered_types_have_their_own_queue_and_queue_depth() {
    let (local, created, queues) = sqs().await;
    let memory = MemoryQueues::default();
    let numbered = (0..).zip([Priority::Low, Priority::High, Priority::Normal, Priority::Low, Priority::High]);
    let is_registered = |n| n == 4;
    let sent: Vec<_> = numbered
        .map(|(n, priority)| ChunkMessage { priority, is_registered: is_registered(n), ..chunk(n, 9) })
        .collect();
    queues.send_chunks(&sent, 0).await.unwrap();
    memory.send_chunks(&sent, 0).await.unwrap();
    for (queue, expected) in ChunkQueue::ALL.into_iter().zip([vec![1], vec![2], vec![0, 3], vec![4]]) {
        assert_eq!(queues.chunks(queue).await.unwrap(), expected.len() as u64, "{queue:?}");
        assert_eq!(QueueDepth::chunks(&memory, queue).await.unwrap(), expected.len() as u64, "{queue:?}");
        let bodies = receive(&local, &created.urls.chunks[&queue]).await;
        let received: Vec<ChunkMessage> = bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
        assert!(received.iter().all(|message| message.queue() == queue));
        let mut numbers: Vec<_> = received.iter().map(|message| message.chunk).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, expected, "{queue:?}");
    }
}

/// Create and complete messages with the same deduplication id, except for the last of each.
fn control() -> ([CreateMessage; 4], [CompleteMessage; 3]) {
    let job_id = JobId::generate();
    let create = |position, resend| CreateMessage { position, resend, ..CreateMessage::of_job(job_id) };
    let complete = |resend| CompleteMessage { job_id, generation: 0, resend, step: 0, tenant: None, failures: 0 };
    ([create(0, 0), create(0, 0), create(1, 0), create(0, 1)], [complete(0), complete(0), complete(1)])
}

#[tokio::test]
async fn a_duplicate_control_message_arrives_once_and_a_resend_again() {
    let (local, created, queues) = sqs().await;
    let memory = MemoryQueues::default();
    let (creates, completes) = control();
    for message in &creates {
        queues.send_create(message).await.unwrap();
        memory.send_create(message).await.unwrap();
    }
    for message in &completes {
        queues.send_complete(message).await.unwrap();
        memory.send_complete(message).await.unwrap();
    }
    let mut positions: Vec<_> = memory.take_creates().iter().map(|m| (m.resend, m.position)).collect();
    positions.sort_unstable();
    assert_eq!(positions, [(0, 0), (0, 1), (1, 0)]);
    assert_eq!(receive(&local, created.urls.create.as_ref().unwrap()).await.len(), 3);
    assert_eq!(memory.take_completes().len(), 2);
    assert_eq!(receive(&local, created.urls.complete.as_ref().unwrap()).await.len(), 2);
}

/// Number of a queue's receivable messages, and number of those in flight.
async fn depth(local: &Local, url: &str) -> (String, String) {
    use aws_sdk_sqs::types::QueueAttributeName as Name;
    let ask = local.aws.sqs().get_queue_attributes().queue_url(url).attribute_names(Name::All);
    let all = ask.send().await.unwrap().attributes.unwrap();
    let of = |name| all[&name].clone();
    (of(Name::ApproximateNumberOfMessages), of(Name::ApproximateNumberOfMessagesNotVisible))
}

#[tokio::test]
async fn a_dead_letter_stays_receivable_until_it_is_deleted() {
    let (local, created, _) = sqs().await;
    let dead_letters = created.dead_letters(&local.aws);
    let message = chunk(7, 9);
    for body in [serde_json::to_string(&message).unwrap(), "{}".to_owned()] {
        let send = local.aws.sqs().send_message().queue_url(&created.dead[1]).message_body(body);
        send.message_group_id("tenant").send().await.unwrap();
    }
    let read = dead_letters.receive(Queue::Chunk).await.unwrap();
    assert_eq!(depth(&local, &created.dead[1]).await, ("0".into(), "2".into()));
    dead_letters.make_visible(&read.iter().collect::<Vec<_>>()).await.unwrap();
    assert_eq!(
        depth(&local, &created.dead[1]).await,
        ("2".into(), "0".into()),
        "received dead letters stay visible to the alarm"
    );
    let second_read = dead_letters.receive(Queue::Chunk).await.unwrap();
    let names = |dead_letters: &[Received]| {
        dead_letters
            .iter()
            .map(|dead_letter| (dead_letter.sent_at, dead_letter.message_id.clone()))
            .collect::<BTreeSet<_>>()
    };
    assert_eq!((second_read.len(), names(&second_read)), (2, names(&read)), "the same messages with the same ids");
    let readable = second_read
        .iter()
        .find(|dead_letter| DeadLetterMessage::read(Queue::Chunk, &dead_letter.body).job_id().is_some())
        .unwrap();
    assert_eq!(
        (serde_json::from_str::<ChunkMessage>(&readable.body).unwrap(), readable.queue),
        (message, Queue::Chunk)
    );
    assert_eq!(readable.group_id.as_deref(), Some("tenant"));
    dead_letters.delete(readable).await.unwrap();
    assert_eq!(depth(&local, &created.dead[1]).await, ("0".into(), "1".into()));
    assert!(dead_letters.receive(Queue::Create).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_unreadable_dead_letter_returns_unchanged_to_its_source_queue() {
    let (local, created, queues) = sqs().await;
    let low = &created.urls.chunks[&ChunkQueue::Priority(Priority::Low)];
    let dead_letter = |queue, source: Option<&str>| DeadLetterRecord {
        id: "1700000000000-m".into(),
        queue,
        message: DeadLetterMessage::Unreadable { reason: "no JSON".into() },
        sent_at: Timestamp(0),
        seen_at: Timestamp(0),
        receives: 6,
        size_bytes: 1,
        source: source.map(str::to_owned),
        group_id: None,
        resolution: None,
        expires_at: 0,
    };
    for (dead_letter, url) in [
        (dead_letter(Queue::Chunk, low.rsplit('/').next()), low),
        (dead_letter(Queue::Chunk, None), &created.urls.chunks[&NORMAL]),
        (dead_letter(Queue::Create, None), created.urls.create.as_ref().unwrap()),
        (dead_letter(Queue::Complete, None), created.urls.complete.as_ref().unwrap()),
    ] {
        queues.redrive_to_source(&dead_letter, "no, message").await.unwrap();
        assert_eq!(receive(&local, url).await, ["no, message"], "{url}");
    }
}

#[tokio::test]
async fn a_missing_queue_is_named_in_the_error() {
    let (local, ..) = sqs().await;
    let queues = SqsQueues::new(local.aws.sqs(), Default::default());
    for queue in ChunkQueue::ALL {
        let (priority, is_registered) = match queue {
            ChunkQueue::Priority(priority) => (priority, false),
            ChunkQueue::Handler => (Priority::Normal, true),
        };
        let message = ChunkMessage { priority, is_registered, ..chunk(0, 9) };
        let error = queues.send_chunks(&[message], 0).await.unwrap_err();
        let expected = format!("no URL is configured for the {}-chunk queue", queue.as_str());
        assert!(longshore::telemetry::chain(&error).contains(&expected), "{error:?}");
    }
}

#[tokio::test]
async fn a_request_to_ping_arrives_as_often_as_it_is_sent() {
    let (local, created, queues) = sqs().await;
    let memory = MemoryQueues::default();
    let version = Version::generate(Timestamp(1_700_000_000_000));
    let ping = PingMessage { name: TypeName::parse("invite").unwrap(), version };
    for _ in 0..2 {
        queues.send_ping(&ping).await.unwrap();
        memory.send_ping(&ping).await.unwrap();
    }
    let bodies = receive(&local, &created.urls.chunks[&ChunkQueue::Handler]).await;
    let received: Vec<PingMessage> = bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    assert_eq!((received, memory.take_pings()), (vec![ping.clone(), ping.clone()], vec![ping.clone(), ping]));
    let unset = SqsQueues::new(local.aws.sqs(), longshore::queues::QueueUrls::default());
    assert!(
        unset
            .send_ping(&PingMessage { name: TypeName::parse("a").unwrap(), version: Version::stored("1") })
            .await
            .is_err()
    );
}
