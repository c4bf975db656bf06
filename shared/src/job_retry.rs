//! A retry of an ended job, by its tenant or by an operator: the code that selects its failed items, the registration
//! that it uses, and the reasons for which it is refused.

use longshore_domain::job::Job;
use longshore_domain::ports::{Files, JobStore, JobTypes, PortResult};
use longshore_domain::registration::VersionedRegistration;
use longshore_domain::text::listed;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use crate::field_error::FieldError;
use crate::handler::Registry;
use crate::http::{Bad, Checked, Failure};
use crate::job_request::newest;
use crate::problem::{Kind, Problem};
use crate::remote::OptionsSchema;
use crate::stored_report::stored_result;

/// Maximum number of characters of a code. No stored rejection has more: its code is cut to 100 bytes.
pub const CODE_CHARS: usize = 100;

/// Reads a code or a field of failed items.
///
/// # Errors
/// `invalid_failure`.
pub fn failure_text(name: &str, value: &Value, max: usize) -> Checked<String> {
    let text = value.as_str().filter(|text| (1..=max).contains(&text.chars().count()));
    text.map(str::to_owned).ok_or_else(|| {
        Bad::new("invalid_failure", format!("{name} must be a string of 1 to {max} characters, as in the failures"))
    })
}

/// Refuses a code that no failed item has. Accepts any code if the report may not count all failed items by code: if
/// they have too many codes, or if a stopped retry did not reach some of them, which then count as unprocessed.
///
/// # Errors
/// 422 `unknown_failure_code` at `/code`, or the bucket fails.
pub async fn check_code(files: &impl Files, job: &Job, code: &str) -> Result<(), Failure> {
    let Some(result) = stored_result(files, job).await? else { return Ok(()) };
    let codes = &result.failures_by_code;
    let counts_all = result.counts.unprocessed == 0 && codes.is_complete(result.counts.failed);
    if codes.contains(code) || !counts_all {
        return Ok(());
    }
    let detail = format!("no item has failed with this code; the codes are: {}", listed(codes.codes()));
    Err(Problem::invalid(vec![FieldError::new("/code", "unknown_failure_code", detail)]).into())
}

/// The newest registration of a job type, with the compiled schema of its options: for all jobs of the type that one
/// call retries, because compiling can take a second of processor time.
#[derive(Debug)]
pub struct NewestRegistration(Option<(VersionedRegistration, Result<OptionsSchema, FieldError>)>);

impl NewestRegistration {
    /// Reads the registration of a type. A type without one keeps those of its jobs.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(job_type: &str, registry: &Registry, job_types: &impl JobTypes) -> PortResult<Self> {
        let compiled = |newest: VersionedRegistration| {
            let schema = OptionsSchema::compile(&newest.registration);
            (newest, schema)
        };
        Ok(Self(newest(job_type, registry, job_types).await?.map(compiled)))
    }

    /// Returns the registration for a job of the type; `None` if the stored one stays.
    ///
    /// # Errors
    /// 422 if the schema of the options refuses those of the job.
    pub async fn for_job(
        &self,
        store: &impl JobStore,
        job: &Job,
    ) -> Result<Option<Box<VersionedRegistration>>, Failure> {
        let Some((newest, schema)) = self.0.as_ref().filter(|_| job.is_registered) else { return Ok(None) };
        if let Some(definition) = store.definition(job.job_id).await? {
            let schema = schema.as_ref().map_err(|error| options_refused(error.clone()))?;
            schema.check(&definition.options).map_err(options_refused)?;
        }
        Ok(Some(Box::new(newest.clone())))
    }
}

/// Returns the newest registration of a registered type; `None` if the stored one stays.
///
/// # Errors
/// 422 if its schema of the options refuses those of the job.
pub async fn newest_registration(
    store: &impl JobStore,
    registry: &Registry,
    job_types: &impl JobTypes,
    job: &Job,
) -> Result<Option<Box<VersionedRegistration>>, Failure> {
    if !job.is_registered {
        return Ok(None);
    }
    NewestRegistration::read(&job.job_type, registry, job_types).await?.for_job(store, job).await
}

/// Returns 422 with a way out: a retry cannot change the options of its job.
fn options_refused(error: FieldError) -> Problem {
    let detail = format!(
        "{}; the job type has changed since the job was created, and a retry keeps the options: create a new job \
         from the failures file (failed.csv), or ask an operator to accept the former options",
        error.detail
    );
    Problem::invalid(vec![FieldError { detail, ..error }])
}

/// Returns the reason for which a job cannot be retried now; `None` if it can be.
pub fn not_retryable(job: &Job, now: Timestamp) -> Option<Problem> {
    if job.is_reopenable() && !job.is_early(now) {
        return None;
    }
    if !job.status.is_final() {
        return Some(not_ended("cancel the job, or wait until it ends"));
    }
    if let Some(start_at) = job.times.start_at.filter(|start_at| now < *start_at) {
        let start_at = start_at.to_rfc3339();
        let detail =
            format!("the job was stopped before its start, so it is not retried before {start_at}; create another job");
        return Some(Problem::new(Kind::NothingToRetry, detail));
    }
    if job.has_remaining() {
        let detail = "the job is an undo, or an import that is or was undone, so it is not retried";
        return Some(Problem::new(Kind::JobUndone, detail));
    }
    let detail = "every item of the job succeeded or was skipped, so no item can be retried";
    Some(Problem::new(Kind::NothingToRetry, detail))
}

/// Returns 409: the job runs, or has been reopened.
pub fn not_ended(advice: &str) -> Problem {
    Problem::new(Kind::NotEnded, format!("only a job that has ended can be retried; {advice}"))
}
