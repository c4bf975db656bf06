//! Parts of a multipart upload: a large file is cut so that a broken connection costs one part and not the whole file.

use serde::{Deserialize, Serialize};

/// Minimum size of a part that is not the last one, set by S3.
pub const MIN_PART_BYTES: u64 = 5 << 20;

/// Usual size of a part: some seconds on a slow connection, and small enough for a browser to hash in memory.
const PART_BYTES: u64 = 16 << 20;

/// Maximum number of parts: few enough to list in one response and in one call of S3.
pub const MAX_PARTS: u32 = 200;

const MIB: u64 = 1 << 20;

/// A multipart upload, and the size of its parts.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Multipart {
    /// S3's id of the multipart upload.
    #[serde(rename = "multipartId")]
    pub id: String,
    /// Bytes of each part except the last.
    pub part_bytes: u64,
}

/// One part of a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Part {
    /// Part number, from 1.
    pub number: u32,
    /// Exact size in bytes.
    pub size_bytes: u64,
}

/// A part to be uploaded, and the checksum of its bytes.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct PartChecksum {
    /// The part.
    pub part: Part,
    /// SHA-256 of its bytes, in base64.
    pub sha256: String,
}

/// Returns the size of each part except the last: 16 MiB, or `limit_bytes` (above which an upload is multipart) if that
/// is less. It is larger if there would be too many parts, and never less than S3's minimum.
pub fn part_bytes(size_bytes: u64, limit_bytes: u64) -> u64 {
    let usual = limit_bytes.clamp(MIN_PART_BYTES, PART_BYTES);
    let needed = size_bytes.div_ceil(u64::from(MAX_PARTS)).div_ceil(MIB).saturating_mul(MIB);
    usual.max(needed)
}

/// Returns the parts of a file in order: each of `part_bytes` except the last, together the whole file. An empty file
/// has none.
pub fn parts(size_bytes: u64, part_bytes: u64) -> impl Iterator<Item = Part> {
    let starts = (0..size_bytes).step_by(usize::try_from(part_bytes.max(1)).unwrap_or(usize::MAX));
    (1..).zip(starts).map(move |(number, start)| Part { number, size_bytes: part_bytes.min(size_bytes - start) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LARGEST: u64 = 5 << 30;

    #[test]
    fn a_part_has_16_mib_unless_there_would_be_more_than_200_or_the_limit_is_lower() {
        for (size, limit, expected) in [
            (100 * MIB, 64 * MIB, 16 * MIB),
            (200 * 16 * MIB, 64 * MIB, 16 * MIB),
            (200 * 16 * MIB + 1, 64 * MIB, 17 * MIB),
            (LARGEST, 64 * MIB, 26 * MIB),
            (6 * MIB, MIN_PART_BYTES, MIN_PART_BYTES),
            (6 * MIB, 1, MIN_PART_BYTES),
        ] {
            assert_eq!(part_bytes(size, limit), expected, "{size} above {limit}");
        }
    }

    #[test]
    fn an_empty_file_has_no_part() {
        assert_eq!(parts(0, MIN_PART_BYTES).next(), None);
    }

    proptest! {
        #[test]
        fn parts_cover_a_file_exactly(size in 1..=LARGEST, limit in 1..=LARGEST) {
            let part_bytes = part_bytes(size, limit);
            prop_assert!(part_bytes >= MIN_PART_BYTES);
            let parts: Vec<_> = parts(size, part_bytes).collect();
            prop_assert!((1..=MAX_PARTS as usize).contains(&parts.len()), "{} parts", parts.len());
            prop_assert_eq!(parts.iter().map(|part| part.size_bytes).sum::<u64>(), size);
            prop_assert!(parts.iter().map(|part| part.number).eq(1..=parts.len() as u32));
            let (last, others) = parts.split_last().expect("a part");
            prop_assert!(others.iter().all(|part| part.size_bytes == part_bytes));
            prop_assert!((1..=part_bytes).contains(&last.size_bytes));
        }
    }
}
