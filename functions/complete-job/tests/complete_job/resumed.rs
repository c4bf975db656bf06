//! Completions over many invocations: the report is the same, byte by byte, regardless of interruptions, crashes and
//! concurrent completions.

use std::cell::Cell;
use std::collections::BTreeMap;

use complete_job::CompleteEnd;
use longshore::fingerprint::Fingerprint;
use longshore_domain::job::Status;
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{FileInfo, Files};
use longshore_domain::timestamp::Timestamp;
use proptest::prelude::*;

use crate::crafted_worker::{CraftedWorker, Outcome};
use crate::fixture::{Fixture, now};
use crate::partition::{JobEnd, Story, job_of, story};

thread_local!(static NOW: Cell<i64> = const { Cell::new(0) });

/// A clock that advances by a second with each read.
fn ticking() -> Timestamp {
    NOW.set(NOW.get() + 1_000);
    Timestamp(NOW.get())
}

/// Bytes of the files by name, their receipts, and the remaining result.
type Reports = (BTreeMap<String, Option<Vec<u8>>>, Vec<(String, u64, Fingerprint)>, String);

/// Contents of a report: its files, their fingerprints, and the result without keys and times.
fn report(fixture: &Fixture) -> Reports {
    let names = ["failed.csv", "skipped.csv", "unprocessed.csv"];
    let files = names.map(|name| (name.to_owned(), fixture.ports.files.inner.get(&fixture.key(name))));
    let receipts = fixture.receipt().files.into_iter().map(|file| (file.name, file.rows, file.fingerprint));
    let result = fixture.result();
    let rest = (result.counts, result.failures_by_code, result.issues, result.status);
    (files.into(), receipts.collect(), format!("{rest:?}"))
}

/// An invocation. It is killed at one operation of the bucket, and a second invocation runs from beginning to end at
/// another one.
#[derive(Clone, Debug)]
struct Invocation {
    seconds: i64,
    killed_at: Option<usize>,
    second_at: Option<(usize, i64)>,
}

fn invocation() -> impl Strategy<Value = Invocation> {
    let killed_at = prop::option::weighted(0.3, 0_usize..30);
    let second_at = prop::option::weighted(0.3, (0_usize..30, 1_i64..120));
    (1_i64..120, killed_at, second_at).prop_map(|(seconds, killed_at, second_at)| Invocation {
        seconds,
        killed_at,
        second_at,
    })
}

/// Runs an invocation of this duration.
fn invoke(fixture: &Fixture, seconds: i64) -> Option<CompleteEnd> {
    fixture.complete_until(Timestamp(NOW.get() + seconds * 1_000), ticking).ok()
}

fn run(fixture: &Fixture, invocation: &Invocation) -> Option<CompleteEnd> {
    let Invocation { seconds, killed_at, second_at } = invocation.clone();
    let (second, mut operations) = (fixture.clone(), 0);
    fixture.ports.files.set(move |_, _| {
        operations += 1;
        if let Some((_, seconds)) = second_at.filter(|(at, _)| *at == operations) {
            let (second, began) = (second.clone(), NOW.get());
            let run = std::thread::spawn(move || {
                NOW.set(began);
                invoke(&second, seconds);
                NOW.get()
            });
            NOW.set(run.join().unwrap());
        }
        killed_at.is_none_or(|at| operations < at)
    });
    let end = invoke(fixture, seconds);
    fixture.ports.files.clear();
    end
}

fn check(story: &Story, end: JobEnd, invocations: &[Invocation], part_bytes: usize) {
    NOW.set(100_000);
    let (mut fixture, ..) = job_of(story, end);
    fixture.part_bytes = part_bytes;
    for invocation in invocations {
        run(&fixture, invocation);
    }
    let mut further = 0;
    while !fixture.job().status.is_final() {
        further += 1;
        assert!(further < 500, "the job does not end");
        invoke(&fixture, 8);
    }
    let (single, ..) = job_of(story, end);
    single.complete().unwrap();
    assert_eq!(report(&fixture), report(&single));
    assert_eq!(fixture.job().completion.totals, single.job().completion.totals);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_interrupted_completion_has_the_same_report_as_a_single_pass(
        story in story(),
        end in prop_oneof![Just(JobEnd::Stopped), Just(JobEnd::Completed)],
        invocations in prop::collection::vec(invocation(), 0..8),
        part_bytes in 1_usize..200,
    ) {
        check(&story, end, &invocations, part_bytes);
    }
}

