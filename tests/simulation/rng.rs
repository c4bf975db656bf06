//! All chance of a run: one sequence of numbers that its seed decides.

use longshore_domain::chance::split_mix;

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

    /// A number below `end`, which must not be 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// A number of a range, its ends among them.
    pub(crate) fn between(&mut self, from: i64, to: i64) -> i64 {
        from + (self.number() % (to - from + 1) as u64) as i64
    }

    /// True so many times in a thousand.
    pub(crate) fn often(&mut self, per_mille: u32) -> bool {
        self.number() % 1000 < u64::from(per_mille)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// An index of these weights, the heavier the likelier.
    pub(crate) fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.number() % u64::from(weights.iter().sum::<u32>());
        weights
            .iter()
            .position(|weight| {
                left.checked_sub(u64::from(*weight)).is_none_or(|rest| {
                    left = rest;
                    false
                })
            })
            .unwrap_or(0)
    }
}
