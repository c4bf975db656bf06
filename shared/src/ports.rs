//! The three remote services together, and the names of Longshore's objects in the bucket.

use longshore_domain::ids::{ChunkId, FileGuid, JobId};
use longshore_domain::job::Job;
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::Queues;
use longshore_domain::tenant::TenantId;

use crate::image_file::ImageFile;
use crate::telemetry;

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

impl<S, Q: Queues, F> Ports<S, Q, F> {
    /// Sends the create message of a stored job. A failure is only logged, because the sweeper sends the message again.
    pub async fn send_create(&self, job: &Job) {
        if let Err(error) = self.queues.send_create(&CreateMessage::new(job)).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %job.job_id, error, "cannot send a create message; the sweeper will send it");
        }
    }
}

/// Returns the key of an upload. The tenant of an S3 key is its second segment, here and in [`JobFolder`].
pub fn upload_key(tenant: &TenantId, id: FileGuid) -> String {
    format!("uploads/{tenant}/{id}")
}

/// Key prefix of one job's files: the items of its request, its work files, the records that it has
/// overwritten, the images that it has resized and its report, below its tenant's name.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct JobFolder<'a> {
    /// The tenant that owns the job.
    pub tenant: &'a TenantId,
    /// The job.
    pub id: JobId,
}

impl<'a> JobFolder<'a> {
    /// Returns the folder of a job.
    pub fn for_job(job: &'a Job) -> Self {
        Self { tenant: &job.tenant, id: job.job_id }
    }

    /// Returns the prefix of the keys of all files of the job.
    pub fn prefix(self) -> String {
        format!("jobs/{}/{}/", self.tenant, self.id)
    }

    /// Returns the key of the items of the job's request, as JSON Lines. The id of the job is new with each call, so no
    /// two calls write the same file.
    pub fn source_key(self) -> String {
        format!("jobs/{}/{}/source.jsonl", self.tenant, self.id)
    }

    /// Returns the key of a file with the previous versions of records that the job has overwritten. Its name is unique.
    pub fn versions_key(self, file: &str) -> String {
        format!("jobs/{}/{}/versions/{file}.jsonl", self.tenant, self.id)
    }

    /// Returns the key of an image that the job has resized. The job's files are removed and expire together.
    pub fn image_key(self, file: &ImageFile) -> String {
        format!("jobs/{}/{}/images/{file}", self.tenant, self.id)
    }

    /// Returns the folder of a chunk.
    pub const fn chunk(self, id: ChunkId) -> ChunkFolder<'a> {
        ChunkFolder { job: self, id }
    }

    /// Returns the key of a file of a generation's report. `report` is a name from [`report_name`], or only the
    /// attempt for files that all its invocations share. It is `None` for reports of jobs that ended before attempts
    /// had names.
    pub fn report_key(self, generation: u32, report: Option<&str>, name: &str) -> String {
        let report = report.map(|report| format!("{report}/")).unwrap_or_default();
        format!("jobs/{}/{}/report/{generation}/{report}{name}", self.tenant, self.id)
    }
}

/// Key prefix of one chunk's work files.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct ChunkFolder<'a> {
    job: JobFolder<'a>,
    id: ChunkId,
}

impl ChunkFolder<'_> {
    /// Returns the key of a work file. `token` names the commit that refers to it.
    pub fn work_key(self, token: &str) -> String {
        let (JobFolder { tenant, id }, ChunkId { group, chunk }) = (self.job, self.id);
        format!("jobs/{tenant}/{id}/chunks/{group}-{chunk}/{token}.jsonl")
    }

    /// Returns the key of the outputs beside the work file of this token.
    pub fn outputs_key(self, token: &str) -> String {
        let (JobFolder { tenant, id }, ChunkId { group, chunk }) = (self.job, self.id);
        format!("jobs/{tenant}/{id}/chunks/{group}-{chunk}/{token}.out.jsonl")
    }
}

/// Returns the name of a report: the attempt that writes it, over any number of invocations, and the invocation that
/// ends it. Files written whole are kept below both, so that no other invocation overwrites them. Multipart uploads
/// are kept below the attempt alone.
pub fn report_name(attempt: &str, invocation: &str) -> String {
    format!("{attempt}/{invocation}")
}

/// Returns the key of a document, or of a file that was written by one PUT, in the job's final report.
pub fn report_key(job: &Job, name: &str) -> String {
    JobFolder::for_job(job).report_key(job.generation, job.completion.report.as_deref(), name)
}

/// Returns the possible keys of a file in the job's final report: written by one PUT, and uploaded in parts.
pub fn report_file_keys(job: &Job, name: &str) -> [String; 2] {
    let attempt = job.completion.report.as_deref().map(|report| report.split('/').next().unwrap_or(report));
    [report_key(job, name), JobFolder::for_job(job).report_key(job.generation, attempt, name)]
}
