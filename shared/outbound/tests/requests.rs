//! Requests as an endpoint receives them, and answers as the caller does.

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use longshore_outbound::call::CallOutcome;
use longshore_outbound::probe::Signing;
use support::{OK, World, limits};

#[tokio::test]
async fn a_request_is_signed_and_asks_for_an_answer_that_is_not_compressed() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let requests = Arc::clone(&seen);
    let world = World::new(limits(), move |mut accepted| {
        let requests = Arc::clone(&requests);
        async move {
            while let Some(request) = accepted.request().await {
                requests.lock().unwrap().push(request);
                accepted.send(OK).await;
            }
        }
    })
    .await;
    assert_eq!(world.answer().await.status, 200);
    let [request] = seen.lock().unwrap().clone().try_into().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<_> = head.lines().skip(1).collect();
    lines.sort_unstable();
    assert_eq!(head.lines().next(), Some("POST /hook?x=1 HTTP/1.1"));
    assert_eq!(
        lines,
        [
            "accept-encoding: identity",
            "accept: application/json",
            "content-length: 20",
            "content-type: application/json",
            &format!("host: localhost:{}", world.port),
            "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            &format!("user-agent: Longshore/{}", env!("CARGO_PKG_VERSION")),
            "webhook-id: batch-1",
            "webhook-signature: v1,f0bcq0T26XG2Pt7WZ1LcpxXkBWsYhue/zCE54kdg1fA=",
            "webhook-timestamp: 1614265330",
        ]
    );
    assert_eq!(body.as_bytes(), support::BODY);
}

#[tokio::test]
async fn a_request_of_the_maximum_size_is_sent_whole() {
    let world = World::new(limits(), |mut accepted| async move {
        while let Some(request) = accepted.request().await {
            let body = request.split_once("\r\n\r\n").unwrap().1.len();
            accepted.send(format!("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{body}").as_bytes()).await;
        }
    })
    .await;
    let outcome = world.call_with(vec![b'x'; 4 << 20].into(), Duration::from_secs(60)).await;
    let CallOutcome::Answered(answer) = outcome else { panic!("{outcome:?}") };
    assert_eq!(&answer.body[..], b"4194304");
}

#[tokio::test]
async fn every_status_is_an_answer() {
    for status in [200, 204, 299, 400, 401, 404, 410, 429, 500, 503, 599, 999] {
        let world =
            World::answering(format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nretry-after: 7\r\n\r\n")).await;
        let answer = world.answer().await;
        assert_eq!((answer.status, answer.retry_after), (status, Some(Duration::from_secs(7))));
    }
}

#[tokio::test]
async fn a_body_is_returned_as_it_was_sent() {
    for (answer, body) in [
        (&b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b"[..], &b"\x1f\x8b"[..]),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\nx: y\r\n\r\n", b"{}"),
        (b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", b"{}"),
    ] {
        let answer = World::answering(answer).await.answer().await;
        assert_eq!((answer.status, &answer.body[..]), (200, body));
    }
}

#[tokio::test]
async fn a_probe_can_be_unsigned_and_shows_headers_of_the_answer() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let requests = Arc::clone(&seen);
    let world = World::new(limits(), move |mut accepted| {
        let requests = Arc::clone(&requests);
        async move {
            while let Some(request) = accepted.request().await {
                requests.lock().unwrap().push(request.contains("\r\nwebhook-"));
                let head =
                    "HTTP/1.1 302 Found\r\nlocation: /a\tb\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n";
                accepted.send(head.as_bytes()).await;
            }
        }
    })
    .await;
    for signing in [Signing::Signed, Signing::Unsigned] {
        let headers = world.probe(signing).await.headers;
        assert_eq!(headers.location.as_deref(), Some("/ab"));
        assert_eq!(headers.content_type.as_deref(), Some("text/html"));
    }
    assert_eq!(*seen.lock().unwrap(), [true, false]);
}
