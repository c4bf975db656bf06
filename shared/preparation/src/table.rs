//! A sheet of a workbook as CSV.

use std::io::{Read, Seek, Write};
use std::ops::ControlFlow;

use longshore_workbooks::{CellValue, Row, SheetChoice, Workbook};

use crate::error::PreparationError;
use crate::limits::Limits;

/// The character before the reason of a cell without a usable value, such as `#N/A`. It is no character: the Unicode
/// Standard reserves it for use within a program ([section 23.7](https://www.unicode.org/versions/latest/)).
pub const CELL_ERROR: char = '\u{fdd0}';

/// Writes the rows of a sheet as CSV in UTF-8, with commas. Returns the name of the sheet, and the numbers of the rows in
/// it, as steps from the one before.
pub(crate) fn sheet(
    file: impl Read + Seek,
    choice: &SheetChoice,
    limits: &Limits,
    sink: &mut impl Write,
) -> Result<(String, Vec<u8>), PreparationError> {
    let mut workbook = Workbook::open(file, limits.workbook)?;
    let name = workbook.sheet(choice)?.name.clone();
    let (mut line, mut failed, mut steps, mut last) = (Vec::new(), None, Vec::new(), 0);
    workbook.for_each_row(choice, limits.columns, |row: &Row| {
        line.clear();
        append_row(&row.cells, &mut line);
        push_step(row.number - last, &mut steps);
        last = row.number;
        match sink.write_all(&line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok((name, steps)),
    }
}

fn append_row(cells: &[CellValue], line: &mut Vec<u8>) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        match cell {
            Ok(text) => append_cell(text, line),
            Err(error) => append_cell(&format!("{CELL_ERROR}{error}"), line),
        }
    }
    line.extend_from_slice(b"\r\n");
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

/// Appends a step in LEB128.
fn push_step(mut step: u32, steps: &mut Vec<u8>) {
    while step >= 0x80 {
        steps.push((step & 0x7f) as u8 | 0x80);
        step >>= 7;
    }
    steps.push(step as u8);
}
