//! The rows of `failed.csv`, and the failed items that they contain.
//!
//! The file is read row by row from blocks of any size; the byte offset at which each row ends is tracked. Memory: for
//! one row, the item's own cells up to a limit, and its report columns. A longer row is read to its end, and only its
//! report columns are kept.

use csv_core::{ReadFieldResult, Reader};
use longshore::failures_file::REPORT_COLUMNS;
use longshore::formula::original;
use longshore_domain::job::Job;
use longshore_domain::records::Format;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Maximum bytes of a row's cells that are kept. A page is full after a few hundred such rows.
const KEPT_BYTES: usize = 1 << 20;

/// Report cells after the item's own cells: code, field and message. They are kept regardless of the length of the row.
const AFTER: usize = REPORT_COLUMNS.len();

/// Maximum size in bytes of an item on a page.
const ITEM_BYTES: usize = 1 << 20;

/// The file is not in the format that completion writes.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("failed.csv is damaged")]
pub(super) struct Damaged;

/// The cells of one row, as stored in the file.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Row {
    /// Cells of the row. If the row was too long, some of the item's own cells are empty.
    cells: Vec<Vec<u8>>,
    /// `true` if the row was too long.
    cut: bool,
    kept: usize,
    /// `true` if the last cell alone is too long.
    dropping: bool,
}

impl Row {
    /// Returns the cells; `None` if some were dropped because the row is too long.
    pub(super) fn whole_cells(&self) -> Option<&[Vec<u8>]> {
        (!self.cut).then_some(&self.cells)
    }

    fn begin_cell(&mut self) {
        self.cells.push(Vec::new());
        self.dropping = false;
    }

    /// Adds bytes to the last cell. If the row is too long, drops the item's own cells and keeps the number and the
    /// last cells.
    fn push(&mut self, bytes: &[u8]) {
        let last = self.cells.len().saturating_sub(1);
        let Some(cell) = self.cells.get_mut(last).filter(|_| !self.dropping) else { return };
        cell.extend_from_slice(bytes);
        self.kept += bytes.len();
        if cell.len() > KEPT_BYTES {
            self.dropping = true;
            self.drop_cell(last);
        }
        let mut own = 1..(last + 1).saturating_sub(AFTER);
        while self.kept > KEPT_BYTES
            && let Some(own) = own.next()
        {
            self.drop_cell(own);
        }
    }

    fn drop_cell(&mut self, cell: usize) {
        let dropped = self.cells.get_mut(cell).map(std::mem::take).unwrap_or_default();
        self.kept -= dropped.len();
        self.cut = true;
    }
}

/// A parser of a file's rows.
pub(super) struct Rows {
    core: Reader,
    row: Row,
    begun: bool,
    /// Offset of the next unread byte: the start of a row, or a position within the current one.
    offset: u64,
}

impl Rows {
    /// Starts at a byte offset at which a row begins.
    pub(super) fn starting_at(offset: u64) -> Self {
        Self { core: Reader::new(), row: Row::default(), begun: false, offset }
    }

    /// Returns the offset up to which the file was read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Consumes bytes up to the end of a row, and returns the row if it is complete.
    pub(super) fn take(&mut self, input: &mut &[u8]) -> Option<Row> {
        let mut text = [0; 4096];
        while !input.is_empty() {
            let (result, read, wrote) = self.core.read_field(input, &mut text);
            *input = &input[read..];
            self.offset += read as u64;
            if wrote > 0 || matches!(result, ReadFieldResult::Field { .. }) {
                if !self.begun {
                    self.begun = true;
                    self.row.begin_cell();
                }
                self.row.push(&text[..wrote]);
            }
            if let ReadFieldResult::Field { record_end } = result {
                self.begun = false;
                if record_end {
                    return Some(std::mem::take(&mut self.row));
                }
            }
        }
        None
    }
}

/// A page of failed items.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Failures)]
pub struct FailuresDocument {
    /// Failed items, in the order of the file.
    pub failures: Vec<FailureDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// A failed item.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = Failure)]
pub struct FailureDocument {
    /// Number of the item in the input, from 1.
    #[schema(minimum = 1)]
    pub number: u64,
    /// Row of the sheet; `null` if the input is no workbook.
    #[serde(rename = "sheetRow")]
    #[schema(required = true)]
    pub sheet_row: Option<u32>,
    /// Stable error code in snake case.
    pub code: String,
    /// Column or property with the error; `null` if the error concerns the whole item.
    #[schema(required = true)]
    pub field: Option<String>,
    /// Error message for people.
    pub message: String,
    /// The original item. For CSV: an object with each cell by its column. For JSON Lines: the value of the line, or
    /// its text if it is not JSON. `null` if it is larger than 1 MiB: download the CSV file instead.
    #[schema(required = true)]
    pub row: Option<Value>,
}

/// Layout of a job's items in its report.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct ItemLayout {
    /// True if the row of a sheet follows the number.
    has_sheet_row: bool,
    cells: ItemCells,
}

