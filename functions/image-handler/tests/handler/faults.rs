//! Servers that fail, and a bucket that fails.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use image::ImageFormat::Png;
use image_handler::{ImageHandler, TimeLimits};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{FileInfo, Files, PortError, PortResult, PrefixRemoval, Read, Unavailable};
use longshore_domain::timestamp::Timestamp;
use longshore_outbound::client::Client;
use longshore_outbound::limits::Limits;
use longshore_outbound::network::{Later, Network};
use longshore_outbound::public_url::PublicUrls;
use longshore_testing::MemoryFiles;
use serde_json::json;
use tokio::net::TcpStream;

use crate::server::{Reaction, answer, ok, status};
use crate::world::{LONG, World, request};

#[tokio::test]
async fn a_status_rejects_or_retries_an_image() {
    let world = World::new([
        ("/401", status(401, "")),
        ("/403", status(403, "")),
        ("/410", status(410, "")),
        ("/400", status(400, "")),
        ("/204", answer("HTTP/1.1 204 X\r\n\r\n", b"")),
        ("/304", status(304, "")),
        ("/302", status(302, "")),
        ("/202", status(202, "")),
        ("/408", status(408, "")),
        ("/429", status(429, "retry-after: 7\r\n")),
        ("/429-long", status(429, "retry-after: 99999999\r\n")),
        ("/429-none", status(429, "")),
        ("/500", status(500, "")),
        ("/503", status(503, "retry-after: 120\r\n")),
    ])
    .await;
    for (path, expected) in [
        ("/none", "reject not_found"),
        ("/410", "reject not_found"),
        ("/401", "reject access_denied"),
        ("/403", "reject access_denied"),
        ("/400", "reject unexpected_status"),
        ("/204", "reject unexpected_status"),
        ("/304", "reject unexpected_status"),
        ("/302", "reject unexpected_status"),
        ("/202", "retry"),
        ("/408", "retry"),
        ("/429", "retry 7"),
        ("/429-long", "retry 3600"),
        ("/429-none", "retry"),
        ("/500", "retry"),
        ("/503", "retry 120"),
    ] {
        assert_eq!(world.outcome(path).await, expected, "{path}");
    }
    assert!(world.files.keys().is_empty());
}

#[tokio::test]
async fn a_download_that_fails_or_takes_too_long_is_tried_again() {
    let times = TimeLimits { download: Duration::from_millis(300), ..LONG };
    let half = answer("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n", b"half");
    let world =
        World::with([("/silent", Reaction::Silence), ("/close", Reaction::Close), ("/half", half)], times).await;
    for path in ["/silent", "/close", "/half"] {
        assert_eq!(world.outcome(path).await, "retry", "{path}");
    }
    let closed = json!("https://localhost:1/a");
    assert_eq!(
        crate::world::described(&world.send(request(json!({}), vec![closed], Duration::from_secs(60))).await),
        ["reject url_not_allowed"]
    );
}

/// A resolver of hosts within a network.
struct PrivateHosts;

impl Network for PrivateHosts {
    fn resolve<'a>(&'a self, _: &'a str) -> Later<'a, Vec<IpAddr>> {
        Box::pin(async { Ok(vec![IpAddr::from([10, 1, 2, 3])]) })
    }

    fn connect(&self, address: SocketAddr) -> Later<'_, TcpStream> {
        panic!("connects to {address}")
    }
}

#[tokio::test]
async fn a_host_with_a_private_address_is_rejected_without_the_address() {
    let client = Client::new(Limits::default()).unwrap().with_network(Arc::new(PrivateHosts));
    let handler = ImageHandler::new(MemoryFiles::default(), client, PublicUrls::default(), LONG);
    let event = request(json!({}), vec![json!("https://intranet.example.com/a")], Duration::from_secs(60)).to_string();
    let answer = serde_json::to_value(handler.answer(&event, Timestamp(i64::MAX)).await.unwrap()).unwrap();
    assert_eq!(answer["results"][0]["code"], "url_not_allowed", "{answer}");
    assert!(!answer.to_string().contains("10.1.2.3"), "{answer}");
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_rejected() {
    let flood = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(200));
    let world = World::new([("/garbage", answer("<html>", b"")), ("/flood", answer(&flood, b""))]).await;
    for path in ["/garbage", "/flood"] {
        assert_eq!(world.outcome(path).await, "reject bad_response", "{path}");
    }
}

/// Files of a bucket that accepts some writes and then fails.
struct FailingFiles {
    files: MemoryFiles,
    accepted: AtomicUsize,
    failure: fn() -> PortError,
}

impl Files for FailingFiles {
    type Stream = <MemoryFiles as Files>::Stream;

    async fn info(&self, _: &str) -> PortResult<Option<FileInfo>> {
        panic!("the function reads nothing")
    }

    async fn open(&self, _: &str, _: Option<&str>, _: u64, _: Option<u64>) -> PortResult<Read<Self::Stream>> {
        panic!("the function reads nothing")
    }

    async fn read(&self, _: &str, _: Option<&str>, _: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        panic!("the function reads nothing")
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        assert_eq!(content_type, "image/png");
        if self.accepted.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.accepted.store(0, Ordering::SeqCst);
            return Err((self.failure)());
        }
        self.files.write(key, content_type, bytes).await
    }

    async fn remove(&self, _: &str) -> PortResult<()> {
        panic!("the function removes nothing")
    }

    async fn remove_some(&self, _: &str) -> PortResult<PrefixRemoval> {
        panic!("the function removes nothing")
    }
}

async fn failing(accepted: usize, failure: fn() -> PortError) -> World<FailingFiles> {
    let wrap = move |files| FailingFiles { files, accepted: AtomicUsize::new(accepted), failure };
    World::over([("/a", ok(&picture()))], LONG, wrap).await
}

fn picture() -> Vec<u8> {
    crate::world::picture(8, 8, Png)
}

fn unavailable() -> PortError {
    PortError { service: "files", operation: "write", source: Box::new(Unavailable("503".into())) }
}

fn denied() -> PortError {
    PortError { service: "files", operation: "write", source: "AccessDenied".into() }
}

#[tokio::test]
async fn while_the_bucket_is_unavailable_no_image_spends_a_try() {
    let some = failing(2, unavailable).await;
    let outcomes = some.images(json!({}), &["/a", "/a", "/a", "/a"]).await;
    assert_eq!(crate::world::described(&outcomes), ["ok", "ok", "unanswered", "unanswered"]);
    let none = failing(0, unavailable).await;
    let event = request(json!({}), vec![json!(none.url("/a"))], Duration::from_secs(60)).to_string();
    let answer = serde_json::to_value(none.handler.answer(&event, Timestamp(i64::MAX)).await.unwrap()).unwrap();
    assert_eq!(answer, json!({ "retryBatch": { "after": 20, "reason": "the storage of the images is unavailable" } }));
}

#[tokio::test]
async fn a_bucket_that_refuses_a_copy_fails_the_invocation() {
    let world = failing(1, denied).await;
    let values = vec![json!(world.url("/a")); 2];
    let event = request(json!({}), values, Duration::from_secs(60)).to_string();
    let error = world.handler.answer(&event, Timestamp(i64::MAX)).await.unwrap_err();
    assert_eq!(error.to_string(), "the copies of an image cannot be stored");
}
