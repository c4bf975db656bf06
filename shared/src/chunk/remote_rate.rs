//! The rate limit before a call: a reservation, and the wait for its time.

use longshore_domain::ports::{Files, Queues, Reserved, Store};
use longshore_domain::remote::{RateRequest, Reservation};
use longshore_domain::timestamp::Timestamp;

use super::attempt::{Attempt, Interrupt};
use super::delivery::ChunkError;
use super::remote_state::Allowed;
use crate::remote::{CallHandlers, RemoteJob};

/// Time before a call at which a worker looks at the circuit breaker and the job: long enough for two reads, so that the
/// call is not late.
const LOOK_AHEAD_MS: i64 = 300;

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    /// Waits until a call can begin under the rate limit. Returns the number of its items; none if the time of all has
    /// passed, or if the breaker decides anew.
    pub(super) async fn wait_for_turn(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        wanted: u32,
    ) -> Result<Allowed, Interrupt> {
        let Some(limit) = remote.rate() else {
            self.check_live().await?;
            return Ok(Allowed::Items(wanted));
        };
        let request = RateRequest::new(limit, wanted, (self.worker.clock)());
        let Some(reservation) = self.reserve(request).await? else {
            let until = self.last_read().reserved.time();
            return Ok(Allowed::NoneUntil(until, "the rate limit of the job type".into()));
        };
        let at = reservation.at();
        self.sleep_until(handlers, Timestamp(at.0 - LOOK_AHEAD_MS)).await;
        let mut most = wanted;
        if self.must_look_before(at) || self.is_stopped() {
            // What was reserved is lost if the breaker has opened.
            match self.allowed(remote, handlers).await? {
                Allowed::Items(allowed) => most = most.min(allowed),
                Allowed::NoneEver(_) => return Ok(Allowed::Items(0)),
                none => return Ok(none),
            }
        }
        self.check_live().await?;
        self.sleep_until(handlers, at).await;
        Ok(Allowed::Items(reservation.items_left((self.worker.clock)()).min(most)))
    }

    /// Reserves items; `None` if all are reserved for longer than a worker waits.
    async fn reserve(&mut self, request: RateRequest) -> Result<Option<Reservation>, ChunkError> {
        let began_at = (self.worker.clock)();
        let request = request.with_last_read(self.last_read().reserved);
        let reserved = self.worker.ports.store.reserve_items(&self.job.job_type, &request).await?;
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
