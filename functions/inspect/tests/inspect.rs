//! The function over in-memory services, with every answer validated against the OpenAPI document.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

use axum::body::to_bytes;
use inspect::{Inspections, router};
use lambda_http::tower::ServiceExt;
use longshore::http::Access;
use longshore::job_types::builtin;
use longshore::ports::upload_key;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{JobStore, Presets, TenantLimits, Upload};
use longshore_domain::preset::{LearntFrom, LearntPreset};
use longshore_domain::rate::Rate;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryRecords, MemoryStore, signed_in_call};
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

#[derive(Clone)]
struct World {
    store: MemoryStore,
    files: MemoryFiles,
}

impl World {
    fn new() -> Self {
        let limits = TenantLimits { work_calls: 20, ..TenantLimits::default() };
        Self { store: MemoryStore::default().with_limits(limits), files: MemoryFiles::default() }
    }

    /// Stores an upload of this tenant that has received these bytes, if any.
    async fn upload(&self, tenant: &str, name: &str, bytes: Option<&str>) -> FileGuid {
        let (file_guid, tenant) = (FileGuid::generate(), TenantId::parse(tenant).unwrap());
        let key = upload_key(&tenant, file_guid);
        if let Some(bytes) = bytes {
            self.files.put(&key, bytes);
        }
        let upload = Upload {
            file_guid,
            tenant,
            key,
            file_name: name.to_owned(),
            content_type: if name.ends_with(".csv") { "text/csv" } else { "application/jsonl" }.to_owned(),
            size_bytes: bytes.map_or(1, |bytes| bytes.len() as u64),
            sha256: None,
            multipart: None,
            promised_at: NOW,
            expires_at: NOW.plus_days(14).seconds(),
        };
        self.store.create_upload(&upload, None).await.unwrap();
        file_guid
    }

    async fn inspect(&self, id: &str, body: &Value) -> (u16, Value) {
        let path = format!("/api/uploads/{id}/inspect");
        let request = signed_in_call("POST", &path, &json!({ "sub": "acme" }), body);
        let inspections = Inspections {
            store: self.store.clone(),
            files: self.files.clone(),
            registry: builtin(MemoryRecords::default(), self.files.clone()),
            access: Access::SignedIn { tenant_claim: "sub".into() },
            max_file_bytes: 1_000,
            tenant_calls: Rate { per_second: 1_000, burst: 10_000 },
            clock: || NOW,
        };
        let (parts, body) = router(inspections).oneshot(request).await.unwrap().into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let headers: Vec<_> =
            parts.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        let status = parts.status.as_u16();
        let answer = contract::Answer { method: "POST", path: &path, status, headers: &headers, body: &bytes };
        answer.check().unwrap_or_else(|wrong| panic!("{wrong}"));
        (status, serde_json::from_slice(&bytes).unwrap())
    }
}

/// The errors of fields in a problem.
fn errors(problem: &Value) -> Vec<(String, String)> {
    let text = |error: &Value, member: &str| error[member].as_str().unwrap().to_owned();
    problem["errors"].as_array().unwrap().iter().map(|e| (text(e, "pointer"), text(e, "code"))).collect()
}

const GERMAN: &str = "Nr;Preis;Seit\n1;1.234,50;1.2.2024\n2;7;3.4.2024\n";

#[tokio::test]
async fn a_file_is_described_without_a_job_type() {
    let world = World::new();
    let id = world.upload("acme", "preise.csv", Some(GERMAN)).await.to_string();
    let (status, found) = world.inspect(&id, &json!({})).await;
    assert_eq!((status, &found["format"], &found["reading"]["delimiter"]), (200, &json!("csv"), &json!(";")));
    assert_eq!((&found["error"], &found["request"]), (&Value::Null, &Value::Null));
    assert_eq!(found["columns"][1]["notation"], ",");
    assert_eq!(found["columns"][2]["question"]["readings"][1], json!({ "notation": "mdy", "value": "2024-01-02" }));
    assert_eq!(
        found["rows"][0],
        json!({ "number": 1, "sheetRow": null, "cells": ["1", "1.234,50", "1.2.2024"], "problem": null })
    );
}

#[tokio::test]
async fn the_request_of_an_inspection_reads_the_file_so() {
    let world = World::new();
    let id = world.upload("acme", "preise.csv", Some(GERMAN)).await.to_string();
    let schema = json!({ "properties": { "Preis": { "type": "number" }, "Seit": { "format": "date" } } });
    let options = json!({ "dataset": "d", "key": "Nr", "schema": schema });
    let body = json!({ "jobType": "import", "options": options });
    let (_, asked) = world.inspect(&id, &body).await;
    assert_eq!((&asked["error"]["code"], &asked["request"]), (&json!("ambiguous_column"), &Value::Null));
    let mut answered = body.clone();
    answered["options"]["notations"] = json!({ "Seit": { "dateOrder": "dmy" } });
    let (_, found) = world.inspect(&id, &answered).await;
    assert_eq!(found["error"], Value::Null);
    let request = &found["request"];
    assert_eq!(request["options"]["notations"]["Preis"], json!({ "decimalSeparator": "," }));
    assert_eq!(
        request["reading"],
        json!({
            "format": "csv", "encoding": "UTF-8", "delimiter": ";", "quote": "\"", "headerRow": 1,
        })
    );
    let again = json!({ "jobType": "import", "options": request["options"], "reading": request["reading"] });
    let (status, again) = world.inspect(&id, &again).await;
    assert_eq!((status, &again["request"], &again["rows"]), (200, request, &found["rows"]));
}

