//! `POST /api/jobs/{jobId}/retry`: what failed or was never processed runs again, and nothing else; with a corrected
//! failures file, of what failed only the rows that stand in it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::http::{Answer, Fields, OptionalFields, PathText, Tenant};
use longshore::problem::{Kind, Problem};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Job, Reopen, Transition};
use longshore_domain::ports::JobTransitions;

use crate::create::source::unknown_file;
use crate::{Api, Backend, JobDocument, etag};

/// The largest body: it names a file, and the rest is room for spaces.
const BODY_BYTES: usize = 4 * 1024;

/// Opens the job again as a new generation: 202 with the job. One conditional write: of two retries at once one is
/// taken. If the message that follows is lost, the sweeper sends it.
pub(crate) async fn retry<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
    OptionalFields(fields): OptionalFields<BODY_BYTES>,
) -> Answer {
    let job = api.job(&tenant, &id).await?;
    let (groups, job) = api.with_groups(job).await?;
    let file = file_of(fields)?;
    if !job.has_rest() {
        return Err(refused(&job).into());
    }
    let corrected = match file {
        Some(file) => Some(api.corrected(&tenant, &job, file).await?),
        None => None,
    };
    etag::check_match(&headers, &JobDocument::of(&job, &groups))?;
    let at = (api.clock)();
    let reopen = Reopen { generation: job.generation, at, deadline_at: at.plus_seconds(job.timeout_s), corrected };
    match api.ports.store.reopen(&job, &reopen).await? {
        Transition::Made(job) => {
            api.send(&job).await;
            let (groups, job) = api.with_groups(*job).await?;
            Ok(api.accepted(&job, &groups))
        }
        Transition::Refused => Err(not_ended("it was opened again just now").into()),
    }
}

/// The corrected file that a request names.
fn file_of(mut fields: Fields) -> Result<Option<FileGuid>, Problem> {
    let read = |value: &serde_json::Value| value.as_str().and_then(FileGuid::parse).ok_or_else(unknown_file);
    let file = fields.optional("fileGuid", read);
    fields.finish()?;
    Ok(file)
}

fn refused(job: &Job) -> Problem {
    if !job.status.is_final() {
        return not_ended("cancel it, or wait for its end");
    }
    let detail = "every item of the job succeeded or was skipped: there is nothing to run again";
    Problem::new(Kind::NothingToRetry, detail)
}

fn not_ended(way_out: &str) -> Problem {
    Problem::new(Kind::NotEnded, format!("only a job that has ended can be retried; {way_out}"))
}
