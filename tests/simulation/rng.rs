//! The random generator of a run: a sequence of numbers that the seed determines.

use longshore_domain::random::split_mix;

/// A sequence of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        let (number, state) = split_mix(self.0);
        self.0 = state;
        number
    }

    /// A random number below `end`, which must not be 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// A random number in a range that includes both ends.
    pub(crate) fn between(&mut self, from: i64, to: i64) -> i64 {
        from + (self.number() % (to - from + 1) as u64) as i64
    }

    /// Returns true with a probability of `per_mille` in a thousand.
    pub(crate) fn often(&mut self, per_mille: u32) -> bool {
        self.number() % 1000 < u64::from(per_mille)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A random index, weighted by these weights.
    pub(crate) fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.number() % u64::from(weights.iter().sum::<u32>());
        weights
            .iter()
            .position(|weight| {
                left.checked_sub(u64::from(*weight)).is_none_or(|remaining| {
                    left = remaining;
                    false
                })
            })
            .unwrap_or(0)
    }
}
