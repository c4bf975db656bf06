//! The ping of a registration: its result makes the candidate active, or refuses it.
//!
//! | what happens | effect |
//! | --- | --- |
//! | the message comes twice | the version is active or refused already: no second ping |
//! | both deliveries run at once | two pings; the writes are for one version, and a good one counts |
//! | the message comes late, after another PUT or a DELETE | the version is not the candidate: no ping |
//! | the worker dies after the ping | the message is delivered again, and so is the ping |
//! | the message never comes | the candidate stays pending; a repeated PUT asks again |
//! | the handler is always busy | after the last of a few deliveries the candidate is refused |

use longshore::remote::{CallHandlers, NotCalled, PingedHandler, ping};
use longshore_domain::message::PingMessage;
use longshore_domain::ports::{JobTypes, PingRecord, PortError};
use longshore_domain::registration::{Activation, Candidate, Refusal};
use longshore_domain::remote::PingOutcome;
use longshore_domain::timestamp::Timestamp;

/// Deliveries of a message after which a handler that is always busy is refused. The queue keeps a message for longer,
/// so that its last delivery does not end in the dead-letter queue with the candidate pending.
const MAX_BUSY_DELIVERIES: u32 = 5;

/// End of a registration's ping.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum PingedRegistration {
    /// The candidate is active.
    Activated,
    /// The candidate is refused.
    Refused,
    /// The version is not the candidate any more, or is refused already.
    Stale,
}

/// Error of a registration's ping. The message is delivered again.
#[derive(Debug, thiserror::Error)]
pub enum PingError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The call could not be made, for a reason of this stack.
    #[error(transparent)]
    NotCalled(#[from] NotCalled),
    /// The handler asked to be called later.
    #[error("the handler cannot answer its ping now: {0}")]
    Busy(String),
}

/// Pings the handler of a candidate, and records the result for its version. `failures` is the number of earlier
/// deliveries of the message.
///
/// # Errors
/// If nothing is decided yet.
pub async fn ping_registration(
    store: &impl JobTypes,
    handlers: &dyn CallHandlers,
    message: &PingMessage,
    failures: u32,
    clock: fn() -> Timestamp,
) -> Result<PingedRegistration, PingError> {
    let stored = store.job_type(&message.name).await?;
    let candidate = stored.and_then(|stored| stored.candidate).filter(|candidate| is_pending(candidate, message));
    let Some(candidate) = candidate else { return Ok(PingedRegistration::Stale) };
    let (target, job_type) = (&candidate.registration.target, message.name.as_str());
    let handler = PingedHandler { target, job_type, trace: None, began_at: clock() };
    let outcome = ping(handlers, handler, clock).await?;
    let at = clock();
    let refusal = match outcome {
        PingOutcome::Good(modes) => {
            let activation = Activation { modes, at };
            let record = store.activate(&message.name, &message.version, &activation).await?;
            return Ok(end(record, PingedRegistration::Activated));
        }
        PingOutcome::Bad(bad) => bad.to_string(),
        PingOutcome::Parked(busy) if failures + 1 < MAX_BUSY_DELIVERIES => return Err(PingError::Busy(busy.reason)),
        PingOutcome::Parked(busy) => format!("each of {} pings was put off; last: {}", failures + 1, busy.reason),
    };
    let record = store.refuse(&message.name, &message.version, &Refusal::new(&refusal, at)).await?;
    Ok(end(record, PingedRegistration::Refused))
}

fn is_pending(candidate: &Candidate, message: &PingMessage) -> bool {
    candidate.version == message.version && candidate.refusal.is_none()
}

fn end(record: PingRecord, recorded: PingedRegistration) -> PingedRegistration {
    match record {
        PingRecord::Recorded => recorded,
        PingRecord::Stale => PingedRegistration::Stale,
    }
}
