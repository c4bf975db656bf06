//! The remaining items of a chunk of an ended generation. Only a retry uses them.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, JobError};
use longshore_domain::ports::{Files, PortError, Read};
use longshore_domain::records::records;
use longshore_domain::work_file::{End, Entry};

use super::chain::{deferred_in, read_chain};
use super::delivery::ChunkError;
use super::items::{source_changed, source_missing};
use crate::ports::JobFolder;

/// The items of a chunk that neither succeeded nor were skipped.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Remaining {
    /// Items that failed, or waited for another round, by number.
    pub entries: Vec<Entry>,
    /// Items that no worker has processed: a run of the chunk that is still in the source.
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
    /// The source cannot be read any more: an error of the job.
    #[error("{}", .0.message)]
    Source(JobError),
}

impl From<PortError> for RemainingError {
    fn from(error: PortError) -> Self {
        Self::Chunk(error.into())
    }
}

/// Reads the remaining items of a chunk whose group is closed or done. The source is read only if the chunk
/// was left half-way.
///
/// # Errors
/// If the bucket fails, or a work file is missing or damaged. A missing source is an error of the job.
pub async fn read_remaining(files: &impl Files, job: &Job, chunk: EndedChunk<'_>) -> Result<Remaining, RemainingError> {
    let EndedChunk { id, cursor, plan } = chunk;
    let Some(cursor) = cursor else { return Ok(Remaining { unread: Some(plan.clone()), ..Remaining::default() }) };
    let chain = read_chain(files, JobFolder::for_job(job).chunk(id), cursor.file.as_deref(), 0).await?;
    let mut remaining = Remaining::default();
    if !cursor.finished {
        match cursor.round.checked_sub(1) {
            None => remaining.unread = unread(files, job, cursor.position, plan).await?,
            Some(before) => {
                let open = deferred_in(&chain, before).into_iter().skip(cursor.position as usize);
                remaining.entries.extend(open.cloned());
            }
        }
        remaining.entries.extend(deferred_in(&chain, cursor.round).into_iter().cloned());
    }
    let entries = chain.into_iter().flat_map(|file| file.entries);
    remaining.entries.extend(entries.filter(|entry| matches!(entry.end, End::Failed(_))));
    remaining.entries.sort_unstable_by_key(|entry| entry.n);
    Ok(remaining)
}

/// Returns the chunk from `position` on.
async fn unread(
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
