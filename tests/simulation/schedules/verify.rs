//! The checks of a run: the jobs and the reasons of the occurrences.

use std::collections::BTreeMap;

use longshore_domain::ids::JobId;
use longshore_domain::ports::{JobStore, OccurrencesQuery, Schedules};
use longshore_domain::schedule::{Occurrence, OccurrenceResult};
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::{Recurrence, next_after};

use super::{Run, START, is_refusing};
use crate::clock::true_time;
use crate::faults;
use crate::tasks::now;
use crate::unguarded::remove_condition;

/// Runs of the test.
const SEEDS: u64 = 2_000;
/// Events of a run.
const EVENTS: usize = 600;
/// Runs within which a run without the condition has two results of an occurrence.
const SEEDS_TO_VIOLATION: u64 = 2_000;

impl Run {
    /// Runs a seed. Returns the numbers of occurrences by result.
    fn check(seed: u64) -> Result<BTreeMap<&'static str, u64>, String> {
        let mut run = Self::new(seed);
        for _ in 0..EVENTS {
            run.event();
        }
        run.tasks.clear();
        faults::clear();
        now(run.sweep());
        run.verify().map_err(|violation| format!("seed {seed}: {violation}"))
    }

    fn verify(&self) -> Result<BTreeMap<&'static str, u64>, String> {
        let stored = now(self.memory.schedule(&self.schedule.key())).unwrap().unwrap();
        let schedule_id = self.schedule.schedule_id;
        let query = OccurrencesQuery { tenant: &DEFAULT_TENANT, schedule_id, before: None, limit: 10_000 };
        let occurrences = now(self.memory.occurrences(&query)).unwrap();
        // Times of the schedule, and those of calls that triggered it, which are no time of it.
        let is_time = |occurrence: &&Occurrence| {
            next_after(&stored, Timestamp(occurrence.scheduled_at.0 - 1)) == Ok(Some(occurrence.scheduled_at))
        };
        let mut times: Vec<_> = occurrences.iter().filter(is_time).map(|occurrence| occurrence.scheduled_at).collect();
        times.sort_unstable();
        if let Some(twice) = times.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("two results of the time {:?}", twice[0]));
        }
        let recurrence = Recurrence::of(&stored.timing).unwrap();
        let passed = recurrence.occurrences_after(START).map(|occurrence| occurrence.at);
        let passed: Vec<_> = passed.take_while(|at| *at <= true_time()).collect();
        if !self.is_changed && times != passed {
            return Err(format!("{} results of {} times", times.len(), passed.len()));
        }
        let mut started: Vec<JobId> = Vec::new();
        let mut results = BTreeMap::new();
        for occurrence in &occurrences {
            let result = match &occurrence.result {
                OccurrenceResult::Started { job_id } => {
                    started.push(*job_id);
                    self.verify_job(*job_id)?
                }
                OccurrenceResult::Skipped { .. } => "skipped",
                OccurrenceResult::Failed { code, .. } if code == "options_refused" => "refused",
                OccurrenceResult::Failed { .. } => "failed",
            };
            *results.entry(result).or_default() += 1;
        }
        let mut jobs: Vec<_> = self.jobs().into_iter().map(|job| job.job_id).collect();
        started.sort_unstable();
        jobs.sort_unstable();
        if jobs != started {
            return Err(format!("{} jobs of {} occurrences that say so", jobs.len(), started.len()));
        }
        Ok(results)
    }

    /// Verifies that a job has a registration that accepts its options.
    fn verify_job(&self, id: JobId) -> Result<&'static str, String> {
        let definition = now(self.memory.definition(id)).unwrap().unwrap();
        let registered = definition.registration.map(|registered| registered.registration);
        if registered.as_ref().is_some_and(is_refusing) {
            return Err(format!("the options of {id} are refused"));
        }
        Ok(if registered.is_some() { "started, registered" } else { "started" })
    }
}

#[test]
fn each_occurrence_makes_one_job_or_has_one_reason_whatever_dies() {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..SEEDS {
        let results = Run::check(seed).unwrap_or_else(|violation| panic!("{violation}"));
        results.into_iter().for_each(|(result, count)| *all.entry(result).or_default() += count);
    }
    let is_frequent = |result: &&str| all.get(result).is_some_and(|count| *count > SEEDS / 10);
    assert!(["started", "started, registered", "skipped", "failed", "refused"].iter().all(is_frequent), "{all:?}");
}

#[test]
fn without_the_condition_an_occurrence_has_two_results() {
    remove_condition(Some("fire-once"));
    let violation = (0..SEEDS_TO_VIOLATION).find_map(|seed| Run::check(seed).err());
    remove_condition(None);
    assert!(violation.is_some());
}
