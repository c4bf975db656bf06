//! A job's state, and every transition that it can make.
//!
//! Each transition is a pure function that says what it met; the DynamoDB adapter writes the same as one conditional
//! update, and the conformance suite holds the two against each other. A final status never changes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::group::Manifest;
use crate::ids::JobId;
use crate::outcome::Counts;
use crate::records::Format;
use crate::time_stamp::Timestamp;

/// Where a job stands, coarsely. The last three are final.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Accepted; nobody has begun it.
    Waiting,
    /// Begun.
    Running,
    /// Every item has ended, and the report is written.
    Completed,
    /// Stopped for the reason in `error`, or failed at its end; the report is written.
    Failed,
    /// Stopped at the client's wish; the report is written.
    Canceled,
}

impl Status {
    /// It will never change again.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled)
    }
}

/// Where a job stands, finely. `finishing` is derived: all items ended, the report not yet written.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Its create message waits.
    Queued,
    /// The file is being cut; the chunks that exist already run.
    Splitting,
    /// Every chunk exists.
    Processing,
    /// No item starts any more; completion closes the groups and counts.
    Stopping,
    /// Completion writes the report.
    Finishing,
    /// The status is final.
    Done,
}

/// A sentence and a stable code for what went wrong with a job as a whole.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct JobError {
    /// Stable, in snake case, for programs.
    pub code: String,
    /// What, where and the way out, for people.
    pub message: String,
}

impl JobError {
    /// An error from its two parts.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

/// Why a job is to stop before its end.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct Stop {
    /// The final status that it will get: failed or canceled.
    pub status: Status,
    /// What the document will say.
    pub error: Option<JobError>,
    /// Since when.
    pub at: Timestamp,
}

/// The file of a job, as it was when the job was created.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceFile {
    /// Object key.
    pub key: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag: every read names it, so that a changed file fails the job.
    pub etag: String,
    /// How its records are told apart.
    pub format: Format,
    /// The client's name for it.
    pub name: String,
}

/// How many failed items a job tolerates before it stops.
#[derive(Copy, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tolerance {
    /// This many may fail; one more stops the job.
    pub max_failed: Option<u64>,
    /// This share of the ended items may fail, 0 to 100, once [`Tolerance::MIN_SAMPLE`] items have ended.
    pub max_failed_percent: Option<f64>,
}

impl Tolerance {
    /// Items that must have ended before a share of them means anything.
    pub const MIN_SAMPLE: u64 = 100;

    /// Whether any limit is set at all.
    pub fn is_set(self) -> bool {
        self.max_failed.is_some() || self.max_failed_percent.is_some()
    }

    /// Why the job must fail, if these counts are more than it tolerates. `last` when no item is left.
    pub fn exceeded(self, counts: Counts, last: bool) -> Option<JobError> {
        let (failed, done) = (counts.failed, counts.done());
        let error = |limit: String| {
            JobError::new("too_many_failures", format!("{failed} of {done} items failed; the job tolerates {limit}"))
        };
        if let Some(max) = self.max_failed.filter(|max| failed > *max) {
            return Some(error(max.to_string()));
        }
        let sampled = done >= Self::MIN_SAMPLE || (last && done > 0);
        let percent = self.max_failed_percent.filter(|max| sampled && failed as f64 * 100.0 > max * done as f64)?;
        Some(error(format!("{percent} %")))
    }
}

/// A job, as it is stored. Its options and its schema are kept apart: this item is rewritten often.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its id.
    pub job_id: JobId,
    /// Whose it is.
    pub tenant: String,
    /// Name of its job type.
    pub job_type: String,
    /// 0, and one more with each retry.
    pub generation: u32,
    /// Where it stands.
    pub status: Status,
    /// Where it stands, finely.
    pub stage: Stage,
    /// Its file; none for a job that is one item.
    pub source: Option<SourceFile>,
    /// How many failures it tolerates.
    pub tolerance: Tolerance,
    /// The source is split up to this byte.
    pub split_offset: u64,
    /// Items in the groups committed so far; all items once `split_ended`.
    pub item_count: u64,
    /// Groups committed so far; with `generation` it is the split cursor.
    pub groups: u32,
    /// Groups whose messages are known to be sent: all below this number.
    pub sent_groups: u32,
    /// Every group is committed.
    pub split_ended: bool,
    /// Groups whose items have all ended.
    #[serde(skip)]
    pub done_groups: BTreeSet<u32>,
    /// Why it is to stop.
    pub stop: Option<Stop>,
    /// The counts at the end.
    pub totals: Option<Counts>,
    /// What went wrong with the job as a whole.
    pub error: Option<JobError>,
    /// Things to know that stopped nothing.
    pub issues: Vec<JobError>,
    /// How often the sweeper has sent its create or complete message again.
    pub resends: u32,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it was begun.
    pub started_at: Option<Timestamp>,
    /// When it got its final status.
    pub finished_at: Option<Timestamp>,
    /// When the job itself last changed; its groups keep their own time.
    pub updated_at: Timestamp,
    /// When it is stopped if it has not ended.
    pub deadline_at: Timestamp,
    /// When it and its files are forgotten, in seconds: DynamoDB's time to live.
    pub expires_at: i64,
}

