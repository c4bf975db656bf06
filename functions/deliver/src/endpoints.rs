//! Signed HTTPS calls of endpoints.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use longshore::config::Aws;
use longshore::remote::NotCalled;
use longshore::webhooks::{CallEndpoints, Called, EndpointCall, TIMEOUT_S, failed_call};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::AttemptResult;
use longshore_outbound::call::{Call, CallOutcome};
use longshore_outbound::client::{Client, ClientError};
use longshore_outbound::failure::{CallFailure, Part};
use longshore_outbound::limits::Limits;
use longshore_outbound::policy::UrlPolicy;
use longshore_outbound::signature::MessageId;
use longshore_outbound::url::HandlerUrl;
use longshore_targets::root_secret::RootSecretReader;
use longshore_targets::{local_permissions, webhook_policy};

/// Maximum bytes of a 2xx answer that are read: a challenge.
const BODY_BYTES: usize = 64 * 1024;

/// The client of endpoints. It is created at the first call.
pub struct Endpoints {
    https: OnceLock<Client>,
    policy: UrlPolicy,
    secret: RootSecretReader,
}

impl Endpoints {
    /// Creates the calls from the environment. Nothing is read from AWS yet.
    ///
    /// # Errors
    /// If a setting cannot be read, or a local stack has no valid root certificate.
    pub fn from_env(aws: &Aws) -> Result<Self, lambda_runtime::Error> {
        let local = local_permissions()?;
        let policy = webhook_policy(local.as_ref())?;
        let https = local.map(|local| Client::local(limits(), local)).transpose()?;
        let https = https.map(OnceLock::from).unwrap_or_default();
        Ok(Self { https, policy, secret: RootSecretReader::from_env(aws) })
    }

    fn client(&self) -> Result<&Client, ClientError> {
        if let Some(client) = self.https.get() {
            return Ok(client);
        }
        let client = Client::new(limits())?;
        Ok(self.https.get_or_init(|| client))
    }
}

impl CallEndpoints for Endpoints {
    async fn call(&self, call: EndpointCall<'_>) -> Result<Called, NotCalled> {
        let endpoint = call.endpoint;
        let Ok(url) = HandlerUrl::parse(&endpoint.url, &self.policy) else { return Ok(failed_call("invalid_url")) };
        let id = MessageId::new(call.id).map_err(|error| NotCalled::new("its id cannot be signed", error))?;
        let (versions, now) = (endpoint.secret, Timestamp::now());
        let secrets = self.secret.of_webhook(endpoint.endpoint_id, versions.current, versions.previous(now)).await;
        let secrets = secrets.map_err(|error| NotCalled::new("the request cannot be signed", error))?;
        let client = self.client().map_err(|error| NotCalled::new("TLS cannot be used", error))?;
        let timeout = Duration::from_secs(TIMEOUT_S.unsigned_abs());
        if Timestamp::now().plus_seconds(TIMEOUT_S) > call.deadline {
            return Err(NotCalled::new("the request cannot be signed", "the root secret was not read in time"));
        }
        let outgoing = Call {
            url: &url,
            id: &id,
            secrets: &secrets,
            body: call.body.to_owned().into(),
            traceparent: None,
            now: SystemTime::now(),
            deadline: Instant::now() + timeout,
        };
        Ok(match client.post(&outgoing).await {
            CallOutcome::Answered(answer) => Called {
                result: AttemptResult::Answered { status: answer.status },
                retry_after_s: answer.retry_after.map(|wait| i64::try_from(wait.as_secs()).unwrap_or(i64::MAX)),
                body: answer.body.into(),
            },
            // Only a 2xx answer is read whole. The endpoint has accepted the event, whatever it says about it.
            CallOutcome::Failed(CallFailure::TooLarge(Part::Body)) => {
                Called { result: AttemptResult::Answered { status: 200 }, retry_after_s: None, body: Vec::new() }
            }
            CallOutcome::Failed(failure) => {
                tracing::info!(endpoint.id = %endpoint.endpoint_id, code = failure.code(), "no answer of an endpoint");
                failed_call(failure.code())
            }
        })
    }
}

fn limits() -> Limits {
    Limits { body_bytes: BODY_BYTES, ..Limits::default() }
}
