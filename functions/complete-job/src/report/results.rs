//! The results of a job: the outputs of the items that succeeded, as one file, and an index of its slices.
//!
//! The workers have written the outputs as JSON Lines, one object (a slice) per commit. A file of JSON Lines is the
//! slices one after the other: S3 copies the large ones, and only the others are read. CSV, gzip and lines with some
//! members only are written from the lines, slice by slice. A workbook is written from the index, after the last slice
//! (`workbook_source`).
//!
//! The index has a line per slice. It tells a reader of a page which object has it, whatever the format of the file.

use std::fs::File;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use longshore::chunk::Slice;
use longshore::ports::JobFolder;
use longshore::result::{IndexedSlice, lines_of};
use longshore_domain::job::JobError;
use longshore_domain::ports::{Files, MultipartFiles};
use longshore_domain::results::{ResultFormat, ResultsForm};

use super::issues::{columns_left_out, columns_not_found};
use super::parts::{Copied, FileKeys, PartWriter, SavedFile, Written};
use super::result_rows::{ResultRows, SeenMembers};
use super::workbook_source::{WorkbookSource, read_slice};
use crate::{CompleteError, WorkbookError};

/// Bytes after which a gzip member ends. A file of several members is one file to every reader (RFC 1952, 2.2), and
/// their ends depend on the contents alone, so that each invocation writes the same bytes.
const MEMBER_BYTES: usize = 1 << 20;

/// Bytes of a temporary file that are read at once.
const BLOCK_BYTES: u64 = 1 << 20;

/// The results that are being written.
pub(super) struct Results<'a, F> {
    files: &'a F,
    folder: JobFolder<'a>,
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
    /// Issues that were found while a workbook was written.
    pub(super) issues: Vec<JobError>,
}

impl<'a, F: Files + MultipartFiles> Results<'a, F> {
    pub(super) fn new(
        files: &'a F,
        folder: JobFolder<'a>,
        form: &'a ResultsForm,
        keys: impl Fn(&str, &'static str) -> FileKeys,
        part_bytes: usize,
    ) -> Self {
        let index =
            PartWriter::new(files, keys(longshore::result::RESULTS_INDEX_NAME, "application/x-ndjson"), part_bytes);
        let mut file_keys = keys(form.file_name(), form.content_type());
        if form.format == ResultFormat::Xlsx {
            // One invocation uploads the whole file.
            file_keys.parts.clone_from(&file_keys.whole);
        }
        let file = PartWriter::new(files, file_keys, part_bytes);
        Self { files, folder, form, index, file, rows: ResultRows::new(form), uncompressed: Vec::new() }
    }

    /// Continues saved results; `None` if other code has saved them.
    pub(super) fn restore(mut self, saved: &[SavedFile], tails: &[&[u8]], seen: SeenMembers) -> Option<Self> {
        let ([index, file], [index_tail, file_tail, uncompressed]) = (saved, tails) else { return None };
        self.rows.set_seen(seen);
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

    /// Returns the members of the outputs so far, compared with the columns.
    pub(super) fn seen(&self) -> &SeenMembers {
        self.rows.seen()
    }

    /// Returns the issues of members without a column, and of columns without a member. Those of a workbook are known
    /// when it is written.
    pub(super) fn issues(&self) -> Vec<JobError> {
        if self.len() == 0 || self.is_workbook() { Vec::new() } else { issues(&self.rows) }
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> u64 {
        self.file.rows()
    }

    /// Returns true if the file has so many parts that another slice may not fit.
    pub(super) fn is_too_large(&self) -> bool {
        self.file.is_too_large()
    }

    pub(super) fn has_parts(&self) -> bool {
        self.index.has_parts() || self.file.has_parts()
    }

    /// Returns true if the file is a workbook, which one invocation writes after the last slice.
    pub(super) fn is_workbook(&self) -> bool {
        self.form.format == ResultFormat::Xlsx && self.len() > 0
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
        if self.form.format == ResultFormat::Xlsx {
            self.file.push(outputs.rows);
            return Ok(());
        }
        let lines = read(self.files, slice).await?;
        self.append(&lines, outputs.rows).await
    }

    /// Appends the rows of a slice. Some headings and rows together can be much larger than the slice, so full parts are
    /// sent after each row.
    async fn append(&mut self, lines: &[u8], rows: u64) -> Result<(), CompleteError> {
        let is_first = self.file.rows() == 0;
        let text = self.file.push(rows);
        let text = if self.form.gzip { &mut self.uncompressed } else { text };
        if is_first && self.form.format == ResultFormat::Csv {
            self.rows.append_header(text);
        }
        if self.form.format == ResultFormat::Jsonl && !self.form.selects_members() {
            text.extend_from_slice(lines);
            return self.send_full().await;
        }
        for line in lines_of(lines) {
            let text = if self.form.gzip { &mut self.uncompressed } else { self.file.push(0) };
            match self.form.format {
                ResultFormat::Jsonl => self.rows.append_line(text, line)?,
                ResultFormat::Csv => self.rows.append_row(text, line)?,
                // Written after the last slice.
                ResultFormat::Xlsx => {}
            }
            let is_full = if self.form.gzip { text.len() >= MEMBER_BYTES } else { self.file.exceeds_part() };
            if is_full {
                self.send_full().await?;
            }
        }
        self.send_full().await
    }

    /// Writes a gzip member if there is enough text for one, and sends every full part.
    async fn send_full(&mut self) -> Result<(), CompleteError> {
        if self.uncompressed.len() >= MEMBER_BYTES {
            self.compress()?;
        }
        self.file.send_parts().await
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

    /// Completes the files, if there is a row. A workbook must be written before `due`.
    pub(super) async fn finish(
        mut self,
        due: &(impl Fn() -> bool + Sync),
    ) -> Result<Option<WrittenResults>, CompleteError> {
        let is_workbook = self.is_workbook();
        let index = self.index.finish().await?;
        if let Some(index) = index.as_ref().filter(|_| is_workbook) {
            let source = WorkbookSource { files: self.files, folder: self.folder };
            let workbook = source.write(index, &mut self.rows, due).await?;
            if let Err(error) = append_file(&mut self.file, workbook).await {
                self.file.abort().await;
                return Err(error);
            }
        }
        let file = self.file.finish().await?;
        // For the other formats, the issues are known before the files are completed.
        let issues = if is_workbook { issues(&self.rows) } else { Vec::new() };
        Ok(index.zip(file).map(|(index, file)| WrittenResults { file, index, issues }))
    }

    pub(super) async fn abort(&mut self) {
        self.index.abort().await;
        self.file.abort().await;
    }
}

fn issues(rows: &ResultRows) -> Vec<JobError> {
    let left_out = (!rows.seen().left_out.is_empty()).then(|| columns_left_out(&rows.seen().left_out));
    let not_found: Vec<_> = rows.not_found().collect();
    let not_found = (!not_found.is_empty()).then(|| columns_not_found(&not_found));
    left_out.into_iter().chain(not_found).collect()
}

/// Appends a temporary file.
async fn append_file<F: Files + MultipartFiles>(
    to: &mut PartWriter<'_, F>,
    mut from: File,
) -> Result<(), CompleteError> {
    while Read::take(&mut from, BLOCK_BYTES).read_to_end(to.push(0)).map_err(WorkbookError::Io)? > 0 {
        to.send_parts().await?;
    }
    Ok(())
}

/// Reads a slice, and checks that it has the size that its header names.
async fn read(files: &impl Files, Slice { key, outputs, .. }: &Slice) -> Result<Vec<u8>, CompleteError> {
    read_slice(files, key.clone(), outputs.bytes).await
}
