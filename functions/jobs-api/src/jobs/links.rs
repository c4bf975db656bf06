//! Paths of a job and of its resources.

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use serde::Serialize;
use utoipa::ToSchema;

/// Paths of a job's resources and actions; `null` while not available.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = JobLinks)]
pub struct Links {
    /// Path of the job itself.
    #[serde(rename = "self")]
    #[schema(format = "uri-reference")]
    pub itself: String,
    /// Path of the result, once the job is finished.
    #[schema(required = true, format = "uri-reference")]
    pub output: Option<String>,
    /// Path of the outputs of the items, once the job is finished.
    #[schema(required = true, format = "uri-reference")]
    pub results: Option<String>,
    /// Path of the failed items, once the job is finished.
    #[schema(required = true, format = "uri-reference")]
    pub failures: Option<String>,
    /// Path to cancel the job, while it can be stopped.
    #[schema(required = true, format = "uri-reference")]
    pub cancel: Option<String>,
    /// Path to start an import from a validation job, until one has been started.
    #[schema(required = true, format = "uri-reference")]
    pub start: Option<String>,
    /// Path to undo the import, once it has ended. Imports that cannot be undone have none.
    #[schema(required = true, format = "uri-reference")]
    pub undo: Option<String>,
}

impl Links {
    /// Creates the paths of a job.
    pub(super) fn new(job: &Job) -> Self {
        let itself = path(job.job_id);
        let output = job.status.is_final().then(|| output_path(job.job_id));
        let results = job.status.is_final().then(|| results_path(job.job_id));
        let failures = job.status.is_final().then(|| failures_path(job.job_id));
        let cancel = job.is_live().then(|| format!("{itself}/cancel"));
        let start = job.is_startable().then(|| format!("{itself}/start"));
        let undo = job.is_undoable().then(|| format!("{itself}/undo"));
        Self { itself, output, results, failures, cancel, start, undo }
    }
}

/// Path of a job.
pub(crate) fn path(id: JobId) -> String {
    format!("/api/jobs/{id}")
}

/// Path of a job's result.
pub(crate) fn output_path(id: JobId) -> String {
    format!("/api/jobs/{id}/output")
}

/// Path of a job's outputs.
pub(crate) fn results_path(id: JobId) -> String {
    format!("/api/jobs/{id}/results")
}

/// Path of a job's failed items.
pub(crate) fn failures_path(id: JobId) -> String {
    format!("/api/jobs/{id}/failures")
}
