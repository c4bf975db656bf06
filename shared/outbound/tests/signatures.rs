//! The published test vectors of signatures, `docs/contract/signatures.json`: requests as an endpoint receives them, and
//! changes of them that a receiver must refuse.
//!
//! The tests in `examples/handlers` verify them with the reference packages of Standard Webhooks for Python and Node.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use hyper::body::Bytes;
use longshore_domain::ids::{ItemKey, JobId};
use longshore_domain::remote::{
    BatchBuilder, BatchLimits, Mode, Ping, RequestBatch, RequestHead, RequestItem, RequestJob,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_outbound::call::{Call, CallOutcome};
use longshore_outbound::secret::{RootSecret, Secrets, SigningSecret};
use longshore_outbound::signature::MessageId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use support::{OK, Requests, World, limits};

const JOB: &str = "01980000-0000-7000-8000-000000000001";
const BATCH: &str = "01980000-0000-7000-8000-000000000001-1-12-3-k3v9q1";
/// Time of the signatures, 2026-11-22T20:00:00Z, in seconds since 1970.
const SIGNED_AT: u64 = 1_795_377_600;
/// Seconds by which the clocks of sender and receiver can differ.
const TOLERANCE: u64 = 300;
/// Values of items whose bytes differ once they are parsed and written again.
const VALUES: [&str; 4] = [
    r#"{"name": "Jürgen Müller", "city": "東京", "note": "👩‍👩‍👧 e\u0301 \u2028"}"#,
    r#"{"email":"bob@example.com","balance":1.0,"account":12345678901234567890,"rate":1e2}"#,
    "\"e\u{301}\u{2028}\u{feff}\"",
    r#"{ "z": 1, "a": "\/\u0041" }"#,
];

/// A request, and the result of its verification.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
struct Vector {
    name: String,
    /// The secret of the receiver.
    secret: String,
    /// The clock of the receiver, in seconds since 1970.
    now: u64,
    headers: BTreeMap<String, String>,
    body: String,
    result: Verification,
}

/// Result of a verification.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verification {
    Accepted,
    HeaderMissing,
    NoSignatureMatches,
    TimestampTooOld,
    TimestampTooNew,
}
use Verification::{Accepted, HeaderMissing, NoSignatureMatches, TimestampTooNew, TimestampTooOld};

impl Vector {
    fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    fn with_header(mut self, name: &str, value: String) -> Self {
        self.headers.insert(name.to_owned(), value);
        self
    }
}

/// An endpoint that receives requests.
struct Receiver {
    world: World,
    requests: Requests,
}

impl Receiver {
    async fn new() -> Self {
        let (world, requests) = World::routing(limits(), |_| OK.to_vec()).await;
        Self { world, requests }
    }

    /// Sends a request, and returns it as it was received, for a receiver with the newest secret.
    async fn receive(&self, name: &str, id: &str, secrets: &Secrets, body: Vec<u8>) -> Vector {
        let call = Call {
            url: &self.world.url("localhost"),
            id: &MessageId::new(id).unwrap(),
            secrets,
            body: Bytes::from(body),
            traceparent: None,
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(SIGNED_AT),
            deadline: Instant::now() + Duration::from_secs(60),
        };
        let outcome = self.world.client.post(&call).await;
        assert!(matches!(outcome, CallOutcome::Answered(_)), "{outcome:?}");
        let request = self.requests.lock().unwrap().pop().unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let headers =
            head.lines().filter_map(|line| line.split_once(": ")).filter(|(name, _)| name.starts_with("webhook-"));
        Vector {
            name: name.to_owned(),
            secret: secrets.newest().reveal(),
            now: SIGNED_AT,
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: body.to_owned(),
            result: Accepted,
        }
    }
}

/// Returns a version of the secret of the job type `contacts`, as operators read it from a stack.
fn secret(version: u32) -> SigningSecret {
    RootSecret::from_bytes(&[7; 32]).unwrap().derive("job-type/contacts", version).unwrap()
}

