//! `GET /api/jobs/{jobId}/audit`: recounts a job from all of its stored data, and reports equality or the differences.
//!
//! Every number of a job is a running sum. The audit trusts none of them: it adds up the groups, checks that the chunks
//! of the manifests are contiguous, reads every row of the report and of the work files, splits the input again, and
//! compares each with the others.
//!
//! | file | contains |
//! | --- | --- |
//! | `ledger` | the job against groups, manifests and cursors |
//! | `report` | the result and the receipt against the ledger |
//! | `files` | the rows of the report's files against all of these |
//! | `reading` | streaming of a file, with retries of broken streams |
//! | `work`, `work_lines` | the work files against the ledger and the report |
//! | `plan` | the manifests against the records of the input |
//! | `rows` | a streaming count of a file's rows |
//! | `numbers` | the items that the rows belong to |
//! | `findings` | the comparisons and the verdict |
//! | `document` | the response |

mod document;
mod files;
mod findings;
mod ledger;
mod numbers;
mod plan;
mod reading;
mod report;
mod rows;
mod work;
mod work_lines;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::http::{Answer, PathText, Tenant};
use longshore::openapi::CacheNoStore;
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Files, JobStore, Ledger, PortResult};
use longshore_domain::progress;

pub use self::document::{AuditDocument, Check, Difference, Unchecked};

use self::findings::Findings;
use self::ledger::Records;
use self::plan::check_plan;
use self::reading::within;
use self::report::{ReportAudit, Reported};
use self::work::WorkAudit;
use crate::backend::no_such_job;
use crate::openapi::examples;
use crate::openapi::parameters::JobIdInPath;
use crate::openapi::refusals::AuditRefusals;
use crate::{Api, Backend};

/// Seconds available for reading files. The gateway's timeout is 30 seconds; a late block and the response need some of
/// them.
const READING_S: i64 = 20;

/// Timeout of the whole audit. The function is stopped after 29 s, and the caller would then get no answer and no
/// `Retry-After`.
const LIMIT: Duration = Duration::from_secs(26);

/// Manifests that are read concurrently: a job of hundreds of groups is read in about a second.
const READ_AHEAD: usize = 16;

/// Audits the job.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/audit",
    operation_id = "auditJob",
    tag = "jobs",
    summary = "Recount a job from all that is stored of it.",
    description = "Adds up the groups of the ledger, lays the chunks of the manifests end to end, reads every row of the \
        report and every item that workers have filed, cuts the input into records once more, and holds each against what the \
        others and the receipt say. `equal` is `true` only if everything was checked and agrees. Of a job that has not ended \
        there is no report to check. All files together are read for 20 seconds at most - the report first, then the work \
        files, then the input (some hundred megabytes in all); what was not read by then, or has expired, stands in \
        `unchecked`. 503 if something cannot be read at the moment.",
    params(JobIdInPath),
    responses(
        (
            status = 200,
            description = "Equal, or what differs, or what could not be checked.",
            body = AuditDocument,
            headers(
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::audit()),
        ),
        AuditRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(State(api): State<Arc<Api<B>>>, tenant: Tenant, PathText(id): PathText) -> Answer {
    let job = api.job(&tenant, &id).await?;
    let until = (api.clock)().plus_seconds(READING_S);
    let in_time = || (api.clock)() < until;
    let document = within(LIMIT, audit(&api.ports.store, &api.ports.files, job.job_id, &in_time)).await?;
    let document = document.ok_or_else(no_such_job)?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}

/// Recounts a job, without checking the tenant: the caller does that. Returns `None` if the job does not exist or is
/// deleted meanwhile. `in_time` returns true while files may still be read. Only reads; memory does not grow with the
/// report.
///
/// # Errors
/// If a service fails.
/// If a service fails.
pub async fn audit(
    store: &(impl JobStore + Ledger),
    files: &impl Files,
    id: JobId,
    in_time: &(dyn Fn() -> bool + Sync),
) -> PortResult<Option<AuditDocument>> {
    let Some((groups, job)) = settled(store, id).await? else { return Ok(None) };
    let records = with_manifests(store, groups, job).await?;
    let mut findings = Findings::default();
    records.check(&mut findings);
    check_files(files, &records, in_time, &mut findings).await?;
    // The removal of a deleted job causes differences. The job is hidden, so they are not reported.
    if !findings.is_equal() && store.job(id).await?.is_none_or(|job| job.is_deleted()) {
        return Ok(None);
    }
    Ok(Some(findings.document(&records.job)))
}

/// Makes every comparison that needs a job's files: report, work files and input, the cheapest first.
async fn check_files(
    files: &impl Files,
    records: &Records,
    in_time: &(dyn Fn() -> bool + Sync),
    findings: &mut Findings,
) -> PortResult<()> {
    let reported = if records.job.status.is_final() {
        ReportAudit { files, records, in_time, findings }.check().await?
    } else {
        findings.leave_out("report", "the job has not ended: there is no report yet");
        Reported::default()
    };
    WorkAudit { files, records, in_time }.check(&reported, findings).await?;
    check_plan(files, records, in_time, findings).await
}

/// Reads the groups and the job. Reads them again if the job ended after its groups were read, because its records no
/// longer change.
async fn settled(store: &impl Ledger, id: JobId) -> PortResult<Option<(Vec<Group>, Job)>> {
    let read = store.progress(id).await?.filter(|(_, job)| !job.is_deleted());
    match &read {
        Some((groups, job)) if job.completion.totals.is_some_and(|totals| totals != progress::counts(job, groups)) => {
            Ok(store.progress(id).await?.filter(|(_, job)| !job.is_deleted()))
        }
        _ => Ok(read),
    }
}

async fn with_manifests(store: &impl Ledger, groups: Vec<Group>, job: Job) -> PortResult<Records> {
    let id = job.job_id;
    let read = stream::iter(groups).map(|group| async move {
        let manifest = store.manifest(id, group.number).await?;
        PortResult::Ok((group, manifest))
    });
    let groups = read.buffered(READ_AHEAD).try_collect().await?;
    Ok(Records { job, groups })
}

#[cfg(test)]
#[path = "audit_tests/mod.rs"]
mod tests;
