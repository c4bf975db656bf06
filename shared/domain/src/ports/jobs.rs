//! Storage of uploads and jobs.

use std::future::Future;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ByAge, Created, IdempotencyKey, JobPosition, JobsPage, JobsQuery, PortResult, Started, UndoCreated};
use crate::ids::{FileGuid, JobId};
use crate::job::{Job, MarkUndone, SourceFile};
use crate::parts::Multipart;
use crate::records::{GivenReading, GivenSheet, Reading};
use crate::registration::VersionedRegistration;
use crate::results::ResultsForm;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// The request behind a job: immutable, and stored separately from the job.
#[derive(Clone, PartialEq, Debug)]
pub struct Definition {
    /// The options of the client, validated. Once columns are stored, with those that were detected.
    pub options: Value,
    /// Names of the columns, once the splitter has read them; `None` for JSON Lines or a job without a file.
    pub columns: Option<Vec<String>>,
    /// What the client has given of the reading of its CSV file.
    pub given_reading: GivenReading,
    /// The sheet of a workbook that the client has chosen; `None` for the first visible one.
    pub sheet: Option<GivenSheet>,
    /// The reading of a CSV file, once the splitter has found it, together with the columns.
    pub reading: Option<Reading>,
    /// The part of the options that was detected in the first rows of the file, once columns are stored.
    pub detected: Option<Value>,
    /// The form of the results; `None` if the items of the job have no output.
    pub results: Option<ResultsForm>,
    /// The registration of the job's type as it was when the job was created; `None` for a type of the stack's own
    /// code.
    pub registration: Option<VersionedRegistration>,
}

impl Definition {
    /// Maximum bytes of the client's options as JSON.
    pub const MAX_OPTIONS_BYTES: usize = 128 << 10;
    /// Maximum bytes of the options, with what was detected, and of the columns. They share one item of 400 KB.
    pub const MAX_BYTES: usize = 384 << 10;

    /// Creates the definition of a job whose items have no output.
    pub const fn new(options: Value) -> Self {
        let given_reading =
            GivenReading { encoding: None, delimiter: None, quote: None, header_row: None, comment: None };
        Self {
            options,
            columns: None,
            given_reading,
            sheet: None,
            reading: None,
            detected: None,
            results: None,
            registration: None,
        }
    }

    /// Returns what an earlier check of the columns has detected; `None` if there was none.
    pub fn detected_before(&self) -> Option<&Value> {
        const NOTHING: &Value = &Value::Null;
        self.columns.as_ref().map(|_| self.detected.as_ref().unwrap_or(NOTHING))
    }

    /// Returns what another job over the same file is given: what the client has given, or the reading of an earlier
    /// version.
    pub fn given_again(&self) -> GivenReading {
        match (&self.columns, self.reading) {
            (Some(_), None) => Reading::default().into(),
            _ => self.given_reading,
        }
    }

    /// Returns what is known of the reading of the job's file. An earlier version stored columns without a reading: it
    /// read UTF-8 with commas.
    pub fn known_reading(&self, source: &SourceFile) -> GivenReading {
        let of_columns = self.columns.as_ref().map(|_| Reading::default());
        source.reading.or(self.reading).or(of_columns).map_or(self.given_reading, GivenReading::from)
    }
}

/// Options that were detected in the first rows of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Detected {
    /// What was detected, as a part of the options.
    pub found: Value,
    /// All options, with it.
    pub options: Value,
}

/// An upload as it was promised to the client.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upload {
    /// Id of the upload.
    pub file_guid: FileGuid,
    /// Tenant that owns the upload.
    pub tenant: TenantId,
    /// Object key.
    pub key: String,
    /// The client's name for the file.
    pub file_name: String,
    /// Media type.
    pub content_type: String,
    /// The size, which is signed into the upload URL.
    pub size_bytes: u64,
    /// SHA-256 in base64, if the client gave one; also signed into the upload URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The multipart upload of a large file; `None` if a single PUT uploads it.
    #[serde(flatten)]
    pub multipart: Option<Multipart>,
    /// Time of the promise: the bytes count for that day, in UTC. 0 in uploads of an earlier version.
    #[serde(default)]
    pub promised_at: Timestamp,
    /// Time of expiry, in seconds.
    pub expires_at: i64,
}

/// Storage of uploads and jobs.
pub trait JobStore: Send + Sync {
    /// Stores a new upload with its idempotency key and counts its bytes, in one transaction.
    fn create_upload(
        &self,
        upload: &Upload,
        key: Option<&IdempotencyKey>,
    ) -> impl Future<Output = PortResult<Created<FileGuid>>> + Send;
    /// Reads an upload.
    fn upload(&self, id: FileGuid) -> impl Future<Output = PortResult<Option<Upload>>> + Send;
    /// Stores a new job with its definition and its idempotency key, counts it as active, and records that it uses its
    /// upload, in one transaction.
    fn create_job(
        &self,
        job: &Job,
        definition: &Definition,
        key: Option<&IdempotencyKey>,
    ) -> impl Future<Output = PortResult<Created<JobId>>> + Send;
    /// Stores the import that is started from the validated job `job.started_from`, like [`JobStore::create_job`]
    /// without a key, and records it on that job, in one transaction; see [`Job::start`].
    fn start_job(&self, job: &Job, definition: &Definition) -> impl Future<Output = PortResult<Started>> + Send;
    /// Stores an undo, like [`JobStore::create_job`] without a key, and marks its import, in one transaction; see
    /// [`Job::mark_undone`].
    fn create_undo(
        &self,
        undo: &Job,
        definition: &Definition,
        mark: &MarkUndone,
    ) -> impl Future<Output = PortResult<UndoCreated>> + Send;
    /// Returns the earlier outcome of an upload's idempotency key, or `None` if the key is free. Reads only.
    fn upload_created_before(
        &self,
        tenant: &TenantId,
        key: &IdempotencyKey,
    ) -> impl Future<Output = PortResult<Option<Created<FileGuid>>>> + Send;
    /// Returns the earlier outcome of a job's idempotency key, or `None` if the key is free. Reads only.
    fn job_created_before(
        &self,
        tenant: &TenantId,
        key: &IdempotencyKey,
    ) -> impl Future<Output = PortResult<Option<Created<JobId>>>> + Send;
    /// Reads a job, consistently.
    fn job(&self, id: JobId) -> impl Future<Output = PortResult<Option<Job>>> + Send;
    /// Reads a job's definition.
    fn definition(&self, id: JobId) -> impl Future<Output = PortResult<Option<Definition>>> + Send;
    /// Lists a tenant's jobs, newest first. They are found in an index that may lag by a moment, and then read
    /// consistently. A page may have fewer than the limit, or none, with more behind them: only `next` reports if there
    /// are more.
    fn jobs(&self, query: &JobsQuery<'_>) -> impl Future<Output = PortResult<JobsPage>> + Send;
    /// Lists scheduled jobs whose time has come before `before`, oldest first. Reads an index that may lag.
    fn due_jobs(&self, before: Timestamp, limit: usize) -> impl Future<Output = PortResult<Vec<JobId>>> + Send;
    /// Lists some of the jobs that have not ended, are deleted, or have pending events, by age, after `after` in this
    /// order; empty if there are no more. Reads an index that may lag.
    fn unfinished(
        &self,
        after: Option<JobPosition>,
        order: ByAge,
    ) -> impl Future<Output = PortResult<Vec<JobPosition>>> + Send;
}
