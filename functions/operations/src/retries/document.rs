//! Response documents for retries.

use longshore::problem::Problem;
use longshore_domain::ids::JobId;
use serde::Serialize;
use utoipa::ToSchema;

use super::retrier::RetryOutcome;
use crate::example_job;

/// Code of an option that the newest schema of a job type refuses.
const INVALID_OPTION: &str = "invalid_option";

/// Text for such an option.
const OPTION_REFUSED: &str = "the job type has changed since the job was created, and refuses an option of the job; \
                              its tenant can see which one, with a retry of its own";

/// Outcome of a retry for one job.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobRetryOutcome)]
pub enum JobRetryOutcome {
    /// The job runs again for these items, by this call or an earlier one.
    Started,
    /// Nothing was done.
    Refused,
}

/// A retry for one job.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobRetry)]
pub struct JobRetryDocument {
    /// The job.
    pub job_id: JobId,
    /// Outcome.
    pub outcome: JobRetryOutcome,
    /// Number of runs of the started job; `null` if it was refused.
    #[schema(required = true)]
    pub attempts: Option<u32>,
    /// Kind of the problem for which it was refused, for example `not-ended`; `null` if it was started.
    #[schema(required = true)]
    pub problem: Option<String>,
    /// Description of the problem; `null` if it was started.
    #[schema(required = true)]
    pub detail: Option<String>,
}

impl JobRetryDocument {
    /// Creates the document of an outcome.
    pub(super) fn new(job_id: JobId, outcome: RetryOutcome) -> Self {
        match outcome {
            RetryOutcome::Started(job) | RetryOutcome::Running(job) => Self {
                job_id,
                outcome: JobRetryOutcome::Started,
                attempts: Some(job.generation + 1),
                problem: None,
                detail: None,
            },
            RetryOutcome::Refused(problem) => Self {
                job_id,
                outcome: JobRetryOutcome::Refused,
                attempts: None,
                problem: Some(problem.kind.name().to_owned()),
                detail: Some(detail(&problem).to_owned()),
            },
        }
    }
}

/// Retries by job.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Retries)]
pub struct RetriesDocument {
    /// One retry for each job, in the order of the request.
    pub jobs: Vec<JobRetryDocument>,
}

/// Returns the detail of a problem, or that of its first bad field, which says more. That of an option repeats its
/// value, which only the tenant of the job may see.
fn detail(problem: &Problem) -> &str {
    match problem.errors.first() {
        Some(error) if error.code == INVALID_OPTION => OPTION_REFUSED,
        Some(error) => &error.detail,
        None => &problem.detail,
    }
}

/// Example: one job was started.
pub(super) fn retries_example() -> RetriesDocument {
    let started = JobRetryDocument {
        job_id: example_job(),
        outcome: JobRetryOutcome::Started,
        attempts: Some(2),
        problem: None,
        detail: None,
    };
    RetriesDocument { jobs: vec![started] }
}

#[cfg(test)]
mod tests {
    use longshore::field_error::FieldError;
    use longshore::problem::Kind;

    use super::*;

    #[test]
    fn the_value_of_an_option_is_not_repeated() {
        let error = |code: &str| FieldError::new("/options/to", code, "to is ann@example.com");
        let refused = |code: &str| Problem::invalid(vec![error(code)]);
        assert_eq!(detail(&refused(INVALID_OPTION)), OPTION_REFUSED);
        assert_eq!(detail(&refused("unknown_failure_code")), "to is ann@example.com");
        assert_eq!(detail(&Problem::new(Kind::NotEnded, "wait")), "wait");
    }
}
