//! Example responses about one import of 100,000 rows, 250 of which failed. They are built from the response types, so
//! every example has every property.

use longshore::events::EventDocument;
use longshore::fingerprint::Fingerprint;
use longshore::receipt::{Basis, CodeVersion, FileReceipt, InputReceipt, Receipt};
use longshore::result::{ResultCounts, Timings};
use longshore_domain::cost::Cost;
use longshore_domain::event::{Event, EventType, PendingEvent};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Priority, Stage, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::records::Reading;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::json;

use crate::costs;
use crate::jobs::links::{failures_path, output_path, path, results_path};
use crate::records::records_path;
use crate::{
    AuditDocument, Check, CostDocument, DatasetDocument, DatasetLinks, DatasetsDocument, Difference, EventsDocument,
    FailureDocument, FailuresDocument, FileLink, FileLinks, JobCounts, JobDocument, JobSource, JobsDocument, Links,
    OutputDocument, ReceiptLink, RecordDocument, RecordsDocument, Undoes,
};

fn id() -> JobId {
    JobId::parse("019f2c3e-7b1a-7c44-9d0e-2f6a1b3c4d5e").unwrap_or_else(JobId::generate)
}

/// Example: a job that was just accepted.
pub(crate) fn waiting() -> JobDocument {
    JobDocument {
        status: Status::Waiting,
        stage: Stage::Queued,
        message: "Waiting for job to start...".to_owned(),
        item_count: 0,
        item_count_final: false,
        item_progress: 0,
        counts: JobCounts { succeeded: 0, failed: 0, skipped: 0, pending: 0 },
        percent: 0,
        items_per_second: 0,
        duration_seconds: None,
        cost: Some(CostDocument::new(Cost::default())),
        started_at: None,
        finished_at: None,
        updated_at: "2026-07-01T09:00:00.12Z".to_owned(),
        links: links(None, Some(format!("{}/cancel", path(id())))),
        ..completed()
    }
}

/// Example: a canceled job that has not ended yet.
pub(crate) fn stopping() -> JobDocument {
    JobDocument {
        status: Status::Running,
        stage: Stage::Stopping,
        message: "Job running, 41% complete...".to_owned(),
        item_progress: 41_250,
        counts: JobCounts { succeeded: 41_000, failed: 250, skipped: 0, pending: 58_750 },
        percent: 41,
        eta_seconds: Some(3),
        duration_seconds: Some(2),
        finished_at: None,
        updated_at: "2026-07-01T09:00:02.7Z".to_owned(),
        links: links(None, None),
        ..completed()
    }
}

/// Example: a job that was reopened for its 250 failed items.
pub(crate) fn retried() -> JobDocument {
    JobDocument {
        item_count: 100_000,
        item_count_final: true,
        item_progress: 99_750,
        counts: JobCounts { succeeded: 99_750, failed: 0, skipped: 0, pending: 250 },
        percent: 99,
        attempts: 2,
        ..waiting()
    }
}

/// Example: an import started from a validation job.
pub(crate) fn started() -> JobDocument {
    JobDocument { started_from: JobId::parse("019f2c3a-11d2-7e05-a3b4-5c6d7e8f9a0b"), ..waiting() }
}

/// Example: the preview of an undo.
pub(crate) fn undoing() -> JobDocument {
    let undoes = JobId::parse("019f2c3a-11d2-7e05-a3b4-5c6d7e8f9a0b");
    let undoes = undoes.map(|job_id| Undoes { job_id, preview: true });
    JobDocument { job_type: "undo".to_owned(), undoes, cost_estimate: None, ..waiting() }
}

