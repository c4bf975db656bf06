//! Content sniffing: inspects the first block of a file and refuses a file that is not text, with a message for the
//! person who uploaded it.
//!
//! Without it, an image would be split into thousands of "rows" that all fail. The file is judged, never its rows: a
//! bad byte in a later row fails that row alone. Files that are converted before, such as workbooks, are found by
//! [`Form`](super::Form).

use std::fmt;

use memchr::memchr;
use thiserror::Error;

/// The result of sniffing a readable file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Sniffed {
    /// Bytes of the UTF-8 byte order mark: 3 or 0. The first record is after it.
    pub bom_len: usize,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Byte order marks of UTF-32.
const UTF32_MARKS: [&[u8]; 2] = [b"\xff\xfe\0\0", b"\0\0\xfe\xff"];

const PDF_START: &[u8] = b"%PDF-";

const HTML_STARTS: [&[u8]; 5] = [b"<!doctype html", b"<html", b"<head", b"<meta", b"<table"];

const XML_START: &[u8] = b"<?xml";

/// Bytes to inspect for UTF-16: enough that no text has a NUL in every second place by chance, and short enough for the
/// smallest header.
const UTF16_PROBE_BYTES: usize = 8;

/// Share of a file that a block holds.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Extent {
    /// The whole file.
    Whole,
    /// The first bytes of the file; others follow.
    Start,
}

impl Extent {
    /// Returns the share of a file of `size_bytes` that its first `held_bytes` are.
    pub const fn from_lengths(held_bytes: u64, size_bytes: u64) -> Self {
        if held_bytes == size_bytes { Self::Whole } else { Self::Start }
    }
}

/// Inspects the first block of a file; 64 KiB is plenty.
///
/// # Errors
/// [`UnreadableFile`], in this order: a byte order mark of UTF-32, PDF, UTF-16 without a mark, any NUL byte in the
/// block, text of another kind, and - of a whole file only - nothing but white space.
pub fn sniff(first_block: &[u8], extent: Extent) -> Result<Sniffed, UnreadableFile> {
    refuse_utf32(first_block)?;
    refuse_pdf(first_block)?;
    refuse_nul(first_block)?;
    let bom_len = if first_block.starts_with(UTF8_MARK) { UTF8_MARK.len() } else { 0 };
    refuse_other_text(&first_block[bom_len..])?;
    if extent == Extent::Whole && first_block[bom_len..].trim_ascii().is_empty() {
        return Err(UnreadableFile::Empty);
    }
    Ok(Sniffed { bom_len })
}

/// Returns the text of a record that must be UTF-8 for the whole file to make sense: the header.
///
/// `base_offset` is the offset of `bytes` in the file.
///
/// # Errors
/// [`UnreadableFile::NotUtf8`] with the file's offset of the first bad byte.
pub fn check_utf8(bytes: &[u8], base_offset: u64) -> Result<&str, UnreadableFile> {
    std::str::from_utf8(bytes).map_err(|error| UnreadableFile::NotUtf8 {
        encoding: Encoding::Unknown,
        offset: base_offset + error.valid_up_to() as u64,
    })
}

fn refuse_utf32(block: &[u8]) -> Result<(), UnreadableFile> {
    if UTF32_MARKS.iter().any(|mark| block.starts_with(mark)) {
        return Err(UnreadableFile::NotUtf8 { encoding: Encoding::Utf32, offset: 0 });
    }
    Ok(())
}

fn refuse_pdf(block: &[u8]) -> Result<(), UnreadableFile> {
    if block.starts_with(PDF_START) {
        return Err(UnreadableFile::Binary { kind: FileKind::Pdf, offset: 0 });
    }
    Ok(())
}

/// Refuses text that begins as no table does. Some programs save HTML or XML under the name of a workbook.
fn refuse_other_text(text: &[u8]) -> Result<(), UnreadableFile> {
    let text = text.trim_ascii_start();
    let begins = |start: &&[u8]| text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let kind = match () {
        () if HTML_STARTS.iter().any(begins) => TextKind::Html,
        () if begins(&XML_START) => TextKind::Xml,
        () if is_open_array(text) => TextKind::JsonArray,
        () => return Ok(()),
    };
    Err(UnreadableFile::NotATable { kind })
}

