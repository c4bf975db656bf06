//! Files that lie, end too early, or are something else.
#![allow(clippy::expect_used, reason = "a failed step fails the test")]

mod support;

use image::{DynamicImage, ImageFormat};
use longshore_images::{OutputFormat, Rejection, convert};
use proptest::prelude::*;
use support::*;

/// Valid files, of every kind.
fn files() -> Vec<Vec<u8>> {
    let gradient = DynamicImage::from(gradient(48, 40));
    let mut files: Vec<_> = FORMATS.iter().map(|(format, _)| encode(gradient.clone(), *format)).collect();
    files.push(encode(gradient.to_rgb8(), ImageFormat::WebP));
    files.push(encode(gradient.to_luma16(), ImageFormat::Png));
    files.push(with_exif(&files[0], 6));
    files.extend(
        [
            &include_bytes!("files/progressive.jpg")[..],
            include_bytes!("files/cmyk.jpg"),
            include_bytes!("files/palette.png"),
            include_bytes!("files/animated.png"),
            include_bytes!("files/lossy.webp"),
            include_bytes!("files/lossy-alpha.webp"),
            include_bytes!("files/animated.webp"),
        ]
        .map(<[u8]>::to_vec),
    );
    files
}

fn code(bytes: &[u8]) -> &'static str {
    convert_hostile(bytes).expect_err("a hostile file").code()
}

#[test]
fn a_file_of_another_type_is_refused() {
    for (bytes, expected) in [
        (&b"GIF89a\x01\0\x01\0\0\0\0;"[..], "unsupported_type"),
        (b"BM\x3a\0\0\0", "unsupported_type"),
        (b"II*\0\x08\0\0\0", "unsupported_type"),
        (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "unsupported_type"),
        (b"<!doctype html><title>cat.jpg</title>", "not_an_image"),
        (b"%PDF-1.7", "not_an_image"),
        (b"PK\x03\x04", "not_an_image"),
        (b"\xFF", "not_an_image"),
        (b"", "not_an_image"),
    ] {
        assert_eq!(code(bytes), expected, "{}", bytes.escape_ascii());
    }
}

/// A PNG file that claims these dimensions, with a few bytes of data.
fn lying_png(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    // A zlib stream of a few zeros: a bomb's would go on for all rows.
    let data = [0x78, 0x9C, 0x63, 0, 1, 0, 0, 1, 0, 1];
    [b"\x89PNG\r\n\x1a\n", &png_chunk(b"IHDR", &header)[..], &png_chunk(b"IDAT", &data), &png_chunk(b"IEND", &[])]
        .concat()
}

#[test]
fn pixels_above_the_limit_are_refused_from_the_header() {
    let jpeg = encode(quarters(16, 16), ImageFormat::Jpeg);
    let frame = jpeg.windows(2).position(|marker| marker == [0xFF, 0xC0]).unwrap();
    let mut lying_jpeg = jpeg.clone();
    lying_jpeg[frame + 5..frame + 9].copy_from_slice(&[0xFF; 4]);
    let mut large_jpeg = jpeg;
    large_jpeg[frame + 5..frame + 9].copy_from_slice(&[0x1F, 0xFF, 0x1F, 0xFF]);
    let webp = encode(quarters(16, 16), ImageFormat::WebP);
    for (bytes, expected) in [
        (lying_png(65_535, 65_535), "SideTooLong"),
        (lying_png(u32::MAX, u32::MAX), "SideTooLong"),
        (lying_png(16_384, 16_384), "TooManyPixels"),
        (lying_png(7_072, 7_072), "TooManyPixels"),
        (lying_jpeg, "SideTooLong"),
        (large_jpeg, "TooManyPixels"),
        (with_webp_chunks(&webp, 0, (1 << 24, 1), &[]), "SideTooLong"),
        (with_webp_chunks(&webp, 0, (16_384, 16_384), &[]), "TooManyPixels"),
    ] {
        let rejection = convert_hostile(&bytes).unwrap_err();
        assert!(format!("{rejection:?}").starts_with(expected), "{rejection:?}");
        assert_eq!(rejection.code(), "too_many_pixels");
    }
    assert_eq!(code(&lying_png(7_071, 7_071)), "damaged_image");
    assert_eq!(code(&lying_png(0, 10)), "damaged_image");
}

#[test]
fn pixels_that_take_too_much_memory_are_refused_from_the_header() {
    let sixteen_bits = |width: u32, height: u32| {
        let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[16, 6, 0, 0, 0]].concat();
        let mut bytes = lying_png(width, height);
        bytes.splice(8..33, png_chunk(b"IHDR", &header));
        bytes
    };
    let mut progressive = include_bytes!("files/progressive.jpg").to_vec();
    let frame = progressive.windows(2).position(|marker| marker == [0xFF, 0xC2]).unwrap();
    progressive[frame + 5..frame + 9].copy_from_slice(&[0x1B, 0x58, 0x1B, 0x58]);
    let mut animated = include_bytes!("files/animated.webp").to_vec();
    animated[24..30].copy_from_slice(&[0x58, 0x1B, 0, 0x58, 0x1B, 0]);
    for (bytes, expected) in [
        (sixteen_bits(5_792, 5_792), "damaged_image"),
        (sixteen_bits(5_793, 5_793), "too_many_pixels"),
        (progressive, "too_many_pixels"),
        (animated, "too_many_pixels"),
    ] {
        assert_eq!(code(&bytes), expected);
    }
}

