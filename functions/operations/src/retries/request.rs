//! The body of a retry, read field by field.

use longshore::http::{Bad, Checked, Fields};
use longshore::job_retry::{CODE_CHARS, failure_text};
use longshore::problem::Problem;
use longshore_domain::ids::JobId;
use longshore_domain::operator_log::MAX_JOBS;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use super::retrier::FailedItems;
use crate::log::reason::reason;
use crate::names;

/// A request, once it is read.
pub(super) struct Request {
    pub(super) items: FailedItems,
    pub(super) job_ids: Vec<JobId>,
    pub(super) reason: String,
}

impl Request {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every bad field.
    pub(super) fn read(mut fields: Fields) -> Result<Self, Problem> {
        let job_type = fields.required("type", names::job_type_in_body);
        let code = fields.required("code", |value| failure_text("code", value, CODE_CHARS));
        let job_ids = fields.required("jobIds", job_ids);
        let as_of = fields.optional("asOf", time);
        let reason = fields.required("reason", reason);
        match (job_type, code, job_ids, reason) {
            (Some(job_type), Some(code), Some(job_ids), Some(reason)) if fields.is_valid() => {
                Ok(Self { items: FailedItems { job_type, code, as_of }, job_ids, reason })
            }
            _ => Err(fields.into_problem()),
        }
    }
}

fn job_ids(value: &Value) -> Checked<Vec<JobId>> {
    let bad = || Bad::new("invalid_job_ids", format!("jobIds must be a list of 1 to {MAX_JOBS} different ids of jobs"));
    let ids = value.as_array().filter(|ids| (1..=MAX_JOBS).contains(&ids.len())).ok_or_else(bad)?;
    let ids: Option<Vec<_>> = ids.iter().map(|id| id.as_str().and_then(JobId::parse)).collect();
    let ids = ids.ok_or_else(bad)?;
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == ids.len() { Ok(ids) } else { Err(bad()) }
}

fn time(value: &Value) -> Checked<Timestamp> {
    let bad = || Bad::new("invalid_time", "asOf must be a time in RFC 3339: asOf of the groups of failures");
    value.as_str().and_then(Timestamp::parse_rfc3339).ok_or_else(bad)
}
