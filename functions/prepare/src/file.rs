//! The file that must be prepared: the job's file, or the corrected file of its generation.

use std::ops::Range;

use longshore::files::ResumingReader;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{Files, PortResult, Read};
use longshore_domain::records::Form;

/// Returns the job's file that is not in a form that can be split, with its form. `None` if there is none, or if it is gone.
pub(crate) async fn unprepared(files: &impl Files, job: &Job) -> PortResult<Option<(SourceFile, Form)>> {
    let of_job = job.file().into_iter().chain(job.retry.selection.corrected());
    for file in of_job.filter(|file| file.original.is_none()) {
        let head = read_range(files, file, 0..Form::HEAD_BYTES).await?;
        if let Some(form) = head.and_then(|head| Form::detect(&head)) {
            return Ok(Some((file.clone(), form)));
        }
    }
    Ok(None)
}

/// Reads a range of a file; `None` if the file was removed or replaced.
pub(crate) async fn read_range(
    files: &impl Files,
    file: &SourceFile,
    range: Range<u64>,
) -> PortResult<Option<Vec<u8>>> {
    match ResumingReader::new(files, file, range.start).up_to(range.end).read_all().await? {
        Read::Found(bytes) => Ok(Some(bytes)),
        Read::Absent | Read::Changed => Ok(None),
    }
}
