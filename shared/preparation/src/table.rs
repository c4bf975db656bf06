//! A sheet of a workbook as CSV.

use std::borrow::Cow;
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;

use longshore_domain::records::CellKind;
use longshore_workbooks::{CellContent, CellValue, Row, Sheet, SheetChoice, Workbook};

use crate::convert::{FoundSheet, LISTED_SHEETS, Prepared, shown_name};
use crate::error::PreparationError;
use crate::limits::Limits;

/// Rows and bytes that are read before the first row is written.
const FIRST_ROWS: usize = 1_000;
const FIRST_BYTES: usize = 1 << 20;

/// Writes the rows of a sheet as CSV in UTF-8, with commas. A sheet has no cells where a row ends early, and a header
/// can be shorter than the rows, so each row gets empty cells up to the width of the widest one among the first. Rows
/// of empty texts are left out, as rows without cells are. What is known of the sheet goes to `prepared`.
pub(crate) fn sheet(
    file: impl Read + Seek,
    choice: &SheetChoice,
    limits: &Limits,
    sink: &mut impl Write,
    prepared: &mut Prepared,
) -> Result<(), PreparationError> {
    let mut workbook = Workbook::open(file, limits.workbook)?;
    let found = |sheet: &Sheet| FoundSheet { name: shown_name(&sheet.name), is_hidden: !sheet.is_visible };
    prepared.sheets = workbook.sheets().iter().take(LISTED_SHEETS).map(found).collect();
    prepared.sheet = Some(shown_name(&workbook.sheet(choice)?.name));
    let mut table = Table { sink, first: Some(Vec::new()), first_bytes: 0, width: 0, line: Vec::new() };
    let mut failed = None;
    let merged = workbook.for_each_row(choice, limits.columns, |row: &Row| {
        if row.is_truncated {
            failed = Some(PreparationError::TooManyColumns(limits.columns).into());
            return ControlFlow::Break(());
        }
        if row.cells.iter().all(|cell| cell.as_deref() == Ok("")) {
            return ControlFlow::Continue(());
        }
        prepared.row_steps.push(row.number);
        prepared.hidden_rows += u32::from(row.is_hidden);
        match table.push(&row.cells) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    prepared.merged_ranges = merged;
    Ok(failed.map_or_else(|| table.write_first(), Err)?)
}

/// A writer of rows, of which the first are kept until their width is known.
struct Table<'a, W> {
    sink: &'a mut W,
    /// The first rows; `None` once they are written.
    first: Option<Vec<Vec<CellValue>>>,
    first_bytes: usize,
    width: usize,
    line: Vec<u8>,
}

impl<W: Write> Table<'_, W> {
    fn push(&mut self, cells: &[CellValue]) -> io::Result<()> {
        let Some(first) = &mut self.first else { return self.write(cells) };
        self.width = self.width.max(cells.len());
        let texts = cells.iter().map(|cell| cell.as_ref().map_or(0, |content| content.len()));
        self.first_bytes += texts.sum::<usize>() + size_of_val(cells);
        first.push(cells.to_vec());
        if first.len() < FIRST_ROWS && self.first_bytes < FIRST_BYTES { Ok(()) } else { self.write_first() }
    }

    fn write_first(&mut self) -> io::Result<()> {
        self.first.take().unwrap_or_default().iter().try_for_each(|cells| self.write(cells))
    }

    fn write(&mut self, cells: &[CellValue]) -> io::Result<()> {
        self.line.clear();
        append_row(cells, self.width, &mut self.line);
        self.sink.write_all(&self.line)
    }
}

fn append_row(cells: &[CellValue], width: usize, line: &mut Vec<u8>) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        append_cell(&encode_cell(cell), line);
    }
    line.resize(line.len() + width.saturating_sub(cells.len()), b',');
    line.extend_from_slice(b"\r\n");
}

/// Returns the text of a cell, with the mark of its kind if the text alone does not tell its value. An integer is the
/// same in every notation.
fn encode_cell(cell: &CellValue) -> Cow<'_, str> {
    match cell {
        Ok(CellContent::Number(number)) if number.contains('.') => CellKind::Number.encode(number),
        Ok(content) => CellKind::Text.encode(content),
        Err(error) => CellKind::Error(&error.to_string()).encode(error.shown()).into_owned().into(),
    }
}

fn append_cell(text: &str, line: &mut Vec<u8>) {
    line.push(b'"');
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            line.extend_from_slice(b"\"\"");
        }
        line.extend_from_slice(part.as_bytes());
    }
    line.push(b'"');
}
