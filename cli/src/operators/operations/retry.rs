//! The retry of a group of failures.

use anyhow::{Result, bail};
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::failures::{self, Group, Groups};
use super::filter::Filter;
use crate::api::Api;
use crate::output::confirm::confirm;
use crate::output::documents::{print_list, text};
use crate::output::exit::{CommandError, Exit};

/// Maximum number of jobs of one call.
const JOBS: usize = 100;

/// Days for which failures are looked for by default: tenants have settled most of the older ones.
const DEFAULT_DAYS: i64 = 7;

/// What is retried.
#[derive(clap::Args)]
pub(super) struct Retry {
    /// Job type of the failures
    #[arg(long = "type", value_name = "TYPE")]
    job_type: String,
    /// Code of the failures, as `failures` prints it
    #[arg(long, value_name = "CODE")]
    code: String,
    /// Reason, for the operators' log
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Only this job; repeat it for each. All jobs of the group by default
    #[arg(long = "job", value_name = "JOB")]
    jobs: Vec<String>,
    /// Only jobs of this tenant
    #[arg(long, value_name = "TENANT", conflicts_with = "jobs")]
    tenant: Option<String>,
    /// Only jobs that were accepted at this time or later, such as 2026-07-01T09:00:00Z; in the last 7 days by default
    #[arg(long, value_name = "TIME", conflicts_with = "jobs")]
    created_after: Option<String>,
    /// Only jobs that were accepted before this time
    #[arg(long, value_name = "TIME", conflicts_with = "jobs")]
    created_before: Option<String>,
    /// Only jobs that had ended at this time, so that a repetition starts nothing twice; by default, the time at which
    /// the failures are read, and with --job none
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Print the outcomes as JSON
    #[arg(long)]
    json: bool,
}

/// The jobs that are retried.
struct Found {
    job_ids: Vec<String>,
    as_of: Option<String>,
    /// Extent of the retry, for the question.
    extent: String,
}

