//! The report of a job: every item that did not succeed, in files whose rows are counted before they appear.
//!
//! | file | holds |
//! | --- | --- |
//! | `layout` | the columns, and what was never split |
//! | `chunk` | the rows of one chunk, from its work files and its range of the source |
//! | `rest` | the rows of the source that was never split |
//! | `row` | one row: rectangular, and no formula |
//! | `table` | one CSV file |
//!
//! Memory: a few chunks and a block of each file, however many rows there are.

mod chunk;
mod layout;
mod rest;
mod row;
mod table;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use longshore::failures_file::SAID;
use longshore::ports::JobFolder;
use longshore::receipt::{FileReceipt, download_name};
use longshore::result::{Report, ReportFile, ReportFiles, ResultCounts};
use longshore_domain::group::{Group, Manifest};
use longshore_domain::job::{Job, JobError, Place};
use longshore_domain::ports::{Files, Store};
use longshore_domain::work_file::End;

use crate::ending::Ending;
use crate::{CompleteError, Ports};
use chunk::{Chunk, ChunkReader, ChunkRows};
use layout::{Layout, Unsplit};
use rest::write_rest;
use table::{Table, Written};

/// Chunks that are read at the same time: hides the bucket's latency, and a chunk is a few MiB of memory at most.
const READ_AHEAD: usize = 4;

/// A report whose files have appeared.
pub(crate) struct WrittenReport {
    /// What it says.
    pub(crate) report: Report,
    /// What the receipt says of its files.
    pub(crate) files: Vec<FileReceipt>,
}

/// Writes the files of a job's report under the name of this attempt. None appears unless the rows of all of them are what the ledger has counted.
///
/// # Errors
/// If a service fails, or if the ledger and the work files do not agree.
pub(crate) async fn write_report<S: Store, Q, F: Files>(
    ports: &Ports<S, Q, F>,
    ending: &Ending,
    attempt: &str,
) -> Result<WrittenReport, CompleteError> {
    let layout = Layout::read(ports, ending).await?;
    let mut writer = ReportWriter::new(ports, ending, (&layout, attempt));
    for group in &ending.older {
        writer.older(group).await?;
    }
    for group in &ending.groups {
        writer.group(group, ending.stopped()).await?;
    }
    writer.unfiled().await?;
    writer.unsplit(&layout).await?;
    writer.finish(ending).await
}

struct ReportWriter<'a, S, F: Files> {
    store: &'a S,
    job: &'a Job,
    older: &'a [Group],
    reader: ChunkReader<'a, F>,
    failed: Table<'a, F>,
    skipped: Table<'a, F>,
    unprocessed: Table<'a, F>,
    source_gone: bool,
    issues: Vec<JobError>,
}

impl<'a, S: Store, F: Files> ReportWriter<'a, S, F> {
    fn new<Q>(ports: &'a Ports<S, Q, F>, ending: &'a Ending, (layout, attempt): (&'a Layout, &str)) -> Self {
        let (files, job) = (&ports.files, &ending.job);
        let folder = JobFolder::of(job);
        let key = |name| folder.report_key(job.generation, Some(attempt), name);
        let table = |name, said| Table::new(files, key(name), layout.columns.clone(), said);
        Self {
            store: &ports.store,
            job,
            older: &ending.older,
            reader: ChunkReader { files, folder, source: job.source.as_ref(), options: &layout.options },
            failed: table("failed.csv", &SAID),
            skipped: table("skipped.csv", &["reason"]),
            unprocessed: table("unprocessed.csv", &[]),
            source_gone: false,
            issues: Vec::new(),
        }
    }

    /// Rows so far: failed, skipped, unprocessed.
    fn rows(&self) -> [u64; 3] {
        [self.failed.len(), self.skipped.len(), self.unprocessed.len()]
    }

    /// Writes the rows of a group, and holds them against its counts.
    async fn group(&mut self, group: &Group, stopped: bool) -> Result<(), CompleteError> {
        let before = self.rows();
        if stopped && !group.is_done() {
            let manifest = self.store.manifest(self.job.job_id, group.number).await?;
            let manifest = manifest.ok_or(CompleteError::ManifestMissing(group.number))?;
            self.chunks(planned(group, &manifest)).await?;
        } else {
            self.chunks(ended(group)).await?;
        }
        let open = group.items.saturating_sub(group.counts.done());
        let counted = [group.counts.failed, group.counts.skipped, open];
        for (i, outcome) in ["failed", "skipped", "unprocessed"].into_iter().enumerate() {
            let (counted, found) = (counted[i], self.rows()[i] - before[i]);
            if counted != found {
                return Err(CompleteError::Miscounted { group: group.number, outcome, counted, found });
            }
        }
        Ok(())
    }

    /// Writes the skipped rows of a group of an earlier generation. What failed in it, or never ended, was filed again.
    async fn older(&mut self, group: &Group) -> Result<(), CompleteError> {
        let before = self.skipped.len();
        for chunk in ended(group) {
            let mut rows = self.reader.read(chunk).await?;
            rows.ended.retain(|entry| matches!(entry.end, End::Skipped { .. }));
            write_rows(rows, [&mut self.failed, &mut self.skipped, &mut self.unprocessed]).await?;
        }
        let (counted, found) = (group.counts.skipped, self.skipped.len() - before);
        if counted == found {
            return Ok(());
        }
        Err(CompleteError::Miscounted { group: group.number, outcome: "skipped", counted, found })
    }

    async fn chunks(&mut self, chunks: Vec<Chunk<'_>>) -> Result<(), CompleteError> {
        let mut reads: Vec<BoxFuture<'_, Result<ChunkRows, CompleteError>>> = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            reads.push(Box::pin(self.reader.read(chunk)));
        }
        let mut read = stream::iter(reads).buffered(READ_AHEAD);
        while let Some(rows) = read.next().await {
            let rows = rows?;
            self.source_gone |= rows.source_gone;
            write_rows(rows, [&mut self.failed, &mut self.skipped, &mut self.unprocessed]).await?;
        }
        Ok(())
    }

