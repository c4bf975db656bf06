//! Calls of HTTPS endpoints, signed with the secret of their job type.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

use longshore::remote::{NotCalled, RemoteCall, RemoteReply};
use longshore_domain::remote::ConnectionError;
use longshore_outbound::call::{Answer, Call, CallOutcome};
use longshore_outbound::client::{Client, ClientError};
use longshore_outbound::failure::CallFailure;
use longshore_outbound::limits::Limits;
use longshore_outbound::local::LocalOnly;
use longshore_outbound::signature::MessageId;
use longshore_targets::AllowedTargets;
use longshore_targets::root_secret::RootSecretReader;

use super::handlers::time_until;
use super::trace::traceparent;

/// The client of endpoints. It is created at the first call: functions need none.
pub struct Endpoints {
    https: OnceLock<Client>,
    limits: Limits,
    secret: RootSecretReader,
}

impl Endpoints {
    /// Creates the client of endpoints on the internet.
    pub fn new(limits: Limits, secret: RootSecretReader) -> Self {
        Self { https: OnceLock::new(), limits, secret }
    }

    /// Creates the client of a local stack.
    ///
    /// # Errors
    /// If there are no valid root certificates.
    pub fn local(limits: Limits, local: LocalOnly, secret: RootSecretReader) -> Result<Self, ClientError> {
        Ok(Self { https: OnceLock::from(Client::local(limits, local)?), limits, secret })
    }

    /// Calls an endpoint, if the lists have its host and port.
    pub(super) async fn call(
        &self,
        targets: &AllowedTargets,
        url: &str,
        call: RemoteCall<'_>,
    ) -> Result<RemoteReply, NotCalled> {
        let url = match targets.url(url) {
            Ok(url) => url,
            Err(error) => {
                tracing::warn!(job.r#type = call.job_type, %error, "the URL of an endpoint is not allowed");
                return Ok(RemoteReply::Connection(ConnectionError::NotAllowed));
            }
        };
        let id = MessageId::new(call.id).map_err(|error| NotCalled::new("its id cannot be signed", error))?;
        let secrets = self.secret.of_job_type(call.job_type).await;
        let secrets = secrets.map_err(|error| NotCalled::new("the request cannot be signed", error))?;
        if time_until(call.deadline).is_zero() {
            return Err(NotCalled::new("the request cannot be signed", "the root secret was not read in time"));
        }
        let client = self.client().map_err(|error| NotCalled::new("TLS cannot be used", error))?;
        let deadline = Instant::now() + time_until(call.deadline);
        let outgoing = Call {
            url: &url,
            id: &id,
            secrets: &secrets,
            body: call.body.into(),
            traceparent: traceparent(call.trace).try_into().ok(),
            now: SystemTime::now(),
            deadline,
        };
        Ok(match client.post(&outgoing).await {
            CallOutcome::Answered(answer) => answered(answer),
            CallOutcome::Failed(failure) => {
                tracing::warn!(job.r#type = call.job_type, call = call.id, %failure, "no answer of an endpoint");
                failed(&failure)
            }
        })
    }

    fn client(&self) -> Result<&Client, ClientError> {
        if let Some(client) = self.https.get() {
            return Ok(client);
        }
        let client = Client::new(self.limits)?;
        Ok(self.https.get_or_init(|| client))
    }
}

fn answered(answer: Answer) -> RemoteReply {
    // Rounded up, so that no call is earlier than the endpoint asked for.
    let seconds = answer.retry_after.map(|wait| wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)));
    let retry_after = seconds.map(|seconds| seconds.to_string());
    RemoteReply::Http { status: answer.status, retry_after, body: answer.body.into() }
}

fn failed(failure: &CallFailure) -> RemoteReply {
    match (failure.connection_error(), failure) {
        (Some(error), _) => RemoteReply::Connection(error),
        (None, CallFailure::TooLarge(_)) => RemoteReply::TooLarge { body: Vec::new() },
        (None, _) => RemoteReply::TimedOut,
    }
}
