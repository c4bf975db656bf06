//! The outputs of a job, read for a workbook: those that the index of the results names, within one invocation.
//!
//! A workbook cannot be continued: its archive ends with a directory, and the library keeps its state in memory. So it
//! has limits that one invocation, its memory and its temporary storage can keep.

use std::collections::VecDeque;
use std::fs::File;

use futures::future::BoxFuture;
use longshore::ports::JobFolder;
use longshore::result::{IndexedSlice, lines_of};
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::{Files, Read};

use super::parts::Written;
use super::read_ahead::ReadAhead;
use super::result_rows::ResultRows;
use super::workbook::Sheets;
use crate::{CompleteError, WorkbookError};

/// Maximum number of cells, without the headers.
pub(super) const MAX_CELLS: u64 = 10_000_000;

/// Maximum bytes of the outputs. Text can take five times its bytes in a sheet (`&` is `&amp;`) and a cell takes up to
/// 75 bytes more, so the sheets take at most 2.1 GB of the function's temporary storage.
const MAX_OUTPUT_BYTES: u64 = 256 << 20;

/// Maximum bytes of the index, which is in memory. A slice takes about 250.
const MAX_INDEX_BYTES: u64 = 16 << 20;

/// Maximum bytes of the slices that are read ahead; a larger slice is read alone.
const READ_BYTES: u64 = 16 << 20;

/// The outputs of a job, read for a workbook.
pub(super) struct WorkbookSource<'a, F> {
    pub(super) files: &'a F,
    pub(super) folder: JobFolder<'a>,
}

impl<F: Files> WorkbookSource<'_, F> {
    /// Writes the workbook into a temporary file.
    ///
    /// # Errors
    /// [`CompleteError::Workbook`] if the results do not fit into one, or if not all rows are written before `due`.
    pub(super) async fn write(
        &self,
        index: &Written,
        rows: &mut ResultRows,
        due: &(impl Fn() -> bool + Sync),
    ) -> Result<File, CompleteError> {
        let slices = self.slices(index).await?;
        let mut sheets = Sheets::new(rows)?;
        let mut reads = ReadAhead::new(slices, READ_BYTES, |slice| slice.outputs.bytes, |slice| self.read(slice));
        while let Some(lines) = reads.next().await? {
            if due() {
                return Err(WorkbookError::OutOfTime.into());
            }
            sheets.append(&lines)?;
        }
        Ok(sheets.save()?)
    }

    async fn slices(&self, index: &Written) -> Result<VecDeque<IndexedSlice>, CompleteError> {
        if index.size > MAX_INDEX_BYTES {
            return Err(WorkbookError::TooLarge.into());
        }
        let lines = read_slice(self.files, index.file.key.clone(), index.size).await?;
        let slices: VecDeque<IndexedSlice> = lines_of(&lines).map(serde_json::from_slice).collect::<Result<_, _>>()?;
        let bytes: u64 = slices.iter().map(|slice| slice.outputs.bytes).sum();
        if bytes > MAX_OUTPUT_BYTES { Err(WorkbookError::TooLarge.into()) } else { Ok(slices) }
    }

    fn read(&self, slice: IndexedSlice) -> BoxFuture<'_, Result<Vec<u8>, CompleteError>> {
        let key = self.folder.chunk(ChunkId::new(slice.group, slice.chunk)).outputs_key(&slice.token);
        Box::pin(read_slice(self.files, key, slice.outputs.bytes))
    }
}

/// Reads an object, and checks that it has this size.
pub(super) async fn read_slice(files: &impl Files, key: String, size: u64) -> Result<Vec<u8>, CompleteError> {
    match files.read(&key, None, None).await? {
        Read::Found(lines) if lines.len() as u64 == size => Ok(lines),
        _ => Err(CompleteError::OutputsMissing(key)),
    }
}
