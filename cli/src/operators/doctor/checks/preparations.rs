//! Files that wait for their preparation. Those of one tenant are prepared two at a time, and each can take minutes, so
//! that one tenant alone can make the queue old.

use deployment::finding::Finding;

use super::jobs::{are_of_one_tenant, waits_long};
use crate::operators::doctor::facts::{Facts, UnfinishedJob};

/// The queue of files to prepare, by its id in the template.
pub(super) const QUEUE: &str = "PrepareQueue";

/// The alarm of old messages in it.
pub(super) const ALARM: &str = "PrepareQueueAgeAlarm";

/// The tenants of the jobs that wait too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// All jobs are of one tenant.
    OfOneTenant,
    /// Several tenants have such jobs.
    OfSeveral,
    /// No such job was read.
    Unknown,
}

/// Describes old messages of the queue: an error only if several tenants wait.
pub(super) fn old_messages(facts: &Facts, location: &str, problem: String, fix: String) -> Finding {
    let (finding, consequence) = match waiting(facts) {
        Waiting::OfSeveral => (
            Finding::error(location, problem, fix),
            "files of several tenants wait: Prepare fails, is throttled, or has not enough concurrency",
        ),
        Waiting::OfOneTenant => (
            Finding::warning(location, problem, fix),
            "all of one tenant: its other files are before them, or Prepare fails on its files",
        ),
        Waiting::Unknown => (
            Finding::warning(location, problem, fix),
            "one tenant has many files before it, or Prepare fails, is throttled, or has not enough concurrency",
        ),
    };
    finding.with_consequence(consequence)
}

fn waiting(facts: &Facts) -> Waiting {
    let is_late = |job: &&UnfinishedJob| job.is_preparing && waits_long(facts, job);
    let jobs: Vec<_> = facts.jobs.jobs.iter().filter(is_late).collect();
    match jobs.as_slice() {
        [] => Waiting::Unknown,
        jobs if are_of_one_tenant(jobs) => Waiting::OfOneTenant,
        _ => Waiting::OfSeveral,
    }
}

#[cfg(test)]
mod tests {
    use deployment::finding::Severity;
    use longshore_domain::job::{Stage, Status};
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::super::consumers::consumer_of;
    use super::super::tests::{healthy, template};
    use super::*;
    use crate::operators::doctor::facts::UnfinishedJobs;

    /// More than the limit of a healthy stack after the epoch.
    const NOW: Timestamp = Timestamp(3_600_001);

    fn job(tenant: &'static str, waits_since: i64) -> UnfinishedJob {
        UnfinishedJob {
            id: tenant.to_owned(),
            tenant: TenantId::from_static(tenant),
            job_type: "import".to_owned(),
            status: Status::Running,
            stage: Stage::Splitting,
            is_preparing: true,
            is_paused: false,
            waits_since: Timestamp(waits_since),
            deadline_at: Timestamp(i64::MAX),
        }
    }

    #[test]
    fn only_files_of_several_tenants_that_wait_are_an_error() {
        let paused = UnfinishedJob { is_paused: true, ..job("b", 0) };
        let prepared = UnfinishedJob { is_preparing: false, ..job("b", 0) };
        for (jobs, expected) in [
            (vec![], Waiting::Unknown),
            (vec![prepared.clone()], Waiting::Unknown),
            (vec![job("a", 0)], Waiting::OfOneTenant),
            (vec![job("a", 0), job("a", 0), job("b", 1)], Waiting::OfOneTenant),
            (vec![job("a", 0), paused, prepared], Waiting::OfOneTenant),
            (vec![job("a", 0), job("b", 0)], Waiting::OfSeveral),
        ] {
            let facts = Facts { now: NOW, jobs: UnfinishedJobs { jobs, are_all: true }, ..healthy() };
            assert_eq!(waiting(&facts), expected, "{:?}", facts.jobs);
            let finding = old_messages(&facts, QUEUE, "it is old".to_owned(), "wait".to_owned());
            let is_error = expected == Waiting::OfSeveral;
            assert_eq!(finding.severity == Severity::Error, is_error, "{finding}");
        }
    }

    #[test]
    fn queue_and_alarm_are_those_of_the_template() {
        let template = template();
        let alarm = template.properties(ALARM).unwrap();
        assert_eq!(alarm["Dimensions"][0]["Value"]["Fn::GetAtt"][0], QUEUE);
        assert_eq!(consumer_of(QUEUE), Some("Prepare"));
    }
}
