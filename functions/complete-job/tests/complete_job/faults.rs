//! Crashes at every step, concurrent deliveries, and damaged files.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use complete_job::{CompleteEnd, CompleteError};
use longshore_domain::job::Status;
use longshore_domain::ports::Ledger;
use longshore_domain::timestamp::Timestamp;

use crate::crafted_worker::{CraftedWorker, Outcome};
use crate::fixture::{Fixture, job_after, now};

const PEOPLE: &str = "name,age\nAda,1\nBob,2\nCem,3\nDan,4\nEve,5\nFay,6\nGil,7\nHal,8\n";

/// Two chunks of four items: in each, one fails, one is skipped, one succeeds, and one has the given outcome.
fn processed(others: Outcome) -> Fixture {
    let fixture = Fixture::csv(PEOPLE);
    for plan in fixture.split(4, None) {
        let mut crafted_worker = CraftedWorker::new(&fixture, &plan);
        crafted_worker.work(&[Outcome::Fail, others]);
        crafted_worker.work(&[Outcome::Skip, Outcome::Ok]);
    }
    fixture.roll_up();
    fixture
}

fn stopped() -> Fixture {
    let fixture = processed(Outcome::Later);
    fixture.cancel();
    fixture
}

/// Returns the tables of the report, without the result: the end time of the job can differ between attempts.
fn tables(fixture: &Fixture) -> Vec<Option<Vec<Vec<String>>>> {
    ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| fixture.table(name)).into()
}

#[test]
fn after_a_crash_at_any_step_the_next_delivery_ends_the_job_with_the_same_report() {
    for make in [stopped, || processed(Outcome::Ok)] {
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
                assert!(step > 10, "only {step} steps were interrupted");
                break;
            }
            assert!(!fixture.job().status.is_final(), "step {step}");
            assert!(matches!(fixture.complete().unwrap(), CompleteEnd::Finished(_)), "step {step}");
            assert_eq!(tables(&fixture), tables(&undisturbed), "step {step}");
        }
    }
}

#[test]
fn two_attempts_write_the_same_report_and_the_job_names_one_of_them() {
    let fixture = stopped();
    let written = Arc::new(AtomicUsize::new(0));
    let (seen, store, id) = (Arc::clone(&written), fixture.ports.store.clone(), fixture.id);
    // The other delivery crashes after it has written everything. This one begins again.
    fixture.ports.files.set(move |_, key| !key.ends_with("result.json") || seen.fetch_add(1, Relaxed) > 0);
    fixture.complete().unwrap_err();
    let first = fixture.report();
    fixture.complete().unwrap();
    for (key, bytes) in &first {
        let name = key.rsplit('/').next().unwrap();
        assert_ne!(*key, fixture.key(name), "an attempt has overwritten the files of another one");
        assert_eq!(Some(bytes), fixture.ports.files.inner.get(&fixture.key(name)).as_ref(), "{name}");
    }
    assert_eq!((first.len(), written.load(Relaxed)), (4, 2));
    assert!(now(store.progress(id)).unwrap().unwrap().job.status.is_final());
}

/// One completion saw the job completing, and is slow. The other one saw it stopping, and was first. The slow one
/// crashes after it has written its result, so it cannot repair anything. With small parts, both continue from one
/// checkpoint.
#[test]
fn of_two_completions_across_a_stop_the_one_that_ends_the_job_determines_its_result() {
    for part_bytes in [8 << 20, 20] {
        let mut fixture = processed(Outcome::Ok);
        fixture.part_bytes = part_bytes;
        let named = during(&fixture, "result.json", |other| {
            other.cancel();
            assert_eq!(other.complete().unwrap(), CompleteEnd::Finished(Status::Canceled));
        });
        let end = fixture.complete();
        assert_eq!((fixture.job().status, fixture.result().status), (Status::Canceled, Status::Canceled));
        assert_eq!(end.unwrap(), CompleteEnd::AlreadyFinished);
        assert_eq!(fixture.job().completion.checkpoint.is_some(), part_bytes == 20);
        assert_unchanged(&fixture, &named, &format!("with parts of {part_bytes} bytes"));
    }
}

