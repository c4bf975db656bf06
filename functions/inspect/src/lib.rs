//! Inspects an uploaded file before it becomes a job: how it is written, its columns, its first rows, and what would
//! fail.
//!
//! - **Trigger:** `POST /api/uploads/{fileGuid}/inspect`.
//! - **Reads and writes:** reads the upload, the registration of a registered job type, the presets of the dataset, and
//!   64 KiB each for the header and the rows of a text file (more for a late header). Of a file that must be converted,
//!   it reads what the first 512 KiB of its text need. Counts the call.
//! - **Called twice:** returns the same again.
//! - **If it fails:** the client gets a problem and retries.
//! - **Never:** writes to the bucket; reads another prefix than that of uploads; logs a row.

mod call;
mod document;
mod first_part;
mod openapi;
mod routes;

pub use call::Inspections;
pub use document::InspectionDocument;
pub use first_part::convert_first_part;
pub use routes::{ROUTES, openapi, router, serve};
