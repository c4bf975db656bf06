//! Failed items, in pages and as a file.

use crate::world::{NOW, Reply, World, folder};
use axum::body::Body;
use axum::http::Request;
use longshore::http::paging;
use longshore::result::RESULT_NAME;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Original, Source, SourceFile, Status};
use longshore_domain::ports::{Definition, JobStore};
use longshore_domain::records::Form;
use longshore_domain::tenant::TenantId;
use serde_json::{Value, json};

const FILE: &str = "row,id,'=note,code,field,message\r\n\
                    2,1,\"two\r\nlines, \"\"quoted\"\"\",schema_type,id,\"id is \"\"x\"\"\"\r\n\
                    5,'=1+1,''=1,duplicate_key,,taken\r\n\
                    9,-5,'+49 30,schema_pattern,'=note,'@all\r\n";

/// Creates a job with failed items and this file of failures.
async fn failed(world: &World, file: &str, rows: u64) -> JobId {
    let id = world.job().await;
    world.finish(id, Status::Completed, rows).await;
    world.files.put(&folder(id).report_key(0, None, "failed.csv"), file);
    id
}

async fn accepting(world: &World, path: &str, accept: &str) -> Reply {
    world.send(Request::get(path).header("accept", accept).body(Body::empty()).unwrap()).await
}

fn expected() -> Value {
    json!([
        {"number": 2, "sheetRow": null, "code": "schema_type", "field": "id", "message": "id is \"x\"",
            "row": {"id": "1", "=note": "two\r\nlines, \"quoted\""}},
        {"number": 5, "sheetRow": null, "code": "duplicate_key", "field": null, "message": "taken",
            "row": {"id": "=1+1", "=note": "'=1"}},
        {"number": 9, "sheetRow": null, "code": "schema_pattern", "field": "=note", "message": "@all",
            "row": {"id": "-5", "=note": "+49 30"}},
    ])
}

#[tokio::test]
async fn failed_items_are_returned_with_their_unchanged_rows() {
    let world = World::default();
    let id = failed(&world, FILE, 3).await;
    let reply = world.get(&format!("/api/jobs/{id}/failures")).await;
    assert_eq!((reply.status, reply.header("cache-control"), reply.header("link")), (200, "no-store", ""));
    assert_eq!(reply.header("vary"), "accept");
    assert_eq!(reply.body, json!({"failures": expected(), "nextCursor": null}));
}

#[tokio::test]
async fn a_failed_row_of_a_sheet_has_its_number_in_it() {
    let world = World::default();
    let id = failed(&world, "row,sheet_row,id,code,field,message\r\n2,7,x,c,id,m\r\n3,,y,c,,m\r\n", 2).await;
    world.store.amend(id, |job, _| {
        let Some(Source::File(file)) = &mut job.source else { panic!("the job has no file") };
        file.original = Some(Box::new(sheet_of(file)));
    });
    let reply = world.get(&format!("/api/jobs/{id}/failures")).await.body;
    let failures = json!([
        {"number": 2, "sheetRow": 7, "code": "c", "field": "id", "message": "m", "row": {"id": "x"}},
        {"number": 3, "sheetRow": null, "code": "c", "field": null, "message": "m", "row": {"id": "y"}},
    ]);
    assert_eq!(reply["failures"], failures);
}

/// A workbook from which a file was prepared.
fn sheet_of(file: &SourceFile) -> Original {
    let SourceFile { key, size_bytes, etag, .. } = file.clone();
    let (sheet, first_row) = (Some("People".into()), Some(1));
    Original {
        key,
        size_bytes,
        etag,
        form: Form::Workbook,
        file: None,
        sheet,
        first_row,
        has_row_gaps: true,
        hidden_rows: 0,
        merged_ranges: 0,
    }
}

