//! Reads previous versions from the files of the undone import.

use std::collections::{BTreeMap, HashMap};

use futures::{StreamExt, TryStreamExt, stream};
use longshore_domain::group::ChunkPlan;
use longshore_domain::history::{PreviousVersion, VersionPlace};
use longshore_domain::ports::{Files, PortResult, Read};

use crate::ports::JobFolder;

/// Number of files that are read at once. Each read has at most the bytes of one file, about 8 MiB.
const AT_ONCE: usize = 4;

/// A record whose previous version is wanted.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) key: String,
    pub(super) place: VersionPlace,
}

/// Reads previous versions by key. A version whose file is gone, or that is not a version of the key, is missing.
pub(super) async fn read(
    files: &impl Files,
    folder: JobFolder<'_>,
    wanted: &[Wanted],
) -> PortResult<HashMap<String, PreviousVersion>> {
    // In an order that a simulation can repeat.
    let mut by_file = BTreeMap::<&str, Vec<&Wanted>>::new();
    wanted.iter().for_each(|wanted| by_file.entry(&wanted.place.file).or_default().push(wanted));
    let reads: Vec<_> =
        by_file.into_iter().map(|(file, wanted)| read_file(files, folder.versions_key(file), wanted)).collect();
    let versions: Vec<_> = stream::iter(reads).buffer_unordered(AT_ONCE).try_collect().await?;
    Ok(versions.into_iter().flatten().map(|version| (version.key.clone(), version)).collect())
}

/// Reads the part of a file that holds these versions.
async fn read_file(files: &impl Files, key: String, wanted: Vec<&Wanted>) -> PortResult<Vec<PreviousVersion>> {
    let start = wanted.iter().map(|wanted| wanted.place.start).min().unwrap_or_default();
    let end = wanted.iter().map(|wanted| wanted.place.end).max().unwrap_or_default();
    let range = ChunkPlan { first: 1, items: 1, start, end, oversize: false, keys: None };
    let Read::Found(bytes) = files.read(&key, None, Some(&range)).await? else { return Ok(Vec::new()) };
    let version = |wanted: &&Wanted| {
        let line = bytes.get((wanted.place.start - start) as usize..(wanted.place.end - start) as usize)?;
        let version: PreviousVersion = serde_json::from_slice(line).ok()?;
        Some(version).filter(|version| version.key == wanted.key)
    };
    Ok(wanted.iter().filter_map(version).collect())
}