impl Retry {
    /// Retries the failures, in parts of 100 jobs. If a call fails, the outcomes of those before it are printed.
    pub(super) fn execute(&self, api: &Api) -> Result<()> {
        let Found { job_ids, as_of, extent } = if self.jobs.is_empty() { self.find(api)? } else { self.given() };
        eprintln!("Retries the items of type {} that failed with {}: {extent}.", self.job_type, self.code);
        if !self.yes {
            confirm()?;
        }
        let (mut outcomes, mut ended) = (Vec::new(), Ok(()));
        for jobs in job_ids.chunks(JOBS) {
            let request = self.request(jobs, as_of.as_deref());
            match api.post("/api/operations/retries", Some(&request), "retrying the failures") {
                Ok(answer) => outcomes.extend(answer["jobs"].as_array().into_iter().flatten().cloned()),
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
        }
        if ended.is_ok() || !outcomes.is_empty() {
            let heading = ["job", "outcome", "attempt", "reason"];
            print_list(&outcomes, self.json.then_some("jobs"), heading, row)?;
        }
        if let Err(error) = ended {
            let answered = outcomes.len();
            return Err(error.context(format!("only {answered} of {} jobs were answered", job_ids.len())));
        }
        let refused = outcomes.iter().filter(|outcome| outcome["outcome"] != "started").count();
        if refused > 0 {
            bail!("{refused} of {} jobs were refused and are unchanged", outcomes.len());
        }
        Ok(())
    }

    /// Returns the jobs of the options.
    fn given(&self) -> Found {
        let extent = format!("{} jobs", self.jobs.len());
        Found { job_ids: self.jobs.clone(), as_of: self.as_of.clone(), extent }
    }

    /// Reads the jobs of the group.
    fn find(&self, api: &Api) -> Result<Found> {
        let filter = self.filter(Timestamp::now());
        let after = filter.created_after.as_deref().unwrap_or_default();
        eprintln!("Reads the reports of jobs that were accepted since {after}.");
        let Groups { groups, as_of, .. } = failures::read(api, &filter, Some(&self.code))?;
        let Some(group) = groups.into_iter().next() else {
            let detail = format!("no item of the type {} has failed with {} since {after}", self.job_type, self.code);
            let advice = "see `longshore operations failures`, or pass --created-after";
            return Err(CommandError::new(Exit::Failed, format!("{detail}: {advice}")).into());
        };
        let as_of = self.as_of.clone().or(as_of);
        Ok(Found { extent: extent(&group, as_of.as_deref()), job_ids: group.job_ids, as_of })
    }

    fn filter(&self, now: Timestamp) -> Filter {
        let default = || now.plus_days(-DEFAULT_DAYS).to_rfc3339();
        Filter {
            job_type: Some(self.job_type.clone()),
            tenant: self.tenant.clone(),
            created_after: Some(self.created_after.clone().unwrap_or_else(default)),
            created_before: self.created_before.clone(),
        }
    }

    fn request(&self, jobs: &[String], as_of: Option<&str>) -> Value {
        let mut request = json!({ "type": self.job_type, "code": self.code, "jobIds": jobs, "reason": self.reason });
        if let Some(as_of) = as_of {
            request["asOf"] = as_of.into();
        }
        request
    }
}

/// Describes a group: its size, the ends of its first and last job, and the time for a repetition.
fn extent(Group { items, job_ids, first_seen, last_seen, .. }: &Group, as_of: Option<&str>) -> String {
    let repeat = as_of.map_or_else(String::new, |as_of| format!(" (--as-of {as_of})"));
    let [first, last] = [*first_seen, *last_seen].map(failures::time);
    format!("{items} items of {} jobs, which ended from {first} to {last}{repeat}", job_ids.len())
}

fn row(outcome: &Value) -> [String; 4] {
    [text(&outcome["jobId"]), text(&outcome["outcome"]), text(&outcome["attempts"]), text(&outcome["detail"])]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(created_after: Option<&str>) -> Retry {
        Retry {
            job_type: "invite".to_owned(),
            code: "late".to_owned(),
            reason: "fixed".to_owned(),
            jobs: vec!["a".to_owned(), "b".to_owned()],
            tenant: None,
            created_after: created_after.map(str::to_owned),
            created_before: None,
            as_of: Some("2026-07-01T09:40:00Z".to_owned()),
            yes: true,
            json: false,
        }
    }

    #[test]
    fn failures_of_the_last_week_are_looked_for_by_default() {
        let now = Timestamp::parse_rfc3339("2026-07-08T09:00:00Z").unwrap();
        assert_eq!(retry(None).filter(now).created_after.as_deref(), Some("2026-07-01T09:00:00Z"));
        let given = "2026-01-01T00:00:00Z";
        assert_eq!(retry(Some(given)).filter(now).created_after.as_deref(), Some(given));
    }

    #[test]
    fn given_jobs_are_retried_as_of_the_given_time() {
        let retry = retry(None);
        let Found { job_ids, as_of, extent } = retry.given();
        assert_eq!((job_ids.len(), extent.as_str()), (2, "2 jobs"));
        assert_eq!(retry.request(&job_ids, as_of.as_deref())["asOf"], "2026-07-01T09:40:00Z");
    }

    #[test]
    fn the_question_names_the_items_the_jobs_and_their_ends() {
        let group = Group {
            job_type: "invite".to_owned(),
            code: "late".to_owned(),
            items: 40,
            jobs: 2,
            first_seen: Timestamp::parse_rfc3339("2026-07-01T07:00:00Z"),
            last_seen: Timestamp::parse_rfc3339("2026-07-01T09:00:00Z"),
            job_ids: vec!["a".to_owned(), "b".to_owned()],
        };
        let expected = "40 items of 2 jobs, which ended from 2026-07-01T07:00:00Z to 2026-07-01T09:00:00Z (--as-of t)";
        assert_eq!(extent(&group, Some("t")), expected);
    }
}
