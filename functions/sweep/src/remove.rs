//! Removes a job that its client has deleted and that has ended: its files, its uploads, its records, itself.
//!
//! Each step may be made again, and the job goes last: a sweep that dies at any step leaves a job that the next one finds
//! and goes on with. The records that the job imported are not its own and stay.

use longshore::ports::{JobFolder, Ports, upload_key};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::Job;
use longshore_domain::ports::{Files, PortResult, Removal};
use longshore_domain::time_stamp::Timestamp;

/// Removes what belongs to a job, and the job. A job with more files than there is time for keeps its records: the next
/// sweep goes on. `time` is the clock and when this sweep has to end.
pub(crate) async fn remove<S: Removal, Q, F: Files>(
    ports: &Ports<S, Q, F>,
    job: &Job,
    (clock, deadline): (fn() -> Timestamp, Timestamp),
) -> PortResult<()> {
    while ports.files.remove_some(&JobFolder::for_job(job).prefix()).await? {
        if clock() >= deadline {
            return Ok(());
        }
    }
    for upload in job.uploads() {
        remove_upload(ports, job, upload).await?;
    }
    ports.store.remove(job.job_id).await
}

/// An upload, unless another job uses it too: then it goes with the last of them, or expires.
async fn remove_upload<S: Removal, Q, F: Files>(ports: &Ports<S, Q, F>, job: &Job, upload: FileGuid) -> PortResult<()> {
    if ports.store.release_upload(job.job_id, upload).await? {
        ports.files.remove(&upload_key(&job.tenant, upload)).await?;
    }
    Ok(())
}
