//! Waits between retries of a call: exponential, with full jitter, and bounded.
//!
//! DynamoDB processes a batch only in part if a partition has no capacity, and recommends such waits: "if you retry
//! the batch operation immediately, the underlying read or write requests can still fail due to throttling"
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>).

use std::time::Duration;

use futures::future::BoxFuture;
use longshore_domain::random::fraction;

/// Maximum length of the first wait; the maximum doubles with each further wait.
const FIRST_MS: u64 = 50;
/// Maximum length of any wait.
const LONGEST_MS: u64 = 2_000;
/// Number of waits before the caller gives up: at most about five seconds in total.
const MAX_WAITS: u32 = 7;
/// Number of waits for other writers of the same items: eleven seconds in all at most, so that an API call has time
/// for two such waits. Twenty concurrent creates of one tenant all succeed within them.
const MAX_CONFLICT_WAITS: u32 = 10;

/// A function that waits. A parameter, so that tests do not wait.
pub(crate) type Sleep = fn(Duration) -> BoxFuture<'static, ()>;

/// Waits in real time.
pub(crate) fn sleep(time: Duration) -> BoxFuture<'static, ()> {
    Box::pin(tokio::time::sleep(time))
}

/// The waits of one operation.
#[derive(Debug)]
pub(crate) struct BackOff {
    sleep: Sleep,
    waits: u32,
    max_waits: u32,
}

impl BackOff {
    /// Creates a back-off for one operation.
    pub(crate) fn new(sleep: Sleep) -> Self {
        Self { sleep, waits: 0, max_waits: MAX_WAITS }
    }

    /// Creates a back-off for an operation that conflicts with other writers.
    pub(crate) fn for_conflicts(sleep: Sleep) -> Self {
        Self { max_waits: MAX_CONFLICT_WAITS, ..Self::new(sleep) }
    }

    /// Waits before another attempt; returns false without a wait if the waits are used up.
    pub(crate) async fn wait(&mut self) -> bool {
        if self.waits == self.max_waits {
            return false;
        }
        (self.sleep)(full_jitter(self.waits, fraction())).await;
        self.waits += 1;
        true
    }
}

/// Returns the wait after `waits` others: any time up to a bound that doubles. `fraction` in 0..1 is the jitter, so
/// that callers that were refused together do not retry together.
pub(crate) fn full_jitter(waits: u32, fraction: f64) -> Duration {
    let max_ms = (FIRST_MS << waits.min(16)).min(LONGEST_MS);
    Duration::from_millis(max_ms).mul_f64(fraction.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use futures::FutureExt;
    use futures::executor::block_on;

    use super::{BackOff, FIRST_MS, LONGEST_MS, MAX_WAITS, full_jitter};

    thread_local! {
        static WAITED: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
    }

    #[test]
    fn waits_double_up_to_a_bound_and_are_limited() {
        let max_delays: Vec<_> = (0..8).map(|waits| full_jitter(waits, 1.0).as_millis()).collect();
        assert_eq!(max_delays, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
        assert_eq!(full_jitter(3, 0.0), Duration::ZERO);
        assert_eq!(full_jitter(u32::MAX, 0.5), Duration::from_millis(LONGEST_MS / 2));
        let mut back_off = BackOff::new(|time| {
            WAITED.with_borrow_mut(|waited| waited.push(time));
            futures::future::ready(()).boxed()
        });
        let attempts = std::iter::from_fn(|| block_on(back_off.wait()).then_some(())).take(100).count();
        assert_eq!(attempts as u32, MAX_WAITS);
        let waited = WAITED.take();
        assert_eq!(waited.len() as u32, MAX_WAITS);
        for (at, time) in waited.iter().enumerate() {
            assert!(*time <= Duration::from_millis(FIRST_MS << at).min(Duration::from_millis(LONGEST_MS)), "{time:?}");
        }
        assert!(waited.iter().collect::<std::collections::BTreeSet<_>>().len() > 3, "the waits differ");
    }
}
