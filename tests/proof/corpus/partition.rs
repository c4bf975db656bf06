//! Comparison of a job's outcome with the rows of its file: by number, by cell, by byte, and by record.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::JobId;
use longshore_domain::ports::Ledger;
use longshore_tests::harness::stack::Stack;
use serde_json::Value;

use super::case::{End, File, Format, Run, Work};
use super::expected::{Expected, by_key};
use super::reading::{Input, is_blank, rows, table};
use super::report::{Report, ReportRow};

/// Numbers of rows.
type Numbers = BTreeSet<u64>;

/// Rows by outcome.
#[derive(Debug)]
pub(super) struct Partition {
    pub(super) succeeded: Numbers,
    failed: Numbers,
    skipped: Numbers,
    unprocessed: Numbers,
}

impl Partition {
    /// Reads the report. A row that is in none of its files has succeeded.
    pub(super) fn new(report: &Report, input: &Input) -> Result<Self> {
        let numbers: Numbers = (1..).take(input.rows.len()).collect();
        let mut unlisted = numbers.clone();
        let mut take = |rows: &[ReportRow]| -> Result<Numbers> {
            rows.iter().try_for_each(|row| {
                ensure!(numbers.contains(&row.number), "row {} is not in the input", row.number);
                ensure!(unlisted.remove(&row.number), "row {} is in the report twice", row.number);
                Ok(())
            })?;
            Ok(rows.iter().map(|row| row.number).collect())
        };
        let (failed, skipped, unprocessed) =
            (take(&report.failed)?, take(&report.skipped)?, take(&report.unprocessed)?);
        let partition = Self { succeeded: unlisted, failed, skipped, unprocessed };
        for (name, rows) in partition.named() {
            let count = report.count(name)?;
            ensure!(
                count == rows.len() as u64,
                "{name}: the count is {count}, but {} rows are listed: {rows:?}",
                rows.len()
            );
        }
        let item_count = &report.document["itemCount"];
        ensure!(*item_count == numbers.len(), "itemCount is {item_count}, but the file has {} rows", numbers.len());
        Ok(partition)
    }

    /// Each part with its name.
    pub(super) fn named(&self) -> [(&'static str, &Numbers); 4] {
        let Self { succeeded, failed, skipped, unprocessed } = self;
        [("succeeded", succeeded), ("failed", failed), ("skipped", skipped), ("unprocessed", unprocessed)]
    }

    /// Checks that each row has its expected outcome. In a stopped job any row may be unprocessed instead.
    pub(super) fn fits(&self, run: &Run<'_>, expectations: &[Expected]) -> Result<()> {
        ensure!(
            run.end != End::Completed || self.unprocessed.is_empty(),
            "the job completed, but rows {:?} are unprocessed",
            self.unprocessed
        );
        for (expected, number) in expectations.iter().zip(1..) {
            let fits = self.unprocessed.contains(&number)
                || match expected {
                    // An insert writes one of several rows with the same key; the records show which one.
                    Expected::Succeeds(_) if run.work == Work::Insert => !self.skipped.contains(&number),
                    Expected::Succeeds(_) => self.succeeded.contains(&number),
                    Expected::Fails | Expected::Stops => self.failed.contains(&number),
                    Expected::IsSkipped => self.skipped.contains(&number),
                };
            ensure!(fits, "row {number}: expected {expected:?}, found {:?}", self.part_of(number));
        }
        Ok(())
    }

    fn part_of(&self, number: u64) -> Option<&'static str> {
        self.named().into_iter().find(|(_, rows)| rows.contains(&number)).map(|(name, _)| name)
    }

    /// Checks that the dataset contains the records of the succeeded rows.
    pub(super) fn fits_records(
        &self,
        run: &Run<'_>,
        expectations: &[Expected],
        records: &BTreeMap<String, Value>,
    ) -> Result<()> {
        let keys = by_key(expectations);
        for (key, record) in records {
            ensure!(run.work != Work::Validate, "a validation has written the record {record}");
            let number = record["row"].as_u64().unwrap_or_default();
            let rows = keys.get(key.as_str()).with_context(|| format!("no row has the key {key:?}: {record}"))?;
            let row = rows.iter().find(|(row, _)| *row == number);
            let (_, expected) = row.with_context(|| format!("row {number} does not have the key {key:?}"))?;
            ensure!(
                same(&record["record"], expected),
                "row {number}: the record is {}, not {expected}",
                record["record"]
            );
        }
        if run.work == Work::Validate {
            return Ok(());
        }
        for (key, rows) in &keys {
            let done: Vec<_> = rows.iter().map(|(row, _)| *row).filter(|row| self.succeeded.contains(row)).collect();
            let holder = records.get(*key).and_then(|record| record["row"].as_u64());
            match (run.work, done.last()) {
                (_, None) if run.end != End::Completed => {}
                (Work::Insert, _) => {
                    ensure!(
                        done == holder.as_slice(),
                        "{key:?}: rows {done:?} succeeded, but the record is of row {holder:?}"
                    );
                }
                (_, last) => {
                    ensure!(
                        holder >= last.copied(),
                        "{key:?}: row {last:?} succeeded, but the record is of row {holder:?}"
                    )
                }
            }
        }
        Ok(())
    }
}

