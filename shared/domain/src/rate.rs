//! Rate limits by the generic cell rate algorithm: a token bucket, stored as the one time at which it is full again.

use crate::timestamp::Timestamp;

/// A sustained rate and a burst.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Rate {
    /// Sustained number of calls per second.
    pub per_second: u32,
    /// Maximum number of calls in one burst.
    pub burst: u32,
}

impl Rate {
    /// Takes `cost` tokens from the bucket that is full at `full_at`, and returns the time at which it is full again. A
    /// cost above the burst counts as the burst.
    ///
    /// # Errors
    /// Returns the milliseconds to wait if the bucket has fewer tokens.
    pub fn spend(self, full_at: Timestamp, cost: u32, now: Timestamp) -> Result<Timestamp, i64> {
        let full_then = Timestamp(full_at.max(now).0 + self.millis(cost.min(self.burst)));
        let missing = full_then.millis_since(now) - self.millis(self.burst);
        if missing > 0 { Err(missing) } else { Ok(full_then) }
    }

    fn millis(self, calls: u32) -> i64 {
        (i64::from(calls) * 1_000).div_euclid(i64::from(self.per_second.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate_holds() {
        let rate = Rate { per_second: 10, burst: 5 };
        let mut full_at = Timestamp(0);
        let mut spend = |cost, now| rate.spend(full_at, cost, Timestamp(now)).map(|then| full_at = then);
        for _ in 0..5 {
            assert_eq!(spend(1, 1_000), Ok(()));
        }
        assert_eq!(spend(1, 1_000), Err(100));
        assert_eq!(spend(1, 1_099), Err(1), "a refusal costs nothing");
        assert_eq!(spend(1, 1_100), Ok(()));
        assert_eq!(spend(3, 1_300), Err(100), "two of three");
        assert_eq!(spend(9, 9_000), Ok(()), "as much as a burst");
        assert_eq!(spend(1, 9_000), Err(100));
    }

    proptest! {
        #[test]
        fn no_more_passes_than_burst_and_rate(
            per_second in 1_u32..200,
            burst in 1_u32..500,
            gaps in prop::collection::vec(0_i64..400, 1..500),
        ) {
            let rate = Rate { per_second, burst };
            let (mut full_at, mut now, mut passed) = (Timestamp(0), 0, 0_i64);
            for gap in gaps {
                now += gap;
                if let Ok(then) = rate.spend(full_at, 1, Timestamp(now)) {
                    (full_at, passed) = (then, passed + 1);
                }
                let least_ms = 1_000 / i64::from(per_second);
                prop_assert!(passed <= i64::from(burst) + now / least_ms.max(1) + 1);
            }
        }
    }
}
