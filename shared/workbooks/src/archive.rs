//! The limits of a workbook, and the parts of its archive.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use zip::ZipArchive;
use zip::read::ZipFile;

use crate::error::WorkbookError;
use crate::xml::XmlPart;

/// Limits of a workbook.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Limits {
    /// Maximum number of parts.
    pub parts: usize,
    /// Maximum size of a sheet, inflated.
    pub sheet_bytes: u64,
    /// Maximum size of the part with the shared strings, inflated.
    pub string_bytes: u64,
    /// Maximum number of shared strings.
    pub strings: usize,
    /// Maximum size of the texts of all shared strings.
    pub string_text_bytes: usize,
    /// Maximum number of events of the part with the shared strings: elements and texts.
    pub string_events: u64,
    /// Maximum size of each other part that is read, inflated.
    pub part_bytes: u64,
    /// Maximum number of cells that are read.
    pub cells: u64,
    /// Maximum number of cells without a value among them.
    pub blank_cells: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            parts: 2_000,
            sheet_bytes: 1 << 30,
            string_bytes: 256 << 20,
            strings: 4_000_000,
            string_text_bytes: 64 << 20,
            string_events: 32_000_000,
            part_bytes: 8 << 20,
            cells: 50_000_000,
            blank_cells: 12_000_000,
        }
    }
}

/// Maximum size of an inflated part as a multiple of its size in the archive, above a size that is free. The sheets of real
/// workbooks stay below 50, because their references differ.
const RATIO: u64 = 200;
const FREE_BYTES: u64 = 64 << 20;

/// Bytes that may be read to find the parts. The directory of an archive takes a multiple of its size in memory.
const DIRECTORY_BYTES: u64 = 1 << 20;

/// A part of the archive.
pub(crate) type ZipPart<'a, R> = XmlPart<ZipFile<'a, Metered<R>>>;

/// The parts of a workbook.
pub(crate) struct Archive<R> {
    zip: ZipArchive<Metered<R>>,
    size_bytes: u64,
    limits: Limits,
}

impl<R: Read + Seek> Archive<R> {
    /// Opens an archive.
    ///
    /// # Errors
    /// If the file is no archive, cannot be read, or has too many parts.
    pub(crate) fn open(mut file: R, limits: Limits) -> Result<Self, WorkbookError> {
        let size_bytes = file.seek(SeekFrom::End(0))?;
        let budget = Rc::new(Cell::new(DIRECTORY_BYTES));
        let zip = ZipArchive::new(Metered { file, budget: Rc::clone(&budget), parts: limits.parts })?;
        budget.set(u64::MAX);
        if zip.len() > limits.parts {
            return Err(WorkbookError::TooManyParts(limits.parts));
        }
        Ok(Self { zip, size_bytes, limits })
    }

    /// Returns the limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Opens the part with this name in any case, of at most `bytes` bytes; `None` if there is none.
    ///
    /// # Errors
    /// If the archive is damaged, or cannot be read.
    pub(crate) fn part(&mut self, name: &str, bytes: u64) -> Result<Option<ZipPart<'_, R>>, WorkbookError> {
        let found = self.zip.file_names_raw().position(|stored| stored.eq_ignore_ascii_case(name.as_bytes()));
        let Some(index) = found else { return Ok(None) };
        let part = self.zip.by_index(index)?;
        // The declared size is the most that is read of the archive, which may have less.
        let compressed = part.compressed_size().min(self.size_bytes);
        let most = compressed.saturating_mul(RATIO).max(FREE_BYTES);
        Ok(Some(XmlPart::new(part, bytes.min(most))))
    }
}

/// A file of which a limited number of bytes can be read.
pub(crate) struct Metered<R> {
    file: R,
    budget: Rc<Cell<u64>>,
    parts: usize,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        let left = self.budget.get().checked_sub(length as u64);
        self.budget.set(left.ok_or_else(|| io::Error::other(WorkbookError::TooManyParts(self.parts)))?);
        Ok(length)
    }
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
