//! A schedule as it is stored.

use serde::{Deserialize, Serialize};

use super::template::JobTemplate;
use crate::ids::{JobId, ScheduleId};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use crate::turns::OfTenant;

/// Maximum number of schedules of a tenant.
pub const MAX_SCHEDULES: usize = 100;

/// Timing of a schedule. `longshore_schedules` has the times.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Timing {
    /// At the times of a cron pattern in a time zone.
    #[serde(rename_all = "camelCase")]
    Cron {
        /// The pattern, with five fields.
        pattern: String,
        /// Name of the zone in the IANA database.
        time_zone: String,
    },
    /// Once in each period, counted from a time.
    #[serde(rename_all = "camelCase")]
    Every {
        /// The period in minutes.
        minutes: u32,
        /// The time from which the periods count.
        from: Timestamp,
    },
    /// Once.
    At(Timestamp),
}

/// Behavior while the job of an earlier occurrence is active.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// It makes no job.
    #[default]
    Skip,
    /// It makes a job, which runs beside the other one.
    Allow,
}

/// Identifies a schedule: its tenant, and its place among the tenant's schedules.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize)]
pub struct ScheduleKey {
    /// Tenant of the schedule.
    pub tenant: TenantId,
    /// Place below [`MAX_SCHEDULES`]: a tenant has no more schedules than places.
    pub place: u8,
}

impl OfTenant for ScheduleKey {
    fn tenant(&self) -> &TenantId {
        &self.tenant
    }
}

/// A schedule as it is stored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Id of the schedule.
    pub schedule_id: ScheduleId,
    /// Tenant that owns the schedule.
    pub tenant: TenantId,
    /// Place among the tenant's schedules.
    pub place: u8,
    /// Name for people.
    pub name: String,
    /// Timing of its occurrences.
    pub timing: Timing,
    /// Behavior while the job of an earlier occurrence is active.
    pub overlap: Overlap,
    /// True for a schedule that has no occurrences for now.
    pub paused: bool,
    /// The job that each occurrence makes.
    pub job: JobTemplate,
    /// Time of the next occurrence; `None` if it has no further one. It does not count while the schedule is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// Scheduled time of the latest occurrence; triggers do not count. Later occurrences are after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
    /// The job of the newest occurrence that made one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_job: Option<JobId>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Number of changes. Each change, and each occurrence, is conditional on it.
    pub revision: u32,
}

impl Schedule {
    /// Returns the key.
    pub fn key(&self) -> ScheduleKey {
        ScheduleKey { tenant: self.tenant.clone(), place: self.place }
    }

    /// Returns the time of the next occurrence, unless the schedule is paused.
    pub fn due(&self) -> Option<Timestamp> {
        self.next_at.filter(|_| !self.paused)
    }

    /// Returns the schedule after this change, with the next revision.
    #[must_use]
    pub fn changed(self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = Self { revision: self.revision.saturating_add(1), ..self };
        change(&mut changed);
        changed
    }
}
