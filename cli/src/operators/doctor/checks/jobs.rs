//! The sweeper's schedule, open circuit breakers, and jobs that do not start or end.

use deployment::finding::{Finding, counted};
use longshore_domain::job::{Stage, Status};
use longshore_domain::remote::OpenReason;

use super::code::Code;
use super::consumers::errors_of;
use crate::operators::doctor::facts::{Facts, OpenBreaker, UnfinishedJob};

/// Milliseconds from the deadline of a job to its end: the sweeper's minute, the grace of workers, the report.
const STOP_MS: i64 = 900_000;

/// Maximum number of jobs that a finding names.
const NAMED: usize = 3;

/// Runs the checks.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut found: Vec<_> = schedule(facts).into_iter().collect();
    found.extend(facts.open_breakers.iter().map(|breaker| open_breaker(facts, breaker)));
    found.extend(not_started(facts));
    found.extend(overdue(facts));
    found
}

/// Finds a sweeper that is not invoked.
fn schedule(facts: &Facts) -> Option<Finding> {
    let schedules = facts.schedules.as_deref()?;
    let consequence = "jobs that lose a message never end, and later starts, schedules and removals do not happen";
    let found = |problem: &str, fix: String| {
        let finding = Finding::error("Sweep", problem, fix).with_code(Code::ScheduleDisabled);
        Some(finding.with_consequence(consequence))
    };
    if schedules.is_empty() {
        return found("it has no schedule", "deploy the template again: sam deploy".to_owned());
    }
    let disabled = schedules.iter().find(|schedule| schedule.state == "DISABLED")?;
    if facts.stack.parameter("ScheduleState") == "DISABLED" {
        let fix = "remove ScheduleState from parameter_overrides in samconfig.toml, and run: sam deploy";
        return found("its schedule is disabled by the parameter ScheduleState", fix.to_owned());
    }
    let enable = facts.stack.aws(&format!("events enable-rule --name {}", disabled.name));
    found("its schedule is disabled", enable)
}

/// Describes an open circuit breaker. Without a job of its type, nothing waits, and nothing tries the handler.
fn open_breaker(facts: &Facts, breaker: &OpenBreaker) -> Finding {
    let (code, problem) = match breaker.reason {
        OpenReason::Unreachable => ("handler_unavailable", "its handler does not answer its pings"),
        OpenReason::BatchesFail => ("handler_failing", "its handler answers its pings, and fails on batches"),
    };
    let location = format!("job type {}", breaker.job_type);
    let fix = match &breaker.target {
        Some(target) => format!("longshore types check {target}"),
        None => errors_of(facts, "ImageHandler"),
    };
    let waiting = facts.jobs.jobs.iter().filter(|job| job.job_type == breaker.job_type).count();
    if waiting == 0 && facts.jobs.are_all {
        let finding = Finding::warning(location, "its handler was unavailable when its last job ended", fix);
        return finding.with_code(code).with_consequence("the next job of this type tries it");
    }
    let waiting = if waiting == 0 { "jobs".to_owned() } else { counted(waiting as u64, "job") };
    let consequence =
        format!("{waiting} of this type cannot go on; the next try is at {}", breaker.next_try.to_rfc3339());
    let problem = format!("{problem}, for {}", facts.since(breaker.since));
    Finding::error(location, problem, fix).with_code(code).with_consequence(consequence)
}

/// Finds jobs that wait for their split, and that no pause holds. The limit is that of the alarm
/// `OldestWaitingJobAlarm`. The time from which a retried job waits is not known, so that it is left out.
fn not_started(facts: &Facts) -> Option<Finding> {
    let is_late = |job: &&UnfinishedJob| {
        job.status == Status::Waiting
            && job.stage == Stage::Queued
            && waits_long(facts, job)
            && job.deadline_at > facts.now
    };
    let jobs: Vec<_> = facts.jobs.jobs.iter().filter(is_late).collect();
    let since = facts.since(jobs.iter().map(|job| job.waits_since).min()?);
    let problem = format!("{} not started, the oldest for {since}: {}", have(jobs.len(), "has", "have"), named(&jobs));
    let fix = errors_of(facts, "CreateJob");
    let finding = if are_of_one_tenant(&jobs) {
        Finding::warning("jobs", problem, fix)
            .with_consequence("all of one tenant: its other jobs are before them, or the splitter fails on its files")
    } else {
        Finding::error("jobs", problem, fix).with_consequence("the splitter fails or is throttled")
    };
    Some(finding.with_code(Code::JobsNotStarted))
}

