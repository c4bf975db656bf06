//! `GET /api/jobs/{jobId}/failures`: the failed items with their original rows, in pages; or the whole file.
//!
//! | file | contains |
//! | --- | --- |
//! | `list` | the call and its parameters |
//! | `page` | ranged reads until a page is full, the cursor of a page, and reasons for which a page cannot be read |
//! | `workbook` | the whole file as a workbook |
//! | `rows` | the rows of the file, and the response with their items |

pub(crate) mod list;
mod page;
mod rows;
mod workbook;

pub use rows::{FailureDocument, FailuresDocument};
