//! Changes of registered job types: idempotent, conditional, by two operators at once, and after late pings.

use longshore_domain::ports::{JobTypes, PingRecord};
use longshore_domain::rate::Rate;
use longshore_domain::registration::{Candidate, MAX_JOB_TYPES, Registration, TypeName};
use serde_json::{Value, json};

use crate::job_types::{content, operated};
use crate::world::{NOW, World};

/// The name of the job type.
fn invite() -> TypeName {
    TypeName::parse("invite").unwrap()
}

/// A world with an active job type.
async fn active() -> World {
    let world = operated();
    world.register("invite", &content(1)).await;
    assert_eq!(world.answer(&world.ping()).await, PingRecord::Recorded);
    world
}

/// Status, calls at a time and the candidate's status of the job type.
async fn state(world: &World) -> (Value, Value, Value) {
    let document = world.get("/api/job-types/invite").await.body;
    (document["status"].clone(), document["concurrency"].clone(), document["candidate"]["status"].clone())
}

#[tokio::test]
async fn the_active_registration_stays_in_force_until_the_candidate_has_answered() {
    let world = active().await;
    assert_eq!(world.register("invite", &content(2)).await.status, 202);
    assert_eq!(state(&world).await, (json!("active"), json!(1), json!("pending")));
    let second = world.ping();
    assert_eq!(world.fail(&second).await, PingRecord::Recorded);
    assert_eq!(state(&world).await, (json!("active"), json!(1), json!("refused")));
    assert_eq!(world.register("invite", &content(2)).await.status, 202, "the same content again is pinged again");
    let third = world.ping();
    assert_ne!(third.version, second.version);
    assert_eq!(world.answer(&third).await, PingRecord::Recorded);
    assert_eq!(state(&world).await, (json!("active"), json!(2), Value::Null));
}

#[tokio::test]
async fn a_put_of_the_active_content_changes_nothing_and_removes_a_candidate() {
    let world = active().await;
    let tag = world.get("/api/job-types/invite").await.header("etag").to_owned();
    // Default values and the order of members make no difference.
    let same = json!({ "concurrency": 1, "tries": 5, "input": "file", "target": content(1)["target"] });
    let reply = world.register("invite", &same).await;
    assert_eq!((reply.status, reply.header("etag")), (200, tag.as_str()));
    world.register("invite", &content(2)).await;
    let ping = world.ping();
    assert_eq!(world.register("invite", &content(1)).await.status, 200);
    assert_eq!(world.answer(&ping).await, PingRecord::Stale);
    assert_eq!(state(&world).await, (json!("active"), json!(1), Value::Null));
    assert!(world.queues.take_pings().is_empty());
}

#[tokio::test]
async fn a_late_ping_of_an_older_version_has_no_effect() {
    let world = operated();
    world.register("invite", &content(1)).await;
    let first = world.ping();
    world.register("invite", &content(2)).await;
    let second = world.ping();
    for _ in 0..2 {
        assert_eq!((world.answer(&first).await, world.fail(&first).await), (PingRecord::Stale, PingRecord::Stale));
        assert_eq!(state(&world).await, (json!("pending"), json!(2), json!("pending")));
    }
    for _ in 0..2 {
        assert_eq!(world.answer(&second).await, PingRecord::Recorded, "twice is as good as once");
        assert_eq!(world.fail(&second).await, PingRecord::Stale);
    }
    assert_eq!(world.answer(&first).await, PingRecord::Stale);
    assert_eq!(state(&world).await, (json!("active"), json!(2), Value::Null));
}

#[tokio::test]
async fn a_ping_after_the_deletion_creates_nothing_even_if_the_name_is_used_again() {
    let world = active().await;
    world.register("invite", &content(2)).await;
    let ping = world.ping();
    assert_eq!(world.call("DELETE", "/api/job-types/invite", &[]).await.status, 204);
    world.call("DELETE", "/api/job-types/invite", &[]).await.is_problem(404, "not-found");
    assert_eq!((world.answer(&ping).await, world.fail(&ping).await), (PingRecord::Stale, PingRecord::Stale));
    assert_eq!(world.store.job_type(&invite()).await.unwrap(), None);
    world.register("invite", &content(2)).await;
    assert_eq!(world.answer(&ping).await, PingRecord::Stale, "the same content again has another version");
    assert_eq!(state(&world).await, (json!("pending"), json!(2), json!("pending")));
}

