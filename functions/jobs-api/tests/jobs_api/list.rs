//! Lists of jobs.

use crate::world::{NOW, Reply, World};
use longshore::http::paging::encode_cursor;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{Definition, JobStore, JobTransitions};
use longshore_domain::tenant::TenantId;
use serde_json::{Value, json};

/// Stores a job of this age.
async fn stored(world: &World, age_s: i64, change: impl FnOnce(&mut Job)) -> JobId {
    let mut job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "import", NOW.plus_seconds(-age_s));
    job.times.expires_at = 1_800_000_000;
    (job.times.timeout_s, job.times.deadline_at) = (3_600, NOW.plus_seconds(3_600 - age_s));
    change(&mut job);
    world.store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    job.job_id
}

/// Begins a job and gives it a group of four items.
async fn split(world: &World, id: JobId) {
    world.store.begin(id, 0, NOW.plus_seconds(-2)).await.unwrap();
    let chunk = ChunkPlan { first: 1, items: 4, start: 0, end: 40, oversize: false, keys: None };
    let job = world.store.job(id).await.unwrap().unwrap();
    world
        .store
        .commit_group(&job, &GroupPlan::from_file(0, Manifest { group: 0, chunks: vec![chunk] }, 0..40), NOW)
        .await
        .unwrap();
}

fn ids(reply: &Reply) -> Vec<Value> {
    reply.body["jobs"].as_array().unwrap().iter().map(|job| job["jobId"].clone()).collect()
}

#[tokio::test]
async fn the_list_contains_the_tenants_jobs_newest_first() {
    let world = World::default();
    let old = stored(&world, 30, |_| {}).await;
    stored(&world, 20, |job| job.tenant = TenantId::from_static("other")).await;
    let new = stored(&world, 10, |_| {}).await;
    let reply = world.get("/api/jobs").await;
    assert_eq!((reply.status, reply.header("cache-control"), reply.header("link")), (200, "no-store", ""));
    assert_eq!(ids(&reply), [json!(new), json!(old)]);
    assert_eq!(reply.body["nextCursor"], Value::Null);
    assert_eq!(World::default().get("/api/jobs").await.body, json!({"jobs": [], "nextCursor": null}));
}

#[tokio::test]
async fn a_listed_job_equals_the_response_of_its_own_call() {
    let world = World::default();
    for n in 0..4 {
        let id = stored(&world, n, |_| {}).await;
        if n > 0 {
            split(&world, id).await;
        }
        if n > 1 {
            let status = if n == 2 { Status::Failed } else { Status::Completed };
            world.finish(id, status, 0).await;
        }
    }
    let listed = world.get("/api/jobs").await.body["jobs"].clone();
    for job in listed.as_array().unwrap() {
        assert_eq!(&world.get(job["links"]["self"].as_str().unwrap()).await.body, job);
        assert_eq!(job["counts"]["pending"].as_u64(), Some(job["itemCount"].as_u64().unwrap()));
    }
    let counted: Vec<_> = listed.as_array().unwrap().iter().map(|job| job["itemCount"].as_u64().unwrap()).collect();
    assert_eq!(counted, [0, 4, 4, 4]);
}

#[tokio::test]
async fn pages_are_linked_and_contain_each_job_once() {
    let world = World::default();
    let mut expected = Vec::new();
    for n in 0..5 {
        expected.push(json!(stored(&world, n, |_| {}).await));
        stored(&world, n, |job| job.job_type = "ping".into()).await;
    }
    let (mut listed, mut path) = (Vec::new(), "/api/jobs?jobType=import&status=waiting&limit=2".to_owned());
    for remaining in [3, 1, 0] {
        let reply = world.get(&path).await;
        listed.extend(ids(&reply));
        assert_eq!(listed.len() + remaining, 5);
        let link = reply.next_path();
        assert_eq!(link.is_some(), remaining > 0);
        let Some(link) = link else { continue };
        assert!(link.ends_with(reply.body["nextCursor"].as_str().unwrap()), "{link}");
        assert!(link.starts_with("/api/jobs?status=waiting&jobType=import&limit=2&cursor="), "{link}");
        path = link.to_owned();
    }
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn jobs_are_filtered_by_status_and_type() {
    let world = World::default();
    let running = stored(&world, 1, |_| {}).await;
    split(&world, running).await;
    let ping = stored(&world, 2, |job| job.job_type = "ping".into()).await;
    let invite = stored(&world, 3, |job| (job.job_type, job.is_registered) = ("invite".into(), true)).await;
    for (query, expected) in [
        ("status=running", vec![running]),
        ("status=waiting", vec![ping, invite]),
        ("jobType=ping", vec![ping]),
        ("jobType=ping&status=running", vec![]),
        ("jobType=invite", vec![invite]),
        ("jobType=never-registered", vec![]),
        ("colour=red", vec![running, ping, invite]),
    ] {
        let reply = world.get(&format!("/api/jobs?{query}")).await;
        assert_eq!(reply.status, 200, "{query}");
        assert_eq!(json!(ids(&reply)), json!(expected), "{query}");
    }
}

#[tokio::test]
async fn an_invalid_list_request_is_refused_with_every_error() {
    let world = World::default();
    let bad_position = encode_cursor("1.x");
    for (query, faults) in [
        ("limit=0", vec![("/limit", "invalid_limit")]),
        ("limit=101", vec![("/limit", "invalid_limit")]),
        ("cursor=x", vec![("/cursor", "invalid_cursor")]),
        (&format!("cursor={bad_position}"), vec![("/cursor", "invalid_cursor")]),
        ("status=done", vec![("/status", "unknown_status")]),
        ("status=", vec![("/status", "unknown_status")]),
        ("jobType=Imports&status=Running", vec![("/status", "unknown_status"), ("/jobType", "unknown_job_type")]),
        (
            "status=x&jobType=X&limit=x&cursor=x",
            vec![
                ("/status", "unknown_status"),
                ("/jobType", "unknown_job_type"),
                ("/limit", "invalid_limit"),
                ("/cursor", "invalid_cursor"),
            ],
        ),
    ] {
        let reply = world.get(&format!("/api/jobs?{query}")).await;
        reply.is_problem(422, "invalid-request");
        assert_eq!(reply.field_errors(), faults, "{query}");
    }
}

#[tokio::test]
async fn a_cursor_of_another_tenant_lists_only_the_callers_jobs() {
    let world = World::default();
    for n in 0..3 {
        stored(&world, n, |job| job.tenant = TenantId::from_static("other")).await;
    }
    let own = stored(&world, 9, |_| {}).await;
    // A position between the other tenant's jobs.
    let cursor = encode_cursor(&format!("{}.{}", NOW.plus_seconds(-1).0, JobId::generate()));
    assert_eq!(ids(&world.get(&format!("/api/jobs?cursor={cursor}")).await), [json!(own)]);
}
