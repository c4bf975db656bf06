//! The files of a report, written from one position to the next.

use longshore::chunk::{ChunkReader, ChunkRows, IncludedRows, ReportGroup};
use longshore::failures_file::REPORT_COLUMNS;
use longshore::ports::{JobFolder, Ports};
use longshore::result::{FailuresByCode, Report, ReportFiles, ResultCounts};
use longshore_domain::job::JobError;
use longshore_domain::ports::{Files, MultipartFiles, Store};

use super::input::{InputLayout, RecordAt, Unsplit, write_unsplit};
use super::issues::{results_as_csv, results_too_large, source_gone, unsplit_unreadable};
use super::listing::{FAILED, SKIPPED, UNPROCESSED};
use super::parts::FileKeys;
use super::read_ahead::read_chunks;
use super::receipts::{file_receipt, results_receipt};
use super::results::Results;
use super::row::RowBuilder;
use super::state::{Position, WorkbookState};
use super::table::{CSV, Table};
use super::{Reached, WrittenReport};
use crate::CompleteError;
use crate::ending::Ending;

/// The name of a report, and the initial part size of its files.
#[derive(Copy, Clone, Debug)]
pub(crate) struct ReportName<'a> {
    pub(crate) attempt: &'a str,
    /// Name of the report: the attempt and this invocation.
    pub(crate) report: &'a str,
    pub(crate) part_bytes: usize,
}

/// Writes the files of a job's report under the name of an attempt. No file appears unless the rows of all files match
/// the counts of the ledger.
pub(crate) struct ReportWriter<'a, S, F> {
    store: &'a S,
    files: &'a F,
    ending: &'a Ending,
    layout: &'a InputLayout,
    /// Failed, skipped, unprocessed.
    pub(super) tables: [Table<'a, F>; 3],
    /// The outputs of the items that succeeded, if they have any.
    pub(super) results: Option<Results<'a, F>>,
    pub(super) at: Position,
    pub(super) source_gone: bool,
    pub(super) workbook: WorkbookState,
    pub(super) issues: Vec<JobError>,
    pub(super) failures_by_code: FailuresByCode,
}

impl<'a, S: Store, F: Files + MultipartFiles> ReportWriter<'a, S, F> {
    pub(crate) fn new<Q>(
        ports: &'a Ports<S, Q, F>,
        ending: &'a Ending,
        layout: &'a InputLayout,
        name: ReportName<'_>,
    ) -> Self {
        let (job, folder) = (&ending.job, JobFolder::for_job(&ending.job));
        let keys = |file: &str, content_type| {
            let key = |name| folder.report_key(job.generation, Some(name), file);
            FileKeys { parts: key(name.attempt), whole: key(name.report), content_type }
        };
        let (store, files) = (&ports.store, &ports.files);
        let table = |file, report_columns| {
            let rows = RowBuilder::new(layout.columns.clone(), layout.sheet.clone());
            Table::new(files, keys(file, CSV), rows, report_columns, name.part_bytes)
        };
        let tables = [
            table("failed.csv", &REPORT_COLUMNS[..]),
            table("skipped.csv", &["reason"]),
            table("unprocessed.csv", &[]),
        ];
        let results = layout.results.as_ref().map(|form| Results::new(files, folder, form, keys, name.part_bytes));
        let workbook = WorkbookState { tries: 0, as_csv: layout.results_as_csv };
        let (at, source_gone, issues, failures_by_code) = Default::default();
        Self { store, files, ending, layout, tables, results, at, source_gone, workbook, issues, failures_by_code }
    }

    /// Returns true if the end of the rows must be stored before the files are completed: if one of them is a multipart
    /// upload, or a workbook, whose tries are counted.
    pub(crate) fn needs_checkpoint(&self) -> bool {
        self.tables.iter().any(Table::has_parts)
            || self.results.as_ref().is_some_and(|results| results.has_parts() || results.is_workbook())
    }

    /// Aborts the uploads of a report that no invocation will complete.
    pub(crate) async fn abort(&mut self) {
        for table in &mut self.tables {
            table.abort().await;
        }
        if let Some(results) = &mut self.results {
            results.abort().await;
        }
    }

    /// Returns true if every row is written.
    pub(crate) fn is_ended(&self) -> bool {
        self.at.ended
    }

    /// Continues writing, at least one chunk or slice: to the end, or until `due`. Then no part is in flight.
    ///
    /// # Errors
    /// If a service fails, or if the ledger and the work files disagree.
    pub(crate) async fn write(&mut self, due: &(impl Fn() -> bool + Sync)) -> Result<Reached, CompleteError> {
        let reached = self.write_groups(due).await?;
        for table in &mut self.tables {
            table.settle().await?;
        }
        if let Some(results) = &mut self.results {
            results.settle().await?;
        }
        Ok(reached)
    }

    async fn write_groups(&mut self, due: &(impl Fn() -> bool + Sync)) -> Result<Reached, CompleteError> {
        let groups = self.ending.ended_groups().report_groups(self.layout.results.is_some())?;
        let start = self.at;
        while let Some(group) = groups.get(self.at.group) {
            if (self.at != start && due()) || self.write_group(group, due).await? == Reached::Due {
                return Ok(Reached::Due);
            }
        }
        if self.at.ended {
            return Ok(Reached::End);
        }
        if self.at != start && due() && matches!(self.layout.unsplit, Unsplit::From(..)) {
            return Ok(Reached::Due);
        }
        self.write_unsplit(due).await
    }

