//! Calls of HTTPS endpoints: signed, checked, and never repeated.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use call_handler::handlers::Handlers;
use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use longshore::remote::RemoteReply;
use longshore_domain::registration::Target;
use longshore_domain::remote::ConnectionError;
use longshore_outbound::policy::UrlPolicy;
use longshore_outbound::secret::RootSecret;
use sha2::Sha256;

use crate::stub::{Reaction, Stub, response};
use crate::tls::{Accepted, Authority, OK, World, limits};
use crate::world::{SECRET, call, handlers, secrets};

/// A stack with a stub of Secrets Manager, and an endpoint.
struct Stack {
    handlers: Handlers,
    secrets: Stub,
    endpoint: World,
    target: Target,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Stack {
    /// Starts an endpoint that answers each request with the same bytes.
    async fn new(answer: impl Into<Vec<u8>>, secrets: Stub) -> Self {
        let authority = Authority::new();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (answer, seen) = (Arc::new(answer.into()), Arc::clone(&requests));
        let serve = move |mut accepted: Accepted| {
            let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
            async move {
                while let Some(request) = accepted.request().await {
                    seen.lock().unwrap().push(request);
                    accepted.send(&answer).await;
                }
            }
        };
        let endpoint = World::with(authority.local_only(), authority.tls("localhost"), limits(), serve).await;
        let handlers = handlers(&secrets.url, &authority, endpoint.port);
        let target = Target::Url(format!("https://localhost:{}/items", endpoint.port));
        Self { handlers, secrets, endpoint, target, requests }
    }

    async fn reply(&self) -> RemoteReply {
        call(&self.handlers, &self.target).await.unwrap()
    }
}

fn header<'a>(request: &'a str, name: &str) -> &'a str {
    let prefix = format!("{name}: ");
    request.lines().find_map(|line| line.strip_prefix(prefix.as_str())).unwrap()
}

#[tokio::test]
async fn a_request_is_signed_with_the_secret_of_its_job_type_and_belongs_to_the_trace_of_its_job() {
    let stack = Stack::new(OK, secrets().await).await;
    assert_eq!(stack.reply().await, RemoteReply::Http { status: 200, retry_after: None, body: b"{}".to_vec() });
    let [request] = stack.requests.lock().unwrap().clone().try_into().unwrap();
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let secret = RootSecret::from_bytes(SECRET.as_bytes()).unwrap().derive("job-type/invite", 1).unwrap().reveal();
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("batch-1.{}.{body}", header(&request, "webhook-timestamp")).as_bytes());
    let expected = format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()));
    assert_eq!(header(&request, "webhook-signature"), expected);
    assert!(header(&request, "traceparent").starts_with("00-000000000000000000000000000000a1-"), "{request}");
}

#[tokio::test]
async fn each_response_has_one_meaning_and_no_request_is_repeated() {
    let with = |status: u16, headers: &str| response(status, headers, "{}");
    let http = |status: u16, retry_after: Option<&str>| RemoteReply::Http {
        status,
        retry_after: retry_after.map(str::to_owned),
        body: b"{}".to_vec(),
    };
    for (answer, expected) in [
        (with(200, ""), http(200, None)),
        (with(429, "retry-after: 40\r\n"), http(429, Some("40"))),
        (with(503, "retry-after: soon\r\n"), http(503, None)),
        (with(302, "location: https://localhost/other\r\n"), http(302, None)),
        (with(500, ""), http(500, None)),
        (response(200, "", vec![b' '; (4 << 20) + 1]), RemoteReply::TooLarge { body: Vec::new() }),
        (b"SSH-2.0\r\n\r\n".to_vec(), RemoteReply::Connection(ConnectionError::Protocol)),
    ] {
        let stack = Stack::new(answer, secrets().await).await;
        assert_eq!(stack.reply().await, expected);
        assert_eq!(stack.requests.lock().unwrap().len(), 1, "{expected:?}");
    }
}

#[tokio::test]
async fn a_host_or_a_port_that_the_lists_do_not_have_any_more_is_not_called() {
    let mut stack = Stack::new(OK, secrets().await).await;
    assert!(matches!(stack.reply().await, RemoteReply::Http { .. }));
    stack.handlers.targets.urls = UrlPolicy::default();
    assert_eq!(stack.reply().await, RemoteReply::Connection(ConnectionError::NotAllowed));
    assert_eq!((stack.requests.lock().unwrap().len(), stack.secrets.requests().len()), (1, 1));
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let stack = Stack::new(OK, secrets().await).await;
    let other = handlers(&stack.secrets.url, &Authority::named("other"), stack.endpoint.port);
    let reply = call(&other, &stack.target).await.unwrap();
    assert_eq!(reply, RemoteReply::Connection(ConnectionError::Tls));
}

#[tokio::test]
async fn without_the_root_secret_nothing_is_sent_and_nothing_follows_about_the_handler() {
    let denied = response(400, "x-amzn-errortype: AccessDeniedException\r\n", "{}");
    let short = response(200, "", r#"{"SecretString":"short"}"#);
    let binary = response(200, "", r#"{"SecretBinary":"c2hvcnQ="}"#);
    for (answer, words) in [(denied, "AccessDenied"), (short, "cannot be used"), (binary, "no text")] {
        let stack = Stack::new(OK, Stub::always(Reaction::Respond(answer)).await).await;
        let error = call(&stack.handlers, &stack.target).await.unwrap_err();
        let text = longshore::telemetry::chain(&error);
        assert!(text.starts_with("the handler was not called: ") && text.contains(words), "{text}");
        assert_eq!(stack.endpoint.connections(), 0);
    }
}

#[tokio::test]
async fn calls_one_after_another_share_a_connection_and_the_root_secret() {
    let stack = Stack::new(OK, secrets().await).await;
    for _ in 0..3 {
        stack.reply().await;
    }
    assert_eq!((stack.endpoint.connections(), stack.secrets.requests().len()), (1, 1));
}

#[tokio::test]
async fn an_answer_that_drips_is_cut_off_at_the_deadline() {
    let authority = Authority::new();
    let serve = |mut accepted: Accepted| async move {
        accepted.request().await;
        tokio::time::pause();
        let mut next: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{";
        while accepted.send(next).await {
            next = b"x";
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let endpoint = World::with(authority.local_only(), authority.tls("localhost"), limits(), serve).await;
    let secrets = secrets().await;
    let handlers = handlers(&secrets.url, &authority, endpoint.port);
    let target = Target::Url(format!("https://localhost:{}/items", endpoint.port));
    assert_eq!(call(&handlers, &target).await.unwrap(), RemoteReply::TimedOut);
}
