//! Calls of this function.

use std::sync::Arc;

use axum::Router;
use longshore::http::{self, CallLimit};
use longshore_domain::ports::{JobStore, TenantCounts};

use crate::function::Uploads;
use crate::places::UploadPlaces;
use crate::{complete, create, read, renew};

// Only the store counts a create: a repeated one gets its first answer regardless of the rate limit.
longshore::routes! {
    openapi();
    [S: JobStore + TenantCounts + 'static, P: UploadPlaces + 'static] Arc<Uploads<S, P>>;
    POST "/api/uploads"                      create::create<S, P> costs 0,
    GET  "/api/uploads/{fileGuid}"           read::status<S, P>,
    POST "/api/uploads/{fileGuid}/url"       renew::renew<S, P>,
    POST "/api/uploads/{fileGuid}/complete"  complete::complete<S, P>,
}

/// Returns the function as a router.
pub fn router<S, P>(uploads: Uploads<S, P>) -> Router
where
    S: JobStore + TenantCounts + 'static,
    P: UploadPlaces + 'static,
{
    let limit = CallLimit::new(uploads.tenant_calls, uploads.clock);
    let router = http::with_call_limit(http::with_problems(routes::<S, P>()), limit);
    http::with_access(router, &uploads.access).with_state(Arc::new(uploads))
}
