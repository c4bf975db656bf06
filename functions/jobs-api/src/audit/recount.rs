//! The recount of a job: all comparisons, the cheapest first.

use futures::{StreamExt, TryStreamExt, stream};
use longshore_domain::group::{Group, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{Files, JobProgress, JobStore, Ledger, PortResult};
use longshore_domain::progress;

use super::document::AuditDocument;
use super::findings::Findings;
use super::ledger::Records;
use super::outputs::OutputsAudit;
use super::plan::check_plan;
use super::report::{ReportAudit, Reported};
use super::work::WorkAudit;

/// Manifests that are read concurrently: a job of hundreds of groups is read in about a second.
const READ_AHEAD: usize = 16;

/// Recounts a job, without checking the tenant: the caller does that. Returns `None` if the job does not exist or is
/// deleted meanwhile. `in_time` returns true while files may still be read. Only reads; memory does not grow with the
/// report.
///
/// # Errors
/// If a service fails.
pub async fn audit(
    store: &(impl JobStore + Ledger),
    files: &impl Files,
    id: JobId,
    in_time: &(dyn Fn() -> bool + Sync),
) -> PortResult<Option<AuditDocument>> {
    let Some(JobProgress { groups, job }) = consistent_state(store, id).await? else { return Ok(None) };
    let results = store.definition(id).await?.and_then(|definition| definition.results);
    let groups = with_manifests(store, groups, id).await?;
    let records = Records { job, groups, results };
    let mut findings = Findings::default();
    records.check(&mut findings);
    check_files(files, &records, in_time, &mut findings).await?;
    // The removal of a deleted job causes differences. The job is hidden, so they are not reported.
    if !findings.is_equal() && store.job(id).await?.is_none_or(|job| job.is_deleted()) {
        return Ok(None);
    }
    Ok(Some(findings.document(&records.job)))
}

/// Makes every comparison that needs a job's files: report, work files, input and outputs, the cheapest first.
pub(super) async fn check_files(
    files: &impl Files,
    records: &Records,
    in_time: &(dyn Fn() -> bool + Sync),
    findings: &mut Findings,
) -> PortResult<()> {
    let reported = if records.job.status.is_final() {
        ReportAudit { files, records, in_time, findings }.check().await?
    } else {
        findings.mark_unchecked("report", "the job has not ended, so it has no report yet");
        Reported::default()
    };
    WorkAudit { files, records, in_time }.check(&reported, findings).await?;
    check_plan(files, records, in_time, findings).await?;
    match reported.results {
        Some(results) => OutputsAudit { files, records, in_time, findings }.check(results).await,
        None => Ok(()),
    }
}

/// Reads the groups and the job. Reads them again if the job ended after its groups were read: from then on, its
/// records do not change.
async fn consistent_state(store: &impl Ledger, id: JobId) -> PortResult<Option<JobProgress>> {
    let read = store.progress(id).await?.filter(|progress| !progress.job.is_deleted());
    match &read {
        Some(JobProgress { groups, job })
            if job.completion.totals.is_some_and(|totals| totals != progress::counts(job, groups)) =>
        {
            Ok(store.progress(id).await?.filter(|progress| !progress.job.is_deleted()))
        }
        _ => Ok(read),
    }
}

async fn with_manifests(
    store: &impl Ledger,
    groups: Vec<Group>,
    id: JobId,
) -> PortResult<Vec<(Group, Option<Manifest>)>> {
    let read = stream::iter(groups).map(|group| async move {
        let manifest = store.manifest(id, group.number).await?;
        PortResult::Ok((group, manifest))
    });
    read.buffered(READ_AHEAD).try_collect().await
}
