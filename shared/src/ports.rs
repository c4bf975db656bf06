//! The three remote services together, and the names of the objects that Longshore keeps in the bucket.

use longshore_domain::ids::{FileGuid, JobId};

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

/// What the keys of all files of a job begin with.
pub fn job_prefix(id: JobId) -> String {
    format!("jobs/{id}/")
}

/// Where a work file is kept; `token` names the commit that vouches for it.
pub fn work_key(id: JobId, group: u32, chunk: u32, token: &str) -> String {
    format!("jobs/{id}/chunks/{group}-{chunk}/{token}.jsonl")
}

/// Where a part of a generation's report is kept.
pub fn report_key(id: JobId, generation: u32, name: &str) -> String {
    format!("jobs/{id}/report/{generation}/{name}")
}