/// Equality of two values, with numbers compared by value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Checks that each row of the report has the same cells as in the file, and no cell that a spreadsheet would evaluate
/// (CSV injection).
pub(super) fn check_cells(report: &Report, input: &Input) -> Result<()> {
    for row in report.rows() {
        let index = usize::try_from(row.number)? - 1;
        let original = input.rows[index].report_cells(input.columns.len());
        for (shown, cell) in row.cells.iter().zip(&original) {
            ensure!(
                shown == cell || is_neutral(shown, cell),
                "row {}: {:?} instead of {original:?}",
                row.number,
                row.cells
            );
            let harmless = !shown.starts_with(['\t', '\r', '\n'])
                && shown.split(SEPARATORS).all(|text| !is_formula(text) || text.parse::<f64>().is_ok());
            ensure!(harmless, "row {}: {shown:?} is a formula", row.number);
        }
        ensure!(row.cells.len() == original.len(), "row {} has {} cells", row.number, row.cells.len());
    }
    Ok(())
}

/// Characters at which some spreadsheets begin another cell.
const SEPARATORS: [char; 4] = [';', '\t', '\r', '\n'];

/// Returns true if a reported cell equals the original, except for apostrophes before texts that look like formulas.
fn is_neutral(shown: &str, cell: &str) -> bool {
    let (shown, texts) = (shown.split(SEPARATORS), cell.split(SEPARATORS));
    let opens_with_control = cell.trim_start_matches('\'').starts_with(['\t', '\r', '\n']);
    shown.clone().count() == texts.clone().count()
        && shown.zip(texts).enumerate().all(|(at, (shown, text))| {
            let like_formula = is_formula(text.trim_start_matches('\'')) || (at == 0 && opens_with_control);
            shown == text || (like_formula && shown.strip_prefix('\'') == Some(text))
        })
}

fn is_formula(text: &str) -> bool {
    let readable =
        text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control() || "\"\u{feff}\u{200b}".contains(c));
    readable.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

/// Checks that the chunks in the ledger cover the file's bytes in order, without gap or overlap, and that each has the
/// number of rows in its plan. Rows in no chunk must be unprocessed.
pub(super) fn check_chunks(stack: &Stack, job: JobId, file: &File, input: &Input, partition: &Partition) -> Result<()> {
    let (mut at, mut number) = (0, 1);
    for chunk in chunks(stack, job)? {
        let (start, end) = (usize::try_from(chunk.start)?, usize::try_from(chunk.end)?);
        ensure!(at <= start && start < end && end <= file.bytes.len(), "{chunk:?} after byte {at}");
        match number {
            1 => check_header(&file.bytes[..start], file.format)?,
            _ => ensure!(is_blank(&file.bytes[at..start], file.format), "bytes {at} to {start} are in no chunk"),
        }
        ensure!(chunk.first == number, "{chunk:?} follows item {}", number - 1);
        let chunk_rows = rows(&file.bytes[start..end], file.format);
        let from = usize::try_from(number - 1)?;
        let planned = input.rows.get(from..from + chunk.items as usize);
        ensure!(planned == Some(&chunk_rows[..]), "{chunk:?} has {} other rows: {chunk_rows:?}", chunk_rows.len());
        (at, number) = (end, number + u64::from(chunk.items));
    }
    let unsplit: Vec<_> = (number..).take((input.rows.len() + 1).saturating_sub(usize::try_from(number)?)).collect();
    ensure!(unsplit.iter().all(|row| partition.unprocessed.contains(row)), "rows {unsplit:?} are in no chunk");
    let tail = &file.bytes[at..];
    ensure!(!unsplit.is_empty() || number == 1 || is_blank(tail, file.format), "the bytes after {at} are in no chunk");
    Ok(())
}

/// Checks that the bytes before the first chunk are the header, or blank if the format has no header.
fn check_header(bytes: &[u8], format: Format) -> Result<()> {
    let expected = usize::from(format == Format::Csv);
    match rows(table(bytes), format).len() {
        count if count == expected => Ok(()),
        count => bail!("{count} rows instead of {expected} before the first chunk"),
    }
}

fn chunks(stack: &Stack, job: JobId) -> Result<Vec<ChunkPlan>> {
    let (store, mut chunks) = (stack.store()?, Vec::new());
    for group in 0.. {
        match stack.run(store.manifest(job, group))? {
            Some(manifest) => chunks.extend(manifest.chunks),
            None => break,
        }
    }
    Ok(chunks)
}
