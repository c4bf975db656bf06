//! Metadata of jobs: in requests and responses, in the meaning of an idempotency key, and as the filter of the list.

use std::collections::BTreeMap;

use longshore::http::idempotency;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{Definition, JobStore};
use longshore_domain::tenant::TenantId;
use serde_json::{Value, json};

use crate::world::{NOW, Reply, World};

const JSON: (&str, &str) = ("content-type", "application/json");
const KEY: (&str, &str) = ("idempotency-key", "7c6f0a2e");

async fn create(world: &World, metadata: &Value) -> Reply {
    world.create(&json!({"jobType": "ping", "metadata": metadata})).await
}

fn id(reply: &Reply) -> JobId {
    assert_eq!(reply.status, 202, "{}", reply.body);
    JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap()
}

fn ids(reply: &Reply) -> Vec<JobId> {
    assert_eq!(reply.status, 200, "{}", reply.body);
    let jobs = reply.body["jobs"].as_array().unwrap();
    jobs.iter().map(|job| JobId::parse(job["jobId"].as_str().unwrap()).unwrap()).collect()
}

/// As many pairs, with values of this text.
fn pairs(count: usize, value: &str) -> Value {
    (0..count).map(|n| (format!("k{n:02}"), value.to_owned())).collect::<BTreeMap<_, _>>().into_iter().collect()
}

#[tokio::test]
async fn metadata_is_returned_by_every_response_with_the_job() {
    for (metadata, expected) in [
        (json!({"team": "crm", "run": ""}), json!({"team": "crm", "run": ""})),
        (json!({"A-z_0.9": "Größe \u{1f600} /~"}), json!({"A-z_0.9": "Größe \u{1f600} /~"})),
        (pairs(16, "x"), pairs(16, "x")),
        (json!({"k".repeat(40): "ü".repeat(200)}), json!({"k".repeat(40): "ü".repeat(200)})),
        (json!({}), json!({})),
        (Value::Null, json!({})),
    ] {
        let world = World::default();
        let created = create(&world, &metadata).await;
        let path = format!("/api/jobs/{}", id(&created));
        for reply in [&created, &world.get(&path).await, &world.cancel(id(&created), &[]).await] {
            assert_eq!(reply.body["metadata"], expected, "{}", reply.body);
        }
        assert_eq!(world.get("/api/jobs").await.body["jobs"][0]["metadata"], expected);
    }
}

#[tokio::test]
async fn every_error_in_metadata_is_reported_with_its_pointer() {
    let world = World::default();
    for (metadata, faults) in [
        (json!([]), vec![("/metadata", "invalid_type")]),
        (json!("team"), vec![("/metadata", "invalid_type")]),
        (json!({"": "x"}), vec![("/metadata/", "invalid_metadata_key")]),
        (json!({"a/~b": "x"}), vec![("/metadata/a~1~0b", "invalid_metadata_key")]),
        (json!({"a b": "x"}), vec![("/metadata/a b", "invalid_metadata_key")]),
        (json!({"ü": "x"}), vec![("/metadata/ü", "invalid_metadata_key")]),
        (json!({"a": 1}), vec![("/metadata/a", "invalid_metadata_value")]),
        (json!({"a": null}), vec![("/metadata/a", "invalid_metadata_value")]),
        (json!({"a": "x\ny"}), vec![("/metadata/a", "invalid_metadata_value")]),
        (json!({"a": "\u{85}"}), vec![("/metadata/a", "invalid_metadata_value")]),
        (json!({"a": "ü".repeat(201)}), vec![("/metadata/a", "invalid_metadata_value")]),
        (pairs(17, "x"), vec![("/metadata", "too_many_metadata_pairs")]),
        (pairs(16, &"x".repeat(126)), vec![("/metadata", "metadata_too_large")]),
        (
            json!({"a b": [], "c": true}),
            vec![
                ("/metadata/a b", "invalid_metadata_key"),
                ("/metadata/a b", "invalid_metadata_value"),
                ("/metadata/c", "invalid_metadata_value"),
            ],
        ),
    ] {
        let reply = create(&world, &metadata).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), faults, "{metadata}");
    }
    let long = "k".repeat(41);
    let reply = create(&world, &json!({&long: "x"})).await;
    assert_eq!(reply.field_errors(), [(&*format!("/metadata/{long}"), "invalid_metadata_key")]);
    // 16 keys of 3 bytes and values of 125 bytes are exactly 2,048 bytes.
    assert_eq!(create(&world, &pairs(16, &"x".repeat(125))).await.status, 202);
}