/// Returns true if no pause holds the job, and it waits longer than the oldest message of a queue may wait.
pub(super) fn waits_long(facts: &Facts, job: &UnfinishedJob) -> bool {
    let limit: Option<i64> = facts.stack.parameter("OldestMessageAlarmSeconds").parse().ok();
    let waited_ms = facts.now.millis_since(job.waits_since);
    !job.is_paused && limit.is_some_and(|limit| waited_ms > limit.saturating_mul(1_000))
}

/// Returns true unless two of the jobs have different tenants.
pub(super) fn are_of_one_tenant(jobs: &[&UnfinishedJob]) -> bool {
    jobs.windows(2).all(|pair| pair[0].tenant == pair[1].tenant)
}

/// Finds jobs that should have been stopped.
fn overdue(facts: &Facts) -> Option<Finding> {
    let is_overdue = |job: &&UnfinishedJob| facts.now.millis_since(job.deadline_at) > STOP_MS;
    let jobs: Vec<_> = facts.jobs.jobs.iter().filter(is_overdue).collect();
    if jobs.is_empty() {
        return None;
    }
    let problem = format!("{} past the time limit, and not ended: {}", have(jobs.len(), "is", "are"), named(&jobs));
    let finding = Finding::error("jobs", problem, errors_of(facts, "Sweep")).with_code(Code::JobsOverdue);
    Some(finding.with_consequence("the sweeper stops such jobs within a minute, and their reports take minutes"))
}

/// Returns the number of jobs with a verb.
fn have(number: usize, one: &str, several: &str) -> String {
    format!("{} {}", counted(number as u64, "job"), if number == 1 { one } else { several })
}

