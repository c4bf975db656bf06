//! A chunk's work files, walked back from its cursor: only files that a commit refers to are ever read.
//!
//! The walk goes from each file to its predecessor. The other files that a header names are read ahead,
//! concurrently.

use std::collections::VecDeque;

use futures::{StreamExt, TryStreamExt, stream};
use longshore_domain::ports::{Files, Read};
use longshore_domain::work_file::{End, Entry, Header, WorkFile};

use super::delivery::ChunkError;
use crate::ports::ChunkFolder;

/// Number of files of one chain that are read concurrently. Each is at most as large as its chunk.
pub const CHAIN_READS: usize = 8;

/// Reads the work files of a chunk from round `from_round` on, newest first, from the token in its cursor.
/// Items deferred before the last two rounds are left out: a later round has processed them, and a chunk
/// whose items find no capacity has as many rounds as fit into its job's time.
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
        let filed_from = chain.first().map_or(0, |last| last.header.round.saturating_sub(1));
        let file = match ahead.pop_front() {
            Some((name, file)) if name == token => file,
            _ => read_one(files, folder.work_key(&token), filed_from).await?,
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
    filed_from: u32,
) -> Result<VecDeque<(String, WorkFile)>, ChunkError> {
    let read = async |(token, key)| Ok((token, read_one(files, key, filed_from).await?));
    let reads: Vec<_> = keys.into_iter().map(read).collect();
    stream::iter(reads).buffered(CHAIN_READS).try_collect().await
}

/// Reads the header of a work file that a commit refers to. Returns `None` if it cannot be read now; then the next
/// header names no files beyond this one.
pub(super) async fn read_work_header(files: &impl Files, folder: ChunkFolder<'_>, token: &str) -> Option<Header> {
    read_one(files, folder.work_key(token), u32::MAX).await.ok().map(|file| file.header)
}

/// Returns the items that a round deferred to the next one, by number: the order in which that round
/// processes them.
pub fn deferred_in(chain: &[WorkFile], round: u32) -> Vec<&Entry> {
    let entries = chain.iter().filter(|file| file.header.round == round).flat_map(|file| &file.entries);
    let mut deferred: Vec<_> = entries.filter(|entry| matches!(entry.end, End::Transient { .. })).collect();
    deferred.sort_unstable_by_key(|entry| entry.n);
    deferred
}

/// Reads a work file. If its round is before `filed_from`, the items that it deferred to the next round are
/// left out.
async fn read_one(files: &impl Files, key: String, filed_from: u32) -> Result<WorkFile, ChunkError> {
    let Read::Found(bytes) = files.read(&key, None, None).await? else { return Err(ChunkError::WorkFileMissing(key)) };
    let mut file = WorkFile::parse(&bytes).map_err(|source| ChunkError::WorkFile { key, source })?;
    if file.header.round < filed_from {
        file.entries.retain(|entry| !matches!(entry.end, End::Transient { .. }));
    }
    Ok(file)
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
