//! The reasons to refuse a workbook, for the person who uploaded it.

use std::io;

use zip::result::ZipError;

/// Maximum characters of a parser's reason in a message.
const REASON_CHARS: usize = 100;

/// The reason why a workbook is refused, or why it could not be read.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum WorkbookError {
    /// The bytes could not be read. Another attempt can succeed.
    #[error("The workbook could not be read: {0}.")]
    Io(io::ErrorKind),
    /// The file is no ZIP archive.
    #[error("The file is not an Excel workbook (.xlsx). Save it as .xlsx or as CSV, and upload that.")]
    NotAWorkbook,
    /// The file is an old or another compound file.
    #[error("The file is in an old Office format, such as .xls. Open it, save it as .xlsx or as CSV, and upload that.")]
    OldFormat,
    /// The file is in a format of another program, or of another kind.
    #[error("The file is {0}, not an Excel workbook (.xlsx). Open it, save it as .xlsx or as CSV, and upload that.")]
    OtherFormat(&'static str),
    /// The workbook is encrypted.
    #[error("The workbook is protected by a password. Remove the password, save it, and upload it again.")]
    Password,
    /// The archive or a part of it is damaged.
    #[error(
        "The workbook is damaged ({0}). Open it in Excel or LibreOffice, save it as a new .xlsx file, and upload that."
    )]
    Damaged(String),
    /// The archive has too many parts.
    #[error("The workbook contains more than {0} internal files, such as sheets and pictures. Save the sheet as CSV.")]
    TooManyParts(usize),
    /// A part is too large.
    #[error("A part of the workbook has more than {} MiB when it is unpacked. Save the sheet as CSV.", .0 >> 20)]
    TooLarge(u64),
    /// There are too many shared strings.
    #[error("The workbook has more than {0} different texts. Save the sheet as CSV.")]
    TooManyStrings(usize),
    /// The workbook has too many formats, sheets or other objects of one kind.
    #[error("The workbook has too many {0}. Copy the sheet into a new workbook, or save it as CSV.")]
    TooMany(&'static str),
    /// A text or a tag is longer than any that a cell needs.
    #[error("The workbook contains a text that is too long for a cell. Save the sheet as CSV.")]
    TextTooLong,
    /// The sheet has too many cells.
    #[error("The sheet has more than {0} cells. Save it as CSV.")]
    TooManyCells(u64),
    /// A row is too large.
    #[error("Row {0} of the sheet has more than 4 MiB. Shorten its texts, or save the sheet as CSV.")]
    RowTooLarge(u32),
    /// The chosen sheet does not exist.
    #[error("The workbook has no sheet {chosen}. Its sheets are {sheets}.")]
    NoSuchSheet {
        /// The name or number that was chosen.
        chosen: String,
        /// The names of the sheets.
        sheets: String,
    },
    /// No worksheet is visible.
    #[error("The workbook has no visible worksheet. Unhide the sheet, or name it.")]
    NoVisibleSheet,
}

impl WorkbookError {
    /// Returns the code of a refused file; `None` if another attempt can succeed.
    pub const fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::Io(_) => return None,
            Self::NotAWorkbook => "workbook_invalid",
            Self::OldFormat => "workbook_old_format",
            Self::OtherFormat(_) => "workbook_other_format",
            Self::Password => "workbook_password",
            Self::Damaged(_) => "workbook_damaged",
            Self::TooManyParts(_)
            | Self::TooLarge(_)
            | Self::TooManyStrings(_)
            | Self::TooMany(_)
            | Self::TextTooLong
            | Self::RowTooLarge(_)
            | Self::TooManyCells(_) => "workbook_too_large",
            Self::NoSuchSheet { .. } | Self::NoVisibleSheet => "sheet_not_found",
        })
    }

    /// Creates the error of a damaged file. The reason can quote the file, so it is shortened.
    pub(crate) fn damaged(reason: impl ToString) -> Self {
        Self::Damaged(shortened(&reason.to_string()))
    }
}

impl From<io::Error> for WorkbookError {
    /// A limit is passed on as it is.
    fn from(error: io::Error) -> Self {
        if let Some(limit) = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            return limit.clone();
        }
        if is_damage(error.kind()) { Self::damaged(error) } else { Self::Io(error.kind()) }
    }
}

/// Returns true for an error of the file: an unexpected end, and data that are invalid or not supported. Other errors
/// are those of its storage.
pub fn is_damage(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof, Unsupported};
    matches!(kind, InvalidData | InvalidInput | UnexpectedEof | Unsupported)
}

/// Returns the reason of a library in one short line. It can quote the file.
pub fn shortened(reason: &str) -> String {
    reason.chars().map(|c| if c.is_control() { ' ' } else { c }).take(REASON_CHARS).collect()
}

impl From<ZipError> for WorkbookError {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => error.into(),
            error => Self::damaged(error),
        }
    }
}

impl From<quick_xml::Error> for WorkbookError {
    fn from(error: quick_xml::Error) -> Self {
        match error {
            quick_xml::Error::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
                Some(limit) => limit.clone(),
                None => io::Error::from(error.kind()).into(),
            },
            error => Self::damaged(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::WorkbookError;

    #[test]
    fn an_error_of_storage_is_no_refusal() {
        let timeout = WorkbookError::from(io::Error::from(io::ErrorKind::TimedOut));
        assert_eq!((timeout.code(), timeout), (None, WorkbookError::Io(io::ErrorKind::TimedOut)));
        let cut = WorkbookError::from(io::Error::from(io::ErrorKind::UnexpectedEof));
        assert_eq!(cut.code(), Some("workbook_damaged"));
    }

    #[test]
    fn a_reason_is_one_short_line() {
        let error = WorkbookError::damaged("a\nb".repeat(1_000));
        let message = error.to_string();
        assert!(message.len() < 250 && !message.contains('\n'), "{message}");
    }
}
