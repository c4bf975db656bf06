//! The peak of memory of this process, which runs one test only. Linux counts it.
#![allow(clippy::expect_used, reason = "a failed step fails the test")]
#![cfg(target_os = "linux")]

mod support;

use image::codecs::jpeg::JpegEncoder;
use image::{GenericImageView, ImageFormat, Rgb};
use longshore_images::{Fit, OutputFormat, convert};
use support::huffman_bomb::huffman_bomb;
use support::*;

const MIB: u64 = 1024 * 1024;

/// An image of 50 megapixels that takes no memory.
struct Stripes;

impl GenericImageView for Stripes {
    type Pixel = Rgb<u8>;

    fn dimensions(&self) -> (u32, u32) {
        (8_164, 6_124)
    }

    fn get_pixel(&self, x: u32, y: u32) -> Rgb<u8> {
        Rgb([x / 64, y / 64, x / 512].map(|sample| sample as u8))
    }
}

/// Returns a peak of this process in bytes: `VmHWM` of memory in use, `VmPeak` of memory reserved (proc(5)).
fn peak(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect(name);
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[test]
fn memory_is_bounded() {
    let webp = encode(quarters(16, 16), ImageFormat::WebP);
    let lossy = include_bytes!("files/lossy.webp");
    let chunk = [&b"EXIF"[..], &0xF000_0000_u32.to_le_bytes(), b"MM"].concat();
    let mut frame = lossy.to_vec();
    frame[26..30].copy_from_slice(&[0xFF, 0x3F, 0xFF, 0x3F]);
    for (kind, bytes) in [
        ("a chunk that claims 4 GiB", with_webp_chunks(&webp, 8, (16, 16), &chunk)),
        ("a frame that claims 16,383 x 16,383 pixels", with_webp_chunks(&frame, 0, (16, 16), &[])),
    ] {
        let before = peak("VmPeak");
        assert_eq!(convert(&bytes, &width(8, OutputFormat::Png)).unwrap_err().code(), "damaged_image");
        let reserved = (peak("VmPeak") - before) / MIB;
        assert!(reserved < 16, "{kind} reserves {reserved} MiB");
    }

    let bomb = huffman_bomb(65_536);
    assert!(bomb.len() < 4_000_000);
    let before = peak("VmHWM");
    assert_eq!(convert(&bomb, &width(8, OutputFormat::Png)).unwrap_err().code(), "too_many_pixels");
    let used = (peak("VmHWM") - before) / MIB;
    assert!(used < 16, "codes of a lossless image take {used} MiB");
    assert_eq!(convert(&huffman_bomb(2_000), &width(8, OutputFormat::Png)).unwrap().results.len(), 1);

    let mut jpeg = Vec::new();
    JpegEncoder::new(&mut jpeg).encode_image(&Stripes).unwrap();
    let jpeg = with_exif(&jpeg, 6);
    let before = peak("VmHWM");
    let sizes = [320, 1_024, 2_048].map(|width| size(&width.to_string(), width, None, Fit::Contain));
    let converted = convert(&jpeg, &options(sizes.to_vec(), OutputFormat::Original)).unwrap();
    assert_eq!((converted.original.width, converted.original.height), (6_124, 8_164));
    assert_eq!((converted.results[2].info.width, converted.results[2].info.height), (2_048, 2_730));
    let used = (peak("VmHWM") - before) / MIB;
    assert!((143..256).contains(&used), "an image of 50 megapixels, 143 MiB, takes {used} MiB");
}
