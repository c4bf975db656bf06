//! Crashes at every step, two deliveries at once, damage.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use complete_job::{CompleteEnd, CompleteError};
use longshore_domain::job::Status;
use longshore_domain::ports::Ledger;
use longshore_domain::time_stamp::Timestamp;

use crate::fixture::{Fixture, made, now};
use crate::hand::{Hand, What};

const PEOPLE: &str = "name,age\nAda,1\nBob,2\nCem,3\nDan,4\nEve,5\nFay,6\nGil,7\nHal,8\n";

/// Two chunks of four items; in each one fails, one is skipped, and as told the others.
fn worked(others: What) -> Fixture {
    let fixture = Fixture::csv(PEOPLE);
    for plan in fixture.split(4, None) {
        let mut hand = Hand::new(&fixture, &plan);
        hand.work(&[What::Fail, others], false);
        hand.work(&[What::Skip, What::Ok], false);
    }
    fixture.roll_up();
    fixture
}

fn stopped() -> Fixture {
    let fixture = worked(What::Later);
    fixture.cancel();
    fixture
}

/// The report without the one thing that may differ from try to try: when the job ended.
fn tables(fixture: &Fixture) -> Vec<Option<Vec<Vec<String>>>> {
    ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| fixture.table(name)).into()
}

#[test]
fn broken_off_at_any_step_the_next_delivery_ends_the_job_with_the_same_report() {
    for make in [stopped, || worked(What::Ok)] {
        let undisturbed = make();
        undisturbed.complete().unwrap();
        for step in 0.. {
            let fixture = make();
            let left = AtomicUsize::new(step);
            fixture
                .ports
                .files
                .set(move |_, _| left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok());
            let broken = fixture.complete();
            fixture.ports.files.clear();
            if broken.is_ok() {
                assert!(step > 10, "only {step} steps were broken off");
                break;
            }
            assert!(!fixture.job().status.is_final(), "step {step}");
            assert!(matches!(fixture.complete().unwrap(), CompleteEnd::Finished(_)), "step {step}");
            assert_eq!(tables(&fixture), tables(&undisturbed), "step {step}");
        }
    }
}

#[test]
fn a_report_that_is_written_twice_is_the_same_and_the_job_names_one_of_them() {
    let fixture = stopped();
    let written = Arc::new(AtomicUsize::new(0));
    let (seen, store, id) = (Arc::clone(&written), fixture.ports.store.clone(), fixture.id);
    // The other delivery gets so far that it has written everything, and dies; this one begins again.
    fixture.ports.files.set(move |_, key| !key.ends_with("result.json") || seen.fetch_add(1, Relaxed) > 0);
    fixture.complete().unwrap_err();
    let first = fixture.report();
    fixture.complete().unwrap();
    for (key, bytes) in &first {
        let name = key.rsplit('/').next().unwrap();
        assert_ne!(*key, fixture.key(name), "no attempt writes over another's files");
        assert_eq!(Some(bytes), fixture.ports.files.inner.get(&fixture.key(name)).as_ref(), "{name}");
    }
    assert_eq!((first.len(), written.load(Relaxed)), (4, 2));
    assert!(now(store.progress(id)).unwrap().unwrap().1.status.is_final());
}

/// One completion saw the job completing and is slow; the other saw it stopping and was first. The slow one dies as soon as
/// it has written its result: it cannot repair anything.
#[test]
fn of_two_completions_across_a_stop_the_result_is_that_of_the_one_that_ended_the_job() {
    let fixture = worked(What::Ok);
    let other = fixture.clone();
    let mut other = Some(other);
    fixture.ports.files.set(move |operation, key| {
        if operation != "write" || !key.ends_with("result.json") {
            return true;
        }
        let Some(other) = other.take() else { return false };
        other.cancel();
        let end = std::thread::spawn(move || other.complete().unwrap()).join().unwrap();
        assert_eq!(end, CompleteEnd::Finished(Status::Canceled));
        true
    });
    let end = fixture.complete();
    assert_eq!((fixture.job().status, fixture.result().status), (Status::Canceled, Status::Canceled));
    assert_eq!(end.unwrap(), CompleteEnd::AlreadyFinished);
}

#[test]
fn a_job_that_is_canceled_while_its_report_is_written_ends_canceled() {
    let fixture = worked(What::Ok);
    let cancel = fixture.clone();
    let calls = AtomicUsize::new(0);
    fixture.ports.files.set(move |operation, _| {
        if operation == "write" && calls.fetch_add(1, Relaxed) == 0 {
            cancel.cancel();
        }
        true
    });
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Canceled));
    assert_eq!((fixture.job().status, fixture.result().status), (Status::Canceled, Status::Canceled));
}

#[test]
fn a_missing_or_damaged_work_file_is_an_error_and_no_end() {
    for make in [stopped, || worked(What::Ok)] {
        for damage in [None, Some(&b"no work file"[..]), Some(b""), Some(b"{\"round\":0,\"prev\":null}\n")] {
            let fixture = make();
            let files = &fixture.ports.files.inner;
            let key = files.keys().into_iter().find(|key| key.ends_with(".jsonl")).unwrap();
            match damage {
                Some(bytes) => files.put(&key, bytes),
                None => files.remove(&key),
            }
            let error = fixture.complete().unwrap_err();
            let expected = matches!(error, CompleteError::Chunk { .. } | CompleteError::Miscounted { .. });
            assert!(expected, "{error}");
            assert!(fixture.report().is_empty() && !fixture.job().status.is_final(), "{error}");
        }
    }
}

#[test]
fn a_done_job_with_an_unfinished_group_is_an_error() {
    let fixture = Fixture::csv(PEOPLE);
    fixture.split(4, None);
    made(now(fixture.ports.store.group_done(fixture.id, 0, Timestamp(8_000))).unwrap());
    assert!(matches!(fixture.complete().unwrap_err(), CompleteError::Unfinished(1)));
}
