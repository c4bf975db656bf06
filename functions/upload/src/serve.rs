//! The function on Lambda, configured from the environment.

use longshore::config::{self, Aws};
use longshore::http;
use longshore_domain::ports::TenantLimits;
use longshore_domain::time_stamp::Timestamp;

use crate::function::Uploads;
use crate::routes::router;

/// Runs the function, configured from the environment.
///
/// # Errors
/// If the environment lacks something, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_http::Error> {
    let max_bytes_per_day = config::max_tenant_upload_bytes_per_day()?;
    let work_calls = config::tenant_work_calls()?;
    let limits = TenantLimits { upload_bytes_per_day: max_bytes_per_day, work_calls, ..TenantLimits::default() };
    let uploads = Uploads {
        store: aws.store()?.with_limits(limits),
        places: aws.files()?,
        access: config::access()?,
        max_file_bytes: config::max_file_bytes()?,
        multipart_bytes: config::multipart_bytes()?,
        max_bytes_per_day,
        tenant_calls: config::tenant_calls()?,
        retention_days: config::retention_days()?,
        clock: Timestamp::now,
    };
    http::serve("upload", router(uploads)).await
}
