//! Waits between retries of a call: exponential, with full jitter, and bounded.
//!
//! DynamoDB processes a batch only in part when a partition has no capacity, and asks for such waits: "if you retry
//! the batch operation immediately, the underlying read or write requests can still fail due to throttling"
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html>).

use std::time::Duration;

use futures::future::BoxFuture;
use longshore_domain::ids::fraction;

/// Maximum length of the first wait; the maximum doubles with each further wait.
const FIRST_MS: u64 = 50;
/// Maximum length of any wait.
const LONGEST_MS: u64 = 2_000;
/// Number of waits before the caller gives up: about five seconds in all, at most.
const WAITS: u32 = 7;
/// Number of waits for other writers of the same items: eleven seconds in all at most, so that an API call has time
/// for two such waits. Twenty concurrent creates of one tenant all succeed within them.
const WAITS_AMONG_WRITERS: u32 = 10;

/// A function that waits; passed in, so that tests do not wait.
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
    most: u32,
}

impl BackOff {
    /// Starts without any wait.
    pub(crate) fn new(sleep: Sleep) -> Self {
        Self { sleep, waits: 0, most: WAITS }
    }

    /// Creates a back-off for an operation that conflicts with other writers.
    pub(crate) fn among_writers(sleep: Sleep) -> Self {
        Self { most: WAITS_AMONG_WRITERS, ..Self::new(sleep) }
    }

    /// Waits before another attempt; returns false at once if the waits are used up.
    pub(crate) async fn wait(&mut self) -> bool {
        if self.waits == self.most {
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
    let most = (FIRST_MS << waits.min(16)).min(LONGEST_MS);
    Duration::from_millis(most).mul_f64(fraction.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use futures::FutureExt;
    use futures::executor::block_on;

    use super::{BackOff, FIRST_MS, LONGEST_MS, WAITS, full_jitter};

    thread_local! {
        static WAITED: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
    }

    #[test]
    fn waits_double_up_to_a_bound_and_come_to_an_end() {
        let most: Vec<_> = (0..8).map(|waits| full_jitter(waits, 1.0).as_millis()).collect();
        assert_eq!(most, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
        assert_eq!(full_jitter(3, 0.0), Duration::ZERO);
        assert_eq!(full_jitter(u32::MAX, 0.5), Duration::from_millis(LONGEST_MS / 2));
        let mut back_off = BackOff::new(|time| {
            WAITED.with_borrow_mut(|waited| waited.push(time));
            futures::future::ready(()).boxed()
        });
        let again = std::iter::from_fn(|| block_on(back_off.wait()).then_some(())).take(100).count();
        assert_eq!(again as u32, WAITS);
        let waited = WAITED.take();
        assert_eq!(waited.len() as u32, WAITS);
        for (at, time) in waited.iter().enumerate() {
            assert!(*time <= Duration::from_millis(FIRST_MS << at).min(Duration::from_millis(LONGEST_MS)), "{time:?}");
        }
        assert!(waited.iter().collect::<std::collections::BTreeSet<_>>().len() > 3, "no two waits are alike");
    }
}
