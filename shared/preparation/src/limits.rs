//! The limits of a conversion, and a writer that observes them.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

use crate::error::PreparationError;
use crate::sink::Sink;

/// Limits of a conversion.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Limits {
    /// Maximum size of the output.
    pub output_bytes: u64,
    /// Maximum size of the output as a multiple of the bytes that were read. Tables of real data stay below 100;
    /// deflate reaches 1,032.
    pub ratio: u64,
    /// Size of the output up to which the ratio is not considered: a few repeated rows.
    pub free_bytes: u64,
    /// Maximum size of the window of Zstandard: the memory that it needs.
    pub window_bytes: u64,
    /// Maximum number of columns of a sheet that are read.
    pub columns: usize,
    /// Size of the output after which the conversion ends without an error, because the caller needs only the first
    /// rows.
    pub enough_bytes: u64,
    /// Limits of a workbook.
    pub workbook: longshore_workbooks::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_bytes: 5 << 30,
            ratio: 1_000,
            free_bytes: 16 << 20,
            window_bytes: 32 << 20,
            columns: 10_000,
            enough_bytes: u64::MAX,
            workbook: longshore_workbooks::Limits::default(),
        }
    }
}

/// A file that counts what is read of it, and can limit it.
pub(crate) struct Counted<R> {
    file: R,
    read: Rc<Cell<u64>>,
    budget: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    pub(crate) fn new(file: R) -> Self {
        Self { file, read: Rc::default(), budget: Rc::new(Cell::new(u64::MAX)) }
    }

    /// Returns the counter, in bytes.
    pub(crate) fn read_bytes(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.read)
    }

    /// Allows only this many further bytes to be read, until the budget is set to another value.
    pub(crate) fn limit_to(&self, bytes: u64) {
        self.budget.set(bytes);
    }

    /// Returns the bytes that can still be read.
    pub(crate) fn budget(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.budget)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.read.set(self.read.get() + length as u64);
        let left = self.budget.get().checked_sub(length as u64);
        self.budget.set(left.ok_or(PreparationError::TooManyFiles)?);
        Ok(length)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// A writer that refuses too large an output.
pub(crate) struct Bounded<W> {
    sink: W,
    limits: Limits,
    read: Rc<Cell<u64>>,
    pub(crate) written: u64,
}

impl<W> Bounded<W> {
    /// Creates a writer of what is unpacked from a file of which `read` bytes were read.
    pub(crate) fn new(sink: W, limits: Limits, read: Rc<Cell<u64>>) -> Self {
        Self { sink, limits, read, written: 0 }
    }
}

impl<W> Bounded<W> {
    /// Counts bytes that were written.
    fn count(&mut self, bytes: usize) -> io::Result<usize> {
        self.written += bytes as u64;
        if self.written > self.limits.output_bytes {
            return Err(PreparationError::TooLarge(self.limits.output_bytes).into());
        }
        if self.written > self.limits.free_bytes && self.written / self.limits.ratio > self.read.get() {
            return Err(PreparationError::Ratio(self.limits.ratio).into());
        }
        if self.written >= self.limits.enough_bytes { Err(PreparationError::Enough.into()) } else { Ok(bytes) }
    }
}

impl<W: Sink> Sink for Bounded<W> {
    fn fill(&mut self, read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let filled = self.sink.fill(read)?;
        self.count(filled)
    }
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write_all(bytes)?;
        self.count(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
