//! The check of an endpoint: a message with a challenge, which the endpoint answers with the challenge.
//!
//! Only an endpoint that has passed a check is called with events: whoever creates an endpoint controls its server. The
//! API's calls that ask for a check have their own rate limit.

use longshore_domain::ids::EndpointId;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{ConditionalWrite, PortResult, Queues, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{CheckResult, DeliveryId, Endpoint};
use serde::{Deserialize, Serialize};

use super::calls::{CallEndpoints, Called, EndpointCall};
use super::deliver::{Deliverer, WebhookError, check_time, find_endpoint};
use super::replay::RELEASE_S;

/// Type of the message.
pub const TYPE: &str = "webhook.check";

/// Age in days of the oldest deliveries that a passed check releases. Older ones wait only if a replay was interrupted
/// by another URL, or if their endpoint had asked for long waits; they are due within hours.
const WAITING_DAYS: i64 = 5;

/// End of a message that asks for a check.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum CheckEnd {
    /// The check has this result.
    Checked(CheckResult),
    /// The endpoint does not exist, or another check was requested, or this one has its result.
    Stale,
}

/// The message of a check.
#[derive(Serialize)]
struct CheckDocument<'a> {
    #[serde(rename = "type")]
    message_type: &'static str,
    timestamp: String,
    data: CheckData<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckData<'a> {
    webhook_id: EndpointId,
    challenge: &'a str,
}

/// The answer to a check.
#[derive(Deserialize)]
struct CheckAnswer {
    challenge: String,
}

impl<S: Webhooks, Q: Queues, C: CallEndpoints> Deliverer<'_, S, Q, C> {
    /// Checks an endpoint, and records the result.
    ///
    /// # Errors
    /// If there is no result; the message is to be delivered again.
    pub async fn check(
        &self,
        tenant: &TenantId,
        id: EndpointId,
        challenge: &str,
        deadline: Timestamp,
    ) -> Result<CheckEnd, WebhookError> {
        let Some(endpoint) = find_endpoint(self.store, tenant, id).await? else { return Ok(CheckEnd::Stale) };
        let check = endpoint.check.as_ref().filter(|check| check.challenge == challenge && check.result.is_none());
        let Some(check) = check else { return Ok(CheckEnd::Stale) };
        let document = CheckDocument {
            message_type: TYPE,
            timestamp: check.requested_at.to_rfc3339(),
            data: CheckData { webhook_id: id, challenge },
        };
        let (id_of_message, body) = (format!("check-{challenge}"), serde_json::to_string(&document)?);
        check_time((self.clock)(), deadline)?;
        let call = EndpointCall { endpoint: &endpoint, id: &id_of_message, body: &body, deadline };
        let result = result_of(&self.calls.call(call).await?, challenge);
        let (answered_at, mut is_release_sent) = ((self.clock)(), false);
        let mut current = Some(endpoint);
        while let Some(endpoint) = current {
            let Some(checked) = endpoint.checked(challenge, result) else { return Ok(CheckEnd::Stale) };
            if endpoint.state != checked.state && !is_release_sent {
                self.release_waiting(&checked, answered_at).await?;
                is_release_sent = true;
            }
            if self.store.put_endpoint(&checked, Some(&endpoint)).await? == ConditionalWrite::Stored {
                return Ok(CheckEnd::Checked(result));
            }
            current = find_endpoint(self.store, tenant, id).await?;
        }
        Ok(CheckEnd::Stale)
    }

    /// Asks for the deliveries that have waited for the check. The message is sent before the endpoint is active, so
    /// that a crash in between loses none. It has no effect until the endpoint is active.
    async fn release_waiting(&self, endpoint: &Endpoint, answered_at: Timestamp) -> PortResult<()> {
        let message = WebhookMessage::Replay {
            tenant: endpoint.tenant.clone(),
            endpoint_id: endpoint.endpoint_id,
            after: DeliveryId::before(answered_at.plus_days(-WAITING_DAYS)),
            requested_at: answered_at,
            only_waiting: true,
        };
        self.queues.send_webhooks(&[message], RELEASE_S).await
    }
}

fn result_of(called: &Called, challenge: &str) -> CheckResult {
    use longshore_domain::webhook::AttemptResult::{Answered, Unanswered};
    match called.result {
        Unanswered { .. } => CheckResult::NoAnswer,
        Answered { status: 200..=299 } => {
            let answer = serde_json::from_slice::<CheckAnswer>(&called.body);
            let is_right = answer.is_ok_and(|answer| answer.challenge == challenge);
            if is_right { CheckResult::Passed } else { CheckResult::WrongAnswer }
        }
        Answered { .. } => CheckResult::Refused,
    }
}
