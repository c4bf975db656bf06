//! Conversion of files that are not text into text: compressed files, workbooks, and text in UTF-16.
//!
//! A job's file is split at its line breaks, and any part of it can be read at any time. A workbook, a compressed file
//! and UTF-16 cannot be read so. They are converted once, from the first byte to the last, and the job processes the
//! result.
//!
//! The files are untrusted. A few bytes can decompress to terabytes, declared sizes are not true, and an archive can
//! contain archives. So no declared size is used, the output has a limit, no archive in an archive is opened, and
//! memory is bounded.
//!
//! | module | contents |
//! | --- | --- |
//! | `convert` | the conversion |
//! | `conversion` | the conversion in a thread of its own, whose caller reads and writes the files |
//! | `remote_file`, `parts` | its file, and its output |
//! | `unpack` | gzip and Zstandard |
//! | `archive` | a ZIP archive with one file |
//! | `table` | a sheet of a workbook as CSV |
//! | `text` | the unpacked bytes as text that can be split; UTF-16 as UTF-8 |
//! | `sink` | a writer into which bytes are unpacked |
//! | `limits` | the limits, and a writer that observes them |
//! | `error` | the reasons to refuse a file |

mod archive;
mod conversion;
mod convert;
mod error;
mod limits;
mod parts;
mod remote_file;
mod sink;
mod table;
mod text;
mod unpack;

pub use conversion::{Conversion, Step};
pub use convert::{FoundSheet, Prepared, convert, sheet_choice};
pub use error::PreparationError;
pub use limits::Limits;
pub use longshore_workbooks::SheetChoice;
pub use sink::Sink;
