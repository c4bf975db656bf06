//! HTTP API of jobs: creation, progress and results.
//!
//! - **Trigger:** every call of the HTTP API except those about uploads and dead letters. Unknown routes are answered
//!   here too.
//! - **Reads and writes:** a create writes the job, its definition, its idempotency key and its entry among the
//!   tenant's active jobs in one transaction, then sends the create message. A cancel stops the job; a delete hides and
//!   stops it: one conditional write each, then the complete message. All other calls only read, strongly consistently,
//!   groups before the job. Lists use an index that may lag by a moment. An audit reads all records of a job and all
//!   rows of its report.
//! - **Called twice:** with an `Idempotency-Key` the second create returns the first one's job; without one it creates
//!   another job. A second cancel finds the job stopping, a second delete finds no job, a second start returns the job
//!   that the first one created. Reads change nothing.
//! - **If it fails:** a job whose message could not be sent is stored and waiting; the sweeper sends the message. The
//!   same holds for a job that was stopped, or opened again.
//! - **Public:** only the documents about the API.
//! - **Never:** returns counts that do not add up, an internal cause, or a link that is valid for more than 15 minutes.

mod audit;
mod backend;
mod cancel;
mod corrected;
mod create;
mod datasets;
mod delete;
mod document;
mod documents;
mod etag;
mod failures;
mod job;
mod links;
mod list;
mod openapi;
mod output;
mod poll_interval;
mod queue_depths;
mod records;
mod retry;
mod start;
mod unreadable;

use std::sync::Arc;

use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use longshore::config::{self, Aws, ConfigError};
use longshore::handler::Registry;
use longshore::http::{self, CallCost, CallLimit};
use longshore::ports::Ports;
use longshore::problem::{Kind, Problem};
use longshore_domain::ports::TenantLimits;
use longshore_domain::time_stamp::Timestamp;

pub use audit::{AuditDocument, Check, Difference, Unchecked, audit};
pub use backend::{Api, Backend, Deployed, Limits};
pub use datasets::{DatasetDocument, DatasetLinks, DatasetsDocument};
pub use document::{JobCounts, JobDocument, Links};
pub use failures::{FailureDocument, FailuresDocument};
pub use links::DownloadUrls;
pub use list::JobsDocument;
pub use openapi::openapi;
pub use output::{FileLink, FileLinks, OutputDocument, ReceiptLink};
pub use queue_depths::QueueDepths;
pub use records::{RecordDocument, RecordsDocument};

/// Routes of this function.
pub const ROUTES: [(&str, &str); 16] = [
    ("POST", "/api/jobs"),
    ("GET", "/api/jobs"),
    ("GET", "/api/jobs/{jobId}"),
    ("DELETE", "/api/jobs/{jobId}"),
    ("POST", "/api/jobs/{jobId}/cancel"),
    ("GET", "/api/jobs/{jobId}/output"),
    ("GET", "/api/jobs/{jobId}/failures"),
    ("GET", "/api/jobs/{jobId}/audit"),
    ("POST", "/api/jobs/{jobId}/retry"),
    ("POST", "/api/jobs/{jobId}/start"),
    ("GET", "/api/datasets"),
    ("GET", "/api/datasets/{dataset}/records"),
    ("GET", "/api/openapi.json"),
    ("GET", "/api/docs"),
    ("GET", "/api/problems"),
    ("GET", "/api/problems/{kind}"),
];

/// Routes that need no token: documents without any tenant's data.
pub const PUBLIC_ROUTES: [(&str, &str); 4] =
    [("GET", "/api/openapi.json"), ("GET", "/api/docs"), ("GET", "/api/problems"), ("GET", "/api/problems/{kind}")];

/// An audit reads a whole report, for up to twenty seconds.
const AUDIT: CallCost = CallCost(20);

/// Returns the function as a router.
pub fn router<B: Backend>(api: Api<B>) -> Router {
    let router = Router::new()
        // The handler itself counts a create, after it has looked up the idempotency key: a repeated create is answered
        // regardless of the rate limit.
        .route("/api/jobs", post(create::create::<B>).layer(Extension(CallCost(0))).get(list::list::<B>))
        .route("/api/jobs/{jobId}", get(job::get::<B>).delete(delete::delete::<B>))
        .route("/api/jobs/{jobId}/cancel", post(cancel::cancel::<B>))
        .route("/api/jobs/{jobId}/output", get(output::get::<B>))
        .route("/api/jobs/{jobId}/failures", get(failures::list::<B>))
        .route("/api/jobs/{jobId}/audit", get(audit::get::<B>).layer(Extension(AUDIT)))
        .route("/api/jobs/{jobId}/retry", post(retry::retry::<B>))
        .route("/api/jobs/{jobId}/start", post(start::start::<B>))
        .route("/api/datasets", get(datasets::list::<B>))
        .route("/api/datasets/{dataset}/records", get(records::list::<B>))
        .route("/api/openapi.json", get(documents::openapi))
        .route("/api/docs", get(documents::docs))
        .route("/api/problems", get(documents::problems::kinds))
        .route("/api/problems/{kind}", get(documents::problems::kind))
        .route("/api/uploads", any(async |uri: Uri| wrong_method(&uri, "POST")))
        .route("/api/uploads/{fileGuid}", any(async |uri: Uri| wrong_method(&uri, "GET")))
        .route("/api/uploads/{fileGuid}/url", any(async |uri: Uri| wrong_method(&uri, "POST")))
        .route("/api/uploads/{fileGuid}/complete", any(async |uri: Uri| wrong_method(&uri, "POST")))
        .route("/api/dead-letters", any(async |uri: Uri| wrong_method(&uri, "GET")))
        .route("/api/dead-letters/replay", any(async |uri: Uri| wrong_method(&uri, "POST")))
        .route("/api/dead-letters/{letterId}", any(async |uri: Uri| wrong_method(&uri, "DELETE,GET")))
        .route("/api/dead-letters/{letterId}/replay", any(async |uri: Uri| wrong_method(&uri, "POST")));
    let limit = CallLimit::new(api.tenant_calls, api.clock);
    let router = http::with_call_limit(http::with_problems(router), limit);
    http::with_access(router, &api.access).with_state(Arc::new(api))
}

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

/// Answers a wrong method on the routes of uploads and dead letters, for which API Gateway falls back to this function.
fn wrong_method(uri: &Uri, allowed: &'static str) -> Response {
    let detail = format!("{} takes {allowed}", uri.path());
    let problem = Problem::new(Kind::MethodNotAllowed, detail);
    ([(header::ALLOW, allowed)], problem).into_response()
}
