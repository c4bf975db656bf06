//! The cost of a job: so far while it runs, and at its end.

use super::steps::{self, End, Ledger, SourceSize};
use super::{Cost, Prices, Units};
use crate::group::Group;
use crate::job::Job;
use crate::outcome::Counts;
use crate::progress;

/// Returns the cost of a job whose groups were read before it, with all its generations. That of a job that has ended
/// was stored at its end, so its groups may be omitted; `None` if it ended before costs were stored. Never decreases
/// within a generation.
pub fn cost_so_far(job: &Job, groups: &[Group]) -> Option<Cost> {
    // A version without costs reopens a job without removing the cost of its last run, which is not that of this one.
    let current = match job.completion.cost.filter(|_| job.status.is_final()) {
        Some(stored) => stored,
        None if job.status.is_final() => return None,
        None => Prices::current().cost(&running(job, &Ledger::new(job, groups))),
    };
    Some(job.retry.carried_over.cost + current)
}

/// Returns the cost of the current generation, which ends with these counts.
pub fn generation_cost(job: &Job, groups: &[Group]) -> Cost {
    let ledger = Ledger::new(job, groups);
    Prices::current().cost(&(running(job, &ledger) + ending(job, &ledger, progress::counts(job, groups))))
}

/// Returns the units of the split and of the chunks. A job that has not begun has none.
fn running(job: &Job, ledger: &Ledger) -> Units {
    if job.times.started_at.is_none() {
        return Units::default();
    }
    steps::split(SourceSize::to_split(job), ledger) + steps::chunks(SourceSize::new(job), ledger)
}

fn ending(job: &Job, ledger: &Ledger, counts: Counts) -> Units {
    let end = if job.stop.is_some() { End::Stopped } else { End::Completed };
    steps::end(SourceSize::new(job), ledger, counts, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::NanoDollars;
    use crate::ids::JobId;
    use crate::job::{JobTimes, Status};
    use crate::tenant::TenantId;
    use crate::timestamp::Timestamp;

    #[test]
    fn the_cost_of_earlier_generations_is_kept_and_that_of_an_ended_one_was_stored() {
        let job = Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0));
        assert_eq!(cost_so_far(&job, &[]), Some(Cost::default()), "a job that waits costs nothing");
        let mut job = Job { times: JobTimes { started_at: Some(Timestamp(1)), ..job.times.clone() }, ..job };
        let running = cost_so_far(&job, &[]).unwrap();
        assert!(running.total() > NanoDollars(0) && generation_cost(&job, &[]).total() > running.total());
        job.retry.carried_over.cost = running;
        assert_eq!(cost_so_far(&job, &[]), Some(running + running));
        job.status = Status::Completed;
        assert_eq!(cost_so_far(&job, &[]), None, "an earlier version has stored none");
        let stored = Cost { queue: NanoDollars(7), ..Cost::default() };
        job.completion.cost = Some(stored);
        assert_eq!(cost_so_far(&job, &[]), Some(running + stored));
    }

    #[test]
    fn a_job_that_a_version_without_costs_has_reopened_does_not_state_its_last_run() {
        let job = Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0));
        let mut reopened = Job { times: JobTimes { started_at: Some(Timestamp(1)), ..job.times.clone() }, ..job };
        let so_far = cost_so_far(&reopened, &[]);
        reopened.completion.cost = Some(Cost { queue: NanoDollars(1 << 40), ..Cost::default() });
        assert_eq!(cost_so_far(&reopened, &[]), so_far);
    }
}
