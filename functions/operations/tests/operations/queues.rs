//! `GET /api/operations/queues`.

use longshore_domain::ports::{MessageCounts, StackQueue};
use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn every_queue_has_its_numbers_and_the_age_of_its_oldest_message_if_it_is_known() {
    let world = World::default();
    let counts = MessageCounts { visible: 3, in_flight: 2, delayed: 1 };
    world.queues.set_statistics(StackQueue::ChunkLow, counts, None);
    let of = |body: &Value, name: &str| {
        body["queues"].as_array().unwrap().iter().find(|queue| queue["queue"] == name).unwrap().clone()
    };
    let body = world.get("/api/operations/queues").await.body;
    assert_eq!(body["queues"].as_array().unwrap().len(), 12);
    assert_eq!(
        of(&body, "chunkLow"),
        json!({
            "queue": "chunkLow", "isForDeadLetters": false, "visible": 3, "inFlight": 2, "delayed": 1,
            "oldestSeconds": null
        })
    );
    world.queues.set_statistics(StackQueue::ChunkDeadLetters, counts, Some(90));
    let body = world.get("/api/operations/queues").await.body;
    let dead = of(&body, "chunkDeadLetters");
    assert_eq!((&dead["isForDeadLetters"], &dead["oldestSeconds"]), (&json!(true), &json!(90)));
    assert_eq!(of(&body, "create")["oldestSeconds"], Value::Null);
}
