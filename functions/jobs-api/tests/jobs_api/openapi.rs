//! `docs/openapi.yaml` is true: its calls are the routers' and the template's, its properties those of real answers.

use std::collections::BTreeSet;

use crate::world::{NOW, World, folder};
use axum::body::{Body, to_bytes};
use axum::http::Request;
use lambda_http::tower::ServiceExt;
use longshore::files::MemoryFiles;
use longshore::http::Access;
use longshore::store::memory::MemoryStore;
use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use serde_json::{Value, json};

const OPENAPI: &str = include_str!("../../../../docs/openapi.yaml");
const TEMPLATE: &str = include_str!("../../../../template.yaml");
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The keys right below a path of keys of a YAML block mapping.
fn keys_below(path: &[&str]) -> BTreeSet<String> {
    let (mut depth, mut keys) = (0, BTreeSet::new());
    for line in OPENAPI.lines() {
        let indent = line.len() - line.trim_start().len();
        let Some((key, _)) = line.trim_start().split_once(':').filter(|_| indent % 2 == 0) else { continue };
        if indent / 2 < depth {
            break;
        }
        if depth < path.len() {
            depth += usize::from(indent / 2 == depth && key == path[depth]);
        } else if indent / 2 == depth && !key.starts_with('-') {
            keys.insert(key.to_owned());
        }
    }
    assert!(!keys.is_empty(), "nothing at {path:?}");
    keys
}

/// Every documented call.
fn documented() -> BTreeSet<(String, String)> {
    let paths = keys_below(&["paths"]);
    let calls = paths.into_iter().flat_map(|path| {
        let methods = keys_below(&["paths", &path]);
        methods.into_iter().map(move |method| (method.to_uppercase(), path.clone()))
    });
    calls.collect()
}

fn owned(routes: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    routes.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned())).collect()
}

#[test]
fn the_documented_calls_are_those_of_the_functions_and_of_the_template() {
    let functions = &owned(&jobs_api::ROUTES) | &owned(&upload::ROUTES);
    assert_eq!(documented(), functions);
    let keys = TEMPLATE.lines().filter_map(|line| line.trim().strip_prefix("RouteKey: "));
    let routed: Vec<_> = keys.filter_map(|key| key.split_once(' ')).collect();
    assert_eq!(owned(&routed), functions);
}

/// Calls that need no token: documents that anybody may read.
const PUBLIC: [&str; 0] = [];

#[test]
fn every_route_of_the_template_wants_a_token() {
    let routes: Vec<_> = TEMPLATE.split("Type: AWS::ApiGatewayV2::Route\n").skip(1).collect();
    assert!(routes.len() > jobs_api::ROUTES.len());
    for route in routes {
        let route = route.split("\n\n").next().unwrap_or_default();
        let key = route.lines().find_map(|line| line.trim().strip_prefix("RouteKey: ")).unwrap();
        let checked = route.contains("AuthorizationType: !If [IsOpen, NONE, JWT]")
            && route.contains("AuthorizerId: !If [IsOpen, !Ref AWS::NoValue, !Ref TokenCheck]");
        assert_eq!(checked, !PUBLIC.contains(&key), "{key}");
    }
}

#[tokio::test]
async fn the_router_takes_the_documented_calls_and_no_others() {
    let (world, documented) = (World::default(), documented());
    for (_, path) in owned(&jobs_api::ROUTES) {
        for method in METHODS {
            let to = path.replace("{jobId}", &JobId::generate().to_string()).replace("{dataset}", "people");
            let reply = world.send(Request::builder().method(method).uri(to).body(Body::empty()).unwrap()).await;
            let taken = reply.status != 405;
            assert_eq!(taken, documented.contains(&(method.to_owned(), path.clone())), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn the_documented_properties_are_those_of_uploads() {
    let uploads = upload::Uploads {
        store: MemoryStore::default(),
        places: MemoryFiles::default(),
        access: Access::Open,
        max_file_bytes: 1_000,
        retention_days: 14,
        clock: || NOW,
    };
    let call = async |method: &str, path: &str, body: Value| -> Value {
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string())).unwrap();
        let answer = upload::router(uploads.clone()).oneshot(request).await.unwrap();
        serde_json::from_slice(&to_bytes(answer.into_body(), usize::MAX).await.unwrap()).unwrap()
    };
    let request = json!({"fileName": "a.csv", "contentType": "text/csv", "size": 1});
    let upload = call("POST", "/api/uploads", request).await;
    holds("Upload", &upload);
    let path = format!("/api/uploads/{}", upload["fileGuid"].as_str().unwrap());
    holds("UploadStatus", &call("GET", &path, Value::Null).await);
    holds("Upload", &call("POST", &format!("{path}/url"), Value::Null).await);
}

fn holds(schema: &str, answer: &Value) {
    let said: BTreeSet<_> = answer.as_object().unwrap().keys().cloned().collect();
    assert_eq!(said, keys_below(&["components", "schemas", schema, "properties"]), "{schema}");
}

#[tokio::test]
async fn the_documented_properties_are_those_of_the_answers() {
    let world = World::default();
    let job = world.create(&world.import().await).await.body;
    holds("Job", &job);
    holds("JobCounts", &job["counts"]);
    holds("JobLinks", &job["links"]);
    holds("Jobs", &world.get("/api/jobs").await.body);
    holds("Datasets", &world.get("/api/datasets").await.body);
    holds("Records", &world.get("/api/datasets/people/records").await.body);
    let problem = world.create(&json!({})).await.body;
    holds("Problem", &problem);
    holds("FieldError", &problem["errors"][0]);
}

#[tokio::test]
async fn the_documented_properties_are_those_of_an_output() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Failed, 3).await;
    let output = world.get(&format!("/api/jobs/{id}/output")).await.body;
    holds("Output", &output);
    holds("OutputCounts", &output["counts"]);
    holds("Timings", &output["timings"]);
    holds("OutputFiles", &output["files"]);
    holds("OutputFile", &output["files"]["failed"]);
    let file = "row,id,code,field,message\r\n1,x,c,f,m\r\n2,x,c,f,m\r\n3,x,c,f,m\r\n";
    world.files.put(&folder(id).report_key(0, "failed.csv"), file);
    let failures = world.get(&format!("/api/jobs/{id}/failures")).await.body;
    holds("Failures", &failures);
    holds("Failure", &failures["failures"][0]);
}
