//! `DELETE /api/datasets/{dataset}/records?key=…`: deletes one record.
//!
//! The key is in the query, because API Gateway decodes a path, often twice: a key with `?`, `%` or `/` in a path would
//! delete another record, or none (docs/decisions/0030-record-key-in-the-query.md). Paths are also logged, and queries
//! are not.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use longshore::field_error::FieldError;
use longshore::http::{Answer, PathText, QueryText, Tenant, count_work_call};
use longshore::problem::Problem;
use longshore::store::records::MAX_KEY_BYTES;
use longshore_domain::dataset::{BadDatasetName, Dataset};
use longshore_domain::ports::RecordStore;

use crate::backend::{Api, Backend};
use crate::openapi::parameters::{DatasetInPath, RecordKeyQuery};
use crate::openapi::refusals::RecordsRefusals;

/// Deletes the record: 204, even if it does not exist, so a call without a reply can be repeated.
#[utoipa::path(
    delete,
    path = "/api/datasets/{dataset}/records",
    operation_id = "deleteRecord",
    tag = "records",
    summary = "Delete a record of a dataset.",
    description = "204 whether the record existed or not. In the key, `+` is a space: send `%2B` for a plus, `%26` for `&` \
                   and `%23` for `#`. A job over the dataset that has not \
                   ended, or is retried later, can write the key again, because imports write keys that do not exist: \
                   first wait until such jobs have ended. A dataset without records stays in the list of datasets.",
    params(DatasetInPath, RecordKeyQuery),
    responses(
        (
            status = 204,
            description = "The dataset has no record with this key.",
        ),
        RecordsRefusals,
    ),
)]
pub(crate) async fn delete<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(dataset): PathText,
    query: QueryText,
) -> Answer {
    let named = NamedRecord::read(tenant, dataset, &query)?;
    count_work_call(&api.ports.store, &named.dataset.tenant, (api.clock)()).await?;
    api.records.delete(&named.dataset, named.key).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The record that a call names.
struct NamedRecord<'a> {
    dataset: Dataset,
    key: &'a str,
}

impl<'a> NamedRecord<'a> {
    fn read(Tenant(tenant): Tenant, dataset: String, query: &'a QueryText) -> Result<Self, Problem> {
        let mut errors = Vec::new();
        let dataset = Dataset::named(tenant, dataset).map_err(|bad| {
            errors.push(FieldError::new("/dataset", BadDatasetName::CODE, bad.to_string()));
        });
        let key = check_key(query).map_err(|error| errors.push(error));
        match (dataset, key) {
            (Ok(dataset), Ok(key)) => Ok(Self { dataset, key }),
            _ => Err(Problem::invalid(errors)),
        }
    }
}

/// Checks that the table can hold the key.
fn check_key(query: &QueryText) -> Result<&str, FieldError> {
    match query.get("key") {
        Some(_) if query.is_repeated("key") => {
            let detail = "the call deletes one record: send one parameter key, with & in it as %26";
            Err(FieldError::new("/key", "repeated_parameter", detail))
        }
        None => Err(FieldError::new("/key", "required", "the query parameter key is required")),
        Some(key) if (1..=MAX_KEY_BYTES).contains(&key.len()) => Ok(key),
        Some(key) => {
            let detail = format!("the key must have 1 to {MAX_KEY_BYTES} bytes; it has {}", key.len());
            Err(FieldError::new("/key", "invalid_record_key", detail))
        }
    }
}
