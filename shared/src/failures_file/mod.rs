//! The file of failed rows: its layout, and its parser for a corrected copy.
//!
//! Completion writes it for a spreadsheet, and a spreadsheet changes more than the cells that its user edits: the
//! delimiter, the order of the columns, the line ends, a byte order mark, empty columns and rows at the end. None of
//! these changes a value. Only the column of numbers ties a row to its item.
//!
//! | file | holds |
//! | --- | --- |
//! | `columns` | the columns of the rows and their names |
//! | `layout` | the positions of the columns in a corrected file |
//! | `corrected` | its rows by number, and each row's effect on an item |
//! | `findings` | findings about a corrected file's rows, for people |
//! | `listed` | a count of rows with the first few numbers |

mod columns;
mod corrected;
mod findings;
mod layout;
mod listed;

pub use columns::{Columns, REPORT_COLUMNS, free_name};
pub use corrected::{CorrectedFile, Correction};
pub use findings::Findings;
pub use layout::{HEAD_BYTES, Layout, NotAFailuresFile};

/// Maximum size of a corrected file in bytes. It is held in memory by row number, with up to sixteen bytes beside
/// each row, in a function of 512 MB: even unrealistically short rows fit. A larger file can be corrected in parts,
/// because rows missing in a file stay failed.
pub const CORRECTED_BYTES: u64 = 32 << 20;
