//! Billed units: those of a chunk, which the ledger records, and those of a job.

use std::ops::{Add, AddAssign, Sub};

/// The billed units of a group's chunks, as their commits have recorded them. The counts of items are exact; these are
/// estimates: what a worker does after its last commit, or before it dies, is not in them.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default)]
pub struct ChunkUsage {
    /// Milliseconds of the workers, times their memory in GB.
    pub gb_ms: u64,
    /// Deliveries that committed: each is an invocation, a received and deleted message, and a read of the chunk.
    pub deliveries: u64,
    /// Write units of both tables.
    pub writes: u64,
    /// Read units of both tables.
    pub reads: u64,
    /// Objects that were written.
    pub object_writes: u64,
}

impl ChunkUsage {
    fn with(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            gb_ms: combine(self.gb_ms, other.gb_ms),
            deliveries: combine(self.deliveries, other.deliveries),
            writes: combine(self.writes, other.writes),
            reads: combine(self.reads, other.reads),
            object_writes: combine(self.object_writes, other.object_writes),
        }
    }
}

impl AddAssign for ChunkUsage {
    fn add_assign(&mut self, other: Self) {
        *self = self.with(other, u64::saturating_add);
    }
}

impl Sub for ChunkUsage {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }
}

/// Billed units.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default)]
pub struct Units {
    /// Milliseconds of Lambda functions, times their memory in GB.
    pub gb_ms: u64,
    /// Invocations of Lambda functions.
    pub requests: u64,
    /// Write units of DynamoDB.
    pub writes: u64,
    /// Read units of DynamoDB.
    pub reads: u64,
    /// Requests to queues.
    pub queue: u64,
    /// Requests that write or list objects.
    pub object_writes: u64,
    /// Requests that read an object.
    pub object_reads: u64,
}

impl Units {
    /// No units.
    pub const NONE: Self =
        Self { gb_ms: 0, requests: 0, writes: 0, reads: 0, queue: 0, object_writes: 0, object_reads: 0 };
}

impl Add for Units {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }
}

impl AddAssign for Units {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Units {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }
}

impl Units {
    fn with(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            gb_ms: combine(self.gb_ms, other.gb_ms),
            requests: combine(self.requests, other.requests),
            writes: combine(self.writes, other.writes),
            reads: combine(self.reads, other.reads),
            queue: combine(self.queue, other.queue),
            object_writes: combine(self.object_writes, other.object_writes),
            object_reads: combine(self.object_reads, other.object_reads),
        }
    }
}