/// A transition was made, or another had been made before. Neither is an error.
#[derive(Clone, PartialEq, Debug)]
pub enum Transition {
    /// It took; the job as it now is.
    Made(Box<Job>),
    /// The job was not in a state for it: another writer was first, it is stopping, or it has ended.
    Refused,
}

/// The end of a job.
#[derive(Clone, PartialEq, Debug)]
pub struct Finish {
    /// The generation that ends.
    pub generation: u32,
    /// The final status.
    pub status: Status,
    /// What every item came to.
    pub totals: Counts,
    /// Why, if it did not complete.
    pub error: Option<JobError>,
    /// When.
    pub at: Timestamp,
}

impl Job {
    /// Waiting or running, and nobody has told it to stop.
    pub fn is_live(&self) -> bool {
        !self.status.is_final() && self.stage != Stage::Stopping
    }

    /// Split to the end, and every group done: completion may run.
    pub fn all_done(&self) -> bool {
        self.split_ended && self.done_groups.len() == self.groups as usize
    }

    /// `waiting` to `running`. Refused if it was begun before.
    pub fn begin(&mut self, now: Timestamp) -> Transition {
        if self.status != Status::Waiting || self.stage != Stage::Queued {
            return Transition::Refused;
        }
        self.status = Status::Running;
        self.stage = Stage::Splitting;
        self.started_at = Some(now);
        self.touch(now)
    }

    /// Commits the next group with its manifest: all groups before it are sent. Refused unless it is the next one.
    pub fn commit_group(&mut self, manifest: &Manifest, split_offset: u64, now: Timestamp) -> Transition {
        if self.stage != Stage::Splitting || self.groups != manifest.group {
            return Transition::Refused;
        }
        self.sent_groups = self.groups;
        self.groups += 1;
        self.item_count += manifest.items();
        self.split_offset = split_offset;
        self.touch(now)
    }

    /// Every group is committed and sent: the item count is final. Refused unless exactly these groups exist.
    pub fn end_split(&mut self, groups: u32, issues: &[JobError], now: Timestamp) -> Transition {
        if self.stage != Stage::Splitting || self.groups != groups {
            return Transition::Refused;
        }
        self.stage = Stage::Processing;
        self.split_ended = true;
        self.sent_groups = groups;
        self.issues.extend_from_slice(issues);
        self.touch(now)
    }

    /// A group's items have all ended. Harmless twice; refused once the status is final, for then nothing changes.
    pub fn group_done(&mut self, group: u32, now: Timestamp) -> Transition {
        if self.status.is_final() {
            return Transition::Refused;
        }
        self.done_groups.insert(group);
        self.touch(now)
    }

    /// No item may start any more. Refused once it is stopping or has ended.
    pub fn stop(&mut self, stop: &Stop) -> Transition {
        if !self.is_live() {
            return Transition::Refused;
        }
        self.stage = Stage::Stopping;
        self.stop = Some(stop.clone());
        self.touch(stop.at)
    }

    /// The final status, once per generation.
    pub fn finish(&mut self, finish: &Finish) -> Transition {
        let stopping_into_completed = self.stage == Stage::Stopping && finish.status == Status::Completed;
        if self.status.is_final() || self.generation != finish.generation || stopping_into_completed {
            return Transition::Refused;
        }
        self.status = finish.status;
        self.stage = Stage::Done;
        self.totals = Some(finish.totals);
        self.error = finish.error.clone();
        self.finished_at = Some(finish.at);
        self.touch(finish.at)
    }

    fn touch(&mut self, now: Timestamp) -> Transition {
        self.updated_at = now;
        Transition::Made(Box::new(self.clone()))
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
