//! Limits of the contract with remote handlers.

/// Maximum number of items in a batch.
pub const MAX_BATCH_ITEMS: u32 = 1_000;

/// Maximum size of a request, in bytes.
pub const MAX_BATCH_BYTES: u32 = 4 << 20;

/// Maximum size of an answer, in bytes.
pub const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Limits of a batch: those of the job type, or smaller ones while a bisection runs.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct BatchLimits {
    items: u32,
    bytes: u32,
}

impl BatchLimits {
    /// Creates limits. Each is brought into the range that the contract allows: 1 to [`MAX_BATCH_ITEMS`] items and 1 to
    /// [`MAX_BATCH_BYTES`] bytes.
    pub fn new(items: u32, bytes: u32) -> Self {
        Self { items: items.clamp(1, MAX_BATCH_ITEMS), bytes: bytes.clamp(1, MAX_BATCH_BYTES) }
    }

    /// Returns the limits with a smaller number of items, at least one.
    #[must_use]
    pub fn at_most(self, items: u32) -> Self {
        Self { items: self.items.min(items.max(1)), ..self }
    }

    /// Returns the maximum number of items.
    pub const fn items(self) -> u32 {
        self.items
    }

    /// Returns the size of a request in bytes above which no further item is added.
    pub const fn bytes(self) -> u32 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_within_those_of_the_contract() {
        for (items, bytes, expected) in
            [(0, 0, (1, 1)), (100, 1 << 20, (100, 1 << 20)), (1_001, u32::MAX, (1_000, 4 << 20))]
        {
            let limits = BatchLimits::new(items, bytes);
            assert_eq!((limits.items(), limits.bytes()), expected);
            assert_eq!(limits.at_most(0).items(), 1);
            assert_eq!(limits.at_most(2_000), limits);
        }
    }
}
