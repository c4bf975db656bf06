//! The documents of a job's final report, as completion wrote them.

use longshore_domain::job::Job;
use longshore_domain::ports::{Files, Read};
use serde::de::DeserializeOwned;

use crate::http::Failure;
use crate::ports::report_key;
use crate::receipt::{RECEIPT_NAME, Receipt};
use crate::result::{RESULT_NAME, ResultDocument};

/// Returns the result that completion wrote, if it exists.
///
/// # Errors
/// If the bucket fails, or the document is damaged.
pub async fn stored_result(files: &impl Files, job: &Job) -> Result<Option<ResultDocument>, Failure> {
    stored_document(files, job, RESULT_NAME).await
}

/// Returns the receipt that completion wrote, if it exists.
///
/// # Errors
/// If the bucket fails, or the document is damaged.
pub async fn stored_receipt(files: &impl Files, job: &Job) -> Result<Option<Receipt>, Failure> {
    stored_document(files, job, RECEIPT_NAME).await
}

async fn stored_document<T: DeserializeOwned>(files: &impl Files, job: &Job, name: &str) -> Result<Option<T>, Failure> {
    match files.read(&report_key(job, name), None, None).await? {
        Read::Found(bytes) => serde_json::from_slice(&bytes).map_err(|error| Failure::Internal(Box::new(error))),
        Read::Absent | Read::Changed => Ok(None),
    }
}
