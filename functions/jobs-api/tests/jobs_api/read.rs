//! Reading jobs, results and records; unknown calls.

use crate::world::{NOW, Reply, World, folder};
use axum::body::Body;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use longshore::result::RESULT_NAME;
use longshore_domain::dataset::Dataset;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, JobError, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{JobStore, JobTransitions};
use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer};
use serde_json::{Value, json};

async fn get_if_none_match(world: &World, path: &str, tag: &str) -> Reply {
    world.send(Request::get(path).header("if-none-match", tag).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_job_is_read_until_it_is_finished() {
    let world = World::default();
    let id = world.job().await;
    let reply = world.get(&format!("/api/jobs/{id}")).await;
    assert_eq!((reply.status, &reply.body["status"]), (200, &json!("waiting")));
    assert_eq!((reply.header("retry-after"), reply.header("cache-control")), ("1", "private, no-cache"));
    world.finish(id, Status::Completed, 0).await;
    let reply = world.get(&format!("/api/jobs/{id}")).await;
    assert_eq!((reply.status, &reply.body["status"]), (200, &json!("completed")));
    assert_eq!((reply.body["percent"].as_u64(), &reply.body["message"]), (Some(100), &json!("Job complete")));
    assert_eq!(reply.header("retry-after"), "");
    assert_eq!(reply.body["links"]["output"], format!("/api/jobs/{id}/output"));
}

#[tokio::test]
async fn an_unchanged_job_returns_304() {
    let world = World::default();
    let path = format!("/api/jobs/{}", world.job().await);
    let tag = world.get(&path).await.header("etag").to_owned();
    let reply = get_if_none_match(&world, &path, &tag).await;
    assert_eq!((reply.status, reply.header("etag"), reply.header("retry-after")), (304, tag.as_str(), "1"));
    assert_eq!(reply.body, Value::Null);
    world.store.begin(JobId::parse(&path[10..]).unwrap(), 0, NOW).await.unwrap();
    assert_eq!(get_if_none_match(&world, &path, &tag).await.status, 200);
}

#[tokio::test]
async fn a_completed_job_redirects_to_its_output_if_asked() {
    let world = World::default();
    let id = world.job().await;
    let path = format!("/api/jobs/{id}?redirect=output");
    assert_eq!(world.get(&path).await.status, 200);
    world.finish(id, Status::Completed, 0).await;
    let reply = world.get(&path).await;
    assert_eq!((reply.status, reply.header("location")), (303, format!("/api/jobs/{id}/output").as_str()));
    assert_eq!(world.get(&format!("/api/jobs/{id}?redirect=else")).await.status, 200);
}

#[tokio::test]
async fn an_absent_job_is_404() {
    let world = World::default();
    let absent = JobId::generate();
    for path in [
        format!("/api/jobs/{absent}"),
        format!("/api/jobs/{absent}/output"),
        "/api/jobs/x".into(),
        "/api/jobs/%ff".into(),
    ] {
        world.get(&path).await.is_problem(404, "not-found");
    }
}

#[tokio::test]
async fn the_output_is_absent_before_the_end() {
    let world = World::default();
    let reply = world.get(&format!("/api/jobs/{}/output", world.job().await)).await;
    reply.is_problem(404, "not-finished");
    assert!(reply.body["detail"].as_str().unwrap().contains("waiting"));
}

#[tokio::test]
async fn the_output_links_to_the_files_that_have_rows() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Failed, 3).await;
    let reply = world.get(&format!("/api/jobs/{id}/output")).await;
    assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"));
    let expected = json!({
        "jobId": id, "jobType": "import", "status": "failed",
        "itemCount": 5, "counts": {"succeeded": 2, "failed": 3, "skipped": 0, "unprocessed": 0},
        "failuresByCode": {"bad": 3},
        "timings": {"createdAt": "2023-11-14T22:13:20Z", "startedAt": "2023-11-14T22:13:20Z",
            "finishedAt": "2023-11-14T22:13:22Z", "queuedMs": 0, "runMs": 2000},
        "error": null, "issues": [],
        "files": {
            "failed": {
                "name": "failed.csv", "href": format!("/api/jobs/{id}/output/failed.csv"),
                "url": format!("memory:jobs/default/{id}/report/0/failed.csv?as=people-failed.csv&for=900"),
                "rows": 3, "expiresAt": "2023-11-14T22:28:20Z",
            },
            "skipped": null, "unprocessed": null, "results": null, "resultsIndex": null,
        },
        "receipt": null,
    });
    assert_eq!(reply.body, expected);
}

