//! Responses about schedules.

use longshore_domain::ids::{JobId, ScheduleId};
use longshore_domain::schedule::{self, OccurrenceResult, Overlap, Schedule, SkipReason, Timing};
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::{ClockChange, Occurrence, Recurrence, Zone};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Number of next times that a schedule shows.
const NEXT_TIMES: usize = 5;

/// A schedule: a job that is created repeatedly, or once at a set time.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Schedule)]
pub struct ScheduleDocument {
    /// Id of the schedule.
    pub schedule_id: ScheduleId,
    /// Name for people.
    pub name: String,
    /// Cron pattern; absent for another timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// Time zone of the pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// Minutes between two times; absent for another timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_minutes: Option<u32>,
    /// The only time, in RFC 3339; absent for another timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub at: Option<String>,
    /// Behavior while the job of an earlier occurrence is active.
    pub overlap: Overlap,
    /// True if the schedule is paused: it has no occurrences.
    pub paused: bool,
    /// The job that each occurrence makes, with its defaults.
    #[schema(value_type = Object)]
    pub job: Value,
    /// The next five times; empty for a schedule that is paused, or has no further one.
    pub next_times: Vec<NextTimeDocument>,
    /// The job of the newest occurrence that made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_job_id: Option<JobId>,
    /// Time of creation, in RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A time of a schedule.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NextTime)]
pub struct NextTimeDocument {
    /// The time in UTC, in RFC 3339.
    #[schema(format = DateTime)]
    pub at: String,
    /// The same time in the zone of the schedule, in RFC 3339.
    #[schema(format = DateTime)]
    pub local: String,
    /// The clock change that the time falls into; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_change: Option<ClockChangeDocument>,
}

/// A clock change that a time of a schedule falls into.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ClockChange)]
pub enum ClockChangeDocument {
    /// The clock is put forward over the time of the pattern; the occurrence is when the clock is changed.
    Forward,
    /// The clock is put back, and shows the time twice.
    Back,
}

/// The schedules of a tenant.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Schedules)]
pub struct SchedulesDocument {
    /// The schedules, oldest first.
    pub schedules: Vec<ScheduleDocument>,
}

/// An occurrence of a schedule.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Occurrence)]
pub struct OccurrenceDocument {
    /// Its time by the schedule, in RFC 3339; that of the call for one that was triggered.
    #[schema(format = DateTime)]
    pub scheduled_at: String,
    /// Time of its record, in RFC 3339.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// The result.
    pub result: OccurrenceResultDocument,
    /// The job; absent unless it has started one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// Reason for a skipped occurrence; absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<SkipReason>,
    /// Stable code of the error; absent unless it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Text of the error, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The result of an occurrence.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OccurrenceResult)]
pub enum OccurrenceResultDocument {
    /// It has made a job.
    Started,
    /// It was skipped.
    Skipped,
    /// The job could not be created.
    Failed,
}

/// A page of occurrences.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Occurrences)]
pub struct OccurrencesDocument {
    /// The occurrences, newest first.
    pub occurrences: Vec<OccurrenceDocument>,
    /// Cursor of the next page; `null` on the last one.
    pub next_cursor: Option<String>,
}

impl ScheduleDocument {
    pub(super) fn new(schedule: &Schedule) -> Self {
        let mut document = Self {
            schedule_id: schedule.schedule_id,
            name: schedule.name.clone(),
            cron: None,
            time_zone: None,
            every_minutes: None,
            at: None,
            overlap: schedule.overlap,
            paused: schedule.paused,
            job: schedule.job.request.clone(),
            next_times: next_times(schedule),
            last_job_id: schedule.last_job,
            created_at: schedule.created_at.to_rfc3339(),
        };
        match &schedule.timing {
            Timing::Cron { pattern, time_zone } => {
                (document.cron, document.time_zone) = (Some(pattern.clone()), Some(time_zone.clone()));
            }
            Timing::Every { minutes, .. } => document.every_minutes = Some(*minutes),
            Timing::At(at) => document.at = Some(at.to_rfc3339()),
        }
        document
    }
}

/// Returns the next times of a schedule. They depend on its record, not on the clock.
fn next_times(schedule: &Schedule) -> Vec<NextTimeDocument> {
    let (Some(due), Ok(recurrence)) = (schedule.due(), Recurrence::of(&schedule.timing)) else { return Vec::new() };
    let zone = match &recurrence {
        Recurrence::Cron { zone, .. } => zone.clone(),
        Recurrence::Every { .. } | Recurrence::At(_) => Zone::utc(),
    };
    // What is stored fires, also if a later version of the time zones has another time.
    let stored = recurrence.next_after(Timestamp(due.0 - 1)).filter(|occurrence| occurrence.at == due);
    let first = stored.unwrap_or(Occurrence { at: due, clock_change: None });
    let times = std::iter::once(first).chain(recurrence.occurrences_after(due)).take(NEXT_TIMES);
    let document = times.map(|occurrence| NextTimeDocument {
        at: occurrence.at.to_rfc3339(),
        local: zone.rfc3339(occurrence.at),
        clock_change: occurrence.clock_change.map(|change| match change {
            ClockChange::Forward => ClockChangeDocument::Forward,
            ClockChange::Back => ClockChangeDocument::Back,
        }),
    });
    document.collect()
}

impl OccurrenceDocument {
    pub(super) fn new(occurrence: &schedule::Occurrence) -> Self {
        let mut document = Self {
            scheduled_at: occurrence.scheduled_at.to_rfc3339(),
            recorded_at: occurrence.at.to_rfc3339(),
            result: OccurrenceResultDocument::Started,
            job_id: None,
            reason: None,
            code: None,
            detail: None,
        };
        match &occurrence.result {
            OccurrenceResult::Started { job_id } => document.job_id = Some(*job_id),
            OccurrenceResult::Skipped { reason } => {
                (document.result, document.reason) = (OccurrenceResultDocument::Skipped, Some(*reason));
            }
            OccurrenceResult::Failed { code, detail } => {
                document.result = OccurrenceResultDocument::Failed;
                (document.code, document.detail) = (Some(code.clone()), Some(detail.clone()));
            }
        }
        document
    }
}
