//! The file of failed rows: its layout, and its parser for a corrected copy.
//!
//! Completion writes the file for a spreadsheet. A spreadsheet can change the delimiter, the encoding, the order of the
//! columns, the line ends, the byte order mark, and empty columns and rows at the end. None of these changes a value.
//! Only the column of numbers assigns a row to its item.
//!
//! | file | contains |
//! | --- | --- |
//! | `columns` | the columns of the rows and their names, and their positions in a corrected file |
//! | `corrected` | its rows by number, each row's effect on an item, and counts of rows with the first few numbers |
//! | `findings` | findings about a corrected file's rows, for people |

mod columns;
mod corrected;
mod findings;

pub use columns::{ColumnLayout, Columns, HEAD_BYTES, NotAFailuresFile, REPORT_COLUMNS, SHEET_ROW, free_name, key_of};
pub use corrected::{CorrectedFile, Correction};
pub use findings::Findings;

/// Maximum size of a corrected file in bytes. The file is in memory with sixteen bytes more for each row, in a function
/// of 512 MB: even the shortest rows fit. A larger file can be corrected in parts, because rows that are not in a file
/// stay failed.
pub const CORRECTED_BYTES: u64 = 32 << 20;
