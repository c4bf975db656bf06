//! Numbers of items in all windows of a length.

use longshore_domain::timestamp::Timestamp;

use super::endpoint::RecordedCall;

/// A window, and the items of the calls that begin in it.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) struct Window {
    pub(super) from: Timestamp,
    pub(super) items: u32,
}

/// The starts and the items of calls, in their order.
pub(super) struct Calls(Vec<(i64, u32)>);

impl Calls {
    pub(super) fn new(calls: &[RecordedCall]) -> Self {
        let mut calls: Vec<_> = calls.iter().map(|call| (call.at.0, call.items)).collect();
        calls.sort_unstable();
        Self(calls)
    }

    /// Returns the largest call.
    pub(super) fn largest(&self) -> u32 {
        self.0.iter().map(|(_, items)| *items).max().unwrap_or(0)
    }

    /// Returns all windows between these times that have the most items of those around them: they begin with a call.
    pub(super) fn fullest(&self, between: (i64, i64), ms: i64) -> impl Iterator<Item = Window> {
        self.windows(between, ms, 0)
    }

    /// Returns all windows that have the fewest items of those around them: they begin just behind a call.
    pub(super) fn emptiest(&self, between: (i64, i64), ms: i64) -> impl Iterator<Item = Window> {
        self.windows(between, ms, 1)
    }

    fn windows(&self, (start, end): (i64, i64), ms: i64, behind: i64) -> impl Iterator<Item = Window> {
        let froms = self.0.iter().map(move |(at, _)| at + behind).chain([start]);
        froms.filter(move |from| (start..=end - ms).contains(from)).map(move |from| {
            let index = |time: i64| self.0.partition_point(|(at, _)| *at < time);
            let items = self.0[index(from)..index(from + ms)].iter().map(|(_, items)| items).sum();
            Window { from: Timestamp(from), items }
        })
    }
}

/// Returns the maximum number of calls at the same time.
pub(super) fn most_at_once(calls: &[RecordedCall]) -> usize {
    let starts = calls.iter().map(|call| (call.at, 1));
    // At the same time, ends come first.
    let mut changes: Vec<_> = starts.chain(calls.iter().map(|call| (call.ends_at, -1))).collect();
    changes.sort_unstable();
    let running = changes.iter().scan(0_i32, |running, (_, change)| {
        *running += change;
        Some(*running)
    });
    usize::try_from(running.max().unwrap_or(0)).expect("a number of calls")
}