#[tokio::test]
async fn the_preset_of_the_tenants_dataset_is_used() {
    let world = World::new();
    let id = world.upload("acme", "preise.csv", Some(GERMAN)).await.to_string();
    let preset = json!({ "key": "id", "columns": { "Nr": "id", "Seit": null, "Ort": "city" }, "values": {} });
    for (tenant, name) in [("acme", "prices"), ("other", "theirs")] {
        let dataset = Dataset::named(TenantId::from_static(tenant), name).unwrap();
        let preset = serde_json::from_value(preset.clone()).unwrap();
        let learnt = LearntPreset { from: LearntFrom::Import, at: NOW, preset };
        world.store.put_preset(&dataset, &learnt).await.unwrap();
    }
    let request = |dataset| json!({ "jobType": "import", "options": { "dataset": dataset, "key": "id" } });
    let (_, found) = world.inspect(&id, &request("prices")).await;
    let columns = json!({ "Nr": "id", "Seit": null });
    assert_eq!(found["preset"], json!({ "key": "id", "columns": columns, "values": {} }));
    assert_eq!(
        (&found["request"]["options"]["columns"], &found["issues"][0]["code"]),
        (&columns, &json!("preset_used"))
    );
    let (_, found) = world.inspect(&id, &request("theirs")).await;
    assert_eq!((&found["preset"], &found["error"]["code"]), (&Value::Null, &json!("key_not_in_header")));
}

#[tokio::test]
async fn a_file_that_no_job_can_read_is_an_error_in_the_answer() {
    let world = World::new();
    let id = world.upload("acme", "empty.csv", Some("\n\n")).await.to_string();
    let (status, found) = world.inspect(&id, &json!({})).await;
    assert_eq!((status, &found["error"]["code"], &found["reading"]), (200, &json!("file_empty"), &Value::Null));
}

#[tokio::test]
async fn json_lines_have_no_reading() {
    let world = World::new();
    let id = world.upload("acme", "a.jsonl", Some("{\"id\":1}\n[]\n")).await.to_string();
    let body = json!({ "jobType": "import", "options": { "dataset": "d", "key": "id" } });
    let (_, found) = world.inspect(&id, &body).await;
    assert_eq!((&found["format"], &found["reading"], &found["columns"]), (&json!("jsonl"), &Value::Null, &json!([])));
    assert_eq!(found["rows"][0]["problem"], Value::Null);
    assert_ne!(found["rows"][1]["problem"], Value::Null);
    assert_eq!(found["request"]["reading"], json!({ "format": "jsonl" }));
}

#[tokio::test]
async fn an_upload_that_a_tenant_cannot_use_is_refused() {
    let world = World::new();
    let foreign = world.upload("other", "a.csv", Some("a\n1\n")).await.to_string();
    for id in [foreign.as_str(), &FileGuid::generate().to_string(), "nothing"] {
        assert_eq!(world.inspect(id, &json!({ "fileGuid": id })).await.0, 404, "{id}");
    }
    let waiting = world.upload("acme", "a.csv", None).await.to_string();
    let (status, problem) = world.inspect(&waiting, &json!({})).await;
    assert_eq!((status, &problem["type"]), (409, &json!("/api/problems/upload-incomplete")));
    let large = world.upload("acme", "a.csv", Some(&"a\n".repeat(501))).await.to_string();
    let (status, problem) = world.inspect(&large, &json!({})).await;
    assert_eq!((status, errors(&problem)), (422, vec![(String::new(), "file_too_large".to_owned())]));
}

#[tokio::test]
async fn a_request_that_is_not_valid_is_refused_with_every_error() {
    let world = World::new();
    let id = world.upload("acme", "a.csv", Some("a\n1\n")).await.to_string();
    for (body, expected) in [
        (json!({ "jobType": "nothing" }), ("/jobType", "unknown_job_type")),
        (json!({ "jobType": "export" }), ("/jobType", "file_not_allowed")),
        (json!({ "options": {} }), ("/options", "job_type_required")),
        (json!({ "jobType": "import", "options": [] }), ("/options", "invalid_type")),
        (json!({ "reading": { "delimiter": ":" } }), ("/reading/delimiter", "invalid_delimiter")),
        (json!({ "file": 1 }), ("/file", "unknown_field")),
    ] {
        let (status, problem) = world.inspect(&id, &body).await;
        assert_eq!((status, errors(&problem)), (422, vec![(expected.0.into(), expected.1.into())]), "{body}");
    }
    let body = json!({ "jobType": "import", "options": { "dataset": "", "key": "" } });
    assert!(errors(&world.inspect(&id, &body).await.1).len() > 1);
}

#[tokio::test]
async fn calls_are_counted() {
    let world = World::new();
    let id = world.upload("acme", "a.csv", Some("a\n1\n")).await.to_string();
    let mut last = 200;
    for _ in 0..21 {
        last = world.inspect(&id, &json!({})).await.0;
    }
    assert_eq!(last, 429);
}
