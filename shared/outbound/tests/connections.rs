//! Reuse of connections.

mod support;

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longshore_outbound::call::CallOutcome;
use longshore_outbound::failure::CallFailure::{Closed, TimedOut};
use longshore_outbound::failure::Phase;
use longshore_outbound::limits::Limits;
use support::{OK, World, failure, limits};
use tokio::runtime::Builder;
use tokio::sync::{Notify, oneshot};

/// Time of a call that does not end. A handshake fits into it on a busy machine, too.
const SHORT: Duration = Duration::from_secs(3);

#[tokio::test]
async fn calls_one_after_another_share_a_connection() {
    let world = World::answering(OK).await;
    for _ in 0..20 {
        assert_eq!(world.answer().await.status, 200);
    }
    assert_eq!(world.connections(), 1);
}

#[tokio::test]
async fn a_connection_is_used_again_after_an_error_whose_body_was_complete() {
    let world = World::answering("HTTP/1.1 500 X\r\ncontent-length: 3\r\n\r\nbad").await;
    for _ in 0..3 {
        let answer = world.answer().await;
        assert_eq!((answer.status, &answer.body[..]), (500, &b"bad"[..]));
    }
    assert_eq!(world.connections(), 1);
}

#[tokio::test]
async fn a_connection_whose_answer_was_cut_off_is_not_used_again() {
    let long = format!("HTTP/1.1 500 X\r\ncontent-length: 100000\r\n\r\n{}", "x".repeat(100_000));
    for answer in [long.as_str(), "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"] {
        let world = World::answering(answer).await;
        world.answer().await;
        world.answer().await;
        assert_eq!(world.connections(), 2);
    }
}

#[tokio::test]
async fn a_connection_is_not_used_again_after_its_call_ran_out_of_time() {
    let world = World::new(limits(), |mut accepted| async move {
        while accepted.request().await.is_some() && accepted.number > 1 && accepted.send(OK).await {}
        accepted.closed().await;
        // Too late for the first call, and never an answer to the second.
        accepted.send(b"HTTP/1.1 500 Late\r\ncontent-length: 0\r\n\r\n").await;
    })
    .await;
    assert_eq!(failure(world.call_within(SHORT).await), TimedOut(Phase::Head));
    assert_eq!(world.answer().await.status, 200);
    assert_eq!(world.connections(), 2);
}

#[tokio::test]
async fn a_call_whose_deadline_has_passed_sends_nothing_even_on_an_idle_connection() {
    let world = World::new(limits(), |mut accepted| async move {
        accepted.request().await;
        accepted.send(OK).await;
        assert_eq!(accepted.request().await, None);
    })
    .await;
    assert_eq!(world.answer().await.status, 200);
    assert_eq!(failure(world.call_within(Duration::ZERO).await), TimedOut(Phase::Start));
    assert_eq!(world.connections(), 1);
}

#[tokio::test]
async fn a_request_is_not_sent_on_after_its_call_ran_out_of_time() {
    let ended = Arc::new(Notify::new());
    let (read_now, (send, receive)) = (Arc::clone(&ended), oneshot::channel());
    let send = Arc::new(Mutex::new(Some(send)));
    let world = World::new(limits(), move |mut accepted| {
        let (read_now, send) = (Arc::clone(&read_now), send.lock().unwrap().take().unwrap());
        async move {
            read_now.notified().await;
            send.send(accepted.request().await.is_some()).unwrap();
        }
    })
    .await;
    // More than the buffers of the sockets hold.
    let body = vec![b'x'; 64 << 20];
    assert_eq!(failure(world.call_with(body.into(), SHORT).await), TimedOut(Phase::Head));
    ended.notify_one();
    assert!(!receive.await.unwrap(), "the request never becomes complete");
}

#[tokio::test]
async fn a_second_answer_to_one_request_is_never_that_of_the_next() {
    let forged = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged";
    let world = World::new(limits(), move |mut accepted| async move {
        while accepted.request().await.is_some() && accepted.send(&[OK, forged].concat()).await {}
    })
    .await;
    for _ in 0..5 {
        assert_eq!(&world.answer().await.body[..], b"{}");
    }
    assert_eq!(world.connections(), 5);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_while_idle_is_replaced() {
    let world = World::new(limits(), |mut accepted| async move {
        accepted.request().await;
        accepted.send(OK).await;
    })
    .await;
    for _ in 0..5 {
        match world.call().await {
            CallOutcome::Answered(answer) => assert_eq!(answer.status, 200),
            // The request was on its way when the server closed: it is not sent again.
            CallOutcome::Failed(failure) => assert!(matches!(failure, Closed(_)), "{failure:?}"),
        }
    }
}

#[test]
fn a_connection_that_the_server_closed_while_the_process_was_suspended_is_replaced() {
    let server = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    // Declared after the server, so that a server that waits ends with a failed test.
    let (close, closing) = channel();
    let (closed, wait_until_closed) = channel();
    let closing = Arc::new(Mutex::new(closing));
    let world = server.block_on(World::new(limits(), move |mut accepted| {
        let (closing, closed) = (Arc::clone(&closing), closed.clone());
        async move {
            accepted.request().await;
            accepted.send(OK).await;
            closing.lock().unwrap().recv().unwrap();
            drop(accepted);
            closed.send(()).unwrap();
        }
    }));
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        for _ in 0..20 {
            assert_eq!(world.answer().await.status, 200);
            // The client's thread reads nothing meanwhile.
            close.send(()).unwrap();
            wait_until_closed.recv().unwrap();
        }
    });
    assert_eq!(world.connections(), 20);
}

#[tokio::test]
async fn a_request_is_never_sent_twice() {
    let world = World::new(limits(), |mut accepted| async move {
        accepted.request().await;
        if accepted.number == 1 && accepted.send(OK).await {
            accepted.request().await;
        }
    })
    .await;
    assert_eq!(world.answer().await.status, 200);
    let failure = world.failure().await;
    assert!(matches!(failure, Closed(_)), "{failure:?}");
    assert_eq!(world.connections(), 1, "no second attempt");
}

#[tokio::test]
async fn concurrent_calls_have_a_connection_each() {
    let world = World::answering(OK).await;
    let (first, second, third) = tokio::join!(world.answer(), world.answer(), world.answer());
    assert_eq!([first.status, second.status, third.status], [200; 3]);
    assert_eq!(world.connections(), 3);
    let (first, second) = tokio::join!(world.answer(), world.answer());
    assert_eq!([first.status, second.status], [200; 2]);
    assert_eq!(world.connections(), 3);
}

#[tokio::test]
async fn a_connection_that_is_old_or_was_idle_for_too_long_is_not_used_again() {
    for short in [Limits { keep_age: Duration::ZERO, ..limits() }, Limits { keep_idle: Duration::ZERO, ..limits() }] {
        let world = World::new(short, |mut accepted| async move {
            while accepted.request().await.is_some() && accepted.send(OK).await {}
        })
        .await;
        world.answer().await;
        world.answer().await;
        assert_eq!(world.connections(), 2);
    }
}
