use std::collections::BTreeMap;

use serde_json::json;

use super::super::record::Timing;
use super::super::template::JobTemplate;
use super::*;
use crate::ids::ScheduleId;
use crate::job::{Priority, Tolerance};
use crate::tenant::TenantId;

const DUE: Timestamp = Timestamp(1_000_000_000);

fn schedule() -> Schedule {
    Schedule {
        schedule_id: ScheduleId::generate(),
        tenant: TenantId::from_static("t"),
        place: 7,
        name: "nightly".into(),
        timing: Timing::Cron { pattern: "30 2 * * *".into(), time_zone: "Europe/Berlin".into() },
        overlap: Overlap::Skip,
        paused: false,
        job: JobTemplate {
            job_type: "export".into(),
            is_registered: false,
            source: None,
            priority: Priority::Low,
            metadata: BTreeMap::from([("team".to_owned(), "crm".to_owned())]),
            callback: None,
            request: json!({ "jobType": "export", "options": { "a": 1 } }),
            results: None,
            tolerance: Tolerance::default(),
            timeout_s: 60,
            checks_only: false,
            options_check: None,
        },
        next_at: Some(DUE),
        last_at: None,
        last_job: None,
        created_at: Timestamp(0),
        revision: 4,
    }
}

#[test]
fn an_occurrence_starts_a_job_once_it_is_due() {
    for (late_s, expected) in [
        (-1, FireDecision::NotDue),
        (0, FireDecision::Start),
        (LATE_S, FireDecision::Start),
        (LATE_S + 1, FireDecision::Skip(SkipReason::TooLate)),
    ] {
        assert_eq!(schedule().decide(LastJob::Ended, None, DUE.plus_seconds(late_s)), expected, "{late_s} s late");
    }
    for idle in [Schedule { paused: true, ..schedule() }, Schedule { next_at: None, ..schedule() }] {
        assert_eq!(idle.decide(LastJob::Ended, None, DUE), FireDecision::NotDue);
    }
}

#[test]
fn an_occurrence_is_missed_once_the_next_one_is_due() {
    let following = DUE.plus_seconds(300);
    let fire = |now| schedule().decide(LastJob::Ended, Some(following), now);
    assert_eq!(
        (fire(DUE.plus_seconds(299)), fire(following)),
        (FireDecision::Start, FireDecision::Skip(SkipReason::TooLate))
    );
}

#[test]
fn an_occurrence_is_skipped_while_the_job_of_an_earlier_one_is_active() {
    assert_eq!(schedule().decide(LastJob::Active, None, DUE), FireDecision::Skip(SkipReason::Overlap));
    let allowed = Schedule { overlap: Overlap::Allow, ..schedule() };
    assert_eq!(allowed.decide(LastJob::Active, None, DUE), FireDecision::Start);
}

#[test]
fn each_occurrence_moves_the_next_time_and_the_revision() {
    let (job_id, next_at) = (JobId::generate(), Some(DUE.plus_days(1)));
    let started = schedule().fired(&OccurrenceResult::Started { job_id }, next_at);
    assert_eq!((started.next_at, started.last_job, started.revision), (next_at, Some(job_id), 5));
    let skipped = started.fired(&OccurrenceResult::Skipped { reason: SkipReason::Overlap }, None);
    assert_eq!((skipped.next_at, skipped.last_job, skipped.revision), (None, Some(job_id), 6));
}

#[test]
fn the_job_of_an_occurrence_has_the_members_of_the_template() {
    let (schedule, id) = (schedule(), JobId::generate());
    let (job, definition) = schedule.job.job(&schedule, id, DUE, i64::MAX);
    assert_eq!((job.job_id, &job.tenant, job.priority), (id, &schedule.tenant, Priority::Low));
    assert_eq!((job.times.created_at, job.times.deadline_at), (DUE, DUE.plus_seconds(60)));
    assert_eq!((&job.metadata, definition.options), (&schedule.job.metadata, json!({ "a": 1 })));
}

#[test]
fn a_stored_schedule_and_a_stored_occurrence_are_read_as_they_were() {
    let schedule = schedule();
    let text = serde_json::to_string(&schedule).unwrap();
    assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), schedule);
    for result in [
        OccurrenceResult::Started { job_id: JobId::generate() },
        OccurrenceResult::Skipped { reason: SkipReason::TooLate },
        OccurrenceResult::Failed { code: "unknown_dataset".into(), detail: "gone".into() },
    ] {
        let occurrence = Occurrence { scheduled_at: DUE, revision: 1, at: DUE, result };
        let text = serde_json::to_string(&occurrence).unwrap();
        assert_eq!(serde_json::from_str::<Occurrence>(&text).unwrap(), occurrence);
    }
}
