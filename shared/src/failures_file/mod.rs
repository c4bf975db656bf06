//! The file of the rows that failed: how it is laid out, and how it is read when a person has corrected it.
//!
//! Completion writes it for a spreadsheet, and a spreadsheet changes more than the cells that its user means: the byte
//! between the cells, the order of the columns, the line ends, a mark at the beginning, empty columns and rows at the
//! end. None of these changes a value. The column of numbers ties a row to its item, and nothing else does.
//!
//! | file | holds |
//! | --- | --- |
//! | `columns` | which columns the rows have, and what they are called |
//! | `layout` | where a corrected file has them |
//! | `corrected` | its rows by number, and what each makes of an item |
//! | `findings` | what a person should know of a corrected file's rows |

mod columns;
mod corrected;
mod findings;
mod layout;

pub use columns::{Columns, REPORT_COLUMNS, free_name};
pub use corrected::{CorrectedFile, Correction};
pub use findings::Findings;
pub use layout::{HEAD_BYTES, Layout, NotAFailuresFile};

/// Bytes of the largest corrected file. It is held in memory by row number, with up to sixteen bytes beside each row, in a
/// function of 512 MB: shorter rows than any real one still fit. Whoever has more corrects it in parts, for rows that do
/// not stand in a file stay failed.
pub const CORRECTED_BYTES: u64 = 32 << 20;
