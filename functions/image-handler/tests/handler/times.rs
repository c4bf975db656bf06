//! The end of a call: what is done is answered, and the rest is left unanswered.

use std::time::{Duration, Instant};

use image::ImageFormat::Jpeg;
use image_handler::TimeLimits;
use longshore_domain::timestamp::Timestamp;
use serde_json::json;

use crate::server::{Reaction, ok};
use crate::world::{World, described, picture, request};

const TIMES: TimeLimits = TimeLimits { download: Duration::from_secs(60), reserve: Duration::from_millis(100) };

/// Returns a world whose images arrive, are slow, or never arrive.
async fn world() -> World {
    let picture = picture(64, 48, Jpeg);
    let Reaction::Answer(bytes) = ok(&picture) else { panic!() };
    let slow = Reaction::After(Duration::from_millis(300), bytes);
    World::with([("/a", ok(&picture)), ("/slow", slow), ("/silent", Reaction::Silence)], TIMES).await
}

#[tokio::test]
async fn items_behind_the_end_of_the_call_are_left_unanswered() {
    let world = world().await;
    let values = ["/a", "/a", "/silent", "/a"].map(|path| json!(world.url(path))).to_vec();
    let begun = Instant::now();
    let outcomes = world.send(request(json!({}), values, Duration::from_secs(3))).await;
    assert_eq!(described(&outcomes), ["ok", "ok", "unanswered", "unanswered"]);
    assert!(begun.elapsed() < Duration::from_secs(3), "the answer comes before the deadline");
    assert_eq!(world.files.keys().len(), 2);
    assert_eq!(
        *world.requested.lock().unwrap(),
        ["/a", "/a", "/silent"],
        "no download begins behind the one that did not end"
    );
}

#[tokio::test]
async fn the_end_of_the_process_counts_too() {
    let world = world().await;
    let values = ["/a", "/silent"].map(|path| json!(world.url(path))).to_vec();
    let event = request(json!({}), values, Duration::from_secs(60)).to_string();
    let ends = Timestamp(Timestamp::now().0 + 2_000);
    let answer = serde_json::to_value(world.handler.answer(&event, ends).await.unwrap()).unwrap();
    assert_eq!(answer["results"].as_array().unwrap().len(), 1, "{answer}");
    assert!(Timestamp::now() < ends);
}

#[tokio::test]
async fn an_answer_has_at_least_one_result_even_without_time() {
    let world = world().await;
    for (path, milliseconds) in [("/silent", 400), ("/a", 0), ("/a", 50)] {
        let values = vec![json!(world.url(path)); 2];
        let outcomes = world.send(request(json!({}), values, Duration::from_millis(milliseconds))).await;
        assert_eq!(described(&outcomes), ["retry", "unanswered"], "{path}");
    }
}

#[tokio::test]
async fn the_next_image_is_downloaded_while_one_is_converted_and_no_further_one() {
    let world = world().await;
    let outcomes = world.images(json!({}), &["/a", "/slow", "/slow", "/a"]).await;
    assert_eq!(described(&outcomes), ["ok"; 4]);
    assert_eq!(*world.requested.lock().unwrap(), ["/a", "/slow", "/slow", "/a"], "each once, in order");
}
