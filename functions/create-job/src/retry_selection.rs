//! Selection of the failed items that run again: all readable items, the items in a corrected file with the contents of
//! the file, the items that were given up with the chunks of replayed dead letters, or the items that failed for one
//! reason. An item that has since failed for another reason, or has succeeded, is not changed.
//!
//! A corrected file is read completely before anything is replanned, and compared with every failed item at the end. If
//! it cannot be used, the generation fails before anything is replanned: the failed items stay available for the next
//! retry. The findings about its rows depend only on the ledger and the file, so a split over several deliveries
//! reports the same findings. The exception is a delivery without enough time: rows that it did not compare are
//! reported as unchecked.

use std::iter;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use longshore::chunk::{ChunkError, concurrent_reads, read_chain};
use longshore::failures_file::{CORRECTED_BYTES, Columns, CorrectedFile, Correction, Findings};
use longshore::header::detect_form;
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{CHUNKS_PER_GROUP, Group};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{FailureFilter, Job, JobError, Selection, SourceFile};
use longshore_domain::ports::{Files, JobProgress, Queues, Read, Store};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{End, Entry, WorkFile};

use crate::dead_letters::DeadItems;
use crate::outcome::Halt;
use crate::splitter::{CONCURRENT_CHUNKS, Splitter};

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

/// Selection of the failed items that run again.
pub(crate) enum RetrySelection {
    All,
    Corrected(CorrectedFile),
    Dead(DeadItems),
    Failure(FailureFilter),
}

impl RetrySelection {
    /// Returns the item as a deferred item, or unchanged if it stays failed.
    pub(crate) fn replan(&self, entry: Entry) -> Entry {
        let raw = match (&entry.end, self) {
            (End::Failed(_), Self::Corrected(file)) => match file.correction(&entry) {
                Correction::As(raw) => raw,
                Correction::Absent | Correction::Unchanged => return entry,
            },
            (End::Failed(_), _) if entry.damaged => return entry,
            (End::Failed(why), Self::Dead(items)) if !items.contains(entry.n, why) => return entry,
            (End::Failed(why), Self::Failure(filter)) if !filter.includes(why) => return entry,
            _ => entry.raw,
        };
        let entry = Entry { raw, damaged: false, ..entry };
        match entry.end {
            End::Failed(why) => Entry { end: End::Transient { attempts: 0, reason: why.code, due: None }, ..entry },
            End::Transient { reason, .. } => Entry { end: End::Transient { attempts: 0, reason, due: None }, ..entry },
            End::Skipped { .. } => entry,
        }
    }
}

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Reads the selection of the job's current generation.
    pub(crate) async fn retry_selection(&self, job: &Job, item_bytes: u64) -> Result<RetrySelection, Halt> {
        if let Some(file) = self.corrected_file(job, item_bytes).await? {
            return Ok(RetrySelection::Corrected(file));
        }
        Ok(match &job.retry.selection {
            Selection::Chunks(_) => RetrySelection::Dead(self.dead_items(job).await?),
            Selection::Failure(filter) => RetrySelection::Failure(filter.clone()),
            Selection::All | Selection::Corrected(_) => RetrySelection::All,
        })
    }

    /// Returns the corrected file of the job's current generation if it must be prepared.
    pub(crate) async fn unprepared_correction<'b>(&self, job: &'b Job) -> Result<Option<&'b SourceFile>, Halt> {
        let Some(file) = job.retry.selection.corrected() else { return Ok(None) };
        // A file that is gone fails the job where it is read.
        Ok(detect_form(&self.ports.files, file).await?.map(|_| file))
    }

    /// Reads the corrected file of the job's current generation. The job fails if the file no longer exists or is not a
    /// corrected failures file.
    async fn corrected_file(&self, job: &Job, item_bytes: u64) -> Result<Option<CorrectedFile>, Halt> {
        let Some(file) = job.retry.selection.corrected() else { return Ok(None) };
        if file.size_bytes > CORRECTED_BYTES {
            let why = format!("it has more than {} MiB", CORRECTED_BYTES >> 20);
            return Err(self.fail(job, unusable(file, &why)).await);
        }
        let bytes = match self.ports.files.read(&file.key, Some(&file.etag), None).await? {
            Read::Found(bytes) => bytes,
            Read::Absent | Read::Changed => return Err(self.fail(job, gone(file)).await),
        };
        let definition = self.ports.store.definition(job.job_id).await?;
        let names = definition.and_then(|definition| definition.columns);
        let columns = job.record_format().and_then(|format| Columns::from_names(format, names));
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
        let item_bytes = self.limits(job).await?.item_bytes;
        match self.corrected_file(job, item_bytes).await? {
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
    let why = why.trim_end_matches('.');
    let message =
        format!("the corrected file {:?} cannot be used: {why}; retry with another file, or without a file", file.name);
    JobError::new("not_a_failures_file", message)
}

#[cfg(test)]
mod tests {
    use longshore::chunk::DEAD_LETTERED;
    use longshore_domain::outcome::Rejection;

    use super::*;

    fn failed(n: u64, code: &str, damaged: bool) -> Entry {
        Entry { n, end: End::Failed(Rejection::new(code, None, "no")), raw: "1,old".into(), damaged }
    }

    fn waits(entry: &Entry) -> bool {
        matches!(entry.end, End::Transient { attempts: 0, .. })
    }

    #[test]
    fn a_corrected_file_selects_only_its_failed_items() {
        let columns = Columns::Named(vec!["id".into(), "name".into()]);
        let file = CorrectedFile::parse(b"row,id,name\n7,1,new\n".to_vec(), columns, 100).unwrap();
        let retry_selection = RetrySelection::Corrected(file);
        let absent = failed(8, "bad", false);
        assert_eq!(retry_selection.replan(absent.clone()), absent, "the item stays failed");
        let corrected = retry_selection.replan(failed(7, "bad", true));
        assert!(waits(&corrected) && !corrected.damaged && corrected.raw.contains("new"), "{corrected:?}");
        assert!(waits(&RetrySelection::All.replan(absent)), "without a file, every readable item runs again");
        assert_eq!(RetrySelection::All.replan(failed(8, "bad", true)), failed(8, "bad", true));
    }

    #[test]
    fn a_reason_selects_only_the_items_that_failed_for_it() {
        let selection = RetrySelection::Failure(FailureFilter { code: "bad".into(), field: None });
        assert!(waits(&selection.replan(failed(7, "bad", false))));
        for entry in [failed(7, "worse", false), failed(8, "bad", true)] {
            assert_eq!(selection.replan(entry.clone()), entry, "it stays failed");
        }
    }

    #[test]
    fn dead_letters_select_only_the_items_that_were_given_up_with_them() {
        let mut items = DeadItems::default();
        items.add([9, 4, 5]);
        items.add([3, 4]);
        let retry_selection = RetrySelection::Dead(items);
        for n in [3, 4, 5, 9] {
            assert!(waits(&retry_selection.replan(failed(n, DEAD_LETTERED, false))), "{n}");
        }
        for (n, code, damaged) in
            [(2, DEAD_LETTERED, false), (6, DEAD_LETTERED, false), (4, "bad", false), (4, DEAD_LETTERED, true)]
        {
            assert!(!waits(&retry_selection.replan(failed(n, code, damaged))), "{n} {code} {damaged}");
        }
        let open =
            Entry { end: End::Transient { attempts: 2, reason: "busy".into(), due: None }, ..failed(1, "", false) };
        assert!(waits(&retry_selection.replan(open)), "an item that has not ended runs in any case");
    }
}