#[test]
fn a_truncated_file_is_damaged_or_has_all_its_pixels() {
    for bytes in files() {
        let complete = convert_hostile(&bytes).unwrap();
        for sixteenth in 1..16 {
            match convert_hostile(&bytes[..bytes.len() * sixteenth / 16]) {
                Ok(converted) => assert_eq!(converted, complete, "{sixteenth}/16"),
                Err(rejection) => assert!(["damaged_image", "not_an_image"].contains(&rejection.code())),
            }
        }
        // The last bytes: the end of a JPEG file, the last pixels of a WebP file, no pixels of a PNG file.
        for missing in 1..=2 {
            let converted = convert_hostile(&bytes[..bytes.len() - missing]);
            assert!(converted.is_err() || bytes.starts_with(b"\x89PNG"), "{missing} bytes are missing");
        }
    }
}

#[test]
fn metadata_of_a_png_file_is_bounded() {
    // A text of 16 MiB of zeros. The decoder keeps it as it is.
    let png = encode(quarters(16, 16), ImageFormat::Png);
    let text = [&b"Comment\0"[..], &vec![b' '; 16 << 20]].concat();
    assert_eq!(code(&with_png_chunk(&png, b"tEXt", &text)), "too_large");
    assert_eq!(convert_hostile(&with_png_chunk(&png, b"tEXt", &text[..1 << 20])).unwrap().results.len(), 2);
}

#[test]
fn a_webp_chunk_that_lies_about_its_size_allocates_nothing() {
    let webp = encode(quarters(16, 16), ImageFormat::WebP);
    let huge = [&b"EXIF"[..], &0xFFFF_FFF0_u32.to_le_bytes(), b"MM"].concat();
    assert_eq!(code(&with_webp_chunks(&webp, 8, (16, 16), &huge)), "damaged_image");
    for at in [4, 16] {
        for size in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF_u32] {
            let mut bytes = webp.clone();
            bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
            assert_eq!(code(&bytes), "damaged_image", "{size} at {at}");
        }
    }
}

#[test]
fn a_lossless_webp_file_of_the_highest_width_is_refused() {
    // 16,384 is the highest width of the specification, and 0 to `image-webp` 0.2.
    let bits = 16_383_u32 | (1 << 28);
    let body = [&[0x2F][..], &bits.to_le_bytes(), &[0; 20]].concat();
    assert_eq!(code(&riff(&riff_chunk(b"VP8L", &body))), "damaged_image");
}

#[test]
fn jpeg_segments_that_are_not_valid_are_harmless() {
    let jpeg = encode(quarters(32, 32), ImageFormat::Jpeg);
    for marker in 0xC0..=0xFE {
        for body in [&[][..], &[0], &[0xFF; 40], &[1; 17], &[0; 300]] {
            let _ = convert_hostile(&with_segment(&jpeg, marker, body));
        }
        for length in [[0, 0], [0, 1], [0xFF, 0xFF]] {
            let _ = convert_hostile(&[&jpeg[..2], &[0xFF, marker], &length, &jpeg[2..]].concat());
        }
    }
}

#[test]
fn results_are_bounded_together() {
    // Noise, which does not compress: eight copies of 9 MB.
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let image = image::RgbImage::from_fn(1_733, 1_733, |_, _| image::Rgb([noise(), noise(), noise()]));
    let bytes = encode(image, ImageFormat::Png);
    let sizes = |count| (0..count).map(|n| size(&n.to_string(), 8_192, None, longshore_images::Fit::Contain)).collect();
    assert!(convert(&bytes, &options(sizes(2), OutputFormat::Png)).is_ok());
    let rejection = convert(&bytes, &options(sizes(8), OutputFormat::Png)).unwrap_err();
    assert_eq!((rejection.code(), &rejection), ("results_too_large", &Rejection::ResultsTooLarge));
}

/// A change of a file: its kind, a place as a fraction of the length, and bytes.
type Change = (u8, f64, Vec<u8>);

fn change(bytes: &mut Vec<u8>, (kind, place, new): &Change) {
    let at = (place * bytes.len() as f64) as usize;
    let end = (at + new.len()).min(bytes.len());
    match kind {
        0 => bytes[at..end].copy_from_slice(&new[..end - at]),
        1 => drop(bytes.splice(at..at, new.iter().copied())),
        2 => drop(bytes.drain(at..end)),
        3 => bytes.truncate(at),
        _ => bytes.extend_from_within(at..end),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_changed_file_never_panics(
        file in prop::sample::select(files()),
        changes in prop::collection::vec((0..5_u8, 0.0..1.0_f64, prop::collection::vec(any::<u8>(), 1..6)), 1..6),
    ) {
        let mut bytes = file;
        changes.iter().for_each(|made| change(&mut bytes, made));
        let _ = convert_hostile(&bytes);
    }

    #[test]
    fn random_bytes_behind_a_signature_never_panic(
        start in prop::sample::select(vec![
            &b"\xFF\xD8\xFF"[..], b"\xFF\xD8\xFF\xC0\0\x11\x08\0\x10\0\x10\x03", b"\xFF\xD8\xFF\xDA\0\x0C\x03",
            b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n\0\0\0\x0DIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0\x1F\xF3\xFFa",
            b"RIFF\x40\0\0\0WEBP", b"RIFF\x40\0\0\0WEBPVP8L\x30\0\0\0/\x0F\xC0\x03\0",
            b"RIFF\x40\0\0\0WEBPVP8 \x30\0\0\0\x30\x01\0\x9D\x01\x2A\x10\0\x10\0", b"RIFF\x40\0\0\0WEBPVP8X\x0A\0\0\0",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let _ = convert_hostile(&[start, &rest].concat());
    }
}
