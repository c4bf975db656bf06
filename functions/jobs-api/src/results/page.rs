//! Fills a page from the index of the results and the objects of its slices, by ranged reads. Memory and time depend on
//! the page, not on the results.

use longshore::field_error::FieldError;
use longshore::http::{Failure, paging};
use longshore::ports::JobFolder;
use longshore::problem::Problem;
use longshore::result::IndexedSlice;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;
use longshore_domain::ports::{FileStream, Files, PortError, Read};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::output::stored::no_report;

/// Size in bytes of a read of the index: hundreds of slices.
const INDEX_BYTES: u64 = 64 << 10;

/// Maximum JSON bytes of a page. A Lambda response has at most 6 MB, and the JSON is escaped once more inside it.
const PAGE_BYTES: usize = 2 << 20;

/// Maximum number of slices that a page reads, one after the other.
const MAX_SLICES: usize = 32;

/// A page of results.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Results)]
pub struct ResultsDocument {
    /// Rows as in the results file. For most job types an object with the `number` of the item and its `output`; for an
    /// export the record.
    #[schema(value_type = Vec<Value>)]
    pub results: Vec<Box<RawValue>>,
    /// True on the last page.
    pub complete: bool,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

impl ResultsDocument {
    /// Creates the page of a job without results.
    pub(super) fn empty() -> Self {
        Self { results: Vec::new(), complete: true, next_cursor: None }
    }
}

/// A position in the results.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Position {
    /// Generation of the results; `None` at the beginning of the current one.
    generation: Option<u32>,
    /// Byte offset of the slice in the index.
    index: u64,
    /// Byte offset of the next row in the slice.
    slice: u64,
}

impl Position {
    fn encode(self) -> String {
        paging::encode_cursor(&format!("{}.{}.{}", self.generation.unwrap_or_default(), self.index, self.slice))
    }

    /// Decodes a client's cursor; `None` if no page can have returned it.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let position = paging::decode_cursor(text)?;
        let mut parts = position.splitn(3, '.');
        let generation = parts.next()?.parse().ok();
        let (index, slice) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Self { generation, index, slice }).filter(|at| generation.is_some() && (at.index, at.slice) != (0, 0))
    }
}

/// The index of the results of a job.
pub(super) struct ResultsIndex<'a, F> {
    pub(super) files: &'a F,
    pub(super) job: &'a Job,
    pub(super) key: &'a str,
}

impl<F: Files> ResultsIndex<'_, F> {
    /// Returns up to `limit` rows from a position on; fewer if they are large, or in many small slices.
    ///
    /// # Errors
    /// If the files no longer exist, or the position is not in them.
    pub(super) async fn page(&self, limit: usize, from: Position) -> Result<ResultsDocument, PageError> {
        if from.generation.is_some_and(|generation| generation != self.job.generation) {
            return Err(PageError::Stale);
        }
        let mut at = Position { generation: Some(self.job.generation), ..from };
        let (mut results, mut bytes) = (Vec::new(), 0);
        let mut block = self.read(self.key, at.index, INDEX_BYTES).await?;
        if block.is_empty() {
            return Err(PageError::NotAPosition);
        }
        for _ in 0..MAX_SLICES {
            let Some(end) = memchr::memchr(b'\n', &block) else { break };
            let slice: IndexedSlice = serde_json::from_slice(&block[..end]).map_err(|_| PageError::NotAPosition)?;
            let is_whole = self.add_rows(&slice, &mut at, limit, &mut results, &mut bytes).await?;
            if !is_whole {
                return Ok(ResultsDocument { results, complete: false, next_cursor: Some(at.encode()) });
            }
            block.drain(..=end);
            at = Position { index: at.index + end as u64 + 1, slice: 0, ..at };
            if !block.contains(&b'\n') {
                block = self.read(self.key, at.index, INDEX_BYTES).await?;
            }
        }
        let complete = block.is_empty();
        Ok(ResultsDocument { results, complete, next_cursor: (!complete).then(|| at.encode()) })
    }

    /// Appends rows of a slice from the position on, and moves the position. Returns true if it has reached the end of
    /// the slice.
    async fn add_rows(
        &self,
        slice: &IndexedSlice,
        at: &mut Position,
        limit: usize,
        results: &mut Vec<Box<RawValue>>,
        bytes: &mut usize,
    ) -> Result<bool, PageError> {
        let folder = JobFolder::for_job(self.job).chunk(ChunkId::new(slice.group, slice.chunk));
        let key = folder.outputs_key(&slice.token);
        while at.slice < slice.outputs.bytes {
            // Two rows of the maximum size: at least one of them is complete.
            let block = self.read(&key, at.slice, PAGE_BYTES as u64 + 1).await?;
            let Some(end) = memchr::memrchr(b'\n', &block) else { return Err(PageError::NotAPosition) };
            for line in block[..end].split(|byte| *byte == b'\n') {
                if results.len() == limit || (*bytes + line.len() > PAGE_BYTES && !results.is_empty()) {
                    return Ok(false);
                }
                results.push(serde_json::from_slice(line).map_err(|_| PageError::NotAPosition)?);
                *bytes += line.len();
                at.slice += line.len() as u64 + 1;
            }
        }
        Ok(true)
    }

    /// Reads up to `len` bytes of an object from `start` on; fewer only at its end.
    async fn read(&self, key: &str, start: u64, len: u64) -> Result<Vec<u8>, PageError> {
        let Read::Found(mut stream) = self.files.open(key, None, start, Some(start.saturating_add(len))).await? else {
            return Err(PageError::Absent);
        };
        let mut bytes = Vec::new();
        while let Some(block) = stream.next().await? {
            bytes.extend_from_slice(&block);
        }
        Ok(bytes)
    }
}

/// Reasons for which a page cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    #[error("the results no longer exist")]
    Absent,
    #[error("the results belong to another generation than the cursor")]
    Stale,
    #[error("the cursor does not point to a row of the results")]
    NotAPosition,
    #[error(transparent)]
    Port(#[from] PortError),
}

impl From<PageError> for Failure {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Absent => no_report().into(),
            PageError::Stale => {
                let detail = "the results have changed with a retry; start again without a cursor";
                Problem::invalid(vec![FieldError::new("/cursor", "stale_cursor", detail)]).into()
            }
            PageError::NotAPosition => Problem::invalid(vec![paging::bad_cursor()]).into(),
            PageError::Port(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_decoded_and_an_invalid_one_is_refused() {
        let at = Position { generation: Some(2), index: 0, slice: 77 };
        assert_eq!(Position::decode(&at.encode()), Some(at));
        for bad in ["", "2.0.0", "x.1.1", "1.x.1", "1.1", "1.1.-1", ".1.1"] {
            assert_eq!(Position::decode(&paging::encode_cursor(bad)), None, "{bad}");
        }
        assert_eq!(Position::decode("?"), None);
    }
}
