//! One CSV file of a report (RFC 4180, `\r\n`): the rows of the items that failed, were skipped, or have not ended.

use longshore_domain::ports::{Files, MultipartFiles};

use super::parts::{FileKeys, PartWriter, SavedFile, Written};
use super::row::RowBuilder;
use crate::CompleteError;

/// Media type of CSV.
pub(super) const CSV: &str = "text/csv; charset=utf-8";

/// A CSV file that is being written. Buffers less than a part, plus the rows of one chunk.
pub(super) struct Table<'a, F> {
    file: PartWriter<'a, F>,
    rows: RowBuilder,
    /// Names of the columns after the item's own.
    report_columns: &'static [&'static str],
}

impl<'a, F: Files + MultipartFiles> Table<'a, F> {
    pub(super) fn new(
        files: &'a F,
        keys: FileKeys,
        rows: RowBuilder,
        report_columns: &'static [&'static str],
        part_bytes: usize,
    ) -> Self {
        Self { file: PartWriter::new(files, keys, part_bytes), rows, report_columns }
    }

    /// Continues a saved table; `None` if other code has saved it.
    pub(super) fn restore(self, saved: &SavedFile, tail: &[u8]) -> Option<Self> {
        Some(Self { file: self.file.restore(saved, tail)?, ..self })
    }

    pub(super) fn save(&self) -> (SavedFile, &[u8]) {
        self.file.save()
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> u64 {
        self.file.rows()
    }

    /// Returns true if a part of it was sent.
    pub(super) fn has_parts(&self) -> bool {
        self.file.has_parts()
    }

    /// Appends a row; see [`RowBuilder::append`]. Nothing is sent.
    pub(super) fn push(&mut self, number: u64, raw: &[u8], report_cells: &[&str]) {
        let is_first = self.file.rows() == 0;
        let buffer = self.file.push(1);
        if is_first {
            self.rows.append_header(buffer, self.report_columns);
        }
        self.rows.append(buffer, number, raw, report_cells);
    }

    /// See [`PartWriter::send_parts`].
    pub(super) async fn send_parts(&mut self) -> Result<(), CompleteError> {
        self.file.send_parts().await
    }

    /// See [`PartWriter::settle`].
    pub(super) async fn settle(&mut self) -> Result<(), CompleteError> {
        self.file.settle().await
    }

    /// See [`PartWriter::finish`].
    pub(super) async fn finish(self) -> Result<Option<Written>, CompleteError> {
        self.file.finish().await
    }

    /// See [`PartWriter::abort`].
    pub(super) async fn abort(&mut self) {
        self.file.abort().await;
    }
}
