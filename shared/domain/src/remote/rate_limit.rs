//! The rate limit of a remote handler: items per second over all workers, jobs and tenants.
//!
//! The record of a type holds one time: the one from which items can be sent that nobody has reserved (generic cell
//! rate algorithm, without a burst). A worker reserves before it calls. A worker that dies loses what it reserved, and
//! never gains: the limit is not exceeded, and at most half a second's worth of items is lost.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// Maximum time from now to the start of a reservation. For a later one the chunk is parked, so that its worker is free.
const MAX_WAIT_US: i64 = 5_000_000;

/// Time whose items one reservation has at most. Ten seconds, and the reservation at their end, have then at most 105 %
/// of the items that the limit allows.
const RESERVATION_S: f64 = 0.5;

const SECOND_US: f64 = 1_000_000.0;

/// Maximum number of items per second.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemsPerSecond(f64);

/// Time from which no item is reserved, in microseconds since the Unix epoch.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReservedUntil(i64);

/// Result of a reservation.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Reservation {
    /// Once the state is stored, `items` can be sent from `at` on.
    At {
        /// Time of the call.
        at: Timestamp,
        /// Number of items, at least one.
        items: u32,
        /// The state to store.
        reserved: ReservedUntil,
    },
    /// The limit is reserved for longer than a worker waits: the chunk is parked until then.
    Later(Timestamp),
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
}

impl ReservedUntil {
    /// Returns true if items are reserved for later than `now`.
    pub const fn is_ahead_of(self, now: Timestamp) -> bool {
        self.0 > now.0.saturating_mul(1_000)
    }

    /// Reserves up to `wanted` items.
    pub fn reserve(self, limit: ItemsPerSecond, wanted: u32, now: Timestamp) -> Reservation {
        let now_us = now.0.saturating_mul(1_000);
        let start = self.0.max(now_us);
        // Rounded up to the millisecond, so that no call begins early.
        let at = Timestamp(start.saturating_add(999).div_euclid(1_000));
        if start.saturating_sub(now_us) > MAX_WAIT_US {
            return Reservation::Later(at);
        }
        let most = ((limit.0 * RESERVATION_S) as u32).max(1);
        let items = wanted.clamp(1, most);
        let duration = (f64::from(items) * SECOND_US / limit.0).ceil() as i64;
        Reservation::At { at, items, reserved: Self(start.saturating_add(duration)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limit(items: f64) -> ItemsPerSecond {
        ItemsPerSecond::new(items).unwrap()
    }

    #[test]
    fn a_limit_is_a_positive_number() {
        for items in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(ItemsPerSecond::new(items), None);
        }
    }

    #[test]
    fn items_follow_each_other_at_the_limit() {
        let now = Timestamp(1_000);
        let mut reserved = ReservedUntil::default();
        for (at, wanted, items) in [(1_000, 7, 5), (1_500, 5, 5), (2_000, 1, 1), (2_100, 0, 1)] {
            let Reservation::At { at: from, items: got, reserved: next } = reserved.reserve(limit(10.0), wanted, now)
            else {
                panic!()
            };
            assert_eq!((from, got), (Timestamp(at), items));
            reserved = next;
        }
    }

    #[test]
    fn an_idle_handler_gathers_no_burst() {
        let later = Timestamp(1_000_000);
        let Reservation::At { at, items, reserved } = ReservedUntil(0).reserve(limit(2.0), 100, later) else {
            panic!()
        };
        assert_eq!((at, items), (later, 1));
        assert_eq!(reserved, ReservedUntil(1_000_500_000));
    }

    #[test]
    fn a_worker_waits_for_at_most_five_seconds() {
        let reserved = ReservedUntil(6_000_000);
        assert!(matches!(
            reserved.reserve(limit(1.0), 1, Timestamp(1_000)),
            Reservation::At { at: Timestamp(6_000), .. }
        ));
        assert_eq!(reserved.reserve(limit(1.0), 1, Timestamp(999)), Reservation::Later(Timestamp(6_000)));
    }

    proptest! {
        /// Workers that always want items: any ten seconds have 90 to 105 % of the limit, from ten items a second on,
        /// and no second has more than the limit and one reservation.
        #[test]
        fn the_limit_is_used_and_kept(per_second in 10.0..5_000.0_f64, wanted in prop::collection::vec(1..2_000_u32, 400)) {
            let limit = limit(per_second);
            let (mut reserved, mut now, mut calls) = (ReservedUntil::default(), Timestamp(0), Vec::new());
            for wanted in wanted {
                match reserved.reserve(limit, wanted, now) {
                    Reservation::At { at, items, reserved: next } => {
                        calls.push((at, items));
                        reserved = next;
                    }
                    Reservation::Later(at) => now = at,
                }
            }
            let sum = |from: Timestamp, ms: i64| -> f64 {
                calls.iter().filter(|(at, _)| (from.0..from.0 + ms).contains(&at.0)).map(|(_, n)| f64::from(*n)).sum()
            };
            let end = calls.last().unwrap().0;
            for (from, _) in calls.iter().filter(|(at, _)| at.0 + 10_000 < end.0) {
                let share = sum(*from, 10_000) / (10.0 * per_second);
                prop_assert!((0.9..=1.06).contains(&share), "{share}");
                prop_assert!(sum(*from, 1_000) <= per_second * (1.0 + RESERVATION_S) + 2.0);
            }
        }
    }
}
