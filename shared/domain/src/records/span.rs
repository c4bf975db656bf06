//! The position of one record in its file.
//!
//! Only offsets are passed on, not bytes: a chunk of millions of rows is described by two numbers.

/// The position of one record, in bytes from the start of the file (or of the slice that was cut).
///
/// `start < content_end <= end` always holds. Spans of one file never overlap and come in order. Between `end` and the
/// next `start` there are only blank lines, which belong to no record.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Span {
    /// First byte of the record.
    pub start: u64,
    /// Byte after the record's last byte, without its terminator.
    pub content_end: u64,
    /// Byte after the terminator: a safe place to cut the file.
    pub end: u64,
    /// True if the file ended inside a quoted field, so everything from the opening quote on is in this record.
    pub unterminated: bool,
}

impl Span {
    /// Returns the record without its terminator, from the slice in which it was found.
    ///
    /// # Panics
    /// If `bytes` is shorter than the slice that was cut.
    pub fn content<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.content_end as usize]
    }
}
