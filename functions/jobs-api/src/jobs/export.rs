//! The columns of an export that names none: those of some records of its dataset.

use std::collections::BTreeSet;

use longshore::field_error::FieldError;
use longshore::http::Failure;
use longshore::job_types::export::NAME;
use longshore::problem::Problem;
use longshore_domain::job::Job;
use longshore_domain::ports::{Definition, ListError, RecordStore};
use longshore_domain::results::{ColumnsFrom, ResultFormat, ResultsForm};
use serde_json::json;

use super::results_request::{MAX_COLUMNS, columns_of};

/// Number of records whose properties become columns.
const FIRST_RECORDS: usize = 100;

/// Adds the columns to the form of a job's results, if the job is an export whose file needs columns, and there are
/// none. Later records can have other properties: completion reports them.
///
/// # Errors
/// 422 at `/results/columns`: `columns_required`.
pub(super) async fn with_columns(
    records: &impl RecordStore,
    job: &Job,
    form: ResultsForm,
) -> Result<ResultsForm, Failure> {
    let has_columns = form.format == ResultFormat::Jsonl || !form.columns.is_empty();
    let Some(dataset) = job.dataset().filter(|_| job.job_type == NAME && !has_columns) else { return Ok(form) };
    let first = records.list(&dataset, FIRST_RECORDS, None).await.map_err(|error| match error {
        ListError::Port(error) => Failure::from(error),
        // There is no cursor.
        ListError::BadCursor => Failure::Internal(error.into()),
    })?;
    let names: BTreeSet<_> = first.items.into_iter().flat_map(|stored| stored.record).map(|(name, _)| name).collect();
    let (count, columns) = (names.len(), columns_of(names));
    if count > MAX_COLUMNS || json!(columns).to_string().len() > Definition::MAX_OPTIONS_BYTES {
        let detail = format!(
            "100 records of the dataset have {count} properties together; name up to {MAX_COLUMNS} of them as columns, or use the format \
             jsonl"
        );
        return Err(Problem::invalid(vec![FieldError::new("/results/columns", "columns_required", detail)]).into());
    }
    Ok(ResultsForm { columns, columns_from: ColumnsFrom::Records, ..form })
}