const ROWS: usize = 3_000;

/// A canceled job of many chunks, the first of which has ended.
fn canceled() -> Fixture {
    let rows: String = (0..ROWS).map(|n| format!("person {n},{n}\n")).collect();
    let mut fixture = Fixture::csv(&format!("name,age\n{rows}"));
    let plans = fixture.split(10, Some(3));
    CraftedWorker::new(&fixture, &plans[0]).work(&[Outcome::Ok, Outcome::Fail, Outcome::Skip]);
    fixture.cancel();
    fixture.part_bytes = 100;
    NOW.set(100_000);
    fixture
}

#[test]
fn an_invocation_that_runs_out_of_time_hands_over_to_the_next_one() {
    let fixture = canceled();
    let mut invocations = 0;
    while invoke(&fixture, 12) != Some(CompleteEnd::Finished(Status::Canceled)) {
        invocations += 1;
        let (job, sent) = (fixture.job(), fixture.ports.queues.take_completes());
        let at = job.completion.checkpoint.unwrap();
        assert_eq!(sent.iter().map(|message| message.step).collect::<Vec<_>>(), [at.step], "one continuation is sent");
        assert_eq!((job.resends, job.times.updated_at > Timestamp(100_000)), (0, true), "the sweeper sees progress");
    }
    assert!(invocations > 2, "only {invocations}");
    assert_eq!(fixture.rows("unprocessed.csv").len(), ROWS - 3);
    assert_eq!(
        now(fixture.ports.files.info(&fixture.key("unprocessed.csv")))
            .unwrap()
            .map(|FileInfo { size_bytes, .. }| size_bytes),
        Some(fixture.receipt().files[2].fingerprint.size)
    );
    assert!(fixture.ports.files.inner.unfinished_parts().is_empty(), "no multipart upload is unfinished");
}

#[test]
fn an_overtaken_completion_leaves_the_job_to_the_other_one() {
    let fixture = canceled();
    let (other, mut once) = (fixture.clone(), true);
    fixture.ports.files.set(move |operation, key| {
        if operation == "write" && key.contains("/state-") && std::mem::take(&mut once) {
            let other = other.clone();
            std::thread::spawn(move || {
                NOW.set(100_000);
                assert_eq!(invoke(&other, 12), Some(CompleteEnd::HandedOver));
            })
            .join()
            .unwrap();
        }
        true
    });
    assert_eq!(invoke(&fixture, 12), Some(CompleteEnd::Overtaken));
    fixture.ports.files.clear();
    assert_eq!(fixture.job().completion.checkpoint.unwrap().step, 1);
    assert_eq!(
        fixture.ports.files.inner.unfinished_parts().len(),
        1,
        "the overtaken completion has aborted its upload"
    );
}

#[test]
fn an_overtaken_message_begins_no_second_chain_of_turns() {
    let fixture = canceled();
    assert_eq!(invoke(&fixture, 12), Some(CompleteEnd::HandedOver));
    let next = fixture.ports.queues.take_completes().remove(0);
    let first = CompleteMessage { step: 0, ..next.clone() };
    let deliver = |message: &CompleteMessage, failures| {
        let until = Timestamp(NOW.get() + 12_000);
        fixture.deliver(message, failures, (until, ticking)).unwrap()
    };
    assert_eq!(deliver(&first, 0), CompleteEnd::Overtaken);
    assert_eq!(deliver(&first, 1), CompleteEnd::Replaced, "the progress of the earlier delivery is unknown");
    let copy = fixture.ports.queues.take_completes().remove(0);
    let resent = CompleteMessage { resend: 1, ..first };
    for message in [&copy, &resent] {
        assert_eq!(deliver(message, 0), CompleteEnd::HandedOver, "{message:?}");
    }
    assert_eq!(deliver(&next, 0), CompleteEnd::Overtaken, "the copy has moved the checkpoint");
    let last = fixture.ports.queues.take_completes().pop().unwrap();
    assert_ne!(deliver(&last, 0), CompleteEnd::Overtaken);
}

#[test]
fn a_turn_that_is_over_at_once_still_lists_a_row() {
    let rows = ["a", "b", "c", "d"].map(|name| name.repeat(30_000));
    let mut fixture = Fixture::csv(&format!("name\n{}", rows.join("\n")));
    fixture.cancel();
    fixture.part_bytes = 100;
    NOW.set(100_000);
    let mut turns = 0;
    while invoke(&fixture, 1) != Some(CompleteEnd::Finished(Status::Canceled)) {
        turns += 1;
        assert!(turns < 20, "the job does not end");
    }
    assert!(turns > 1, "only {turns}");
    assert_eq!(fixture.rows("unprocessed.csv").len(), rows.len());
}

