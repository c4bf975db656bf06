//! The job of a schedule: a request for a job that was validated when the schedule was stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{EndpointId, JobId};
use crate::job::{DatasetSource, Job, JobTimes, Priority, Source, Tolerance, Validation, deadline};
use crate::ports::Definition;
use crate::registration::Version;
use crate::results::ResultsForm;
use crate::schedule::Schedule;
use crate::text::shortened;
use crate::timestamp::Timestamp;

/// Maximum size of a template as JSON: all schedules of a tenant are read at once.
pub const JOB_BYTES: usize = 16 * 1024;

/// Maximum characters of the stored error of refused options.
const REFUSAL_CHARS: usize = 600;

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
    /// The newest check of the options; `None` if the job type is not registered, or they were never checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options_check: Option<OptionsCheck>,
}

/// The check of the options of a template by a registration. It holds for the version, whose content never changes: so
/// a schedule costs the compilation of a schema once for each version, and not for each occurrence.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionsCheck {
    /// Version of the registration.
    pub version: Version,
    /// The error of refused options; `None` if they are accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

impl OptionsCheck {
    /// Creates the check of options that a version accepts.
    pub fn accepted(version: Version) -> Self {
        Self { version, refusal: None }
    }

    /// Creates the check of options that a version refuses with this error; a long one is shortened.
    pub fn refused(version: Version, error: &str) -> Self {
        Self { version, refusal: Some(shortened(error, REFUSAL_CHARS)) }
    }
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
            options_check: None,
        }
    }

    /// Returns the options of the job.
    pub fn options(&self) -> Value {
        self.request.get("options").cloned().unwrap_or_default()
    }

    /// Returns the check of the options by this version, if it was stored.
    pub fn check_by(&self, version: &Version) -> Option<&OptionsCheck> {
        self.options_check.as_ref().filter(|check| check.version == *version)
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
        (job, Definition { results: self.results.clone(), ..Definition::new(self.options()) })
    }
}