#[tokio::test]
async fn an_output_without_a_report_uses_the_ledger_and_a_damaged_one_is_an_internal_error() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Completed, 0).await;
    world.files.put(&folder(id).report_key(0, None, RESULT_NAME), "{\"secret\": 1}");
    let reply = world.get(&format!("/api/jobs/{id}/output")).await;
    reply.is_problem(500, "internal");
    assert!(!reply.body.to_string().contains("secret") && !reply.body.to_string().contains("missing"));
    world.files.remove(&folder(id).report_key(0, None, RESULT_NAME));
    let reply = world.get(&format!("/api/jobs/{id}/output")).await;
    assert_eq!((reply.status, &reply.body["status"]), (200, &json!("completed")));
    assert_eq!(reply.body["issues"][0]["code"], "no_report");
    let files = reply.body["files"].as_object().unwrap();
    assert!(files.len() == 5 && files.values().all(Value::is_null), "{files:?}");
}

#[tokio::test]
async fn the_ledgers_counts_cover_the_items_that_were_read() {
    let world = World::default();
    let id = world.job().await;
    world.store.begin(id, 0, NOW).await.unwrap();
    let chunk = ChunkPlan { first: 1, items: 9, start: 0, end: 40, oversize: false, keys: None };
    let job = world.store.job(id).await.unwrap().unwrap();
    world
        .store
        .commit_group(&job, &GroupPlan::from_file(0, Manifest { group: 0, chunks: vec![chunk] }, 0..40), NOW)
        .await
        .unwrap();
    let (totals, error) =
        (Counts { succeeded: 3, failed: 2, skipped: 1 }, Some(JobError::new("completion_failed", "x")));
    let end = Finish { error, ..Finish::new(Status::Failed, totals, NOW) };
    world.store.finish(id, &end).await.unwrap();
    let output = world.get(&format!("/api/jobs/{id}/output")).await.body;
    assert_eq!(output["counts"], json!({"succeeded": 3, "failed": 2, "skipped": 1, "unprocessed": 3}));
    assert_eq!((output["itemCount"].as_u64(), &output["error"]["code"]), (Some(9), &json!("completion_failed")));
}

#[tokio::test]
async fn records_are_read_page_by_page() {
    let world = World::default();
    let dataset = Dataset { tenant: TenantId::from_static("default"), name: "people".into() };
    let writer = Writer { job: JobId::generate(), row: 7 };
    let record =
        |key: &str| NewRecord { key: key.into(), data: json!({"id": key}).as_object().cloned().unwrap(), writer };
    world.records.put(&dataset, Rule::Upsert, ["a", "b", "c"].map(record).to_vec()).await;
    let first = world.get("/api/datasets/people/records?limit=2").await;
    assert_eq!((first.status, first.body["records"].as_array().unwrap().len()), (200, 2));
    let entry = &first.body["records"][0];
    assert_eq!(
        (&entry["jobId"], &entry["row"], &entry["record"]["id"]),
        (&json!(writer.job), &json!(7), &entry["key"])
    );
    let link = first.next_path().unwrap();
    assert!(link.ends_with(first.body["nextCursor"].as_str().unwrap()));
    let second = world.get(link).await;
    assert_eq!((second.body["records"].as_array().unwrap().len(), &second.body["nextCursor"]), (1, &Value::Null));
    assert_eq!(second.header("link"), "");
    assert_eq!(world.get("/api/datasets/nobody/records").await.body, json!({"records": [], "nextCursor": null}));
}