#[tokio::test]
async fn errors_in_metadata_are_reported_with_those_of_other_fields() {
    let reply = World::default().create(&json!({"jobType": "x", "metadata": {"a": 1}, "timeoutSeconds": 0})).await;
    let faults = [
        ("/jobType", "unknown_job_type"),
        ("/metadata/a", "invalid_metadata_value"),
        ("/timeoutSeconds", "invalid_timeout"),
    ];
    assert_eq!(reply.field_errors(), faults);
}

#[tokio::test]
async fn requests_that_differ_in_metadata_are_different() {
    let world = World::default();
    for (metadata, status) in
        [("", 202), (",\"metadata\":{}", 202), (",\"metadata\":null", 202), (",\"metadata\":{\"team\":\"crm\"}", 422)]
    {
        let reply = world.post(format!("{{\"jobType\":\"ping\"{metadata}}}"), &[JSON, KEY]).await;
        assert_eq!(reply.status, status, "{metadata}: {}", reply.body);
    }
}

#[tokio::test]
async fn a_key_from_before_metadata_existed_finds_its_job() {
    let world = World::default();
    let request =
        json!({"jobType": "ping", "fileGuid": null, "priority": "normal", "options": {}, "timeoutSeconds": 7});
    let key = idempotency::key_for_request(KEY.1.to_owned(), &request, NOW);
    let mut job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "ping", NOW);
    (job.times.timeout_s, job.times.deadline_at, job.times.expires_at) = (7, NOW.plus_seconds(7), 1_800_000_000);
    let definition = Definition::new(json!({}));
    world.store.create_job(&job, &definition, Some(&key)).await.unwrap();
    let reply = world.post("{\"jobType\":\"ping\"}".to_owned(), &[JSON, KEY]).await;
    assert_eq!(id(&reply), job.job_id);
}

#[tokio::test]
async fn a_retried_and_a_started_job_keep_the_metadata() {
    let world = World::default();
    let mut request = world.import().await;
    request["metadata"] = json!({"team": "crm"});
    let failed = id(&world.create(&request).await);
    world.finish(failed, Status::Failed, 1).await;
    let retried = world.call("POST", &format!("/api/jobs/{failed}/retry"), &[]).await;
    assert_eq!((id(&retried), &retried.body["metadata"]), (failed, &request["metadata"]));
    request["options"]["mode"] = json!("validate");
    let checked = id(&world.create(&request).await);
    world.finish(checked, Status::Completed, 0).await;
    let started = world.call("POST", &format!("/api/jobs/{checked}/start"), &[]).await;
    assert_ne!(id(&started), checked);
    assert_eq!(started.body["metadata"], request["metadata"]);
}

#[tokio::test]
async fn jobs_are_filtered_by_all_pairs_of_metadata() {
    let world = World::default();
    let crm = id(&create(&world, &json!({"team": "crm", "run": "7"})).await);
    let erp = id(&create(&world, &json!({"team": "erp", "run": "7"})).await);
    let plain = id(&create(&world, &json!({"note": "a & b = ü+"})).await);
    for (query, expected) in [
        ("metadata[team]=crm", vec![crm]),
        ("metadata%5Bteam%5D=crm", vec![crm]),
        ("metadata[run]=7", vec![erp, crm]),
        ("metadata[run]=7&metadata%5Bteam%5D=erp", vec![erp]),
        ("metadata[run]=7&metadata[team]=crm&status=waiting&jobType=ping", vec![crm]),
        ("metadata[run]=7&status=running", vec![]),
        ("metadata[run]=7&metadata[site]=", vec![]),
        ("metadata[team]=CRM", vec![]),
        ("metadata[note]=a+%26%20b+%3D+%C3%BC%2B", vec![plain]),
        ("metadatas=x", vec![plain, erp, crm]),
    ] {
        let listed = ids(&world.get(&format!("/api/jobs?{query}")).await);
        let sorted = |mut ids: Vec<JobId>| {
            ids.sort();
            ids
        };
        assert_eq!(sorted(listed), sorted(expected), "{query}");
    }
}

