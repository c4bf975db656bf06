//! The list of jobs.

use anyhow::Result;
use indicatif::HumanCount;
use serde_json::Value;

use crate::api::Api;
use crate::output::documents::{print_list, status, text};
use crate::output::pages::{List, entries, query};

/// Maximum number of jobs on a page of the API.
const PAGE: usize = 100;

const JOBS: List = List { action: "listing the jobs", member: "jobs" };

/// The jobs to list.
#[derive(clap::Args)]
pub(super) struct Filter {
    /// Only jobs with this status
    #[arg(long, value_name = "STATUS", value_parser = ["waiting", "running", "completed", "failed", "canceled"])]
    status: Option<String>,
    /// Only jobs of this type
    #[arg(long = "type", value_name = "TYPE")]
    job_type: Option<String>,
    /// Only jobs with this metadata, such as source=crm; repeat it for each
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::values::pair)]
    metadata: Vec<(String, String)>,
    /// Maximum number of jobs
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

impl Filter {
    /// Returns the jobs, newest first.
    pub(super) fn jobs(&self, api: &Api) -> Result<Vec<Value>> {
        let size = self.limit.min(PAGE).to_string();
        entries(api, JOBS, self.limit, |cursor| self.path(&size, cursor))
    }

    fn path(&self, size: &str, cursor: Option<&str>) -> String {
        let own = [
            ("limit", Some(size)),
            ("status", self.status.as_deref()),
            ("jobType", self.job_type.as_deref()),
            ("cursor", cursor),
        ];
        let names: Vec<_> = self.metadata.iter().map(|(name, _)| format!("metadata[{name}]")).collect();
        let values = self.metadata.iter().map(|(_, value)| Some(value.as_str()));
        let metadata: Vec<_> = names.iter().map(String::as_str).zip(values).collect();
        query("/api/jobs", &[&own[..], &metadata[..]].concat())
    }
}

/// Returns all jobs with this metadata, newest first.
pub(crate) fn jobs_with_metadata(api: &Api, name: &str, value: &str) -> Result<Vec<Value>> {
    let metadata = vec![(name.to_owned(), value.to_owned())];
    Filter { status: None, job_type: None, metadata, limit: usize::MAX }.jobs(api)
}

/// Prints the jobs.
pub(super) fn print(jobs: &[Value], as_json: bool) -> Result<()> {
    let heading = ["id", "type", "status", "progress", "succeeded", "failed", "created", "input"];
    print_list(jobs, as_json.then_some("jobs"), heading, row)
}

fn row(job: &Value) -> [String; 8] {
    let count = |name: &str| HumanCount(job["counts"][name].as_u64().unwrap_or_default()).to_string();
    let source = &job["source"];
    let input =
        [&job["fileName"], &source["name"], &source["dataset"]].into_iter().find_map(Value::as_str).unwrap_or("-");
    let status = status(&job["status"], &job["waitingFor"]["reason"]);
    [
        text(&job["jobId"]),
        text(&job["jobType"]),
        status,
        format!("{}%", job["percent"].as_u64().unwrap_or_default()),
        count("succeeded"),
        count("failed"),
        text(&job["createdAt"]),
        input.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_filter_is_a_query_and_a_job_is_a_row() {
        let filter = Filter {
            status: Some("failed".to_owned()),
            job_type: None,
            metadata: vec![("team".to_owned(), "a&b".to_owned())],
            limit: 5,
        };
        assert_eq!(filter.path("5", Some("c")), "/api/jobs?limit=5&status=failed&cursor=c&metadata%5Bteam%5D=a%26b");
        let job = json!({ "jobId": "j", "jobType": "import", "status": "running", "percent": 7, "counts": { "succeeded": 1234 },
            "waitingFor": { "reason": "rate_limit" }, "createdAt": "t", "fileName": "a.csv" });
        assert_eq!(row(&job), ["j", "import", "running (rate_limit)", "7%", "1,234", "0", "t", "a.csv"]);
    }
}
