//! The three remote services together, and the names of the objects that Longshore keeps in the bucket.

use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::Job;

/// Store, queues and files: real ones in a function, fakes in its tests.
#[derive(Clone, Debug)]
pub struct Ports<S, Q, F> {
    /// The jobs table.
    pub store: S,
    /// The queues.
    pub queues: Q,
    /// The bucket.
    pub files: F,
}

/// Where an upload is put.
pub fn upload_key(tenant: &str, id: FileGuid) -> String {
    format!("uploads/{tenant}/{id}")
}

/// Where the files of one job are kept: its work files and its report, below its tenant's name.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct JobFolder<'a> {
    /// Whose the job is.
    pub tenant: &'a str,
    /// The job.
    pub id: JobId,
}

impl<'a> JobFolder<'a> {
    /// The folder of a job.
    pub fn for_job(job: &'a Job) -> Self {
        Self { tenant: &job.tenant, id: job.job_id }
    }

    /// What the keys of all files of the job begin with.
    pub fn prefix(self) -> String {
        format!("jobs/{}/{}/", self.tenant, self.id)
    }

    /// Key of a work file of the chunk at this place (group, chunk). `token` names the commit that vouches for it.
    pub fn work_key(self, (group, chunk): (u32, u32), token: &str) -> String {
        format!("jobs/{}/{}/chunks/{group}-{chunk}/{token}.jsonl", self.tenant, self.id)
    }

    /// Key of a file of a generation's report. `report` is a name from [`report_name`], or only the attempt for files
    /// that all its invocations share. Reports of jobs that ended before attempts had names have none.
    pub fn report_key(self, generation: u32, report: Option<&str>, name: &str) -> String {
        let report = report.map(|report| format!("{report}/")).unwrap_or_default();
        format!("jobs/{}/{}/report/{generation}/{report}{name}", self.tenant, self.id)
    }
}

/// Name of a report: the attempt that writes it, over any number of invocations, and the invocation that ends it. Files
/// written whole are kept below both, so that no other invocation overwrites them. Multipart uploads are kept below the
/// attempt alone.
pub fn report_name(attempt: &str, invocation: &str) -> String {
    format!("{attempt}/{invocation}")
}

/// Key of a document or of a file written whole, in the report that the job has ended with.
pub fn report_key(job: &Job, name: &str) -> String {
    JobFolder::for_job(job).report_key(job.generation, job.completion.report.as_deref(), name)
}

/// Possible keys of a file in the report that the job has ended with: written whole, and uploaded in parts.
pub fn report_file_keys(job: &Job, name: &str) -> [String; 2] {
    let attempt = job.completion.report.as_deref().map(|report| report.split('/').next().unwrap_or(report));
    [report_key(job, name), JobFolder::for_job(job).report_key(job.generation, attempt, name)]
}
