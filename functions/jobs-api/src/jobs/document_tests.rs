//! Documents of jobs in every state: the counts add up, regardless of the order of the reads.

use longshore_domain::cost::{Cost, CostEstimate, NanoDollars, cost_so_far};
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::{CompletionState, Job, JobTimes, SourceFile, SplitState, Stage, Status, Validation};
use longshore_domain::outcome::Counts;
use longshore_domain::records::{Format, Reading};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::json;

use super::JobDocument;
use crate::costs::CostDocument;
use crate::etag;

pub(crate) fn running() -> Job {
    let source = SourceFile {
        key: "uploads/default/1".into(),
        size_bytes: 1_000,
        etag: "e".into(),
        format: Format::Csv,
        name: "people.csv".into(),
        reading: Some(Reading::default()),
        original: None,
    };
    Job {
        status: Status::Running,
        stage: Stage::Splitting,
        source: Some(source.into()),
        split: SplitState { offset: 1_000, item_count: 100, groups: 2, sent_groups: 2, ..SplitState::default() },
        times: JobTimes {
            started_at: Some(Timestamp(1_700_000_001_000)),
            updated_at: Timestamp(1_700_000_001_000),
            timeout_s: 100,
            deadline_at: Timestamp(1_700_000_100_000),
            expires_at: 1_800_000_000,
            ..JobTimes::accepted(Timestamp(1_700_000_000_000))
        },
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "import", Timestamp(1_700_000_000_000))
    }
}

pub(crate) fn document(job: &Job) -> JobDocument {
    JobDocument::new(job, &groups())
}

fn groups() -> Vec<Group> {
    let at = Timestamp(1_700_000_011_000);
    let group = |number, items, counts| Group { counts, ..Group::new(number, items, items * 10, at) };
    vec![
        group(0, 40, Counts { succeeded: 30, failed: 6, skipped: 4 }),
        group(1, 60, Counts { succeeded: 10, failed: 0, skipped: 0 }),
    ]
}

#[test]
fn the_document_has_every_property_of_the_contract() {
    let cost = Cost { compute: NanoDollars(1_000_000), database: NanoDollars(62_500_000), ..Cost::default() };
    let estimate = CostEstimate { cost, items: 5, assumed_item_bytes: Some(200), assumed_write_micros: None };
    let job = Job { metadata: [("team".into(), "crm".into())].into(), cost_estimate: Some(estimate), ..running() };
    let path = format!("/api/jobs/{}", job.job_id);
    let expected_estimate = json!({
        "total": 0.063_5, "items": 5, "assumedItemBytes": 200,
        "parts": {"compute": 0.001, "requests": 0.0, "database": 0.062_5, "storage": 0.0, "queue": 0.0},
    });
    let links = json!({
        "self": path, "output": null, "results": null, "failures": null, "cancel": format!("{path}/cancel"), "start": null,
        "undo": null,
    });
    let expected = json!({
        "jobId": job.job_id, "traceId": job.job_id.0.simple().to_string(), "jobType": "import", "fileName": "people.csv",
        "source": {
            "kind": "file", "name": "people.csv", "sizeBytes": 1_000,
            "reading": {"encoding": "UTF-8", "delimiter": ",", "quote": "\"", "headerRow": 1},
        },
        "priority": "normal", "status": "running", "stage": "splitting",
        "metadata": {"team": "crm"},
        "message": "Job running, 50% complete...",
        "itemCount": 100, "itemCountFinal": false, "itemProgress": 50,
        "counts": {"succeeded": 40, "failed": 6, "skipped": 4, "pending": 50},
        "percent": 50, "itemsPerSecond": 5, "etaSeconds": 10, "durationSeconds": 10,
        "attempts": 1, "startedFrom": null, "startedAs": null, "undoes": null, "undoneBy": null, "error": null, "issues": [],
        "cost": cost_so_far(&job, &groups()).map(CostDocument::new),
        "costEstimate": expected_estimate,
        "createdAt": "2023-11-14T22:13:20Z", "startedAt": "2023-11-14T22:13:21Z", "finishedAt": null,
        "updatedAt": "2023-11-14T22:13:31Z", "timeoutSeconds": 100, "deadlineAt": "2023-11-14T22:15:00Z",
        "expiresAt": "2027-01-15T08:00:00Z",
        "links": links,
    });
    assert_eq!(serde_json::to_value(document(&job)).unwrap(), expected);
}

