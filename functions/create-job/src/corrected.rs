//! The corrected failures file of a retry: read as a whole before anything is filed again, and at the end held against
//! every item that had failed.
//!
//! If it cannot be used, the generation fails with nothing filed: what had failed is still there for the next retry.
//! What is said of its rows depends on the ledger and the file alone, so that a split which goes on in another delivery
//! says the same.

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use longshore::chunk::{ChunkError, read_chain};
use longshore::failures_file::{Columns, CorrectedFile, Findings};
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{Files, Queues, Read, Store};
use longshore_domain::work_file::WorkFile;

use crate::splitter::{Halt, Splitter};

/// Number of chunks whose work files are read concurrently, to hide the bucket's latency.
const READ_AHEAD: u64 = 8;

/// Memory for the entries that are read concurrently. A chunk that may have more is read alone.
const READ_BYTES: u64 = 48 << 20;

/// Limits on the chunks, and on the bytes of their groups, whose work files are read to report the outcome of a
/// corrected file's rows: about ten seconds of one delivery. Above them, rows without a matching item so far are
/// reported as unchecked.
const FINDINGS_CHUNKS: usize = 2_000;
const FINDINGS_BYTES: u64 = 512 << 20;

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// The corrected file of the job's present generation. The job fails if it is not there any more, or is none.
    pub(crate) async fn corrected_file(&self, job: &Job, item_bytes: u64) -> Result<Option<CorrectedFile>, Halt> {
        let Some(file) = &job.corrected else { return Ok(None) };
        let bytes = match self.ports.files.read(&file.key, Some(&file.etag), None).await? {
            Read::Found(bytes) => bytes,
            Read::Absent | Read::Changed => return Err(self.fail(job, gone(file)).await),
        };
        let definition = self.ports.store.definition(job.job_id).await?;
        let names = definition.and_then(|definition| definition.columns);
        let columns = job.source.as_ref().and_then(|source| Columns::of(source.format, names));
        let read = match columns {
            Some(columns) => CorrectedFile::parse(bytes, columns, item_bytes).map_err(|error| error.to_string()),
            None => Err("no row of this job has failed yet".to_owned()),
        };
        match read {
            Ok(read) => Ok(Some(read)),
            Err(why) => Err(self.fail(job, unusable(file, &why)).await),
        }
    }

    /// What is to be said of the rows of a corrected file, once everything is filed.
    pub(crate) async fn findings(&self, job: &Job, file: &CorrectedFile) -> Result<Vec<JobError>, Halt> {
        let first = job.base.refiled.group;
        let (groups, _) = self.ports.store.progress_from(job.job_id, first).await?.ok_or(Halt::Refused)?;
        let (files, folder) = (&self.ports.files, JobFolder::of(job));
        let mut reads: Vec<BoxFuture<'_, Result<Vec<WorkFile>, ChunkError>>> = Vec::new();
        let (mut findings, mut bytes, mut largest) = (Findings::of(file), 0, 1);
        let filed = groups.iter().map(|group| (group, filed_again(job, group)));
        for (group, filed) in filed.filter(|(_, filed)| !filed.is_empty()) {
            if reads.len() >= FINDINGS_CHUNKS || bytes >= FINDINGS_BYTES {
                findings.leave_off();
                break;
            }
            bytes += group.bytes;
            for (chunk, cursor) in filed {
                largest = largest.max(group.entries_bytes(cursor, group.items_of_a_chunk()));
                let (place, last) = ((group.number, chunk), cursor.file.as_deref());
                reads.push(Box::pin(read_chain(files, folder, place, last, 0)));
            }
        }
        let at_once = (READ_BYTES / largest).clamp(1, READ_AHEAD);
        let mut chains = stream::iter(reads).buffer_unordered(at_once as usize);
        while let Some(chain) = chains.next().await {
            chain?.iter().flat_map(|file| &file.entries).for_each(|entry| findings.meet(entry));
        }
        Ok(findings.issues())
    }
}

/// Returns each chunk with work files in a group of which this generation has filed failed items again.
fn filed_again<'a>(job: &Job, group: &'a Group) -> Vec<(u32, &'a Cursor)> {
    let from = job.base.refiled;
    let first = if group.number == from.group { from.chunk } else { 0 };
    if job.owns(group.number) || group.number < from.group || group.counts.failed == 0 {
        return Vec::new();
    }
    let filed = group.cursors.range(first..).filter(|(_, cursor)| cursor.file.is_some());
    filed.map(|(chunk, cursor)| (*chunk, cursor)).collect()
}

fn gone(file: &SourceFile) -> JobError {
    let message = format!(
        "the corrected file {:?} is not there any more as it was; retry with it uploaded again, or without it",
        file.name
    );
    JobError::new("corrected_file_gone", message)
}

fn unusable(file: &SourceFile, why: &str) -> JobError {
    let message =
        format!("the corrected file {:?} cannot be used: {why}; retry with another, or without one", file.name);
    JobError::new("not_a_failures_file", message)
}
