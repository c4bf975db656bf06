//! The failed items as a workbook, which every spreadsheet program opens, whatever its language is: it guesses no
//! delimiter, encoding or decimal separator, and changes no cell.
//!
//! The cells are those of the CSV file, as text, so that a corrected workbook is read like a corrected CSV file. The
//! workbook is the response of a call, so its size and the work are limited; larger files are downloaded as CSV. The
//! library keeps one row in memory, and the sheet in a temporary file.

use longshore::field_error::FieldError;
use longshore::http::Failure;
use longshore::problem::Problem;
use longshore_domain::ports::{Files, Read};
use memchr::memmem;
use rust_xlsxwriter::{Format, Workbook, XlsxError};

use super::rows::Rows;
use crate::output::stored::no_report;

/// Maximum size of the CSV file in bytes: about a second of work for one virtual CPU.
const CSV_BYTES: u64 = 8 << 20;

/// Maximum number of cells: more than a person corrects.
const CELLS: usize = 500_000;

/// Maximum number of texts such as `_x0041_`, each of which the library escapes by moving the rest of its cell.
const ESCAPES: usize = 10_000;

/// Maximum size of a workbook in bytes. A response has at most 6 MB, and is base64.
/// <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
const WORKBOOK_BYTES: usize = 4 << 20;

/// Maximum width of a column in characters. Messages are longer, and are shown in full when their cell is selected.
const COLUMN_CHARS: usize = 60;

/// The reason why there is no workbook.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoWorkbook {
    #[error("more than {} MiB of CSV", CSV_BYTES >> 20)]
    FileTooLarge,
    #[error("more than {CELLS} cells")]
    TooManyCells,
    #[error("a cell with more than 32,767 characters")]
    CellTooLong,
    #[error("more than {ESCAPES} texts such as _x0041_")]
    TooManyEscapes,
    #[error("a workbook of more than {} MiB", WORKBOOK_BYTES >> 20)]
    TooLarge,
    #[error(transparent)]
    Library(XlsxError),
}

impl From<XlsxError> for NoWorkbook {
    fn from(error: XlsxError) -> Self {
        if matches!(error, XlsxError::MaxStringLengthExceeded) { Self::CellTooLong } else { Self::Library(error) }
    }
}

impl From<NoWorkbook> for Failure {
    fn from(why: NoWorkbook) -> Self {
        if let NoWorkbook::Library(error) = why {
            return Self::Internal(error.into());
        }
        let detail = format!("the failed items do not fit in a workbook: {why}; use format=csv");
        Problem::invalid(vec![FieldError::new("/format", "failures_too_large", detail)]).into()
    }
}

/// Reads the CSV file of the failed items.
///
/// # Errors
/// If it no longer exists, or is too large.
pub(super) async fn read_csv(files: &impl Files, key: &str) -> Result<Vec<u8>, Failure> {
    loop {
        let info = files.info(key).await?.ok_or_else(no_report)?;
        if info.size_bytes > CSV_BYTES {
            return Err(NoWorkbook::FileTooLarge.into());
        }
        match files.read(key, Some(&info.etag), None).await? {
            Read::Found(csv) => return Ok(csv),
            Read::Absent => return Err(no_report().into()),
            // A retry has ended meanwhile.
            Read::Changed => {}
        }
    }
}

/// Returns a workbook with the rows of the CSV file.
///
/// # Errors
/// If a workbook, or a response, cannot contain them.
pub(super) fn workbook(mut csv: &[u8], has_sheet_row: bool) -> Result<Vec<u8>, NoWorkbook> {
    // The numbers of the item, and of its row in a sheet.
    let numbers = 1 + u16::from(has_sheet_row);
    if escapes(csv).nth(ESCAPES).is_some() {
        return Err(NoWorkbook::TooManyEscapes);
    }
    let mut workbook = Workbook::new();
    let bold = Format::new().set_bold();
    let sheet = workbook.add_worksheet_with_constant_memory()?.set_name("failed")?;
    sheet.set_freeze_panes(1, 0)?;
    let (mut rows, mut at, mut count) = (Rows::starting_at(0), 0, 0);
    let mut widths = Vec::new();
    while let Some(row) = rows.take(&mut csv) {
        let cells = row.whole_cells().ok_or(NoWorkbook::CellTooLong)?;
        count += cells.len();
        if count > CELLS {
            return Err(NoWorkbook::TooManyCells);
        }
        // Completion writes UTF-8.
        let texts = cells.iter().map(|cell| std::str::from_utf8(cell).unwrap_or_default());
        widths.resize(widths.len().max(cells.len()), 0);
        for ((column, text), width) in (0..).zip(texts).zip(&mut widths) {
            *width = text.chars().take(COLUMN_CHARS).count().max(*width);
            match (at, column) {
                (0, _) => _ = sheet.write_string_with_format(at, column, text, &bold)?,
                _ if text.is_empty() => {}
                (_, column) => match text.parse::<u32>() {
                    Ok(number) if column < numbers => _ = sheet.write_number(at, column, number)?,
                    _ => _ = sheet.write_string(at, column, text)?,
                },
            }
        }
        at += 1;
    }
    for (column, chars) in (0..).zip(widths) {
        // One character more for the margins.
        sheet.set_column_width(column, chars as f64 + 1.0)?;
    }
    let workbook = workbook.save_to_buffer()?;
    if workbook.len() > WORKBOOK_BYTES { Err(NoWorkbook::TooLarge) } else { Ok(workbook) }
}

