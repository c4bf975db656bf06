//! The completer: its services and limits.

use longshore::ports::Ports;
use longshore_domain::timestamp::Timestamp;

/// Ends one job.
pub struct Completer<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// Grace period in milliseconds between the stop of a job and the closing of its groups. Longer than the interval
    /// at which a worker checks that its job is still running, so that no item starts after the closing.
    pub stop_grace_ms: i64,
    /// Deadline of the function. Shortly before it, an incomplete report is handed over to the next message, and the
    /// input is no longer read for the receipt.
    pub deadline: Timestamp,
    /// Initial size of the parts of a report's file, in bytes. S3 accepts no part under 5 MiB except the last one.
    pub part_bytes: usize,
    /// The clock.
    pub clock: fn() -> Timestamp,
}
