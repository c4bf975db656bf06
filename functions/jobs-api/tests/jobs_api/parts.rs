//! Jobs over a part of a job that has ended: `source.jobId` in `POST /api/jobs`.

use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, Job, Part, PartSource, Reopen, Selection, Source, Status};
use longshore_domain::ports::{Definition, JobStore, JobTransitions};
use longshore_domain::records::Format;
use longshore_domain::results::ResultsForm;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{EndedItems, ItemEnd, end_job};
use serde_json::{Value, json};

use crate::limits::id;
use crate::world::{NOW, World};

/// Stores an ended job of a tenant with one failed row, and a job over its failed items has this source.
async fn ended(world: &World, tenant: &'static str, definition: &Definition) -> Job {
    let items = EndedItems {
        header: "id,name\n".into(),
        groups: vec![vec![vec![("1,Ann".into(), ItemEnd::Failed)]]],
        rest: String::new(),
    };
    end_job(&world.store, &world.files, waiting(tenant), definition, &items).await
}

fn waiting(tenant: &'static str) -> Job {
    let mut job = Job::waiting(JobId::generate(), TenantId::from_static(tenant), "import", NOW);
    job.times.expires_at = NOW.plus_days(1).seconds();
    job
}

fn import(source: Value) -> Value {
    json!({"jobType": "import", "source": source, "options": {"dataset": "people", "key": "id"}})
}

fn plain() -> Definition {
    Definition::new(json!({}))
}

async fn refused(world: &World, body: &Value) -> Vec<(String, String)> {
    let reply = world.create(body).await;
    assert_eq!(reply.status, 422, "{body}: {}", reply.body);
    assert!(world.queues.take_creates().is_empty());
    reply.field_errors().into_iter().map(|(pointer, code)| (pointer.to_owned(), code.to_owned())).collect()
}

fn one(pointer: &str, code: &str) -> Vec<(String, String)> {
    vec![(pointer.to_owned(), code.to_owned())]
}

#[tokio::test]
async fn the_failed_items_of_a_job_are_the_source_of_another() {
    let world = World::default();
    let ended = ended(&world, "default", &plain()).await;
    let reply = world.create(&import(json!({"jobId": ended.job_id, "part": "failed"}))).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let job = world.store.job(id(&reply.body)).await.unwrap().unwrap();
    let (job_id, name) = (ended.job_id, "file.csv".to_owned());
    let stored = PartSource { job_id, part: Part::Failed, generation: 0, format: Format::Csv, name };
    assert_eq!(job.source, Some(Source::Job(stored)));
    let estimate = &reply.body["costEstimate"];
    assert_eq!((&estimate["items"], &estimate["assumedItemBytes"]), (&json!(1), &json!(200)), "{estimate}");
    let shown = json!({"kind": "job", "jobId": ended.job_id, "part": "failed"});
    assert_eq!((&reply.body["source"], &reply.body["fileName"]), (&shown, &Value::Null));
    assert_eq!(world.queues.take_creates().len(), 1);
}

#[tokio::test]
async fn a_job_of_another_tenant_is_refused_as_one_that_never_existed() {
    let world = World::default();
    let (foreign, deleted) = (ended(&world, "other", &plain()).await, ended(&world, "default", &plain()).await);
    world.store.delete(deleted.job_id, NOW).await.unwrap();
    for id in [foreign.job_id, deleted.job_id, JobId::generate()] {
        let errors = refused(&world, &import(json!({"jobId": id, "part": "failed"}))).await;
        assert_eq!(errors, one("/source/jobId", "unknown_job"));
    }
}

#[tokio::test]
async fn a_job_that_has_not_ended_has_no_parts() {
    let world = World::default();
    let ended = ended(&world, "default", &plain()).await;
    let reopen = Reopen {
        generation: 0,
        at: NOW,
        deadline_at: Timestamp(i64::MAX),
        selection: Selection::All,
        registration: None,
    };
    world.store.reopen(&ended, &reopen).await.unwrap();
    let errors = refused(&world, &import(json!({"jobId": ended.job_id, "part": "failed"}))).await;
    assert_eq!(errors, one("/source/jobId", "job_not_ended"));
}

#[tokio::test]
async fn a_part_that_a_job_does_not_have_is_refused() {
    let world = World::default();
    let without_output = ended(&world, "default", &plain()).await;
    let with_output = ended(&world, "default", &Definition { results: Some(ResultsForm::default()), ..plain() }).await;
    let without_report = ended(&world, "default", &plain()).await;
    let folder = format!("{}/report/", without_report.job_id);
    world.files.keys().iter().filter(|key| key.contains(&folder)).for_each(|key| world.files.remove(key));
    let of_dataset = ended(&world, "default", &plain()).await;
    let dataset = Source::Dataset(DatasetSource { dataset: "people".into(), updated_since: None });
    world.store.amend(of_dataset.job_id, |job, _| job.source = Some(dataset));
    let of_options = ended(&world, "default", &plain()).await;
    world.store.amend(of_options.job_id, |job, _| job.source = None);
    let expiring = ended(&world, "default", &plain()).await;
    world.store.amend(expiring.job_id, |job, _| job.times.expires_at = NOW.seconds() + 3_600);
    for (job, part, code) in [
        (&without_output, "results", "no_results"),
        (&without_report, "failed", "part_not_available"),
        (&of_dataset, "failed", "part_not_available"),
        (&of_options, "unprocessed", "part_not_available"),
        (&expiring, "failed", "part_not_available"),
    ] {
        let errors = refused(&world, &import(json!({"jobId": job.job_id, "part": part}))).await;
        assert_eq!(errors, one("/source/part", code), "{part}");
    }
    let source = json!({"jobId": with_output.job_id, "part": "results"});
    assert_eq!(world.create(&import(source)).await.status, 202, "no item has succeeded");
    world.queues.take_creates();
}

