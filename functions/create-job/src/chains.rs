//! Concurrent reads of the work files of many chunks, bounded in number and in memory.

/// Number of chunks whose work files are read concurrently, to hide the bucket's latency.
const READ_AHEAD: u64 = 8;

/// Memory in bytes for the entries that are read concurrently. A chunk that may have more is read alone.
const READ_BYTES: u64 = 48 << 20;

/// Returns the number of chunks that are read concurrently if the entries of the largest one take this many bytes.
pub(crate) fn at_once(largest: u64) -> usize {
    (READ_BYTES / largest.max(1)).clamp(1, READ_AHEAD) as usize
}
