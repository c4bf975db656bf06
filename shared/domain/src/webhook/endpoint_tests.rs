use super::*;
use crate::event::PendingEvent;
use crate::ids::JobId;
use crate::job::Job;

const NOW: Timestamp = Timestamp(1_000_000_000);

pub(in crate::webhook) fn endpoint(state: EndpointState) -> Endpoint {
    Endpoint { state, ..Endpoint::new(TenantId::from_static("t"), "https://example.org/hooks", NOW) }
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
    assert_eq!(
        (&refused.state, refused.checked("c1", CheckResult::Passed)),
        (&EndpointState::Pending, None),
        "one result"
    );
    assert!(pending.is_being_checked(NOW.plus_seconds(4)) && !pending.is_being_checked(NOW.plus_seconds(5)));
    assert!(!refused.is_being_checked(NOW));
    let active = refused.with_check("c2".into(), NOW).checked("c2", CheckResult::Passed).unwrap();
    assert_eq!((&active.state, active.revision), (&EndpointState::Active, 4));
    let again = active.with_check("c4".into(), NOW);
    let failed = again.checked("c4", CheckResult::NoAnswer).unwrap();
    assert_eq!(failed.state, EndpointState::Active, "an active endpoint is only told");
    let disabled = failed.disabled(DisabledReason::Gone, NOW).unwrap();
    assert_eq!(disabled.disabled(DisabledReason::Failing, NOW), None, "the first reason stays");
    let passed = disabled.clone().with_check("c3".into(), NOW).checked("c3", CheckResult::Passed).unwrap();
    assert_eq!(passed.state, disabled.state, "a check enables nothing");
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

#[test]
fn any_number_of_new_checks_make_one_in_five_seconds() {
    let at = |millis: i64| Timestamp(NOW.0 + millis);
    let mut checking = endpoint(EndpointState::Pending).with_check("0".into(), NOW);
    let mut begins = vec![checking.check.as_ref().unwrap().begins_at()];
    for number in 1..=120 {
        checking = checking.with_check(number.to_string(), at(number * 100));
        begins.push(checking.check.as_ref().unwrap().begins_at());
    }
    assert!(begins[1..50].iter().all(|begins_at| *begins_at == at(5_000)), "the first one can be under way");
    assert!(begins[50..100].iter().all(|begins_at| *begins_at == at(10_000)) && begins[100] == at(15_000));
    let last = checking.check.clone().unwrap();
    assert_eq!((last.challenge.as_str(), last.requested_at, last.begins_at()), ("120", at(12_000), at(15_000)));
    assert!(checking.is_being_checked(at(19_999)) && !checking.is_being_checked(at(20_000)));
    let ended = checking.checked("120", CheckResult::Refused).unwrap();
    let next = ended.with_check("next".into(), at(12_500)).check.unwrap();
    assert_eq!((next.begins_at, next.begins_at()), (None, at(12_500)), "the one before has its result");
    let fast = endpoint(EndpointState::Pending).with_check("fast".into(), NOW.plus_days(1));
    assert_eq!(fast.with_check("next".into(), NOW).check.unwrap().begins_at(), at(5_000), "another clock was fast");
}
