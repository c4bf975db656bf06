//! Reads the outputs of the workers and the results file, and compares them with the index and the receipt.

use std::sync::Mutex;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::try_join_all;
use longshore::crc64;
use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore::ports::JobFolder;
use longshore::receipt::ResultsReceipt;
use longshore::result::IndexedSlice;
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::{Files, PortResult};
use longshore_domain::results::{ResultFormat, ResultRow, ResultsForm};

use super::findings::Findings;
use super::items::{ItemSet, RowItems};
use super::ledger::Records;
use super::lines::LineNumbers;
use super::reading::{Streamed, stream_file};
use super::results::UnreadResults;
use super::rows::RowNumbers;

/// Maximum slices that are read concurrently.
const READS: usize = 16;

/// Contents of a job's results.
pub(super) struct OutputsAudit<'a, F> {
    pub(super) files: &'a F,
    pub(super) records: &'a Records,
    /// Returns true while files may still be read.
    pub(super) in_time: &'a (dyn Fn() -> bool + Sync),
    pub(super) findings: &'a mut Findings,
}

/// A slice as it was read.
struct ReadSlice {
    streamed: Streamed,
    rows: u64,
    fingerprint: Fingerprint,
}

/// Counter of the rows of a results file.
enum RowCounter {
    Csv(Box<RowNumbers>),
    Lines(LineNumbers),
    /// The rows of a compressed file and of a workbook are not counted.
    Opaque,
}

impl RowCounter {
    fn new(form: &ResultsForm) -> Self {
        match form.format {
            _ if form.gzip => Self::Opaque,
            ResultFormat::Csv => Self::Csv(Box::new(RowNumbers::new(form.delimiter.byte()))),
            ResultFormat::Jsonl => Self::Lines(LineNumbers::default()),
            ResultFormat::Xlsx => Self::Opaque,
        }
    }

    fn take(&mut self, block: &[u8], row: &mut impl FnMut(Option<u64>)) {
        match self {
            Self::Csv(rows) => rows.take(block, row),
            Self::Lines(lines) => lines.take(block, row),
            Self::Opaque => {}
        }
    }

    /// Ends the file, and returns the number of its rows.
    fn end(mut self, row: &mut impl FnMut(Option<u64>)) -> Option<u64> {
        match &mut self {
            Self::Csv(rows) => {
                rows.end(row);
                Some(rows.rows())
            }
            Self::Lines(lines) => Some(lines.rows()),
            Self::Opaque => None,
        }
    }
}

impl<F: Files> OutputsAudit<'_, F> {
    /// Makes every comparison that needs the contents of the results.
    pub(super) async fn check(mut self, mut results: UnreadResults) -> PortResult<()> {
        let items = self.check_slices(&mut results).await?;
        self.check_file(&results, items).await
    }

    /// Reads every slice. Returns the items of their rows, if all were read and have numbers.
    async fn check_slices(&mut self, results: &mut UnreadResults) -> PortResult<Option<ItemSet>> {
        let (mut rows, mut out_of_time) = (0, results.has_more_slices);
        let items = Mutex::new(RowItems::new(&mut results.seen_items));
        for slices in results.slices.chunks(READS) {
            let reads = slices.iter().map(|slice| self.read_slice(slice, &items).boxed());
            for (slice, found) in slices.iter().zip(try_join_all(reads).await?) {
                check_slice(slice, &found, self.findings);
                rows += found.rows;
                out_of_time |= found.streamed == Streamed::OutOfTime;
            }
        }
        if out_of_time {
            self.findings.mark_unchecked("outputs", "there was not enough time to read all outputs");
        }
        if results.form.row == ResultRow::Plain || out_of_time {
            return Ok(None);
        }
        let Ok(items) = items.into_inner() else { return Ok(None) };
        items.check(results.name, rows, self.findings);
        Ok(Some(items.items))
    }

    async fn read_slice(&self, slice: &IndexedSlice, items: &Mutex<RowItems<'_>>) -> PortResult<ReadSlice> {
        let id = ChunkId::new(slice.group, slice.chunk);
        let key = JobFolder::for_job(&self.records.job).chunk(id).outputs_key(&slice.token);
        let (mut lines, mut print) = (LineNumbers::default(), Fingerprinter::default());
        let mut take = |block: &[u8]| {
            print.take(block);
            if let Ok(mut items) = items.lock() {
                lines.take(block, &mut |number| {
                    items.take(number);
                });
            }
        };
        let streamed = stream_file(self.files, &key, self.in_time, &mut take).await?;
        Ok(ReadSlice { streamed, rows: lines.rows(), fingerprint: print.finish() })
    }

    /// Reads the results file. `items` are those of the slices, if they are known.
    async fn check_file(&mut self, results: &UnreadResults, items: Option<ItemSet>) -> PortResult<()> {
        let (mut print, mut crc64, mut counter) = (Fingerprinter::default(), 0, RowCounter::new(&results.form));
        let mut found = ItemSet::default();
        let mut row = |number: Option<u64>| number.into_iter().for_each(|number| found.take(number));
        let mut take = |block: &[u8]| {
            print.take(block);
            crc64 = crc64::joined(crc64, crc64::of(block), block.len() as u64);
            counter.take(block, &mut row);
        };
        let name = results.name;
        match stream_file(self.files, &results.key, self.in_time, &mut take).await? {
            Streamed::Complete => {}
            Streamed::Absent => {
                self.findings.count("rows", name, results.rows, 0);
                return Ok(());
            }
            Streamed::OutOfTime => {
                let reason =
                    "there was not enough time to read the whole file; download it and compare it with its receipt";
                self.findings.mark_unchecked(name, reason);
                return Ok(());
            }
        }
        if let Some(rows) = counter.end(&mut row) {
            self.findings.count("rows", name, results.rows, rows);
            if let Some(items) = items {
                let expected = "the items of the outputs";
                let found = if found == items { expected } else { "other items" };
                self.findings.text("result_items", name, expected, Some(found));
            }
        }
        if let Some(receipt) = &results.receipt {
            self.check_checksums(name, receipt, &print.finish(), crc64);
        }
        Ok(())
    }

    fn check_checksums(&mut self, name: &str, receipt: &ResultsReceipt, found: &Fingerprint, crc64: u64) {
        self.findings.count("size", name, receipt.size, found.size);
        if let Some(sha256) = &receipt.sha256 {
            self.findings.text("sha256", name, sha256, Some(&found.sha256));
        }
        let crc64 = STANDARD.encode(crc64.to_be_bytes());
        self.findings.text("crc64nvme", name, &receipt.crc64nvme, Some(&crc64));
    }
}

/// Compares a slice with its line of the index.
fn check_slice(slice: &IndexedSlice, found: &ReadSlice, findings: &mut Findings) {
    let place = format!("outputs {} of chunk {} of group {}", slice.token, slice.chunk, slice.group);
    match found.streamed {
        Streamed::OutOfTime => {}
        Streamed::Absent => findings.count("output_rows", place, slice.outputs.rows, 0),
        Streamed::Complete => {
            findings.count("output_rows", &place, slice.outputs.rows, found.rows);
            findings.count("output_size", &place, slice.outputs.bytes, found.fingerprint.size);
            findings.text("output_sha256", &place, &slice.outputs.sha256, Some(&found.fingerprint.sha256));
        }
    }
}
