//! The file that must be prepared: the job's file, or the corrected file of its generation.

use longshore::header::detect_form;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{Files, PortResult};
use longshore_domain::records::Form;

/// Returns the job's file that is not in a form that can be split, with its form. `None` if there is none, or if it is
/// gone.
pub(crate) async fn unprepared(files: &impl Files, job: &Job) -> PortResult<Option<(SourceFile, Form)>> {
    for file in job.file().into_iter().chain(job.retry.selection.corrected()) {
        if let Some(form) = detect_form(files, file).await? {
            return Ok(Some((file.clone(), form)));
        }
    }
    Ok(None)
}
