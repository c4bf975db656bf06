//! `DELETE /api/datasets/{dataset}`: creates a job that deletes the records of a dataset.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::field_error::FieldError;
use longshore::handler::TypeLimits;
use longshore::http::{Answer, PathText, Tenant, caller_trace, count_work_call, idempotency};
use longshore::job_request::ParsedReading;
use longshore::job_types::delete_dataset::NAME;
use longshore::openapi::{CacheNoStore, IdempotencyKeyHeader, OnePath, RetryAfterSeconds};
use longshore::problem::Problem;
use longshore_domain::dataset::{BadDatasetName, Dataset};
use longshore_domain::job::{DatasetSource, Priority, Tolerance};
use longshore_domain::ports::RecordStore;
use serde_json::{Map, Value, json};

use super::create::{answered_before, store_job};
use super::document::JobDocument;
use super::request::JobRequest;
use super::source_request::ParsedSource;
use crate::backend::{Api, Backend};
use crate::openapi::examples;
use crate::openapi::parameters::DatasetInPath;
use crate::openapi::refusals::DeleteDatasetRefusals;

/// Stores a job of the type `delete-dataset`, as a create with the dataset as source does: 202 with the job.
#[utoipa::path(
    delete,
    path = "/api/datasets/{dataset}",
    operation_id = "deleteDataset",
    tag = "records",
    summary = "Delete the records of a dataset.",
    description = "Creates a job of the type `delete-dataset`, which can be watched, canceled and retried like any other job. \
                   Records that are written while the job runs can stay: those of jobs that were created later, and those \
                   that the job has already passed. The dataset stays in the list of datasets.",
    params(DatasetInPath, IdempotencyKeyHeader),
    responses(
        (
            status = 202,
            description = "Accepted. Poll the job at `Location`.",
            body = JobDocument,
            headers(
                ("Location" = inline(OnePath), description = "The job."),
                ("Retry-After" = inline(RetryAfterSeconds), description = "Seconds."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::waiting()),
        ),
        DeleteDatasetRefusals,
    ),
)]
pub(crate) async fn delete_dataset<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(name): PathText,
    headers: HeaderMap,
) -> Answer {
    let key = idempotency::key(&headers)?;
    let dataset = Dataset::named(tenant.0.clone(), name)
        .map_err(|bad| Problem::invalid(vec![FieldError::new("/dataset", BadDatasetName::CODE, bad.to_string())]))?;
    let meaning = json!({ "deleteDataset": dataset.name });
    let key = key.map(|key| idempotency::key_for_request(key, &meaning, (api.clock)()));
    if let Some(answer) = answered_before(&api, &tenant, key.as_ref()).await? {
        return Ok(answer);
    }
    count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    let is_known = api.registry.find(NAME).is_some() && api.records.find_dataset(&dataset).await?.is_some();
    if !is_known {
        return Err(Problem::not_found("dataset").into());
    }
    let trace = caller_trace(&headers);
    let request = JobRequest { trace, ..deletion(dataset.name, api.limits.job_time_limit_s) };
    store_job(&api, &tenant, request, key.as_ref()).await
}

/// Returns the request of a deletion.
fn deletion(dataset: String, timeout_s: i64) -> JobRequest {
    JobRequest {
        job_type: NAME.to_owned(),
        file: None,
        reading: ParsedReading::default(),
        items: None,
        source: Some(ParsedSource::Dataset(DatasetSource { dataset, updated_since: None })),
        priority: Priority::default(),
        metadata: BTreeMap::new(),
        callback: None,
        options: Value::Object(Map::new()),
        results: None,
        tolerance: Tolerance::default(),
        start_at: None,
        timeout_s,
        checks_only: false,
        undoable: false,
        writes_records: true,
        chunk_limits: TypeLimits::DEFAULT.chunk(),
        registration: None,
        trace: None,
    }
}
