//! A client of Longshore's HTTP API, with the calls that a browser makes, and one that reads records.
//!
//! | file | content |
//! | --- | --- |
//! | `client` | the client, and the calls for jobs, results and records |
//! | `upload` | the upload of a local file, in parallel parts that are resumed |
//! | `answer` | answers, and the errors of refusals |
//! | `documents` | the API's documents |

mod answer;
mod client;
mod documents;
mod upload;

pub use answer::{Answer, NoAnswer};
pub(crate) use client::agent;
pub use client::{Api, JobResponse};
pub use documents::{ImportOptions, Job, Mode, Output, Page};
pub use upload::LocalFile;
