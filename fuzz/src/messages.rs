//! Fuzz target for queue messages and stored records: each input is parsed or refused, and parsed input survives a
//! round trip.
//!
//! The first byte selects the kind; the rest is the text.

use std::error::Error;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use aws_lambda_events::event::sqs::SqsEvent;
use futures::FutureExt;
use longshore::batch::{Delivery, Invocation, MessageHandler, Server, work};
use longshore::result::ResultDocument;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::Manifest;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::{InFlight, PortResult, Visibility};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::WorkFile;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// SQS's limit for the bytes of a deduplication id and of a message group.
const ID_BYTES: usize = 128;

pub(crate) fn check(input: &[u8]) {
    let Some((kind, bytes)) = input.split_first() else { return };
    match kind % 9 {
        0 => create(bytes),
        1 => chunk(bytes),
        2 => complete(bytes),
        3 => work_file(bytes),
        4 => cursor(bytes),
        5 => drop(json::<Job>(bytes)),
        6 => drop(json::<ResultDocument>(bytes)),
        7 => drop(json::<Manifest>(bytes)),
        _ => batch(bytes),
    }
}

/// Parses, serializes and parses again: the value is unchanged.
fn json<T: DeserializeOwned + Serialize + PartialEq + Debug>(bytes: &[u8]) -> Option<T> {
    let read: T = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_string(&read).unwrap_or_else(|error| panic!("{read:?} cannot be written: {error}"));
    let reread: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{written} cannot be read: {error}"));
    assert_eq!(reread, read);
    Some(read)
}

fn create(bytes: &[u8]) {
    let Some(message) = json::<CreateMessage>(bytes) else { return };
    check_ids(&[message.deduplication_id(), message.group_id()]);
    let later = CreateMessage { position: message.position.wrapping_add(1), ..message.clone() };
    assert_ne!(later.deduplication_id(), message.deduplication_id(), "a continuation would be deduplicated");
}

fn chunk(bytes: &[u8]) {
    json::<ChunkMessage>(bytes);
}

fn complete(bytes: &[u8]) {
    let Some(message) = json::<CompleteMessage>(bytes) else { return };
    check_ids(&[message.deduplication_id(), message.group_id()]);
    let later = CompleteMessage { generation: message.generation.wrapping_add(1), ..message.clone() };
    assert_ne!(later.deduplication_id(), message.deduplication_id(), "the completion of a retry would be deduplicated");
}

fn check_ids(ids: &[String]) {
    let fits = |id: &String| (1..=ID_BYTES).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    assert!(ids.iter().all(fits), "{ids:?}");
}

fn work_file(bytes: &[u8]) {
    let Ok(file) = WorkFile::parse(bytes) else { return };
    let written = file.to_bytes().unwrap_or_else(|error| panic!("{file:?} cannot be written: {error}"));
    assert_eq!(WorkFile::parse(&written).ok(), Some(file));
}

fn cursor(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(cursor) = Cursor::parse(text) else { return };
    assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
}

/// A handler that processes a message unless its position is odd, and records all messages.
#[derive(Default)]
struct RecordingHandler(Mutex<Vec<CreateMessage>>);

impl MessageHandler for RecordingHandler {
    type Message = CreateMessage;
    const FUNCTION: &'static str = "fuzz";

    fn job_id(message: &CreateMessage) -> Option<JobId> {
        Some(message.job_id)
    }

    async fn handle(&self, message: CreateMessage, _: Delivery) -> Result<String, Box<dyn Error + Send + Sync>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(message.clone());
        if message.position % 2 == 1 { Err("odd position".into()) } else { Ok("done".into()) }
    }
}

/// A queue in which no visibility timeout is changed.
struct Unchanged;

impl Visibility for Unchanged {
    async fn hide(&self, _: &InFlight<'_>, _: i32) -> PortResult<()> {
        Ok(())
    }
}

/// Checks a batch of messages, one per line; the first letter of a line is its group. Every message is either processed
/// or returned to its queue, and on a FIFO queue no message of a group is processed after a returned one.
fn batch(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<_> = text.lines().map(|line| line.split_at(line.chars().next().map_or(0, char::len_utf8))).collect();
    let fifo = lines.len() % 2 == 1;
    let arn = if fifo { "arn:aws:sqs:r:1:q.fifo" } else { "arn:aws:sqs:r:1:q" };
    let record = |(id, (group, body)): (usize, &(&str, &str))| {
        json!({ "messageId": id.to_string(), "body": body, "attributes": { "MessageGroupId": group },
            "messageAttributes": {}, "eventSourceARN": arn })
    };
    let records: Vec<_> = lines.iter().enumerate().map(record).collect();
    let event: SqsEvent =
        serde_json::from_value(json!({ "Records": records })).unwrap_or_else(|error| panic!("{error}"));
    let handler = RecordingHandler::default();
    let invocation = Invocation { now: Timestamp(0), deadline: Timestamp(0), ends: Timestamp(0) };
    let server = Server { handler, queue: Unchanged, retry_base_s: 30 };
    let answer = work(&server, event, invocation).now_or_never().unwrap_or_else(|| panic!("the handler is pending"));
    let returned: Vec<_> = answer.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect();
    let (mut expected, mut handled, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
    for (id, (group, body)) in lines.iter().enumerate() {
        let message = serde_json::from_str::<CreateMessage>(body).ok();
        let blocked = fifo && stopped.contains(group);
        handled.extend(message.clone().filter(|_| !blocked));
        if blocked || message.is_none_or(|message| message.position % 2 == 1) {
            stopped.push(*group);
            expected.push(id.to_string());
        }
    }
    assert_eq!(returned, expected, "returned messages");
    assert_eq!(server.handler.0.into_inner().unwrap_or_else(PoisonError::into_inner), handled, "processed messages");
}
