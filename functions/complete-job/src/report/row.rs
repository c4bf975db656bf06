//! One row of a report: the item's own cells, made rectangular and safe against CSV injection.
//!
//! Users open these files in a spreadsheet, fix them and upload them again. Therefore, every row has as many cells as
//! the header and the complete original row, and no cell from the input can be interpreted as a formula.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use csv::ByteRecord;
use longshore::failures_file::{Columns, SHEET_ROW, free_name, key_of};
use longshore::formula::harmless;
use longshore::handler::CellReader;
use longshore_domain::records::CellKind;
use longshore_domain::sheet_rows::ItemRows;
use longshore_tabular::push_cell;
use memchr::{memchr_iter, memchr3};

/// Writes rows one after the other, with reused buffers.
pub(crate) struct RowBuilder {
    columns: Columns,
    /// The rows of the sheet, for a job over a workbook.
    sheet: Option<Arc<ItemRows>>,
    cells: CellReader,
    record: ByteRecord,
}

impl RowBuilder {
    pub(crate) fn new(columns: Columns, sheet: Option<Arc<ItemRows>>) -> Self {
        Self { columns, sheet, cells: CellReader::default(), record: ByteRecord::new() }
    }

    /// Appends the header as CSV; see [`RowBuilder::header`].
    pub(crate) fn append_header(&mut self, out: &mut Vec<u8>, report_columns: &[&str]) {
        push_record(out, self.header(report_columns));
    }

    /// Appends a row as CSV; see [`RowBuilder::row`]. A row without changed cells is copied verbatim.
    pub(crate) fn append(&mut self, out: &mut Vec<u8>, number: u64, raw: &[u8], report_cells: &[&str]) {
        match &self.columns {
            Columns::Named(names) if report_cells.is_empty() && is_verbatim(raw, names.len()) => {
                push_number(out, number);
                if let Some(sheet) = &self.sheet {
                    out.push(b',');
                    out.extend_from_slice(sheet_row(sheet, number).as_bytes());
                }
                out.push(b',');
                out.extend_from_slice(raw);
                out.extend_from_slice(b"\r\n");
            }
            _ => push_record(out, self.row(number, raw, report_cells)),
        }
    }

    /// Builds the header: the item's number, its row in a sheet, its own columns, and the report columns. The name of a
    /// report column gets a number if the file already has a column with this name (a fixed and re-uploaded report has
    /// all of them), because two columns with the same name are refused.
    fn header(&mut self, report_columns: &[&str]) -> &ByteRecord {
        let own = self.columns.own();
        self.record.clear();
        self.record.push_field(self.columns.number().as_bytes());
        if self.sheet.is_some() {
            self.record.push_field(free_name(SHEET_ROW, &own).as_bytes());
        }
        own.iter().for_each(|name| push_safe(&mut self.record, name.as_bytes()));
        report_columns.iter().for_each(|name| self.record.push_field(free_name(name, &own).as_bytes()));
        &self.record
    }

    /// Builds a row: the item's number, its row in a sheet, its cells from `raw`, and the report columns. Missing cells
    /// are empty; surplus cells are appended to the last cell, joined by commas. Invalid UTF-8 becomes U+FFFD.
    fn row(&mut self, number: u64, raw: &[u8], report_cells: &[&str]) -> &ByteRecord {
        self.record.clear();
        self.record.push_field(number.to_string().as_bytes());
        if let Some(sheet) = &self.sheet {
            self.record.push_field(sheet_row(sheet, number).as_bytes());
        }
        let text = String::from_utf8_lossy(raw);
        match &self.columns {
            Columns::Raw => push_safe(&mut self.record, text.as_bytes()),
            Columns::Key => push_safe(&mut self.record, key_of(raw).as_bytes()),
            Columns::Named(names) => {
                let cells = self.cells.read(text.as_bytes());
                Columns::rectangular(names.len(), cells.iter(), &mut |cell| push_safe(&mut self.record, cell));
            }
        }
        report_cells.iter().for_each(|cell| push_safe(&mut self.record, cell.as_bytes()));
        &self.record
    }
}

/// Returns the row of an item in its sheet; empty if it is not known.
fn sheet_row(sheet: &ItemRows, number: u64) -> String {
    sheet.row_of(number).map(|row| row.to_string()).unwrap_or_default()
}

/// Returns true if this record can be copied verbatim: UTF-8, as many cells as columns, nothing to quote or unquote, no
/// formula, no byte order mark, no mark of a kind.
fn is_verbatim(raw: &[u8], columns: usize) -> bool {
    if raw.is_empty() || raw[0] == 0xEF || memchr3(b'"', b'\n', b'\r', raw).is_some() {
        return false;
    }
    let (mut start, mut cells) = (0, 1);
    for comma in memchr_iter(b',', raw) {
        if !is_harmless(&raw[start..comma]) {
            return false;
        }
        (start, cells) = (comma + 1, cells + 1);
    }
    cells == columns && is_harmless(&raw[start..]) && std::str::from_utf8(raw).is_ok()
}

fn is_harmless(cell: &[u8]) -> bool {
    CellKind::parse(cell).0 == CellKind::Text && matches!(harmless(cell, b','), Cow::Borrowed(_))
}

fn push_number(out: &mut Vec<u8>, number: u64) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}

/// Appends a record as CSV.
fn push_record(out: &mut Vec<u8>, record: &ByteRecord) {
    for (i, cell) in record.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        push_cell(out, cell, b',');
    }
    out.extend_from_slice(b"\r\n");
}

fn push_safe(record: &mut ByteRecord, cell: &[u8]) {
    record.push_field(&harmless(cell, b','));
}

#[cfg(test)]
#[path = "row_tests.rs"]
mod tests;
