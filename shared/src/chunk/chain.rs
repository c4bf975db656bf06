//! A chunk's work files, walked back from its cursor: only what a commit vouches for is ever read.

use longshore_domain::ports::{Files, Read};
use longshore_domain::work_file::{End, Entry, WorkFile};

use super::ChunkError;
use crate::ports::JobFolder;

/// All work files of a chunk, newest first, from the token that its cursor names; only those of round `from_round`
/// or later.
///
/// # Errors
/// If the bucket fails, or a file of the chain is missing or damaged.
pub async fn read_chain(
    files: &impl Files,
    folder: JobFolder<'_>,
    place: (u32, u32),
    last: Option<&str>,
    from_round: u32,
) -> Result<Vec<WorkFile>, ChunkError> {
    let (mut chain, mut next) = (Vec::new(), last.map(str::to_owned));
    while let Some(token) = next.take() {
        let file = read_one(files, folder.work_key(place, &token)).await?;
        if file.header.round < from_round {
            break;
        }
        next.clone_from(&file.header.prev);
        chain.push(file);
    }
    Ok(chain)
}

/// The items that a round has filed for the next one, by number: the order in which that one works them.
pub fn filed_in(chain: &[WorkFile], round: u32) -> Vec<&Entry> {
    let entries = chain.iter().filter(|file| file.header.round == round).flat_map(|file| &file.entries);
    let mut filed: Vec<_> = entries.filter(|entry| matches!(entry.end, End::Transient { .. })).collect();
    filed.sort_unstable_by_key(|entry| entry.n);
    filed
}

async fn read_one(files: &impl Files, key: String) -> Result<WorkFile, ChunkError> {
    match files.read(&key, None, None).await? {
        Read::Found(bytes) => WorkFile::parse(&bytes).map_err(|source| ChunkError::WorkFile { key, source }),
        Read::Absent | Read::Changed => Err(ChunkError::WorkFileMissing(key)),
    }
}
