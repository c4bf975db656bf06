//! A client of Longshore's HTTP API.
//!
//! | file | content |
//! | --- | --- |
//! | `client` | the client, and the calls for jobs, results and records |
//! | `http` | the HTTP client: TLS, limits of time, faults that may pass |
//! | `upload` | the upload of a local file, in parallel parts that are resumed |
//! | `file` | a local file to upload |
//! | `answer` | answers, and the errors of refusals |
//! | `refused` | refusals as the causes of errors, for programs |
//! | `removal` | the removal of a job |
//! | `documents` | the API's documents |

mod answer;
mod client;
mod documents;
mod file;
mod http;
mod refused;
mod removal;
mod upload;

pub use answer::Answer;
pub use client::{Api, JobResponse, Tokens};
pub(crate) use documents::is_final;
pub use documents::{CostEstimate, ImportOptions, Job, Mode, Output, Page};
pub use file::LocalFile;
pub use http::Transient;
pub(crate) use http::{agent, check_secure, is_loopback};
pub(crate) use refused::{ApiError, is_refused_with, is_transient, refusal};
pub(crate) use removal::JobRemoval;
