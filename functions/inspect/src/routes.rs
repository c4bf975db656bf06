//! Calls of this function.

use std::sync::Arc;

use axum::Router;
use longshore::config::{self, Aws};
use longshore::handler::Registry;
use longshore::http::{self, CallLimit};
use longshore_domain::ports::{Files, JobStore, JobTypes, Presets, TenantCounts, TenantLimits};
use longshore_domain::timestamp::Timestamp;

use crate::call;
use crate::call::Inspections;

longshore::routes! {
    openapi();
    [S: JobStore + JobTypes + TenantCounts + Presets + 'static, F: Files + 'static] Arc<Inspections<S, F>>;
    POST "/api/uploads/{fileGuid}/inspect"  call::inspect<S, F> costs 0,
}

/// Returns the function as a router.
pub fn router<S, F>(inspections: Inspections<S, F>) -> Router
where
    S: JobStore + JobTypes + TenantCounts + Presets + 'static,
    F: Files + 'static,
{
    let limit = CallLimit::new(inspections.tenant_calls, inspections.clock);
    let router = http::with_call_limit(http::with_problems(routes::<S, F>()), limit);
    http::with_access(router, &inspections.access).with_state(Arc::new(inspections))
}

/// Runs the function with these job types, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws, registry: Registry) -> Result<(), lambda_http::Error> {
    let limits = TenantLimits { work_calls: config::tenant_work_calls()?, ..TenantLimits::default() };
    let inspections = Inspections {
        store: aws.store()?.with_limits(limits),
        files: aws.files()?,
        registry,
        access: config::access()?,
        max_file_bytes: config::max_file_bytes()?,
        tenant_calls: config::tenant_calls()?,
        clock: Timestamp::now,
    };
    http::serve("inspect", router(inspections)).await
}
