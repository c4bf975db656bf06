//! The trace of a job: the id under which the log records of all functions join, from the upload of its file on.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ids::{FileGuid, JobId};

/// Identifies a trace, as W3C Trace Context does: 32 hexadecimal digits in lower case, not all zeros.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TraceId(#[serde(with = "uuid::serde::simple")] Uuid);

impl TraceId {
    /// Generates a new, unique id.
    pub fn generate() -> Self {
        Self(Uuid::new_v4())
    }

    /// Parses an id; `None` if it is not valid.
    pub fn parse(text: &str) -> Option<Self> {
        let has_digits = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        Uuid::try_parse(text).ok().filter(|id| has_digits && !id.is_nil()).map(Self)
    }
}

/// The trace of a job that has no other one.
impl From<JobId> for TraceId {
    fn from(JobId(id): JobId) -> Self {
        Self(id)
    }
}

/// The trace of an upload, and of the jobs over its file.
impl From<FileGuid> for TraceId {
    fn from(FileGuid(id): FileGuid) -> Self {
        Self(id)
    }
}

impl std::fmt::Display for TraceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.as_simple().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_id_is_32_digits_in_lower_case() {
        let good = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(TraceId::parse(good).map(|id| id.to_string()).as_deref(), Some(good));
        assert_eq!(serde_json::to_value(TraceId::parse(good)).unwrap(), good);
        assert_eq!(serde_json::from_value::<TraceId>(good.into()).ok(), TraceId::parse(good));
        let hyphens = "0af76519-16cd-43dd-8448-eb211c80319c";
        let others = [good.to_uppercase(), good.replace('f', "g"), "0".repeat(32)];
        for bad in ["", hyphens, &good[1..]].into_iter().chain(others.iter().map(String::as_str)) {
            assert_eq!(TraceId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_trace_of_a_job_or_of_an_upload_has_its_digits() {
        let (job, upload) = (JobId::generate(), FileGuid::generate());
        assert_eq!(TraceId::from(job).to_string(), job.to_string().replace('-', ""));
        assert_eq!(TraceId::from(upload).to_string(), upload.to_string().replace('-', ""));
    }
}
