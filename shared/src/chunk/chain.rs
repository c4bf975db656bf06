//! A chunk's work files, and the items that they leave open.
//!
//! The work files are a chain, read backwards from the cursor: only files to which a commit refers. The order is that
//! of the predecessors in the headers. A header also lists earlier files, which are read ahead concurrently. Chain and
//! cursor determine the items of a chunk that have not ended, and the remaining items of a chunk of an ended
//! generation.

use std::collections::VecDeque;

use futures::{StreamExt, TryStreamExt, stream};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, JobError};
use longshore_domain::ports::{Files, PortError, Read};
use longshore_domain::work_file::{End, Entry, WorkFile, WorkFileHeader};

use super::delivery::ChunkError;
use super::reasons::{source_changed, source_missing};
use crate::ports::{ChunkFolder, JobFolder};

/// Number of files of one chain that are read concurrently. Each is at most as large as its chunk.
pub const CHAIN_READS: usize = 8;

/// Memory in bytes for the chunks whose work files are read concurrently, with all entries that the files may have: an
/// entry may be far larger than its row. A chunk above this limit is read alone.
pub const READ_BYTES: u64 = 48 << 20;

/// Returns the number of chunks whose work files are read concurrently if the largest one takes this many bytes: at
/// most `max`.
pub fn concurrent_reads(largest_chunk_bytes: u64, max: usize) -> usize {
    usize::try_from(READ_BYTES / largest_chunk_bytes.max(1)).map_or(max, |reads| reads.clamp(1, max))
}

/// Reads the work files of a chunk from round `from_round` on, newest first, from the token in its cursor. Omits the
/// items deferred before the last two rounds: a later round has processed them, and a chunk whose items find no
/// capacity can have very many rounds.
///
/// # Errors
/// If the bucket fails, or a file of the chain is missing or damaged.
pub async fn read_chain(
    files: &impl Files,
    folder: ChunkFolder<'_>,
    last: Option<&str>,
    from_round: u32,
) -> Result<Vec<WorkFile>, ChunkError> {
    let (mut chain, mut next) = (Vec::<WorkFile>::new(), last.map(str::to_owned));
    let mut ahead: VecDeque<(String, WorkFile)> = VecDeque::new();
    while let Some(token) = next.take() {
        let deferred_from = chain.first().map_or(0, |last| last.header.round.saturating_sub(1));
        let file = match ahead.pop_front() {
            Some((name, file)) if name == token => file,
            _ => read_one(files, folder.work_key(&token), deferred_from).await?,
        };
        if file.header.round < from_round {
            break;
        }
        if ahead.is_empty() && !file.header.before.is_empty() {
            let keys = file.header.named().map(|token| (token.clone(), folder.work_key(token)));
            let newest = chain.first().map_or(file.header.round, |last| last.header.round);
            ahead = read_ahead(files, keys.collect(), newest.saturating_sub(1)).await?;
        }
        next.clone_from(&file.header.prev);
        chain.push(file);
    }
    Ok(chain)
}

/// Reads the first work file of a chunk, from the token of any later one: that of the splitter, if the chunk's items
/// were in a work file from the beginning. Each header names up to 32 files before its own, so few files are read.
///
/// # Errors
/// If the bucket fails, or a file is missing or damaged.
pub async fn read_first(files: &impl Files, folder: ChunkFolder<'_>, last: &str) -> Result<WorkFile, ChunkError> {
    let mut token = last.to_owned();
    loop {
        let file = read_one(files, folder.work_key(&token), 0).await?;
        match file.header.named().last() {
            Some(earliest) => token.clone_from(earliest),
            None => return Ok(file),
        }
    }
}

async fn read_ahead(
    files: &impl Files,
    keys: Vec<(String, String)>,
    deferred_from: u32,
) -> Result<VecDeque<(String, WorkFile)>, ChunkError> {
    let read = async |(token, key)| Ok((token, read_one(files, key, deferred_from).await?));
    let reads: Vec<_> = keys.into_iter().map(read).collect();
    stream::iter(reads).buffered(CHAIN_READS).try_collect().await
}

/// Reads the header of a work file to which a commit refers. Returns `None` if it cannot be read now; then the next
/// header lists no files before this one.
pub(super) async fn read_work_header(
    files: &impl Files,
    folder: ChunkFolder<'_>,
    token: &str,
) -> Option<WorkFileHeader> {
    read_one(files, folder.work_key(token), u32::MAX).await.ok().map(|file| file.header)
}

/// Returns the items that a round deferred to the next one, by number. The next round processes them in this order.
pub(super) fn deferred_in(chain: &[WorkFile], round: u32) -> Vec<&Entry> {
    let entries = chain.iter().filter(|file| file.header.round == round).flat_map(|file| &file.entries);
    let mut deferred: Vec<_> = entries.filter(|entry| matches!(entry.end, End::Transient { .. })).collect();
    deferred.sort_unstable_by_key(|entry| entry.n);
    deferred
}

/// Reads a work file. Omits the items that it deferred to the next round if its round is before `deferred_from`.
async fn read_one(files: &impl Files, key: String, deferred_from: u32) -> Result<WorkFile, ChunkError> {
    let Read::Found(bytes) = files.read(&key, None, None).await? else { return Err(ChunkError::WorkFileMissing(key)) };
    let mut file = WorkFile::parse(&bytes).map_err(|source| ChunkError::WorkFile { key, source })?;
    if file.header.round < deferred_from {
        file.entries.retain(|entry| !matches!(entry.end, End::Transient { .. }));
    }
    Ok(file)
}

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
    let (first, items) = (plan.first + u64::from(position), plan.items - position);
    if plan.oversize {
        return Ok(Some(ChunkPlan { first, items, ..plan.clone() }));
    }
    let Some(source) = job.chunk_file(plan) else { return Ok(None) };
    let source = source.as_ref();
    let bytes = match files.read(&source.key, Some(&source.etag), Some(plan)).await? {
        Read::Found(bytes) => bytes,
        Read::Absent => return Err(RemainingError::Source(source_missing(source))),
        Read::Changed => return Err(RemainingError::Source(source_changed(source))),
    };
    let spans: Vec<_> = source.records(&bytes).collect();
    let from = spans.get(position as usize).filter(|_| spans.len() == plan.items as usize);
    let from = from.ok_or(ChunkError::Plan { found: spans.len(), planned: plan.items })?;
    Ok(Some(ChunkPlan { first, items, start: plan.start + from.start, ..plan.clone() }))
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
