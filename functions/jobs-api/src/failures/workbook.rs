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
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, XlsxError};

use super::rows::{Row, Rows};
use crate::output::stored::no_report;

/// Media type of a workbook.
pub(super) const WORKBOOK: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Maximum size of the CSV file in bytes, and of its cells: about a second of work, and more than a person corrects.
const CSV_BYTES: u64 = 8 << 20;
const CELLS: usize = 500_000;

/// Maximum size of a workbook in bytes. A response has at most 6 MB, and is base64.
/// <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
const WORKBOOK_BYTES: usize = 4 << 20;

/// Returns the failed items of this CSV file, or only its header, as a workbook.
///
/// # Errors
/// If the file no longer exists, or has more than a workbook can contain.
pub(super) async fn workbook(files: &impl Files, key: Option<&str>, no_rows: &str) -> Result<Vec<u8>, Failure> {
    let csv = match key {
        None => no_rows.as_bytes().to_vec(),
        Some(key) => {
            let info = files.info(key).await?.ok_or_else(no_report)?;
            if info.size_bytes > CSV_BYTES {
                return Err(too_large(&format!("more than {} MiB", CSV_BYTES >> 20)).into());
            }
            match files.read(key, Some(&info.etag), None).await? {
                Read::Found(csv) => csv,
                Read::Absent | Read::Changed => return Err(no_report().into()),
            }
        }
    };
    let workbook = match write(&csv) {
        Err(XlsxError::IoError(error)) => return Err(Failure::Internal(error.into())),
        Err(error) => return Err(too_large(&error.to_string()).into()),
        Ok(None) => return Err(too_large(&format!("more than {CELLS} cells")).into()),
        Ok(Some(workbook)) => workbook,
    };
    if workbook.len() > WORKBOOK_BYTES {
        return Err(too_large(&format!("a workbook of more than {} MiB", WORKBOOK_BYTES >> 20)).into());
    }
    Ok(workbook)
}

/// Returns the workbook; `None` if there are too many cells.
fn write(mut csv: &[u8]) -> Result<Option<Vec<u8>>, XlsxError> {
    let mut workbook = Workbook::new();
    // The bytes depend only on the rows.
    let date = ExcelDateTime::from_ymd(2000, 1, 1)?;
    workbook.set_properties(&DocProperties::new().set_creation_datetime(&date));
    let bold = Format::new().set_bold();
    let sheet = workbook.add_worksheet_with_constant_memory()?.set_name("failed")?;
    sheet.set_freeze_panes(1, 0)?;
    let (mut rows, mut number, mut cells) = (Rows::starting_at(0), 0, 0);
    while let Some(row) = rows.take(&mut csv) {
        cells += row.whole_cells().map_or(0, <[_]>::len);
        if cells > CELLS {
            return Ok(None);
        }
        for (column, cell) in (0..).zip(texts(&row)?) {
            match cell.parse::<u32>() {
                _ if number == 0 => sheet.write_string_with_format(number, column, cell, &bold)?,
                // The numbers of the item and of its row in a sheet.
                Ok(count) if column == 0 => sheet.write_number(number, column, count)?,
                _ if cell.is_empty() => continue,
                _ => sheet.write_string(number, column, cell)?,
            };
        }
        number += 1;
    }
    workbook.save_to_buffer().map(Some)
}

/// Returns the cells of a row.
fn texts(row: &Row) -> Result<impl Iterator<Item = &str>, XlsxError> {
    match row.whole_cells() {
        // Completion writes UTF-8.
        Some(cells) => Ok(cells.iter().map(|cell| std::str::from_utf8(cell).unwrap_or_default())),
        None => Err(XlsxError::MaxStringLengthExceeded),
    }
}

fn too_large(why: &str) -> Problem {
    let detail = format!("the failed items do not fit in a workbook of this API: {why}; use format=csv");
    Problem::invalid(vec![FieldError::new("/format", "workbook_too_large", detail)])
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::ops::ControlFlow;

    use longshore_workbooks::{CellContent, Limits, SheetChoice, Workbook};

    use super::*;

    #[test]
    fn cells_are_texts_as_in_the_file_and_the_number_is_one() {
        let csv = "row,id,'=note,code,field,message\r\n7,007,\"two\r\nlines\",c,,\"m, n\"\r\n8,1.50,''=1,c,,\r\n";
        let bytes = write(csv.as_bytes()).unwrap().unwrap();
        let mut workbook = Workbook::open(Cursor::new(bytes), Limits::default()).unwrap();
        let mut rows = Vec::new();
        let choice = SheetChoice::FirstVisible;
        workbook
            .for_each_row(&choice, 10, |row| {
                rows.push(row.cells.iter().map(|cell| cell.clone().unwrap()).collect::<Vec<_>>());
                ControlFlow::Continue(())
            })
            .unwrap();
        let text = |text: &str| CellContent::Text(text.into());
        assert_eq!(rows[0], ["row", "id", "'=note", "code", "field", "message"].map(text));
        let number = CellContent::Number("7".into());
        assert_eq!(rows[1], [number, text("007"), text("two\r\nlines"), text("c"), text(""), text("m, n")]);
        assert_eq!(rows[2][1..], [text("1.50"), text("''=1"), text("c")]);
        assert!(write(csv.as_bytes()).unwrap() == write(csv.as_bytes()).unwrap(), "the bytes depend on the rows only");
    }

    #[test]
    fn a_cell_that_no_workbook_holds_is_refused() {
        assert!(write(b"row,id,code,field,message\r\n1,x,c,,m\r\n").is_ok());
        let many = "1,,c,,m\r\n".repeat(CELLS / 5 + 1);
        assert_eq!(write(many.as_bytes()).unwrap(), None);
        for length in [40_000, 2 << 20] {
            let csv = format!("row,id,code,field,message\r\n1,{},c,,m\r\n", "x".repeat(length));
            assert!(matches!(write(csv.as_bytes()), Err(XlsxError::MaxStringLengthExceeded)), "{length}");
        }
    }
}
