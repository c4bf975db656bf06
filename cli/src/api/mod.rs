//! A client of Longshore's HTTP API.
//!
//! | file | content |
//! | --- | --- |
//! | `client` | the client, and the calls for jobs, results and records |
//! | `http` | the HTTP client: TLS, limits of time, faults that may pass |
//! | `upload` | the upload of a local file, in parallel parts that are resumed |
//! | `file` | a local file to upload |
//! | `answer` | answers, and the errors of refusals |
//! | `documents` | the API's documents |

mod answer;
mod client;
mod documents;
mod file;
mod http;
mod upload;

pub use answer::Answer;
pub use client::{Api, JobResponse, Tokens};
pub use documents::{ImportOptions, Job, Mode, Output, Page};
pub use file::LocalFile;
pub use http::Transient;
pub(crate) use http::{agent, check_secure, is_loopback};