#[tokio::test]
async fn a_conditional_change_applies_only_to_the_version_that_the_operator_has_read() {
    let world = active().await;
    let tag = world.get("/api/job-types/invite").await.header("etag").to_owned();
    assert_eq!(world.register("invite", &content(2)).await.status, 202);
    for old in [tag.as_str(), "\"other\"", ""] {
        let headers = [("if-match", old)];
        world.register_if("invite", &content(3), &headers).await.is_problem(412, "precondition-failed");
        world.call("DELETE", "/api/job-types/invite", &headers).await.is_problem(412, "precondition-failed");
        world.register_if("none", &content(3), &headers).await.is_problem(412, "precondition-failed");
    }
    world.register_if("none", &content(3), &[("if-match", "*")]).await.is_problem(412, "precondition-failed");
    assert_eq!(world.store.job_type(&TypeName::parse("none").unwrap()).await.unwrap(), None);
    let tag = world.get("/api/job-types/invite").await.header("etag").to_owned();
    let reply = world.register_if("invite", &content(3), &[("if-match", &tag)]).await;
    assert_eq!(reply.status, 202);
    let headers = [("if-match", reply.header("etag"))];
    assert_eq!(world.call("DELETE", "/api/job-types/invite", &headers).await.status, 204);
}

#[tokio::test]
async fn of_two_operators_at_once_one_content_becomes_the_candidate() {
    let world = active().await;
    let other = World { groups: "[operators]", ..world.as_tenant("olga") };
    let (two, three) = (content(2), content(3));
    let (one, another) = tokio::join!(world.register("invite", &two), other.register("invite", &three));
    assert_eq!((one.status, another.status), (202, 202));
    let pings = world.queues.take_pings();
    let recorded: Vec<_> = [world.answer(&pings[0]).await, world.answer(&pings[1]).await].into();
    assert_eq!(recorded.iter().filter(|record| **record == PingRecord::Recorded).count(), 1, "{recorded:?}");
    let (_, concurrency, _) = state(&world).await;
    assert!(concurrency == 2 || concurrency == 3);
}

#[tokio::test]
async fn puts_above_the_operators_rate_are_refused() {
    let rate = Rate { per_second: 10, burst: 20 };
    let world = World { tenant_calls: Some(rate), ..operated() };
    let router = world.router();
    let mut accepted = 0;
    for number in 1..=20 {
        let reply = world.send_put(router.clone(), "/api/job-types/invite", &content(number)).await;
        accepted += u32::from(reply.status == 202);
        if reply.status != 202 {
            reply.is_problem(429, "rate-limited");
            assert!(!reply.header("retry-after").is_empty());
        }
    }
    assert_eq!(accepted, 4, "a PUT costs five calls");
    assert_eq!(world.queues.take_pings().len(), 4);
}

#[tokio::test]
async fn twenty_puts_leave_one_candidate_and_only_its_ping_counts() {
    let world = active().await;
    for number in 2..=21 {
        assert_eq!(world.register("invite", &content(number)).await.status, 202);
    }
    let pings = world.queues.take_pings();
    assert_eq!(pings.len(), 20);
    for ping in &pings[..19] {
        assert_eq!(world.answer(ping).await, PingRecord::Stale);
    }
    assert_eq!(state(&world).await, (json!("active"), json!(1), json!("pending")));
    assert_eq!(world.answer(&pings[19]).await, PingRecord::Recorded);
    assert_eq!(state(&world).await, (json!("active"), json!(21), Value::Null));
}

#[tokio::test]
async fn the_number_of_job_types_is_limited() {
    let world = operated();
    let reply = world.register("t-0", &content(1)).await;
    assert_eq!(reply.status, 202);
    let stored = world.store.job_type(&TypeName::parse("t-0").unwrap()).await.unwrap().unwrap();
    for number in 1..MAX_JOB_TYPES {
        let name = TypeName::parse(&format!("t-{number}")).unwrap();
        let registration = Registration { name: name.clone(), ..stored.shown().unwrap().clone() };
        let candidate = Candidate::new(registration, NOW);
        assert!(world.store.put_candidate(&name, Some(&candidate), None).await.is_ok());
    }
    world.queues.take_pings();
    let refused = world.register("one-more", &content(1)).await;
    refused.is_problem(409, "too-many-job-types");
    assert!(refused.body["detail"].as_str().unwrap().contains("200"));
    assert!(world.queues.take_pings().is_empty());
    assert_eq!(world.register("t-7", &content(2)).await.status, 202, "an existing job type can be changed");
    assert_eq!(world.call("DELETE", "/api/job-types/t-8", &[]).await.status, 204);
    assert_eq!(world.register("one-more", &content(1)).await.status, 202);
}
