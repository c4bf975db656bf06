//! Finds where the records of a file begin and end, without reading their cells.
//!
//! A splitter that cuts inside a quoted line break turns one row into two wrong ones, and every count after it is a lie.
//! So there is one definition of "a record", used when a file is split and again when a chunk is worked:
//! [`Cutter`] for a stream that arrives in blocks, [`records()`] for a chunk held in memory.
//! [`sniff()`] looks at the first block and refuses what is no text file, in words that its owner can act on.
//!
//! | file | holds |
//! | --- | --- |
//! | `format` | the two formats, and the guess from name and content type |
//! | `span` | where one record lies |
//! | `cutter` | the public cutter and the iterator over a slice |
//! | `csv`, `jsonl` | one state machine each |
//! | `sniff`, `unreadable` | the first look, and what it can refuse |

mod csv;
mod cutter;
mod format;
mod jsonl;
mod sniff;
mod span;
mod unreadable;

pub use self::cutter::{Cutter, delimited_records, records};
pub use self::format::Format;
pub use self::sniff::{Sniffed, check_utf8, sniff};
pub use self::span::Span;
pub use self::unreadable::{Encoding, FileKind, Unreadable};
