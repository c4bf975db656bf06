//! `POST /api/operations/retries`.

use std::sync::atomic::{AtomicI64, Ordering};

use longshore_domain::ids::JobId;
use longshore_domain::job::{FailureFilter, Finish, Job, JobError, Selection, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{JobTransitions, OperatorLog};
use serde_json::{Value, json};

use crate::world::{NOW, Reply, World};

async fn retry(world: &World, code: &str, jobs: &[&Job]) -> Reply {
    let ids: Vec<_> = jobs.iter().map(|job| job.job_id).collect();
    let body = json!({ "type": "import", "code": code, "jobIds": ids, "asOf": NOW.to_rfc3339(), "reason": "fixed" });
    world.call("POST", "/api/operations/retries", &body).await
}

fn outcomes(reply: &Reply) -> Vec<(&str, &Value)> {
    let jobs = reply.body["jobs"].as_array().unwrap();
    jobs.iter().map(|job| (job["outcome"].as_str().unwrap(), &job["problem"])).collect()
}

#[tokio::test]
async fn exactly_the_items_with_the_code_run_again_and_each_job_has_an_answer() {
    let world = World::default();
    let [one, other_code, running] = [world.job("acme").await, world.job("umbrella").await, world.job("initech").await];
    world.failed(&one, &[("bad_email", 4), ("late", 1)]).await;
    world.failed(&other_code, &[("late", 1)]).await;
    let gone = Job { job_id: JobId::generate(), ..one.clone() };
    let reply = retry(&world, "bad_email", &[&one, &other_code, &running, &gone]).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(
        outcomes(&reply),
        [
            ("started", &Value::Null),
            ("refused", &json!("invalid-request")),
            ("refused", &json!("not-ended")),
            ("refused", &json!("not-found")),
        ]
    );
    let detail = reply.body["jobs"][1]["detail"].as_str().unwrap();
    assert!(detail.contains(r#"the codes are: "late""#), "{detail}");
    let stored = world.stored(&one).await;
    let filter = FailureFilter { code: "bad_email".into(), field: None };
    assert_eq!((stored.generation, stored.retry.selection), (1, Selection::Failure(filter)));
    assert_eq!(world.queues.take_creates().iter().map(|sent| sent.job_id).collect::<Vec<_>>(), [one.job_id]);
    let logged = world.log.logged_actions(None, 9).await.unwrap().items;
    let result = logged[0].result.as_ref().unwrap();
    assert_eq!((result.detail.as_str(), &result.started), ("1 of 4 jobs started", &vec![one.job_id]));
    assert_eq!(logged[0].entry.reason.as_deref(), Some("fixed"));
}

/// Ends a job of 30 items before all of them were processed.
async fn stop(world: &World, job: &Job, status: Status, error: Option<&str>) {
    let totals = Counts { succeeded: 10, failed: 4, skipped: 0 };
    let error = error.map(|code| JobError::new(code, ""));
    let finish = Finish { error, ..Finish::new(status, totals, NOW) };
    world.store.finish(job.job_id, &finish).await.unwrap();
}

#[tokio::test]
async fn a_canceled_job_and_one_with_unprocessed_items_are_left_to_their_tenant() {
    let world = World::default();
    let [canceled, limited, all] = [world.job("acme").await, world.job("umbrella").await, world.job("initech").await];
    stop(&world, &canceled, Status::Canceled, None).await;
    stop(&world, &limited, Status::Failed, Some("cost_limit")).await;
    world.end(&all, Status::Failed, 4).await;
    let reply = retry(&world, "bad", &[&canceled, &limited, &all]).await;
    let refused = json!("nothing-to-retry");
    assert_eq!(outcomes(&reply), [("refused", &refused), ("refused", &refused), ("started", &Value::Null)]);
    let detail = |at: usize| reply.body["jobs"][at]["detail"].as_str().unwrap();
    assert_eq!(detail(0), "the job was canceled; only its tenant can retry it");
    assert!(detail(1).contains("(cost_limit)") && detail(1).ends_with("only its tenant can retry it"), "{}", detail(1));
    for (job, generation) in [(&canceled, 0), (&limited, 0), (&all, 1)] {
        assert_eq!(world.stored(job).await.generation, generation);
    }
    let listed = world.get("/api/operations/failures").await.body;
    assert_eq!((&listed["jobsRead"], &listed["uncounted"]), (&json!(1), &json!(4)), "the canceled job is left out");
}

#[tokio::test]
async fn a_repeated_retry_starts_nothing_more() {
    let world = World::default();
    let job = world.job("acme").await;
    world.failed(&job, &[("bad", 4)]).await;
    for _ in 0..2 {
        assert_eq!(outcomes(&retry(&world, "bad", &[&job]).await), [("started", &Value::Null)]);
        assert_eq!(world.stored(&job).await.generation, 1);
    }
    assert_eq!(world.queues.take_creates().len(), 1);
    let mut results: Vec<_> = world.log.logged_actions(None, 9).await.unwrap().items;
    results.sort_by_key(|logged| logged.result.as_ref().unwrap().detail.clone());
    let results = results.iter().map(|logged| logged.result.as_ref().unwrap());
    let found: Vec<_> = results.map(|result| (result.detail.as_str(), result.started.as_slice())).collect();
    assert_eq!(found, [("0 of 1 jobs started, 1 ran already", &[][..]), ("1 of 1 jobs started", &[job.job_id][..])]);
    // The retry ends with failures again, after the time of the request.
    world.end_at(&job, Status::Completed, 4, NOW.plus_seconds(60)).await;
    assert_eq!(outcomes(&retry(&world, "bad", &[&job]).await), [("refused", &json!("nothing-to-retry"))]);
    assert_eq!(world.stored(&job).await.generation, 1);
}

#[tokio::test]
async fn a_job_of_another_type_or_tenant_over_its_limit_is_refused() {
    let world = World::default();
    let job = world.job("acme").await;
    world.failed(&job, &[("bad", 4)]).await;
    let body = json!({ "type": "invite", "code": "bad", "jobIds": [job.job_id], "reason": "r" });
    let reply = world.call("POST", "/api/operations/retries", &body).await;
    assert_eq!(outcomes(&reply), [("refused", &json!("not-found"))]);
    for _ in 0..2 {
        world.job("acme").await;
    }
    assert_eq!(outcomes(&retry(&world, "bad", &[&job]).await), [("refused", &json!("too-many-jobs"))]);
}

#[tokio::test]
async fn jobs_beyond_the_limit_of_their_tenant_are_refused() {
    let world = World::default();
    let mut jobs = Vec::new();
    for _ in 0..12 {
        let job = world.job("acme").await;
        world.failed(&job, &[("bad", 4)]).await;
        jobs.push(job);
    }
    let reply = retry(&world, "bad", &jobs.iter().collect::<Vec<_>>()).await;
    let outcomes = outcomes(&reply);
    let full = json!("too-many-jobs");
    assert_eq!(outcomes[..2], [("started", &Value::Null); 2], "the tenant may have two active jobs");
    assert_eq!(outcomes[2..], [("refused", &full); 10]);
}

#[tokio::test]
async fn jobs_for_which_there_is_no_time_are_refused_and_the_result_is_logged() {
    /// Seconds that have passed: each look at the clock takes one.
    static PASSED: AtomicI64 = AtomicI64::new(0);
    let world = World { clock: || NOW.plus_seconds(PASSED.fetch_add(1, Ordering::Relaxed)), ..World::default() };
    let gone: Vec<_> = (0..30).map(|_| JobId::generate()).collect();
    let body = json!({ "type": "import", "code": "bad", "jobIds": gone, "reason": "r" });
    let reply = world.call("POST", "/api/operations/retries", &body).await;
    let outcomes = outcomes(&reply);
    assert_eq!((outcomes[0], outcomes[29]), (("refused", &json!("not-found")), ("refused", &json!("unavailable"))));
    assert_eq!(reply.body["jobs"][29]["detail"], "there was no time for this job; repeat the call");
    let logged = world.log.logged_actions(None, 9).await.unwrap().items;
    assert_eq!(logged[0].result.as_ref().unwrap().detail, "0 of 30 jobs started");
}

#[tokio::test]
async fn every_bad_field_is_reported_and_nothing_is_logged() {
    let world = World::default();
    let id = JobId::generate();
    for (body, expected) in [
        (json!({}), vec!["/type", "/code", "/jobIds", "/reason"]),
        (
            json!({ "type": 1, "code": "", "jobIds": [], "asOf": "x", "reason": " ", "field": "f" }),
            vec!["/type", "/code", "/jobIds", "/asOf", "/reason", "/field"],
        ),
        (
            json!({ "type": "t", "code": "c", "jobIds": [id, id], "reason": "x".repeat(501) }),
            vec!["/jobIds", "/reason"],
        ),
        (json!({ "type": "t", "code": "c", "jobIds": vec![id; 101], "reason": "x" }), vec!["/jobIds"]),
    ] {
        let reply = world.call("POST", "/api/operations/retries", &body).await;
        reply.is_problem(422, "invalid-request");
        let errors = reply.body["errors"].as_array().unwrap().clone();
        let pointers: Vec<_> = errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
        assert_eq!(pointers, expected);
    }
    assert_eq!(world.log.logged_actions(None, 9).await.unwrap().items, []);
}
