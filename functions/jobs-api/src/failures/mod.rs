//! `GET /api/jobs/{jobId}/failures`: the failed items with their original rows, in pages; or the whole file.
//!
//! | file | contains |
//! | --- | --- |
//! | `list` | the call |
//! | `request` | the client's parameters, and the cursor of a page |
//! | `rows` | the rows of the file |
//! | `page` | ranged reads until a page is full |
//! | `document` | the response |
//! | `error` | reasons for which a page cannot be read |

mod document;
mod error;
pub(crate) mod list;
mod page;
mod request;
mod rows;

pub use document::{FailureDocument, FailuresDocument};
