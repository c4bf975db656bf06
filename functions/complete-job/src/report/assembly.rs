//! Assembly of a workbook from the outputs that the index of the results names, within one invocation.
//!
//! A workbook cannot be continued: its archive ends with a directory, and the library keeps its state in memory. So it
//! has limits that one invocation, its memory and its temporary storage can keep.

use std::collections::VecDeque;
use std::fs::File;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use longshore::ports::JobFolder;
use longshore::result::IndexedSlice;
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::{Files, Read};

use super::parts::Written;
use super::result_rows::ResultRows;
use super::workbook::Sheets;
use crate::{CompleteError, Unfit};

/// Maximum number of cells, without the headers.
pub(super) const MAX_CELLS: u64 = 10_000_000;

/// Maximum bytes of the outputs. Text can take five times its bytes in a sheet (`&` is `&amp;`) and a cell takes up to
/// 75 bytes more, so the sheets take at most 2.1 GB of the function's temporary storage.
const MAX_OUTPUT_BYTES: u64 = 256 << 20;

/// Maximum bytes of the index, which is in memory. A slice takes about 250.
const MAX_INDEX_BYTES: u64 = 16 << 20;

/// Maximum bytes of the slices that are read ahead; a larger slice is read alone.
const READ_BYTES: u64 = 16 << 20;

/// Maximum number of slices that are read concurrently.
const READS: usize = 32;

/// The outputs of a job.
pub(super) struct Assembly<'a, F> {
    pub(super) files: &'a F,
    pub(super) folder: JobFolder<'a>,
}

impl<F: Files> Assembly<'_, F> {
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
        let mut reads = ReadAhead::new(self, slices);
        while let Some(lines) = reads.next().await {
            if due() {
                return Err(Unfit::OutOfTime.into());
            }
            sheets.append(&lines?)?;
        }
        Ok(sheets.save()?)
    }

    async fn slices(&self, index: &Written) -> Result<VecDeque<IndexedSlice>, CompleteError> {
        if index.size > MAX_INDEX_BYTES {
            return Err(Unfit::TooLarge.into());
        }
        let lines = read_slice(self.files, index.file.key.clone(), index.size).await?;
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let slices: VecDeque<IndexedSlice> = lines.map(serde_json::from_slice).collect::<Result<_, _>>()?;
        let bytes: u64 = slices.iter().map(|slice| slice.outputs.bytes).sum();
        if bytes > MAX_OUTPUT_BYTES { Err(Unfit::TooLarge.into()) } else { Ok(slices) }
    }
}

/// The lines of slices in order, read ahead.
struct ReadAhead<'a, F> {
    assembly: &'a Assembly<'a, F>,
    slices: VecDeque<IndexedSlice>,
    in_flight: FuturesOrdered<BoxFuture<'a, Result<Vec<u8>, CompleteError>>>,
    /// Bytes of each slice in flight.
    in_flight_bytes: VecDeque<u64>,
}

impl<'a, F: Files> ReadAhead<'a, F> {
    fn new(assembly: &'a Assembly<'a, F>, slices: VecDeque<IndexedSlice>) -> Self {
        Self { assembly, slices, in_flight: FuturesOrdered::new(), in_flight_bytes: VecDeque::new() }
    }

    async fn next(&mut self) -> Option<Result<Vec<u8>, CompleteError>> {
        while let Some(slice) = self.slices.pop_front_if(|slice| has_room(&self.in_flight_bytes, slice.outputs.bytes)) {
            let key = self.assembly.folder.chunk(ChunkId::new(slice.group, slice.chunk)).outputs_key(&slice.token);
            self.in_flight_bytes.push_back(slice.outputs.bytes);
            self.in_flight.push_back(Box::pin(read_slice(self.assembly.files, key, slice.outputs.bytes)));
        }
        let lines = self.in_flight.next().await;
        self.in_flight_bytes.pop_front();
        lines
    }
}

fn has_room(in_flight: &VecDeque<u64>, bytes: u64) -> bool {
    in_flight.is_empty() || (in_flight.len() < READS && in_flight.iter().sum::<u64>() + bytes <= READ_BYTES)
}

/// Reads an object, and checks that it has this size.
pub(super) async fn read_slice(files: &impl Files, key: String, size: u64) -> Result<Vec<u8>, CompleteError> {
    match files.read(&key, None, None).await? {
        Read::Found(lines) if lines.len() as u64 == size => Ok(lines),
        _ => Err(CompleteError::OutputsMissing(key)),
    }
}