/// Returns the offsets of texts that a workbook escapes.
fn escapes(csv: &[u8]) -> impl Iterator<Item = usize> {
    memmem::find_iter(csv, b"_x").filter(|at| csv.get(at + 6) == Some(&b'_'))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::ops::ControlFlow;

    use longshore_workbooks::{CellContent, Limits, SheetChoice, Workbook};

    use super::*;

    fn rows_of(workbook: Vec<u8>) -> Vec<Vec<CellContent>> {
        let mut workbook = Workbook::open(Cursor::new(workbook), Limits::default()).unwrap();
        let mut rows = Vec::new();
        workbook
            .for_each_row(&SheetChoice::FirstVisible, 10, |row| {
                rows.push(row.cells.iter().map(|cell| cell.clone().unwrap()).collect());
                ControlFlow::Continue(())
            })
            .unwrap();
        rows
    }

    #[test]
    fn cells_are_texts_as_in_the_file_and_the_number_is_one() {
        let csv = "row,id,'=note,code,field,message\r\n7,007,\"two\r\nlines\",c,,\"m, n\"\r\n8,1.50,''=1,c,,\r\n";
        let rows = rows_of(workbook(csv.as_bytes(), false).unwrap());
        let text = |text: &str| CellContent::Text(text.into());
        assert_eq!(rows[0], ["row", "id", "'=note", "code", "field", "message"].map(text));
        let number = CellContent::Number("7".into());
        assert_eq!(rows[1], [number, text("007"), text("two\r\nlines"), text("c"), text(""), text("m, n")]);
        assert_eq!(rows[2][1..], [text("1.50"), text("''=1"), text("c")]);
    }

    #[test]
    fn the_row_of_a_sheet_is_a_number_and_a_column_of_that_name_is_not() {
        let csv = "row,sheet_row,code,field,message\r\n7,9,c,,m\r\n8,,c,,m\r\n";
        for (has_sheet_row, expected) in
            [(true, CellContent::Number("9".into())), (false, CellContent::Text("9".into()))]
        {
            let bytes = workbook(csv.as_bytes(), has_sheet_row).unwrap();
            assert_eq!(rows_of(bytes)[1][1], expected, "{has_sheet_row}");
        }
    }

    #[test]
    fn what_no_workbook_or_response_holds_is_refused() {
        let refusal = |rows: String| {
            let csv = format!("row,id,code,field,message\r\n{rows}");
            workbook(csv.as_bytes(), false).err().map(|error| error.to_string())
        };
        assert_eq!(refusal("1,x,c,,m\r\n".to_owned()), None);
        let cells = "a cell with more than 32,767 characters";
        for length in [40_000, 2 << 20] {
            assert_eq!(refusal(format!("1,{},c,,m\r\n", "x".repeat(length))).as_deref(), Some(cells), "{length}");
        }
        assert_eq!(refusal("1,,c,,m\r\n".repeat(CELLS / 5 + 1)).as_deref(), Some("more than 500000 cells"));
        let escapes = format!("1,{},c,,m\r\n", "_x0041_".repeat(4_000)).repeat(3);
        assert_eq!(refusal(escapes).as_deref(), Some("more than 10000 texts such as _x0041_"));
        // Characters that hardly compress.
        let mut state = 1_u64;
        let mut character = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b' ' + (state >> 33) as u8 % 90).to_ascii_lowercase()
        };
        let rows = (0..7_000).map(|n| {
            let text: String = (0..1_000).map(|_| character()).filter(|c| *c != '"').collect();
            format!("{n},\"{text}\",c,,m\r\n")
        });
        assert_eq!(refusal(rows.collect()).as_deref(), Some("a workbook of more than 4 MiB"));
    }
}
