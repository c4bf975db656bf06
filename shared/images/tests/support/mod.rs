//! Images made in code, and the conversion of them.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a failed step fails the test; shared by several tests"
)]

pub mod huffman_bomb;

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use longshore_images::{CheckedOptions, ConvertedImage, Fit, Options, OutputFormat, Rejection, SizeOptions, convert};

/// Every format with the name of it in options.
pub const FORMATS: [(ImageFormat, OutputFormat); 3] = [
    (ImageFormat::Jpeg, OutputFormat::Jpeg),
    (ImageFormat::Png, OutputFormat::Png),
    (ImageFormat::WebP, OutputFormat::Webp),
];

/// The colours of the quarters of [`quarters`], row by row.
pub const COLORS: [[u8; 3]; 4] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]];

/// An image of four quarters, each of one colour.
pub fn quarters(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| Rgb(COLORS[usize::from(x >= width / 2) + 2 * usize::from(y >= height / 2)]))
}

/// An image with many colours and an alpha from 0 to 255.
pub fn gradient(width: u32, height: u32) -> RgbaImage {
    RgbaImage::from_fn(width, height, |x, y| {
        let [x, y] = [x * 255 / width.max(2), y * 255 / height.max(2)].map(|value| value as u8);
        Rgba([x, y, x ^ y, x])
    })
}

pub fn encode(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let image = image.into();
    let image = if format == ImageFormat::Jpeg { image.to_rgb8().into() } else { image };
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).expect("an image");
    bytes.into_inner()
}

pub fn size(name: &str, width: u32, height: Option<u32>, fit: Fit) -> SizeOptions {
    SizeOptions { name: name.into(), width, height, fit }
}

/// Options of one contained size.
pub fn width(width: u32, format: OutputFormat) -> CheckedOptions {
    options(vec![size("a", width, None, Fit::Contain)], format)
}

pub fn options(sizes: Vec<SizeOptions>, format: OutputFormat) -> CheckedOptions {
    Options { sizes, format, quality: 90 }.check().expect("options")
}

/// Converts to one contained size of this width, and decodes the result with the `image` crate.
pub fn converted(bytes: &[u8], to: u32, format: OutputFormat) -> DynamicImage {
    let converted = convert(bytes, &width(to, format)).expect("an image");
    decode(&converted.results[0].data)
}

pub fn decode(bytes: &[u8]) -> DynamicImage {
    image::load_from_memory(bytes).expect("a result")
}

/// Converts hostile bytes: no decoder may have panicked, and results are within their sizes.
pub fn convert_hostile(bytes: &[u8]) -> Result<ConvertedImage, Rejection> {
    let sizes = vec![size("contain", 40, Some(30), Fit::Contain), size("cover", 20, Some(20), Fit::Cover)];
    let result = convert(bytes, &options(sizes, OutputFormat::Original));
    match &result {
        Ok(converted) => {
            for (result, side) in converted.results.iter().zip([40, 20]) {
                assert!(result.info.width <= side && result.info.height <= side && result.data.len() < 16 * 1024);
                assert_eq!(result.info.bytes, result.data.len());
            }
        }
        Err(Rejection::DecoderPanicked(format)) => panic!("the {format} decoder panicked: {}", bytes.escape_ascii()),
        Err(_) => {}
    }
    result
}

/// Asserts that each quarter has its colour in its middle.
#[track_caller]
pub fn assert_quarters(image: &DynamicImage, colors: [[u8; 3]; 4], tolerance: u8) {
    let image = image.to_rgb8();
    let (width, height) = image.dimensions();
    for (index, color) in (0..).zip(colors) {
        let (x, y) = ((1 + 2 * (index % 2)) * width / 4, (1 + 2 * (index / 2)) * height / 4);
        let found = image.get_pixel(x, y).0;
        let close = found.iter().zip(color).all(|(found, color)| found.abs_diff(color) <= tolerance);
        assert!(close, "quarter {index}: {found:?} instead of {color:?}");
    }
}

/// A TIFF block with an orientation, as EXIF has it (CIPA DC-008, section 4.6).
pub fn exif(orientation: u16) -> Vec<u8> {
    let [high, low] = orientation.to_be_bytes();
    let entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, high, low, 0, 0];
    [&b"MM\x00*\x00\x00\x00\x08\x00\x01"[..], &entry, &[0; 4]].concat()
}

/// Inserts a segment behind a JPEG file's start.
pub fn with_segment(jpeg: &[u8], marker: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u16 + 2).to_be_bytes();
    [&jpeg[..2], &[0xFF, marker], &length, body, &jpeg[2..]].concat()
}

pub fn with_exif(jpeg: &[u8], orientation: u16) -> Vec<u8> {
    with_segment(jpeg, 0xE1, &[b"Exif\0\0", &exif(orientation)[..]].concat())
}

/// Inserts a chunk behind a PNG file's `IHDR`.
pub fn with_png_chunk(png: &[u8], kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    [&png[..33], &png_chunk(kind, body), &png[33..]].concat()
}

pub fn png_chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let checked = [&kind[..], body].concat();
    [&(body.len() as u32).to_be_bytes(), &checked[..], &crc32(&checked).to_be_bytes()].concat()
}

/// Makes an extended WebP file of a simple one, with more chunks and the flags for them.
pub fn with_webp_chunks(webp: &[u8], flags: u8, (width, height): (u32, u32), chunks: &[u8]) -> Vec<u8> {
    let sides = [(width - 1).to_le_bytes(), (height - 1).to_le_bytes()];
    let header = [&[flags, 0, 0, 0], &sides[0][..3], &sides[1][..3]].concat();
    riff(&[&riff_chunk(b"VP8X", &header), &webp[12..], chunks].concat())
}

pub fn riff(chunks: &[u8]) -> Vec<u8> {
    [b"RIFF", &(chunks.len() as u32 + 4).to_le_bytes()[..], b"WEBP", chunks].concat()
}

pub fn riff_chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut chunk = [&kind[..], &(body.len() as u32).to_le_bytes(), body].concat();
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

/// The checksum of PNG chunks (<https://www.w3.org/TR/png-3/#D-CRCAppendix>).
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