#[tokio::test]
async fn datasets_are_read_page_by_page() {
    let world = World::default();
    assert_eq!(world.get("/api/datasets").await.body, json!({"datasets": [], "nextCursor": null}));
    let writer = Writer { job: JobId::generate(), row: 1 };
    for (tenant, name) in [("default", "b"), ("default", "a"), ("other", "c"), ("default", "a")] {
        let dataset = Dataset { tenant: TenantId::from_static(tenant), name: name.into() };
        let record = NewRecord { key: "k".into(), data: serde_json::Map::new(), writer };
        world.records.put(&dataset, Rule::Upsert, vec![record]).await;
    }
    let first = world.get("/api/datasets?limit=1").await;
    let entry = &first.body["datasets"][0];
    assert_eq!((&entry["name"], &entry["links"]["records"]), (&json!("a"), &json!("/api/datasets/a/records")));
    assert!(entry["createdAt"].as_str().unwrap().ends_with('Z'));
    let link = first.next_path().unwrap();
    let second = world.get(link).await;
    assert_eq!((&second.body["datasets"][0]["name"], &second.body["nextCursor"]), (&json!("b"), &Value::Null));
    assert_eq!((second.body["datasets"].as_array().unwrap().len(), second.header("link")), (1, ""));
}

#[tokio::test]
async fn an_invalid_page_is_refused() {
    let world = World::default();
    // Shard and key in a page's format, but the key is longer than any in the table.
    let forged = [&[1], "k".repeat(1025).as_bytes()].concat();
    let forged = format!("/api/datasets/people/records?cursor={}", URL_SAFE_NO_PAD.encode(forged));
    for (path, faults) in [
        ("/api/datasets/people/records?limit=0", vec![("/limit", "invalid_limit")]),
        ("/api/datasets/people/records?limit=1001", vec![("/limit", "invalid_limit")]),
        ("/api/datasets/people/records?limit=x", vec![("/limit", "invalid_limit")]),
        ("/api/datasets/people/records?cursor=x", vec![("/cursor", "invalid_cursor")]),
        (forged.as_str(), vec![("/cursor", "invalid_cursor")]),
        ("/api/datasets?limit=1001&cursor=x", vec![("/limit", "invalid_limit"), ("/cursor", "invalid_cursor")]),
        ("/api/datasets?cursor=YSBi", vec![("/cursor", "invalid_cursor")]),
        ("/api/datasets/a%20b/records?limit=-1", vec![("/dataset", "invalid_dataset"), ("/limit", "invalid_limit")]),
    ] {
        let reply = world.get(path).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), faults, "{path}");
    }
}

#[tokio::test]
async fn unsupported_calls_return_problems() {
    let world = World::default();
    let id = JobId::generate();
    for (method, path, allow) in [
        ("PUT", "/api/jobs".to_owned(), "POST,GET,HEAD"),
        ("PUT", format!("/api/jobs/{id}"), "GET,HEAD,DELETE"),
        ("GET", format!("/api/jobs/{id}/cancel"), "POST"),
        ("POST", format!("/api/jobs/{id}/failures"), "GET,HEAD"),
        ("DELETE", format!("/api/uploads/{id}"), "GET"),
        ("GET", format!("/api/uploads/{id}/url"), "POST"),
        ("POST", format!("/api/jobs/{id}/output"), "GET,HEAD"),
        ("GET", "/api/uploads".to_owned(), "POST"),
        ("PUT", "/api/datasets/people/records".to_owned(), "GET,HEAD,DELETE"),
    ] {
        let reply = world.send(Request::builder().method(method).uri(&path).body(Body::empty()).unwrap()).await;
        reply.is_problem(405, "method-not-allowed");
        assert_eq!(reply.header("allow"), allow, "{method} {path}");
    }
    for path in [
        "/api/datasets//records",
        "/api/jobs//failures",
        "/",
        "/api",
        "/api/jobs/",
        "/api/nothing",
        "/$default/api/jobs",
    ] {
        world.get(path).await.is_problem(404, "not-found");
    }
}
