//! The settings of the functions: limits, quotas and times.

use std::str::FromStr;

use longshore_domain::rate::Rate;

use super::{ConfigError, parsed};
use crate::chunk::CostMeter;
use crate::metering;

/// Returns the meter of a function that processes chunks: its memory, which Lambda sets in
/// `AWS_LAMBDA_FUNCTION_MEMORY_SIZE`, and the number of chunks at once, `LONGSHORE_CHUNKS_AT_ONCE`.
///
/// Either has a default. CloudFormation updates the code and the variables of a function by two calls, and a worker that
/// does not start in between would fail its chunks.
///
/// # Errors
/// If one is not a whole number.
pub fn cost_meter() -> Result<CostMeter, ConfigError> {
    let CostMeter { memory_mb, chunks_at_once, .. } = CostMeter::default();
    Ok(CostMeter {
        read: metering::read,
        memory_mb: parsed_or("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", memory_mb)?,
        chunks_at_once: parsed_or("LONGSHORE_CHUNKS_AT_ONCE", chunks_at_once)?,
    })
}

fn parsed_or<T: FromStr>(name: &'static str, default: T) -> Result<T, ConfigError> {
    match parsed(name) {
        Err(ConfigError::Missing(_)) => Ok(default),
        value => value,
    }
}

/// Returns the maximum size of an upload in bytes: `LONGSHORE_MAX_FILE_BYTES`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn max_file_bytes() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_FILE_BYTES")
}

/// Returns the size in bytes above which a file is uploaded in parts: `LONGSHORE_MULTIPART_BYTES`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn multipart_bytes() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MULTIPART_BYTES")
}

/// Returns the days until uploads, job files and job records expire: `LONGSHORE_RETENTION_DAYS`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn retention_days() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_RETENTION_DAYS")
}

/// Returns the maximum number of active jobs of a tenant: `LONGSHORE_MAX_ACTIVE_JOBS`.
///
/// # Errors
/// If the variable is missing or not a whole number.
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
/// If the variable is missing or not a whole number.
pub fn tenant_work_calls() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_TENANT_WORK_CALLS")
}

/// Returns the maximum number of calls of a tenant's endpoints, in ten seconds and over all processes:
/// `LONGSHORE_TENANT_WEBHOOK_CALLS`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn tenant_webhook_calls() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_TENANT_WEBHOOK_CALLS")
}

/// Returns the maximum bytes of one tenant's uploads in a day: `LONGSHORE_MAX_TENANT_UPLOAD_BYTES_PER_DAY`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn max_tenant_upload_bytes_per_day() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_TENANT_UPLOAD_BYTES_PER_DAY")
}

/// Returns the maximum bytes of the files of one tenant's jobs in a day: `LONGSHORE_MAX_TENANT_JOB_BYTES_PER_DAY`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn max_tenant_job_bytes_per_day() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_TENANT_JOB_BYTES_PER_DAY")
}

/// Returns the queue depth in chunks above which no job is accepted: `LONGSHORE_MAX_QUEUED_CHUNKS`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn max_queued_chunks() -> Result<u64, ConfigError> {
    parsed("LONGSHORE_MAX_QUEUED_CHUNKS")
}

/// Returns the seconds after which an unfinished job is stopped: `LONGSHORE_JOB_TIME_LIMIT_SECONDS`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn job_time_limit_s() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_JOB_TIME_LIMIT_SECONDS")
}

/// Returns the seconds between a stop and the final count: `LONGSHORE_STOP_GRACE_SECONDS`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn stop_grace_s() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_STOP_GRACE_SECONDS")
}

/// Returns the first delay of a transient item, in seconds: `LONGSHORE_RETRY_BASE_SECONDS`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn retry_base_s() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_RETRY_BASE_SECONDS")
}

/// Returns the seconds without progress after which the sweeper sends a chunk again: `LONGSHORE_STALL_SECONDS`.
///
/// # Errors
/// If the variable is missing or not a whole number.
pub fn stall_s() -> Result<i64, ConfigError> {
    parsed("LONGSHORE_STALL_SECONDS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meter_of_a_function_without_variables_has_the_defaults() {
        let (meter, default) = (cost_meter().unwrap(), CostMeter::default());
        assert_eq!((meter.memory_mb, meter.chunks_at_once), (default.memory_mb, default.chunks_at_once));
    }
}
