//! `waitingFor` of a job that an operator has paused.

use std::cell::Cell;

use axum::body::Body;
use axum::http::Request;
use jobs_api::{Api, router};
use longshore_domain::ids::PauseId;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::PauseRecords;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::world::{InMemory, NOW, World};

thread_local! {
    static CLOCK: Cell<Timestamp> = const { Cell::new(NOW) };
}

fn clock() -> Timestamp {
    CLOCK.get()
}

#[tokio::test]
async fn a_poll_shows_the_pause_of_its_job_and_reads_the_pauses_once_in_two_seconds() {
    let world = World::default();
    let id = world.job().await;
    let router = router(Api { clock, ..world.api::<InMemory>(world.queues.clone()) });
    let poll = async |after_ms: i64| -> Value {
        CLOCK.set(Timestamp(NOW.0 + after_ms));
        let request = Request::get(format!("/api/jobs/{id}")).body(Body::empty()).unwrap();
        let reply = world.send_unchanged(router.clone(), world.signed_in(request)).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["waitingFor"].clone()
    };
    assert_eq!(poll(0).await, Value::Null);
    let (scope, until) = (PauseScope::Tenant(DEFAULT_TENANT.clone()), NOW.plus_seconds(3_600));
    let pause = Pause { id: PauseId::generate(), scope, since: NOW, until, by: "olga".to_owned() };
    world.store.put_pause(&pause).await.unwrap();
    assert_eq!(poll(1_999).await, Value::Null, "as it was read before");
    let paused = json!({ "reason": "paused", "since": NOW.to_rfc3339(), "nextTry": until.to_rfc3339() });
    assert_eq!(poll(2_000).await, paused);
    world.store.end_pause(&pause).await.unwrap();
    assert_eq!(poll(4_000).await, Value::Null);
}
