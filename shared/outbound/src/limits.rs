//! Limits of a call.

use std::time::Duration;

const KIB: usize = 1024;

/// Limits of a call, besides its deadline.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Limits {
    /// Maximum time for name resolution, TCP and TLS together.
    pub connect: Duration,
    /// Maximum time between two parts of an answer's body.
    pub idle: Duration,
    /// Maximum bytes of the body of a 2xx answer.
    pub body_bytes: usize,
    /// Bytes of the body of any other answer that are read. The rest is dropped.
    pub excerpt_bytes: usize,
    /// Maximum bytes of an answer's status line and headers. Informational answers (1xx) count, too.
    pub head_bytes: usize,
    /// Maximum number of an answer's headers.
    pub headers: usize,
    /// Maximum time that a connection is kept for another call, also of the next invocation. Many servers close theirs
    /// after 2 to 5 s.
    pub keep_idle: Duration,
    /// Maximum age of a connection that is used again, so that a change in DNS takes effect.
    pub keep_age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            idle: Duration::from_secs(10),
            body_bytes: 4 * KIB * KIB,
            excerpt_bytes: 16 * KIB,
            head_bytes: 32 * KIB,
            headers: 100,
            keep_idle: Duration::from_secs(1),
            keep_age: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// Bytes of the buffer between TLS and HTTP, which holds at least a head.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.head_bytes.max(32 * KIB)
    }

    /// Bytes that may be read until a head is complete: heads, and what the buffer holds of the body behind it.
    pub(crate) fn head_budget(&self) -> usize {
        self.head_bytes + 2 * self.buffer_bytes()
    }

    /// Bytes that may be read for a body of this size: as much again for the headers of its chunks.
    pub(crate) fn body_budget(&self, bytes: usize) -> usize {
        2 * bytes + 2 * self.buffer_bytes()
    }
}
