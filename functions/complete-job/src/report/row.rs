//! One row of a report: the item's own cells, made rectangular and harmless.
//!
//! People open these files in a spreadsheet, mend them and upload them again. So every row has as many cells as the
//! header, nothing of the original row is lost, and no cell that came from outside can be taken for a formula.

use csv::ByteRecord;
use longshore::failures_file::{Columns, free_name};
use longshore::formula::harmless;
use longshore::handler::CellReader;

/// Writes one row after the other into one record that is used again.
pub(crate) struct RowBuilder {
    columns: Columns,
    cells: CellReader,
    record: ByteRecord,
}

impl RowBuilder {
    pub(crate) fn new(columns: Columns) -> Self {
        Self { columns, cells: CellReader::default(), record: ByteRecord::new() }
    }

    /// The header: the item's number, its own columns, and what is said of it. A name of ours that is taken by the
    /// file (a report that was mended and uploaded again has them all) gets a number: two columns of one name are refused.
    pub(crate) fn header(&mut self, said: &[&str]) -> &ByteRecord {
        let own = self.columns.own();
        self.record.clear();
        self.record.push_field(self.columns.number().as_bytes());
        own.iter().for_each(|name| push_safe(&mut self.record, name.as_bytes()));
        said.iter().for_each(|name| self.record.push_field(free_name(name, &own).as_bytes()));
        &self.record
    }

    /// A row: the item's number, its cells out of `raw`, and what is said of it. Missing cells are empty; surplus
    /// ones go into the last cell, joined by commas. Not UTF-8 shows as U+FFFD.
    pub(crate) fn row(&mut self, number: u64, raw: &[u8], said: &[&str]) -> &ByteRecord {
        self.record.clear();
        self.record.push_field(number.to_string().as_bytes());
        let text = String::from_utf8_lossy(raw);
        match &self.columns {
            Columns::Raw => push_safe(&mut self.record, text.as_bytes()),
            Columns::Named(names) => {
                let cells = self.cells.read(text.as_bytes());
                Columns::rectangular(names.len(), cells.iter(), &mut |cell| push_safe(&mut self.record, cell));
            }
        }
        said.iter().for_each(|cell| push_safe(&mut self.record, cell.as_bytes()));
        &self.record
    }
}

fn push_safe(record: &mut ByteRecord, cell: &[u8]) {
    record.push_field(&harmless(cell));
}

#[cfg(test)]
#[path = "row_tests.rs"]
mod tests;
