//! An attempt of a delivery, and its record.
//!
//! | what happens | effect |
//! | --- | --- |
//! | the message comes twice | the second one finds that no attempt is due |
//! | both deliveries run at once | the endpoint is called twice with one id; one record counts, an accepted one in any case |
//! | the worker dies after the call | the message is delivered again, and so is the event, under its id |
//! | the message never comes | the sweeper sends another one |

use longshore_domain::event::Subject;
use longshore_domain::ids::EndpointId;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{ConditionalWrite, PortError, PortResult, Queues, Webhooks};
use longshore_domain::random::fraction;
use longshore_domain::retry;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Admission, Attempt, AttemptResult, Delivery, DeliveryKey, Endpoint, EndpointState};

use super::calls::{CallEndpoints, Called, EndpointCall, TIMEOUT_S};
use super::messages::send_later;
use crate::events::EventDocument;
use crate::metrics::{self, Metric};
use crate::remote::NotCalled;
use crate::telemetry;

/// Time before an attempt is due within which it is made: the delay of a queue is in whole seconds.
const EARLY_MS: i64 = 2_000;

/// Attempts to write a record that others write, too.
pub(super) const WRITES: usize = 8;

/// Longest pause in seconds for which deliveries wait without an attempt. A longer one takes an attempt, so that a dead
/// endpoint costs no more than ten records of each delivery.
const SHORT_PAUSE_S: i64 = 60;

/// Milliseconds over which the deliveries are spread that have waited for an endpoint together.
const SPREAD_MS: f64 = 5_000.0;

/// Seconds for which a delivery waits whose endpoint has passed no check, unless a passed check releases it.
const UNCHECKED_S: i64 = 6 * 3_600;

/// Error of a message about webhooks. The message is delivered again.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The call could not be made, for a reason of this stack.
    #[error(transparent)]
    NotCalled(#[from] NotCalled),
    /// The message cannot be written.
    #[error("the message cannot be written")]
    Body(#[from] serde_json::Error),
    /// Others have written the record at every attempt.
    #[error("the record has changed at every attempt")]
    Busy,
    /// Too little time is left for a call.
    #[error("too little time is left for a call")]
    TooLate,
}

/// End of a message that asks for a delivery.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum DeliveryEnd {
    /// The endpoint has accepted the event.
    Accepted,
    /// The attempt has failed.
    Failed,
    /// No attempt is due.
    NotDue,
    /// The delivery does not exist.
    Absent,
    /// The endpoint does not exist, is disabled, or has passed no check for days.
    Abandoned,
    /// The attempt is put off: the endpoint is paused for a short time, or the tenant has reached its rate limit,
    /// or it has passed no check yet.
    Postponed,
}

/// What a delivery does whose attempt is due.
enum Decision {
    /// It calls the endpoint, whose health is stored as here.
    Call(Box<Endpoint>),
    /// The attempt fails without a call.
    Fail(Called),
    /// It waits. True if a call is reserved for that time.
    Wait(Timestamp, bool),
}

/// The services of deliveries.
#[derive(Debug)]
pub struct Deliverer<'a, S, Q, C> {
    /// The store.
    pub store: &'a S,
    /// The queues.
    pub queues: &'a Q,
    /// Calls of endpoints.
    pub calls: &'a C,
    /// The time.
    pub clock: fn() -> Timestamp,
}

