//! Calls of Lambda functions: each is one request, and each response has one meaning.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aws_sdk_lambda::config::Builder as LambdaConfig;
use longshore::remote::RemoteReply;
use longshore_domain::remote::ConnectionError;
use longshore_invoke::Functions;

use crate::stub::{Reaction, Stub, refusing, response};
use crate::tls::Authority;
use crate::world::{ALIAS, TIMEOUT_S, aws, call, call_with, function, handlers};

/// Returns a refusal by Lambda.
fn refusal(status: u16, name: &str) -> Reaction {
    let headers = format!("x-amzn-errortype: {name}\r\nretry-after: 7\r\n");
    Reaction::Respond(response(status, &headers, r#"{"Message":"no","Type":"User"}"#))
}

fn refused(status: u16, name: &str) -> RemoteReply {
    RemoteReply::LambdaError { name: name.into(), status: Some(status), retry_after: Some("7".into()) }
}

async fn reply(stub: &Stub) -> RemoteReply {
    let handlers = handlers(&stub.url, &Authority::new(), 443);
    call(&handlers, &function(ALIAS)).await.unwrap()
}

#[tokio::test]
async fn every_response_has_one_meaning_and_no_request_is_repeated() {
    let failed = response(200, "x-amz-function-error: Unhandled\r\n", r#"{"errorType":"KeyError"}"#);
    let cut_off = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec();
    let of = |bytes| Reaction::Respond(bytes);
    let broken = RemoteReply::Connection(ConnectionError::Protocol);
    for (reaction, expected) in [
        (of(response(200, "", r#"{"all":"ok"}"#)), RemoteReply::Returned { payload: br#"{"all":"ok"}"#.to_vec() }),
        (of(response(200, "", "")), RemoteReply::Returned { payload: Vec::new() }),
        (of(failed), RemoteReply::FunctionError { payload: br#"{"errorType":"KeyError"}"#.to_vec() }),
        (refusal(429, "TooManyRequestsException"), refused(429, "TooManyRequestsException")),
        (refusal(404, "ResourceNotFoundException"), refused(404, "ResourceNotFoundException")),
        (refusal(403, "AccessDeniedException"), refused(403, "AccessDeniedException")),
        (refusal(502, "KMSAccessDeniedException"), refused(502, "KMSAccessDeniedException")),
        (refusal(500, "ServiceException"), refused(500, "ServiceException")),
        (refusal(503, "ServiceUnavailableException"), refused(503, "ServiceUnavailableException")),
        (refusal(400, "SomethingNew"), refused(400, "SomethingNew")),
        (of(response(200, "", vec![b' '; 6_000_000])), RemoteReply::TooLarge { body: Vec::new() }),
        (Reaction::Close, broken),
    ] {
        let stub = Stub::always(reaction).await;
        assert_eq!(reply(&stub).await, expected);
        assert_eq!(stub.requests().len(), 1, "{expected:?}");
    }
    let stub = Stub::new(move |_| Reaction::Respond(response(500, "", "<html>"))).await;
    let unnamed = reply(&stub).await;
    assert!(matches!(unnamed, RemoteReply::LambdaError { status: Some(500), .. }), "{unnamed:?}");
    // An answer that is cut off ends when its connection does.
    let stub = Stub::always(Reaction::Drip(cut_off)).await;
    assert!(matches!(reply(&stub).await, RemoteReply::Returned { .. }), "its rest comes slowly");
}

#[tokio::test]
async fn a_request_names_the_alias_and_has_the_body_as_it_is() {
    let stub = Stub::always(Reaction::Respond(response(200, "", "{}"))).await;
    let handlers = handlers(&stub.url, &Authority::new(), 443);
    let body = vec![b' '; 4 << 20];
    call_with(&handlers, &function(ALIAS), body).await.unwrap();
    let [request] = stub.requests().try_into().unwrap();
    let path = "/2015-03-31/functions/arn%3Aaws%3Alambda%3Aeu-central-1%3A123456789012%3Afunction%3Ainvite%3Alive";
    assert!(request.starts_with(&format!("POST {path}/invocations ")), "{}", &request[..200]);
    assert!(request.contains("x-amz-invocation-type: RequestResponse\r\n"), "{}", &request[..900]);
    assert_eq!(request.split_once("\r\n\r\n").unwrap().1.len(), 4 << 20);
}

/// Calls a function that returns these bytes at once and the others after a time, which passes at once.
async fn slow(sent: usize, seconds: i64) -> RemoteReply {
    let answer = response(200, "", r#"{"all":"ok"}"#);
    let (first, rest) = answer.split_at(sent);
    let time = Duration::from_secs(seconds as u64);
    let stub = Stub::always(Reaction::After(first.to_vec(), time, rest.to_vec())).await;
    let replied = reply(&stub).await;
    assert_eq!(stub.requests().len(), 1);
    replied
}

#[tokio::test]
async fn a_slow_function_has_all_of_its_time() {
    for (sent, seconds) in [(0, 60), (0, TIMEOUT_S - 2), (45, 90)] {
        let replied = slow(sent, seconds).await;
        assert!(matches!(replied, RemoteReply::Returned { .. }), "{sent} bytes, {seconds} s: {replied:?}");
    }
}

#[tokio::test]
async fn a_function_that_is_too_slow_has_timed_out() {
    assert_eq!(slow(0, TIMEOUT_S + 2).await, RemoteReply::TimedOut);
}

#[tokio::test]
async fn an_answer_that_drips_is_cut_off_at_the_deadline() {
    let started = Instant::now();
    let stub = Stub::always(Reaction::Drip(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{".to_vec())).await;
    assert_eq!(reply(&stub).await, RemoteReply::TimedOut);
    assert_eq!(stub.requests().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(60), "no time passes");
}

#[tokio::test]
async fn a_refused_connection_is_not_a_broken_one() {
    let handlers = handlers(&refusing().await, &Authority::new(), 443);
    let reply = call(&handlers, &function(ALIAS)).await.unwrap();
    assert_eq!(reply, RemoteReply::Connection(ConnectionError::Connect));
}

#[tokio::test]
async fn a_function_that_the_list_has_not_or_not_any_more_is_not_called() {
    let stub = Stub::always(Reaction::Respond(response(200, "", "{}"))).await;
    let mut handlers = handlers(&stub.url, &Authority::new(), 443);
    let not_allowed = RemoteReply::Connection(ConnectionError::NotAllowed);
    let other = function(&ALIAS.replace(":live", ":test"));
    assert_eq!(call(&handlers, &other).await.unwrap(), not_allowed);
    handlers.targets.functions = Default::default();
    assert_eq!(call(&handlers, &function(ALIAS)).await.unwrap(), not_allowed);
    assert_eq!(stub.connections(), 0);
}

#[tokio::test]
async fn calls_one_after_another_share_a_connection() {
    let stub = Stub::always(Reaction::Respond(response(200, "", "{}"))).await;
    let handlers = handlers(&stub.url, &Authority::new(), 443);
    for _ in 0..3 {
        call(&handlers, &function(ALIAS)).await.unwrap();
    }
    assert_eq!(stub.connections(), 1);
}

#[tokio::test]
async fn a_client_whose_call_broke_off_is_not_used_again() {
    let returned = || Reaction::Respond(response(200, "", "{}"));
    let failed = Reaction::Respond(response(200, "x-amz-function-error: Unhandled\r\n", "{}"));
    let cut_off = Reaction::Drip(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{".to_vec());
    // With the number of clients that were created until the call.
    let (reactions, created_by): (Vec<_>, Vec<_>) = [
        (returned(), 1),
        (refusal(429, "TooManyRequestsException"), 1),
        (failed, 1),
        (Reaction::Close, 1),
        (returned(), 2),
        (cut_off, 2),
        (returned(), 3),
    ]
    .into_iter()
    .unzip();
    let reactions = Mutex::new(reactions.into_iter());
    let stub = Stub::new(move |_| reactions.lock().unwrap().next().unwrap()).await;
    let mut handlers = handlers(&stub.url, &Authority::new(), 443);
    let (base, created) = (aws(&stub.url), Arc::<AtomicU32>::default());
    let count = Arc::clone(&created);
    handlers.functions = Functions::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
        LambdaConfig::from(&base.with_new_connections())
    });
    for (number, clients) in created_by.into_iter().enumerate() {
        call(&handlers, &function(ALIAS)).await.unwrap();
        assert_eq!(created.load(Ordering::Relaxed), clients, "after call {number}");
    }
}
