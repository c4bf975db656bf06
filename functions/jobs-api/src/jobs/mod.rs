//! Calls about jobs, one file per call, and their shared parts.
//!
//! | file | contains |
//! | --- | --- |
//! | `create`, `list`, `get`, `cancel`, `retry`, `start`, `undo`, `delete`, `delete_dataset` | the calls |
//! | `request`, `request_checks` | the parameters of a create |
//! | `results_request` | the form of the results file in a create |
//! | `export` | the columns of an export whose request names none |
//! | `source_request` | the dataset, or the part of another job, in a create |
//! | `part_source` | the part of a job that a create names |
//! | `upload_source` | the uploaded file that a create or a retry names |
//! | `items` | the items in the body of a create |
//! | `source` | the source of a job in its document, and the stored items of a request |
//! | `retry_request` | the parameters of a retry: the failed items that run again |
//! | `find` | the job of a path, and its groups |
//! | `template` | the job of a schedule |
//! | `estimate` | the estimated cost of a new job, and the smallest maximum of its cost |
//! | `accept` | the create message, and the responses with an accepted job |
//! | `document`, `links` | the response |
//! | `scheduled_start` | the limit of a start in the future |
//! | `metadata` | the labels of a job, and the filter by them |
//! | `poll_interval` | the value of `Retry-After` |

pub(crate) mod accept;
pub(crate) mod cancel;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod delete_dataset;
pub(crate) mod document;
mod estimate;
mod export;
pub(crate) mod find;
pub(crate) mod get;
mod items;
pub(crate) mod links;
pub(crate) mod list;
pub(crate) mod metadata;
mod part_source;
mod poll_interval;
mod request;
mod request_checks;
mod results_request;
pub(crate) mod retry;
mod retry_request;
mod scheduled_start;
mod source;
mod source_request;
pub(crate) mod start;
pub(crate) mod template;
pub(crate) mod undo;
mod upload_source;

pub use document::{JobCounts, JobDocument, JobsDocument, Undoes};
pub use links::Links;
pub use source::JobSource;
