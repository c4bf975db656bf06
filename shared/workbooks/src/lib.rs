//! The rows of Excel workbooks (`.xlsx`), read in bounded memory.
//!
//! A workbook is a ZIP archive of XML parts. Its declared sizes, counts and cell positions are untrusted, and it can be
//! a ZIP bomb. So no declared number is used, and every part has a limit for its size, for the size of one event of the
//! XML parser, and for what is kept of it. The cells of a sheet are read one after another; no sheet is held in memory.
//!
//! | module | contents |
//! | --- | --- |
//! | `workbook` | a workbook: its sheets, and the rows of one |
//! | `sheet` | the rows of a sheet |
//! | `cell_start` | the attributes of a cell |
//! | `cell` | the value of a cell as text |
//! | `package` | the parts by their roles: relationships and sheets |
//! | `styles` | which numbers are dates |
//! | `text` | the text of an element; the shared strings |
//! | `xml` | the events of a part, with limits |
//! | `archive` | the limits, and the parts of the archive |
//! | `compound_file` | the container of encrypted and of old workbooks |
//! | `error` | the reasons to refuse a workbook |

mod archive;
mod cell;
mod cell_start;
mod compound_file;
mod error;
mod package;
mod sheet;
mod styles;
mod text;
mod workbook;
mod xml;

pub use archive::Limits;
pub use cell::{CellContent, CellError, CellValue};
pub use error::{WorkbookError, is_damage, shortened};
pub use package::Sheet;
pub use sheet::Row;
pub use workbook::{SheetChoice, Workbook};