/// The other completion continues from the checkpoint of the same attempt, and sees the stop.
#[test]
fn of_two_completions_of_one_attempt_the_one_that_ends_the_job_determines_its_result() {
    NOW.set(100_000);
    let mut fixture = Fixture::csv("name\nAda\nBob\nCem\nDan\n");
    for plan in fixture.split(4, None) {
        CraftedWorker::new(&fixture, &plan).work(&[Outcome::Fail, Outcome::Fail, Outcome::Skip, Outcome::Ok]);
    }
    fixture.roll_up();
    fixture.part_bytes = 8;
    let (other, mut once) = (fixture.clone(), true);
    fixture.ports.files.set(move |operation, key| {
        if operation == "write" && key.ends_with("result.json") && std::mem::take(&mut once) {
            let other = other.clone();
            std::thread::spawn(move || {
                NOW.set(200_000);
                other.cancel();
                assert_eq!(invoke(&other, 1_000), Some(CompleteEnd::Finished(Status::Canceled)));
            })
            .join()
            .unwrap();
        }
        true
    });
    assert_eq!(invoke(&fixture, 1_000), Some(CompleteEnd::AlreadyFinished));
    fixture.ports.files.clear();
    assert_eq!(
        fixture.job().completion.checkpoint.unwrap().attempt,
        fixture.attempt(),
        "both completions wrote the same report"
    );
    assert_eq!((fixture.job().status, fixture.result().status), (Status::Canceled, Status::Canceled));
    assert_eq!((fixture.rows("failed.csv").len(), fixture.result().counts.failed), (2, 2));
}

#[test]
fn a_report_whose_multipart_upload_is_missing_begins_again() {
    let fixture = canceled();
    while fixture.ports.files.inner.unfinished_parts().is_empty() {
        assert_eq!(invoke(&fixture, 12), Some(CompleteEnd::HandedOver));
    }
    let before = fixture.job().completion.checkpoint.unwrap();
    for upload in fixture.ports.files.inner.unfinished_parts() {
        fixture.ports.files.inner.abort_parts(&upload);
    }
    while invoke(&fixture, 12) == Some(CompleteEnd::HandedOver) {}
    assert!(!fixture.job().completion.report.unwrap().starts_with(&before.attempt));
    assert_eq!(fixture.rows("unprocessed.csv").len(), ROWS - 3);
}

#[test]
fn a_report_with_a_checkpoint_of_another_version_begins_again() {
    let fixture = canceled();
    assert_eq!(invoke(&fixture, 12), Some(CompleteEnd::HandedOver));
    let (before, files) = (fixture.job().completion.checkpoint.unwrap(), &fixture.ports.files.inner);
    let key = files.keys().into_iter().find(|key| key.ends_with(&format!("state-{}", before.token))).unwrap();
    let stored = String::from_utf8(files.get(&key).unwrap()).unwrap();
    let other = stored.replacen("\"format\":\"7 ", "\"format\":\"6 ", 1);
    assert_ne!(other, stored);
    files.put(&key, other);
    while invoke(&fixture, 12) == Some(CompleteEnd::HandedOver) {}
    assert!(!fixture.job().completion.report.unwrap().starts_with(&before.attempt));
    assert_eq!(fixture.rows("unprocessed.csv").len(), ROWS - 3);
}

#[test]
fn the_completion_of_a_small_job_makes_only_necessary_calls() {
    let fixture = Fixture::csv("name,age\nAda,1\nBob,2\n");
    for plan in fixture.split(10, None) {
        CraftedWorker::new(&fixture, &plan).work(&[Outcome::Fail, Outcome::Ok]);
    }
    fixture.roll_up();
    let calls = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = calls.clone();
    fixture.ports.files.set(move |operation, key| {
        seen.lock().unwrap().push(format!("{operation} {}", key.rsplit('/').next().unwrap()));
        true
    });
    fixture.complete().unwrap();
    let writes: Vec<_> = calls.lock().unwrap().iter().filter(|call| call.starts_with("write")).cloned().collect();
    assert_eq!(writes, ["write failed.csv", "write receipt.json", "write result.json"]);
}
