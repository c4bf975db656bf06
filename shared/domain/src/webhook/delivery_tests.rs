use super::super::attempt::{AttemptResult, MAX_ATTEMPTS};
use super::super::endpoint::{DisabledReason, EndpointState, JobScope, tests::endpoint};
use super::*;
use crate::event::{EventType, PendingEvent};
use crate::ids::{EndpointId, JobId};

const NOW: Timestamp = Timestamp(1_000_000_000);

fn delivery() -> Delivery {
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
    let event = Event::new(&job, PendingEvent::started(0, NOW));
    Delivery::new(&endpoint(EndpointState::Active), event, NOW, i64::MAX)
}

fn answered(status: u16, at: Timestamp) -> Attempt {
    Attempt { at, ms: 250, result: AttemptResult::Answered { status } }
}

/// Records an attempt at the time at which it is due.
fn attempt(delivery: &mut Delivery, status: u16) -> bool {
    let at = delivery.due().unwrap_or(NOW);
    let revision = delivery.revision;
    delivery.record(revision, answered(status, at), None, 0.0)
}

#[test]
fn a_delivery_is_attempted_until_it_is_accepted() {
    let mut delivery = delivery();
    assert_eq!(delivery.due(), Some(NOW));
    assert!(attempt(&mut delivery, 500));
    assert_eq!(delivery.due(), Some(Timestamp(NOW.0 + 5_250)));
    assert!(attempt(&mut delivery, 204));
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Delivered { at: Timestamp(NOW.0 + 5_500) }, 2));
    assert!(!attempt(&mut delivery, 500), "it was delivered");
    assert_eq!(delivery.log.len(), 2);
}

#[test]
fn a_delivery_fails_after_its_last_attempt_or_when_its_endpoint_is_gone() {
    let mut failing = delivery();
    for _ in 0..MAX_ATTEMPTS {
        assert!(attempt(&mut failing, 503));
    }
    assert!(matches!(failing.state, DeliveryState::Failed { .. }));
    assert!(failing.log.last().unwrap().at.millis_since(NOW) > 75 * 3_600_000);
    let mut gone = delivery();
    assert!(attempt(&mut gone, 410));
    assert!(matches!(gone.state, DeliveryState::Failed { .. }));
}

/// A message can be delivered twice, and two attempts be made at once.
#[test]
fn of_two_attempts_at_once_one_counts_unless_the_other_is_accepted() {
    let mut delivery = delivery();
    let revision = delivery.revision;
    assert!(delivery.record(revision, answered(500, NOW), None, 0.0));
    assert!(!delivery.record(revision, answered(502, NOW), None, 0.0));
    assert_eq!((delivery.attempts, delivery.log.len()), (1, 1));
    assert!(delivery.record(revision, answered(200, NOW), None, 0.0));
    assert!(matches!(delivery.state, DeliveryState::Delivered { .. }));
}

#[test]
fn a_replay_starts_again_and_keeps_the_log() {
    let mut delivery = delivery();
    while attempt(&mut delivery, 500) {}
    let revision = delivery.revision;
    delivery.replay(NOW.plus_days(9));
    assert_eq!((delivery.due(), delivery.attempts), (Some(NOW.plus_days(9)), 0));
    assert!(!delivery.record(revision, answered(500, NOW), None, 0.0), "an attempt from before the replay");
    while attempt(&mut delivery, 500) {}
    assert_eq!((delivery.attempts, delivery.log.len()), (MAX_ATTEMPTS, MAX_LOG));
    delivery.replay(NOW);
    assert!(attempt(&mut delivery, 200));
    assert_eq!(delivery.log.len(), MAX_LOG, "the newest attempts");
    assert!(delivery.log.last().unwrap().result.is_accepted());
}

#[test]
fn a_postponed_attempt_does_not_count_and_a_late_one_is_replayed() {
    let mut delivery = delivery();
    assert!(!delivery.is_replayed_by(NOW, false), "its first attempt is due");
    delivery.postpone(NOW.plus_seconds(20), false);
    assert_eq!((delivery.due(), delivery.attempts, delivery.revision), (Some(NOW.plus_seconds(20)), 0, 1));
    assert!(!delivery.has_reserved_call(NOW.plus_seconds(20)));
    assert!(attempt(&mut delivery, 500) && attempt(&mut delivery, 500));
    assert!(delivery.is_replayed_by(NOW.plus_seconds(60), true) && !delivery.is_replayed_by(NOW.plus_days(1), true));
    assert!(delivery.is_replayed_by(NOW.plus_days(1), false), "its third attempt can be under way");
    while attempt(&mut delivery, 500) {}
    assert!(
        delivery.is_replayed_by(NOW.plus_days(9), false) && !delivery.is_replayed_by(NOW, false),
        "it failed after the request"
    );
    assert!(!delivery.is_replayed_by(NOW.plus_days(9), true), "it does not wait");
    delivery.replay(NOW);
    assert!(attempt(&mut delivery, 200));
    assert!(!delivery.is_replayed_by(NOW.plus_days(9), false));
}

