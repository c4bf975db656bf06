//! The only code that reads the environment, so that a function's settings are visible, typed and checked.
//!
//! A function asks [`Aws`] only for the adapters that it uses: an unused client is never built, and an unused
//! variable may be missing. A missing or malformed variable is an error that names it.

mod access;
mod aws;
mod calls;
mod variable;

use longshore_domain::rate::Rate;

pub use access::access;
pub use access::operators;
pub use aws::Aws;
pub use calls::{Calls, take_calls};
pub use variable::{ConfigError, parsed, text};

/// Names of the environment variables, as the template sets them.
pub mod names {
    /// Table of jobs, groups, uploads and idempotency keys.
    pub const JOBS_TABLE: &str = "LONGSHORE_JOBS_TABLE";
    /// Table of the records that imports write.
    pub const RECORDS_TABLE: &str = "LONGSHORE_RECORDS_TABLE";
    /// Bucket of uploads, work files and reports.
    pub const BUCKET: &str = "LONGSHORE_BUCKET";
    /// Queue of create-job messages (FIFO).
    pub const CREATE_QUEUE: &str = "LONGSHORE_CREATE_JOB_QUEUE_URL";
    /// Queue of the chunks of jobs of high priority (standard).
    pub const HIGH_CHUNK_QUEUE: &str = "LONGSHORE_HIGH_CHUNK_QUEUE_URL";
    /// Queue of the chunks of jobs of normal priority (standard).
    pub const CHUNK_QUEUE: &str = "LONGSHORE_CHUNK_QUEUE_URL";
    /// Queue of the chunks of jobs of low priority (standard).
    pub const LOW_CHUNK_QUEUE: &str = "LONGSHORE_LOW_CHUNK_QUEUE_URL";
    /// Queue of complete-job messages (FIFO).
    pub const COMPLETE_QUEUE: &str = "LONGSHORE_COMPLETE_JOB_QUEUE_URL";
    /// Dead-letter queue of create-job.
    pub const CREATE_DLQ: &str = "LONGSHORE_CREATE_JOB_DLQ_URL";
    /// Dead-letter queue of process-item.
    pub const CHUNK_DLQ: &str = "LONGSHORE_CHUNK_DLQ_URL";
    /// Dead-letter queue of complete-job.
    pub const COMPLETE_DLQ: &str = "LONGSHORE_COMPLETE_JOB_DLQ_URL";
}

/// Returns the maximum size of an upload in bytes: `LONGSHORE_MAX_FILE_BYTES`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn max_file_bytes() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_FILE_BYTES")
}

/// Returns the size in bytes above which a file is uploaded in parts: `LONGSHORE_MULTIPART_BYTES`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn multipart_bytes() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MULTIPART_BYTES")
}

/// Returns the days until uploads, job files and job records expire: `LONGSHORE_RETENTION_DAYS`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn retention_days() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_RETENTION_DAYS")
}

/// Returns the maximum number of active jobs of a tenant: `LONGSHORE_MAX_ACTIVE_JOBS`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn max_active_jobs() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_ACTIVE_JOBS")
}

/// Returns the rate limit of a tenant's calls per process: `LONGSHORE_TENANT_CALLS_PER_SECOND` and
/// `LONGSHORE_TENANT_CALLS_AT_ONCE`.
///
/// # Errors
/// If one is missing or not a whole number.
pub fn tenant_calls() -> Result<Rate, ConfigError> {
    let (per_second, burst) = ("LONGSHORE_TENANT_CALLS_PER_SECOND", "LONGSHORE_TENANT_CALLS_AT_ONCE");
    Ok(Rate { per_second: parsed(per_second)?, burst: parsed(burst)? })
}

/// Returns the maximum number of a tenant's calls that create work, in ten seconds and over all processes:
/// `LONGSHORE_TENANT_WORK_CALLS`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn tenant_work_calls() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_TENANT_WORK_CALLS")
}

/// Returns the maximum bytes of one tenant's uploads in a day: `LONGSHORE_MAX_TENANT_UPLOAD_BYTES_PER_DAY`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn max_tenant_upload_bytes_per_day() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_TENANT_UPLOAD_BYTES_PER_DAY")
}

/// Returns the maximum bytes of the files of one tenant's jobs in a day: `LONGSHORE_MAX_TENANT_JOB_BYTES_PER_DAY`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn max_tenant_job_bytes_per_day() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_TENANT_JOB_BYTES_PER_DAY")
}

/// Returns the queue depth in chunks above which no job is accepted: `LONGSHORE_MAX_QUEUED_CHUNKS`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn max_queued_chunks() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_QUEUED_CHUNKS")
}

/// Returns the seconds after which an unfinished job is stopped: `LONGSHORE_JOB_TIME_LIMIT_SECONDS`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn job_time_limit_s() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_JOB_TIME_LIMIT_SECONDS")
}

/// Returns the seconds between a stop and the final count: `LONGSHORE_STOP_GRACE_SECONDS`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn stop_grace_s() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_STOP_GRACE_SECONDS")
}

/// Returns the first delay of a transient item, in seconds: `LONGSHORE_RETRY_BASE_SECONDS`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn retry_base_s() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_RETRY_BASE_SECONDS")
}

/// Returns the seconds without progress after which the sweeper sends a chunk again: `LONGSHORE_STALL_SECONDS`.
///
/// # Errors
/// If it is missing or not a whole number.
pub fn stall_s() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_STALL_SECONDS")
}
