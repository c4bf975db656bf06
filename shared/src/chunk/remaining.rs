//! What a chunk of an ended generation has left: for a retry, and for nobody else.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::ChunkPlan;
use longshore_domain::job::{Job, JobError};
use longshore_domain::ports::{Files, Read};
use longshore_domain::records::records;
use longshore_domain::work_file::{End, Entry};

use super::{ChunkError, deferred_in, read_chain, source_changed, source_missing};
use crate::ports::JobFolder;

/// The items of a chunk that neither succeeded nor were skipped.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Remaining {
    /// Items that failed, or waited for another round, by number.
    pub entries: Vec<Entry>,
    /// Items that no worker has passed: a run of the chunk's own, still in the source.
    pub unread: Option<ChunkPlan>,
}

/// Reads the rest of a chunk whose group is closed or done. The source is read only if the chunk was left half-way.
///
/// # Errors
/// If the bucket fails, or a work file is missing or damaged. That the source is gone is an error of the job.
pub async fn read_remaining(
    files: &impl Files,
    job: &Job,
    place: (u32, u32),
    cursor: Option<&Cursor>,
    plan: &ChunkPlan,
) -> Result<Result<Remaining, JobError>, ChunkError> {
    let Some(cursor) = cursor else { return Ok(Ok(Remaining { unread: Some(plan.clone()), ..Remaining::default() })) };
    let chain = read_chain(files, JobFolder::for_job(job), place, cursor.file.as_deref(), 0).await?;
    let mut remaining = Remaining::default();
    if !cursor.finished {
        match cursor.round.checked_sub(1) {
            None => match unread(files, job, cursor.position, plan).await? {
                Ok(unread) => remaining.unread = unread,
                Err(error) => return Ok(Err(error)),
            },
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
    Ok(Ok(remaining))
}

/// The chunk from `position` on.
async fn unread(
    files: &impl Files,
    job: &Job,
    position: u32,
    plan: &ChunkPlan,
) -> Result<Result<Option<ChunkPlan>, JobError>, ChunkError> {
    if position == 0 || position >= plan.items {
        return Ok(Ok(Some(plan.clone()).filter(|_| position == 0)));
    }
    let Some(source) = &job.source else { return Ok(Ok(None)) };
    let bytes = match files.read(&source.key, Some(&source.etag), Some(plan)).await? {
        Read::Found(bytes) => bytes,
        Read::Absent => return Ok(Err(source_missing(source))),
        Read::Changed => return Ok(Err(source_changed(source))),
    };
    let spans: Vec<_> = records(source.format, &bytes).collect();
    let from = spans.get(position as usize).filter(|_| spans.len() == plan.items as usize);
    let from = from.ok_or(ChunkError::Plan { found: spans.len(), planned: plan.items })?;
    let (first, items) = (plan.first + u64::from(position), plan.items - position);
    Ok(Ok(Some(ChunkPlan { first, items, start: plan.start + from.start, ..plan.clone() })))
}
