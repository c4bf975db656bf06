//! Pings of registrations: their results count for the version that asked for them.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use call_handler::{CallHandler, HandlerMessage, PingError, PingedRegistration, ping_registration};
use longshore::batch::{Delivery, MessageHandler};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore::remote::{CallHandlers, Calling, NotCalled, RemoteCall, RemoteReply};
use longshore_domain::message::PingMessage;
use longshore_domain::ports::{JobTypes, TypeDeletion, TypeWrite};
use longshore_domain::registration::{Candidate, Registration, RegistrationStatus, Target, TypeName, Version};
use longshore_domain::remote::ConnectionError;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::{Value, json};

/// The handler's answer to pings.
#[derive(Copy, Clone, PartialEq)]
enum Pong {
    Good,
    OtherChallenge,
    Status(u16),
    NotAllowed,
    NotCalled,
}

struct Answering {
    pong: Pong,
    pings: Mutex<Vec<String>>,
}

impl Answering {
    fn new(pong: Pong) -> Self {
        Self { pong, pings: Mutex::default() }
    }

    fn pings(&self) -> usize {
        self.pings.lock().unwrap().len()
    }
}

impl CallHandlers for Answering {
    fn stack(&self) -> &str {
        "longshore-test"
    }

    fn call<'a>(&'a self, call: RemoteCall<'a>) -> Calling<'a> {
        let body: Value = serde_json::from_slice(&call.body).unwrap();
        assert_eq!((&body["stack"], call.job_type, call.trace), (&json!("longshore-test"), "invite", None));
        self.pings.lock().unwrap().push(call.id.to_owned());
        let challenge = if self.pong == Pong::OtherChallenge { &Value::Null } else { &body["challenge"] };
        let pong = json!({ "schemas": ["longshore.items/1"], "challenge": challenge, "modes": ["run"] });
        Box::pin(ready(match self.pong {
            Pong::Good | Pong::OtherChallenge => Ok(RemoteReply::Returned { payload: pong.to_string().into() }),
            Pong::Status(status) => Ok(RemoteReply::Http { status, retry_after: None, body: Vec::new() }),
            Pong::NotAllowed => Ok(RemoteReply::Connection(ConnectionError::NotAllowed)),
            Pong::NotCalled => Err(NotCalled::new("the request cannot be signed", "no secret")),
        }))
    }

    fn sleep(&self, _: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(ready(()))
    }
}

fn clock() -> Timestamp {
    Timestamp(1_000_000)
}

fn name() -> TypeName {
    TypeName::parse("invite").unwrap()
}

/// Stores a candidate with this URL, and returns its message.
async fn put(store: &MemoryStore, url: &str) -> PingMessage {
    let candidate = Candidate::new(Registration::new(name(), Target::Url(url.into())), clock());
    let seen = store.job_type(&name()).await.unwrap().map(|stored| stored.revision());
    let written = store.put_candidate(&name(), Some(&candidate), seen.as_ref()).await.unwrap();
    assert_eq!(written, TypeWrite::Stored);
    PingMessage { name: name(), version: candidate.version }
}

async fn status(store: &MemoryStore) -> Option<RegistrationStatus> {
    store.job_type(&name()).await.unwrap().map(|stored| stored.status())
}

async fn reason(store: &MemoryStore) -> Option<String> {
    Some(store.job_type(&name()).await.unwrap()?.candidate?.refusal?.reason)
}

#[tokio::test]
async fn a_pings_result_decides_about_its_candidate() {
    use PingedRegistration::{Activated, Refused};
    for (pong, failures, expected, words) in [
        (Pong::Good, 0, Some(Activated), ""),
        (Pong::Good, 9, Some(Activated), ""),
        (Pong::OtherChallenge, 0, Some(Refused), "`challenge`"),
        (Pong::Status(403), 0, Some(Refused), "answered 403"),
        (Pong::NotAllowed, 0, Some(Refused), "ask the owner of the stack"),
        (Pong::Status(429), 0, None, "429"),
        (Pong::Status(503), 3, None, "503"),
        (Pong::Status(503), 4, Some(Refused), "each of 5 pings was put off"),
        (Pong::NotCalled, 9, None, "not called"),
    ] {
        let (store, handlers) = (MemoryStore::default(), Answering::new(pong));
        let message = put(&store, "https://a.example.com/").await;
        match (ping_registration(&store, &handlers, &message, failures, clock).await, expected) {
            (Ok(end), Some(expected)) => {
                let status =
                    if expected == Activated { RegistrationStatus::Active } else { RegistrationStatus::Refused };
                assert_eq!((end, self::status(&store).await), (expected, Some(status)), "{words}");
                assert!(reason(&store).await.is_none_or(|reason| reason.contains(words)), "{words}");
                assert_eq!(reason(&store).await.is_some(), expected == Refused);
            }
            (Err(error), None) => {
                assert!(error.to_string().contains(words), "{error}");
                assert_eq!(status(&store).await, Some(RegistrationStatus::Pending));
            }
            (result, expected) => panic!("{result:?}, expected {expected:?}"),
        }
        assert_eq!(handlers.pings(), 1);
    }
}

#[tokio::test]
async fn a_second_delivery_pings_no_handler_again() {
    for (pong, first) in [(Pong::Good, PingedRegistration::Activated), (Pong::Status(500), PingedRegistration::Refused)]
    {
        let (store, handlers) = (MemoryStore::default(), Answering::new(pong));
        let message = put(&store, "https://a.example.com/").await;
        for expected in [first, PingedRegistration::Stale] {
            assert_eq!(ping_registration(&store, &handlers, &message, 0, clock).await.unwrap(), expected);
        }
        assert_eq!(handlers.pings(), 1);
    }
}

#[tokio::test]
async fn a_late_message_changes_nothing() {
    let (store, handlers) = (MemoryStore::default(), Answering::new(Pong::Good));
    let unknown = PingMessage { name: name(), version: Version::stored("1-a") };
    let replaced = put(&store, "https://a.example.com/").await;
    let current = put(&store, "https://b.example.com/").await;
    for message in [&unknown, &replaced] {
        let end = ping_registration(&store, &handlers, message, 0, clock).await.unwrap();
        assert_eq!((end, status(&store).await), (PingedRegistration::Stale, Some(RegistrationStatus::Pending)));
    }
    let seen = store.job_type(&name()).await.unwrap().map(|stored| stored.revision());
    assert_eq!(store.delete_job_type(&name(), seen.as_ref()).await.unwrap(), TypeDeletion::Deleted);
    let end = ping_registration(&store, &handlers, &current, 0, clock).await.unwrap();
    assert_eq!((end, status(&store).await, handlers.pings()), (PingedRegistration::Stale, None, 0));
}

#[tokio::test]
async fn the_function_takes_pings_from_its_queue() {
    let handlers = Arc::new(Answering::new(Pong::Status(429)));
    let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
    let message = put(&store, "https://a.example.com/").await;
    let ports = Ports { store: store.clone(), queues, files };
    let calls: Arc<dyn CallHandlers> = Arc::clone(&handlers) as Arc<dyn CallHandlers>;
    let function = CallHandler::new(ports, Registry::default(), calls, 0);
    let delivery = Delivery { deadline: Timestamp::now().plus_seconds(200), failures: 0, sent_at: None };
    let error = function.handle(HandlerMessage::Ping(message.clone()), delivery).await.unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(PingError::Busy(_))), "{error}");
    let last = Delivery { failures: 4, ..delivery };
    assert_eq!(function.handle(HandlerMessage::Ping(message), last).await.unwrap(), "Refused");
    assert_eq!(handlers.pings(), 2);
}
