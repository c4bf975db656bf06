//! Servers that answer with malice.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use longshore_outbound::call::CallOutcome;
use longshore_outbound::failure::CallFailure::{Closed, Protocol, TimedOut, TooLarge};
use longshore_outbound::failure::{Part, Phase};
use longshore_outbound::limits::Limits;
use support::{OK, World, failure, limits};
use tokio::time::interval;

/// Time of a call that does not end. A handshake fits into it on a busy machine, too.
const SHORT: Duration = Duration::from_secs(3);
const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        for target in ["http://169.254.169.254/latest/meta-data/", "https://localhost/", "/other"] {
            let head = format!("HTTP/1.1 {status} Moved\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
            let world = World::answering(head).await;
            assert_eq!(world.answer().await.status, status);
            assert_eq!(world.connections(), 1);
        }
    }
}

#[tokio::test]
async fn a_body_of_the_maximum_size_is_read_and_one_more_byte_is_too_large() {
    let maximum = Limits::default().body_bytes;
    for (bytes, fits) in [(maximum, true), (maximum + 1, false)] {
        let body = vec![b'x'; bytes];
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let chunk = [format!("{bytes:x}\r\n").as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
        let counted = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
        for answer in [[&chunked[..], &chunk].concat(), [counted.as_bytes(), &body].concat()] {
            match World::answering(answer).await.call().await {
                CallOutcome::Answered(answer) => assert!(fits && answer.body.len() == bytes),
                CallOutcome::Failed(failure) => assert!(!fits && failure == TooLarge(Part::Body), "{failure:?}"),
            }
        }
    }
}

/// Starts a server that sends the head, and then the same bytes without end.
async fn endless(limits: Limits, head: &'static str, more: Vec<u8>) -> World {
    let more = Arc::new(more);
    World::new(limits, move |mut accepted| {
        let more = Arc::clone(&more);
        async move {
            accepted.request().await;
            accepted.send(head.as_bytes()).await;
            while accepted.send(&more).await {}
        }
    })
    .await
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunks = |chunk: &str| chunk.repeat(1000).into_bytes();
    let header = format!("x: {}\r\n", "y".repeat(1000));
    for (name, head, more, part) in [
        ("chunked body", chunked, chunk(1024), Part::Body),
        ("body until close", "HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; MIB], Part::Body),
        ("huge length", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", vec![b'x'; MIB], Part::Body),
        ("chunks of one byte", chunked, chunks("00000000001\r\nx\r\n"), Part::Framing),
        ("chunk size of zeros", chunked, vec![b'0'; MIB], Part::Framing),
        ("header lines", "HTTP/1.1 200 OK\r\n", header.into_bytes(), Part::Head),
        ("one header line", "HTTP/1.1 200 OK\r\nx: ", vec![b'y'; MIB], Part::Head),
        ("status line", "HTTP/1.1 200 ", vec![b'y'; MIB], Part::Head),
        ("informational answers", "", chunks("HTTP/1.1 100 Continue\r\n\r\n"), Part::Head),
        ("early hints", "", chunks("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"), Part::Head),
    ] {
        let outcome = endless(limits(), head, more).await.call().await;
        assert_eq!(failure(outcome), TooLarge(part), "{name}");
    }
}

#[tokio::test]
async fn a_length_above_the_limit_is_refused_before_the_body_arrives() {
    let world = World::answering("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n").await;
    assert_eq!(failure(world.call_within(SHORT).await), TooLarge(Part::Body));
}

fn chunk(bytes: usize) -> Vec<u8> {
    [format!("{bytes:x}\r\n").as_bytes(), &vec![b'x'; bytes], b"\r\n"].concat()
}

#[tokio::test]
async fn headers_are_limited_in_number_and_size() {
    let answer =
        |header: &str, times: usize| format!("HTTP/1.1 200 OK\r\n{}content-length: 0\r\n\r\n", header.repeat(times));
    let large = format!("x: {}\r\n", "y".repeat(3 * 1024));
    for (answer, fits) in [
        (answer("x: y\r\n", 99), true),
        (answer("x: y\r\n", 100), false),
        (answer(&large, 10), true),
        (answer(&large, 11), false),
    ] {
        match World::answering(answer).await.call().await {
            CallOutcome::Answered(_) => assert!(fits),
            CallOutcome::Failed(failure) => assert!(!fits && failure == TooLarge(Part::Head), "{failure:?}"),
        }
    }
}

#[tokio::test]
async fn chunk_extensions_and_trailers_are_limited() {
    let start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let huge = "x".repeat(64 * 1024);
    for rest in [format!("2;{huge}\r\n{{}}\r\n0\r\n\r\n"), format!("2\r\n{{}}\r\n0\r\nx: {huge}\r\n\r\n")] {
        let failure = World::answering(format!("{start}{rest}")).await.failure().await;
        assert!(matches!(failure, Protocol(_) | TooLarge(_)), "{failure:?}");
    }
}

#[tokio::test]
async fn what_is_not_http_is_a_fault_of_the_protocol() {
    for answer in [
        "<html>",
        "HTTP/1.1 20\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbad header: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ] {
        let failure = World::answering(answer).await.failure().await;
        assert!(matches!(failure, Protocol(_)), "{answer:?}: {failure:?}");
    }
}

/// Starts a server that sends the head, and then one byte every 20 ms.
async fn dripping(limits: Limits, head: &'static str, byte: &'static str) -> World {
    World::new(limits, move |mut accepted| async move {
        accepted.request().await;
        accepted.send(head.as_bytes()).await;
        let mut ticks = interval(Duration::from_millis(20));
        while accepted.send(byte.as_bytes()).await {
            ticks.tick().await;
        }
    })
    .await
}

#[tokio::test]
async fn a_slow_drip_ends_at_the_deadline_in_heads_and_bodies() {
    for (head, byte, phase) in [
        ("HTTP/1.1 200 OK\r\nx: ", "y", Phase::Head),
        ("", "HTTP/1.1 100 Continue\r\n\r\n", Phase::Head),
        ("HTTP/1.1 200 OK\r\n\r\n", "x", Phase::Body),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=", "x", Phase::Body),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ", "x", Phase::Body),
    ] {
        let outcome = dripping(limits(), head, byte).await.call_within(SHORT).await;
        assert_eq!(failure(outcome), TimedOut(phase), "{head}");
    }
}

#[tokio::test]
async fn a_body_that_pauses_ends_at_the_idle_limit_long_before_the_deadline() {
    let limits = Limits { idle: Duration::from_millis(100), ..limits() };
    for head in [
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{",
        // Progress that brings no data is a pause, too.
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n2;x=",
    ] {
        let world = dripping(limits, head, if head.ends_with('=') { "x" } else { "" }).await;
        assert_eq!(world.failure().await, TimedOut(Phase::Body), "{head}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_closed_at_the_deadline() {
    let closed = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&closed);
    let world = World::new(limits(), move |mut accepted| {
        let seen = Arc::clone(&seen);
        async move {
            accepted.request().await;
            accepted.closed().await;
            seen.store(true, Ordering::SeqCst);
        }
    })
    .await;
    assert_eq!(failure(world.call_within(SHORT).await), TimedOut(Phase::Head));
    while !closed.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_connection_that_ends_early_is_no_answer() {
    for start in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
        // Without the end of TLS, the end of the body may be an attacker's.
        "HTTP/1.1 200 OK\r\n\r\n{}",
    ] {
        let world = World::new(limits(), move |mut accepted| async move {
            accepted.request().await;
            accepted.send(start.as_bytes()).await;
            let (tcp, _) = accepted.stream.into_inner();
            tcp.set_zero_linger().unwrap();
        })
        .await;
        let failure = world.failure().await;
        assert!(matches!(failure, Closed(_)), "{start:?}: {failure:?}");
    }
}

#[tokio::test]
async fn the_status_of_an_error_counts_even_if_its_body_does_not_end() {
    let limits = Limits { idle: Duration::from_millis(100), ..limits() };
    for head in
        ["HTTP/1.1 503 X\r\nretry-after: 9\r\n\r\n", "HTTP/1.1 503 X\r\nretry-after: 9\r\ncontent-length: 99\r\n\r\n"]
    {
        let broken = World::answering(head).await;
        for world in [endless(limits, head, vec![b'x'; MIB]).await, dripping(limits, head, "").await, broken] {
            let CallOutcome::Answered(answer) = world.call_within(SHORT).await else { panic!("{head}") };
            assert_eq!((answer.status, answer.retry_after), (503, Some(Duration::from_secs(9))));
            assert!(answer.body.len() <= limits.excerpt_bytes);
        }
    }
}

#[tokio::test]
async fn the_start_of_a_long_error_is_kept_for_operators() {
    let body = "x".repeat(100_000);
    let counted = format!("HTTP/1.1 500 X\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let chunked =
        format!("HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for head in [counted, chunked] {
        let answer = World::answering(head).await.answer().await;
        assert_eq!((answer.status, answer.body.len()), (500, limits().excerpt_bytes));
    }
}

#[tokio::test]
async fn an_answer_before_the_end_of_the_request_is_an_answer() {
    let world = World::new(limits(), |mut accepted| async move {
        accepted.send(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
        accepted.closed().await;
    })
    .await;
    // The answer may overtake the request: then it is an answer to nothing, and the connection is not used.
    match world.call().await {
        CallOutcome::Answered(answer) => assert_eq!(answer.status, 413),
        CallOutcome::Failed(failure) => assert!(matches!(failure, Closed(_) | Protocol(_)), "{failure:?}"),
    }
    assert_eq!(World::answering(OK).await.answer().await.status, 200);
}
