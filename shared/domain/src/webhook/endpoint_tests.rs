use super::*;
use crate::event::PendingEvent;
use crate::ids::JobId;
use crate::job::Job;

const NOW: Timestamp = Timestamp(1_000_000_000);

pub(in crate::webhook) fn endpoint(state: EndpointState) -> Endpoint {
    Endpoint {
        endpoint_id: EndpointId::generate(),
        tenant: TenantId::from_static("t"),
        url: "https://example.org/hooks".into(),
        description: String::new(),
        event_types: [].into(),
        jobs: JobScope::All,
        state,
        secret: SecretVersions::default(),
        health: Health::default(),
        created_at: NOW,
        revision: 0,
        place: 0,
        check: None,
        replayed_at: None,
    }
}

fn started() -> Event {
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
    Event::new(&job, PendingEvent::started(0, NOW))
}

#[test]
fn an_endpoint_gets_the_events_of_its_types_and_jobs() {
    let active = endpoint(EndpointState::Active);
    assert!(active.gets(&started(), false, NOW));
    let ends = Endpoint { event_types: [EventType::Completed, EventType::Failed].into(), ..active.clone() };
    assert!(!ends.gets(&started(), true, NOW));
    let named = Endpoint { jobs: JobScope::Named, ..active };
    assert!(named.gets(&started(), true, NOW) && !named.gets(&started(), false, NOW));
    let disabled = EndpointState::Disabled { reason: DisabledReason::Client, at: NOW };
    assert!(!endpoint(disabled).gets(&started(), true, NOW));
}

#[test]
fn events_are_kept_for_a_day_while_an_endpoint_waits_for_a_check() {
    let pending = endpoint(EndpointState::Pending);
    assert!(!pending.gets(&started(), true, NOW), "no check was requested");
    let checking = pending.with_check("c1".into(), NOW);
    assert!(checking.gets(&started(), true, Timestamp(NOW.plus_days(1).0 - 1)));
    assert!(!checking.gets(&started(), true, NOW.plus_days(1)));
}

#[test]
fn an_endpoint_is_activated_by_the_check_that_was_requested_last() {
    let pending = endpoint(EndpointState::Pending).with_check("c1".into(), NOW);
    assert_eq!((pending.revision, pending.checked("c0", CheckResult::Passed)), (1, None));
    let refused = pending.checked("c1", CheckResult::Refused).unwrap();
    assert_eq!((&refused.state, refused.checked("c1", CheckResult::Refused)), (&EndpointState::Pending, None));
    let active = refused.checked("c1", CheckResult::Passed).unwrap();
    assert_eq!((&active.state, active.revision), (&EndpointState::Active, 3));
    let again = active.with_check("c2".into(), NOW);
    let failed = again.checked("c2", CheckResult::NoAnswer).unwrap();
    assert_eq!(failed.state, EndpointState::Active, "an active endpoint is only told");
    let disabled = failed.disabled(DisabledReason::Gone, NOW).unwrap();
    assert_eq!(disabled.disabled(DisabledReason::Failing, NOW), None, "the first reason stays");
    let passed = disabled.clone().with_check("c3".into(), NOW).checked("c3", CheckResult::Passed).unwrap();
    assert_eq!(passed.state, disabled.state, "a check enables nothing");
}

#[test]
fn a_failing_endpoint_is_paused_and_then_probed_by_one_delivery() {
    let bad = AttemptResult::Answered { status: 500 };
    let after = |failures| (0..failures).fold(Health::default(), |health, _| health.after(&bad, NOW));
    assert_eq!(after(PAUSED_AFTER - 1).admit(NOW), Admission::Call);
    let pauses = [5, 6, 7, 11, 12, 100, 5_000].map(|failures| after(failures).paused_until.unwrap());
    assert_eq!(pauses.map(|until| until.millis_since(NOW) / 1_000), [5, 10, 20, 300, 300, 300, 300]);
    let paused = after(PAUSED_AFTER);
    let until = NOW.plus_seconds(PAUSE_S);
    assert_eq!(paused.admit(Timestamp(until.0 - 1)), Admission::Paused(until));
    let Admission::Probe(probing) = paused.admit(until) else { panic!("it is probed") };
    assert_eq!(probing.admit(until), Admission::Paused(until.plus_seconds(PROBE_S)));
    assert!(matches!(probing.admit(until.plus_seconds(PROBE_S)), Admission::Probe(_)), "the prober has died");
    assert_eq!(probing.after(&AttemptResult::Answered { status: 204 }, until), Health::default());
}

#[test]
fn days_without_an_accepted_event_disable_and_410_does_at_once() {
    let [bad, good, gone] = [500, 204, 410].map(|status| AttemptResult::Answered { status });
    let later = |days| NOW.plus_days(days);
    let failing = Health::default().after(&bad, NOW);
    assert_eq!(failing.after(&bad, later(3)).failing_since, Some(NOW), "the first failure counts");
    assert_eq!(failing.disables(&bad, later(5)), Some(DisabledReason::Failing));
    assert_eq!(failing.disables(&bad, Timestamp(later(5).0 - 1)), None);
    assert_eq!(failing.disables(&good, later(9)), None);
    assert_eq!(failing.after(&good, later(4)), Health::default());
    assert_eq!(Health::default().disables(&bad, later(9)), None, "nothing has failed before");
    assert_eq!(Health::default().disables(&gone, NOW), Some(DisabledReason::Gone));
}

#[test]
fn two_secrets_are_valid_for_a_day_after_a_rotation() {
    let first = SecretVersions::default();
    assert_eq!((first.current, first.previous(NOW)), (1, None));
    let second = first.rotated(NOW);
    assert_eq!((second.current, second.previous(NOW)), (2, Some(1)));
    let repeated = second.rotated(NOW.plus_seconds(ROTATION_S - 1));
    assert_eq!(repeated, second, "a third secret would end the first one early");
    let later = NOW.plus_seconds(ROTATION_S);
    assert_eq!((second.previous(later), second.rotated(later).current), (None, 3));
}
