//! Says where one record lies in its file.
//!
//! Offsets travel, bytes do not: a chunk of millions of rows is described by two numbers.

/// Where one record lies, in bytes from the start of the file (or of the slice that was cut).
///
/// `start < content_end <= end` always holds, spans of one file never overlap and come in order.
/// Between `end` and the next `start` there are only blank lines, which belong to no record.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Span {
    /// The first byte of the record.
    pub start: u64,
    /// The byte after the last one of the record, its terminator not counted.
    pub content_end: u64,
    /// The byte after the terminator: a safe place to cut the file.
    pub end: u64,
    /// The file ended inside a quoted field, so everything from the opening quote on went into this record.
    pub unterminated: bool,
}

impl Span {
    /// The record without its terminator, out of the slice in which it was found.
    ///
    /// # Panics
    /// If `bytes` is shorter than the slice that was cut.
    pub fn content<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.content_end as usize]
    }
}