#[test]
fn the_counts_add_up_for_any_order_of_reads() {
    let totals = Some(Counts { succeeded: 90, failed: 5, skipped: 5 });
    let ended = |status, split_ended| Job {
        status,
        stage: Stage::Done,
        completion: CompletionState { totals, ..running().completion.clone() },
        split: SplitState { ended: split_ended, ..running().split.clone() },
        ..running()
    };
    for (job, groups) in [
        (running(), groups()),
        (Job { split: SplitState { item_count: 500, ..running().split.clone() }, ..running() }, groups()),
        (
            Job { stage: Stage::Processing, split: SplitState { ended: true, ..running().split.clone() }, ..running() },
            groups(),
        ),
        (ended(Status::Completed, true), Vec::new()),
        (ended(Status::Canceled, false), Vec::new()),
        (ended(Status::Failed, false), groups()[..1].to_vec()),
    ] {
        let document = JobDocument::new(&job, &groups);
        let counts = document.counts;
        assert_eq!(counts.succeeded + counts.failed + counts.skipped, document.item_progress);
        assert!(document.item_progress <= document.item_count, "{document:?}");
        assert_eq!(counts.pending, document.item_count - document.item_progress);
    }
}

#[test]
fn the_duration_is_from_the_start_of_a_job_to_its_end() {
    let ended = Job {
        times: JobTimes { finished_at: Some(Timestamp(1_700_000_003_999)), ..running().times.clone() },
        ..running()
    };
    let duration = |job: &Job| JobDocument::new(job, &[]).duration_seconds;
    let updated =
        Job { times: JobTimes { updated_at: Timestamp(1_700_000_011_000), ..running().times.clone() }, ..running() };
    assert_eq!((duration(&updated), duration(&ended)), (Some(10), Some(2)));
    assert_eq!(duration(&Job { times: JobTimes { started_at: None, ..running().times.clone() }, ..running() }), None);
}

#[test]
fn a_finished_job_links_to_its_output_and_its_failures() {
    let job = Job { status: Status::Failed, stage: Stage::Done, ..running() };
    let links = document(&job).links;
    assert_eq!(links.output, Some(format!("/api/jobs/{}/output", job.job_id)));
    assert_eq!(links.failures, Some(format!("/api/jobs/{}/failures", job.job_id)));
}

#[test]
fn a_job_can_be_canceled_until_it_stops() {
    let cancel = |job: &Job| document(job).links.cancel;
    assert!(cancel(&running()).is_some());
    assert_eq!(cancel(&Job { stage: Stage::Stopping, ..running() }), None);
    assert_eq!(cancel(&Job { status: Status::Completed, stage: Stage::Done, ..running() }), None);
}

#[test]
fn a_completed_validation_job_can_be_started_once() {
    let start = |job: &Job| document(job).links.start;
    let checked = Job {
        status: Status::Completed,
        stage: Stage::Done,
        validation: Validation { checks_only: true, ..running().validation.clone() },
        ..running()
    };
    assert_eq!(start(&checked), Some(format!("/api/jobs/{}/start", checked.job_id)));
    for job in [
        Job { validation: Validation { checks_only: false, ..checked.validation.clone() }, ..checked.clone() },
        Job { status: Status::Failed, ..checked.clone() },
        Job { status: Status::Canceled, ..checked.clone() },
        Job { status: Status::Running, stage: Stage::Processing, ..checked.clone() },
        Job { validation: Validation { started_as: Some(JobId::generate()), ..checked.validation.clone() }, ..checked },
    ] {
        assert_eq!(start(&job), None, "{job:?}");
    }
}

#[test]
fn the_tag_depends_only_on_the_document() {
    let job = running();
    assert_eq!(etag::for_document(&document(&job)), etag::for_document(&document(&job)));
    assert_ne!(etag::for_document(&document(&job)), etag::for_document(&JobDocument::new(&job, &groups()[..1])));
    assert!(etag::for_document(&document(&job)).starts_with('"'), "a strong tag");
}
