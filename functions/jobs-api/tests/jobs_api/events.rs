//! `GET /api/events`: pages, cursors, and the half minute before now.

use axum::body::Body;
use axum::http::Request;
use jobs_api::{Api, router};
use longshore_domain::event::LISTED_AFTER_S;
use longshore_domain::job::Status;
use longshore_domain::ports::{Events, JobStore, JobTransitions};
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::world::{InMemory, NOW, Reply, World};

/// The latest time at which an event that is listed now can have been moved.
const LISTED: Timestamp = Timestamp(NOW.0 - 1000 * LISTED_AFTER_S - 1);

async fn list(world: &World, query: &str) -> Reply {
    world.call("GET", &format!("/api/events{query}"), &[]).await
}

/// Lists events when those that were moved at [`NOW`] are in the list.
async fn list_later(world: &World, query: &str) -> Reply {
    let api = Api { clock: || NOW.plus_seconds(LISTED_AFTER_S + 1), ..world.api::<InMemory>(world.queues.clone()) };
    let request = Request::builder().uri(format!("/api/events{query}")).body(Body::empty()).unwrap();
    world.send_unchanged(router(api), world.signed_in(request)).await
}

/// Starts a job of a tenant, and moves its event at this time. Returns the id of the event.
async fn started(world: &World, tenant: &str, moved_at: Timestamp) -> String {
    let id = world.job_of(tenant).await;
    world.store.begin(id, 0, LISTED).await.unwrap();
    let job = world.store.job(id).await.unwrap().unwrap();
    let _ = world.store.move_events(&job, &[], moved_at).await.unwrap();
    format!("{id}-0-started")
}

fn ids(reply: &Reply) -> Vec<String> {
    let events = reply.body["events"].as_array().unwrap().iter();
    events.map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_event_says_what_has_changed_and_where_to_read_more() {
    let world = World::default();
    let id = world.job().await;
    world.finish(id, Status::Failed, 3).await;
    let reply = list_later(&world, "").await;
    assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"), "{}", reply.body);
    let path = format!("/api/jobs/{id}");
    let data = |version: u8, status: &str| {
        json!({
            "jobId": id, "jobType": "import", "metadata": {}, "generation": 0, "version": version, "status": status,
            "links": { "job": path },
        })
    };
    let mut failed = data(2, "failed");
    failed["counts"] = json!({ "succeeded": 0, "failed": 3, "skipped": 0 });
    failed["links"]["output"] = json!(format!("{path}/output"));
    let event = |name: &str, at: Timestamp, data: Value| json!({ "id": format!("{id}-0-{name}"), "type": format!("job.{name}"), "timestamp": at.to_rfc3339(), "data": data });
    let (failed, started) = (event("failed", NOW.plus_seconds(2), failed), event("started", NOW, data(1, "running")));
    assert_eq!(reply.body["events"], json!([started, failed]), "{:#}", reply.body);
}

#[tokio::test]
async fn a_client_that_continues_at_its_cursor_misses_no_event() {
    let world = World::default();
    let first = list(&world, "").await;
    assert_eq!(first.body, json!({ "events": [], "nextCursor": null }));
    let old = started(&world, "default", LISTED).await;
    started(&world, "another", LISTED).await;
    let new = started(&world, "default", NOW).await;
    let reply = list(&world, "?limit=7").await;
    assert_eq!(ids(&reply), std::slice::from_ref(&old), "the newest events are not listed yet");
    let cursor = reply.body["nextCursor"].as_str().unwrap().to_owned();
    assert_eq!(reply.header("link"), format!("</api/events?limit=7&cursor={cursor}>; rel=\"next\""));
    let again = list(&world, &format!("?cursor={cursor}")).await;
    assert_eq!((ids(&again), again.body["nextCursor"].as_str()), (Vec::new(), Some(cursor.as_str())));
    assert_eq!(again.header("link"), "");
    let future = longshore::http::paging::encode_cursor(&format!("{}.1.a", NOW.plus_days(9).0));
    assert_eq!(ids(&list(&world, &format!("?cursor={future}")).await), Vec::<String>::new());
    // Stamped before the call above, and written after it.
    let late = started(&world, "default", NOW.plus_seconds(-25)).await;
    assert_eq!(ids(&list_later(&world, &format!("?cursor={cursor}")).await), [late.clone(), new.clone()]);
    let page = list_later(&world, "?limit=1").await;
    assert_eq!(ids(&page), [old]);
    let next = page.body["nextCursor"].as_str().unwrap();
    assert_eq!(ids(&list_later(&world, &format!("?limit=2&cursor={next}")).await), [late, new]);
}

#[tokio::test]
async fn bad_parameters_are_refused_together() {
    let reply = list(&World::default(), "?limit=501&cursor=x").await;
    reply.is_problem(422, "invalid-request");
    let codes: Vec<_> = reply.body["errors"].as_array().unwrap().iter().map(|error| error["code"].clone()).collect();
    assert_eq!(codes, ["invalid_limit", "invalid_cursor"]);
}