/// Returns true for an array of objects or arrays that continues after its first line. In JSON Lines, an item can be an
/// array.
fn is_open_array(text: &[u8]) -> bool {
    let Some(items) = text.strip_prefix(b"[") else { return false };
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    matches!(items.trim_ascii_start(), [b'{' | b'[', ..]) && !line.trim_ascii_end().ends_with(b"]")
}

fn refuse_nul(block: &[u8]) -> Result<(), UnreadableFile> {
    let Some(nul) = memchr(0, block) else { return Ok(()) };
    let offset = nul as u64;
    if is_bare_utf16(block) {
        return Err(UnreadableFile::NotUtf8 { encoding: Encoding::Utf16, offset });
    }
    Err(UnreadableFile::Binary { kind: FileKind::Unknown, offset })
}

/// Returns true for UTF-16 without a mark: Latin characters have a NUL in every second place, and nowhere else.
fn is_bare_utf16(block: &[u8]) -> bool {
    let Some(probe) = block.get(..UTF16_PROBE_BYTES) else { return false };
    [0, 1].iter().any(|side| probe.iter().enumerate().all(|(at, byte)| (*byte == 0) == (at % 2 == *side)))
}

/// The reason to refuse a file before its first row. The text is for the person who uploaded it.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Error)]
pub enum UnreadableFile {
    /// A file of only a byte order mark, white space and blank lines.
    #[error("The file is empty: it has no rows. Check that it was saved, and upload it again.")]
    Empty,
    /// The bytes are not text.
    #[error("The file is {kind}, not text (detected at byte {offset}). {}", kind.advice())]
    Binary {
        /// Detected kind of file.
        kind: FileKind,
        /// Offset at which it was detected.
        offset: u64,
    },
    /// Text, but no table.
    #[error("The file is {kind}, not a table. {}", kind.advice())]
    NotATable {
        /// Detected kind of text.
        kind: TextKind,
    },
    /// Text, but in another encoding.
    #[error(
        "The file is {encoding}, not UTF-8 (detected at byte {offset}). \
         Save it as \"CSV UTF-8\", or in UTF-8, and upload it again."
    )]
    NotUtf8 {
        /// Detected encoding.
        encoding: Encoding,
        /// Offset at which it was detected.
        offset: u64,
    },
}

impl UnreadableFile {
    /// Returns the stable code of the reason: `file_empty`, `file_binary`, `file_not_a_table`, `file_not_utf8`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "file_empty",
            Self::Binary { .. } => "file_binary",
            Self::NotATable { .. } => "file_not_a_table",
            Self::NotUtf8 { .. } => "file_not_utf8",
        }
    }
}

/// A detected kind of binary file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum FileKind {
    /// A PDF document.
    Pdf,
    /// Any other file with NUL bytes in it.
    Unknown,
}

impl FileKind {
    fn advice(self) -> &'static str {
        match self {
            Self::Pdf => "Export the table as CSV from the program that created it and upload that.",
            Self::Unknown => "Save it as CSV or JSON Lines in UTF-8 and upload that.",
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pdf => "a PDF document",
            Self::Unknown => "a binary file",
        })
    }
}

/// A detected kind of text that is no table.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum TextKind {
    /// A web page. Some programs save one under the name of a workbook.
    Html,
    /// An XML document, such as an XML Spreadsheet 2003.
    Xml,
    /// A JSON array.
    JsonArray,
}

impl TextKind {
    fn advice(self) -> &'static str {
        match self {
            Self::Html | Self::Xml => "Open it in the spreadsheet program, save it as CSV and upload that.",
            Self::JsonArray => "Write each of its objects on a line of its own (JSON Lines), and upload that.",
        }
    }
}

impl fmt::Display for TextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Html => "a web page (HTML)",
            Self::Xml => "an XML document",
            Self::JsonArray => "a JSON array",
        })
    }
}

/// A detected encoding of text that is not UTF-8.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Encoding {
    /// UTF-16: two bytes per character. Excel calls it "Unicode text".
    Utf16,
    /// UTF-32: four bytes per character.
    Utf32,
    /// An older encoding, such as Windows-1252; the bytes do not show which one.
    Unknown,
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf16 => "written in UTF-16",
            Self::Utf32 => "written in UTF-32",
            Self::Unknown => "written in an older encoding",
        })
    }
}

#[cfg(test)]
#[path = "sniff_tests.rs"]
mod tests;
