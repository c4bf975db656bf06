//! The peak of memory of this process, which runs one test only. Linux counts it.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, reason = "a failed step fails the test; shared code")]
#![cfg(target_os = "linux")]

#[path = "handler/server.rs"]
mod server;
#[path = "handler/world.rs"]
mod world;

use std::time::Duration;

use image::codecs::jpeg::JpegEncoder;
use image::{GenericImageView, Rgb};
use serde_json::json;

use image_handler::HandlerError;
use server::ok;
use world::{LONG, World, described, request};

const MIB: u64 = 1024 * 1024;

/// Returns the peak of this process's memory in MiB (`VmHWM`, proc(5)).
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024 / MIB
}

/// An image of 12 megapixels that takes no memory. Decoded, it has 34 MiB.
struct Stripes;

impl GenericImageView for Stripes {
    type Pixel = Rgb<u8>;

    fn dimensions(&self) -> (u32, u32) {
        (4_000, 3_000)
    }

    fn get_pixel(&self, x: u32, y: u32) -> Rgb<u8> {
        Rgb([x / 64, y / 64, x / 512].map(|sample| sample as u8))
    }
}

#[tokio::test]
async fn the_memory_for_twenty_images_is_that_of_one() {
    let times = image_handler::TimeLimits { reserve: Duration::ZERO, ..LONG };
    let mut jpeg = Vec::new();
    JpegEncoder::new(&mut jpeg).encode_image(&Stripes).unwrap();
    let world = World::with([("/a", ok(&jpeg))], times).await;
    let before = peak();
    assert_eq!(world.outcome("/a").await, "ok");
    let one = peak() - before;
    assert!(one > 30, "the image was decoded in {one} MiB");

    assert_eq!(described(&world.images(json!({}), &["/a"; 20]).await), ["ok"; 20]);
    let twenty = peak() - before;
    assert!(twenty <= one + 20, "20 images take {twenty} MiB, and one takes {one} MiB");

    // A call that ends while an image is converted: its thread continues, and no other conversion begins meanwhile.
    let send = async |time| {
        let values = vec![json!(world.url("/a")); 2];
        world.try_send(request(json!({}), values, time)).await
    };
    assert!(send(Duration::from_millis(100)).await.is_ok());
    let mut stuck = 0;
    while let Err(error) = send(Duration::from_secs(60)).await {
        assert!(matches!(error, HandlerError::Stuck), "{error}");
        stuck += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(stuck > 0, "the conversion ended within its call");
    let abandoned = peak() - before;
    assert!(abandoned <= one + 20, "with abandoned calls {abandoned} MiB, and one image takes {one} MiB");
}
