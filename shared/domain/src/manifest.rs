//! The plan of a group: its chunks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::job::ItemFile;

/// One chunk of a manifest: a range of consecutive items.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct ChunkPlan {
    /// Number of its first item in the file, from 1.
    pub first: u64,
    /// Number of items.
    pub items: u32,
    /// First byte in the source.
    pub start: u64,
    /// Byte after the last one in the source.
    pub end: u64,
    /// True if no item of the chunk is ever read: a single item above the size limit, or items of another job of which
    /// it has kept no bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oversize: bool,
    /// The item file whose bytes `start` to `end` are the chunk's items; `None` for a range of the job's file, and for
    /// items in a work file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<ItemFile>,
}

impl ChunkPlan {
    /// Plans items that are read from this range of the source.
    pub const fn from_range(first: u64, items: u32, range: Range<u64>) -> Self {
        Self { first, items, start: range.start, end: range.end, oversize: false, keys: None }
    }

    /// Plans items that are read from a work file.
    pub const fn in_work_file(first: u64, items: u32) -> Self {
        Self::from_range(first, items, 0..0)
    }

    /// Returns true if the items are in a work file and not in a range of a source. Also true for the only item of a
    /// job without a source.
    pub const fn is_in_work_file(&self) -> bool {
        self.start == self.end && !self.oversize
    }
}

/// The immutable plan of a group: its chunks in order.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Number of the group.
    pub group: u32,
    /// The chunks in order; a chunk's number is its index.
    pub chunks: Vec<ChunkPlan>,
}

impl Manifest {
    /// Returns the number of items in all its chunks.
    pub fn items(&self) -> u64 {
        self.chunks.iter().map(|c| u64::from(c.items)).sum()
    }

    /// Returns the number of bytes in all its chunks.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(|c| c.end - c.start).sum()
    }
}
