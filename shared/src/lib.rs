//! Longshore runs long web jobs - imports, exports, any work over many items - on AWS Lambda with exact progress.
//!
//! This crate contains all code that depends on AWS, HTTP or the environment, and the trait that a team implements to
//! add a job type of its own ([`handler::JobType`]). The rules without I/O are in `longshore-domain`.

// A row that makes its handler panic fails alone because the panic is caught: decision 0003.
#[cfg(not(panic = "unwind"))]
compile_error!("a panicking row would fail its whole chunk: set panic = \"unwind\" in the profile");

pub mod aws_limits;
mod back_off;
pub mod batch;
pub mod chunk;
mod column_names;
pub mod config;
pub mod crc64;
pub mod events;
pub mod failures_file;
pub mod field_error;
pub mod files;
pub mod fingerprint;
mod first_rows;
pub mod formula;
pub mod handler;
pub mod header;
pub mod http;
pub mod image_file;
pub mod inspection;
pub mod job_request;
pub mod job_retry;
pub mod job_types;
pub mod json_schema;
pub mod metering;
pub mod metrics;
pub mod openapi;
pub mod pause_cache;
pub mod ports;
pub mod problem;
pub mod queues;
pub mod reading;
pub mod receipt;
pub mod remote;
pub mod result;
#[cfg(test)]
mod shapes;
pub mod store;
pub mod stored_report;
pub mod telemetry;
pub mod waiting;
pub mod webhooks;
