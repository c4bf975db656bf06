//! Schedules: jobs of a tenant that are created again and again, or once, at times of a plan.
//!
//! The sweeper fires a schedule that is due: one transaction moves its next time, records the occurrence, and creates the
//! job. So each occurrence makes exactly one job, or has a reason why it made none.

mod fire;
mod record;
mod template;

pub use fire::{Fired, LATE_S, LastJob, Occurrence, OccurrenceResult, SkipReason};
pub use record::{MAX_SCHEDULES, Overlap, Schedule, ScheduleKey, Timing};
pub use template::{JOB_BYTES, JobTemplate};
