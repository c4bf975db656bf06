//! One CSV file of a report, streamed out; it is begun with its first row and appears with `finish`.

use csv::{Terminator, Writer, WriterBuilder};
use longshore::failures_file::Columns;
use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore::result::ReportFile;
use longshore_domain::ports::{FileSink, Files};

use super::row::RowBuilder;
use crate::CompleteError;

/// Bytes that are gathered before they go to the sink: a call per row would cost more than the row.
const BLOCK_BYTES: usize = 64 << 10;

/// A CSV file (RFC 4180, `\r\n`) that is being written. Holds a block, and what the sink holds.
pub(super) struct Table<'a, F: Files> {
    files: &'a F,
    key: String,
    rows: RowBuilder,
    /// Names of the columns that follow the item's own.
    said: &'static [&'static str],
    written: u64,
    block: Writer<Vec<u8>>,
    sink: Option<F::Sink>,
    print: Fingerprinter,
}

/// A file that has appeared.
pub(super) struct Written {
    /// Where, and how many rows it has.
    pub(super) file: ReportFile,
    /// Of all its bytes.
    pub(super) fingerprint: Fingerprint,
}

impl<'a, F: Files> Table<'a, F> {
    pub(super) fn new(files: &'a F, key: String, columns: Columns, said: &'static [&'static str]) -> Self {
        let (rows, print) = (RowBuilder::new(columns), Fingerprinter::default());
        Self { files, key, rows, said, written: 0, block: empty_block(), sink: None, print }
    }

    /// How many rows it has.
    pub(super) fn len(&self) -> u64 {
        self.written
    }

    /// Appends a row; see [`RowBuilder::row`].
    pub(super) async fn row(&mut self, number: u64, raw: &[u8], said: &[&str]) -> Result<(), CompleteError> {
        if self.written == 0 {
            self.block.write_byte_record(self.rows.header(self.said))?;
        }
        self.block.write_byte_record(self.rows.row(number, raw, said))?;
        self.written += 1;
        if self.block.get_ref().len() >= BLOCK_BYTES { self.flush().await } else { Ok(()) }
    }

    /// Makes the file appear, if it has a row.
    pub(super) async fn finish(mut self) -> Result<Option<Written>, CompleteError> {
        if self.written == 0 {
            return Ok(None);
        }
        self.flush().await?;
        if let Some(sink) = self.sink {
            sink.finish().await?;
        }
        let file = ReportFile { key: self.key, rows: self.written };
        Ok(Some(Written { file, fingerprint: self.print.finish() }))
    }

    async fn flush(&mut self) -> Result<(), CompleteError> {
        let block = std::mem::replace(&mut self.block, empty_block());
        let bytes = block.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
        self.print.take(&bytes);
        let sink = match &mut self.sink {
            Some(sink) => sink,
            none => none.insert(self.files.create(&self.key, "text/csv; charset=utf-8").await?),
        };
        Ok(sink.write(&bytes).await?)
    }
}

fn empty_block() -> Writer<Vec<u8>> {
    WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::with_capacity(BLOCK_BYTES + (16 << 10)))
}
