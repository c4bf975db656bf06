//! The root secret: read once, kept for five minutes, and never shown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use longshore_targets::root_secret::{KEPT_FOR, RETRY_AFTER, RootSecretError, RootSecretReader};

use crate::stub::{Reaction, Stub, response};
use crate::world::{SECRET, SECRET_ARN, root_secret, secrets};

#[tokio::test]
async fn the_root_secret_is_read_at_the_first_call_and_again_after_five_minutes() {
    let stub = secrets().await;
    let reader = root_secret(&stub.url);
    assert_eq!(stub.requests().len(), 0);
    for (passed, reads) in [(Duration::ZERO, 1), (KEPT_FOR / 2, 1), (KEPT_FOR / 2, 2), (Duration::ZERO, 2)] {
        tokio::time::pause();
        tokio::time::advance(passed).await;
        tokio::time::resume();
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
async fn an_earlier_secret_is_used_while_it_cannot_be_read_again() {
    let reads = AtomicUsize::new(0);
    let stub = Stub::new(move |_| match reads.fetch_add(1, Ordering::SeqCst) {
        0 => Reaction::Respond(response(200, "", format!(r#"{{"SecretString":"{SECRET}"}}"#))),
        _ => Reaction::Respond(response(400, "", r#"{"__type":"AccessDeniedException"}"#)),
    })
    .await;
    let reader = root_secret(&stub.url);
    let first = reader.of_job_type("invite").await.unwrap();
    for (passed, reads) in [(KEPT_FOR, 2), (RETRY_AFTER / 2, 2), (RETRY_AFTER / 2, 3)] {
        tokio::time::pause();
        tokio::time::advance(passed).await;
        tokio::time::resume();
        assert_eq!(reader.of_job_type("invite").await.unwrap(), first);
        assert_eq!(stub.requests().len(), reads, "{passed:?}");
    }
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
