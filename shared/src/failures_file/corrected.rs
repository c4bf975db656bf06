//! A corrected failures file in memory: its rows by number, and each row's effect on a failed item.
//!
//! A text that is that of the report is unchanged: it stays the number or the error that it was in a workbook. A number of
//! a corrected workbook is a number in any job.
//!
//! A row is used only if it is unambiguous. A row that cannot be read, or whose number occurs twice, has no effect: its
//! item stays failed, and an issue reports it with a count of such rows and the first few numbers.

use std::borrow::Cow;

use csv::{ByteRecord, QuoteStyle, Terminator, WriterBuilder};
use longshore_domain::job::JobError;
use longshore_domain::records::{CellKind, Extent, Span, TextEncoding, csv_records};
use longshore_domain::work_file::Entry;

use super::{ColumnLayout, Columns, NotAFailuresFile, key_of};
use crate::formula::original;
use crate::handler::CellReader;

/// A corrected file.
#[derive(Debug)]
pub struct CorrectedFile {
    bytes: Vec<u8>,
    columns: Columns,
    layout: ColumnLayout,
    /// Rows that are used, by number.
    pub(super) rows: Vec<Row>,
    /// Numbers that occur in several rows.
    pub(super) repeated: RowList,
    /// Rows that cannot be read, by their position in the file: the first line is 1.
    pub(super) unreadable: RowList,
}

/// Position of a row.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
pub(super) struct Row {
    /// Number of its item.
    pub(super) number: u64,
    start: u32,
    /// Equal to `start` for a row that cannot be read.
    end: u32,
}

/// Effect of a corrected file on a failed item.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Correction {
    /// The item has no unambiguous row in the file: it stays failed.
    Absent,
    /// The item could not be read from the source, and its row is unchanged from the report: processing the report's
    /// text would process another record.
    Unchanged,
    /// The item is processed again with this record, in the format of the job's file.
    As(String),
}

impl CorrectedFile {
    /// Parses a whole file. Rows of more than `item_bytes` count as unreadable.
    ///
    /// # Errors
    /// If the file lacks columns of a failures file of this job.
    pub fn parse(bytes: Vec<u8>, columns: Columns, item_bytes: u64) -> Result<Self, NotAFailuresFile> {
        if bytes.len() as u64 > super::CORRECTED_BYTES {
            return Err(NotAFailuresFile(format!("the file has more than {} MiB", super::CORRECTED_BYTES >> 20)));
        }
        let layout = ColumnLayout::find(&bytes, Extent::Whole, &columns)?;
        let (repeated, unreadable) = (RowList::default(), RowList::default());
        let mut file = Self { bytes, columns, layout, rows: Vec::new(), repeated, unreadable };
        file.index(item_bytes);
        file.remove_repeated();
        Ok(file)
    }

    /// Returns the encoding that was guessed; `None` for UTF-8.
    pub(super) fn guessed_encoding(&self) -> Option<TextEncoding> {
        Some(self.layout.encoding).filter(|encoding| !encoding.is_utf8())
    }

    /// Returns true if there is nothing below the first line.
    pub(super) fn has_no_rows(&self) -> bool {
        self.rows.is_empty() && self.repeated.is_empty() && self.unreadable.is_empty()
    }

    /// Returns the effect of the file on a failed item.
    pub fn correction(&self, entry: &Entry) -> Correction {
        let Ok(row) = self.rows.binary_search_by_key(&entry.n, |row| row.number) else { return Correction::Absent };
        let row = self.rows[row];
        let cells = self.cells(&self.bytes[row.start as usize..row.end as usize]);
        let reported = self.reported(&entry.raw);
        if entry.damaged && cells.iter().zip(&reported).all(|(cell, reported)| reported.is_shown_by(cell)) {
            return Correction::Unchanged;
        }
        let kept = |(cell, reported): (Vec<u8>, Reported)| if cell == reported.shown { reported.stored } else { cell };
        let cells: Vec<_> = cells.into_iter().zip(reported).map(kept).collect();
        Correction::As(self.record(&cells))
    }

    /// Records the position of each row.
    fn index(&mut self, item_bytes: u64) {
        let mut reader = CellReader::new(self.layout.dialect);
        let text = &self.bytes[self.layout.rows_from..];
        for (span, line) in csv_records(self.layout.dialect, text).zip(2..) {
            let content = span.content(text);
            match self.layout.number_of(content, &mut reader) {
                Numbered::Blank => {}
                Numbered::Unreadable => self.unreadable.add(line),
                Numbered::Row { number, whole } => {
                    let row = self.layout.row(number, span);
                    if whole && !span.unterminated && content.len() as u64 <= item_bytes {
                        self.rows.push(row);
                    } else {
                        self.unreadable.add(line);
                        self.rows.push(Row { end: row.start, ..row });
                    }
                }
            }
        }
    }

    /// Keeps only the rows that can be read and whose number is unique.
    fn remove_repeated(&mut self) {
        self.rows.sort_unstable();
        let mut kept = Vec::new();
        for rows in self.rows.chunk_by(|a, b| a.number == b.number) {
            match rows {
                [row] if row.start < row.end => kept.push(*row),
                [_] => {}
                [row, ..] => self.repeated.add(row.number),
                [] => {}
            }
        }
        self.rows = kept;
    }

