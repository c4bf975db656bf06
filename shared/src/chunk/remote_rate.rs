//! The rate limit before a call: a reservation, and the wait for its time.

use longshore_domain::ports::{Files, Queues, Reserved, Store};
use longshore_domain::random::fraction;
use longshore_domain::remote::{RateRequest, Reservation};
use longshore_domain::timestamp::Timestamp;

use super::attempt::{Attempt, Interrupt};
use super::delivery::ChunkError;
use super::remote_state::Allowed;
use crate::remote::{CallHandlers, RemoteJob};

/// Time before a call at which a worker looks at the circuit breaker and the job: long enough for two reads, so that the
/// call is not late.
const LOOK_AHEAD_MS: i64 = 300;

/// End of the wait for the rate limit.
pub(super) enum RateWait {
    /// A call with up to so many items begins now.
    Send(u32),
    /// None until then; the reason is for the document of the job.
    ParkUntil(Timestamp, String),
    /// The time of all items has passed, the type is given up, or an operator has paused it: the next step decides.
    DecideAgain,
}

/// Limits of the time that a reservation is expected to take.
const MIN_RESERVING_MS: i64 = 30;
const MAX_RESERVING_MS: i64 = 2_000;

/// Maximum time before the end of what is reserved at which a chunk comes back. A reservation is possible five seconds
/// before it.
const SPREAD_MS: i64 = 4_000;

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    /// Waits until a call can begin under the rate limit.
    pub(super) async fn wait_for_rate(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        wanted: u32,
    ) -> Result<RateWait, Interrupt> {
        let Some(limit) = remote.rate() else {
            // The ping before can have taken seconds.
            return Ok(if self.is_paused_while_live().await? { RateWait::DecideAgain } else { RateWait::Send(wanted) });
        };
        // Not before the reservation is known: its time would have passed.
        let earliest = Timestamp((self.worker.clock)().0.saturating_add(self.calls.reserving_ms.max(MIN_RESERVING_MS)));
        let request = RateRequest::new(limit, wanted, earliest);
        let Some(reservation) = self.reserve(request).await? else {
            // Spread over the time in which a reservation is possible, so that not all parked chunks come at once.
            let earlier_ms = (fraction() * SPREAD_MS as f64) as i64;
            let until = Timestamp(self.last_read().reserved.time().0.saturating_sub(earlier_ms));
            return Ok(RateWait::ParkUntil(until, "the rate limit of the job type".into()));
        };
        let at = reservation.at();
        self.sleep_until(handlers, Timestamp(at.0 - LOOK_AHEAD_MS)).await;
        let mut most = wanted;
        if self.must_look_before(at) || self.is_stopped() {
            // What was reserved is lost if the breaker has opened.
            match self.allowed(remote, handlers).await? {
                Allowed::Items(allowed) => most = most.min(allowed),
                Allowed::NoneUntil(until, reason) => return Ok(RateWait::ParkUntil(until, reason)),
                Allowed::NoneEver(_) => return Ok(RateWait::DecideAgain),
            }
        }
        if self.is_paused_while_live().await? {
            return Ok(RateWait::DecideAgain);
        }
        self.sleep_until(handlers, at).await;
        Ok(match reservation.items_left((self.worker.clock)()).min(most) {
            0 => RateWait::DecideAgain,
            items => RateWait::Send(items),
        })
    }

    /// Ends the delivery if the job has stopped. Returns true if it is paused.
    async fn is_paused_while_live(&mut self) -> Result<bool, Interrupt> {
        self.check_live().await?;
        Ok(self.is_paused().await?)
    }

    /// Reserves items; `None` if all are reserved for longer than a worker waits.
    async fn reserve(&mut self, request: RateRequest) -> Result<Option<Reservation>, ChunkError> {
        let began_at = (self.worker.clock)();
        let request = request.with_last_read(self.last_read().reserved);
        let reserved = self.worker.ports.store.reserve_items(&self.job.job_type, &request).await?;
        let took_ms = (self.worker.clock)().millis_since(began_at);
        // A slow reservation is remembered for a while.
        self.calls.reserving_ms = took_ms.max(self.calls.reserving_ms / 2).min(MAX_RESERVING_MS);
        let (read, reservation) = match reserved {
            Reserved::Reserved(read) => {
                let reservation = request.reservation(read.reserved);
                (read, Some(reservation))
            }
            Reserved::TooLate(read) => (read, None),
        };
        self.keep(read, began_at);
        Ok(reservation)
    }

    async fn sleep_until(&self, handlers: &dyn CallHandlers, until: Timestamp) {
        if until > (self.worker.clock)() {
            handlers.sleep(until).await;
        }
    }
}
