//! Calls of this function.

use longshore_domain::ports::UploadStorage;
use std::sync::Arc;

use axum::Router;
use longshore::config::{self, Aws};
use longshore::http::{self, CallLimit};
use longshore_domain::ports::{JobStore, TenantCounts, TenantLimits};
use longshore_domain::timestamp::Timestamp;

use crate::function::Uploads;
use crate::{complete, create, read, renew};

// A create costs 0 because its handler counts it: a repeated create is answered regardless of the rate limit.
longshore::routes! {
    openapi();
    [S: JobStore + TenantCounts + 'static, P: UploadStorage + 'static] Arc<Uploads<S, P>>;
    POST "/api/uploads"                      create::create<S, P> costs 0,
    GET  "/api/uploads/{fileGuid}"           read::status<S, P>,
    POST "/api/uploads/{fileGuid}/url"       renew::renew<S, P>,
    POST "/api/uploads/{fileGuid}/complete"  complete::complete<S, P>,
}

/// Returns the function as a router.
pub fn router<S, P>(uploads: Uploads<S, P>) -> Router
where
    S: JobStore + TenantCounts + 'static,
    P: UploadStorage + 'static,
{
    let limit = CallLimit::new(uploads.tenant_calls, uploads.clock);
    let router = http::with_call_limit(http::with_problems(routes::<S, P>()), limit);
    http::with_access(router, &uploads.access).with_state(Arc::new(uploads))
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_http::Error> {
    let max_bytes_per_day = config::max_tenant_upload_bytes_per_day()?;
    let work_calls = config::tenant_work_calls()?;
    let limits = TenantLimits { upload_bytes_per_day: max_bytes_per_day, work_calls, ..TenantLimits::default() };
    let uploads = Uploads {
        store: aws.store()?.with_limits(limits),
        storage: aws.files()?,
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
