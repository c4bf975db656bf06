//! The job of a schedule: a request for a job that was validated when the schedule was stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{EndpointId, JobId};
use crate::job::{DatasetSource, Job, JobTimes, Priority, Source, Tolerance, Validation, deadline};
use crate::ports::Definition;
use crate::results::ResultsForm;
use crate::schedule::Schedule;
use crate::timestamp::Timestamp;

/// Maximum size of a template as JSON: all schedules of a tenant are read at once.
pub const JOB_BYTES: usize = 16 * 1024;

/// The job that each occurrence of a schedule makes. It is over a dataset, or one item whose input is its options: nothing
/// that an occurrence needs can expire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobTemplate {
    /// Name of the job type.
    pub job_type: String,
    /// True for a registered job type. Each job gets the newest registration.
    #[serde(default)]
    pub is_registered: bool,
    /// The dataset whose records are the items; `None` for a job that is one item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<DatasetSource>,
    /// Priority of the job.
    #[serde(default)]
    pub priority: Priority,
    /// Labels of the job.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// The webhook that gets the job's events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<EndpointId>,
    /// The request for the job as it was validated, with its defaults and with the options of the job type.
    pub request: Value,
    /// The form of the results; `None` if the items of the job have no output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<ResultsForm>,
    /// Tolerated failures, from the options.
    pub tolerance: Tolerance,
    /// Time limit in seconds.
    pub timeout_s: i64,
    /// True for a job that only checks its items.
    #[serde(default)]
    pub checks_only: bool,
}

impl JobTemplate {
    /// Creates a template of a job that is one item, with this request.
    pub fn new(job_type: impl Into<String>, request: Value) -> Self {
        Self {
            job_type: job_type.into(),
            is_registered: false,
            source: None,
            priority: Priority::default(),
            metadata: BTreeMap::new(),
            callback: None,
            request,
            results: None,
            tolerance: Tolerance::default(),
            timeout_s: 0,
            checks_only: false,
        }
    }

    /// Returns the job of an occurrence, and its definition without a registration. `expires_at` is in seconds.
    pub fn job(&self, schedule: &Schedule, id: JobId, now: Timestamp, expires_at: i64) -> (Job, Definition) {
        let job = Job {
            priority: self.priority,
            is_registered: self.is_registered,
            metadata: self.metadata.clone(),
            callback: self.callback,
            source: self.source.clone().map(Source::Dataset),
            tolerance: self.tolerance,
            times: JobTimes {
                timeout_s: self.timeout_s,
                deadline_at: deadline(now, self.timeout_s, expires_at),
                expires_at,
                ..JobTimes::accepted(now)
            },
            validation: Validation { checks_only: self.checks_only, ..Validation::default() },
            ..Job::waiting(id, schedule.tenant.clone(), &self.job_type, now)
        };
        let options = self.request.get("options").cloned().unwrap_or_default();
        (job, Definition { results: self.results.clone(), ..Definition::new(options) })
    }
}
