//! Groups of failed items: those of ended jobs with the same job type and code.

use std::collections::BTreeMap;

use longshore::result::ResultDocument;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::operator_log::MAX_JOBS;
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of groups of a page: a custom job type can have any number of codes.
pub(crate) const MAX_GROUPS: usize = 200;

/// Failed items of ended jobs with the same job type and code.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FailureGroup)]
pub struct FailureGroupDocument {
    /// Name of the job type.
    #[serde(rename = "type")]
    pub job_type: String,
    /// Code of the failures.
    pub code: String,
    /// Number of failed items.
    pub items: u64,
    /// Number of jobs with such items.
    pub jobs: u64,
    /// End of the first of these jobs, in RFC 3339.
    #[schema(format = DateTime)]
    pub first_seen: String,
    /// End of the last of these jobs, in RFC 3339.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Ids of the jobs, newest first, up to 100.
    pub job_ids: Vec<JobId>,
}

/// The failed items of one job.
#[derive(Debug)]
pub(crate) struct JobFailures {
    pub(crate) job: Job,
    /// The result that completion wrote, if it exists.
    pub(crate) result: Option<ResultDocument>,
}

/// Groups of failures, and what they leave out.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct Grouped {
    /// Groups, those with the most items first.
    pub(crate) groups: Vec<FailureGroupDocument>,
    /// Failed items without a code in the report of their job.
    pub(crate) uncounted: u64,
    /// Groups beyond the maximum.
    pub(crate) left_out: usize,
}

/// A group while it grows.
struct Group {
    items: u64,
    jobs: u64,
    first: Timestamp,
    last: Timestamp,
    job_ids: Vec<JobId>,
}

/// Groups the failed items of these jobs. Only a group with this code, if one is given.
pub(crate) fn group(failures: &[JobFailures], code: Option<&str>) -> Grouped {
    let (mut groups, mut uncounted) = (BTreeMap::<(&str, &str), Group>::new(), 0);
    for JobFailures { job, result } in failures {
        let failed = job.completion.totals.map_or(0, |totals| totals.failed);
        let codes = result.iter().flat_map(|result| result.failures_by_code.iter());
        let mut counted = 0;
        for (of, items) in codes {
            counted += items;
            if code.is_some_and(|code| code != of) {
                continue;
            }
            let at = job.times.finished_at.unwrap_or(job.times.updated_at);
            let group = groups.entry((&job.job_type, of)).or_insert_with(|| Group {
                items: 0,
                jobs: 0,
                first: at,
                last: at,
                job_ids: Vec::new(),
            });
            (group.items, group.jobs) = (group.items + items, group.jobs + 1);
            (group.first, group.last) = (group.first.min(at), group.last.max(at));
            if group.job_ids.len() < MAX_JOBS {
                group.job_ids.push(job.job_id);
            }
        }
        uncounted += failed.saturating_sub(counted);
    }
    let mut groups: Vec<_> =
        groups.into_iter().map(|((job_type, code), group)| document(job_type, code, group)).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.items));
    let left_out = groups.len().saturating_sub(MAX_GROUPS);
    groups.truncate(MAX_GROUPS);
    Grouped { groups, uncounted, left_out }
}

fn document(job_type: &str, code: &str, group: Group) -> FailureGroupDocument {
    FailureGroupDocument {
        job_type: job_type.to_owned(),
        code: code.to_owned(),
        items: group.items,
        jobs: group.jobs,
        first_seen: group.first.to_rfc3339(),
        last_seen: group.last.to_rfc3339(),
        job_ids: group.job_ids,
    }
}

#[cfg(test)]
mod tests {
    use longshore::result::{FailuresByCode, Report};
    use longshore_domain::job::{CompletionState, Status};
    use longshore_domain::outcome::Counts;
    use longshore_domain::tenant::TenantId;

    use super::*;

    fn failures(job_type: &str, ended: i64, codes: &[(&str, u64)], failed: u64) -> JobFailures {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), job_type, Timestamp(0));
        let totals = Some(Counts { failed, ..Counts::default() });
        let mut job =
            Job { status: Status::Completed, completion: CompletionState { totals, ..job.completion }, ..job };
        job.times.finished_at = Some(Timestamp(ended));
        let mut by_code = FailuresByCode::default();
        codes.iter().for_each(|(code, items)| (0..*items).for_each(|_| by_code.count(code)));
        let result = ResultDocument::new(&job, Report { failures_by_code: by_code, ..Report::default() });
        JobFailures { job, result: Some(result) }
    }

    fn all() -> [JobFailures; 4] {
        [
            failures("import", 4_000, &[("bad", 2), ("late", 1)], 3),
            failures("invite", 3_000, &[("bad", 9)], 9),
            failures("import", 2_000, &[("bad", 4)], 5),
            JobFailures { result: None, ..failures("import", 1_000, &[], 7) },
        ]
    }

    #[test]
    fn items_are_grouped_by_type_and_code_with_the_largest_group_first() {
        let all = all();
        let Grouped { groups, uncounted, left_out } = group(&all, None);
        let found: Vec<_> =
            groups.iter().map(|group| (&*group.job_type, &*group.code, group.items, group.jobs)).collect();
        assert_eq!(found, [("invite", "bad", 9, 1), ("import", "bad", 6, 2), ("import", "late", 1, 1)]);
        assert_eq!(groups[1].job_ids, [all[0].job.job_id, all[2].job.job_id]);
        assert_eq!((&*groups[1].first_seen, &*groups[1].last_seen), ("1970-01-01T00:00:02Z", "1970-01-01T00:00:04Z"));
        assert_eq!((uncounted, left_out), (8, 0), "one item beyond the codes, and a job without a report");
    }

    #[test]
    fn a_code_selects_its_groups_only() {
        let Grouped { groups, uncounted, .. } = group(&all(), Some("late"));
        assert_eq!((groups.len(), groups[0].items, uncounted), (1, 1, 8));
    }

    #[test]
    fn groups_and_jobs_beyond_the_maximum_are_left_out() {
        let codes: Vec<_> = (0..100).map(|n| format!("code {n}")).collect();
        let codes: Vec<_> = codes.iter().map(|code| (code.as_str(), 1)).collect();
        let many: Vec<_> = ["a", "b", "c"].iter().map(|name| failures(name, 1, &codes, 100)).collect();
        let grouped = group(&many, None);
        assert_eq!((grouped.groups.len(), grouped.left_out), (MAX_GROUPS, 100));
        let jobs: Vec<_> = (0..=MAX_JOBS).map(|_| failures("a", 1, &[("bad", 1)], 1)).collect();
        let group = &group(&jobs, None).groups[0];
        assert_eq!((group.jobs, group.job_ids.len()), (MAX_JOBS as u64 + 1, MAX_JOBS));
    }
}
