//! A report's state between two invocations: its position, and the bytes that are too few for a part.
//!
//! Format: a line of JSON, then the bytes of each file that are not sent yet, at most a part of each.

use longshore::result::FailuresByCode;
use longshore_domain::job::JobError;
use serde::{Deserialize, Serialize};

use super::input::RecordAt;
use super::parts::SavedFile;
use super::result_rows::SeenMembers;

/// Version of this format. Another version of the code writes other bytes, so it starts a new attempt.
const FORMAT: &str = concat!("7 ", env!("CARGO_PKG_VERSION"));

/// Position of a report within its job. Everything before it is written.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Position {
    /// Index of the group in the report; after the last one comes the part that was never split.
    pub(super) group: usize,
    /// Chunks of that group that are written.
    pub(super) chunk: usize,
    /// Slices of the results of the next chunk that are written. The chunk's other rows are written before the first.
    pub(super) slice: usize,
    /// Rows of the three files, and of the results, before that group.
    pub(super) before: [u64; 4],
    /// Next record of the part that was never split, once that part is started.
    pub(super) unsplit: Option<RecordAt>,
    /// True if everything is written.
    pub(super) ended: bool,
}

/// State of a workbook of the results, which one invocation writes after everything else.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkbookState {
    /// Number of invocations that have begun to write it.
    pub(super) tries: u32,
    /// True if the results are a CSV file instead.
    pub(super) as_csv: bool,
}

/// The state of an incomplete report.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct State {
    format: String,
    pub(super) at: Position,
    pub(super) source_gone: bool,
    pub(super) issues: Vec<JobError>,
    pub(super) failures_by_code: FailuresByCode,
    /// Workbook of the results.
    pub(super) workbook: WorkbookState,
    /// Members of the outputs, compared with the columns of the results.
    pub(super) seen: SeenMembers,
    pub(super) files: Vec<SavedFile>,
    /// Lengths of further bytes that follow those of the files.
    pub(super) more: Vec<usize>,
}

impl State {
    pub(super) fn new(at: Position) -> Self {
        let (source_gone, issues, failures_by_code, workbook, seen, files, more) = Default::default();
        Self { format: FORMAT.into(), at, source_gone, issues, failures_by_code, workbook, seen, files, more }
    }

    /// Returns the bytes to store: the state, and the bytes that it names.
    pub(super) fn to_bytes(&self, tails: &[&[u8]]) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(b'\n');
        tails.iter().for_each(|tail| bytes.extend_from_slice(tail));
        Ok(bytes)
    }

    /// Parses a stored state and the bytes of its files; `None` if another version of the code has written it.
    pub(super) fn parse(bytes: &[u8]) -> Option<(Self, Vec<&[u8]>)> {
        let end = memchr::memchr(b'\n', bytes)?;
        let state: Self = serde_json::from_slice(&bytes[..end]).ok()?;
        if state.format != FORMAT {
            return None;
        }
        let mut remaining = &bytes[end + 1..];
        let mut tails = Vec::new();
        for len in state.files.iter().map(|file| file.tail).chain(state.more.iter().copied()) {
            let (tail, after) = remaining.split_at_checked(len)?;
            tails.push(tail);
            remaining = after;
        }
        remaining.is_empty().then_some((state, tails))
    }
}
