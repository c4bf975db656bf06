//! Removes an ended job that its client has deleted: its files, its uploads, its records, and itself.
//!
//! Each step is idempotent, and the job is removed last: a sweep that dies at any step leaves a job that the next one
//! finds and continues to remove. Records that the job imported do not belong to it and are kept.

use longshore::ports::{JobFolder, Ports, upload_key};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::Job;
use longshore_domain::ports::{Files, PortResult, Removal};

use crate::limit::Limit;

/// Removes a job and everything that belongs to it. A job with more files than time allows keeps its records: the next
/// sweep continues.
pub(crate) async fn remove<S: Removal, Q, F: Files>(ports: &Ports<S, Q, F>, job: &Job, limit: Limit) -> PortResult<()> {
    while ports.files.remove_some(&JobFolder::for_job(job).prefix()).await? {
        if limit.is_over() {
            return Ok(());
        }
    }
    for upload in job.uploads() {
        remove_upload(ports, job, upload).await?;
    }
    ports.store.remove(job.job_id).await
}

/// Removes an upload, unless another job uses it too: then it is removed with the last of them, or expires.
async fn remove_upload<S: Removal, Q, F: Files>(ports: &Ports<S, Q, F>, job: &Job, upload: FileGuid) -> PortResult<()> {
    if ports.store.release_upload(job.job_id, upload).await? {
        ports.files.remove(&upload_key(&job.tenant, upload)).await?;
    }
    Ok(())
}
