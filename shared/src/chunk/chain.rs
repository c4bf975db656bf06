//! A chunk's work files, read backwards from its cursor: only files to which a commit refers.
//!
//! The order is that of the predecessors in the headers. A header also lists earlier files, which are read ahead
//! concurrently.

use std::collections::VecDeque;

use futures::{StreamExt, TryStreamExt, stream};
use longshore_domain::ports::{Files, Read};
use longshore_domain::work_file::{End, Entry, WorkFile, WorkFileHeader};

use super::delivery::ChunkError;
use crate::ports::ChunkFolder;

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

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
