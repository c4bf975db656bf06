//! The member `source` of a request: the dataset whose records are the items.

use longshore::field_error::FieldError;
use longshore::handler::{AnyJobType, Input};
use longshore::http::{Bad, Failure, Fields, Tenant};
use longshore::problem::Problem;
use longshore_domain::dataset::{BadDatasetName, Dataset};
use longshore_domain::job::{DatasetSource, Source};
use longshore_domain::ports::RecordStore;
use longshore_domain::timestamp::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The records of a dataset as the items of a job.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SourceRequest {
    /// Name of the dataset.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$", examples("customers"))]
    dataset: String,
    /// Take only records that were written at this time or later. `source.nextSince` of an earlier job misses no change
    /// since that job.
    #[serde(default)]
    #[schema(format = DateTime)]
    updated_since: Option<String>,
}

impl SourceRequest {
    /// Reads the member of a request.
    ///
    /// # Errors
    /// `invalid_type`, `unknown_field`, `invalid_source`, `invalid_dataset`.
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

/// Reads the source, and checks that there is one if and only if the job type takes a dataset.
pub(super) fn read_source(fields: &mut Fields, job_type: Option<&dyn AnyJobType>) -> Option<DatasetSource> {
    let read = fields.optional("source", |value| Ok(SourceRequest::read(value)));
    match (job_type.map(AnyJobType::input), read.is_some()) {
        (Some(Input::Dataset), false) => {
            let detail = "this job type requires a dataset: send source with its name";
            fields.refuse("source", &Bad::new("dataset_required", detail));
        }
        (Some(Input::File | Input::Options), true) => {
            fields.refuse("source", &Bad::new("dataset_not_allowed", "this job type does not take a dataset"));
        }
        _ => {}
    }
    read.transpose().unwrap_or_else(|errors| {
        fields.refuse_all(errors);
        None
    })
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
