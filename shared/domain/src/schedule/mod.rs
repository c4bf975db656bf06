//! Schedules: jobs of a tenant that are created repeatedly, or once at a set time.
//!
//! The sweeper fires a schedule that is due: one transaction moves its next time, records the occurrence, and creates the
//! job. So each occurrence makes exactly one job, or has a reason why it made none.

mod fire;
mod record;
mod template;

pub use fire::{FireDecision, LATE_S, LastJob, Occurrence, OccurrenceId, OccurrenceResult, SkipReason};
pub use record::{MAX_SCHEDULES, Overlap, Schedule, ScheduleKey, Timing};
pub use template::{JOB_BYTES, JobTemplate, OptionsCheck};
