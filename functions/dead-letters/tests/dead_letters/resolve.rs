//! `DELETE /api/dead-letters/{letterId}`, and the calls for a resolved dead letter.

use longshore_domain::dead_letter::Queue;
use serde_json::json;

use crate::world::{NOW, World, path};

#[tokio::test]
async fn a_discarded_dead_letter_leaves_the_list_and_names_its_operator() {
    let world = World::default();
    let dead_letter = world.record(Queue::Chunk, "not a message").await;
    for _ in 0..2 {
        assert_eq!(world.delete(&path(&dead_letter)).await.status, 204);
    }
    assert_eq!(world.get("/api/dead-letters").await.body["deadLetters"], json!([]));
    let shown = world.get(&path(&dead_letter)).await.body["deadLetter"].clone();
    assert_eq!(
        (&shown["state"], &shown["settledBy"], &shown["settledAt"], &shown["replay"]),
        (&json!("discarded"), &json!("olga"), &json!(NOW.to_rfc3339()), &json!("nothing"))
    );
    world.post(&format!("{}/replay", path(&dead_letter))).await.is_problem(409, "letter-settled");
    assert!(world.queues.take_redriven().is_empty());
    world.delete("/api/dead-letters/1700000000000-none").await.is_problem(404, "not-found");
}

#[tokio::test]
async fn a_replayed_dead_letter_is_not_discarded() {
    let world = World::default();
    let dead_letter = world.record(Queue::Chunk, "not a message").await;
    assert_eq!(world.post(&format!("{}/replay", path(&dead_letter))).await.status, 202);
    world.delete(&path(&dead_letter)).await.is_problem(409, "letter-settled");
}
