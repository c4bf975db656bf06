//! The rate limit of a remote handler: items per second over all workers, jobs and tenants.
//!
//! The record of a type holds one time: the one from which items can be sent that nobody has reserved (generic cell
//! rate algorithm, without a burst). A worker adds the time of its items before it calls. The addition is atomic, so
//! that workers never wait for each other. A worker that dies loses what it reserved, and never gains: at most half a
//! second's worth, or one item.
//!
//! A call does not begin at exactly the time of its reservation: timers and clocks are late. `PACE` leaves room for
//! that, and items that are later than their tolerance are not sent. So ten seconds have at most 105 % of the items
//! that the limit allows, and a second at most the limit and one batch.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// Maximum time from now to the start of a reservation. For a later one the chunk is parked, so that its worker is free.
const MAX_WAIT_US: i64 = 5_000_000;

/// Time whose items one reservation has at most, in seconds. Ten seconds have at most the items of the pace, and of one
/// reservation.
const RESERVATION_S: f64 = 0.5;

/// Part of the limit at which items are reserved: the middle of the permitted 90 to 105 %, with half a reservation on
/// either side.
const PACE: f64 = 0.975;

/// Tolerated delay of a call behind the time of its items, besides the time of one item. One second and 25 milliseconds
/// at `PACE` have the items of the limit; five of them are for the difference between the workers' clocks.
const DELAY_US: i64 = 20_000;

/// Maximum of the tolerated delay. Ten seconds at `PACE` with this delay have the items of the limit.
const MAX_DELAY_US: i64 = 250_000;

const SECOND_US: f64 = 1_000_000.0;

/// Maximum number of items per second.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemsPerSecond(f64);

/// Time from which no item is reserved, in microseconds since the Unix epoch.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReservedUntil(pub i64);

/// The request to reserve items, from the first time that is free.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RateRequest {
    limit: ItemsPerSecond,
    items: u32,
    now_us: i64,
    last_read: ReservedUntil,
}

/// Reserved items.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Reservation {
    limit: ItemsPerSecond,
    items: u32,
    from_us: i64,
}

impl ItemsPerSecond {
    /// Creates a limit; `None` unless it is a positive number.
    pub fn new(items: f64) -> Option<Self> {
        (items.is_finite() && items > 0.0).then_some(Self(items))
    }

    /// Returns the number of items per second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns the time of one item.
    fn item_us(self) -> f64 {
        SECOND_US / (self.0 * PACE)
    }
}

impl ReservedUntil {
    /// Returns true if items are reserved for later than `now`.
    pub const fn is_ahead_of(self, now: Timestamp) -> bool {
        self.0 > now.0.saturating_mul(1_000)
    }

    /// Returns the time in milliseconds. It is rounded up, so that no call begins early.
    pub const fn time(self) -> Timestamp {
        Timestamp(self.0.saturating_add(999).div_euclid(1_000))
    }
}

impl RateRequest {
    /// Creates a request for up to `wanted` items: at least one, and at most half a second's worth.
    pub fn new(limit: ItemsPerSecond, wanted: u32, now: Timestamp) -> Self {
        let most = ((limit.0 * RESERVATION_S) as u32).max(1);
        let (items, last_read) = (wanted.clamp(1, most), ReservedUntil::default());
        Self { limit, items, now_us: now.0.saturating_mul(1_000), last_read }
    }

    /// Returns the request of a worker that has read the reserved time before. What was read decides what an adapter
    /// tries first, and nothing else.
    #[must_use]
    pub const fn with_last_read(self, last_read: ReservedUntil) -> Self {
        Self { last_read, ..self }
    }

    /// Returns the reserved time as the worker last read it.
    pub const fn last_read(&self) -> ReservedUntil {
        self.last_read
    }

    /// Returns the time of all items, in microseconds.
    pub fn duration_us(&self) -> i64 {
        (f64::from(self.items) * self.limit.item_us()).ceil() as i64
    }

    /// Returns the earliest time from which items are reserved: time that has passed is lost, and no burst follows.
    pub const fn earliest(&self) -> ReservedUntil {
        ReservedUntil(self.now_us)
    }

    /// Returns the latest time from which items are reserved.
    pub const fn latest(&self) -> ReservedUntil {
        ReservedUntil(self.now_us.saturating_add(MAX_WAIT_US))
    }

    /// Returns the reserved time after this request; `None` if the worker would wait for too long.
    pub fn after(&self, reserved: ReservedUntil) -> Option<ReservedUntil> {
        let start = reserved.max(self.earliest());
        (start <= self.latest()).then(|| ReservedUntil(start.0.saturating_add(self.duration_us())))
    }

    /// Returns the items whose time ends at `end`.
    pub fn reservation(&self, end: ReservedUntil) -> Reservation {
        let from_us = end.0.saturating_sub(self.duration_us());
        Reservation { limit: self.limit, items: self.items, from_us }
    }
}

impl Reservation {
    /// Returns the time of the call.
    pub const fn at(&self) -> Timestamp {
        ReservedUntil(self.from_us).time()
    }

    /// Returns the number of items that a call can have which begins now. Those whose time has passed are lost.
    pub fn items_left(&self, now: Timestamp) -> u32 {
        let item_us = self.limit.item_us();
        let tolerated_us = (DELAY_US.saturating_add(item_us as i64)).min(MAX_DELAY_US);
        let late_us = now.0.saturating_mul(1_000).saturating_sub(self.from_us).saturating_sub(tolerated_us).max(0);
        self.items.saturating_sub((late_us as f64 / item_us).ceil() as u32)
    }
}

#[cfg(test)]
#[path = "rate_limit_tests.rs"]
mod tests;
