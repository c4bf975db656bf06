//! Images that are resized, and images that are rejected.

use image::ImageFormat::{Jpeg, Png, WebP};
use longshore_domain::outcome::Outcome;
use serde_json::{Value, json};

use crate::server::{Reaction, answer, ok};
use crate::world::{JOB, World, describe, described, picture};

/// Returns the key of a file of the job.
fn file(name: &str) -> String {
    format!("jobs/acme/{JOB}/images/{name}")
}

fn output(outcome: &Option<longshore_domain::remote::ItemOutcome>) -> Value {
    match outcome {
        Some(Outcome::Ok(Some(output))) => serde_json::from_str(output.get()).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_image_is_stored_in_every_size_and_the_output_lists_the_files() {
    let world = World::new([("/a.png", ok(&picture(640, 480, Png)))]).await;
    let options =
        json!({ "sizes": [{ "name": "s", "maxWidth": 64 }, { "name": "l", "maxHeight": 240 }], "format": "webp" });
    let outcomes = world.images(options, &["/a.png"]).await;
    let output = output(&outcomes[0]);
    assert_eq!((&output["width"], &output["height"]), (&json!(640), &json!(480)));
    for (at, name, width, height) in [(0, "1-s.webp", 64, 48), (1, "1-l.webp", 320, 240)] {
        let bytes = world.files.get(&file(name)).unwrap();
        let expected = json!({
            "name": name, "url": format!("/api/jobs/{JOB}/images/{name}"), "width": width, "height": height,
            "bytes": bytes.len(), "contentType": "image/webp"
        });
        assert_eq!(output["files"][at], expected);
        let stored = image::load_from_memory(&bytes).unwrap();
        assert_eq!((stored.width(), stored.height()), (width, height));
    }
    assert_eq!(world.files.keys(), [file("1-l.webp"), file("1-s.webp")], "nothing else is written");
}

#[tokio::test]
async fn the_default_is_one_copy_of_320_pixels_in_the_format_of_the_original() {
    let world = World::new([
        ("/a", ok(&picture(640, 480, Jpeg))),
        ("/b", ok(&picture(480, 640, Png))),
        ("/c", ok(&picture(10, 10, WebP))),
    ])
    .await;
    let outcomes = world.images(json!({}), &["/a", "/b", "/c"]).await;
    let sides = |at: usize| {
        (output(&outcomes[at])["files"][0]["width"].clone(), output(&outcomes[at])["files"][0]["height"].clone())
    };
    assert_eq!([sides(0), sides(1), sides(2)], [(320, 240), (240, 320), (10, 10)].map(|(w, h)| (json!(w), json!(h))));
    assert_eq!(world.files.keys(), [file("1-320.jpg"), file("2-320.png"), file("3-320.webp")]);
}

#[tokio::test]
async fn the_same_item_again_replaces_its_own_files() {
    let world = World::new([("/a", ok(&picture(64, 48, Jpeg)))]).await;
    let first = world.images(json!({}), &["/a"]).await;
    let second = world.images(json!({}), &["/a"]).await;
    assert_eq!(output(&first[0]), output(&second[0]));
    assert_eq!(world.files.keys(), [file("1-320.jpg")]);
}

#[tokio::test]
async fn an_image_that_cannot_be_converted_is_rejected_and_the_others_are_not_affected() {
    let mut bomb = picture(16, 16, Png);
    bomb[16..24].copy_from_slice(&[0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF]);
    let mut many_pixels = picture(16, 16, Png);
    many_pixels[16..24].copy_from_slice(&[0, 0, 0x27, 0x10, 0, 0, 0x27, 0x10]);
    let jpeg = picture(640, 480, Jpeg);
    let world = World::new([
        ("/good", ok(&jpeg)),
        ("/bomb", ok(&bomb)),
        ("/pixels", ok(&many_pixels)),
        ("/truncated", ok(&picture(64, 48, Png)[..60])),
        ("/half-jpeg", ok(&jpeg[..20])),
        ("/html", ok(b"<!doctype html><title>Sign in</title>")),
        ("/empty", ok(b"")),
        ("/bmp", ok(b"BM\x36\0")),
        ("/svg", ok(b"<svg xmlns='http://www.w3.org/2000/svg'/>")),
    ])
    .await;
    let table = [
        ("/good", "ok"),
        ("/bomb", "reject image_dimensions"),
        ("/pixels", "reject image_dimensions"),
        ("/truncated", "reject image_damaged"),
        ("/half-jpeg", "reject image_damaged"),
        ("/html", "reject not_an_image"),
        ("/empty", "reject not_an_image"),
        ("/bmp", "reject image_unsupported"),
        ("/svg", "reject image_unsupported"),
        ("/good", "ok"),
    ];
    let outcomes = world.images(json!({}), &table.map(|(path, _)| path)).await;
    assert_eq!(described(&outcomes), table.map(|(_, outcome)| outcome));
    assert_eq!(world.files.keys(), [file("1-320.jpg"), file("10-320.jpg")]);
    for outcome in &outcomes[1..9] {
        let Some(Outcome::Reject(rejection)) = outcome else { panic!("{outcome:?}") };
        assert!(rejection.message.ends_with('.') && rejection.message.len() > 30, "{}", rejection.message);
    }
}

#[tokio::test]
async fn a_file_above_the_limit_is_rejected_before_or_while_it_arrives() {
    let announced = answer("HTTP/1.1 200 OK\r\ncontent-length: 33554433\r\n\r\n", b"");
    let streamed = answer("HTTP/1.1 200 OK\r\n\r\n", &vec![0xFF; 33_554_433]);
    let chunk = [b"2000001\r\n".as_slice(), &vec![0xFF; 0x0200_0001], b"\r\n0\r\n\r\n"].concat();
    let chunked = answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", &chunk);
    let world = World::new([("/announced", announced), ("/streamed", streamed), ("/chunked", chunked)]).await;
    for path in ["/announced", "/streamed", "/chunked"] {
        assert_eq!(world.outcome(path).await, "reject image_too_large", "{path}");
    }
}

#[tokio::test]
async fn the_url_is_in_the_column_that_the_options_name() {
    let world = World::new([("/a", ok(&picture(8, 8, Png)))]).await;
    let row = |column: &str| json!({ "name": "Ann", column: world.url("/a") });
    for (options, value, expected) in [
        (json!({}), row("url"), "ok"),
        (json!({ "column": "Photo" }), row("Photo"), "ok"),
        (json!({ "column": "Photo" }), row("url"), "reject url_missing"),
        (json!({}), json!({ "url": "http://localhost/" }), "reject url_invalid"),
        (json!({}), json!({ "url": "https://127.0.0.1/" }), "reject url_not_allowed"),
        (json!({}), json!(7), "reject url_missing"),
    ] {
        let request = crate::world::request(options, vec![value.clone()], std::time::Duration::from_secs(60));
        let outcome = world.send(request).await.remove(0);
        assert_eq!(describe(outcome.as_ref()), expected, "{value}");
        if let Some(Outcome::Reject(rejection)) = outcome {
            let column = value.is_object().then(|| rejection.field.clone().unwrap_or_default());
            assert_eq!(rejection.field, column, "{value}");
        }
    }
}

#[tokio::test]
async fn two_sizes_of_one_name_stop_the_job() {
    let world = World::new::<0>([]).await;
    let size = json!({ "name": "a", "maxWidth": 8 });
    let request =
        crate::world::request(json!({ "sizes": [size, size] }), vec![json!("x")], std::time::Duration::from_secs(60));
    let answer =
        world.handler.answer(&request.to_string(), longshore_domain::timestamp::Timestamp(i64::MAX)).await.unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    assert_eq!(answer["fatal"]["code"], "invalid_options");
    assert!(answer["fatal"]["message"].as_str().unwrap().contains("used twice"), "{answer}");
}

#[tokio::test]
async fn a_redirect_of_an_image_is_followed_and_its_target_is_checked() {
    let to = |location: &str| crate::server::status(302, &format!("location: {location}\r\n"));
    let paths: [(&str, Reaction); 6] = [
        ("/a", ok(&picture(8, 8, Png))),
        ("/moved", to("/a")),
        ("/http", to("http://localhost/a")),
        ("/metadata", to("https://169.254.169.254/latest/meta-data/")),
        ("/loop", to("/loop")),
        ("/port", to("https://localhost:1/")),
    ];
    let world = World::new(paths).await;
    for (path, expected) in [
        ("/moved", "ok"),
        ("/http", "reject url_not_allowed"),
        ("/metadata", "reject url_not_allowed"),
        ("/port", "reject url_not_allowed"),
        ("/loop", "reject too_many_redirects"),
    ] {
        assert_eq!(world.outcome(path).await, expected, "{path}");
    }
}