/// Example: a completed job.
pub(crate) fn completed() -> JobDocument {
    JobDocument {
        job_id: id(),
        trace_id: id().into(),
        job_type: "import".to_owned(),
        file_name: Some("people.csv".to_owned()),
        source: Some(JobSource::File {
            name: "people.csv".to_owned(),
            size_bytes: 5_242_880,
            prepared: None,
            reading: Some(Reading::default()),
        }),
        priority: Priority::Normal,
        metadata: [("team", "crm"), ("run", "2026-07-01")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        callback: None,
        start_at: None,
        status: Status::Completed,
        stage: Stage::Done,
        preparation: None,
        message: "Job complete".to_owned(),
        item_count: 100_000,
        item_count_final: true,
        item_progress: 100_000,
        counts: JobCounts { succeeded: 99_750, failed: 250, skipped: 0, pending: 0 },
        percent: 100,
        items_per_second: 18_200,
        eta_seconds: None,
        duration_seconds: Some(5),
        attempts: 1,
        started_from: None,
        started_as: None,
        undoes: None,
        waiting_for: None,
        undone_by: None,
        cost: Some(costs::examples::job()),
        cost_estimate: Some(costs::examples::estimate()),
        max_cost: None,
        error: None,
        issues: Vec::new(),
        created_at: "2026-07-01T09:00:00.12Z".to_owned(),
        started_at: Some("2026-07-01T09:00:00.4Z".to_owned()),
        finished_at: Some("2026-07-01T09:00:05.9Z".to_owned()),
        updated_at: "2026-07-01T09:00:05.9Z".to_owned(),
        timeout_seconds: 86_400,
        deadline_at: "2026-07-02T09:00:00.12Z".to_owned(),
        expires_at: "2026-07-15T09:00:00Z".to_owned(),
        links: links(Some(id()), None),
    }
}

fn links(ended: Option<JobId>, cancel: Option<String>) -> Links {
    Links {
        itself: path(id()),
        output: ended.map(output_path),
        results: ended.map(results_path),
        failures: ended.map(failures_path),
        cancel,
        start: None,
        undo: None,
    }
}

/// Example: a page of one job.
pub(crate) fn jobs() -> JobsDocument {
    let next_cursor = Some("MTc4Mjg5NjQwMDEyMC4wMTlmMmMzZS03YjFhLTdjNDQtOWQwZS0yZjZhMWIzYzRkNWU".to_owned());
    JobsDocument { jobs: vec![completed()], next_cursor }
}

/// Example: the result of a job.
pub(crate) fn output() -> OutputDocument {
    let key = format!("jobs/acme/{}/report/0/failed.csv", id());
    let url = |key: &str| {
        format!("https://bucket.s3.eu-central-1.amazonaws.com/{key}?X-Amz-Expires=900&X-Amz-Signature=0f1e2d3c")
    };
    let expires_at = "2026-07-01T09:20:00Z".to_owned();
    let failed = Some(FileLink {
        name: "failed.csv".into(),
        href: format!("{}/failed.csv", output_path(id())),
        url: url(&key),
        rows: 250,
        expires_at: expires_at.clone(),
    });
    let receipt_url = url(&key.replace("failed.csv", "receipt.json"));
    OutputDocument {
        job_id: id(),
        job_type: "import".to_owned(),
        status: Status::Completed,
        item_count: 100_000,
        counts: ResultCounts { succeeded: 99_750, failed: 250, ..ResultCounts::default() },
        failures_by_code: [("schema_format".to_owned(), 240), ("schema_required".to_owned(), 10)].into(),
        timings: Timings {
            created_at: "2026-07-01T09:00:00.12Z".to_owned(),
            started_at: Some("2026-07-01T09:00:00.4Z".to_owned()),
            finished_at: Some("2026-07-01T09:00:05.9Z".to_owned()),
            queued_ms: 280,
            run_ms: 5_500,
        },
        error: None,
        issues: Vec::new(),
        files: FileLinks { failed, ..FileLinks::default() },
        receipt: Some(ReceiptLink { url: receipt_url, expires_at, document: receipt() }),
    }
}

fn receipt() -> Receipt {
    let fingerprint = Fingerprint {
        size: 21_344,
        sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
    };
    let sha256 = Some("2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae".to_owned());
    Receipt {
        job_id: id(),
        job_type: "import".to_owned(),
        generation: 0,
        item_count: 100_000,
        counts: ResultCounts { succeeded: 99_750, failed: 250, ..ResultCounts::default() },
        input: Some(InputReceipt { name: "people.csv".to_owned(), size: 5_242_880, sha256, basis: Basis::Upload }),
        part: None,
        corrected: None,
        files: vec![FileReceipt { name: "people-failed.csv".to_owned(), rows: 250, fingerprint }],
        results: None,
        code: CodeVersion {
            version: "0.3.0".to_owned(),
            commit: Some("4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned()),
        },
    }
}

/// Example: an audit with a missing row.
pub(crate) fn audit() -> AuditDocument {
    let check =
        |name: &str, expected, found| Check { name: name.to_owned(), expected, found, equal: expected == found };
    let difference = Difference {
        check: "rows".to_owned(),
        place: "failed.csv".to_owned(),
        expected: "250".to_owned(),
        found: "249".to_owned(),
    };
    AuditDocument {
        job_id: id(),
        status: Status::Completed,
        equal: Some(false),
        checks: vec![check("succeeded", 99_750, 99_750), check("failed", 250, 250), check("rows", 250, 249)],
        differences: vec![difference],
        unchecked: Vec::new(),
    }
}

/// Example: a page of one failed item.
pub(crate) fn failures() -> FailuresDocument {
    let failure = FailureDocument {
        number: 4_711,
        sheet_row: None,
        code: "schema_pattern".to_owned(),
        field: Some("email".to_owned()),
        message: "email is \"nowhere\"; it must match @".to_owned(),
        row: Some(json!({ "id": "4711", "email": "nowhere" })),
    };
    FailuresDocument { failures: vec![failure], next_cursor: None }
}

/// Example: a page of one output.
pub(crate) fn results() -> serde_json::Value {
    let row = json!({ "number": 1, "output": { "email": "ann@example.com", "score": 0.93 } });
    json!({ "results": [row], "complete": true, "nextCursor": null })
}

/// Example: a page of one dataset.
pub(crate) fn datasets() -> DatasetsDocument {
    let links = DatasetLinks { records: records_path("people") };
    let dataset = DatasetDocument { name: "people".to_owned(), created_at: "2026-07-01T09:00:01.2Z".to_owned(), links };
    DatasetsDocument { datasets: vec![dataset], next_cursor: None }
}

/// Example: a page of one event.
pub(crate) fn events() -> EventsDocument {
    let counts = Some(Counts { succeeded: 981, failed: 19, skipped: 0 });
    let job = Job::waiting(id(), TenantId::from_static("default"), "import", Timestamp(0));
    let at = Timestamp(1_782_896_405_000);
    let change = PendingEvent { generation: 0, event_type: EventType::Completed, at, counts };
    let events = vec![EventDocument::new(&Event::new(&job, change))];
    EventsDocument { events, next_cursor: Some("MTc4Mjg5NjQwNTAwMC4yLmE".to_owned()) }
}

/// Example: a page of one record.
pub(crate) fn records() -> RecordsDocument {
    let record = json!({ "id": 1, "email": "ann@example.com" }).as_object().cloned().unwrap_or_default();
    let record = RecordDocument {
        key: "1".to_owned(),
        record,
        job_id: Some(id()),
        row: Some(1),
        updated_at: "2026-07-01T09:00:01.2Z".to_owned(),
    };
    RecordsDocument { records: vec![record], next_cursor: None }
}
