//! Results of the jobs of a run.

use std::collections::BTreeMap;

use anyhow::Result;

use super::job::Sample;
use super::latencies::Latencies;
use super::outcome::JobVerdict;

/// Maximum number of messages.
const MAX_MESSAGES: usize = 10;

/// The sums of a run.
pub(super) struct Tally {
    /// Time until the API has accepted a job.
    pub(super) accepted: Latencies,
    /// Time until the first progress was seen.
    pub(super) first_progress: Latencies,
    /// Time until the end.
    pub(super) end: Latencies,
    /// Number of rows that have ended.
    pub(super) rows: u64,
    /// Numbers of jobs by outcome.
    pub(super) jobs: JobCounts,
    /// Numbers of refused calls and failed jobs, by kind.
    pub(super) errors: BTreeMap<String, u64>,
    /// Descriptions of the first jobs with wrong counts, and of the first ones that were not created.
    pub(super) messages: Vec<String>,
    /// Number of jobs that did not start at their time.
    pub(super) late: u64,
}

/// Numbers of jobs by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JobCounts {
    pub(super) exact: u64,
    pub(super) wrong: u64,
    pub(super) ended: u64,
    pub(super) refused: u64,
    pub(super) interrupted: u64,
}

impl JobCounts {
    /// Returns the number of all jobs.
    pub(super) fn all(self) -> u64 {
        self.exact + self.wrong + self.ended + self.refused + self.interrupted
    }

    /// Returns true if every job was completed with exact counts.
    pub(super) fn is_success(self) -> bool {
        self.exact == self.all()
    }
}

impl Tally {
    /// Creates an empty tally.
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            accepted: Latencies::new()?,
            first_progress: Latencies::new()?,
            end: Latencies::new()?,
            rows: 0,
            jobs: JobCounts::default(),
            errors: BTreeMap::new(),
            messages: Vec::new(),
            late: 0,
        })
    }

    /// Adds a job.
    pub(super) fn add(&mut self, sample: Sample) {
        let Sample { measured, outcome, is_late } = sample;
        self.rows += measured.rows;
        self.late += u64::from(is_late);
        for (latencies, latency) in [
            (&mut self.accepted, measured.accepted),
            (&mut self.first_progress, measured.first_progress),
            (&mut self.end, measured.end),
        ] {
            if let Some(latency) = latency {
                latencies.record(latency);
            }
        }
        for kind in measured.refusals {
            *self.errors.entry(kind).or_default() += 1;
        }
        match outcome {
            JobVerdict::Exact => self.jobs.exact += 1,
            JobVerdict::Interrupted => self.jobs.interrupted += 1,
            JobVerdict::Ended(status) => {
                self.jobs.ended += 1;
                *self.errors.entry(format!("job {status}")).or_default() += 1;
            }
            JobVerdict::Wrong(description) => {
                self.jobs.wrong += 1;
                self.describe(description);
            }
            JobVerdict::Refused(description) => {
                self.jobs.refused += 1;
                self.describe(description);
            }
        }
    }

    fn describe(&mut self, description: String) {
        if self.messages.len() < MAX_MESSAGES && !self.messages.contains(&description) {
            self.messages.push(description);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::super::job::Measured;
    use super::*;

    /// Returns the sample of a job with this outcome.
    pub(in crate::operators::load) fn sample(outcome: JobVerdict) -> Sample {
        let second = Some(Duration::from_secs(1));
        let has_ended = matches!(outcome, JobVerdict::Exact | JobVerdict::Wrong(_) | JobVerdict::Ended(_));
        let measured = Measured {
            rows: 10,
            accepted: second,
            first_progress: second.filter(|_| has_ended),
            end: second.filter(|_| has_ended),
            refusals: vec!["rate-limited".to_owned(); 2],
        };
        Sample { measured, outcome, is_late: false }
    }

    #[test]
    fn every_job_is_counted_once() {
        let mut tally = Tally::new().unwrap();
        let outcomes = [
            JobVerdict::Exact,
            JobVerdict::Wrong("w".to_owned()),
            JobVerdict::Ended("failed: c".to_owned()),
            JobVerdict::Refused("r".to_owned()),
            JobVerdict::Interrupted,
        ];
        outcomes.into_iter().for_each(|outcome| tally.add(sample(outcome)));
        let expected = JobCounts { exact: 1, wrong: 1, ended: 1, refused: 1, interrupted: 1 };
        assert_eq!((tally.jobs, tally.jobs.all(), tally.jobs.is_success()), (expected, 5, false));
        assert_eq!((tally.accepted.count(), tally.end.count(), tally.rows), (5, 3, 50));
        assert_eq!((tally.errors["rate-limited"], tally.errors["job failed: c"]), (10, 1));
        assert_eq!(tally.messages, ["w", "r"]);
    }
}
