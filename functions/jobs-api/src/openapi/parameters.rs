//! Parameters of the calls. The structs are for the schema only: handlers read parameters by name, so that every bad
//! one is reported.

#![allow(dead_code, reason = "for the schema only")]

use longshore_domain::job::Status;
use utoipa::IntoParams;

use crate::jobs::metadata::Metadata;

/// Path parameter that identifies a job.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct JobIdInPath {
    /// Id of the job.
    #[param(rename = "jobId", format = "uuid")]
    job_id: String,
}

/// Path parameter that identifies a file of a report.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct FileInPath {
    /// Name of the file: `results.jsonl` (or `.jsonl.gz`, `.csv`, `.csv.gz`, `.xlsx`), `results-index.jsonl`,
    /// `failed.csv`, `skipped.csv`, `unprocessed.csv` or `receipt.json`.
    #[param(example = "results.jsonl")]
    file: String,
}

/// Path parameter that identifies a file of an image job.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ImageInPath {
    /// Name of the file: number of the item, name of the size, and type.
    #[param(pattern = "^[1-9][0-9]*-[a-z0-9-]{1,32}[.](jpg|png|webp)$", example = "17-320.webp")]
    file: String,
}

/// Path parameter that identifies a dataset.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct DatasetInPath {
    /// Name of the dataset, as given in the options of imports.
    #[param(pattern = "^[A-Za-z0-9_-]{1,64}$", example = "customers")]
    dataset: String,
}

/// Path parameter that identifies a job type.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct JobTypeInPath {
    /// Name of the job type.
    #[param(pattern = "^[a-z][a-z0-9-]{0,39}$", example = "invite")]
    name: String,
}

/// Path parameter that identifies a kind of problem.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct KindInPath {
    /// Last segment of a problem's `type`.
    #[param(pattern = "^[a-z-]+$", example = "not-found")]
    kind: String,
}

/// Path parameter that identifies a webhook.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct WebhookIdInPath {
    /// Id of the webhook.
    #[param(rename = "webhookId", format = "uuid")]
    webhook_id: String,
}

/// Path parameter that identifies a schedule.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ScheduleIdInPath {
    /// Id of the schedule.
    #[param(rename = "scheduleId", format = "uuid")]
    schedule_id: String,
}

/// Query parameters of `GET /api/schedules/{scheduleId}/occurrences`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OccurrencesQuery {
    /// Maximum number of occurrences on the page.
    #[param(required = false, minimum = 1, maximum = 100, default = 20)]
    limit: usize,
}

/// Path parameter that identifies a delivery.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct DeliveryIdInPath {
    /// Id of the delivery.
    #[param(rename = "deliveryId", pattern = "^[0-9]{15}-[A-Za-z0-9-]{1,256}$")]
    delivery_id: String,
}

/// Query parameters of `GET /api/webhooks/{webhookId}/deliveries`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeliveriesQuery {
    /// Maximum number of deliveries on the page.
    #[param(required = false, minimum = 1, maximum = 100, default = 20)]
    limit: usize,
}

/// The header `If-Match`, as `etag` reads it.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct IfMatchHeader {
    /// One or more `ETag`s from earlier responses about the job, the job type, the webhook or the schedule, or `*`. If it has changed since, the
    /// call does nothing and returns 412. A running job changes with every item that ends.
    #[param(rename = "If-Match", required = false)]
    if_match: String,
}

/// The header `If-None-Match`, as `etag` reads it.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct IfNoneMatchHeader {
    /// The `ETag` of an earlier response.
    #[param(rename = "If-None-Match", required = false)]
    if_none_match: String,
}

/// Query parameters of `GET /api/jobs/{jobId}`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobQuery {
    /// With `output`, a completed job redirects to its result (303). Other values have no effect.
    #[param(required = false, example = "output")]
    redirect: String,
}

/// Query parameters of `GET /api/jobs`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobsQuery {
    /// Return only jobs with this status.
    #[param(required = false)]
    status: Status,
    /// Return only jobs of this type: one of the deployment, or a registered one. The page is empty if there are none.
    #[param(rename = "jobType", required = false, min_length = 1, example = "import")]
    job_type: String,
    /// Return only jobs with all of these pairs in their metadata: `metadata[team]=crm&metadata[run]=7`. At most 16
    /// pairs, and 3,072 bytes of them in the URL.
    #[param(required = false, style = DeepObject, explode)]
    metadata: Metadata,
    /// Maximum number of jobs on the page.
    #[param(required = false, minimum = 1, maximum = 100, default = 20)]
    limit: usize,
}

/// Query parameters of `GET /api/jobs/{jobId}/failures`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FailuresQuery {
    /// Format of the response. Takes precedence over `Accept`.
    #[param(required = false, inline)]
    format: FailuresFormat,
    /// Maximum number of failures on the page; fewer if they are large.
    #[param(required = false, minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}

/// Query parameters of `GET /api/jobs/{jobId}/results`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ResultsQuery {
    /// Maximum number of rows on the page; fewer if they are large, or if few items were processed at a time.
    #[param(required = false, minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}

/// Format of failed items.
#[derive(utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum FailuresFormat {
    /// A page, as JSON.
    Json,
    /// The whole file, as CSV.
    Csv,
    /// All failed items, as a workbook of at most 4 MiB.
    Xlsx,
}

/// Query parameters of `GET /api/events`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// Maximum number of events on the page; fewer if they are large.
    #[param(required = false, minimum = 1, maximum = 500, default = 100)]
    limit: usize,
}

/// Query parameters of `GET /api/datasets`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DatasetsQuery {
    /// Maximum number of datasets on the page.
    #[param(required = false, minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}

/// Query parameters of `GET /api/costs`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CostsQuery {
    /// Month in UTC; the present one by default.
    #[param(required = false, pattern = "^[0-9]{4}-(0[1-9]|1[0-2])$", example = "2026-11")]
    month: String,
    /// Tenant, for operators and read-only operators only; `*` for all tenants. The caller's own one by default.
    #[param(
        required = false,
        pattern = r"^(\*|[A-Za-z0-9_@|:+=-][A-Za-z0-9_.@|:+=-]*)$",
        max_length = 128,
        example = "*"
    )]
    tenant: String,
}

/// Query parameters of `GET /api/job-types`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobTypesQuery {
    /// Maximum number of job types on the page; fewer if they are large.
    #[param(required = false, minimum = 1, maximum = 50, default = 20)]
    limit: usize,
}

/// Query parameters of `GET /api/datasets/{dataset}/records`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordsQuery {
    /// Maximum number of records on the page; fewer if they are large.
    #[param(required = false, minimum = 1, maximum = 1000, default = 100)]
    limit: usize,
}

/// Query parameters of `DELETE /api/datasets/{dataset}/records`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordKeyQuery {
    /// Key of the record: at most 1,024 bytes of UTF-8, percent-encoded. A plus is `%2B`.
    #[param(min_length = 1, max_length = 1024, example = "ann@example.com")]
    key: String,
}
