//! Two tenants on one API: each tenant's data is invisible to the other.

use crate::world::{FILE, Reply, World};
use axum::body::Body;
use axum::http::Request;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer};
use serde_json::{Value, json};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Returns the reply to the other tenant, and the reply for an id that never existed.
async fn both(world: &World, method: &str, path: &str, id: JobId) -> (Reply, Reply) {
    let call = async |id: JobId| {
        let to = path.replace("{jobId}", &id.to_string());
        let request = Request::builder().method(method).uri(to).header(JSON.0, JSON.1);
        world.send(request.body(Body::from("{}")).unwrap()).await
    };
    (call(id).await, call(JobId::generate()).await)
}

#[tokio::test]
async fn every_route_treats_another_tenants_job_as_unknown() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Completed, 0).await;
    let before = world.get(&format!("/api/jobs/{id}")).await;
    for (method, path) in jobs_api::ROUTES.iter().filter(|(_, path)| path.contains("{jobId}")) {
        let (other, absent) = both(&world.as_tenant("other"), method, path, id).await;
        other.is_problem(404, "not-found");
        assert_eq!((other.status, other.body), (absent.status, absent.body), "{method} {path}");
    }
    assert_eq!(world.get(&format!("/api/jobs/{id}")).await.body, before.body);
}

#[tokio::test]
async fn another_tenants_file_is_treated_as_unknown() {
    let world = World::default();
    let mut request = world.import().await;
    let other = world.as_tenant("other").create(&request).await;
    request["fileGuid"] = json!(JobId::generate());
    let absent = world.as_tenant("other").create(&request).await;
    assert_eq!(other.field_errors(), [("/fileGuid", "unknown_file")]);
    assert_eq!((other.status, other.body), (absent.status, absent.body));
}

#[tokio::test]
async fn idempotency_keys_belong_to_their_tenant() {
    let world = World::default();
    let key = ("idempotency-key", "7c6f0a2e");
    let body = json!({"jobType": "ping"}).to_string();
    let ours = world.post(body.clone(), &[JSON, key]).await;
    let other = world.as_tenant("other").post(body.clone(), &[JSON, key]).await;
    assert_eq!((ours.status, other.status), (202, 202));
    assert_ne!(ours.body["jobId"], other.body["jobId"]);
    assert_eq!(world.post(body, &[JSON, key]).await.body["jobId"], ours.body["jobId"]);
}

#[tokio::test]
async fn keys_of_tenants_with_similar_names_are_separate() {
    let world = World::default();
    let body = json!({"jobType": "ping"}).to_string();
    let ours = world.as_tenant("a").post(body.clone(), &[JSON, ("idempotency-key", "b#k")]).await;
    let other = world.as_tenant("a:b").post(body, &[JSON, ("idempotency-key", "k")]).await;
    assert_ne!(ours.body["jobId"], other.body["jobId"]);
}

#[tokio::test]
async fn a_dataset_belongs_to_its_tenant() {
    let world = World::default();
    let writer = Writer { job: JobId::generate(), row: 1 };
    let record = NewRecord { key: "a".into(), data: json!({"id": "a"}).as_object().cloned().unwrap(), writer };
    let dataset = Dataset { tenant: TenantId::from_static("default"), name: "people".into() };
    world.records.put(&dataset, Rule::Upsert, vec![record]).await;
    let path = "/api/datasets/people/records";
    assert_eq!(world.get(path).await.body["records"].as_array().unwrap().len(), 1);
    assert_eq!(world.as_tenant("other").get(path).await.body, json!({"records": [], "nextCursor": null}));
    assert_eq!(world.as_tenant("other").call("DELETE", &format!("{path}?key=a"), &[]).await.status, 204);
    assert_eq!(world.get(path).await.body["records"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_files_of_a_job_have_its_tenants_prefix() {
    let world = World::default().as_tenant("acme");
    let file = world.upload(|upload| upload.tenant = TenantId::from_static("acme"), Some(FILE)).await;
    let options = json!({"dataset": "people", "key": "id"});
    let reply = world.create(&json!({"jobType": "import", "fileGuid": file, "options": options})).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let id = JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap();
    world.finish(id, Status::Failed, 1).await;
    let output = world.get(&format!("/api/jobs/{id}/output")).await;
    let url = output.body["files"]["failed"]["url"].as_str().unwrap_or_default();
    assert!(url.starts_with(&format!("memory:jobs/acme/{id}/report/0/")), "{}", output.body);
}

#[tokio::test]
async fn every_route_except_documents_refuses_a_caller_without_a_token() {
    for (method, path) in jobs_api::ROUTES.into_iter().filter(|route| !jobs_api::PUBLIC_ROUTES.contains(route)) {
        let is_secret = path == "/api/job-types/{name}/secret";
        let is_for_operators = is_secret || (path == "/api/job-types/{name}" && method != "GET");
        let path = path.replace("{jobId}", &JobId::generate().to_string()).replace("{dataset}", "people");
        // No token was accepted: the gateway's context is missing, and a header does not replace it.
        let request = Request::builder().method(method).uri(path).header("x-tenant", "default").body(Body::empty());
        let response = World::default().without_token(request.unwrap()).await;
        response.is_problem(403, if is_for_operators { "not-an-operator" } else { "no-tenant" });
        assert_eq!(response.body.get("errors"), None::<&Value>);
    }
}
