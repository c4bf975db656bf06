//! The filter of a list of jobs, as its query string has it.

use longshore::field_error::FieldError;
use longshore::http::{QueryText, paging};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{CreatedRange, JobPosition};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use crate::names;

/// Position in a list from which a page is read.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum ListPosition {
    /// Behind the job at this position.
    AfterJob(JobPosition),
    /// Jobs that were accepted before this time: the days from it on are read.
    BeforeTime(Timestamp),
}

impl ListPosition {
    /// Encodes the position as a cursor.
    pub(crate) fn encode(self) -> String {
        paging::encode_cursor(&match self {
            Self::AfterJob(position) => format!("{}.{}", position.created_at.0, position.job_id),
            Self::BeforeTime(time) => time.0.to_string(),
        })
    }

    fn decode(cursor: &str) -> Option<Self> {
        let text = paging::decode_cursor(cursor)?;
        let time = |text: &str| text.parse().ok().filter(|millis| within(Timestamp(*millis))).map(Timestamp);
        match text.split_once('.') {
            None => time(&text).map(Self::BeforeTime),
            Some((created_at, id)) => {
                let (created_at, job_id) = (time(created_at)?, JobId::parse(id)?);
                Some(Self::AfterJob(JobPosition { created_at, job_id }))
            }
        }
    }

    /// Returns the position of the job; `None` at a time between jobs.
    pub(crate) const fn job_position(self) -> Option<JobPosition> {
        if let Self::AfterJob(position) = self { Some(position) } else { None }
    }
}

fn within(time: Timestamp) -> bool {
    CreatedRange::ALL.contains(time)
}

/// The filter of a list of jobs of all tenants.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct JobFilter {
    pub(crate) status: Option<Status>,
    pub(crate) job_type: Option<String>,
    pub(crate) tenant: Option<TenantId>,
    pub(crate) created: CreatedRange,
    pub(crate) after: Option<ListPosition>,
    /// The parameters as they were given, for the link to the next page.
    given: Vec<(&'static str, String)>,
}

impl JobFilter {
    /// Reads the parameters `type`, `tenant`, `createdAfter`, `createdBefore` and `cursor`; appends what is wrong with
    /// them to `errors`. Without `createdAfter`, the list goes back to the oldest job that is kept, since `oldest`.
    pub(crate) fn read(query: &QueryText, oldest: Timestamp, errors: &mut Vec<FieldError>) -> Self {
        let mut given = Vec::new();
        let mut text = |name: &'static str| {
            let value = query.get(name).map(str::to_owned);
            given.extend(value.clone().map(|value| (name, value)));
            value
        };
        let job_type = text("type").and_then(|name| names::parameter("type", names::job_type(&name), errors));
        let tenant = text("tenant").and_then(|name| names::parameter("tenant", names::tenant(&name), errors));
        let mut time = |name: &'static str, default| match text(name) {
            None => default,
            Some(text) => Timestamp::parse_rfc3339(&text).filter(|time| within(*time)).unwrap_or_else(|| {
                errors.push(bad_time(name));
                default
            }),
        };
        let after = time("createdAfter", oldest);
        let created = CreatedRange { from: after.max(oldest), before: time("createdBefore", CreatedRange::ALL.before) };
        let after = paging::cursor(query, errors, ListPosition::decode);
        Self { status: None, job_type, tenant, created, after, given }
    }

    /// Reads `status` into the filter.
    pub(crate) fn with_status(mut self, query: &QueryText, errors: &mut Vec<FieldError>) -> Self {
        let Some(text) = query.get("status") else { return self };
        self.status = serde_json::from_value(Value::from(text)).ok();
        errors.extend(self.status.is_none().then(unknown_status));
        self.given.push(("status", text.to_owned()));
        self
    }

    /// Adds a parameter to the link to the next page.
    pub(crate) fn with_parameter(mut self, name: &'static str, value: String) -> Self {
        self.given.push((name, value));
        self
    }

    /// Returns true if the filter includes the job, regardless of its position.
    pub(crate) fn includes(&self, job: &Job) -> bool {
        !job.is_deleted()
            && self.created.contains(job.times.created_at)
            && self.status.is_none_or(|status| job.status == status)
            && self.job_type.as_ref().is_none_or(|job_type| job.job_type == *job_type)
            && self.tenant.as_ref().is_none_or(|tenant| job.tenant == *tenant)
    }

    /// Returns the `Link` to the next page of the list at this path.
    pub(crate) fn next_link(&self, path: &str, cursor: &str) -> String {
        let mut parameters: Vec<_> = self.given.iter().map(|(name, value)| (*name, value.as_str())).collect();
        parameters.push(("cursor", cursor));
        paging::next_link(path, &parameters)
    }
}

fn unknown_status() -> FieldError {
    let detail = "status must be waiting, running, completed, failed or canceled";
    FieldError::new("/status", "unknown_status", detail)
}

fn bad_time(name: &str) -> FieldError {
    let detail = format!("{name} must be a time in RFC 3339, for example 2026-07-01T09:00:00Z");
    FieldError::new(format!("/{name}"), "invalid_time", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_decoded_from_its_cursor_and_a_bad_cursor_is_refused() {
        let position = JobPosition { created_at: Timestamp(1_700_000_000_000), job_id: JobId::generate() };
        for expected in [ListPosition::AfterJob(position), ListPosition::BeforeTime(Timestamp(86_400_000))] {
            assert_eq!(ListPosition::decode(&expected.encode()), Some(expected));
        }
        for bad in ["", "?", "x", "1.x", "-1", "1000000000000000"].map(paging::encode_cursor) {
            assert_eq!(ListPosition::decode(&bad), None, "{bad}");
        }
    }
}
