//! Compares a job's report with its ledger: the result document, the receipt, and the files.
//!
//! Every key is derived from the job, never taken from a document.

use longshore::ports::report_key;
use longshore::receipt::{InputReceipt, PartReceipt, RECEIPT_NAME, Receipt};
use longshore::result::{RESULT_NAME, ResultCounts, ResultDocument};
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{Files, PortResult, Read};
use serde::de::DeserializeOwned;

use super::findings::Findings;
use super::items::{ItemSet, SeenItems};
use super::ledger::Records;
use super::results::UnreadResults;

/// The report of an ended job.
pub(super) struct ReportAudit<'a, F> {
    pub(super) files: &'a F,
    pub(super) records: &'a Records,
    /// Returns true while files may still be read.
    pub(super) in_time: &'a (dyn Fn() -> bool + Sync),
    pub(super) findings: &'a mut Findings,
}

/// The items and slices named in the report's files that were read completely.
#[derive(Debug, Default)]
pub(super) struct Reported {
    pub(super) failed: Option<ItemSet>,
    pub(super) skipped: Option<ItemSet>,
    /// Slices of the index of the results.
    pub(super) slices: Option<ItemSet>,
    /// The results, whose contents are read last.
    pub(super) results: Option<UnreadResults>,
}

/// A document that completion writes.
enum Document<T> {
    Found(T),
    Absent,
    /// The document exists, but cannot be parsed.
    Damaged,
}

impl<F: Files> ReportAudit<'_, F> {
    /// Makes every comparison that needs the report.
    pub(super) async fn check(mut self) -> PortResult<Reported> {
        let Some(result) = self.result().await? else { return Ok(Reported::default()) };
        self.check_result(&result);
        let receipt = self.receipt(&result).await?;
        let mut seen_items = SeenItems::new(result.item_count);
        let mut reported = self.check_files(&result, receipt.as_ref(), &mut seen_items).await?;
        if let Some(receipt) = &receipt {
            self.check_inputs(receipt).await?;
        }
        self.check_results(&result, receipt, seen_items, &mut reported).await?;
        Ok(reported)
    }

    async fn check_inputs(&mut self, receipt: &Receipt) -> PortResult<()> {
        let job = &self.records.job;
        let source_name = |file: Option<&SourceFile>| file.map_or("no file", |file| &file.name).to_owned();
        let receipt_name =
            |input: &Option<InputReceipt>| input.as_ref().map_or("no file", |input| &input.name).to_owned();
        let (input, corrected) = (source_name(job.file()), source_name(job.retry.selection.corrected()));
        self.findings.text("input_name", RECEIPT_NAME, &input, Some(&receipt_name(&receipt.input)));
        self.findings.text("corrected_name", RECEIPT_NAME, &corrected, Some(&receipt_name(&receipt.corrected)));
        let part_name = |part: Option<PartReceipt>| {
            part.map_or("no part".to_owned(), |of| format!("{} of {}, {}", of.part.as_str(), of.job_id, of.generation))
        };
        let (part, found) = (part_name(job.part().map(PartReceipt::from)), part_name(receipt.part.clone()));
        self.findings.text("input_part", RECEIPT_NAME, &part, Some(&found));
        match &receipt.input {
            Some(input) => self.check_input(input).await,
            None => Ok(()),
        }
    }

    async fn result(&mut self) -> PortResult<Option<ResultDocument>> {
        match self.document(RESULT_NAME).await? {
            Document::Found(result) => return Ok(Some(result)),
            Document::Damaged => {
                self.findings.text("result", RESULT_NAME, "a result document", None);
                self.findings.mark_unchecked("report", "the result document cannot be read");
            }
            Document::Absent => {
                let reason = "the files of this job do not exist: they could not be written, or they have expired";
                self.findings.mark_unchecked("report", reason);
            }
        }
        Ok(None)
    }

    /// Compares the counts of the result with the ledger. Only the report contains the number of items that were never
    /// split.
    fn check_result(&mut self, result: &ResultDocument) {
        let job = &self.records.job;
        let totals = job.completion.totals.unwrap_or_default();
        let ResultCounts { succeeded, failed, skipped, unprocessed } = result.counts;
        self.findings.count("result_succeeded", RESULT_NAME, totals.succeeded, succeeded);
        self.findings.count("result_failed", RESULT_NAME, totals.failed, failed);
        self.findings.count("result_skipped", RESULT_NAME, totals.skipped, skipped);
        self.findings.count("result_items", RESULT_NAME, result.counts.total(), result.item_count);
        let remaining = job.split.item_count.saturating_sub(totals.done());
        if job.item_count_final() {
            self.findings.count("result_unprocessed", RESULT_NAME, remaining, unprocessed);
        } else {
            self.findings.at_most("result_unprocessed", RESULT_NAME, unprocessed, remaining);
        }
    }

    /// Returns the receipt, after comparing it with the result.
    async fn receipt(&mut self, result: &ResultDocument) -> PortResult<Option<Receipt>> {
        let receipt: Receipt = match self.document(RECEIPT_NAME).await? {
            Document::Found(receipt) => receipt,
            Document::Damaged => {
                self.findings.text("receipt", RECEIPT_NAME, "a receipt", None);
                return Ok(None);
            }
            Document::Absent => {
                let reason = "no receipt exists: the job ended under an earlier version, or its files have expired";
                self.findings.mark_unchecked("receipt", reason);
                return Ok(None);
            }
        };
        let job = &self.records.job;
        self.findings.text("receipt", RECEIPT_NAME, &job.job_id.to_string(), Some(&receipt.job_id.to_string()));
        self.findings.count("receipt_generation", RECEIPT_NAME, job.generation.into(), receipt.generation.into());
        self.findings.count("receipt_items", RECEIPT_NAME, result.item_count, receipt.item_count);
        let (expected, found) = (summary(&result.counts), summary(&receipt.counts));
        self.findings.text("receipt_counts", RECEIPT_NAME, &expected, Some(&found));
        Ok(Some(receipt))
    }

    /// Checks the input without reading it: the entity tag shows whether it is still the file that the job processed.
    async fn check_input(&mut self, input: &InputReceipt) -> PortResult<()> {
        let uploaded = self.records.job.file().map(SourceFile::as_uploaded);
        let Some(SourceFile { key, size_bytes, etag, name, .. }) = &uploaded else {
            self.findings.text("input", RECEIPT_NAME, "no file", Some(&input.name));
            return Ok(());
        };
        self.findings.count("input_size", RECEIPT_NAME, *size_bytes, input.size);
        match self.files.info(key).await? {
            Some(info) => self.findings.text("input", name, etag, Some(&info.etag)),
            None => self.findings.mark_unchecked("input", "the input file no longer exists"),
        }
        Ok(())
    }

    async fn document<T: DeserializeOwned>(&self, name: &str) -> PortResult<Document<T>> {
        let job = &self.records.job;
        Ok(match self.files.read(&report_key(job, name), None, None).await? {
            Read::Found(bytes) => serde_json::from_slice(&bytes).map_or(Document::Damaged, Document::Found),
            Read::Absent | Read::Changed => Document::Absent,
        })
    }
}

/// Formats counts as one text.
fn summary(counts: &ResultCounts) -> String {
    let ResultCounts { succeeded, failed, skipped, unprocessed } = counts;
    format!("{succeeded} succeeded, {failed} failed, {skipped} skipped, {unprocessed} unprocessed")
}