#[tokio::test]
async fn pages_of_any_size_contain_each_failure_once() {
    let world = World::default();
    let id = failed(&world, FILE, 3).await;
    for limit in 1..=3 {
        let (mut failures, mut path) = (Vec::new(), format!("/api/jobs/{id}/failures?limit={limit}"));
        loop {
            let reply = world.get(&path).await;
            assert_eq!(reply.status, 200, "{}", reply.body);
            failures.extend(reply.body["failures"].as_array().unwrap().clone());
            let link = reply.next_path();
            assert_eq!(link.is_some(), reply.body["nextCursor"].is_string());
            let Some(link) = link else { break };
            path = link.to_owned();
        }
        assert_eq!(json!(failures), expected(), "pages of {limit}");
    }
}

#[tokio::test]
async fn a_page_stays_within_the_response_size() {
    let world = World::default();
    let long = "x".repeat(900_000);
    let row = |n| format!("{n},{long},c,,m\r\n");
    let huge = format!("6,{},c,f,m\r\n", "x".repeat(3 << 20));
    let file = format!("row,id,code,field,message\r\n{}{}{}{huge}", row(1), row(2), row(3));
    let id = failed(&world, &file, 4).await;
    let first = world.get(&format!("/api/jobs/{id}/failures")).await.body;
    assert_eq!(first["failures"].as_array().unwrap().len(), 2);
    let next = first["nextCursor"].as_str().unwrap();
    let second = world.get(&format!("/api/jobs/{id}/failures?cursor={next}")).await.body;
    let numbers: Vec<_> = second["failures"].as_array().unwrap().iter().map(|failure| &failure["number"]).collect();
    assert_eq!(numbers, [3, 6]);
    assert_eq!(second["failures"][0]["row"]["id"].as_str().map(str::len), Some(900_000));
    let too_large = json!({"number": 6, "sheetRow": null, "code": "c", "field": "f", "message": "m", "row": null});
    assert_eq!((&second["failures"][1], &second["nextCursor"]), (&too_large, &Value::Null));
}

#[tokio::test]
async fn items_without_columns_are_returned_as_json() {
    let world = World::default();
    let reply = world.create(&json!({"jobType": "ping", "options": {}})).await;
    let id = JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap();
    world.finish(id, Status::Completed, 2).await;
    let file =
        "row,item,code,field,message\r\n1,\"{\"\"a\"\":[1,null]}\",c,,m\r\n2,\"{\"\"a\"\":\",malformed_json,,m\r\n";
    world.files.put(&folder(id).report_key(0, None, "failed.csv"), file);
    let failures = world.get(&format!("/api/jobs/{id}/failures")).await.body["failures"].clone();
    assert_eq!((&failures[0]["row"], &failures[1]["row"]), (&json!({"a": [1, null]}), &json!("{\"a\":")));
}

#[tokio::test]
async fn a_request_for_csv_redirects_to_the_file() {
    let world = World::default();
    let id = failed(&world, FILE, 3).await;
    let path = format!("/api/jobs/{id}/failures");
    for reply in [
        accepting(&world, &path, "text/csv").await,
        accepting(&world, &format!("{path}?format=csv"), "application/json").await,
    ] {
        let link = format!("memory:jobs/default/{id}/report/0/failed.csv?as=people-failed.csv&for=900");
        assert_eq!((reply.status, reply.header("location")), (303, link.as_str()));
    }
    assert_eq!(accepting(&world, &format!("{path}?format=json"), "text/csv").await.status, 200);
}

#[tokio::test]
async fn a_job_without_failures_has_an_empty_page_and_an_empty_file() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Completed, 0).await;
    let path = format!("/api/jobs/{id}/failures");
    assert_eq!(world.get(&path).await.body, json!({"failures": [], "nextCursor": null}));
    let file = accepting(&world, &path, "text/csv").await;
    assert_eq!((file.status, file.header("content-type")), (200, "text/csv; charset=utf-8"));
    world.files.remove(&folder(id).report_key(0, None, RESULT_NAME));
    assert_eq!(world.get(&path).await.body["failures"], json!([]), "the ledger counts none");
}

