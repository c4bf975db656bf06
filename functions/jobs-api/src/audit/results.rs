//! Compares the index of the results with the ledger, the result and the receipt.
//!
//! The index has a line per slice: the outputs of one commit. The contents of the slices and of the results file are
//! compared last, because they can be large: see `outputs`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore::receipt::{Receipt, ResultsReceipt, download_name};
use longshore::result::{IndexedSlice, RESULTS_INDEX_NAME, ReportFile, ResultDocument};
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::{Files, PortResult};
use longshore_domain::results::{ResultFormat, ResultsForm};
use longshore_domain::work_file::OutputSlice;

use super::files::Expected;
use super::items::{ItemSet, SeenItems};
use super::reading::{Streamed, stream_file};
use super::report::{ReportAudit, Reported};

/// Maximum number of slices whose contents are read: more than the time of a call allows.
const MAX_SLICES: usize = 20_000;

/// Name of the results file in the result of a job whose items have no output.
const NO_FILE: &str = "results";

/// The results of a job, whose contents were not read yet.
#[derive(Debug)]
pub(super) struct UnreadResults {
    /// Form of the results file.
    pub(super) form: ResultsForm,
    /// Name of the results file within the report.
    pub(super) name: &'static str,
    pub(super) key: String,
    /// Rows of the file: the items that succeeded.
    pub(super) rows: u64,
    pub(super) receipt: Option<ResultsReceipt>,
    /// The first slices, up to `MAX_SLICES`.
    pub(super) slices: Vec<IndexedSlice>,
    pub(super) has_more_slices: bool,
    /// Items that have a row in another file of the report.
    pub(super) seen_items: SeenItems,
}

/// The index of the results, while it is read.
#[derive(Default)]
struct Index {
    print: Fingerprinter,
    /// The line that is not complete yet.
    line: Vec<u8>,
    lines: u64,
    damaged: u64,
    rows: u64,
    by_group: BTreeMap<u32, u64>,
    all: ItemSet,
    slices: Vec<IndexedSlice>,
}

/// Returns a number that identifies a slice and its contents.
pub(super) fn slice_number(id: ChunkId, token: &str, outputs: &OutputSlice) -> u64 {
    let mut hasher = DefaultHasher::new();
    (id, token, outputs).hash(&mut hasher);
    hasher.finish()
}

/// Returns the form of the file that was written: CSV if the results did not fit into a workbook.
fn written_form(form: &ResultsForm, file: Option<&ReportFile>) -> ResultsForm {
    let csv = form.as_csv();
    let is_csv = file.is_some_and(|file| file.key.rsplit('/').next() == Some(csv.file_name()));
    if form.format == ResultFormat::Xlsx && is_csv { csv } else { form.clone() }
}

impl Index {
    fn take(&mut self, block: &[u8]) {
        self.print.take(block);
        for piece in block.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.take_line(&line);
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        self.lines += 1;
        let Ok(slice) = serde_json::from_slice::<IndexedSlice>(line) else {
            self.damaged += 1;
            return;
        };
        let IndexedSlice { group, chunk, token, outputs } = &slice;
        self.rows = self.rows.saturating_add(outputs.rows);
        let group_rows = self.by_group.entry(*group).or_default();
        *group_rows = group_rows.saturating_add(outputs.rows);
        self.all.take(slice_number(ChunkId::new(*group, *chunk), token, outputs));
        if self.slices.len() < MAX_SLICES {
            self.slices.push(slice);
        }
    }
}

impl<F: Files> ReportAudit<'_, F> {
    /// Makes every comparison that needs the index of the results.
    pub(super) async fn check_results(
        &mut self,
        result: &ResultDocument,
        receipt: Option<Receipt>,
        seen_items: SeenItems,
        reported: &mut Reported,
    ) -> PortResult<()> {
        let form = self.records.results.as_ref().map(|form| written_form(form, result.files.results.as_ref()));
        let rows = form.as_ref().map_or(0, |_| result.counts.succeeded);
        let name = form.as_ref().map_or(NO_FILE, ResultsForm::file_name);
        let file = self.expected_file(name, rows, result.files.results.as_ref());
        self.check_in_result(&file);
        let slices = result.files.results_index.as_ref().map_or(0, |index| index.rows);
        let slices = if rows > 0 { slices.max(1) } else { 0 };
        let index = self.expected_file(RESULTS_INDEX_NAME, slices, result.files.results_index.as_ref());
        self.check_in_result(&index);
        let receipt = receipt.and_then(|receipt| self.check_results_receipt(&file, receipt));
        if rows == 0 {
            reported.slices = Some(ItemSet::default());
            return Ok(());
        }
        let Some(read) = self.read_index(&index).await? else { return Ok(()) };
        self.check_index(&index, rows, receipt.as_ref(), &read);
        reported.slices = Some(read.all);
        let has_more_slices = read.lines > read.damaged + read.slices.len() as u64;
        let (key, slices) = (file.key, read.slices);
        let form = form.unwrap_or_default();
        reported.results = Some(UnreadResults { form, name, key, rows, receipt, slices, has_more_slices, seen_items });
        Ok(())
    }

    /// Returns the receipt of the results, after comparing its presence, its names and its rows.
    fn check_results_receipt(&mut self, file: &Expected<'_>, receipt: Receipt) -> Option<ResultsReceipt> {
        let (expected, found) = (u64::from(file.rows > 0), u64::from(receipt.results.is_some()));
        self.findings.count("receipt_files", file.name, expected, found);
        let results = receipt.results?;
        let job = &self.records.job;
        for (name, found) in [(file.name, &results.name), (RESULTS_INDEX_NAME, &results.index.name)] {
            self.findings.text("receipt_results", name, &download_name(job, name), Some(found));
        }
        self.findings.count("receipt_rows", file.name, results.rows, file.rows);
        Some(results)
    }

    async fn read_index(&mut self, expected: &Expected<'_>) -> PortResult<Option<Index>> {
        let mut index = Index::default();
        match stream_file(self.files, &expected.key, self.in_time, &mut |block: &[u8]| index.take(block)).await? {
            Streamed::Complete => return Ok(Some(index)),
            Streamed::Absent => self.findings.count("rows", expected.name, expected.rows, 0),
            Streamed::OutOfTime => {
                self.findings.mark_unchecked(expected.name, "there was not enough time to read the whole index");
            }
        }
        Ok(None)
    }

    fn check_index(&mut self, expected: &Expected<'_>, rows: u64, receipt: Option<&ResultsReceipt>, index: &Index) {
        let name = expected.name;
        self.findings.count("rows", name, expected.rows, index.lines);
        self.findings.count("index_lines", name, index.lines, index.lines - index.damaged);
        self.findings.count("index_rows", name, rows, index.rows);
        for (group, _) in &self.records.groups {
            let found = index.by_group.get(&group.number).copied().unwrap_or_default();
            let place = format!("group {} in {name}", group.number);
            self.findings.count("group_rows", place, group.counts.succeeded, found);
        }
        if let Some(receipt) = receipt {
            let Fingerprint { size, sha256 } = index.print.clone().finish();
            self.findings.count("receipt_rows", name, receipt.index.rows, index.lines);
            self.findings.count("size", name, receipt.index.fingerprint.size, size);
            self.findings.text("sha256", name, &receipt.index.fingerprint.sha256, Some(&sha256));
        }
    }
}
