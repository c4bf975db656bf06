//! A report's state between two invocations: its position, and the bytes that are too few for a part.
//!
//! Format: a line of JSON, then the bytes of the three files that are not sent yet, at most a part of each.

use longshore::result::FailuresByCode;
use longshore_domain::job::JobError;
use serde::{Deserialize, Serialize};

use super::input::RecordAt;
use super::table::SavedTable;

/// Version of this format. Another version of the code writes other bytes, so it starts a new attempt.
const FORMAT: &str = concat!("3 ", env!("CARGO_PKG_VERSION"));

/// Position of a report within its job. Everything before it is written.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Position {
    /// Index of the group in the report; after the last one comes the part that was never split.
    pub(super) unit: usize,
    /// Chunks of that group that are written.
    pub(super) chunk: usize,
    /// Rows of the three files before that group.
    pub(super) before: [u64; 3],
    /// Next record of the part that was never split, once that part is started.
    pub(super) unsplit: Option<RecordAt>,
    /// True if everything is written.
    pub(super) ended: bool,
}

/// The state of an incomplete report.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct State {
    format: String,
    pub(super) at: Position,
    pub(super) source_gone: bool,
    pub(super) issues: Vec<JobError>,
    pub(super) tables: [SavedTable; 3],
    pub(super) failures_by_code: FailuresByCode,
}

impl State {
    pub(super) fn new(at: Position, issues: Vec<JobError>, tables: [SavedTable; 3]) -> Self {
        Self {
            format: FORMAT.into(),
            at,
            source_gone: false,
            issues,
            tables,
            failures_by_code: FailuresByCode::default(),
        }
    }

    /// Returns the bytes to store.
    pub(super) fn to_bytes(&self, tails: [&[u8]; 3]) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(b'\n');
        tails.iter().for_each(|tail| bytes.extend_from_slice(tail));
        Ok(bytes)
    }

    /// Parses a stored state and the bytes of its files; `None` if another version of the code has written it.
    pub(super) fn parse(bytes: &[u8]) -> Option<(Self, [&[u8]; 3])> {
        let end = memchr::memchr(b'\n', bytes)?;
        let state: Self = serde_json::from_slice(&bytes[..end]).ok()?;
        if state.format != FORMAT {
            return None;
        }
        let mut remaining = &bytes[end + 1..];
        let mut tails: [&[u8]; 3] = [&[]; 3];
        for (tail, saved) in tails.iter_mut().zip(&state.tables) {
            (*tail, remaining) = remaining.split_at_checked(saved.tail)?;
        }
        remaining.is_empty().then_some((state, tails))
    }
}
