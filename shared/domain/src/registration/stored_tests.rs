//! Tests of the rules of stored registrations.

use proptest::prelude::*;

use super::*;
use crate::registration::content::tests::registration;

const AT: Timestamp = Timestamp(1_700_000_000_000);

fn at(millis: i64) -> Timestamp {
    Timestamp(AT.0 + millis)
}

fn content(concurrency: u32) -> Registration {
    Registration { concurrency, ..registration() }
}

fn candidate(concurrency: u32) -> Candidate {
    Candidate::new(content(concurrency), AT)
}

fn good() -> Activation {
    Activation { modes: vec![Mode::Run], at: at(5) }
}

fn pending(candidate: &Candidate) -> StoredRegistration {
    StoredRegistration { active: None, candidate: Some(candidate.clone()) }
}

fn active(candidate: &Candidate) -> StoredRegistration {
    pending(candidate).activated(&candidate.version, &good()).unwrap()
}

fn refused(candidate: &Candidate) -> StoredRegistration {
    pending(candidate).refused(&candidate.version, &Refusal::new("no", at(7))).unwrap()
}

#[test]
fn the_effect_of_a_put_depends_on_its_content() {
    let (one, two) = (candidate(1), candidate(2));
    let with = |state: &StoredRegistration, candidate: &Candidate| StoredRegistration {
        candidate: Some(candidate.clone()),
        ..state.clone()
    };
    for (before, put, expected) in [
        (StoredRegistration::default(), 1, PutPlan::Replace),
        (pending(&one), 1, PutPlan::PingAgain(&one.version)),
        (pending(&one), 2, PutPlan::Replace),
        (refused(&one), 1, PutPlan::Replace),
        (active(&one), 1, PutPlan::Unchanged),
        (active(&one), 2, PutPlan::Replace),
        (with(&active(&one), &two), 1, PutPlan::Withdraw),
        (with(&active(&one), &two), 2, PutPlan::PingAgain(&two.version)),
        (with(&active(&one), &two), 3, PutPlan::Replace),
        (with(&active(&one), &refused(&two).candidate.unwrap()), 1, PutPlan::Withdraw),
        (with(&active(&one), &refused(&two).candidate.unwrap()), 2, PutPlan::Replace),
    ] {
        assert_eq!(before.plan_put(&content(put)), expected, "{before:?}");
    }
}

#[test]
fn a_ping_counts_only_for_the_version_of_the_candidate() {
    let (one, two) = (candidate(1), candidate(1));
    assert_ne!(one.version, two.version, "the same content again has another version");
    let refusal = Refusal::new("no", at(7));
    for state in [StoredRegistration::default(), pending(&two), active(&one), active(&two), refused(&two)] {
        assert_eq!(state.activated(&one.version, &good()), None, "{state:?}");
        assert_eq!(state.refused(&one.version, &refusal), None, "{state:?}");
    }
    assert_eq!(active(&one).active.unwrap().registration, one.registration);
}

#[test]
fn a_refusal_leaves_the_active_registration_in_force_and_the_first_one_stays() {
    let (one, two) = (candidate(1), candidate(2));
    let state = StoredRegistration { candidate: Some(two.clone()), ..active(&one) };
    let after = state.refused(&two.version, &Refusal::new("no", at(7))).unwrap();
    assert_eq!((&after.active, after.status()), (&state.active, RegistrationStatus::Active));
    assert_eq!(after.candidate.as_ref().unwrap().status(), RegistrationStatus::Refused);
    assert_eq!(after.refused(&two.version, &Refusal::new("later", at(9))), None);
    let activated = after.activated(&two.version, &good()).unwrap();
    assert_eq!(activated, active(&two), "a good ping counts after a bad one");
}

#[test]
fn the_document_shows_the_active_registration_and_the_newest_time() {
    let (one, two) = (candidate(1), candidate(2));
    let both = StoredRegistration { candidate: refused(&two).candidate, ..active(&one) };
    for (state, status, shown, time) in [
        (StoredRegistration::default(), RegistrationStatus::Pending, None, None),
        (pending(&one), RegistrationStatus::Pending, Some(1), Some(AT)),
        (refused(&one), RegistrationStatus::Refused, Some(1), Some(at(7))),
        (active(&one), RegistrationStatus::Active, Some(1), Some(at(5))),
        (both, RegistrationStatus::Active, Some(1), Some(at(7))),
    ] {
        assert_eq!((state.status(), state.updated_at()), (status, time));
        assert_eq!(state.shown().map(|registration| registration.concurrency), shown);
    }
}

#[test]
fn a_long_reason_is_shortened() {
    let reason = Refusal::new(&"\u{fc}".repeat(5_000), AT).reason;
    assert_eq!(reason.chars().count(), MAX_REASON_CHARS + 1);
}

#[test]
fn every_change_but_a_repeated_one_changes_the_revision() {
    let (one, two) = (candidate(1), candidate(2));
    let both = StoredRegistration { candidate: Some(two.clone()), ..active(&one) };
    let states = [
        StoredRegistration::default(),
        pending(&one),
        refused(&one),
        active(&one),
        both.clone(),
        both.refused(&two.version, &Refusal::new("no", AT)).unwrap(),
        active(&two),
    ];
    for (at, state) in states.iter().enumerate() {
        let same = states.iter().filter(|other| other.revision() == state.revision());
        assert_eq!(same.count(), 1, "{at}");
    }
}

proptest! {
    /// Any pings of two versions, in any order and number, end in the state that their good and bad results imply.
    #[test]
    fn pings_in_any_order_end_in_the_same_state(pings in proptest::collection::vec((0..3_usize, any::<bool>()), 0..8)) {
        let versions = [candidate(1), candidate(2), candidate(3)];
        let start = StoredRegistration { candidate: Some(versions[1].clone()), ..active(&versions[0]) };
        let mut state = start.clone();
        for (version, is_good) in &pings {
            let version = &versions[*version].version;
            let next = if *is_good {
                state.activated(version, &good())
            } else {
                state.refused(version, &Refusal::new("no", AT))
            };
            state = next.unwrap_or(state);
        }
        let expected = if pings.contains(&(1, true)) {
            active(&versions[1])
        } else if pings.contains(&(1, false)) {
            start.refused(&versions[1].version, &Refusal::new("no", AT)).unwrap()
        } else {
            start
        };
        prop_assert_eq!(state, expected);
    }
}
