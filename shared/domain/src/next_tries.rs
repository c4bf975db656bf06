//! Times of the next tries of the items that a round defers. Each item has its own: the wait that it requested, or the
//! usual delay.
//!
//! The next round is due with the earliest of its items. A round defers the items whose time has not come again, without
//! a try. A requested wait is extended by at most an eighth, to one of a few times of the chunk, so that a chunk has few
//! rounds even if each of its items requests another wait.

use std::collections::BTreeSet;

use crate::group::CHUNKS_PER_GROUP;
use crate::ids::ChunkId;
use crate::retry::usual_delay_s;
use crate::timestamp::Timestamp;

/// Minimum seconds from the end of a round to the next one.
const MIN_WAIT_S: i64 = 1;

/// Maximum extension of a requested wait, as a part of it.
const EXTENSION: i64 = 8;

/// Delay of the items that request no wait.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Backoff {
    /// Base of the retry schedule, in seconds.
    pub base_s: i64,
    /// Jitter, in 0..1.
    pub fraction: f64,
}

/// Times of the next tries of a chunk's items, in whole seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct NextTries {
    backoff: Backoff,
    /// Offset of the chunk's times, so that those of different chunks differ.
    offset: i64,
    times: BTreeSet<Timestamp>,
}

impl NextTries {
    /// Creates an empty set.
    pub fn new(backoff: Backoff, chunk: ChunkId) -> Self {
        let offset = i64::from(chunk.group) * CHUNKS_PER_GROUP as i64 + i64::from(chunk.chunk);
        Self { backoff, offset, times: BTreeSet::new() }
    }

    /// Adds an item that is to be tried no earlier than `time`. Returns its time.
    pub fn not_before(&mut self, time: Timestamp) -> Timestamp {
        let time = Timestamp::default().plus_seconds(whole_seconds(time));
        self.times.insert(time);
        time
    }

    /// Adds an item that requests a wait of so many milliseconds. Returns its time.
    pub fn after_wait(&mut self, wait_ms: i64, now: Timestamp) -> Timestamp {
        let earliest_s = whole_seconds(Timestamp(now.0.saturating_add(wait_ms)));
        let step = power_of_two_up_to(wait_ms / 1_000 / EXTENSION);
        let extension = (self.offset - earliest_s).rem_euclid(step);
        self.not_before(Timestamp::default().plus_seconds(earliest_s.saturating_add(extension)))
    }

    /// Adds an item that requests no wait, after this number of attempts (from 1). Its time is that of an earlier item
    /// if that is at least half of the delay away: the items of a slow handler share a round. Returns its time.
    pub fn after_attempts(&mut self, attempts: u32, now: Timestamp) -> Timestamp {
        let Backoff { base_s, fraction } = self.backoff;
        let delay_s = usual_delay_s(attempts, base_s, fraction).max(MIN_WAIT_S);
        let (half, whole) = (now.plus_seconds(delay_s / 2), now.plus_seconds(delay_s));
        let shared = self.times.range(half..=whole).next_back().copied();
        self.not_before(shared.unwrap_or(whole))
    }

    /// Returns the earliest time; `None` if no item was added.
    pub fn earliest(&self) -> Option<Timestamp> {
        self.times.first().copied()
    }

    /// Returns the start of the next round if this one ends now.
    pub fn round_due(&self, now: Timestamp) -> Timestamp {
        let soonest = Timestamp::default().plus_seconds(whole_seconds(now.plus_seconds(MIN_WAIT_S)));
        self.earliest().map_or(soonest, |earliest| earliest.max(soonest))
    }
}

/// Returns the seconds of a time, rounded up, so that no item is tried before its time.
fn whole_seconds(time: Timestamp) -> i64 {
    Timestamp(time.0.saturating_add(999)).seconds()
}

fn power_of_two_up_to(limit: i64) -> i64 {
    1 << limit.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1_000)
    }

    fn tries(chunk: u32) -> NextTries {
        NextTries::new(Backoff { base_s: 30, fraction: 0.5 }, ChunkId::new(0, chunk))
    }

    #[test]
    fn a_round_is_due_with_its_earliest_item() {
        for (times_s, due_s) in [(&[][..], 101), (&[105], 105), (&[3_700, 105, 106], 105), (&[90, 3_700], 101)] {
            let mut tries = tries(0);
            times_s.iter().for_each(|s| assert_eq!(tries.not_before(at(*s)), at(*s)));
            assert_eq!(tries.round_due(at(100)), at(due_s), "{times_s:?}");
            assert_eq!(tries.earliest(), times_s.iter().min().copied().map(at));
        }
    }

    #[test]
    fn a_requested_wait_is_extended_by_at_most_an_eighth() {
        for chunk in [0, 1, 7, 15] {
            let mut tries = tries(chunk);
            for (wait_s, now) in
                (0..=3_600).flat_map(|wait_s| [at(100_000), Timestamp(123_456_789)].map(|t| (wait_s, t)))
            {
                let waited_ms = tries.after_wait(wait_s * 1_000, now).0 - now.0;
                let limit_ms = wait_s * 1_000 * (EXTENSION + 1) / EXTENSION;
                assert!((wait_s * 1_000..limit_ms + 1_000).contains(&waited_ms), "{wait_s} s: {waited_ms} ms");
            }
        }
        assert_eq!(tries(0).after_wait(5_000, at(100)), at(105), "short waits are exact");
        assert_eq!(tries(0).after_wait(5_001, Timestamp(100_500)), at(106), "in whole seconds");
        assert_eq!([0, 1].map(|chunk| tries(chunk).after_wait(3_600_000, at(0))), [at(3_840), at(3_841)]);
        assert!(tries(0).after_wait(i64::MAX, at(100)) > at(1_000_000_000));
    }

    #[test]
    fn a_chunk_has_few_rounds_even_if_its_items_request_all_waits() {
        let mut tries = tries(3);
        (1..=3_600).for_each(|wait_s| {
            tries.after_wait(wait_s * 1_000, at(50));
        });
        let (mut rounds, mut now) = (0, at(50));
        while tries.earliest().is_some() {
            now = tries.round_due(now);
            tries.times.retain(|time| *time > now);
            rounds += 1;
        }
        assert!((60..100).contains(&rounds), "{rounds}");
    }

    #[test]
    fn items_without_a_wait_follow_the_schedule_and_share_a_time() {
        let mut tries = tries(0);
        let times = [(1, 100), (1, 107), (1, 109), (2, 109), (1, 900)];
        let times = times.map(|(attempts, now_s)| tries.after_attempts(attempts, at(now_s)));
        assert_eq!(times, [115, 115, 124, 169, 915].map(at));
    }

    #[test]
    fn every_time_can_be_written() {
        for time in [i64::MIN, 0, i64::MAX] {
            assert_eq!(tries(0).not_before(Timestamp(time)).0 % 1_000, 0);
        }
    }
}
