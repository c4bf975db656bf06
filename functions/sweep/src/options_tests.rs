//! Schedules of a registered job type whose schema changes.

use std::cell::Cell;

use longshore::ports::Ports;
use longshore_domain::ids::ScheduleId;
use longshore_domain::ports::{JobTypes, OccurrencesQuery, PingRecord, Schedules, TypeWrite};
use longshore_domain::registration::{Activation, Candidate, StoredRegistration, Target, TypeName, Version};
use longshore_domain::schedule::{OccurrenceResult, OptionsCheck, Overlap, Schedule, Timing};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use serde_json::json;

use super::*;
use crate::due::DueSweep;
use crate::jobs::SweepSummary;
use crate::run::Sweep;
use crate::run::tests::NoDeadLetters;

const START: Timestamp = Timestamp(1_700_000_000_000);

thread_local! {
    static NOW: Cell<Timestamp> = const { Cell::new(START) };
}

fn clock() -> Timestamp {
    NOW.get()
}

type Services = Ports<MemoryStore, MemoryQueues, MemoryFiles>;

fn services() -> Services {
    Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() }
}

/// Registers the job type, or registers it again, with these required options.
async fn register(store: &MemoryStore, required: &[&str]) -> Version {
    let name = TypeName::parse("invite").unwrap();
    let registration = Registration {
        options_schema: Some(json!({ "required": required })),
        ..Registration::new(name.clone(), Target::Url("https://example.com/".into()))
    };
    let candidate = Candidate::new(registration, START);
    let seen = store.job_type(&name).await.unwrap().as_ref().map(StoredRegistration::revision);
    let write = store.put_candidate(&name, Some(&candidate), seen.as_ref()).await.unwrap();
    let activation = Activation { modes: Vec::new(), at: START };
    let record = store.activate(&name, &candidate.version, &activation).await.unwrap();
    assert_eq!((write, record), (TypeWrite::Stored, PingRecord::Recorded));
    candidate.version
}

/// Stores a schedule that is due at the start, and every five minutes after it.
async fn stored(store: &MemoryStore, tenant: &'static str, job: JobTemplate) -> Schedule {
    let schedule = Schedule {
        schedule_id: ScheduleId::generate(),
        tenant: TenantId::from_static(tenant),
        place: 0,
        name: "every five minutes".into(),
        timing: Timing::Every { minutes: 5, from: START },
        overlap: Overlap::Allow,
        paused: false,
        job,
        next_at: Some(START),
        last_at: None,
        last_job: None,
        created_at: START,
        revision: 0,
    };
    let _ = store.put_schedule(&schedule, None).await.unwrap();
    schedule
}

/// The template of a job without options that this version accepted.
fn invite(version: Version) -> JobTemplate {
    let template = JobTemplate::new("invite", json!({ "jobType": "invite", "options": {} }));
    JobTemplate { is_registered: true, options_check: Some(OptionsCheck::accepted(version)), ..template }
}

/// The codes of the occurrences of a schedule, newest first; `started` for a job.
async fn codes(store: &MemoryStore, schedule: &Schedule) -> Vec<String> {
    let Schedule { tenant, schedule_id, .. } = schedule;
    let query = OccurrencesQuery { tenant, schedule_id: *schedule_id, before: None, limit: 99 };
    let code = |result| match result {
        OccurrenceResult::Started { .. } => "started".to_owned(),
        OccurrenceResult::Skipped { reason } => format!("{reason:?}"),
        OccurrenceResult::Failed { code, detail } => {
            assert!(detail.contains("change the job of the schedule, or ask an operator"), "{detail}");
            code
        }
    };
    store.occurrences(&query).await.unwrap().into_iter().map(|occurrence| code(occurrence.result)).collect()
}

#[tokio::test]
async fn a_sweep_makes_no_job_whose_options_the_changed_type_refuses() {
    NOW.set(START.plus_seconds(60));
    let ports = services();
    let schedule = stored(&ports.store, "t", invite(register(&ports.store, &[]).await)).await;
    let sweep = Sweep { ports: ports.clone(), dead_letters: NoDeadLetters, stall_s: 60, retention_days: 14, clock };
    let mut occurrences = Vec::new();
    for registered in [None, Some(&["team"][..]), None, Some(&["team", "list"]), Some(&[])] {
        if let Some(required) = registered {
            register(&ports.store, required).await;
        }
        occurrences.push(sweep.run(clock().plus_seconds(50)).await.occurrences);
        NOW.set(clock().plus_seconds(300));
    }
    assert_eq!(occurrences, [1; 5]);
    let refused = "options_refused";
    assert_eq!(codes(&ports.store, &schedule).await, ["started", refused, refused, refused, "started"]);
    assert_eq!(ports.queues.take_creates().len(), 2);
}

#[tokio::test]
async fn a_check_is_made_after_the_schedules_that_need_none_and_once_for_a_version() {
    NOW.set(START.plus_seconds(60));
    let ports = services();
    let accepted = register(&ports.store, &[]).await;
    let changed = stored(&ports.store, "a", invite(accepted)).await;
    let other = stored(&ports.store, "b", JobTemplate::new("ping", json!({}))).await;
    register(&ports.store, &["team"]).await;
    let sweep = DueSweep { ports: &ports, clock, retention_days: 14 };
    let mut summary = SweepSummary::default();
    let until = clock().plus_seconds(50);

    assert_eq!(sweep.fire_schedules(until, &mut summary).await, 1, "one needs a check");
    assert_eq!((codes(&ports.store, &changed).await.len(), codes(&ports.store, &other).await.len()), (0, 1));
    sweep.check_schedules(clock(), &mut summary).await;
    assert_eq!(codes(&ports.store, &changed).await.len(), 0, "there is no time, so it stays due");
    sweep.check_schedules(until, &mut summary).await;
    assert_eq!(codes(&ports.store, &changed).await, ["options_refused"]);
    assert_eq!((summary.occurrences, summary.failures), (2, 0));

    NOW.set(clock().plus_seconds(300));
    assert_eq!(sweep.fire_schedules(clock().plus_seconds(50), &mut summary).await, 0, "the check is known");
    assert_eq!(codes(&ports.store, &changed).await, ["options_refused"; 2]);
}

#[tokio::test]
async fn a_schema_is_compiled_once_for_several_schedules() {
    NOW.set(START);
    let checks = ChecksInTime::new(TimeBudget { clock, until: START.plus_seconds(1) });
    let registration = |required: usize| Registration {
        options_schema: Some(json!({ "required": [required.to_string()] })),
        ..Registration::new(TypeName::parse("invite").unwrap(), Target::Url("https://example.com/".into()))
    };
    let first = checks.schema(&registration(0));
    assert!(Arc::ptr_eq(&first, &checks.schema(&registration(0))));
    assert!(!Arc::ptr_eq(&first, &checks.schema(&registration(1))), "another one");
    let template = JobTemplate::new("invite", json!({ "options": { "1": 1 } }));
    assert_eq!(checks.check(&registration(1), &template), Checked::Accepted);
    NOW.set(START.plus_seconds(1));
    assert_eq!(checks.check(&registration(1), &template), Checked::Later);
}
