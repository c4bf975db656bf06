//! The function on Lambda, configured from the environment.

use longshore::config::{self, Aws, ConfigError};
use longshore::handler::Registry;
use longshore::http;
use longshore::ports::Ports;
use longshore_domain::ports::TenantLimits;
use longshore_domain::time_stamp::Timestamp;

use crate::backend::{Api, Deployed, Limits};
use crate::queue_depths::QueueDepths;
use crate::routes::router;

/// Runs the function with these job types, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws, registry: Registry) -> Result<(), lambda_http::Error> {
    let api = Api::<Deployed> {
        ports: Ports { store: aws.store()?.with_limits(tenant_limits()?), queues: aws.queues(), files: aws.files()? },
        records: aws.records()?,
        registry,
        access: config::access()?,
        limits: Limits {
            max_file_bytes: config::max_file_bytes()?,
            retention_days: config::retention_days()?,
            job_time_limit_s: config::job_time_limit_s()?,
            max_queued_chunks: config::max_queued_chunks()?,
        },
        tenant_calls: config::tenant_calls()?,
        queue_depths: QueueDepths::default(),
        clock: Timestamp::now,
    };
    http::serve("jobs-api", router(api)).await
}

fn tenant_limits() -> Result<TenantLimits, ConfigError> {
    let (active_jobs, work_calls) = (config::max_active_jobs()?, config::tenant_work_calls()?);
    let job_bytes_per_day = config::max_tenant_job_bytes_per_day()?;
    Ok(TenantLimits { active_jobs, work_calls, job_bytes_per_day, ..TenantLimits::default() })
}
