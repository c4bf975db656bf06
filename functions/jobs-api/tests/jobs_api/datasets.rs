//! Jobs over a dataset: `source` in `POST /api/jobs`, and `DELETE /api/datasets/{dataset}`.

use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, Source};
use longshore_domain::ports::{JobStore, NewRecord, RecordStore};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer};
use serde_json::{Map, Value, json};

use crate::limits::id;
use crate::world::{NOW, Reply, World};

/// A world in which a tenant has imported into the dataset.
async fn with_dataset(tenant: &'static str, name: &str) -> World {
    let world = World::default();
    let into = Dataset { tenant: TenantId::from_static(tenant), name: name.into() };
    let writer = Writer { job: JobId::generate(), row: 1 };
    world.records.put(&into, Rule::Insert, vec![NewRecord { key: "k".into(), data: Map::new(), writer }]).await;
    world
}

fn request(source: Value) -> Value {
    json!({"jobType": "delete-dataset", "source": source})
}

/// Codes of the invalid fields, with their pointers.
fn errors(reply: &Reply) -> Vec<(String, String)> {
    let errors = reply.body["errors"].as_array().unwrap().iter();
    errors.map(|e| (e["pointer"].as_str().unwrap().into(), e["code"].as_str().unwrap().into())).collect()
}

#[tokio::test]
async fn the_records_of_a_dataset_are_the_source_of_a_job() {
    let world = with_dataset("default", "people").await;
    let source = json!({"dataset": "people", "updatedSince": "2023-11-14T22:13:20.5+00:00"});
    let reply = world.create(&request(source)).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let job = world.store.job(id(&reply.body)).await.unwrap().unwrap();
    let stored = DatasetSource { dataset: "people".into(), updated_since: Some(Timestamp(1_700_000_000_500)) };
    assert_eq!((job.source, job.job_type.as_str()), (Some(Source::Dataset(stored)), "delete-dataset"));
    let next_since = NOW.plus_seconds(-60).to_rfc3339();
    let shown = json!({
        "kind": "dataset", "dataset": "people", "updatedSince": "2023-11-14T22:13:20.5Z", "nextSince": next_since,
    });
    assert_eq!((&reply.body["source"], &reply.body["fileName"]), (&shown, &Value::Null));
    assert_eq!(world.queues.take_creates().len(), 1);
}

#[tokio::test]
async fn another_tenants_dataset_is_treated_as_unknown() {
    let world = with_dataset("other", "people").await;
    for name in ["people", "nobody"] {
        let reply = world.create(&request(json!({ "dataset": name }))).await;
        assert_eq!(reply.status, 422);
        assert_eq!(errors(&reply), [("/source/dataset".to_owned(), "unknown_dataset".to_owned())]);
        assert_eq!(world.call("DELETE", &format!("/api/datasets/{name}"), &[]).await.status, 404);
    }
    assert!(world.queues.take_creates().is_empty());
}

#[tokio::test]
async fn a_wrong_source_is_refused_with_every_error() {
    let world = with_dataset("default", "people").await;
    let file = "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b";
    let import = json!({"dataset": "people", "key": "id"});
    let cases = [
        (json!({"jobType": "delete-dataset"}), vec![("/source", "dataset_required")]),
        (request(json!("people")), vec![("/source", "invalid_type")]),
        (
            request(json!({"dataset": "a b", "updatedSince": "monday"})),
            vec![("/source/dataset", "invalid_dataset"), ("/source/updatedSince", "invalid_source")],
        ),
        (request(json!({"dataset": "people", "columns": []})), vec![("/source/columns", "unknown_field")]),
        (
            json!({"jobType": "delete-dataset", "fileGuid": file, "items": [1], "source": {"dataset": "people"}}),
            vec![("/fileGuid", "file_not_allowed"), ("/items", "items_not_allowed")],
        ),
        (
            json!({"jobType": "import", "items": [{"id": 1}], "options": import, "source": {"dataset": "people"}}),
            vec![("/source", "dataset_not_allowed")],
        ),
    ];
    for (body, expected) in cases {
        let reply = world.create(&body).await;
        let found = errors(&reply);
        assert_eq!(reply.status, 422, "{body}");
        let found: Vec<_> = found.iter().map(|(pointer, code)| (pointer.as_str(), code.as_str())).collect();
        assert_eq!(found, expected, "{body}");
    }
}

#[tokio::test]
async fn a_deletion_is_a_job_that_a_repeated_call_does_not_create_twice() {
    let world = with_dataset("default", "people").await;
    let key = [("idempotency-key", "monday")];
    let delete = async || world.call("DELETE", "/api/datasets/people", &key).await;
    let first = delete().await;
    assert_eq!(first.status, 202, "{}", first.body);
    assert_eq!(
        (&first.body["jobType"], &first.body["source"]["dataset"]),
        (&json!("delete-dataset"), &json!("people"))
    );
    assert_eq!(delete().await.body["jobId"], first.body["jobId"]);
    let other = world.call("DELETE", "/api/datasets/people", &[]).await;
    assert_ne!(other.body["jobId"], first.body["jobId"]);
    assert_eq!(world.call("DELETE", "/api/datasets/a%20b", &[]).await.status, 422);
    let headers = [key[0], ("content-type", "application/json")];
    let reused = world.post(request(json!({"dataset": "people"})).to_string(), &headers).await;
    assert_eq!(reused.status, 422, "the key was used for another request: {}", reused.body);
}
