//! A client of Longshore's HTTP API.
//!
//! | file | content |
//! | --- | --- |
//! | `client` | the client, and the calls for jobs, results and records |
//! | `tokens` | the tokens with which it calls the API |
//! | `again` | further tries of a call, and what the user is told of the waits |
//! | `http` | the HTTP client: TLS, limits of time, faults that may pass |
//! | `upload` | the upload of a local file, in parallel parts that are resumed |
//! | `file` | a local file to upload |
//! | `answer` | answers, and the errors of refusals |
//! | `refused` | refusals as the causes of errors, for programs |
//! | `removal` | the removal of a job |
//! | `documents` | the API's documents |

mod again;
mod answer;
mod client;
mod documents;
mod file;
mod http;
mod refused;
mod removal;
mod tokens;
mod upload;

pub(crate) use again::Fault;
pub use answer::Answer;
pub(crate) use answer::is_transient_status;
pub use client::{Api, JobResponse};
pub(crate) use documents::is_final;
pub use documents::{CostEstimate, ImportOptions, Job, Mode, Output, Page};
pub use file::LocalFile;
pub use http::Transient;
pub(crate) use http::{agent, check_secure, is_loopback, no_answer, time_left};
pub(crate) use refused::{ApiError, is_effect_unknown, is_refused_with, is_transient, refusal};
pub(crate) use removal::JobRemoval;
pub use tokens::Tokens;
