//! `GET /api/operations/jobs`.

use longshore::http::paging;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobTimes, Status};
use longshore_domain::ports::{Definition, JobStore, JobTransitions};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::world::{NOW, World};

/// Stores a job that was accepted this many hours ago.
async fn accepted(world: &World, tenant: &'static str, job_type: &str, hours: i64) -> JobId {
    let at = NOW.plus_seconds(-3_600 * hours);
    let job = Job::waiting(JobId::generate(), TenantId::from_static(tenant), job_type, at);
    let job =
        Job { times: JobTimes { timeout_s: 60, deadline_at: at.plus_seconds(60), ..JobTimes::accepted(at) }, ..job };
    world.store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    job.job_id
}

fn ids(body: &Value) -> Vec<String> {
    body["jobs"].as_array().unwrap().iter().map(|job| job["jobId"].as_str().unwrap().to_owned()).collect()
}

/// Every job of a list, page by page.
async fn listed(world: &World, query: &str) -> Vec<String> {
    let (mut to, mut found) = (format!("/api/operations/jobs?{query}"), Vec::new());
    for _ in 0..20 {
        let reply = world.get(&to).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        found.extend(ids(&reply.body));
        match reply.next_path() {
            Some(next) => to = next.to_owned(),
            None => return found,
        }
    }
    panic!("the list does not end: {to}");
}

fn texts(jobs: &[JobId]) -> Vec<String> {
    jobs.iter().map(JobId::to_string).collect()
}

#[tokio::test]
async fn jobs_of_all_tenants_and_days_are_listed_newest_first() {
    let world = World::default();
    let mut jobs = Vec::new();
    for (tenant, hours) in [("acme", 1), ("umbrella", 2), ("acme", 30), ("initech", 200)] {
        jobs.push(accepted(&world, tenant, "import", hours).await);
    }
    assert_eq!(listed(&world, "").await, texts(&jobs));
    for limit in [1, 2, 4] {
        assert_eq!(listed(&world, &format!("limit={limit}")).await, texts(&jobs), "{limit}");
    }
    assert_eq!(listed(&world, "limit=1&tenant=acme").await, texts(&[jobs[0], jobs[2]]));
}

#[tokio::test]
async fn filters_select_by_status_type_and_time() {
    let world = World::default();
    let invite = accepted(&world, "acme", "invite", 1).await;
    let begun = accepted(&world, "acme", "import", 2).await;
    let old = accepted(&world, "umbrella", "import", 50).await;
    world.store.begin(begun, 0, NOW).await.unwrap();
    let day_ago = NOW.plus_days(-1).to_rfc3339();
    for (query, expected) in [
        ("type=invite".to_owned(), vec![invite]),
        ("status=running".to_owned(), vec![begun]),
        ("status=waiting&type=import".to_owned(), vec![old]),
        (format!("createdAfter={day_ago}"), vec![invite, begun]),
        (format!("createdBefore={day_ago}"), vec![old]),
        ("order=oldest".to_owned(), vec![old, begun, invite]),
        ("order=oldest&tenant=acme&limit=1".to_owned(), vec![begun, invite]),
        ("status=completed".to_owned(), vec![]),
    ] {
        assert_eq!(listed(&world, &query).await, texts(&expected), "{query}");
    }
    let reply =
        world.get("/api/operations/jobs?status=x&type=&tenant=%2F&createdAfter=y&order=z&limit=0&cursor=%3F").await;
    reply.is_problem(422, "invalid-request");
    let codes: Vec<_> = reply.body["errors"].as_array().unwrap().iter().map(|error| &error["code"]).collect();
    let expected = [
        "invalid_limit",
        "unknown_job_type",
        "invalid_tenant",
        "invalid_time",
        "invalid_cursor",
        "unknown_status",
        "unknown_order",
    ];
    assert_eq!(codes, expected);
}

#[tokio::test]
async fn a_cursor_between_days_is_none_of_the_oldest_jobs() {
    let world = World::default();
    let cursor = paging::encode_cursor(&NOW.0.to_string());
    let to = |order: &str| format!("/api/operations/jobs?order={order}&cursor={cursor}");
    assert_eq!(world.get(&to("newest")).await.status, 200);
    let reply = world.get(&to("oldest")).await;
    reply.is_problem(422, "invalid-request");
    assert_eq!(reply.body["errors"][0]["code"], "invalid_cursor");
}

#[tokio::test]
async fn a_listed_job_has_no_row_option_or_label_and_its_counts_once_it_has_ended() {
    let world = World::default();
    let job = world.job("acme").await;
    let of = |body: &Value| body["jobs"][0].clone();
    let running = of(&world.get("/api/operations/jobs").await.body);
    assert_eq!(
        (&running["counts"], &running["itemCount"], &running["stage"]),
        (&Value::Null, &json!(30), &json!("processing"))
    );
    world.end(&job, Status::Completed, 10).await;
    let ended = of(&world.get("/api/operations/jobs?status=completed").await.body);
    assert_eq!(ended["counts"], json!({ "succeeded": 20, "failed": 10, "skipped": 0 }));
    let names: Vec<_> = ended.as_object().unwrap().keys().map(String::as_str).collect();
    for absent in ["fileName", "source", "metadata", "options", "issues", "error"] {
        assert!(!names.contains(&absent), "{absent}");
    }
    world.store.delete(job.job_id, Timestamp(NOW.0 + 1)).await.unwrap();
    assert_eq!(listed(&world, "").await, [""; 0]);
}
