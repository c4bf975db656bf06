//! Tabular data in text files (CSV): detection of the encoding, the dialect, the header row and the column types.
//!
//! A spreadsheet program, a bank or a database writes a table in its own encoding, with its own delimiter, below its
//! own title rows, and with the dates and numbers of its locale. This crate detects these in the first bytes of a file,
//! and parses values in a known notation.
//!
//! A guess is marked as such. If two readings of a file or of a column fit equally well, both are returned, so that a
//! person can choose. What is found holds for the whole file: no row is guessed by itself.
//!
//! | module | contents |
//! | --- | --- |
//! | `cells` | the cells of a record |
//! | `converter` | records in UTF-8 with commas and double quotes |
//! | `encoding` | detection of the encoding |
//! | `dialect` | detection of the delimiter and the quote character |
//! | `header` | detection of the header row |
//! | `rows` | the first rows of a file, which both detections compare |
//! | `numbers`, `dates`, `times`, `booleans` | values in the notation of a column |
//! | `notation` | detection of a column's notation |
//! | `column` | detection of a column's type |
//! | `value` | values of a column whose type is known, and detection of its notation |

mod booleans;
mod cells;
mod column;
mod converter;
mod dates;
mod dialect;
mod encoding;
mod header;
mod notation;
mod numbers;
mod rows;
mod times;
mod value;

pub use booleans::parse_boolean;
pub use cells::{CellReader, Cells};
pub use column::{ColumnType, ColumnTypeDetector};
pub use converter::{RecordConverter, push_cell};
pub use dates::{DateNotation, DateOrder, PIVOT_YEARS, parse_date};
pub use dialect::{DetectedDialect, detect_dialect, detect_quote};
pub use encoding::{DetectedEncoding, detect_encoding};
pub use header::{DetectedHeader, detect_header};
pub use notation::Detection;
pub use numbers::{NumberNotation, parse_number};
pub use value::{Ambiguity, DetectedDates, Numbers, detect_dates, detect_numbers, read_date, read_number};
