//! Delivery progress: the age of the chunk messages that the workers of one tenant receive.
//!
//! A queue reports how many messages it holds, but not the age of the oldest. So workers regularly record the sending
//! time of a message that they have received. A queue delivers a tenant's messages roughly in the order of sending. So
//! a message that was sent well before a received one no longer waits: a worker has it, or it is lost.
//!
//! The records of the last minutes are kept, one per [`INTERVAL_S`]: a worker may still be processing a message that it
//! has received, so only receipts of some time ago count.
//!
//! - A redelivery and a delayed message were sent long ago: an interval keeps only its newest, so they change nothing.
//! - A fair queue reorders the messages of different tenants. The records are therefore kept for each tenant.
//! - The sending time is by the queue's clock, the interval by the worker's, the time of a group by the splitter's.
//!   [`MARGIN_S`] covers the clock skew, and messages of a standard queue that overtake each other.

use std::collections::BTreeMap;

use crate::timestamp::Timestamp;

/// Length of one interval in seconds.
pub const INTERVAL_S: i64 = 30;

/// Number of intervals kept: twenty minutes, more than the longest stall time.
pub const INTERVALS: i64 = 40;

/// Seconds between two records by one process for the same tenant and queue.
pub const RECORD_EVERY_S: i64 = 10;

/// Seconds by which a message must be older than a received one to count as passed.
pub const MARGIN_S: i64 = 15;

/// Delivery records of one tenant in one queue.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Deliveries {
    /// Per interval, the sending time in seconds of the newest message that was received in it.
    newest: BTreeMap<i64, i64>,
}

impl Deliveries {
    /// Returns the interval of a time.
    pub fn interval(now: Timestamp) -> i64 {
        now.seconds().div_euclid(INTERVAL_S)
    }

    /// Records that a message sent at `sent_at` was received at `now`. Idempotent; the order of calls does not matter.
    pub fn record(&mut self, sent_at: Timestamp, now: Timestamp) {
        self.insert(Self::interval(now), sent_at.seconds());
    }

    /// Records the newest sending time of one interval, in seconds.
    pub fn insert(&mut self, interval: i64, sent_s: i64) {
        let newest = self.newest.entry(interval).or_insert(sent_s);
        *newest = sent_s.max(*newest);
        let last = self.newest.last_key_value().map_or(interval, |(last, _)| *last);
        self.newest.retain(|interval, _| *interval > last - INTERVALS);
    }

    /// Returns the sending time of the newest message received by `time`; `None` if unknown.
    pub fn newest_by(&self, time: Timestamp) -> Option<Timestamp> {
        let ended = Self::interval(time);
        self.newest.range(..ended).map(|(_, sent_s)| Timestamp(sent_s * 1000)).max()
    }

    /// Returns [`Self::newest_by`] if the first receipt in the `quiet_s` seconds before `time` ended a longer time
    /// without any. Everything received before that quiet time is old by now.
    pub fn newest_after_quiet(&self, quiet_s: i64, time: Timestamp) -> Option<Timestamp> {
        let lately = Self::interval(time.plus_seconds(-quiet_s))..Self::interval(time);
        let (first, _) = self.newest.range(lately).next()?;
        let before = self.newest.range(..first).next_back();
        let was_quiet = before.is_none_or(|(before, _)| (first - before) * INTERVAL_S > quiet_s);
        was_quiet.then(|| self.newest_by(time)).flatten()
    }

    /// Returns true if no message is known to have been received since `time`.
    pub fn is_quiet_since(&self, time: Timestamp) -> bool {
        self.newest.range(Self::interval(time)..).next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1000)
    }

    #[test]
    fn only_ended_intervals_show_what_was_received_by_a_time() {
        let mut deliveries = Deliveries::default();
        deliveries.record(at(100), at(310));
        deliveries.record(at(250), at(340));
        for (by, newest) in [(329, None), (330, Some(100)), (359, Some(100)), (360, Some(250)), (9_999, Some(250))] {
            assert_eq!(deliveries.newest_by(at(by)), newest.map(at), "{by}");
        }
    }

    #[test]
    fn a_redelivery_changes_nothing_in_any_order() {
        for notes in [[250, 100], [100, 250]] {
            let mut deliveries = Deliveries::default();
            notes.into_iter().for_each(|sent| deliveries.record(at(sent), at(300)));
            deliveries.record(at(90), at(330));
            assert_eq!(deliveries.newest_by(at(400)), Some(at(250)));
        }
    }

    #[test]
    fn a_tenant_is_quiet_while_none_of_its_messages_is_received() {
        let mut deliveries = Deliveries::default();
        assert!(deliveries.is_quiet_since(at(0)));
        deliveries.record(at(100), at(310));
        assert!(!deliveries.is_quiet_since(at(310)) && !deliveries.is_quiet_since(at(329)));
        assert!(deliveries.is_quiet_since(at(330)));
    }

    #[test]
    fn the_first_receipt_after_a_quiet_time_shows_what_was_passed() {
        for (before, described) in [(None, true), (Some(90), true), (Some(120), false)] {
            let mut deliveries = Deliveries::default();
            before.into_iter().for_each(|before| deliveries.record(at(50), at(before)));
            deliveries.record(at(290), at(310));
            let newest = deliveries.newest_after_quiet(180, at(340));
            assert_eq!(newest, described.then(|| at(290)), "{before:?}");
        }
        let mut first = Deliveries::default();
        first.record(at(290), at(310));
        assert_eq!(first.newest_after_quiet(180, at(329)), None, "the interval has not ended");
    }

    #[test]
    fn old_intervals_are_dropped() {
        let mut deliveries = Deliveries::default();
        (0..1_000).for_each(|interval| deliveries.record(at(interval), at(interval * INTERVAL_S)));
        assert_eq!(deliveries.newest.len(), INTERVALS as usize);
    }
}
