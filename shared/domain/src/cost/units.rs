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

    /// Returns the units of one call of a service, named as in the last log line of an invocation; `None` for a call
    /// that has no price here. DynamoDB charges by the size of items: one unit for each item of a call is exact for
    /// items up to 1 KB (writes) and 4 KB (reads). Writes of indexes are not in it.
    pub fn of_call(call: &str) -> Option<Self> {
        let none = Self::NONE;
        Some(match call {
            "DynamoDB.GetItem" | "DynamoDB.Query" => Self { reads: 1, ..none },
            // A group and its job.
            "DynamoDB.BatchGetItem" => Self { reads: 2, ..none },
            "DynamoDB.UpdateItem" | "DynamoDB.PutItem" | "DynamoDB.DeleteItem" => Self { writes: 1, ..none },
            // At twice the price of a plain write: three items, such as group, manifest and job; or two, with an ended
            // job of two units. The event of a start has two of one unit, which are four.
            "DynamoDB.TransactWriteItems" => Self { writes: 6, ..none },
            // Charged by record.
            "DynamoDB.BatchExecuteStatement" => none,
            "SQS.SendMessageBatch" | "SQS.SendMessage" => Self { queue: 1, ..none },
            "S3.GetObject" | "S3.HeadObject" => Self { object_reads: 1, ..none },
            _ if call.starts_with("S3.") => Self { object_writes: 1, ..none },
            _ => return None,
        })
    }
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
