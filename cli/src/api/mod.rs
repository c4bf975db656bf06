//! A client of Longshore's HTTP API, with the calls that a browser makes, and one that reads records.
//!
//! | file | content |
//! | --- | --- |
//! | `client` | the calls for jobs, results and records, and the upload of a local file |
//! | `documents` | the API's documents |

mod client;
mod documents;

pub use client::{Api, JobResponse, LocalFile};
pub use documents::{ImportOptions, Job, Mode, Output, Page};