/// Both completions continue from one checkpoint. The slow one has read the rest of the source. The other one was
/// first, and found no source.
#[test]
fn a_slow_completion_does_not_change_the_report_that_the_job_names() {
    for slow_at in ["unprocessed.csv", "receipt.json", "result.json"] {
        let fixture = stopped_half_way();
        let named = during(&fixture, slow_at, |other| {
            other.lose_source();
            assert_eq!(other.complete().unwrap(), CompleteEnd::Finished(Status::Canceled));
            assert!(other.result().issues.iter().any(|issue| issue.code == "rest_not_listed"));
        });
        assert_eq!(fixture.complete().unwrap(), CompleteEnd::AlreadyFinished);
        assert_unchanged(&fixture, &named, slow_at);
    }
}

#[test]
fn a_source_whose_stream_ends_early_repeatedly_is_read_by_the_next_delivery() {
    let fixture = stopped_half_way();
    fixture.ports.files.ends_early.store(5, Relaxed);
    let error = fixture.complete().expect_err("the source exists, so every row must be listed");
    assert!(format!("{error:?}").contains("the stream ended at byte"), "{error:?}");
    assert_eq!(fixture.complete().unwrap(), CompleteEnd::Finished(Status::Canceled));
    let result = fixture.result();
    assert_eq!(result.counts.total(), 60, "{:?}", result.issues);
}

type Named = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Runs `act` before the first write of a file. Returns the files of the report after it.
fn during(fixture: &Fixture, name: &'static str, act: impl FnOnce(&Fixture) + Send + 'static) -> Named {
    let (named, mut other) = (Named::default(), Some((fixture.clone(), act)));
    let seen = Arc::clone(&named);
    fixture.ports.files.set(move |operation, key| {
        if operation == "write" && key.ends_with(name) {
            let Some((other, act)) = other.take() else { return false };
            let run = std::thread::spawn(move || {
                act(&other);
                other.report()
            });
            *seen.lock().unwrap() = run.join().unwrap();
        }
        true
    });
    named
}

/// Asserts that the files of the report that the job names have not changed since the job ended.
fn assert_unchanged(fixture: &Fixture, named: &Named, when: &str) {
    let named = named.lock().unwrap();
    let files = fixture.result().files;
    let tables = [files.failed, files.skipped, files.unprocessed].into_iter().flatten().map(|file| file.key);
    for key in tables.chain(["result.json", "receipt.json"].map(|name| fixture.key(name))) {
        let (then, now) = (named.get(&key), fixture.ports.files.inner.get(&key));
        assert!(then == now.as_ref(), "{when}: {key} has changed from {then:?} to {now:?}");
    }
}

/// A canceled job with one group, and a checkpoint of its report before the part of the file that was not split.
fn stopped_half_way() -> Fixture {
    let rows: String = (0..60).map(|n| format!("person {n},{n}\n")).collect();
    let fixture = Fixture::csv(&format!("name,age\n{rows}"));
    fixture.split(4, Some(2));
    fixture.cancel();
    thread_local!(static CLOCK: Cell<i64> = const { Cell::new(60_000) });
    CLOCK.set(60_000);
    let end = fixture.complete_until(Timestamp(60_100), || {
        CLOCK.set(CLOCK.get() + 25);
        Timestamp(CLOCK.get())
    });
    assert_eq!(end.unwrap(), CompleteEnd::HandedOver);
    fixture
}

#[test]
fn a_job_canceled_while_its_report_is_written_ends_as_canceled() {
    let fixture = processed(Outcome::Ok);
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
fn a_missing_or_damaged_work_file_is_an_error_and_does_not_end_the_job() {
    for make in [stopped, || processed(Outcome::Ok)] {
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
    job_after(now(fixture.ports.store.group_done(fixture.id, 0, Timestamp(8_000))).unwrap());
    assert!(matches!(fixture.complete().unwrap_err(), CompleteError::Unfinished(1)));
}
