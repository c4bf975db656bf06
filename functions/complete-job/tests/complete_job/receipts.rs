//! The receipt matches the files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore::fingerprint::Fingerprinter;
use longshore::receipt::{Basis, CodeVersion};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::Status;
use longshore_domain::job::Tolerance;
use longshore_domain::ports::{JobStore, Upload};
use longshore_domain::records::Format;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;
use serde_json::json;

use crate::crafted_worker::{CraftedWorker, Outcome};
use crate::fixture::{Fixture, SOURCE_KEY, now};

const PEOPLE: &str = "name,age\nAda,36\nBob,\"1\n2\"\nCem,3\nDan,4\n";
const OUTCOMES: [Outcome; 4] = [Outcome::Fail, Outcome::Skip, Outcome::Ok, Outcome::Fail];

fn processed(text: &str, outcomes: &[Outcome]) -> Fixture {
    let fixture = Fixture::of_file(text.as_bytes(), Format::Csv, Tolerance::default());
    for plan in fixture.split(10, None) {
        CraftedWorker::new(&fixture, &plan).work(outcomes);
    }
    fixture.roll_up();
    fixture
}

/// SHA-256 as a client's own tool computes it.
fn sha256(bytes: &[u8]) -> String {
    let mut print = Fingerprinter::default();
    print.take(bytes);
    print.finish().sha256
}

/// Stores the upload of the source, with the checksum that the client sent.
fn uploaded(fixture: &Fixture, sha256: Option<String>, key: &str) {
    let file_guid = FileGuid::parse(SOURCE_KEY.rsplit('/').next().unwrap()).unwrap();
    let (tenant, file_name, content_type) = (DEFAULT_TENANT.clone(), "people.csv".into(), "text/csv".into());
    let (key, promised_at) = (key.to_owned(), Timestamp(0));
    let (size_bytes, multipart, expires_at) = (PEOPLE.len() as u64, None, 9);
    let upload = Upload {
        file_guid,
        tenant,
        key,
        file_name,
        content_type,
        size_bytes,
        sha256,
        multipart,
        promised_at,
        expires_at,
    };
    now(fixture.ports.store.create_upload(&upload, None)).unwrap();
}

#[test]
fn a_receipt_describes_every_file() {
    let fixture = processed(PEOPLE, &OUTCOMES);
    fixture.complete().unwrap();
    let receipt = fixture.receipt();
    assert_eq!((receipt.job_id, receipt.generation, receipt.item_count), (fixture.id, 0, 4));
    assert_eq!(receipt.counts, fixture.result().counts);
    let input = receipt.input.unwrap();
    assert_eq!((input.name.as_str(), input.size, input.basis), ("people.csv", PEOPLE.len() as u64, Basis::Read));
    assert_eq!(input.sha256.unwrap(), sha256(PEOPLE.as_bytes()));
    assert_eq!(receipt.corrected, None);
    let named: Vec<_> = receipt.files.iter().map(|file| (file.name.as_str(), file.rows)).collect();
    assert_eq!(named, [("people-failed.csv", 2), ("people-skipped.csv", 1)]);
    for file in &receipt.files {
        let name = file.name.strip_prefix("people-").unwrap();
        let bytes = fixture.ports.files.inner.get(&fixture.key(name)).unwrap();
        assert_eq!((file.fingerprint.size, &file.fingerprint.sha256), (bytes.len() as u64, &sha256(&bytes)), "{name}");
    }
    assert_eq!(receipt.code, CodeVersion { version: env!("CARGO_PKG_VERSION").into(), commit: None });
}

#[test]
fn two_completions_write_the_same_receipt() {
    let fixture = processed(PEOPLE, &OUTCOMES);
    fixture.complete().unwrap();
    let stored = serde_json::to_value(fixture.receipt()).unwrap();
    let mut names: Vec<_> = stored.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    let expected =
        ["code", "corrected", "counts", "files", "generation", "input", "itemCount", "jobId", "jobType", "results"];
    assert_eq!(names, expected);
}