#[tokio::test]
async fn the_pages_of_a_filtered_list_are_linked_with_the_filter() {
    let world = World::default();
    let mut expected = Vec::new();
    for n in 0..5 {
        expected.push(id(&create(&world, &json!({"team": "a&b ü", "run": "7"})).await));
        create(&world, &json!({"team": "a", "run": n.to_string()})).await;
    }
    let filter = "metadata%5Brun%5D=7&metadata%5Bteam%5D=a%26b%20%C3%BC";
    let (mut listed, mut path) = (Vec::new(), format!("/api/jobs?status=waiting&limit=2&{filter}"));
    for remaining in [3, 1, 0] {
        let reply = world.get(&path).await;
        listed.extend(ids(&reply));
        assert_eq!(listed.len() + remaining, 5);
        let link = reply.next_path();
        assert_eq!(link.is_some(), remaining > 0);
        let Some(link) = link else { continue };
        assert!(link.starts_with(&format!("/api/jobs?status=waiting&{filter}&limit=2&cursor=")), "{link}");
        path = link.to_owned();
    }
    listed.sort();
    expected.sort();
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn an_invalid_filter_is_refused_with_every_error() {
    let world = World::default();
    let many: Vec<_> = (0..17).map(|n| format!("metadata[k{n}]=x")).collect();
    // Every character has three bytes in the URL.
    let long = |chars: usize| format!("metadata[k]={}&metadata[l]={}", "%20".repeat(200), "%20".repeat(chars));
    let large: Vec<_> = (0..6).map(|n| format!("metadata[k{n}]={}", "%20".repeat(170))).collect();
    for (query, faults) in [
        ("metadata=x".to_owned(), vec![("/metadata", "invalid_metadata_key")]),
        ("metadata[]=x".to_owned(), vec![("/metadata", "invalid_metadata_key")]),
        ("metadata[a=x".to_owned(), vec![("/metadata", "invalid_metadata_key")]),
        ("metadata[a][b]=x".to_owned(), vec![("/metadata", "invalid_metadata_key")]),
        ("metadata.a=x".to_owned(), vec![("/metadata", "invalid_metadata_key")]),
        ("metadata%255Ba%255D=x".to_owned(), vec![("/metadata", "invalid_metadata_key")]),
        ("metadata[a]=x&metadata%5Ba%5D=y".to_owned(), vec![("/metadata", "repeated_parameter")]),
        ("metadata[a]=%0A".to_owned(), vec![("/metadata", "invalid_metadata_value")]),
        (long(201), vec![("/metadata", "invalid_metadata_value")]),
        (many.join("&"), vec![("/metadata", "too_many_metadata_pairs")]),
        (large.join("&"), vec![("/metadata", "metadata_too_large")]),
        (
            "metadata[a%20b]=%0A&limit=0".to_owned(),
            vec![
                ("/metadata", "invalid_metadata_key"),
                ("/metadata", "invalid_metadata_value"),
                ("/limit", "invalid_limit"),
            ],
        ),
    ] {
        let reply = world.get(&format!("/api/jobs?{query}")).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), faults, "{query}");
    }
    assert_eq!(world.get(&format!("/api/jobs?{}", long(200))).await.status, 200);
    assert_eq!(world.get(&format!("/api/jobs?{}", many[..16].join("&"))).await.status, 200);
}

#[tokio::test]
async fn the_link_to_the_next_page_of_the_longest_filter_is_accepted() {
    let world = World::default();
    let value = " ".repeat(200);
    let metadata = json!({"k1": value, "k2": value, "k3": value, "k4": value, "k5": " ".repeat(190)});
    for _ in 0..2 {
        create(&world, &metadata).await;
    }
    let pairs = metadata.as_object().unwrap().iter();
    let filter = pairs.map(|(key, value)| format!("metadata[{key}]={}", value.as_str().unwrap().replace(' ', "+")));
    let query = format!("status=waiting&jobType=ping&limit=1&{}", filter.collect::<Vec<_>>().join("&"));
    let reply = world.get(&format!("/api/jobs?{query}")).await;
    let link = reply.next_path().unwrap();
    assert!(link.len() > 3 * 1024, "{}", link.len());
    assert_eq!(ids(&world.get(link).await).len(), 1);
}
