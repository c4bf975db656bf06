//! The items of a chunk that have not ended, and the remaining items of a chunk of an ended generation.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, JobError};
use longshore_domain::ports::{Files, PortError, Read};
use longshore_domain::records::records;
use longshore_domain::work_file::{End, Entry, WorkFile};

use super::chain::{deferred_in, read_chain};
use super::delivery::ChunkError;
use super::items::{source_changed, source_missing};
use crate::ports::JobFolder;

/// The items of a chunk that have not ended.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct OpenItems<'a> {
    /// Number of items of the chunk before the first unread one; `None` if no item is unread.
    pub unread_from: Option<u32>,
    /// Items that a round deferred and no later round has processed.
    pub deferred: Vec<&'a Entry>,
}

/// Returns the items that have not ended, from a chunk's cursor and all of its work files.
///
/// A round processes the items that the previous round deferred. The items before the cursor's position have ended, or
/// the current round has deferred them.
pub fn open_items<'a>(cursor: Option<&Cursor>, chain: &'a [WorkFile]) -> OpenItems<'a> {
    let Some(cursor) = cursor else { return OpenItems { unread_from: Some(0), deferred: Vec::new() } };
    if cursor.finished {
        return OpenItems { unread_from: None, deferred: Vec::new() };
    }
    let (unread_from, mut deferred) = match cursor.round.checked_sub(1) {
        None => (Some(cursor.position), Vec::new()),
        Some(previous) => (None, deferred_in(chain, previous).into_iter().skip(cursor.position as usize).collect()),
    };
    deferred.extend(deferred_in(chain, cursor.round));
    OpenItems { unread_from, deferred }
}

/// The items of a chunk that neither succeeded nor were skipped.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Remaining {
    /// Items that failed or were deferred, by number.
    pub entries: Vec<Entry>,
    /// Items that no committed work covers: a run of the chunk, which is still in the source.
    pub unread: Option<ChunkPlan>,
}

/// A chunk of an ended generation.
#[derive(Copy, Clone, Debug)]
pub struct EndedChunk<'a> {
    /// Id of the chunk.
    pub id: ChunkId,
    /// Committed position, if any.
    pub cursor: Option<&'a Cursor>,
    /// Items and byte range of the chunk.
    pub plan: &'a ChunkPlan,
}

/// Error of reading the remaining items of a chunk.
#[derive(Debug, thiserror::Error)]
pub enum RemainingError {
    /// A service failed, or a work file is missing or damaged.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// The source can no longer be read: an error of the job.
    #[error("{}", .0.message)]
    Source(JobError),
}

impl From<PortError> for RemainingError {
    fn from(error: PortError) -> Self {
        Self::Chunk(error.into())
    }
}

/// Reads the remaining items of a chunk whose group is closed or done. Reads the source only if the cursor is within
/// the chunk's first round.
///
/// # Errors
/// If the bucket fails, or a work file is missing or damaged. A missing source is an error of the job.
pub async fn read_remaining(files: &impl Files, job: &Job, chunk: EndedChunk<'_>) -> Result<Remaining, RemainingError> {
    let EndedChunk { id, cursor, plan } = chunk;
    let last = cursor.and_then(|cursor| cursor.file.as_deref());
    let chain = read_chain(files, JobFolder::for_job(job).chunk(id), last, 0).await?;
    let OpenItems { unread_from, deferred } = open_items(cursor, &chain);
    let mut entries: Vec<Entry> = deferred.into_iter().cloned().collect();
    let unread = match unread_from {
        Some(position) => chunk_from(files, job, position, plan).await?,
        None => None,
    };
    let ended = chain.into_iter().flat_map(|file| file.entries);
    entries.extend(ended.filter(|entry| matches!(entry.end, End::Failed(_))));
    entries.sort_unstable_by_key(|entry| entry.n);
    Ok(Remaining { entries, unread })
}

/// Returns the chunk from `position` on; `None` if no item is left.
async fn chunk_from(
    files: &impl Files,
    job: &Job,
    position: u32,
    plan: &ChunkPlan,
) -> Result<Option<ChunkPlan>, RemainingError> {
    if position == 0 || position >= plan.items {
        return Ok(Some(plan.clone()).filter(|_| position == 0));
    }
    let Some(source) = &job.source else { return Ok(None) };
    let bytes = match files.read(&source.key, Some(&source.etag), Some(plan)).await? {
        Read::Found(bytes) => bytes,
        Read::Absent => return Err(RemainingError::Source(source_missing(source))),
        Read::Changed => return Err(RemainingError::Source(source_changed(source))),
    };
    let spans: Vec<_> = records(source.format, &bytes).collect();
    let from = spans.get(position as usize).filter(|_| spans.len() == plan.items as usize);
    let from = from.ok_or(ChunkError::Plan { found: spans.len(), planned: plan.items })?;
    let (first, items) = (plan.first + u64::from(position), plan.items - position);
    Ok(Some(ChunkPlan { first, items, start: plan.start + from.start, ..plan.clone() }))
}
