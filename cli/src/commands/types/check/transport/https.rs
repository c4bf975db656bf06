//! Calls of an HTTPS endpoint, signed and with the checks of its address that Longshore makes.

use std::time::{Duration, Instant, SystemTime};

use longshore_domain::remote::ConnectionError;
use longshore_outbound::call::{Answer, Call, CallOutcome};
use longshore_outbound::client::{Client, ClientError};
use longshore_outbound::failure::CallFailure;
use longshore_outbound::limits::Limits;
use longshore_outbound::local::LocalOnly;
use longshore_outbound::policy::UrlPolicy;
use longshore_outbound::probe::Signing;
use longshore_outbound::secret::{Secrets, SigningSecret};
use longshore_outbound::signature::MessageId;
use longshore_outbound::url::{HandlerUrl, UrlError};
use uuid::Uuid;

use super::super::exchange::{Exchange, Request, Response, Signature};

/// Age of an old signature. Receivers of Standard Webhooks accept five minutes.
const OLD: Duration = Duration::from_secs(3_600);

/// An endpoint.
pub(in super::super) struct Endpoint {
    client: Client,
    url: HandlerUrl,
    secret: Secrets,
    other_secret: Secrets,
}

/// An endpoint that cannot be called.
pub(in super::super) enum EndpointError {
    /// A URL that no stack accepts.
    Url(UrlError),
    /// A machine without root certificates.
    Client(ClientError),
}

impl Endpoint {
    /// Creates an endpoint. Without a secret, calls are signed with a random one.
    pub(in super::super) fn new(
        url: &str,
        secret: Option<SigningSecret>,
        local: Option<LocalOnly>,
    ) -> Result<Self, EndpointError> {
        let policy = policy(url);
        let policy = local.as_ref().map_or_else(|| policy.clone(), |local| policy.clone().with_localhost(local));
        let url = HandlerUrl::parse(url, &policy).map_err(EndpointError::Url)?;
        let client = match local {
            Some(local) => Client::local(Limits::default(), local),
            None => Client::new(Limits::default()),
        };
        let client = client.map_err(EndpointError::Client)?;
        let secret = Secrets::One(secret.unwrap_or_else(random_secret));
        Ok(Self { client, url, secret, other_secret: Secrets::One(random_secret()) })
    }

    pub(super) async fn call(&self, request: Request<'_>) -> Exchange {
        let begun = Instant::now();
        let Ok(id) = MessageId::new(request.id) else { return failed(Response::Broken("a bad id".into()), begun) };
        let now = SystemTime::now();
        let call = Call {
            url: &self.url,
            id: &id,
            secrets: if request.signature == Signature::Wrong { &self.other_secret } else { &self.secret },
            body: request.body.into(),
            traceparent: None,
            now: if request.signature == Signature::Old { now - OLD } else { now },
            deadline: begun + request.timeout,
        };
        let signing = if request.signature == Signature::Absent { Signing::Unsigned } else { Signing::Signed };
        let probed = self.client.probe(&call, signing).await;
        let response = match probed.outcome {
            CallOutcome::Answered(answer) => answered(answer),
            CallOutcome::Failed(failure) => not_answered(&failure),
        };
        Exchange { response, headers: probed.headers, took: begun.elapsed() }
    }
}

/// Returns the policy that allows this URL's host and port, as far as any policy can.
fn policy(url: &str) -> UrlPolicy {
    let url = url::Url::parse(url).ok();
    let port = url.as_ref().and_then(url::Url::port);
    let host = url.as_ref().and_then(url::Url::host_str);
    // Port 0 and hosts that are no names are refused with the URL.
    UrlPolicy::new(host, port).or_else(|_| UrlPolicy::new(None, port)).unwrap_or_default()
}

fn random_secret() -> SigningSecret {
    let bytes = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    // A secret has 24 to 64 bytes.
    SigningSecret::from_bytes(&bytes).unwrap_or_else(|_| unreachable!())
}

fn failed(response: Response, begun: Instant) -> Exchange {
    Exchange { response, headers: Default::default(), took: begun.elapsed() }
}

fn answered(answer: Answer) -> Response {
    let retry_after = answer.retry_after.map(|wait| wait.as_secs().to_string());
    Response::Http { status: answer.status, retry_after, body: answer.body.into() }
}

/// Classifies a failure. Without a connection, the endpoint is unreachable; later it is at fault.
fn not_answered(failure: &CallFailure) -> Response {
    let detail = failure.to_string();
    match (failure.connection_error(), failure) {
        (Some(ConnectionError::Protocol), _) => Response::Broken(detail),
        (Some(error), _) => Response::Unreachable(error, detail),
        (None, CallFailure::TooLarge(_)) => Response::TooLarge,
        (None, _) => Response::TimedOut(detail),
    }
}
