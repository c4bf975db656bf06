//! `POST /api/jobs/{jobId}/undo`: an import is undone by one job at a time, and previewed by any number.

use std::cell::RefCell;

use axum::body::Body;
use axum::http::Request;
use futures::executor::block_on;
use jobs_api::{Api, router};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Part, PartSource, Source, Status, UndoneImport};
use longshore_domain::ports::{Definition, JobStore};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::world::{FILE, InMemory, NOW, Reply, STALL_S, World};

/// Creates an import with these options that ended before the stall time.
async fn ended(world: &World, options: &Value, status: Status) -> JobId {
    ended_with_upload(world, options, status, NOW.plus_days(3)).await
}

/// Creates such an import of a file that expires.
async fn ended_with_upload(world: &World, options: &Value, status: Status, expires_at: Timestamp) -> JobId {
    let file = world.upload(|upload| upload.expires_at = expires_at.seconds(), Some(FILE)).await;
    let mut request = json!({"jobType": "import", "fileGuid": file, "options": {"dataset": "people", "key": "id"}});
    for (name, value) in options.as_object().unwrap() {
        request["options"][name] = value.clone();
    }
    let reply = world.create(&request).await;
    let id = job_id(&reply);
    world.finish(id, status, 0).await;
    let end = NOW.plus_seconds(-STALL_S);
    amend(world, id, |job| (job.split.groups, job.split.offset, job.times.finished_at) = (1, 14, Some(end)));
    world.queues.take_creates();
    id
}

fn amend(world: &World, id: JobId, write: impl FnOnce(&mut Job)) {
    world.store.amend(id, |job, _| write(job)).unwrap();
}

async fn undo(world: &World, id: JobId) -> Reply {
    world.call("POST", &format!("/api/jobs/{id}/undo"), &[]).await
}

fn job_id(reply: &Reply) -> JobId {
    assert_eq!(reply.status, 202, "{}", reply.body);
    JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap()
}

async fn stored(world: &World, id: JobId) -> Job {
    world.store.job(id).await.unwrap().unwrap()
}

#[tokio::test]
async fn an_import_is_undone_over_the_part_of_its_file_that_was_split() {
    for status in [Status::Completed, Status::Failed, Status::Canceled] {
        let world = World::default();
        let import = ended(&world, &json!({}), status).await;
        let document = world.get(&format!("/api/jobs/{import}")).await.body;
        assert_eq!(document["links"]["undo"], json!(format!("/api/jobs/{import}/undo")), "{document}");
        let reply = undo(&world, import).await;
        let id = job_id(&reply);
        assert_eq!(
            (&reply.body["jobType"], &reply.body["undoes"]),
            (&json!("undo"), &json!({"jobId": import, "preview": false}))
        );
        let (job, before) = (stored(&world, id).await, stored(&world, import).await);
        assert_eq!(before.undo.undone_by, Some(id));
        assert_eq!(job.trace_id(), before.trace_id());
        assert_eq!(job.undo.undoes, Some(UndoneImport { job_id: import, groups: 1, preview: false }));
        let (source, whole) = (job.file().unwrap(), before.file().unwrap());
        assert_eq!((&source.key, &source.etag, source.size_bytes), (&whole.key, &whole.etag, 14));
        assert_eq!(job.times.deadline_at, NOW.plus_seconds(3_600), "the deployment's limit comes first");
        let options = world.store.definition(id).await.unwrap().unwrap().options;
        assert_eq!(options, json!({"jobId": import, "preview": false, "import": {"dataset": "people", "key": "id"}}));
        assert_eq!(world.queues.take_creates().iter().map(|sent| sent.job_id).collect::<Vec<_>>(), [id]);
        let document = world.get(&format!("/api/jobs/{import}")).await.body;
        assert_eq!(document["undoneBy"], json!(id));
    }
}

#[tokio::test]
async fn an_active_undo_is_answered_and_an_ended_one_is_followed_by_another() {
    let world = World::default();
    let import = ended(&world, &json!({}), Status::Completed).await;
    let first = job_id(&undo(&world, import).await);
    assert_eq!(job_id(&undo(&world, import).await), first);
    world.finish(first, Status::Canceled, 0).await;
    let second = job_id(&undo(&world, import).await);
    assert_ne!(second, first);
    assert_eq!(stored(&world, import).await.undo.undone_by, Some(second));
    // An undo that was deleted and removed is no longer active.
    world.store.expire(second, longshore_testing::JobItem::Job);
    assert_ne!(job_id(&undo(&world, import).await), second);
}

