//! The parameters of the calls. The structs only describe: handlers read parameters by name, to name every bad one.

#![allow(dead_code, reason = "only described")]

use longshore_domain::job::Status;
use utoipa::IntoParams;

/// The job that a path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct JobIdInPath {
    /// The job.
    #[param(rename = "jobId", format = "uuid")]
    job_id: String,
}

/// The dataset that a path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct DatasetInPath {
    /// The dataset, as imports name it.
    #[param(pattern = "^[A-Za-z0-9_-]{1,64}$", example = "customers")]
    dataset: String,
}

/// The kind of problem that a path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct KindInPath {
    /// The end of a problem's `type`.
    #[param(pattern = "^[a-z-]+$", example = "not-found")]
    kind: String,
}

/// `If-Match`, as `etag` reads it.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct IfMatchHeader {
    /// `ETag`s of the job as the client knows it, or `*`. If the job has changed since, nothing happens: 412. A running
    /// job changes with every item that ends.
    #[param(rename = "If-Match", required = false)]
    if_match: String,
}

/// `If-None-Match`, as `etag` reads it.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct IfNoneMatchHeader {
    /// The `ETag` of an earlier answer.
    #[param(rename = "If-None-Match", required = false)]
    if_none_match: String,
}

/// The query of `GET /api/jobs/{jobId}`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobQuery {
    /// With `output`, a completed job answers 303 to its result. Other values change nothing.
    #[param(required = false, example = "output")]
    redirect: String,
}

/// The query of `GET /api/jobs`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobsQuery {
    /// Only jobs of this status.
    #[param(required = false)]
    status: Status,
    /// Only jobs of this type, one of those that the deployment knows.
    #[param(rename = "jobType", required = false, min_length = 1, example = "import")]
    job_type: String,
    /// Jobs on the page at most.
    #[param(required = false, minimum = 1, maximum = 100, default = 20)]
    limit: usize,
}

/// The query of `GET /api/jobs/{jobId}/failures`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FailuresQuery {
    /// Over `Accept`.
    #[param(required = false, inline)]
    format: FailuresFormat,
    /// Failures on the page at most; fewer if they are large.
    #[param(required = false, minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}

/// How failed items are answered.
#[derive(utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum FailuresFormat {
    /// A page.
    Json,
    /// The whole file.
    Csv,
}

/// The query of `GET /api/datasets`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DatasetsQuery {
    /// Datasets on the page at most.
    #[param(required = false, minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}

/// The query of `GET /api/datasets/{dataset}/records`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordsQuery {
    /// Records on the page at most; fewer if they are large.
    #[param(required = false, minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}
