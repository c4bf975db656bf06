//! Examples of requests and responses.

use longshore_domain::ids::{JobId, ScheduleId};
use longshore_domain::schedule::{JobTemplate, Occurrence, OccurrenceResult, Overlap, Schedule, SkipReason, Timing};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::document::{OccurrenceDocument, OccurrencesDocument, ScheduleDocument, SchedulesDocument};

/// 2026-07-01T09:00:05Z.
const AT: Timestamp = Timestamp(1_782_896_405_000);
const ID: u128 = 0x0198_17a2_0b7c_4a3e_9d54_3a1f_6c0e_8b12;

pub(super) fn request() -> Value {
    json!({
        "name": "Customers for the warehouse",
        "cron": "30 2 * * MON-FRI",
        "timeZone": "Europe/Berlin",
        "job": { "jobType": "export", "source": { "dataset": "customers" } },
    })
}

pub(super) fn schedule() -> ScheduleDocument {
    let request = request();
    let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
    let job = json!({
        "jobType": "export", "source": { "dataset": "customers" }, "priority": "normal", "options": {},
        "timeoutSeconds": 86_400,
    });
    ScheduleDocument::new(&Schedule {
        schedule_id: ScheduleId(Uuid::from_u128(ID)),
        tenant: TenantId::from_static("default"),
        place: 0,
        name: text("name"),
        timing: Timing::Cron { pattern: text("cron"), time_zone: text("timeZone") },
        overlap: Overlap::Skip,
        paused: false,
        job: JobTemplate::new("export", job),
        // 2026-07-02T00:30:00Z.
        next_at: Some(Timestamp(1_782_952_200_000)),
        last_at: None,
        last_job: None,
        created_at: AT,
        revision: 0,
    })
}

pub(super) fn schedules() -> SchedulesDocument {
    SchedulesDocument { schedules: vec![schedule()] }
}

pub(super) fn occurrences() -> OccurrencesDocument {
    let occurrence = |seconds, result| {
        let scheduled_at = AT.plus_seconds(seconds);
        OccurrenceDocument::new(&Occurrence { scheduled_at, revision: 1, at: scheduled_at.plus_seconds(31), result })
    };
    let occurrences = vec![
        occurrence(86_400, OccurrenceResult::Skipped { reason: SkipReason::Overlap }),
        occurrence(0, OccurrenceResult::Started { job_id: JobId(Uuid::from_u128(ID)) }),
    ];
    OccurrencesDocument { occurrences, next_cursor: None }
}