impl<S: Webhooks, Q: Queues, C: CallEndpoints> Deliverer<'_, S, Q, C> {
    /// Makes the attempt of a delivery that is due, and sends the message of the next one if it is within the delay of a
    /// queue. The sweeper sends the message of a later one.
    ///
    /// # Errors
    /// If nothing is decided; the message is to be delivered again.
    pub async fn deliver(&self, key: &DeliveryKey, deadline: Timestamp) -> Result<DeliveryEnd, WebhookError> {
        let Some(delivery) = self.store.delivery(key).await? else { return Ok(DeliveryEnd::Absent) };
        if let Subject::Job(change) = &delivery.event.subject {
            telemetry::record_job_id(change.job_id);
        }
        let now = (self.clock)();
        let is_due = delivery.due().is_some_and(|due| due.millis_since(now) <= EARLY_MS);
        // One that waits for a check is due as soon as the endpoint is active.
        if !is_due && delivery.unchecked_since().is_none() {
            return Ok(DeliveryEnd::NotDue);
        }
        let endpoint = find_endpoint(self.store, &key.tenant, key.endpoint_id).await?;
        let is_open = |endpoint: &Endpoint| match endpoint.state {
            EndpointState::Active => true,
            EndpointState::Pending => !delivery.has_waited_too_long(now),
            EndpointState::Disabled { .. } => false,
        };
        let Some(endpoint) = endpoint.filter(is_open) else { return self.abandon(delivery).await };
        if endpoint.state == EndpointState::Pending {
            return if is_due { self.wait_for_check(delivery, now).await } else { Ok(DeliveryEnd::NotDue) };
        }
        let called = match self.decide(&delivery, endpoint, now, deadline).await? {
            Decision::Call(endpoint) => self.call(&delivery, &endpoint, deadline).await?,
            Decision::Fail(refused) => refused,
            Decision::Wait(until, is_reserved) => return self.postpone(delivery, until, is_reserved).await,
        };
        let ms = u32::try_from((self.clock)().millis_since(now).max(0)).unwrap_or(u32::MAX);
        let is_accepted = called.result.is_accepted();
        metrics::count(Metric::WebhookAttempts, &[if is_accepted { "accepted" } else { "failed" }], 1);
        metrics::time(Metric::WebhookDuration, &[], ms.into());
        let attempt = Attempt { at: now, ms, result: called.result };
        self.record(delivery, &attempt, called.retry_after_s).await?;
        Ok(if is_accepted { DeliveryEnd::Accepted } else { DeliveryEnd::Failed })
    }

    /// Decides what a delivery does. An endpoint whose pause is over is probed by one delivery; the others wait.
    async fn decide(
        &self,
        delivery: &Delivery,
        endpoint: Endpoint,
        now: Timestamp,
        deadline: Timestamp,
    ) -> Result<Decision, WebhookError> {
        let admission = endpoint.health.admit(now);
        if let Admission::Paused(until) = admission {
            let pause_s = until.millis_since(now).max(0).div_euclid(1_000) + 1;
            if pause_s <= SHORT_PAUSE_S {
                return Ok(Decision::Wait(spread(until), false));
            }
            let text = "not called, because the endpoint has failed repeatedly";
            return Ok(Decision::Fail(uncalled("endpoint_paused", text, pause_s)));
        }
        check_time(now, deadline)?;
        if let Admission::Probe(health) = admission {
            // One call in each pause needs no reservation.
            let probing = Endpoint { health, ..endpoint.clone() };
            return Ok(match self.store.put_endpoint(&probing, Some(&endpoint)).await? {
                ConditionalWrite::Stored => Decision::Call(Box::new(probing)),
                ConditionalWrite::Changed => Decision::Wait(spread(health.paused_until.unwrap_or(now)), false),
            });
        }
        if !delivery.has_reserved_call(now) {
            let from = self.store.reserve_call(&delivery.tenant, now).await?;
            if from.millis_since(now) > EARLY_MS {
                return Ok(Decision::Wait(from, true));
            }
        }
        Ok(Decision::Call(Box::new(endpoint)))
    }

    async fn call(
        &self,
        delivery: &Delivery,
        endpoint: &Endpoint,
        deadline: Timestamp,
    ) -> Result<Called, WebhookError> {
        let body = serde_json::to_string(&EventDocument::new(&delivery.event))?;
        let call = EndpointCall { endpoint, id: &delivery.event.id, body: &body, deadline };
        let called = self.calls.call(call).await?;
        self.record_health(endpoint, &called.result).await;
        Ok(called)
    }

    /// Records an attempt, unless a record that was made meanwhile makes it worthless.
    async fn record(
        &self,
        delivery: Delivery,
        attempt: &Attempt,
        retry_after_s: Option<i64>,
    ) -> Result<(), WebhookError> {
        let (key, revision, mut read) = (delivery.key(), delivery.revision, Some(delivery));
        for _ in 0..WRITES {
            let Some(mut delivery) = read else { return Ok(()) };
            let read_revision = delivery.revision;
            if !delivery.record(revision, attempt.clone(), retry_after_s, fraction()) {
                return Ok(());
            }
            if self.store.put_delivery(&delivery, read_revision).await? == ConditionalWrite::Stored {
                self.send_next(&delivery).await;
                return Ok(());
            }
            read = self.store.delivery(&key).await?;
        }
        Err(WebhookError::Busy)
    }

    async fn send_next(&self, delivery: &Delivery) {
        let due = delivery.due();
        // Not before it is due.
        let delay_s = due.and_then(|due| retry::queue_delay_s((self.clock)(), due.plus_seconds(1)));
        if let Some(delay_s) = delay_s {
            send_later(self.queues, &[delivery.key()], delay_s).await;
        }
    }

    /// Ends a delivery whose endpoint is deleted or disabled, or has passed no check for days.
    async fn abandon(&self, mut delivery: Delivery) -> Result<DeliveryEnd, WebhookError> {
        let read_revision = delivery.revision;
        delivery.abandon((self.clock)());
        match self.store.put_delivery(&delivery, read_revision).await? {
            ConditionalWrite::Stored => Ok(DeliveryEnd::Abandoned),
            ConditionalWrite::Changed => Err(WebhookError::Busy),
        }
    }

    /// Puts off an attempt. It is due then, so that no other message makes it sooner.
    async fn postpone(
        &self,
        mut delivery: Delivery,
        until: Timestamp,
        is_reserved: bool,
    ) -> Result<DeliveryEnd, WebhookError> {
        let read_revision = delivery.revision;
        delivery.postpone(until, is_reserved);
        if self.store.put_delivery(&delivery, read_revision).await? == ConditionalWrite::Stored {
            self.send_next(&delivery).await;
        }
        Ok(DeliveryEnd::Postponed)
    }

    /// Puts off an attempt until the endpoint has passed a check. It can pass while this is stored, and the release
    /// miss the delivery, so the endpoint is read again. If this function dies in between, its message comes again.
    async fn wait_for_check(&self, mut delivery: Delivery, now: Timestamp) -> Result<DeliveryEnd, WebhookError> {
        let read_revision = delivery.revision;
        delivery.wait_for_check(now, now.plus_seconds(UNCHECKED_S));
        if self.store.put_delivery(&delivery, read_revision).await? == ConditionalWrite::Stored {
            let endpoint = find_endpoint(self.store, &delivery.tenant, delivery.endpoint_id).await?;
            if endpoint.is_some_and(|endpoint| endpoint.state == EndpointState::Active) {
                self.queues.send_webhooks(&[WebhookMessage::Deliver { delivery: delivery.key() }], 0).await?;
            }
        }
        Ok(DeliveryEnd::Postponed)
    }
}

/// Returns a time up to five seconds later.
fn spread(time: Timestamp) -> Timestamp {
    Timestamp(time.0 + (SPREAD_MS * fraction()) as i64)
}

fn uncalled(code: &str, text: &str, seconds: i64) -> Called {
    Called { result: AttemptResult::unanswered(code, text), retry_after_s: Some(seconds), body: Vec::new() }
}

/// Checks that a call can take its whole time: a shorter one would say less about the endpoint than about this function.
///
/// # Errors
/// [`WebhookError::TooLate`].
pub(super) fn check_time(now: Timestamp, deadline: Timestamp) -> Result<(), WebhookError> {
    if now.plus_seconds(TIMEOUT_S) > deadline { Err(WebhookError::TooLate) } else { Ok(()) }
}

/// Returns an endpoint of a tenant, or `None`.
pub(super) async fn find_endpoint(
    store: &impl Webhooks,
    tenant: &TenantId,
    id: EndpointId,
) -> PortResult<Option<Endpoint>> {
    Ok(store.endpoints(tenant).await?.into_iter().find(|endpoint| endpoint.endpoint_id == id))
}
