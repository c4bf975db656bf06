//! The member `source` of a request: the dataset whose records are the items, or the ended job of which a part is.

use longshore::field_error::FieldError;
use longshore::handler::{AnyJobType, Input};
use longshore::http::{Bad, Failure, Fields, Tenant};
use longshore::problem::Problem;
use longshore_domain::dataset::{BadDatasetName, Dataset};
use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, Part, Source};
use longshore_domain::ports::RecordStore;
use longshore_domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The source of a job whose items are in no file of its own.
#[derive(Clone, Eq, PartialEq, Debug, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "describes the request; the members are read one by one")]
pub(super) enum SourceRequest {
    /// The records of a dataset.
    Dataset(DatasetRequest),
    /// A part of a job that has ended.
    Job(PartRequest),
}

/// The records of a dataset as the items of a job.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DatasetRequest {
    /// Name of the dataset.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$", examples("customers"))]
    dataset: String,
    /// Take only records that were written at this time or later. `source.nextSince` of an earlier job misses no change
    /// since that job.
    #[serde(default)]
    #[schema(format = DateTime)]
    updated_since: Option<String>,
}

/// A part of a job that has ended, as the items of another job. They are copied; that job may be deleted once
/// `itemCountFinal` is true.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PartRequest {
    /// The job.
    #[schema(value_type = JobId)]
    job_id: String,
    /// The outputs of its items (`results`), or its items with this outcome as they stood in its source.
    #[schema(value_type = Part)]
    part: String,
}

/// A source that was read, but not found yet.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ParsedSource {
    /// The records of a dataset.
    Dataset(DatasetSource),
    /// A part of a job.
    Job(ParsedPart),
}

/// A part of a job that was not found yet.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ParsedPart {
    /// The job.
    pub(super) job_id: JobId,
    /// The part.
    pub(super) part: Part,
}

impl ParsedSource {
    /// Reads the member of a request.
    ///
    /// # Errors
    /// `invalid_type`, `unknown_field`, `invalid_source`, and those of the members.
    fn read(value: &Value) -> Result<Self, Vec<FieldError>> {
        let has = |name| value.get(name).is_some();
        match (has("dataset"), has("jobId") || has("part")) {
            (true, true) => {
                let detail = "the source is either a dataset or a part of a job; remove one of them";
                Err(vec![FieldError::new("/source", "invalid_source", detail)])
            }
            (_, true) => ParsedPart::read(value).map(Self::Job),
            (_, false) => DatasetRequest::read(value).map(Self::Dataset),
        }
    }
}

impl DatasetRequest {
    fn read(value: &Value) -> Result<DatasetSource, Vec<FieldError>> {
        let Self { dataset, updated_since } = FieldError::read_object("/source", value, "invalid_source")?;
        let mut errors = Vec::new();
        if let Err(bad) = Dataset::check_name(&dataset) {
            errors.push(FieldError::new("/source/dataset", BadDatasetName::CODE, bad.to_string()));
        }
        let since = updated_since.as_deref().map(Timestamp::parse_rfc3339);
        if since == Some(None) {
            let detail = "updatedSince must be a time in RFC 3339, such as 2026-07-01T00:00:00Z";
            errors.push(FieldError::new("/source/updatedSince", "invalid_source", detail));
        }
        if errors.is_empty() { Ok(DatasetSource { dataset, updated_since: since.flatten() }) } else { Err(errors) }
    }
}

impl ParsedPart {
    fn read(value: &Value) -> Result<Self, Vec<FieldError>> {
        let PartRequest { job_id, part } = FieldError::read_object("/source", value, "invalid_source")?;
        let (id, known) = (JobId::parse(&job_id), serde_json::from_value(Value::String(part)).ok());
        let mut errors = Vec::new();
        if id.is_none() {
            errors.push(FieldError::new("/source/jobId", "invalid_job_id", "the id of a job must be a UUID"));
        }
        if known.is_none() {
            let detail = "part must be results, failed, skipped or unprocessed";
            errors.push(FieldError::new("/source/part", "invalid_part", detail));
        }
        id.zip(known).map(|(job_id, part)| Self { job_id, part }).ok_or(errors)
    }
}

/// Reads the source, and checks that the job type takes it. `has_other` is true if the request has a file or items.
/// `Some(None)` is a source that is not valid.
pub(super) fn read_source(
    fields: &mut Fields,
    job_type: Option<&dyn AnyJobType>,
    has_other: bool,
) -> Option<Option<ParsedSource>> {
    let input = job_type.map(AnyJobType::input);
    let Some(read) = fields.optional("source", |value| Ok(ParsedSource::read(value))) else {
        if input == Some(Input::Dataset) {
            let detail = "this job type requires a dataset: send source with its name";
            fields.refuse("source", &Bad::new("dataset_required", detail));
        }
        return None;
    };
    match read {
        Ok(source) => {
            if let Some(bad) = misplaced(input, &source, has_other) {
                fields.refuse("source", &bad);
            }
            Some(Some(source))
        }
        Err(errors) => {
            fields.refuse_all(errors);
            Some(None)
        }
    }
}

/// Returns the error of a source that the job type does not take, or that is not the only one.
fn misplaced(input: Option<Input>, source: &ParsedSource, has_other: bool) -> Option<Bad> {
    match (input?, source) {
        (Input::File | Input::Options, ParsedSource::Dataset(_)) => {
            Some(Bad::new("dataset_not_allowed", "this job type does not take a dataset"))
        }
        (Input::Dataset | Input::Options, ParsedSource::Job(_)) => {
            Some(Bad::new("job_not_allowed", "this job type does not take the items of another job"))
        }
        (Input::File, ParsedSource::Job(_)) if has_other => {
            let detail = "a job has one source: a file, items, or a part of another job; keep one of them";
            Some(Bad::new("two_sources", detail))
        }
        _ => None,
    }
}

/// Finds the dataset of a source. That of another tenant is unknown.
///
/// # Errors
/// 422 at `/source/dataset`: `unknown_dataset`.
pub(super) async fn find_dataset(
    records: &impl RecordStore,
    tenant: &Tenant,
    source: DatasetSource,
) -> Result<Source, Failure> {
    let dataset = Dataset { tenant: tenant.0.clone(), name: source.dataset.clone() };
    if records.find_dataset(&dataset).await?.is_some() {
        return Ok(Source::Dataset(source));
    }
    let detail = "no import has written to this dataset; GET /api/datasets lists the datasets";
    Err(Problem::invalid(vec![FieldError::new("/source/dataset", "unknown_dataset", detail)]).into())
}
