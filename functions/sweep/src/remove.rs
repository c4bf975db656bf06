//! Removes a job that its client has deleted and that has ended: its files, its upload, its records, itself.
//!
//! Each step may be made again, and the job goes last: a sweep that dies at any step leaves a job that the next one finds
//! and goes on with. The records that the job imported are not its own and stay.

use longshore::ports::{JobFolder, Ports};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{Files, PortResult, Removal};
use longshore_domain::time_stamp::Timestamp;

/// Removes what belongs to a job, and the job. A job with more files than there is time for keeps its records: the next
/// sweep goes on. `time` is the clock and when this sweep has to end.
pub(crate) async fn remove<S: Removal, Q, F: Files>(
    ports: &Ports<S, Q, F>,
    job: &Job,
    (clock, deadline): (fn() -> Timestamp, Timestamp),
) -> PortResult<()> {
    while ports.files.remove_some(&JobFolder::of(job).prefix()).await? {
        if clock() >= deadline {
            return Ok(());
        }
    }
    if let Some(source) = &job.source {
        remove_source(ports, job, source).await?;
    }
    ports.store.remove(job.job_id).await
}

/// The upload, unless another job uses it too: then it goes with the last of them, or expires.
async fn remove_source<S: Removal, Q, F: Files>(
    ports: &Ports<S, Q, F>,
    job: &Job,
    source: &SourceFile,
) -> PortResult<()> {
    let Some(upload) = source.upload() else { return Ok(()) };
    if ports.store.release_upload(job.job_id, upload).await? {
        ports.files.remove(&source.key).await?;
    }
    Ok(())
}