#[test]
fn a_delivery_that_waits_for_a_check_is_replayed_whenever_it_was_created() {
    let mut waiting = delivery();
    let before = Timestamp(NOW.0 - 20_000);
    assert!(!waiting.is_replayed_by(before, true) && waiting.unchecked_since().is_none(), "its first attempt is due");
    waiting.wait_for_check(NOW.plus_seconds(1), NOW.plus_seconds(21_600));
    assert_eq!((waiting.due(), waiting.attempts), (Some(NOW.plus_seconds(21_600)), 0));
    assert!(waiting.is_replayed_by(before, true));
    waiting.replay(before);
    assert_eq!((waiting.due(), waiting.unchecked_since()), (Some(before), None));
    assert!(attempt(&mut waiting, 500));
    assert!(!waiting.is_replayed_by(before, true), "the request came twice");
    let mut failing = delivery();
    assert!(attempt(&mut failing, 500) && attempt(&mut failing, 500));
    assert!(failing.is_replayed_by(NOW, true) && !failing.is_replayed_by(before, true), "it was created afterwards");
}

/// A replay, or a wait that the endpoint asked for, can make an attempt due long after the event.
#[test]
fn the_wait_for_a_check_is_limited_from_its_begin() {
    let mut old = delivery();
    let replayed_at = NOW.plus_days(6);
    old.replay(replayed_at);
    assert!(!old.has_waited_too_long(replayed_at));
    old.wait_for_check(replayed_at, replayed_at.plus_days(1));
    old.wait_for_check(replayed_at.plus_days(1), replayed_at.plus_days(2));
    assert_eq!(old.unchecked_since(), Some(replayed_at), "since the first time");
    assert!(!old.has_waited_too_long(Timestamp(replayed_at.plus_days(4).0 - 1)));
    assert!(old.has_waited_too_long(replayed_at.plus_days(4)));
    let text = serde_json::to_string(&old).unwrap();
    assert_eq!(serde_json::from_str::<Delivery>(&text).unwrap(), old);
    old.replay(replayed_at.plus_days(9));
    assert!(!old.has_waited_too_long(replayed_at.plus_days(9)));
}

#[test]
fn a_replay_keeps_a_reserved_call() {
    let mut delivery = delivery();
    let at = NOW.plus_seconds(100);
    delivery.postpone(at, true);
    assert!(!delivery.is_replayed_by(NOW, false), "its turn comes anyway");
    assert!(attempt(&mut delivery, 500));
    delivery.postpone(at, true);
    assert!(delivery.is_replayed_by(NOW, false) && !delivery.is_replayed_by(NOW, true));
    delivery.replay(NOW);
    assert!(delivery.has_reserved_call(at) && delivery.due() == Some(at) && delivery.attempts == 0);
    assert!(!delivery.is_replayed_by(NOW, false), "the request came twice");
}

#[test]
fn a_replay_covers_a_last_attempt_that_had_begun_before_it() {
    let mut delivery = delivery();
    while delivery.attempts + 1 < MAX_ATTEMPTS {
        assert!(attempt(&mut delivery, 500));
    }
    let begun = delivery.due().unwrap();
    let revision = delivery.revision;
    assert!(delivery.record(revision, Attempt { ms: 15_000, ..answered(500, begun) }, None, 0.0));
    assert!(matches!(delivery.state, DeliveryState::Failed { .. }));
    assert!(delivery.is_replayed_by(begun.plus_seconds(1), false), "it ended after the request");
    assert!(!delivery.is_replayed_by(Timestamp(begun.0 - 1), false));
}

#[test]
fn a_reserved_call_is_made_within_a_quarter_of_an_hour_and_once() {
    let mut delivery = delivery();
    let time = NOW.plus_seconds(20);
    delivery.postpone(time, true);
    assert!(delivery.has_reserved_call(time) && delivery.has_reserved_call(time.plus_seconds(900)));
    assert!(!delivery.has_reserved_call(time.plus_seconds(901)), "the calls of an outage are not made at once");
    assert!(attempt(&mut delivery, 500) && !delivery.has_reserved_call(time), "the next attempt reserves its own");
}

