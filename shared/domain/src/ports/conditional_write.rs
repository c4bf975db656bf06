//! The outcome of a conditional write.

/// The outcome of a conditional write of a record that was read before.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum ConditionalWrite {
    /// The record is stored.
    Stored,
    /// Another writer was first: the caller reads the record again.
    Changed,
}
