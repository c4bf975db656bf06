//! `POST /api/jobs/{jobId}/retry`.

use axum::body::Body;
use axum::http::Request;
use longshore::result::RESULT_NAME;
use longshore_domain::ids::JobId;
use longshore_domain::job::{FailureFilter, Selection, Status};
use longshore_domain::ports::{JobStore, JobTransitions};
use serde_json::{Value, json};

use crate::world::{NOW, Reply, World, folder};

async fn retry(world: &World, id: impl std::fmt::Display) -> Reply {
    world.send(Request::post(format!("/api/jobs/{id}/retry")).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_job_with_remaining_items_is_reopened_and_sent() {
    let world = World::default();
    let id = world.job().await;
    world.queues.take_creates();
    world.finish(id, Status::Failed, 3).await;
    let reply = retry(&world, id).await;
    assert_eq!((reply.status, reply.header("location")), (202, format!("/api/jobs/{id}").as_str()));
    assert!(!reply.header("retry-after").is_empty());
    assert_eq!((&reply.body["status"], &reply.body["attempts"]), (&json!("waiting"), &json!(2)));
    assert_eq!((&reply.body["finishedAt"], &reply.body["error"]), (&json!(null), &json!(null)));
    let sent = world.queues.take_creates();
    assert_eq!(sent.iter().map(|m| (m.job_id, m.generation)).collect::<Vec<_>>(), [(id, 1)]);
}

#[tokio::test]
async fn a_retry_with_a_code_selects_the_items_that_failed_with_it() {
    let world = World::default();
    for (body, field) in [(json!({"code": "bad"}), None), (json!({"code": "bad", "field": "mail"}), Some("mail"))] {
        let id = world.job().await;
        world.finish(id, Status::Failed, 3).await;
        assert_eq!(world.post_to(&format!("/api/jobs/{id}/retry"), &body).await.status, 202);
        let filter = FailureFilter { code: "bad".into(), field: field.map(str::to_owned) };
        assert_eq!(world.store.job(id).await.unwrap().unwrap().retry.selection, Selection::Failure(filter));
    }
}

#[tokio::test]
async fn a_bad_selection_is_refused_with_the_reason() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Failed, 3).await;
    let file = "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b";
    for (body, errors) in [
        (json!({"code": "worse"}), [("/code", "unknown_failure_code")]),
        (json!({"code": ""}), [("/code", "invalid_failure")]),
        (json!({"code": "c".repeat(101)}), [("/code", "invalid_failure")]),
        (json!({"code": "bad", "field": 7}), [("/field", "invalid_failure")]),
        (json!({"field": "mail"}), [("/code", "code_required")]),
        (json!({"code": "", "field": "mail"}), [("/code", "invalid_failure")]),
        (json!({"code": "bad", "fileGuid": file}), [("/code", "code_not_allowed")]),
        (json!({"field": "mail", "fileGuid": file}), [("/field", "code_not_allowed")]),
    ] {
        let reply = world.post_to(&format!("/api/jobs/{id}/retry"), &body).await;
        assert_eq!(reply.field_errors(), errors, "{body}");
    }
    let reply = world.post_to(&format!("/api/jobs/{id}/retry"), &json!({"code": "worse"})).await;
    assert!(reply.body.to_string().contains("the codes are: \\\"bad\\\""), "{}", reply.body);
    assert_eq!(world.store.job(id).await.unwrap().unwrap().generation, 0);
}

#[tokio::test]
async fn any_code_is_accepted_if_the_report_may_not_count_all_failed_items() {
    let world = World::default();
    let cases = [
        json!({"failed": 3, "succeeded": 2, "skipped": 0, "unprocessed": 4}),
        json!({"failed": 4, "succeeded": 2, "skipped": 0, "unprocessed": 0}),
    ];
    for counts in cases {
        let id = world.job().await;
        world.finish(id, Status::Failed, 3).await;
        let key = folder(id).report_key(0, None, RESULT_NAME);
        let mut result: Value = serde_json::from_slice(&world.files.get(&key).unwrap()).unwrap();
        result["counts"] = counts;
        world.files.put(&key, result.to_string());
        assert_eq!(world.post_to(&format!("/api/jobs/{id}/retry"), &json!({"code": "worse"})).await.status, 202);
    }
}

#[tokio::test]
async fn a_second_retry_is_refused_while_the_first_one_runs() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Failed, 3).await;
    assert_eq!(retry(&world, id).await.status, 202);
    let reply = retry(&world, id).await;
    reply.is_problem(409, "not-ended");
    assert_eq!(world.store.job(id).await.unwrap().unwrap().generation, 1);
}

#[tokio::test]
async fn a_job_without_remaining_items_is_not_reopened() {
    let world = World::default();
    let id = world.job().await;
    world.store.begin(id, 0, NOW).await.unwrap();
    let job = world.store.job(id).await.unwrap().unwrap();
    world.store.end_split(&job, 0, &[], NOW).await.unwrap();
    world.finish(id, Status::Completed, 0).await;
    retry(&world, id).await.is_problem(409, "nothing-to-retry");
}

#[tokio::test]
async fn a_body_is_an_object_or_empty() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Failed, 3).await;
    let send = async |kind: &str, body: &str| {
        let request = Request::post(format!("/api/jobs/{id}/retry")).header("content-type", kind);
        world.send(request.body(Body::from(body.to_owned())).unwrap()).await
    };
    send("application/json", "{").await.is_problem(400, "malformed-json");
    send("text/csv", "row,id").await.is_problem(415, "unsupported-media-type");
    send("application/json", &" ".repeat(5_000)).await.is_problem(413, "body-too-large");
    assert_eq!(send("application/json", "[]").await.field_errors(), [("", "invalid_type")]);
    assert_eq!(send("application/json", r#"{"file": 1}"#).await.field_errors(), [("/file", "unknown_field")]);
    assert_eq!(world.store.job(id).await.unwrap().unwrap().generation, 0);
    assert_eq!(send("application/json", r#"{"fileGuid": null}"#).await.status, 202);
}

#[tokio::test]
async fn if_match_protects_a_changed_job_from_a_retry() {
    let world = World::default();
    let id = world.job().await;
    let path = format!("/api/jobs/{id}/retry");
    let old_etag = world.get(&format!("/api/jobs/{id}")).await.header("etag").to_owned();
    // A retry that is not possible anyway is refused for that reason, not for its `If-Match`.
    world.call("POST", &path, &[("if-match", "\"another\"")]).await.is_problem(409, "not-ended");
    world.finish(id, Status::Failed, 3).await;
    world.call("POST", &path, &[("if-match", &old_etag)]).await.is_problem(412, "precondition-failed");
    assert_eq!(world.store.job(id).await.unwrap().unwrap().generation, 0);
    let etag = world.get(&format!("/api/jobs/{id}")).await.header("etag").to_owned();
    assert_eq!(world.call("POST", &path, &[("if-match", &etag)]).await.status, 202);
}

#[tokio::test]
async fn an_unknown_job_is_not_found() {
    let world = World::default();
    assert_eq!(retry(&world, JobId::generate()).await.status, 404);
    assert_eq!(retry(&world, "x").await.status, 404);
}
