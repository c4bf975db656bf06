//! Reads every row of a report's files, and compares them with the result, the groups and the receipt.
//!
//! Reading stops when the time of the call ends. A file that was not read completely is reported as unchecked.

use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore::ports::report_file_keys;
use longshore::receipt::{FileReceipt, RECEIPT_NAME, Receipt, download_name};
use longshore::result::{ReportFile, ResultDocument};
use longshore_domain::ports::{Files, PortResult};

use super::items::{ItemSet, MAX_TRACKED, RowItems, SeenItems};
use super::reading::{Streamed, stream_file};
use super::report::{ReportAudit, Reported};
use super::rows::{ByGroup, RowNumbers};

/// Names of a report's files.
const FILES: [&str; 3] = ["failed.csv", "skipped.csv", "unprocessed.csv"];

/// A file according to the result.
pub(super) struct Expected<'a> {
    pub(super) name: &'static str,
    pub(super) key: String,
    pub(super) rows: u64,
    pub(super) in_result: Option<&'a ReportFile>,
}

/// Counts of a file that was read.
struct Counted {
    rows: u64,
    items: ItemSet,
    by_group: ByGroup,
    fingerprint: Fingerprint,
}

impl Reported {
    fn set(&mut self, name: &str, items: ItemSet) {
        match name {
            "failed.csv" => self.failed = Some(items),
            "skipped.csv" => self.skipped = Some(items),
            _ => {}
        }
    }
}

/// Outcome of reading a file.
enum Counting {
    Done(Counted),
    Absent,
    OutOfTime,
}

impl<F: Files> ReportAudit<'_, F> {
    /// Makes every comparison that needs the report's files.
    pub(super) async fn check_files(
        &mut self,
        result: &ResultDocument,
        receipt: Option<&Receipt>,
        seen_items: &mut SeenItems,
    ) -> PortResult<Reported> {
        let mut reported = Reported::default();
        if let Some(receipt) = receipt {
            let with_rows = self.expected(result).iter().filter(|expected| expected.rows > 0).count();
            self.findings.count("receipt_file_count", RECEIPT_NAME, with_rows as u64, receipt.files.len() as u64);
        }
        for expected in self.expected(result) {
            self.check_in_result(&expected);
            let in_receipt = receipt.and_then(|receipt| self.check_in_receipt(&expected, receipt));
            if expected.rows == 0 {
                reported.set(expected.name, ItemSet::default());
            } else if let Some(counted) = self.count_rows(&expected, seen_items).await? {
                self.check_counted(&expected, in_receipt, &counted);
                reported.set(expected.name, counted.items);
            }
        }
        if result.item_count > MAX_TRACKED {
            self.findings.mark_unchecked(
                "row_numbers",
                format!("only items up to {MAX_TRACKED} are checked for having exactly one row"),
            );
        }
        Ok(reported)
    }

    /// Returns the file's entry in the receipt, and compares its presence.
    fn check_in_receipt<'b>(&mut self, expected: &Expected<'_>, receipt: &'b Receipt) -> Option<&'b FileReceipt> {
        let saved = download_name(&self.records.job, expected.name);
        let in_receipt = receipt.files.iter().find(|file| file.name == saved);
        let (expected_count, found) = (u64::from(expected.rows > 0), in_receipt.iter().count() as u64);
        self.findings.count("receipt_files", expected.name, expected_count, found);
        in_receipt
    }

    /// Counts the rows of a file. Returns `None` if the file is absent, or there is no time to read all of it.
    async fn count_rows(&mut self, expected: &Expected<'_>, seen_items: &mut SeenItems) -> PortResult<Option<Counted>> {
        match self.read(expected, seen_items).await? {
            Counting::Done(counted) => return Ok(Some(counted)),
            Counting::Absent => self.findings.count("rows", expected.name, expected.rows, 0),
            Counting::OutOfTime => {
                let reason =
                    "there was not enough time to read the whole file; download it and compare it with its receipt";
                self.findings.mark_unchecked(expected.name, reason);
            }
        }
        Ok(None)
    }

    fn expected<'b>(&self, result: &'b ResultDocument) -> Vec<Expected<'b>> {
        let (counts, files) = (&result.counts, &result.files);
        let rows = [counts.failed, counts.skipped, counts.unprocessed];
        let in_result = [&files.failed, &files.skipped, &files.unprocessed];
        let expected = FILES.into_iter().zip(rows).zip(in_result);
        expected.map(|((name, rows), in_result)| self.expected_file(name, rows, in_result.as_ref())).collect()
    }

    /// Returns a file of the report that has this number of rows.
    pub(super) fn expected_file<'b>(
        &self,
        name: &'static str,
        rows: u64,
        in_result: Option<&'b ReportFile>,
    ) -> Expected<'b> {
        let [whole, parts] = report_file_keys(&self.records.job, name);
        let in_parts = in_result.is_some_and(|file| file.key == parts);
        Expected { name, key: if in_parts { parts } else { whole }, rows, in_result }
    }

    pub(super) fn check_in_result(&mut self, Expected { name, key, rows, in_result }: &Expected<'_>) {
        let expected = if *rows > 0 { key.as_str() } else { "nothing" };
        self.findings.text("result_files", name, expected, Some(in_result.map_or("nothing", |file| &file.key)));
        self.findings.count("result_rows", name, *rows, in_result.map_or(0, |file| file.rows));
    }

    fn check_counted(&mut self, expected: &Expected<'_>, in_receipt: Option<&FileReceipt>, counted: &Counted) {
        let name = expected.name;
        self.findings.count("rows", name, expected.rows, counted.rows);
        self.check_groups(name, &counted.by_group);
        if let Some(FileReceipt { rows, fingerprint, .. }) = in_receipt {
            self.findings.count("receipt_rows", name, *rows, counted.rows);
            self.findings.count("size", name, fingerprint.size, counted.fingerprint.size);
            self.findings.text("sha256", name, &fingerprint.sha256, Some(&counted.fingerprint.sha256));
        }
    }

    /// Compares the rows per group with the group's counts, for a job that was never retried.
    fn check_groups(&mut self, name: &str, by_group: &ByGroup) {
        if self.records.job.generation > 0 || name == "unprocessed.csv" {
            return;
        }
        for (group, _) in self.records.planned() {
            let counted = if name == "failed.csv" { group.counts.failed } else { group.counts.skipped };
            let place = format!("group {} in {name}", group.number);
            self.findings.count("group_rows", place, counted, by_group.rows(group.number));
        }
    }

    /// Streams a file, row by row.
    async fn read(&mut self, expected: &Expected<'_>, seen_items: &mut SeenItems) -> PortResult<Counting> {
        let mut by_group = ByGroup::new(self.records.planned().map(|(_, manifest)| manifest));
        let (mut rows, mut print) = (RowNumbers::new(b','), Fingerprinter::default());
        let mut items = RowItems::new(seen_items);
        let mut take = |number: Option<u64>| {
            if let Some(item) = items.take(number) {
                by_group.take(item);
            }
        };
        let mut block = |block: &[u8]| {
            print.take(block);
            rows.take(block, &mut take);
        };
        let streamed = stream_file(self.files, &expected.key, self.in_time, &mut block).await?;
        match streamed {
            Streamed::Complete => rows.end(&mut take),
            Streamed::Absent => return Ok(Counting::Absent),
            Streamed::OutOfTime => return Ok(Counting::OutOfTime),
        }
        items.check(expected.name, rows.rows(), self.findings);
        Ok(Counting::Done(Counted { rows: rows.rows(), items: items.items, by_group, fingerprint: print.finish() }))
    }
}
