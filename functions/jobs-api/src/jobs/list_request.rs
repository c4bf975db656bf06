//! Parameters of a list of jobs.

use longshore::field_error::FieldError;
use longshore::handler::Registry;
use longshore::http::{QueryText, Tenant, paging};
use longshore::problem::Problem;
use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use longshore_domain::ports::{JobPosition, JobsQuery};
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

/// Default page size.
const DEFAULT_LIMIT: usize = 20;

/// Maximum page size: the size of one DynamoDB batch read.
const MAX_LIMIT: usize = 100;

/// The parameters of a list of jobs.
pub(super) struct ListRequest<'a> {
    status: Option<(Status, &'a str)>,
    job_type: Option<&'a str>,
    limit: usize,
    after: Option<JobPosition>,
}

impl<'a> ListRequest<'a> {
    /// Reads the parameters; ignores unknown ones.
    ///
    /// # Errors
    /// 422 with every bad parameter.
    pub(super) fn read(query: &'a QueryText, registry: &Registry) -> Result<Self, Problem> {
        let mut errors = Vec::new();
        let status = query.get("status").and_then(|text| {
            let status = serde_json::from_value(Value::from(text)).ok();
            errors.extend(status.is_none().then(unknown_status));
            status.map(|status| (status, text))
        });
        let job_type = query.get("jobType");
        errors.extend(job_type.filter(|name| registry.find(name).is_none()).map(|name| unknown_type(name, registry)));
        let limit = paging::limit(query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
        let after = query.get("cursor").and_then(|cursor| {
            let position = position(cursor);
            errors.extend(position.is_none().then(paging::bad_cursor));
            position
        });
        if errors.is_empty() { Ok(Self { status, job_type, limit, after }) } else { Err(Problem::invalid(errors)) }
    }

    /// Converts the parameters to a query for the store.
    pub(super) fn for_tenant<'b>(&'b self, tenant: &'b Tenant) -> JobsQuery<'b> {
        let (status, job_type) = (self.status.map(|(status, _)| status), self.job_type);
        JobsQuery { tenant: &tenant.0, status, job_type, limit: self.limit, after: self.after }
    }

    /// Returns the path of the next page of the same list.
    pub(super) fn next_link(&self, cursor: &str) -> String {
        let limit = self.limit.to_string();
        let filters = [("status", self.status.map(|(_, text)| text)), ("jobType", self.job_type)];
        let mut parameters: Vec<_> = filters.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect();
        parameters.extend([("limit", limit.as_str()), ("cursor", cursor)]);
        paging::next_link("/api/jobs", &parameters)
    }
}

/// Encodes a position in the list as a cursor. The cursor contains no tenant: for another tenant, it is only a point in
/// time.
pub(super) fn cursor(position: JobPosition) -> String {
    paging::encode_cursor(&format!("{}.{}", position.created_at.0, position.job_id))
}

fn position(cursor: &str) -> Option<JobPosition> {
    let position = paging::decode_cursor(cursor)?;
    let (created_at, job_id) = position.split_once('.')?;
    let created_at = created_at.parse().ok().filter(|millis| (0..1_000_000_000_000_000).contains(millis))?;
    Some(JobPosition { created_at: Timestamp(created_at), job_id: JobId::parse(job_id)? })
}

fn unknown_status() -> FieldError {
    let detail = "status must be waiting, running, completed, failed or canceled";
    FieldError::new("/status", "unknown_status", detail)
}

fn unknown_type(name: &str, registry: &Registry) -> FieldError {
    let detail = format!("unknown job type \"{name}\"; the job types are: {}", registry.names().join(", "));
    FieldError::new("/jobType", "unknown_job_type", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_decoded_and_an_invalid_one_is_refused() {
        let last = JobPosition { created_at: Timestamp(1_700_000_000_000), job_id: JobId::generate() };
        assert_eq!(position(&cursor(last)), Some(last));
        for bad in [
            "",
            "?",
            "1700000000000",
            &paging::encode_cursor("1.x"),
            &paging::encode_cursor(&format!("-1.{}", last.job_id)),
        ] {
            assert_eq!(position(bad), None, "{bad}");
        }
    }
}