#[test]
fn the_fingerprint_of_a_file_covers_all_of_its_blocks() {
    let rows: String = (0..5_000).map(|n| format!("{n},{}\n", "x".repeat(40))).collect();
    let text = format!("name,age\n{rows}");
    let fixture = processed(&text, &[]);
    fixture.cancel();
    fixture.complete().unwrap();
    let receipt = fixture.receipt();
    assert_eq!(receipt.input.unwrap().sha256.unwrap(), sha256(text.as_bytes()));
    let bytes = fixture.ports.files.inner.get(&fixture.key("unprocessed.csv")).unwrap();
    let file = &receipt.files[0];
    assert_eq!((file.name.as_str(), file.rows), ("people-unprocessed.csv", 5_000));
    assert_eq!(file.fingerprint.sha256, sha256(&bytes));
}

#[test]
fn an_input_whose_stream_ends_early_is_read_further_for_its_fingerprint() {
    let fixture = processed(PEOPLE, &OUTCOMES);
    fixture.ports.files.ends_early.store(1, std::sync::atomic::Ordering::Relaxed);
    fixture.complete().unwrap();
    assert_eq!(fixture.receipt().input.unwrap().sha256, Some(sha256(PEOPLE.as_bytes())));
}

#[test]
fn with_the_sha256_of_the_client_the_input_is_not_read_again() {
    let checksum = sha256(b"any bytes that the bucket has checked");
    let bytes: Vec<u8> = (0..32).map(|i| u8::from_str_radix(&checksum[i * 2..i * 2 + 2], 16).unwrap()).collect();
    for (key, expected) in [(SOURCE_KEY, &checksum), ("uploads/default/other", &sha256(PEOPLE.as_bytes()))] {
        let fixture = processed(PEOPLE, &[Outcome::Ok; 4]);
        uploaded(&fixture, Some(STANDARD.encode(&bytes)), key);
        let is_own = key == SOURCE_KEY;
        fixture.ports.files.set(move |operation, key| !(is_own && operation == "open" && key == SOURCE_KEY));
        fixture.complete().unwrap();
        let input = fixture.receipt().input.unwrap();
        assert_eq!(input.sha256.as_ref(), Some(expected), "{key}");
        assert_eq!(input.basis, if is_own { Basis::Upload } else { Basis::Read });
    }
    let fixture = processed(PEOPLE, &[Outcome::Ok; 4]);
    uploaded(&fixture, None, SOURCE_KEY);
    fixture.complete().unwrap();
    assert_eq!(fixture.receipt().input.unwrap().basis, Basis::Read);
}

#[test]
fn an_input_that_cannot_be_read_is_reported_and_does_not_prevent_the_end() {
    let fixture = processed(PEOPLE, &OUTCOMES);
    fixture.lose_source();
    fixture.complete().unwrap();
    let input = fixture.receipt().input.unwrap();
    assert_eq!((input.sha256, input.basis), (None, Basis::Gone));
    let fixture = processed(PEOPLE, &OUTCOMES);
    fixture.ports.files.inner.put(SOURCE_KEY, "another file");
    fixture.complete().unwrap();
    assert_eq!(fixture.receipt().input.unwrap().basis, Basis::Gone);
    let fixture = processed(PEOPLE, &OUTCOMES);
    fixture.complete_until(Timestamp(60_000), || Timestamp(60_000)).unwrap();
    let input = fixture.receipt().input.unwrap();
    assert_eq!((input.sha256, input.basis), (None, Basis::TooLong));
    assert_eq!((fixture.job().status, fixture.receipt().files.len()), (Status::Completed, 2));
}

#[test]
fn a_job_without_a_file_has_a_receipt_without_an_input() {
    let fixture = Fixture::of_options(json!({ "n": -1 }));
    let plans = fixture.split_options();
    CraftedWorker::new(&fixture, &plans[0]).work(&[Outcome::Fail]);
    fixture.roll_up();
    fixture.complete().unwrap();
    let receipt = fixture.receipt();
    assert_eq!((receipt.input, receipt.item_count, receipt.files[0].name.as_str()), (None, 1, "probe-failed.csv"));
}
