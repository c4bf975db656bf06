//! The reasons to refuse a file, for the person who uploaded it.

use std::io;

use longshore_workbooks::{WorkbookError, is_damage, shortened};

/// The reason why a file is refused, or why it could not be converted.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum PreparationError {
    /// The bytes could not be read or written. Another attempt can succeed.
    #[error("The file could not be converted: {0}.")]
    Io(io::ErrorKind),
    /// The workbook is refused.
    #[error(transparent)]
    Workbook(#[from] WorkbookError),
    /// The compressed file ends early or is damaged.
    #[error("The compressed file is damaged ({0}). Compress it again, or upload it without compression.")]
    Damaged(String),
    /// A file that is compressed with more memory than there is.
    #[error("The file is compressed with a window of more than {} MiB. Compress it without --long.", .0 >> 20)]
    Window(u64),
    /// The archive does not contain exactly one file.
    #[error("The archive contains {count} files ({names}). Upload one of them, or an archive with only that one.")]
    NotOneFile {
        /// Number of files.
        count: usize,
        /// The first names.
        names: String,
    },
    /// The directory of the archive is too large.
    #[error("The archive contains too many files. Upload an archive with only one.")]
    TooManyFiles,
    /// The archive contains no file.
    #[error("The archive contains no file.")]
    NoFile,
    /// The archive is encrypted.
    #[error("The archive is protected by a password. Unpack it, and upload the file in it.")]
    Password,
    /// The method of compression is not known.
    #[error(
        "The archive is compressed by a method that cannot be read ({0}). Create it with the usual method, deflate."
    )]
    Method(String),
    /// What was unpacked is no text.
    #[error("The compressed file contains {0}, not text. Unpack it, and upload what is in it.")]
    NotText(&'static str),
    /// The output is too large.
    #[error("The file has more than {} MiB when it is unpacked. Split it into several files.", .0 >> 20)]
    TooLarge(u64),
    /// A row of a sheet has too many cells.
    #[error("The sheet has more than {0} columns. Remove columns, and upload the workbook again.")]
    TooManyColumns(usize),
    /// The caller has as much of the output as it needs; see [`Limits::enough_bytes`](crate::Limits::enough_bytes).
    #[error("The first rows of the file have been read.")]
    Enough,
    /// The ratio of the compression is not that of text.
    #[error(
        "The file grows to more than {0} times its size when it is unpacked. Upload it without compression; save a \
         workbook as CSV."
    )]
    Ratio(u64),
}

impl PreparationError {
    /// Returns the code of a refused file; `None` if another attempt can succeed.
    pub const fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::Io(_) | Self::Enough => return None,
            Self::Workbook(error) => return error.code(),
            Self::Damaged(_) => "archive_damaged",
            Self::Window(_) | Self::TooLarge(_) | Self::Ratio(_) => "archive_too_large",
            Self::NotOneFile { .. } | Self::NoFile | Self::TooManyFiles => "archive_not_one_file",
            Self::Password => "archive_password",
            Self::Method(_) => "archive_method",
            Self::NotText(_) => "archive_not_text",
            Self::TooManyColumns(_) => "too_many_columns",
        })
    }

    /// Returns the limit that is the source of an error.
    pub(crate) fn of_limit(error: &io::Error) -> Option<&Self> {
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }

    /// Treats [`PreparationError::Enough`] as a success.
    ///
    /// # Errors
    /// Every other error.
    pub(crate) fn or_enough(result: Result<(), impl Into<Self>>) -> Result<(), Self> {
        match result.map_err(Into::into) {
            Err(Self::Enough) => Ok(()),
            result => result,
        }
    }

    /// Creates the error of a damaged file. The reason can quote the file, so it is shortened.
    pub(crate) fn damaged(reason: impl ToString) -> Self {
        Self::Damaged(shortened(&reason.to_string()))
    }
}

impl From<io::Error> for PreparationError {
    /// A limit is passed on as it is.
    fn from(error: io::Error) -> Self {
        if let Some(limit) = Self::of_limit(&error) {
            return limit.clone();
        }
        if is_damage(error.kind()) { Self::damaged(error) } else { Self::Io(error.kind()) }
    }
}

impl From<PreparationError> for io::Error {
    fn from(error: PreparationError) -> Self {
        Self::other(error)
    }
}