/// The item's own cells.
#[derive(Clone, Eq, PartialEq, Debug)]
enum ItemCells {
    /// One cell for each of these columns.
    Columns(Vec<String>),
    /// One cell with JSON.
    Json,
}

impl ItemLayout {
    /// Reads the layout from the header of a job's `failed.csv`.
    pub(super) fn new(job: &Job, header: &Row) -> Result<Self, Damaged> {
        let has_sheet_row = job.is_over_sheet();
        let mut layout = Self { has_sheet_row, cells: ItemCells::Json };
        if job.record_format().map_or(job.dataset().is_some(), |format| format == Format::Csv) {
            layout.cells = ItemCells::Columns(layout.own(header)?.iter().map(|cell| text(cell)).collect());
        }
        Ok(layout)
    }

    /// Returns the number of cells before the item's own: the number, and the row of a sheet.
    fn before(&self) -> usize {
        1 + usize::from(self.has_sheet_row)
    }

    /// Returns the item's own cells.
    fn own<'a>(&self, row: &'a Row) -> Result<&'a [Vec<u8>], Damaged> {
        let end = row.cells.len().checked_sub(AFTER).ok_or(Damaged)?;
        row.cells.get(self.before()..end).ok_or(Damaged)
    }

    /// Converts a row to a failed item.
    pub(super) fn failure(&self, row: &Row) -> Result<FailureDocument, Damaged> {
        let own = self.own(row)?;
        let report_cell =
            |n: usize| row.cells.get(self.before() + own.len() + n).map(|cell| text(cell)).unwrap_or_default();
        let sheet_row = row.cells.get(1).filter(|_| self.has_sheet_row);
        let number = row.cells.first().and_then(|cell| text(cell).parse().ok()).ok_or(Damaged)?;
        let value = if row.cut { None } else { Some(self.value(own)?) };
        let value = value.filter(|value| value.to_string().len() <= ITEM_BYTES);
        Ok(FailureDocument {
            number,
            sheet_row: sheet_row.and_then(|cell| text(cell).parse().ok()),
            code: report_cell(0),
            field: Some(report_cell(1)).filter(|field| !field.is_empty()),
            message: report_cell(2),
            row: value,
        })
    }

    fn value(&self, own: &[Vec<u8>]) -> Result<Value, Damaged> {
        match &self.cells {
            ItemCells::Json => {
                let item = own.first().map(|cell| text(cell)).ok_or(Damaged)?;
                Ok(serde_json::from_str(&item).unwrap_or(Value::String(item)))
            }
            ItemCells::Columns(columns) if columns.len() == own.len() => {
                let cells = own.iter().map(|cell| Value::String(text(cell)));
                Ok(Value::Object(columns.iter().cloned().zip(cells).collect::<Map<_, _>>()))
            }
            ItemCells::Columns(_) => Err(Damaged),
        }
    }
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(&original(cell, b',')).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(row: &Row) -> Vec<String> {
        row.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    }

    const FILE: &str = "row,a,b,code,field,message\r\n1,\"x\r\ny\",\"say \"\"hi\"\"\",c,,m\r\n22,,,d,e,\"\"\r\n";

    fn all(block_bytes: usize, start: u64) -> Vec<(Vec<String>, u64)> {
        let (mut rows, mut found) = (Rows::starting_at(start), Vec::new());
        for mut block in FILE.as_bytes()[start as usize..].chunks(block_bytes) {
            while let Some(row) = rows.take(&mut block) {
                found.push((texts(&row), rows.offset()));
            }
        }
        found
    }

    #[test]
    fn rows_are_the_same_for_any_block_size_and_from_any_start_of_a_row() {
        let whole = all(1_000, 0);
        let rows: Vec<_> = whole.iter().map(|(row, _)| row.join("|")).collect();
        assert_eq!(rows, ["row|a|b|code|field|message", "1|x\r\ny|say \"hi\"|c||m", "22|||d|e|"]);
        for block_bytes in 1..60 {
            assert_eq!(all(block_bytes, 0), whole, "blocks of {block_bytes}");
            for (n, (_, end)) in whole.iter().enumerate() {
                assert_eq!(all(block_bytes, *end), whole[n + 1..], "from {end} in blocks of {block_bytes}");
            }
        }
    }

    #[test]
    fn number_and_report_columns_of_a_too_long_row_are_kept() {
        let long = "x".repeat(KEPT_BYTES);
        for (row, expected) in [
            (format!("7,{long},b,c,f,m\r\n"), "7||b|c|f|m"),
            (format!("7,a,{long},c,f,m\r\n"), "7|||c|f|m"),
            (format!("7,{long}{long},b,c,f,m\r\n"), "7||b|c|f|m"),
        ] {
            let read = Rows::starting_at(0).take(&mut row.as_bytes()).unwrap();
            assert_eq!((texts(&read).join("|").as_str(), read.cut), (expected, true));
        }
    }
}