/// Returns a batch of items with these values.
fn batch<'a>(values: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let (tenant, job_id) = (TenantId::parse("acme").unwrap(), JobId::parse(JOB).unwrap());
    let options = json!({"event": "Eröffnung"});
    let job = RequestJob { id: job_id, job_type: "contacts", tenant: &tenant, generation: 1, options: &options };
    let deadline = Timestamp(((SIGNED_AT + 25) * 1000).try_into().unwrap());
    let head = RequestHead { mode: Mode::Run, job, batch: RequestBatch { id: BATCH, deadline } };
    let mut builder = BatchBuilder::new(&head, BatchLimits::new(1_000, 4 << 20)).unwrap();
    for (value, number) in values.zip(17..) {
        let value = RawValue::from_string(value.to_owned()).unwrap();
        builder.push(&RequestItem { key: ItemKey { job_id, number }, attempt: 1, value: &value }).unwrap();
    }
    builder.finish().unwrap().body
}

/// Returns requests as they are sent, which receivers accept.
async fn accepted(receiver: &Receiver) -> Vec<Vector> {
    let (current, rotating) = (Secrets::One(secret(1)), Secrets::Rotating { new: secret(2), old: secret(1) });
    let items = receiver.receive("a batch of items", BATCH, &current, batch(VALUES.into_iter())).await;
    let ping = serde_json::to_vec(&Ping { challenge: "3q2-7wEjRWc", stack: "longshore-prod" }).unwrap();
    let rotation =
        receiver.receive("a rotation, with the new secret", BATCH, &rotating, batch(VALUES.into_iter())).await;
    let old = Vector { secret: secret(1).reveal(), ..rotation.named("a rotation, with the old secret") };
    let slow = Vector { now: SIGNED_AT + TOLERANCE, ..items.named("five minutes later") };
    let fast = Vector { now: SIGNED_AT - TOLERANCE, ..items.named("five minutes earlier") };
    let ping = receiver.receive("a ping", "ping-3q2-7wEjRWc", &current, ping).await;
    let large = batch(VALUES.into_iter().cycle().take(200));
    let large = receiver.receive("a batch of 200 items", BATCH, &current, large).await;
    vec![items, ping, rotation, old, slow, fast, large]
}

/// Returns changes of a request and of one with two signatures, which receivers refuse.
fn refused(items: &Vector, rotation: &Vector) -> Vec<Vector> {
    let written_again = serde_json::from_str::<Value>(&items.body).unwrap().to_string();
    let signature = &items.headers["webhook-signature"];
    let unsigned = |mut vector: Vector| {
        vector.headers.remove("webhook-signature");
        vector
    };
    let changed = [
        Vector { body: items.body.clone() + " ", ..items.named("another body") },
        Vector { body: written_again, ..items.named("a body that was parsed and written again") },
        items.named("another id").with_header("webhook-id", format!("{BATCH}a")),
        items.named("another timestamp").with_header("webhook-timestamp", (SIGNED_AT + 1).to_string()),
        items.named("another version").with_header("webhook-signature", signature.replace("v1,", "v2,")),
        Vector { secret: secret(2).reveal(), ..items.named("another secret") },
        Vector { secret: secret(3).reveal(), ..rotation.named("a rotation, with another secret") },
    ];
    let mut vectors: Vec<_> =
        changed.into_iter().map(|vector| Vector { result: NoSignatureMatches, ..vector }).collect();
    let (late, early) = (SIGNED_AT + TOLERANCE + 1, SIGNED_AT - TOLERANCE - 1);
    vectors.extend([
        Vector { now: late, result: TimestampTooOld, ..items.named("a request of the past") },
        Vector { now: early, result: TimestampTooNew, ..items.named("a request of the future") },
        Vector { result: HeaderMissing, ..unsigned(items.named("no signature")) },
    ]);
    vectors
}

#[tokio::test]
async fn the_published_signatures_are_those_of_the_requests_that_are_sent() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contract/signatures.json");
    let mut sent = accepted(&Receiver::new().await).await;
    sent.extend(refused(&sent[0], &sent[2]));
    if std::env::var_os("LONGSHORE_UPDATE").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(&sent).unwrap() + "\n").unwrap();
    }
    let published: Vec<Vector> = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let differing = sent.iter().filter(|vector| !published.contains(vector));
    let differing = differing.chain(published.iter().filter(|vector| !sent.contains(vector)));
    assert!(
        sent == published,
        "docs/contract/signatures.json is not what is sent; these differ: {:?}. Receivers verify what is published. After \
         an intended change, `cargo xtask test --update published_signatures` writes the file.",
        differing.map(|vector| &vector.name).collect::<Vec<_>>()
    );
}