#[tokio::test]
async fn results_that_are_incomplete_are_no_source() {
    let world = World::default();
    let definition = Definition { results: Some(ResultsForm::default()), ..plain() };
    let rows = vec![("{}".to_owned(), ItemEnd::Ok(Some("{\"number\":1,\"output\":{}}".into())))];
    let items = EndedItems { groups: vec![vec![rows]], ..EndedItems::default() };
    let job = end_job(&world.store, &world.files, waiting("default"), &definition, &items).await;
    let request = import(json!({"jobId": job.job_id, "part": "results"}));
    assert_eq!(world.create(&request).await.status, 202);
    world.queues.take_creates();
    let key = world.files.keys().into_iter().find(|key| key.ends_with("result.json")).unwrap();
    let mut result: Value = serde_json::from_slice(&world.files.get(&key).unwrap()).unwrap();
    result["files"].as_object_mut().unwrap().remove("results");
    world.files.put(&key, result.to_string());
    assert_eq!(refused(&world, &request).await, one("/source/part", "no_results"));
}

#[tokio::test]
async fn a_wrong_source_is_refused_with_every_error() {
    let world = World::default();
    let job = ended(&world, "default", &plain()).await.job_id;
    let failed = json!({"jobId": job, "part": "failed"});
    let with = |member: &str, value: Value| {
        let mut body = import(failed.clone());
        body[member] = value;
        body
    };
    let file = json!("4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b");
    for (body, expected) in [
        (
            import(json!({"jobId": "7", "part": "rest"})),
            vec![("/source/jobId", "invalid_job_id"), ("/source/part", "invalid_part")],
        ),
        (import(json!({"jobId": job})), vec![("/source", "invalid_source")]),
        (import(json!({"jobId": job, "part": "failed", "x": 1})), vec![("/source/x", "unknown_field")]),
        (import(json!({"jobId": job, "part": "failed", "dataset": "people"})), vec![("/source", "invalid_source")]),
        (with("fileGuid", file), vec![("/source", "two_sources"), ("/fileGuid", "unknown_file")]),
        (with("items", json!([{"id": 1}])), vec![("/source", "two_sources")]),
        (with("jobType", json!("ping")), vec![("/source", "job_not_allowed")]),
        (json!({"jobType": "delete-dataset", "source": failed}), vec![("/source", "job_not_allowed")]),
    ] {
        let expected: Vec<_> = expected.into_iter().flat_map(|(pointer, code)| one(pointer, code)).collect();
        assert_eq!(refused(&world, &body).await, expected, "{body}");
    }
}

#[tokio::test]
async fn a_repeated_create_returns_the_first_job_also_after_the_source_was_deleted() {
    let world = World::default();
    let ended = ended(&world, "default", &plain()).await;
    let body = import(json!({"jobId": ended.job_id, "part": "failed"})).to_string();
    let headers = [("idempotency-key", "monday"), ("content-type", "application/json")];
    let first = world.post(body.clone(), &headers).await;
    assert_eq!(first.status, 202, "{}", first.body);
    world.store.delete(ended.job_id, NOW).await.unwrap();
    assert_eq!(world.post(body, &headers).await.body["jobId"], first.body["jobId"]);
}

#[tokio::test]
async fn a_validated_part_is_started_from_the_same_job_unless_it_was_deleted() {
    let world = World::default();
    let ended = ended(&world, "default", &plain()).await;
    let mut request = import(json!({"jobId": ended.job_id, "part": "failed"}));
    request["options"]["mode"] = "validate".into();
    let mut validations = Vec::new();
    for _ in 0..2 {
        let reply = world.create(&request).await;
        let validation = id(&reply.body);
        world.finish(validation, Status::Completed, 1).await;
        validations.push(validation);
    }
    let start = async |id: JobId| world.call("POST", &format!("/api/jobs/{id}/start"), &[]).await;
    let reply = start(validations[0]).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    assert_eq!(reply.body["source"]["jobId"], json!(ended.job_id));
    let started = world.store.job(id(&reply.body)).await.unwrap().unwrap();
    assert!(!started.undo.undoable, "as an import that is created over a part");
    world.store.delete(ended.job_id, NOW).await.unwrap();
    start(validations[1]).await.is_problem(409, "file-gone");
}