#[tokio::test]
async fn failures_are_absent_before_the_end_of_others_and_without_a_report() {
    let world = World::default();
    let id = world.job().await;
    world.get(&format!("/api/jobs/{id}/failures")).await.is_problem(404, "not-finished");
    let others = Job::waiting(JobId::generate(), TenantId::from_static("other"), "import", NOW);
    world.store.create_job(&others, &Definition::new(json!({})), None).await.unwrap();
    world.finish(others.job_id, Status::Completed, 2).await;
    for absent in [JobId::generate(), others.job_id] {
        world.get(&format!("/api/jobs/{absent}/failures")).await.is_problem(404, "not-found");
    }
    world.finish(id, Status::Completed, 2).await;
    world.get(&format!("/api/jobs/{id}/failures")).await.is_problem(404, "no-report");
}

#[tokio::test]
async fn an_invalid_page_is_refused() {
    let world = World::default();
    let id = failed(&world, FILE, 3).await;
    let path = format!("/api/jobs/{id}/failures");
    for (query, faults) in [
        (
            "limit=1001&cursor=x&format=xml",
            vec![("/format", "unknown_format"), ("/limit", "invalid_limit"), ("/cursor", "invalid_cursor")],
        ),
        ("cursor=", vec![("/cursor", "invalid_cursor")]),
    ] {
        let reply = world.get(&format!("{path}?{query}")).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), faults, "{query}");
    }
    let next = world.get(&format!("{path}?limit=1")).await.body["nextCursor"].as_str().unwrap().to_owned();
    world.files.put(&folder(id).report_key(0, None, "failed.csv"), FILE.replace("taken", "gone"));
    let reply = world.get(&format!("{path}?cursor={next}")).await;
    reply.is_problem(422, "invalid-request");
    assert_eq!(reply.field_errors(), [("/cursor", "stale_cursor")]);
}

/// A forged cursor: of the right file and within its rows, but not at the start of a row.
#[tokio::test]
async fn a_cursor_without_a_row_is_refused() {
    let world = World::default();
    let id = failed(&world, FILE, 3).await;
    let path = format!("/api/jobs/{id}/failures");
    let next = world.get(&format!("{path}?limit=1")).await.body["nextCursor"].as_str().unwrap().to_owned();
    let position = paging::decode_cursor(&next).unwrap();
    let etag = position.splitn(3, '.').last().unwrap();
    for offset in [FILE.len() as u64 - 3, FILE.len() as u64, 1 << 40, u64::MAX] {
        let cursor = paging::encode_cursor(&format!("{offset}.1.{etag}"));
        let reply = world.get(&format!("{path}?cursor={cursor}")).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), [("/cursor", "invalid_cursor")], "{offset}");
    }
}

#[tokio::test]
async fn a_damaged_report_is_an_internal_error() {
    let world = World::default();
    for file in
        ["", "row,id\r\n", "row,id,code,field,message\r\nx,1,c,f,m\r\n", "row,id,code,field,message\r\n1,1,c,f,m"]
    {
        let id = failed(&world, file, 1).await;
        world.get(&format!("/api/jobs/{id}/failures")).await.is_problem(500, "internal");
    }
}

#[tokio::test]
async fn a_workbook_of_the_failed_items_is_the_response_unless_they_are_too_many() {
    let world = World::default();
    let id = failed(&world, FILE, 3).await;
    let reply = world.get(&format!("/api/jobs/{id}/failures?format=xlsx")).await;
    let media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    assert_eq!((reply.status, reply.header("content-type")), (200, media_type));
    assert_eq!((&reply.text[..2], reply.header("cache-control")), ("PK", "no-store"));
    assert!(reply.header("content-disposition").contains("-failed.xlsx"), "{:?}", reply.headers);

    world.files.put(&folder(id).report_key(0, None, "failed.csv"), format!("{FILE}{}", " ".repeat(8 << 20)));
    let reply = world.get(&format!("/api/jobs/{id}/failures?format=xlsx")).await;
    assert_eq!(reply.field_errors(), [("/format", "failures_too_large")]);
    world.files.remove(&folder(id).report_key(0, None, "failed.csv"));
    world.get(&format!("/api/jobs/{id}/failures?format=xlsx")).await.is_problem(404, "no-report");

    let perfect = world.job().await;
    world.finish(perfect, Status::Completed, 0).await;
    assert_eq!(world.get(&format!("/api/jobs/{perfect}/failures?format=xlsx")).await.status, 200);
}