#[tokio::test]
async fn an_undo_that_was_deleted_is_active_until_it_has_stopped() {
    let world = World::default();
    let import = ended(&world, &json!({}), Status::Completed).await;
    let first = job_id(&undo(&world, import).await);
    amend(&world, first, |job| job.status = Status::Running);
    assert_eq!(world.call("DELETE", &format!("/api/jobs/{first}"), &[]).await.status, 204);
    undo(&world, import).await.is_problem(409, "undo-active");
    world.finish(first, Status::Canceled, 0).await;
    assert_ne!(job_id(&undo(&world, import).await), first);
}

/// Such an import is stored without the mark, and its options have no `undo`.
#[tokio::test]
async fn an_import_of_a_version_without_undo_is_not_undone() {
    let world = World::default();
    let import = ended(&world, &json!({}), Status::Completed).await;
    amend(&world, import, |job| job.undo.undoable = false);
    undo(&world, import).await.is_problem(409, "not-undoable");
    let path = format!("/api/jobs/{import}/undo");
    world.post_to(&path, &json!({"mode": "validate"})).await.is_problem(409, "not-undoable");
}

#[tokio::test]
async fn concurrent_undos_create_a_single_job() {
    let world = World::default();
    let import = ended(&world, &json!({}), Status::Completed).await;
    let replies = futures::future::join_all((0..8).map(|_| undo(&world, import))).await;
    let undos: std::collections::BTreeSet<_> = replies.iter().map(job_id).collect();
    assert_eq!(undos.len(), 1);
}

#[tokio::test]
async fn a_preview_marks_nothing_and_needs_no_stall_time() {
    let world = World::default();
    let import = ended(&world, &json!({}), Status::Completed).await;
    amend(&world, import, |job| job.times.finished_at = Some(NOW));
    let path = format!("/api/jobs/{import}/undo");
    let reply = world.post_to(&path, &json!({"mode": "validate"})).await;
    assert_eq!(reply.body["undoes"], json!({"jobId": import, "preview": true}), "{}", reply.body);
    assert_eq!(stored(&world, import).await.undo.undone_by, None);
    let options = world.store.definition(job_id(&reply)).await.unwrap().unwrap().options;
    assert_eq!(options["preview"], json!(true));
    let early = undo(&world, import).await;
    early.is_problem(409, "undo-too-early");
    assert_eq!(early.header("retry-after"), STALL_S.to_string());
    world.post_to(&path, &json!({"mode": "both"})).await.is_problem(422, "invalid-request");
}

#[tokio::test]
async fn only_ended_imports_that_store_previous_versions_are_undone() {
    let world = World::default();
    for options in [json!({"mode": "delete"}), json!({"mode": "validate"}), json!({"undo": false})] {
        let import = ended(&world, &options, Status::Completed).await;
        undo(&world, import).await.is_problem(409, "not-undoable");
        let document = world.get(&format!("/api/jobs/{import}")).await.body;
        assert_eq!(document["links"]["undo"], Value::Null, "{options}");
    }
    let running = world.job().await;
    undo(&world, running).await.is_problem(409, "not-ended");
    let unread = ended(&world, &json!({}), Status::Failed).await;
    amend(&world, unread, |job| job.split.groups = 0);
    undo(&world, unread).await.is_problem(409, "not-undoable");
    let expiring = ended(&world, &json!({}), Status::Completed).await;
    amend(&world, expiring, |job| job.times.expires_at = NOW.plus_seconds(3_600).seconds());
    undo(&world, expiring).await.is_problem(409, "not-undoable");
    // Without an undo at any time, there is nothing to wait for.
    let of_a_part = ended(&world, &json!({}), Status::Completed).await;
    let part = PartSource {
        job_id: JobId::generate(),
        part: Part::Failed,
        generation: 0,
        format: Format::Csv,
        name: "file.csv".into(),
    };
    amend(&world, of_a_part, |job| {
        (job.source, job.times.finished_at) = (Some(Source::Job(part)), Some(NOW));
    });
    undo(&world, of_a_part).await.is_problem(409, "not-undoable");
    let gone = ended(&world, &json!({}), Status::Completed).await;
    world.files.remove(&stored(&world, gone).await.file().unwrap().key.clone());
    undo(&world, gone).await.is_problem(409, "file-gone");
    undo(&world, world.job_of("another").await).await.is_problem(404, "not-found");
    let ping = world.create(&json!({"jobType": "ping", "options": {}})).await;
    undo(&world, job_id(&ping)).await.is_problem(409, "not-undoable");
    world.create(&json!({"jobType": "undo", "options": {}})).await.is_problem(422, "invalid-request");
}

