//! A workbook with the results (Office Open XML), written row by row into temporary files.
//!
//! The bytes depend only on the rows, because the date in the file is fixed. The memory does not grow with the rows: the
//! library holds one row, and the sheets are in temporary files without a name, which end with the process.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::ops::RangeInclusive;

use longshore::result::lines_of;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook};

use super::members::ResultCells;
use super::result_rows::{ResultRows, text_of};
use crate::WorkbookError;

/// Rows of a sheet below its header.
/// <https://support.microsoft.com/en-us/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3>
const SHEET_ROWS: u32 = 1_048_575;

/// Digits of a number that a spreadsheet program keeps. A binary64 also keeps them.
const DIGITS: usize = 15;

/// Decimal exponents of the numbers that a spreadsheet program can hold.
const EXPONENTS: RangeInclusive<i64> = -300..=300;

/// A workbook that is being written.
pub(super) struct Sheets<'a> {
    cells: &'a mut ResultRows,
    workbook: Workbook,
    sheets: usize,
    /// Rows of the last sheet below its header.
    rows: u32,
    sheet_rows: u32,
}

/// A cell of a workbook.
#[derive(PartialEq, Debug)]
enum Cell<'a> {
    Empty,
    Boolean(bool),
    Number(f64),
    Text(Cow<'a, str>),
}

impl<'a> Sheets<'a> {
    pub(super) fn new(cells: &'a mut ResultRows) -> Result<Self, WorkbookError> {
        Self::with_sheet_rows(cells, SHEET_ROWS)
    }

    fn with_sheet_rows(cells: &'a mut ResultRows, sheet_rows: u32) -> Result<Self, WorkbookError> {
        let mut workbook = Workbook::new();
        let date = ExcelDateTime::from_ymd(2000, 1, 1)?;
        workbook.set_properties(&DocProperties::new().set_creation_datetime(&date));
        let mut sheets = Self { cells, workbook, sheets: 0, rows: 0, sheet_rows };
        sheets.add_sheet()?;
        Ok(sheets)
    }

    /// Starts a sheet with its header.
    fn add_sheet(&mut self) -> Result<(), WorkbookError> {
        let sheet = self.workbook.add_worksheet_with_constant_memory()?;
        self.sheets += 1;
        self.rows = 0;
        sheet.set_name(if self.sheets == 1 { "results".into() } else { format!("results {}", self.sheets) })?;
        for (column, heading) in (0..).zip(self.cells.headings()) {
            sheet.write_string(0, column, heading)?;
        }
        Ok(())
    }

    /// Appends a row for each line.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), WorkbookError> {
        for line in lines_of(lines) {
            if self.rows == self.sheet_rows {
                self.add_sheet()?;
            }
            self.rows += 1;
            let cells = self.cells.cells(line)?;
            self.append_row(&cells)?;
        }
        Ok(())
    }

    fn append_row<'b>(&mut self, ResultCells { number, values }: &ResultCells<'b>) -> Result<(), WorkbookError> {
        let (sheet, row) = (self.workbook.worksheet_from_index(self.sheets - 1)?, self.rows);
        let number = number.map(|number| number_cell(&number.to_string()));
        let has_columns = self.cells.has_columns();
        let value = |json: &Option<&'b str>| {
            if has_columns { cell(*json) } else { Cell::Text(json.unwrap_or_default().into()) }
        };
        let values = values.iter().map(value);
        for (column, cell) in (0..).zip(number.into_iter().chain(values)) {
            match cell {
                Cell::Empty => {}
                Cell::Boolean(value) => drop(sheet.write_boolean(row, column, value)?),
                Cell::Number(value) => drop(sheet.write_number(row, column, value)?),
                Cell::Text(text) => drop(sheet.write_string(row, column, text)?),
            }
        }
        Ok(())
    }

    /// Writes the workbook into a temporary file, and returns it.
    pub(super) fn save(mut self) -> Result<File, WorkbookError> {
        let mut file = BufWriter::new(tempfile::tempfile()?);
        self.workbook.save_to_writer(&mut file)?;
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    }
}

/// Returns the cell of a value: a string as text, and never as a formula; nested JSON as the handler wrote it.
fn cell(json: Option<&str>) -> Cell<'_> {
    match json {
        Some("true") => Cell::Boolean(true),
        Some("false") => Cell::Boolean(false),
        None | Some("null") => Cell::Empty,
        Some(number) if number.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => number_cell(number),
        json => Cell::Text(text_of(json)),
    }
}

/// Returns the cell of a number. One that a spreadsheet program would change is text, such as a long identifier.
fn number_cell<'a>(json: &str) -> Cell<'a> {
    match json.parse() {
        Ok(number) if is_kept(json) => Cell::Number(number),
        _ => Cell::Text(json.to_owned().into()),
    }
}

/// Returns true if a spreadsheet program keeps all digits of a JSON number.
fn is_kept(json: &str) -> bool {
    let (mantissa, exponent) = json.split_once(['e', 'E']).unwrap_or((json, "0"));
    let (whole, fraction) =
        mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let significant = digits.trim_matches('0').len();
    let Ok(exponent) = exponent.parse::<i32>() else { return significant == 0 };
    let magnitude = i64::from(exponent) + whole.len() as i64 - leading as i64 - 1;
    significant == 0 || (significant <= DIGITS && EXPONENTS.contains(&magnitude))
}

#[cfg(test)]
#[path = "workbook_tests.rs"]
mod tests;