fn named(jobs: &[&UnfinishedJob]) -> String {
    let names: Vec<_> = jobs.iter().take(NAMED).map(|job| job.id.as_str()).collect();
    let more = jobs.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use deployment::finding::Severity;
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::super::tests::{codes, healthy};
    use super::*;
    use crate::operators::doctor::facts::UnfinishedJobs;

    #[test]
    fn a_disabled_or_missing_schedule_is_found() {
        let mut facts = healthy();
        facts.schedules.as_mut().unwrap()[0].state = "DISABLED".to_owned();
        let found = check(&facts);
        assert_eq!(codes(&found), ["schedule_disabled"]);
        assert_eq!(found[0].fix, "aws events enable-rule --name longshore-SweepEveryMinute");
        facts.stack.parameters.insert("ScheduleState".to_owned(), "DISABLED".to_owned());
        assert!(check(&facts)[0].fix.ends_with("sam deploy"));
        assert_eq!(codes(&check(&Facts { schedules: Some(Vec::new()), ..healthy() })), ["schedule_disabled"]);
        assert!(check(&Facts { schedules: None, ..healthy() }).is_empty(), "not observed");
    }

    fn job(id: &str, waits_since: i64, deadline_at: i64) -> UnfinishedJob {
        UnfinishedJob {
            id: id.to_owned(),
            tenant: TenantId::from_static("a"),
            job_type: "mail".to_owned(),
            status: Status::Waiting,
            stage: Stage::Queued,
            is_preparing: false,
            is_paused: false,
            waits_since: Timestamp(waits_since),
            deadline_at: Timestamp(deadline_at),
        }
    }

    /// Checks a stack with these jobs at a time.
    fn check_jobs(now: i64, jobs: Vec<UnfinishedJob>) -> Vec<Finding> {
        let jobs = UnfinishedJobs { jobs, are_all: true };
        check(&Facts { now: Timestamp(now), jobs, ..healthy() })
    }

    #[test]
    fn a_job_that_does_not_start_is_found_after_the_time_of_the_alarm() {
        let now = 10_000_000;
        let limit = 3_600_000;
        let other = |job| UnfinishedJob { tenant: TenantId::from_static("b"), ..job };
        assert!(check_jobs(now, vec![job("a", now - limit, now + 1)]).is_empty());
        let late = check_jobs(now, vec![job("a", now - limit - 1, now + 1), other(job("b", 0, now + 1))]);
        assert_eq!(codes(&late), ["jobs_not_started"]);
        assert_eq!(late[0].severity, Severity::Error);
        assert!(late[0].problem.starts_with("2 jobs have not started, the oldest for 3 hours: a, b"), "{late:?}");
        let of_one_tenant = check_jobs(now, vec![job("a", 0, now + 1), job("b", 0, now + 1)]);
        assert_eq!((of_one_tenant.len(), of_one_tenant[0].severity), (1, Severity::Warning));
        let processing = UnfinishedJob { status: Status::Running, stage: Stage::Processing, ..job("c", 0, now + 1) };
        assert!(check_jobs(now, vec![processing]).is_empty());
        let paused = |id| UnfinishedJob { is_paused: true, ..job(id, 0, now + 1) };
        assert!(check_jobs(now, vec![paused("d")]).is_empty());
        let beside = check_jobs(now, vec![paused("d"), other(job("b", 0, now + 1))]);
        assert!(beside[0].problem.starts_with("1 job has not started, the oldest for 3 hours: b"), "{beside:?}");
    }

    #[test]
    fn a_job_that_does_not_end_is_found() {
        let now = 10_000_000;
        assert!(check_jobs(now, vec![job("d", now, now - STOP_MS)]).is_empty());
        let overdue = check_jobs(now, (0..5).map(|n| job(&n.to_string(), 0, now - STOP_MS - 1)).collect());
        assert_eq!(codes(&overdue), ["jobs_overdue"]);
        assert!(overdue[0].problem.ends_with(": 0, 1, 2 and 2 more"), "{overdue:?}");
    }

    fn breaker(reason: OpenReason) -> OpenBreaker {
        OpenBreaker {
            job_type: "mail".to_owned(),
            target: Some("https://handlers.example.com/mail".to_owned()),
            reason,
            since: Timestamp(0),
            next_try: Timestamp(600_000),
        }
    }

    #[test]
    fn an_open_breaker_is_found_with_the_jobs_that_wait() {
        for (reason, code) in
            [(OpenReason::Unreachable, "handler_unavailable"), (OpenReason::BatchesFail, "handler_failing")]
        {
            let jobs = UnfinishedJobs { jobs: vec![job("a", 0, i64::MAX)], are_all: true };
            let open_breakers = vec![breaker(reason)];
            let found = check(&Facts { now: Timestamp(300_000), open_breakers, jobs, ..healthy() });
            assert_eq!(codes(&found), [code]);
            let finding = &found[0];
            assert_eq!(finding.fix, "longshore types check https://handlers.example.com/mail");
            assert!(finding.problem.ends_with("for 5 minutes"), "{finding}");
            let consequence = finding.consequence.as_deref().unwrap();
            assert!(consequence.starts_with("1 job of this type cannot go on"), "{finding}");
        }
    }

    #[test]
    fn an_open_breaker_without_a_job_is_a_warning_if_all_jobs_were_read() {
        for (are_all, severity) in [(true, Severity::Warning), (false, Severity::Error)] {
            let jobs = UnfinishedJobs { jobs: Vec::new(), are_all };
            let open_breakers = vec![breaker(OpenReason::Unreachable)];
            let found = check(&Facts { open_breakers, jobs, ..healthy() });
            assert_eq!(codes(&found), ["handler_unavailable"]);
            assert_eq!(found[0].severity, severity, "{}", found[0]);
        }
    }
}
