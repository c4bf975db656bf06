//! The results of a job: the outputs of the items that succeeded, as one file, and an index of its slices.
//!
//! The workers have written the outputs as JSON Lines, one object (a slice) per commit. A file of JSON Lines is the
//! slices one after the other: S3 copies the large ones, and only the others are read. CSV, gzip and lines with some
//! members only are written from the lines, slice by slice.
//!
//! The index has a line per slice. It tells a reader of a page which object has it, whatever the format of the file.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use longshore::chunk::Slice;
use longshore::result::IndexedSlice;
use longshore_domain::job::JobError;
use longshore_domain::ports::{Files, MultipartFiles, Read};
use longshore_domain::results::{ResultFormat, ResultsForm};

use super::issues::columns_left_out;
use super::parts::{Copied, FileKeys, PartWriter, SavedFile, Written};
use super::result_rows::ResultRows;
use crate::CompleteError;

/// Bytes after which a gzip member ends. A file of several members is one file to every reader (RFC 1952, 2.2), and
/// their ends depend on the contents alone, so that each invocation writes the same bytes.
const MEMBER_BYTES: usize = 1 << 20;

/// The results that are being written.
pub(super) struct Results<'a, F> {
    files: &'a F,
    form: &'a ResultsForm,
    index: PartWriter<'a, F>,
    file: PartWriter<'a, F>,
    rows: ResultRows,
    /// Text that is not compressed yet; always empty without gzip.
    uncompressed: Vec<u8>,
}

/// The written files.
pub(super) struct WrittenResults {
    pub(super) file: Written,
    pub(super) index: Written,
}

impl<'a, F: Files + MultipartFiles> Results<'a, F> {
    pub(super) fn new(
        files: &'a F,
        form: &'a ResultsForm,
        keys: impl Fn(&str, &'static str) -> FileKeys,
        part_bytes: usize,
    ) -> Self {
        let index =
            PartWriter::new(files, keys(longshore::result::RESULTS_INDEX_NAME, "application/x-ndjson"), part_bytes);
        let file = PartWriter::new(files, keys(form.file_name(), form.content_type()), part_bytes);
        Self { files, form, index, file, rows: ResultRows::new(form), uncompressed: Vec::new() }
    }

    /// Continues saved results; `None` if other code has saved them.
    pub(super) fn restore(mut self, saved: &[SavedFile], tails: &[&[u8]], left_out: BTreeSet<String>) -> Option<Self> {
        let ([index, file], [index_tail, file_tail, uncompressed]) = (saved, tails) else { return None };
        self.rows.set_left_out(left_out);
        Some(Self {
            index: self.index.restore(index, index_tail)?,
            file: self.file.restore(file, file_tail)?,
            uncompressed: uncompressed.to_vec(),
            ..self
        })
    }

    pub(super) fn save(&self) -> ([(SavedFile, &[u8]); 2], &[u8]) {
        ([self.index.save(), self.file.save()], &self.uncompressed)
    }

    /// Returns the names of the first members that have no column although they should.
    pub(super) fn left_out(&self) -> &BTreeSet<String> {
        self.rows.left_out()
    }

    /// Returns the issue of members without a column.
    pub(super) fn issue(&self) -> Option<JobError> {
        (!self.left_out().is_empty()).then(|| columns_left_out(self.left_out()))
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> u64 {
        self.file.rows()
    }

    pub(super) fn has_parts(&self) -> bool {
        self.index.has_parts() || self.file.has_parts()
    }

    /// Appends the rows of a slice.
    pub(super) async fn push(&mut self, slice: &Slice) -> Result<(), CompleteError> {
        let Slice { key, id, token, outputs } = slice;
        let indexed = IndexedSlice { group: id.group, chunk: id.chunk, token: token.clone(), outputs: outputs.clone() };
        serde_json::to_writer(self.index.push(1), &indexed)?;
        self.index.push(0).push(b'\n');
        self.index.send_parts().await?;
        if self.form.is_verbatim() {
            let copied = Copied { key, bytes: outputs.bytes, crc64: outputs.crc64 };
            if self.file.copy(outputs.rows, copied).await? {
                return Ok(());
            }
        }
        let lines = read(self.files, slice).await?;
        self.append(&lines, outputs.rows)?;
        self.file.send_parts().await
    }

    fn append(&mut self, lines: &[u8], rows: u64) -> Result<(), CompleteError> {
        let is_first = self.file.rows() == 0;
        let buffer = self.file.push(rows);
        let text = if self.form.gzip { &mut self.uncompressed } else { buffer };
        match self.form.format {
            ResultFormat::Jsonl if self.form.selects_members() => self.rows.append_lines(text, lines)?,
            ResultFormat::Jsonl => text.extend_from_slice(lines),
            ResultFormat::Csv => {
                if is_first {
                    self.rows.append_header(text);
                }
                self.rows.append(text, lines)?;
            }
        }
        if self.uncompressed.len() >= MEMBER_BYTES {
            self.compress()?;
        }
        Ok(())
    }

    /// Writes the text that is not compressed yet as a gzip member.
    fn compress(&mut self) -> Result<(), CompleteError> {
        if self.uncompressed.is_empty() {
            return Ok(());
        }
        let mut encoder = GzEncoder::new(self.file.push(0), Compression::new(6));
        encoder.write_all(&self.uncompressed).map_err(CompleteError::Compress)?;
        encoder.finish().map_err(CompleteError::Compress)?;
        self.uncompressed.clear();
        Ok(())
    }

    pub(super) async fn settle(&mut self) -> Result<(), CompleteError> {
        self.index.settle().await?;
        self.file.settle().await
    }

    /// Writes the rest of the text, after the last slice.
    pub(super) async fn end(&mut self) -> Result<(), CompleteError> {
        self.compress()?;
        self.file.send_parts().await
    }

    /// Completes the files, if there is a row.
    pub(super) async fn finish(self) -> Result<Option<WrittenResults>, CompleteError> {
        let (index, file) = (self.index.finish().await?, self.file.finish().await?);
        Ok(index.zip(file).map(|(index, file)| WrittenResults { file, index }))
    }

    pub(super) async fn abort(&mut self) {
        self.index.abort().await;
        self.file.abort().await;
    }
}

/// Reads a slice, and checks that it has the size that its header names.
async fn read(files: &impl Files, slice: &Slice) -> Result<Vec<u8>, CompleteError> {
    match files.read(&slice.key, None, None).await? {
        Read::Found(lines) if lines.len() as u64 == slice.outputs.bytes => Ok(lines),
        _ => Err(CompleteError::OutputsMissing(slice.key.clone())),
    }
}