    /// Writes what the generation before left and this one has not come to file again: unprocessed, all of it.
    async fn unfiled(&mut self) -> Result<(), CompleteError> {
        let Place { group: from, chunk: first } = self.job.refiled;
        for number in from..self.job.base.groups {
            let manifest = self.store.manifest(self.job.job_id, number).await?;
            let manifest = manifest.ok_or(CompleteError::ManifestMissing(number))?;
            let group = self.older.iter().find(|group| group.number == number);
            let group = group.ok_or(CompleteError::ManifestMissing(number))?;
            let skip = if number == from { first as usize } else { 0 };
            for chunk in planned(group, &manifest).into_iter().skip(skip) {
                let rows = self.reader.read(chunk).await?;
                let failed = rows.ended.iter().filter(|entry| matches!(entry.end, End::Failed(_)));
                let failed = failed.map(|entry| (entry.n, entry.raw.clone().into_bytes()));
                let mut rest: Vec<_> = failed.chain(rows.open).collect();
                rest.sort_unstable_by_key(|(number, _)| *number);
                for (number, raw) in rest {
                    self.unprocessed.row(number, &raw, &[]).await?;
                }
            }
        }
        Ok(())
    }

    async fn unsplit(&mut self, layout: &Layout) -> Result<(), CompleteError> {
        let readable = match (&layout.unsplit, &self.job.source) {
            (Unsplit::Item, _) => self.unprocessed.row(1, &layout.options, &[]).await.map(|()| true)?,
            (Unsplit::From(start), Some(source)) => {
                let from = (*start, self.job.item_count + 1);
                write_rest(&mut self.unprocessed, self.reader.files, source, from).await?
            }
            (Unsplit::Unreadable(error), _) => {
                let told = self.job.stop.as_ref().and_then(|stop| stop.error.as_ref());
                self.issues.extend((told != Some(error)).then(|| error.clone()));
                true
            }
            (Unsplit::Nothing | Unsplit::From(_), _) => true,
        };
        self.issues.extend((!readable).then(rest_unreadable));
        Ok(())
    }

    async fn finish(mut self, ending: &Ending) -> Result<WrittenReport, CompleteError> {
        self.issues.extend(self.source_gone.then(source_gone));
        let totals = ending.totals();
        let counts = ResultCounts {
            succeeded: totals.succeeded,
            failed: self.failed.len(),
            skipped: self.skipped.len(),
            unprocessed: self.unprocessed.len(),
        };
        let written = [self.failed.finish().await?, self.skipped.finish().await?, self.unprocessed.finish().await?];
        let files = written.iter().flatten().map(|written| file_receipt(self.job, written)).collect();
        let [failed, skipped, unprocessed] = written.map(|written| written.map(|written| written.file));
        let report = Report { counts, issues: self.issues, files: ReportFiles { failed, skipped, unprocessed } };
        Ok(WrittenReport { report, files })
    }
}

fn file_receipt(job: &Job, Written { file: ReportFile { key, rows }, fingerprint }: &Written) -> FileReceipt {
    let name = download_name(job, key.rsplit('/').next().unwrap_or(key));
    FileReceipt { name, rows: *rows, fingerprint: fingerprint.clone() }
}

async fn write_rows<F: Files>(
    rows: ChunkRows,
    [failed, skipped, unprocessed]: [&mut Table<'_, F>; 3],
) -> Result<(), CompleteError> {
    for entry in &rows.ended {
        match &entry.end {
            End::Failed(why) => {
                let said = [why.code.as_str(), why.field.as_deref().unwrap_or_default(), &why.message];
                failed.row(entry.n, entry.raw.as_bytes(), &said).await?;
            }
            End::Skipped { reason } => skipped.row(entry.n, entry.raw.as_bytes(), &[reason]).await?,
            End::Transient { .. } => {}
        }
    }
    for (number, raw) in &rows.open {
        unprocessed.row(*number, raw, &[]).await?;
    }
    Ok(())
}

/// The chunks of a group whose items have all ended: only those that filed something, and no plan is needed.
fn ended(group: &Group) -> Vec<Chunk<'_>> {
    let filed = group.cursors.iter().filter(|(_, cursor)| cursor.file.is_some());
    filed.map(|(n, cursor)| Chunk { place: (group.number, *n), cursor: Some(cursor), plan: None }).collect()
}

/// All chunks of a group that was closed before its end.
fn planned<'a>(group: &'a Group, manifest: &'a Manifest) -> Vec<Chunk<'a>> {
    let chunk = |(n, plan)| Chunk { place: (group.number, n), cursor: group.cursors.get(&n), plan: Some(plan) };
    (0..).zip(&manifest.chunks).map(chunk).collect()
}

fn source_gone() -> JobError {
    let message =
        "the file is not there any more as it was; its rows that were not processed are listed by number only";
    JobError::new("source_gone", message)
}

fn rest_unreadable() -> JobError {
    let message = "the file is not there any more as it was; the rows that the job had not come to are not listed";
    JobError::new("rest_not_listed", message)
}
