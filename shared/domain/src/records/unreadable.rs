//! Reasons to refuse a file, with messages for the person who uploaded it.
//!
//! Most "broken imports" are workbooks, archives and UTF-16 exports. A count of bad rows does not help their owner; a
//! sentence with the fix does.

use std::fmt;

use thiserror::Error;

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
    /// Returns the stable code of the reason: `file_empty`, `file_binary`, `file_not_utf8`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "file_empty",
            Self::Binary { .. } => "file_binary",
            Self::NotUtf8 { .. } => "file_not_utf8",
        }
    }
}

/// A detected kind of binary file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum FileKind {
    /// A spreadsheet in a current format: `.xlsx` or `.ods`.
    Workbook,
    /// A spreadsheet of Excel 2003 or older: `.xls`.
    OldWorkbook,
    /// A zip archive that is not a spreadsheet.
    Zip,
    /// A gzip file.
    Gzip,
    /// A PDF document.
    Pdf,
    /// Any other file with NUL bytes in it.
    Unknown,
}

impl FileKind {
    fn advice(self) -> &'static str {
        match self {
            Self::Workbook | Self::OldWorkbook => "Open it in the spreadsheet program, save it as CSV and upload that.",
            Self::Zip | Self::Gzip => "Unpack it and upload the CSV or JSON Lines file inside.",
            Self::Pdf => "Export the table as CSV from the program that created it and upload that.",
            Self::Unknown => "Save it as CSV or JSON Lines in UTF-8 and upload that.",
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Workbook => "a spreadsheet workbook",
            Self::OldWorkbook => "an old Excel workbook",
            Self::Zip => "a zip archive",
            Self::Gzip => "a gzip archive",
            Self::Pdf => "a PDF document",
            Self::Unknown => "a binary file",
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
