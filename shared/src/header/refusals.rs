//! Errors of headers that cannot be read.

use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::ports::PortError;
use longshore_domain::records::{TextEncoding, UnreadableFile};
use longshore_domain::text::quoted;

use super::seeker::HEADER_BYTES;
use super::{NAME_OVERHEAD, SEARCH_BYTES};

/// Returns the error of a stream that ended before its file. The file is read again, because a part of a line would
/// otherwise be used as the header.
pub(super) fn ended_early() -> PortError {
    PortError { service: "files", operation: "read", source: "the stream ended before the end of the file".into() }
}

/// Returns the error of a file without rows. A sheet is named, because the workbook can have others.
pub(super) fn empty(source: &SourceFile) -> JobError {
    match source.original.as_ref().and_then(|original| original.sheet.as_ref()) {
        Some(sheet) => {
            let message = format!("the sheet {} has no rows; give another one as reading.sheet", quoted(sheet));
            JobError::new(UnreadableFile::Empty.code(), message)
        }
        None => JobError::new(UnreadableFile::Empty.code(), UnreadableFile::Empty.to_string()),
    }
}

pub(super) fn too_few_rows(rows: u32, header_row: u32) -> JobError {
    let message = format!(
        "row {header_row} cannot be the header, because the file has {rows} rows; give the row with the names of the \
         columns as reading.headerRow"
    );
    JobError::new("header_missing", message)
}

pub(super) fn rows_too_far() -> JobError {
    let message = format!(
        "the first {} MiB of the file have no header and no row; remove the blank rows and comments at its beginning",
        SEARCH_BYTES >> 20
    );
    JobError::new("header_missing", message)
}

pub(super) fn undecodable_header(encoding: TextEncoding) -> JobError {
    let message = format!(
        "the header has bytes that are no character in {encoding}; give the encoding of the file as reading.encoding, or \
         save the file as UTF-8"
    );
    JobError::new("wrong_encoding", message)
}

pub(super) fn header_too_long() -> JobError {
    let message = format!(
        "the first line is longer than {} KiB, so it is not a header; check that the file is CSV, and that the first \
         line has no unclosed quote",
        HEADER_BYTES / 1024
    );
    JobError::new("header_too_long", message)
}

pub(super) fn names_too_long() -> JobError {
    let message = format!(
        "the names of the columns take more than {} KiB, counting {NAME_OVERHEAD} bytes more for each; remove columns, or \
         give them shorter names",
        HEADER_BYTES / 1024
    );
    JobError::new("header_too_long", message)
}

pub(super) fn unterminated_header() -> JobError {
    let message =
        "a quote that opens in the first line is never closed, so the whole file is one line; close the quote";
    JobError::new("unterminated_quote", message)
}