    /// Writes the rows of a group, and compares their number with the group's counts.
    async fn write_group(
        &mut self,
        report_group: &ReportGroup<'_>,
        due: &(impl Fn() -> bool + Sync),
    ) -> Result<Reached, CompleteError> {
        let (ending, layout) = (self.ending, self.layout);
        let job = &ending.job;
        let manifest = ending.manifest(self.store, report_group).await?;
        let reader = ChunkReader { files: self.files, job, options: &layout.options };
        let mut chunks = report_group.chunks(manifest.as_ref());
        chunks.drain(..self.at.chunk.min(chunks.len()));
        let mut reads = read_chunks(&reader, report_group.group, chunks);
        while let Some(rows) = reads.next().await? {
            if self.at.slice == 0 {
                self.source_gone |= rows.source_gone;
                self.push(report_group.rows, &rows);
                for table in &mut self.tables {
                    table.send_parts().await?;
                }
            }
            if self.write_results(report_group.rows, &rows, due).await? == Reached::Due {
                return Ok(Reached::Due);
            }
            self.at = Position { chunk: self.at.chunk + 1, slice: 0, ..self.at };
            if due() && reads.has_more() {
                return Ok(Reached::Due);
            }
        }
        self.check_results(report_group).await;
        self.check(report_group)?;
        self.at = Position { group: self.at.group + 1, before: self.rows(), ..Position::default() };
        Ok(Reached::End)
    }

    /// Writes the outputs of a chunk. The remaining items of an earlier generation have none here, because that
    /// generation's results are carried over.
    async fn write_results(
        &mut self,
        included: IncludedRows,
        rows: &ChunkRows,
        due: &(impl Fn() -> bool + Sync),
    ) -> Result<Reached, CompleteError> {
        let Some(results) = self.results.as_mut().filter(|_| !matches!(included, IncludedRows::Remaining(_))) else {
            return Ok(Reached::End);
        };
        for slice in rows.slices.iter().skip(self.at.slice) {
            results.push(slice).await?;
            self.at.slice += 1;
            if results.is_too_large() {
                self.drop_results(results_too_large()).await;
                return Ok(Reached::End);
            }
            if due() && self.at.slice < rows.slices.len() {
                return Ok(Reached::Due);
            }
        }
        Ok(Reached::End)
    }

    async fn write_unsplit(&mut self, due: &(impl Fn() -> bool + Sync)) -> Result<Reached, CompleteError> {
        let job = &self.ending.job;
        match &self.layout.unsplit {
            Unsplit::Item => self.tables[UNPROCESSED].push(1, &self.layout.options, &[]),
            Unsplit::From(source, start) => {
                let first = RecordAt { offset: *start, number: job.split.item_count + 1 };
                let at = self.at.unsplit.get_or_insert(first);
                match write_unsplit(&mut self.tables[UNPROCESSED], self.files, source, at, due).await? {
                    Some(Reached::Due) => return Ok(Reached::Due),
                    Some(Reached::End) => {}
                    None => self.issues.push(unsplit_unreadable()),
                }
            }
            Unsplit::Unreadable(error) => {
                let own = job.stop.as_ref().and_then(|stop| stop.error.as_ref());
                self.issues.extend((own != Some(error)).then(|| error.clone()));
            }
            Unsplit::Nothing => {}
        }
        self.issues.extend(self.source_gone.then(source_gone));
        let has_results = self.results.as_ref().is_some_and(|results| results.len() > 0);
        self.issues.extend((self.workbook.as_csv && has_results).then(results_as_csv));
        if let Some(results) = &mut self.results {
            results.end().await?;
            self.issues.extend(results.issues());
        }
        self.at.ended = true;
        Ok(Reached::End)
    }

    /// Completes the files. The rows of a workbook must be written before `due`.
    ///
    /// # Errors
    /// If a service fails, or if another completion has ended an upload with other bytes; [`CompleteError::Workbook`]
    /// if the results must be CSV instead.
    pub(crate) async fn finish(self, due: &(impl Fn() -> bool + Sync)) -> Result<WrittenReport, CompleteError> {
        let (job, rows) = (&self.ending.job, self.rows());
        let counts = ResultCounts {
            succeeded: self.ending.totals().succeeded,
            failed: rows[FAILED],
            skipped: rows[SKIPPED],
            unprocessed: rows[UNPROCESSED],
        };
        let [failed, skipped, unprocessed] = self.tables;
        let written = [failed.finish().await?, skipped.finish().await?, unprocessed.finish().await?];
        let results = match self.results {
            Some(results) => results.finish(due).await?,
            None => None,
        };
        let receipts = written.iter().flatten().map(|written| file_receipt(job, written)).collect();
        let mut issues = self.issues;
        issues.extend(results.iter().flat_map(|results| results.issues.clone()));
        let results_receipt = results.as_ref().map(|results| results_receipt(job, results));
        let (results, results_index) = results.map(|results| (results.file.file, results.index.file)).unzip();
        let [failed, skipped, unprocessed] = written.map(|written| written.map(|written| written.file));
        let report = Report {
            counts,
            failures_by_code: self.failures_by_code,
            issues,
            files: ReportFiles { failed, skipped, unprocessed, results, results_index },
        };
        Ok(WrittenReport { report, files: receipts, results: results_receipt })
    }
}