#[tokio::test]
async fn the_first_expiry_of_what_an_undo_needs_is_its_deadline() {
    let world = World::default();
    let [soon, later] = [5_000, 6_000].map(|seconds| NOW.plus_seconds(seconds));
    for (import_expires, upload_expires) in [(soon, later), (later, soon)] {
        let import = ended_with_upload(&world, &json!({}), Status::Completed, upload_expires).await;
        amend(&world, import, |job| job.times.expires_at = import_expires.seconds());
        let id = job_id(&undo(&world, import).await);
        assert_eq!(stored(&world, id).await.times.deadline_at, Timestamp(soon.plus_seconds(-3_600).seconds() * 1_000));
    }
}

#[tokio::test]
async fn a_marked_import_is_neither_retried_nor_deleted_while_its_undo_is_active() {
    let world = World::default();
    let import = ended(&world, &json!({}), Status::Canceled).await;
    amend(&world, import, |job| job.split.item_count = 9);
    let id = job_id(&undo(&world, import).await);
    world.call("POST", &format!("/api/jobs/{import}/retry"), &[]).await.is_problem(409, "job-undone");
    world.call("DELETE", &format!("/api/jobs/{import}"), &[]).await.is_problem(409, "undo-active");
    world.finish(id, Status::Failed, 1).await;
    amend(&world, id, |job| job.split.item_count = 9);
    world.call("POST", &format!("/api/jobs/{id}/retry"), &[]).await.is_problem(409, "job-undone");
    world.call("POST", &format!("/api/jobs/{import}/retry"), &[]).await.is_problem(409, "job-undone");
    assert_eq!(world.call("DELETE", &format!("/api/jobs/{import}"), &[]).await.status, 204);
}

thread_local! {
    /// An import, and the number of readings of the clock after which it is marked.
    static MARKED: RefCell<Option<(World, JobId, u32)>> = const { RefCell::new(None) };
}

/// The clock of a call. Marks the import at one of its readings, unless it is deleted.
fn marking_clock() -> Timestamp {
    MARKED.with_borrow_mut(|marked| {
        if let Some((world, import, readings)) = marked {
            *readings = readings.saturating_sub(1);
            if *readings == 0 {
                let undo = Job::waiting(JobId::generate(), TenantId::from_static("default"), "undo", NOW);
                let definition = Definition::new(json!({}));
                block_on(world.store.create_job(&undo, &definition, None)).unwrap();
                amend(world, *import, |job| {
                    if !job.is_deleted() {
                        (job.undo.undone_by, job.times.updated_at) = (Some(undo.job_id), NOW.plus_seconds(9));
                    }
                });
                *marked = None;
            }
        }
    });
    NOW
}

/// The undo of another call comes at any moment of a delete, in particular between its read and its write.
#[tokio::test]
async fn a_delete_never_passes_an_undo_that_comes_at_the_same_time() {
    let mut refused = 0;
    for readings in 1..8 {
        let world = World::default();
        let import = ended(&world, &json!({}), Status::Completed).await;
        MARKED.set(Some((world.clone(), import, readings)));
        let api = Api { clock: marking_clock, ..world.api::<InMemory>(world.queues.clone()) };
        let request = Request::delete(format!("/api/jobs/{import}")).body(Body::empty()).unwrap();
        let reply = world.send_unchanged(router(api), world.signed_in(request)).await;
        match stored(&world, import).await.undo.undone_by {
            Some(_) => reply.is_problem(409, "undo-active"),
            None => assert_eq!(reply.status, 204, "{readings}"),
        }
        refused += u32::from(reply.status == 409);
    }
    MARKED.set(None);
    assert!(refused > 1, "{refused}");
}
