//! Amounts of money: integers, so that sums are exact.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

const PER_DOLLAR: f64 = 1e9;

/// Billionths of a dollar. Sums saturate.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NanoDollars(pub u64);

impl NanoDollars {
    /// Returns this number of dollars; zero for a negative one.
    pub fn from_dollars(dollars: f64) -> Self {
        Self::rounded(dollars * PER_DOLLAR)
    }

    /// Returns the amount in dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / PER_DOLLAR
    }

    /// Returns the nearest amount; zero for a negative one.
    pub(super) fn rounded(nano_dollars: f64) -> Self {
        Self(nano_dollars.round() as u64)
    }

    /// Returns this share of the amount.
    #[must_use]
    pub(super) fn times(self, share: f64) -> Self {
        Self::rounded(self.0 as f64 * share)
    }
}

impl Add for NanoDollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// The cost of a job, or of a part of it. It is stored as a text, see `stored`.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Cost {
    /// Time of the functions.
    pub compute: NanoDollars,
    /// Invocations of the functions.
    pub requests: NanoDollars,
    /// Reads and writes of the tables.
    pub database: NanoDollars,
    /// Requests to the bucket.
    pub storage: NanoDollars,
    /// Requests to the queues.
    pub queue: NanoDollars,
}

impl Cost {
    /// Returns the sum of the parts.
    pub fn total(self) -> NanoDollars {
        self.compute + self.requests + self.database + self.storage + self.queue
    }

    /// Returns true if the job has cost nothing.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            compute: self.compute + other.compute,
            requests: self.requests + other.requests,
            database: self.database + other.database,
            storage: self.storage + other.storage,
            queue: self.queue + other.queue,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
