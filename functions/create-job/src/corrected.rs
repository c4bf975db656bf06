//! The corrected failures file of a retry: read completely before anything is replanned, and compared with every failed
//! item at the end.
//!
//! If the file cannot be used, the generation fails before anything is replanned: the failed items stay available for
//! the next retry. The findings about its rows depend only on the ledger and the file, so a split over several
//! deliveries reports the same findings. The exception is a delivery without enough time: rows that it did not compare
//! are reported as unchecked.

use std::iter;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use longshore::chunk::{ChunkError, concurrent_reads, read_chain};
use longshore::failures_file::{Columns, CorrectedFile, Findings};
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{CHUNKS_PER_GROUP, Group};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{Files, JobProgress, Queues, Read, Store};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::WorkFile;

use crate::outcome::{Halt, SplitError};
use crate::splitter::CONCURRENT_CHUNKS;
use crate::splitter::Splitter;

/// Limits on the chunks, and on the bytes of their groups, whose work files are read to report the outcome of a
/// corrected file's rows: about ten seconds of one delivery if each chunk has few of them. Above them, or when the
/// delivery's time is nearly over, rows without a matching item so far are reported as unchecked.
const FINDINGS_CHUNKS: usize = 2_000;
const FINDINGS_BYTES: u64 = 512 << 20;

/// Time before the delivery's deadline at which no further chunk is read. It is reserved for the chunks that are being
/// read, and for the end of the split. Half of the remaining time if that is shorter.
const FINDINGS_RESERVE_MS: i64 = 20_000;

/// Number of chunks that are read even without time, so that a delayed delivery compares the rows of a small job. If it
/// is killed meanwhile, the next delivery can use all of its time for them.
const MIN_COMPARED_CHUNKS: usize = CHUNKS_PER_GROUP;

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Reads the corrected file of the job's current generation. The job fails if the file no longer exists or is not a
    /// corrected failures file.
    pub(crate) async fn corrected_file(&self, job: &Job, item_bytes: u64) -> Result<Option<CorrectedFile>, Halt> {
        let Some(file) = &job.retry.corrected else { return Ok(None) };
        let bytes = match self.ports.files.read(&file.key, Some(&file.etag), None).await? {
            Read::Found(bytes) => bytes,
            Read::Absent | Read::Changed => return Err(self.fail(job, gone(file)).await),
        };
        let definition = self.ports.store.definition(job.job_id).await?;
        let names = definition.and_then(|definition| definition.columns);
        let columns = job.source.as_ref().and_then(|source| Columns::from_names(source.format, names));
        let parsed = match columns {
            Some(columns) => CorrectedFile::parse(bytes, columns, item_bytes).map_err(|error| error.to_string()),
            None => Err("no row of this job has failed".to_owned()),
        };
        match parsed {
            Ok(file) => Ok(Some(file)),
            Err(why) => Err(self.fail(job, unusable(file, &why)).await),
        }
    }

    /// Returns the findings about the rows of the corrected file, if there is one. Called at the end, so that a split
    /// over many deliveries makes these reads only once.
    pub(crate) async fn corrected_findings(&self, job: &Job, deadline: Timestamp) -> Result<Vec<JobError>, Halt> {
        let job_type = self.registry.find(&job.job_type).ok_or(SplitError::Definition(job.job_id.to_string()))?;
        match self.corrected_file(job, job_type.limits().item_bytes).await? {
            Some(file) => self.findings(job, &file, deadline).await,
            None => Ok(Vec::new()),
        }
    }

    /// Compares a corrected file with the failed items after everything is replanned, and returns the findings about
    /// its rows. The comparison ends before `deadline`, complete or not: every delivery starts it with the first item.
    async fn findings(&self, job: &Job, file: &CorrectedFile, deadline: Timestamp) -> Result<Vec<JobError>, Halt> {
        let until = self.findings_end(deadline);
        let first = job.retry.carried_over.replanned.group;
        let JobProgress { groups, .. } =
            self.ports.store.progress_from(job.job_id, first).await?.ok_or(Halt::Refused)?;
        let (files, folder) = (&self.ports.files, JobFolder::for_job(job));
        let mut reads: Vec<BoxFuture<'_, Result<Vec<WorkFile>, ChunkError>>> = Vec::new();
        let (mut findings, mut bytes, mut largest) = (Findings::new(file), 0, 0);
        let replanned = groups.iter().map(|group| (group, replanned(job, group)));
        for (group, replanned) in replanned.filter(|(_, replanned)| !replanned.is_empty()) {
            if reads.len() >= FINDINGS_CHUNKS || bytes >= FINDINGS_BYTES {
                findings.mark_incomplete();
                break;
            }
            bytes += group.bytes;
            for (chunk, cursor) in replanned {
                largest = largest.max(group.entries_bytes(cursor, group.average_chunk_items()));
                let folder = folder.chunk(ChunkId::new(group.number, chunk));
                reads.push(Box::pin(read_chain(files, folder, cursor.file.as_deref(), 0)));
            }
        }
        let mut unread = reads.len();
        let mut reads = reads.into_iter().enumerate();
        let in_time = iter::from_fn(|| {
            let (n, read) = reads.next()?;
            (n < MIN_COMPARED_CHUNKS || (self.clock)() < until).then_some(read)
        });
        let mut chains = stream::iter(in_time).buffer_unordered(concurrent_reads(largest, CONCURRENT_CHUNKS));
        while let Some(chain) = chains.next().await {
            unread -= 1;
            chain?.iter().flat_map(|file| &file.entries).for_each(|entry| findings.compare(entry));
        }
        if unread > 0 {
            findings.mark_incomplete();
        }
        Ok(findings.issues())
    }

    /// Returns the time after which no further chunk is read for the findings.
    fn findings_end(&self, deadline: Timestamp) -> Timestamp {
        let remaining_ms = deadline.millis_since((self.clock)()).max(0);
        Timestamp(deadline.0 - FINDINGS_RESERVE_MS.min(remaining_ms / 2))
    }
}

/// Returns each chunk with work files in a group whose failed items this generation has replanned.
fn replanned<'a>(job: &Job, group: &'a Group) -> Vec<(u32, &'a Cursor)> {
    let from = job.retry.carried_over.replanned;
    let first = if group.number == from.group { from.chunk } else { 0 };
    if job.owns(group.number) || group.number < from.group || group.counts.failed == 0 {
        return Vec::new();
    }
    let replanned = group.cursors.range(first..).filter(|(_, cursor)| cursor.file.is_some());
    replanned.map(|(chunk, cursor)| (*chunk, cursor)).collect()
}

fn gone(file: &SourceFile) -> JobError {
    let message = format!(
        "the corrected file {:?} has changed or no longer exists; upload it again, or retry without it",
        file.name
    );
    JobError::new("corrected_file_gone", message)
}

fn unusable(file: &SourceFile, why: &str) -> JobError {
    let message =
        format!("the corrected file {:?} cannot be used: {why}; retry with another file, or without a file", file.name);
    JobError::new("not_a_failures_file", message)
}
