//! Record boundaries: finds the start and end of each record of a file, without parsing its cells.
//!
//! A splitter that cuts inside a quoted line break turns one row into two wrong ones, and every later count is wrong.
//! So there is one definition of "a record", used to split a file and again to process a chunk: [`Cutter`] for a stream
//! that arrives in blocks, [`records()`] for a chunk held in memory. [`sniff()`] inspects the first block and refuses a
//! file that is not text, with a message that its owner can act on.
//!
//! | file | contents |
//! | --- | --- |
//! | `form` | the forms of files that are converted before they are split |
//! | `format` | the two formats, and the guess from name and content type |
//! | `dialect` | the delimiter and the quote character of CSV |
//! | `encoding` | the encoding of text |
//! | `reading` | the encoding, the dialect and the header row of a file |
//! | `given_sheet` | the choice of a sheet of a workbook |
//! | `cell_kind` | the kind of a cell in the text of a prepared sheet |
//! | `boundaries` | the position of one record, and a state machine for each format |
//! | `cutter` | the public cutter and the iterator over a slice |
//! | `sniff` | inspection of the first block, and the reasons to refuse a file |

mod boundaries;
mod cell_kind;
mod cutter;
mod dialect;
mod encoding;
mod form;
mod format;
mod given_sheet;
mod reading;
mod sniff;

pub use self::boundaries::Span;
pub use self::cell_kind::CellKind;
pub use self::cutter::{Cutter, csv_records, records};
pub use self::dialect::{Delimiter, Dialect, Quote};
pub use self::encoding::{TextEncoding, UnknownEncoding};
pub use self::form::Form;
pub use self::format::{Format, is_compressed_name};
pub use self::given_sheet::GivenSheet;
pub use self::reading::{GivenReading, Reading};
pub use self::sniff::{Encoding, Extent, FileKind, Sniffed, TextKind, UnreadableFile, check_utf8, sniff};
