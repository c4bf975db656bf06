//! The call that sends a ping.

use longshore_domain::random::nonce;
use longshore_domain::registration::Target;
use longshore_domain::remote::breaker::PING_TIMEOUT;
use longshore_domain::remote::{Ping, PingOutcome};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::trace::TraceId;

use super::calls::{CallHandlers, NotCalled, RemoteCall};

/// A handler to ping.
#[derive(Copy, Clone, Debug)]
pub struct PingedHandler<'a> {
    /// The handler.
    pub target: &'a Target,
    /// Name of the job type.
    pub job_type: &'a str,
    /// The trace of the job whose call failed; `None` for the ping of a registration.
    pub trace: Option<TraceId>,
    /// Start of the ping, from which its time-out counts.
    pub began_at: Timestamp,
}

/// Pings a handler, once.
///
/// # Errors
/// If the call could not be made.
pub async fn ping(
    handlers: &dyn CallHandlers,
    PingedHandler { target, job_type, trace, began_at }: PingedHandler<'_>,
    clock: fn() -> Timestamp,
) -> Result<PingOutcome, NotCalled> {
    let challenge = nonce();
    let ping = Ping { challenge: &challenge, stack: handlers.stack() };
    let body = serde_json::to_vec(&ping).map_err(|error| NotCalled::new("the ping cannot be written", error))?;
    let deadline = Timestamp(began_at.0 + PING_TIMEOUT.as_millis() as i64);
    let id = format!("ping-{challenge}");
    let reply = handlers.call(RemoteCall { target, job_type, trace, id: &id, body, deadline }).await?;
    Ok(ping.outcome(reply.result(), clock()))
}
