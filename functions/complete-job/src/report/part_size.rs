//! Number and sizes of the parts of a file.

/// Number of parts of one size, before the size doubles. S3 allows 10,000 parts: starting with 8 MiB, they hold 300 GB.
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>
const PARTS_OF_A_SIZE: usize = 2_500;

/// Number of parts after which no further slice of the results is appended. A slice is a few parts of the final size,
/// and S3 allows 10,000 parts.
pub(super) const MAX_PARTS: usize = 9_900;

/// Minimum size of a part other than the last.
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>
const MIN_PART_BYTES: usize = 5 << 20;

/// Returns the bytes of the next part of a file that has `parts` parts; the first ones have `part_bytes`.
pub(super) fn next_bytes(part_bytes: usize, parts: usize) -> usize {
    part_bytes << (parts / PARTS_OF_A_SIZE)
}

/// Returns the number of bytes from which an object can be a part of its own. It grows like the size of the parts.
pub(super) fn min_bytes(part_bytes: usize, parts: usize) -> usize {
    part_bytes.min(MIN_PART_BYTES) << (parts / PARTS_OF_A_SIZE)
}