#[test]
fn a_delivery_to_a_disabled_endpoint_ends_and_a_delivered_one_stays() {
    let mut pending = delivery();
    pending.abandon(NOW);
    assert_eq!((pending.state, pending.revision), (DeliveryState::Failed { at: NOW }, 1));
    let mut delivered = delivery();
    attempt(&mut delivered, 200);
    let before = delivered.clone();
    delivered.abandon(NOW);
    assert_eq!(delivered, before);
}

#[test]
fn a_delivery_is_read_as_it_was_written() {
    let mut delivery = delivery();
    attempt(&mut delivery, 500);
    let revision = delivery.revision;
    let unanswered = AttemptResult::unanswered("timed_out", "no answer within 15 s");
    delivery.record(revision, Attempt { at: NOW, ms: 15_000, result: unanswered }, Some(900), 0.3);
    let text = serde_json::to_string(&delivery).unwrap();
    assert_eq!(serde_json::from_str::<Delivery>(&text).unwrap(), delivery);
}

#[test]
fn each_event_has_a_delivery_to_each_endpoint_that_gets_it() {
    let mut job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
    job.times.expires_at = i64::MAX;
    let ended = PendingEvent { event_type: EventType::Completed, ..PendingEvent::started(0, NOW) };
    let events = [PendingEvent::started(0, NOW), ended].map(|change| Event::new(&job, change));
    let all = endpoint(EndpointState::Active);
    let ends = Endpoint { event_types: [EventType::Completed].into(), ..endpoint(EndpointState::Active) };
    let disabled = endpoint(EndpointState::Disabled { reason: DisabledReason::Client, at: NOW });
    let made = deliveries(&job, &events, &[all.clone(), ends.clone(), disabled], NOW);
    let keys: Vec<_> = made.iter().map(|made| (made.endpoint_id, made.event.id.clone())).collect();
    let [started, ended] = events.map(|event| event.id);
    assert_eq!(keys, [(all.endpoint_id, started), (all.endpoint_id, ended.clone()), (ends.endpoint_id, ended)]);
    assert!(made.iter().all(|made| made.expires_at == NOW.plus_days(30).seconds()));
    let started = [Event::new(&job, PendingEvent::started(0, NOW))];
    for (expires_at, expected) in
        [(77, NOW.plus_days(4).seconds()), (NOW.plus_days(9).seconds(), NOW.plus_days(9).seconds())]
    {
        job.times.expires_at = expires_at;
        let made = deliveries(&job, &started, std::slice::from_ref(&all), NOW);
        assert_eq!(made[0].expires_at, expected, "with its job, after its last attempt");
    }
}

#[test]
fn an_endpoint_of_named_jobs_gets_the_events_of_jobs_that_name_it() {
    let mut job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
    let events = [Event::new(&job, PendingEvent::started(0, NOW))];
    let of = |state, jobs| Endpoint { endpoint_id: EndpointId::generate(), jobs, ..endpoint(state) };
    let all = of(EndpointState::Active, JobScope::All);
    let named = of(EndpointState::Active, JobScope::Named);
    let pending = of(EndpointState::Pending, JobScope::Named);
    let endpoints = [all.clone(), named.clone(), pending.clone()];
    let mut getting = |callback: Option<EndpointId>| {
        job.callback = callback;
        deliveries(&job, &events, &endpoints, NOW).iter().map(|made| made.endpoint_id).collect::<Vec<_>>()
    };
    assert_eq!(getting(None), [all.endpoint_id]);
    assert_eq!(getting(Some(named.endpoint_id)), [all.endpoint_id, named.endpoint_id]);
    assert_eq!(getting(Some(all.endpoint_id)), [all.endpoint_id], "once");
    assert_eq!(getting(Some(pending.endpoint_id)), [all.endpoint_id]);
}

#[test]
fn an_id_sorts_by_time_and_other_texts_are_none() {
    let [early, late] = [delivery(), Delivery { created_at: NOW.plus_days(1), ..delivery() }].map(|made| made.id());
    assert!(early < late && DeliveryId::before(NOW) < early && early < DeliveryId::before(NOW.plus_seconds(1)));
    assert_eq!(DeliveryId::parse(early.as_str()), Some(early));
    for text in ["", "1-a", "000001000000000", "000001000000000-a#b", "00000100000000x-a", "+00001000000000-a"] {
        assert_eq!(DeliveryId::parse(text), None, "{text}");
    }
}
