//! Invariants of dead letters and of operators' replays.

use std::collections::BTreeMap;

use longshore_domain::job::{Job, Selection};
use longshore_domain::ports::DeadLetterRecords;

use super::acts::Act;
use super::state::LeftOut;
use super::{World, now};
use crate::unguarded::without;
use crate::{handler, report};

/// Failure code of a row that was given up with its dead letter.
const GIVEN_UP: &str = "dead_lettered";

impl World {
    /// Lets operators replay the dead letters of ended jobs. Returns false if none is replayed.
    pub(crate) fn replay_dead_letters(&mut self) -> bool {
        let mut has_replayed = false;
        self.each(|world| has_replayed |= world.replay_dead_letters_of_job());
        has_replayed
    }

    /// Lets an operator replay the job's dead letters. Returns false if there are none.
    pub(super) fn replay_dead_letters_of_job(&mut self) -> bool {
        if self.customer().action_rates.replays == 0 || !self.has_dead_letters() {
            return false;
        }
        self.begin_request(Act::Replay);
        // A second request, by another operator or after a lost response.
        if self.rng.often(300) {
            self.begin_request(Act::Replay);
        }
        true
    }

    /// Checks that, after a sweep without faults, each dead letter in a queue is recorded and still open.
    pub(super) fn check_dead_letters(&self) {
        if without("sweeper") {
            return;
        }
        let recorded = now(self.store.dead_letters(None, usize::MAX)).unwrap().items;
        for dead_letter in self.queues.dead_letters_left() {
            let recorded = recorded.iter().find(|record| record.id.ends_with(&format!("-{dead_letter}")));
            assert!(
                recorded.is_some_and(|record| record.is_open()),
                "the dead letter {dead_letter} is still in its queue, but is not recorded or is resolved"
            );
        }
    }

    /// Returns the rows that a generation for dead letters, or for one reason, must not run, by the report of the
    /// previous generation.
    pub(super) fn left_out(&self, before: &Job, job: &Job) -> LeftOut {
        let selected = match &job.retry.selection {
            Selection::Chunks(_) => Some(GIVEN_UP),
            Selection::Failure(filter) => Some(filter.code.as_str()),
            Selection::All | Selection::Corrected(_) => None,
        };
        let mut failed = BTreeMap::new();
        if let Some(selected) = selected.filter(|_| before.completion.report.is_some()) {
            failed = report::codes(&self.files, before);
            failed.retain(|_, code| code != selected);
        }
        LeftOut { generation: job.generation, last_function: self.numbers, failed: failed.into_keys().collect() }
    }

    /// Checks that these rows have not run again.
    pub(super) fn check_left_out(&self, job: &Job) {
        let LeftOut { generation, last_function, failed } = &self.customer().seen.left_out;
        for row in failed.iter().filter(|_| *generation == job.generation) {
            let has_run = handler::ran_after(job.job_id, *row as u64, *last_function);
            assert!(!has_run, "row {row} failed for another reason than the selected one, but has run again");
        }
    }
}
