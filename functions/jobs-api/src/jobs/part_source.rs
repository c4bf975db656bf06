//! The part of an ended job that a request names as the source of another job.

use longshore::field_error::FieldError;
use longshore::http::{Failure, Tenant};
use longshore::problem::Problem;
use longshore::result::{ResultCounts, ResultDocument};
use longshore::stored_report::stored_result;
use longshore_domain::job::{Job, Part, PartSource, Source, has_time};
use longshore_domain::ports::JobStore;
use longshore_domain::records::Format;

use super::find::is_shown;
use super::source_request::ParsedPart;
use crate::backend::{Api, Backend};

/// Name of the outputs, from which the names of the report's files are made.
const RESULTS_NAME: &str = "results.jsonl";

/// Finds the part of a job, and the number of its items. The job of another tenant is unknown.
///
/// # Errors
/// 422 at `/source/jobId`: `unknown_job`, `job_not_ended`; at `/source/part`: `no_results`, `part_not_available`.
pub(super) async fn find_part<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    requested: ParsedPart,
) -> Result<(Source, u64), Failure> {
    let job = api.ports.store.job(requested.job_id).await?;
    let job = job.filter(|job| is_shown(job, tenant, (api.clock)())).ok_or_else(unknown_job)?;
    if !job.status.is_final() {
        return Err(not_ended(&job).into());
    }
    if !has_time((api.clock)(), job.times.expires_at) {
        return Err(expires_soon().into());
    }
    let result = stored_result(&api.ports.files, &job).await?.ok_or_else(expired)?;
    let (format, name) = match requested.part {
        Part::Results => {
            let definition = api.ports.store.definition(job.job_id).await?;
            check_results(definition.is_some_and(|definition| definition.results.is_some()), &result)?;
            (Format::JsonLines, RESULTS_NAME)
        }
        Part::Failed | Part::Skipped | Part::Unprocessed => {
            let format = job.record_format().ok_or_else(no_records)?;
            (format, job.source.as_ref().map_or(RESULTS_NAME, Source::name))
        }
    };
    let source = PartSource {
        job_id: job.job_id,
        part: requested.part,
        generation: job.generation,
        format,
        name: name.to_owned(),
    };
    Ok((Source::Job(source), items_of(requested.part, result.counts)))
}

/// Returns the number of items of a part.
fn items_of(part: Part, counts: ResultCounts) -> u64 {
    match part {
        Part::Results => counts.succeeded,
        Part::Failed => counts.failed,
        Part::Skipped => counts.skipped,
        Part::Unprocessed => counts.unprocessed,
    }
}

/// Checks that the results of a job exist, and that they are complete.
fn check_results(has_output: bool, result: &ResultDocument) -> Result<(), Problem> {
    if !has_output {
        return Err(refused("/source/part", "no_results", "the items of this job have no output"));
    }
    if result.counts.succeeded > 0 && result.files.results.is_none() {
        return Err(refused("/source/part", "no_results", "the results of this job are incomplete"));
    }
    Ok(())
}

fn unknown_job() -> Problem {
    refused("/source/jobId", "unknown_job", "there is no job with this id")
}

fn not_ended(job: &Job) -> Problem {
    let status = job.status.as_str();
    let detail = format!("the job is {status}; its parts exist when it has ended");
    refused("/source/jobId", "job_not_ended", detail)
}

fn expired() -> Problem {
    let detail = "the files of this job do not exist: they could not be written, or they have expired";
    refused("/source/part", "part_not_available", detail)
}

fn expires_soon() -> Problem {
    let detail = "this job expires within the hour, so its items may be gone before they are copied";
    refused("/source/part", "part_not_available", detail)
}

fn no_records() -> Problem {
    let detail = "the items of this job are keys of a dataset or its options, so it has no records to copy; only its \
                  results can be a source";
    refused("/source/part", "part_not_available", detail)
}

fn refused(pointer: &str, code: &str, detail: impl Into<String>) -> Problem {
    Problem::invalid(vec![FieldError::new(pointer, code, detail)])
}