    /// Returns the item's own cells in a row of the file, without the apostrophes that a report adds to formulas. Cells of
    /// CSV have their marks.
    fn cells(&self, row: &[u8]) -> Vec<Vec<u8>> {
        let mut reader = CellReader::new(self.layout.dialect);
        // The rows that are used can be decoded.
        let row = self.layout.decode(row).unwrap_or_default();
        let cells = reader.read(row.as_bytes());
        let cells: Vec<_> = match self.columns {
            Columns::Named(_) => cells.encoded().collect(),
            Columns::Raw | Columns::Key => cells.iter().collect(),
        };
        let cell = |column: &usize| original(cells.get(*column).copied().unwrap_or_default(), b',').into_owned();
        self.layout.own.iter().map(cell).collect()
    }

    /// Returns the item's own cells as in the report.
    fn reported(&self, raw: &str) -> Vec<Reported> {
        let same = |cell: &[u8]| Reported { shown: cell.to_vec(), stored: cell.to_vec() };
        match &self.columns {
            Columns::Raw => vec![same(raw.as_bytes())],
            Columns::Key => vec![same(key_of(raw.as_bytes()).as_bytes())],
            Columns::Named(names) => {
                let (mut reader, mut reported) = (CellReader::default(), Vec::new());
                let cells = reader.read(raw.as_bytes());
                Columns::rectangular(names.len(), cells.iter(), &mut |cell| reported.push(same(cell)));
                // The last cell of the report also has the surplus ones.
                let aligned = names.len() - usize::from(cells.len() > names.len());
                for (reported, stored) in reported.iter_mut().zip(cells.encoded()).take(aligned) {
                    reported.stored = stored.to_vec();
                }
                reported
            }
        }
    }

    /// Formats cells as a record in the format of the job's file.
    fn record(&self, cells: &[Vec<u8>]) -> String {
        let bytes = match (&self.columns, cells) {
            (Columns::Raw, [item]) => Cow::Borrowed(item.as_slice()),
            _ => Cow::Owned(csv_record(cells)),
        };
        // The row is UTF-8, so its cells are UTF-8.
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A cell of an item.
struct Reported {
    /// As in the report.
    shown: Vec<u8>,
    /// As in the item, with the mark of its kind.
    stored: Vec<u8>,
}

impl Reported {
    /// Returns true if a cell of the file shows the same, whatever type the spreadsheet gave it.
    fn is_shown_by(&self, cell: &[u8]) -> bool {
        CellKind::parse(cell).1 == self.shown
    }
}

/// A classified row of a file.
enum Numbered {
    /// An empty row, as spreadsheets append them.
    Blank,
    /// A row whose number cannot be read.
    Unreadable,
    /// A row of an item; `whole` if its cells can be read, too.
    Row { number: u64, whole: bool },
}

impl ColumnLayout {
    /// Returns the text of a row; `None` if it has none in the encoding of the file. A row of UTF-8 is one whatever was
    /// guessed: people copy rows from several files.
    fn decode<'a>(&self, row: &'a [u8]) -> Option<Cow<'a, str>> {
        std::str::from_utf8(row).map_or_else(|_| self.encoding.decode(row), |text| Some(text.into()))
    }

    fn number_of(&self, row: &[u8], reader: &mut CellReader) -> Numbered {
        let text = self.decode(row);
        let cells = reader.read(text.as_ref().map_or(row, |text| text.as_bytes()));
        if cells.iter().all(|cell| cell.trim_ascii().is_empty()) {
            return Numbered::Blank;
        }
        let digits = cells.iter().nth(self.number).unwrap_or_default().trim_ascii();
        let number = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(number) = number.and_then(|text| text.parse().ok()) else { return Numbered::Unreadable };
        // Cells beyond the last column: one of the item's own cells was split.
        let is_split = cells.iter().skip(self.width).any(|cell| !cell.is_empty());
        Numbered::Row { number, whole: !is_split && text.is_some() }
    }

    /// Returns a row after the first line; the file is smaller than 4 GiB.
    fn row(&self, number: u64, span: Span) -> Row {
        let start = self.rows_from + span.start as usize;
        let end = self.rows_from + span.content_end as usize;
        Row { number, start: start as u32, end: end as u32 }
    }
}

fn csv_record(cells: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .quote_style(QuoteStyle::Necessary)
        .terminator(Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    // Writing to a vector cannot fail.
    let _ = writer.write_byte_record(&ByteRecord::from_iter(cells));
    let mut record = writer.into_inner().unwrap_or_default();
    record.pop();
    record
}

/// Maximum number of row numbers in a message: enough to find the error, few enough to read.
const MAX_LISTED: usize = 5;

/// A count of rows, and the first few of them.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct RowList {
    count: u64,
    first: Vec<u64>,
}

impl RowList {
    pub(super) fn add(&mut self, number: u64) {
        self.count += 1;
        if self.first.len() < MAX_LISTED {
            self.first.push(number);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns an issue if there was any row: `1 row (7) …`, `12 rows (7, 8, …) …`.
    pub(super) fn issue(&self, code: &str, what: &str) -> Option<JobError> {
        let numbers: Vec<_> = self.first.iter().map(u64::to_string).collect();
        let (numbers, more) = (numbers.join(", "), if self.count > MAX_LISTED as u64 { ", …" } else { "" });
        let rows = if self.count == 1 { "row" } else { "rows" };
        (self.count > 0).then(|| JobError::new(code, format!("{} {rows} ({numbers}{more}) {what}", self.count)))
    }
}

#[cfg(test)]
#[path = "corrected_tests.rs"]
mod tests;
