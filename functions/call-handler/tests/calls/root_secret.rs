//! The root secret: read once, kept for five minutes, and never shown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use longshore_targets::root_secret::{KEPT_FOR, MAX_AGE, RETRY_AFTER, RootSecretError, RootSecretReader};

use crate::stub::{Reaction, Stub, response};
use crate::world::{SECRET, SECRET_ARN, root_secret, secrets};

#[tokio::test]
async fn the_root_secret_is_read_at_the_first_call_and_again_after_five_minutes() {
    let stub = secrets().await;
    let reader = root_secret(&stub.url);
    assert_eq!(stub.requests().len(), 0);
    for (passed, reads) in [(Duration::ZERO, 1), (KEPT_FOR / 2, 1), (KEPT_FOR / 2, 2), (Duration::ZERO, 2)] {
        pass(passed).await;
        let (invite, mail) = (reader.of_job_type("invite").await.unwrap(), reader.of_job_type("mail").await.unwrap());
        assert_ne!(invite, mail);
        assert!(!format!("{invite:?}").contains(SECRET));
        assert_eq!(stub.requests().len(), reads);
    }
    assert!(stub.requests()[0].contains(&format!(r#""SecretId":"{SECRET_ARN}""#)), "{}", stub.requests()[0]);
}

#[tokio::test]
async fn a_secret_that_was_not_read_is_read_at_the_next_call_and_no_error_has_its_text() {
    let damaged = response(200, "", format!(r#"{{"SecretString":"{SECRET}""#));
    let stub = Stub::always(Reaction::Respond(damaged)).await;
    let reader = root_secret(&stub.url);
    for _ in 0..2 {
        let before = stub.requests().len();
        let error = reader.of_job_type("invite").await.unwrap_err();
        assert!(!format!("{error:?} {error}").contains(SECRET), "{error:?}");
        assert!(stub.requests().len() > before);
    }
}

#[tokio::test]
async fn an_earlier_secret_is_used_for_an_hour_while_it_cannot_be_read_again() {
    let (stub, reader) = read_once("ThrottlingException").await;
    let first = reader.of_job_type("invite").await.unwrap();
    let mut reads = 1;
    for (passed, is_read) in [(KEPT_FOR, true), (RETRY_AFTER / 2, false), (RETRY_AFTER / 2, true)] {
        pass(passed).await;
        assert_eq!(reader.of_job_type("invite").await.unwrap(), first);
        assert_eq!(stub.requests().len() > reads, is_read, "{passed:?}");
        reads = stub.requests().len();
    }
    pass(MAX_AGE).await;
    assert!(matches!(reader.of_job_type("invite").await, Err(RootSecretError::Unavailable(_))));
}

#[tokio::test]
async fn a_secret_that_may_not_be_read_any_more_is_not_used_any_more() {
    let (_stub, reader) = read_once("AccessDeniedException").await;
    reader.of_job_type("invite").await.unwrap();
    pass(KEPT_FOR).await;
    assert_eq!(reader.of_job_type("invite").await, Err(RootSecretError::Refused("AccessDeniedException".into())));
}

async fn read_once(then: &str) -> (Stub, RootSecretReader) {
    let (reads, then) = (AtomicUsize::new(0), format!(r#"{{"__type":"{then}"}}"#));
    let stub = Stub::new(move |_| match reads.fetch_add(1, Ordering::SeqCst) {
        0 => Reaction::Respond(response(200, "", format!(r#"{{"SecretString":"{SECRET}"}}"#))),
        _ => Reaction::Respond(response(400, "", &then)),
    })
    .await;
    let reader = root_secret(&stub.url);
    (stub, reader)
}

async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_slow_read_ends_before_a_ping_would() {
    let stub = Stub::always(Reaction::After(Vec::new(), Duration::from_secs(19), response(200, "", "{}"))).await;
    assert_eq!(root_secret(&stub.url).of_job_type("invite").await, Err(RootSecretError::TimedOut));
}

#[tokio::test]
async fn a_stack_without_a_root_secret_says_so() {
    let error = RootSecretReader::default().of_job_type("invite").await.unwrap_err();
    assert_eq!(error.to_string(), "the environment variable LONGSHORE_ROOT_SECRET_ARN is not set");
}
