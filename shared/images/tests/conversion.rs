//! Conversions: formats, orientation, metadata, fits, alpha and kinds of files.

mod support;

use image::imageops::{FilterType, resize};
use image::metadata::Orientation;
use image::{DynamicImage, GrayImage, ImageBuffer, ImageFormat, Luma, Rgb, RgbImage, Rgba, RgbaImage};
use longshore_images::{Fit, Format, OutputFormat, convert};
use support::*;

#[test]
fn every_format_becomes_every_format() {
    for (from, _) in FORMATS {
        let bytes = encode(quarters(80, 60), from);
        for (to, option) in FORMATS {
            let converted = convert(&bytes, &width(40, option)).unwrap();
            let result = &converted.results[0];
            assert_eq!(image::guess_format(&result.data).unwrap(), to);
            assert_eq!((result.info.width, result.info.height, result.info.bytes), (40, 30, result.data.len()));
            assert_quarters(&decode(&result.data), COLORS, if [from, to].contains(&ImageFormat::Jpeg) { 6 } else { 0 });
        }
        let kept = convert(&bytes, &width(40, OutputFormat::Original)).unwrap();
        assert_eq!(image::guess_format(&kept.results[0].data).unwrap(), from);
        assert_eq!(kept.original.format, kept.results[0].info.format);
    }
}

#[test]
fn each_orientation_is_applied_before_sizes_are_computed() {
    // A JPEG of 8 x 8 blocks of one colour has exact pixels.
    let image = DynamicImage::from(quarters(64, 32));
    for orientation in 1..=8_u8 {
        let mut expected = image.clone();
        expected.apply_orientation(Orientation::from_exif(orientation).unwrap());
        let jpeg = with_exif(&encode(image.clone(), ImageFormat::Jpeg), orientation.into());
        let png = with_png_chunk(&encode(image.clone(), ImageFormat::Png), b"eXIf", &exif(orientation.into()));
        let chunk = riff_chunk(b"EXIF", &exif(orientation.into()));
        let webp = with_webp_chunks(&encode(image.clone(), ImageFormat::WebP), 8, (64, 32), &chunk);
        for (bytes, tolerance) in [(jpeg, 3), (png, 0), (webp, 0)] {
            let copy = converted(&bytes, 64, OutputFormat::Png).to_rgb8();
            assert_eq!(copy.dimensions(), (expected.width(), expected.height()), "orientation {orientation}");
            let pairs = copy.iter().zip(expected.as_bytes());
            assert!(pairs.clone().all(|(a, b)| a.abs_diff(*b) <= tolerance), "orientation {orientation}");
            // The width is that after orientation: 16 of 64, or 16 of 32.
            let small = converted(&bytes, 16, OutputFormat::Png);
            assert_eq!((small.width(), small.height()), (16, 16 * expected.height() / expected.width()));
            let colors = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(x, y)| {
                let (x, y) = (x * (expected.width() - 1), y * (expected.height() - 1));
                expected.to_rgb8().get_pixel(x, y).0
            });
            assert_quarters(&small, colors, tolerance.max(1));
            let original = convert(&bytes, &width(1, OutputFormat::Png)).unwrap().original;
            assert_eq!((original.width, original.height), copy.dimensions());
        }
    }
}

#[test]
fn a_crop_is_the_same_before_and_after_orientation() {
    let image = RgbImage::from_fn(90, 40, |x, y| Rgb([x * 2, y * 6, x + y].map(|sample| sample as u8)));
    let png = encode(image.clone(), ImageFormat::Png);
    let square = options(vec![size("a", 20, Some(20), Fit::Cover)], OutputFormat::Png);
    for orientation in 1..=8_u8 {
        let turned = with_png_chunk(&png, b"eXIf", &exif(orientation.into()));
        let mut upright = DynamicImage::from(image.clone());
        upright.apply_orientation(Orientation::from_exif(orientation).unwrap());
        let [found, expected] = [turned, encode(upright, ImageFormat::Png)]
            .map(|bytes| decode(&convert(&bytes, &square).unwrap().results[0].data).to_rgb8());
        assert!(found.iter().zip(expected.iter()).all(|(a, b)| a.abs_diff(*b) <= 2), "orientation {orientation}");
    }
}

#[test]
fn an_orientation_that_is_not_valid_is_ignored() {
    let jpeg = encode(quarters(64, 32), ImageFormat::Jpeg);
    for orientation in [0, 9, 255, 65_535] {
        assert_quarters(&converted(&with_exif(&jpeg, orientation), 32, OutputFormat::Png), COLORS, 3);
    }
    for block in [&b""[..], b"MM", b"MM\0*\xFF\xFF\xFF\xFF", b"II*\0\x08\0\0\0\xFF\xFF"] {
        let bytes = with_segment(&jpeg, 0xE1, &[b"Exif\0\0", block].concat());
        assert_quarters(&converted(&bytes, 32, OutputFormat::Png), COLORS, 3);
    }
}

#[test]
fn results_contain_no_metadata() {
    const SECRET: &[u8] = b"52.5200N 13.4050E";
    let image = quarters(64, 32);
    let block = [&exif(1)[..], SECRET].concat();
    let mut jpeg = with_exif(&encode(image.clone(), ImageFormat::Jpeg), 1);
    for (marker, name) in
        [(0xE1, &b"http://ns.adobe.com/xap/1.0/\0"[..]), (0xE2, b"ICC_PROFILE\0\x01\x01"), (0xFE, b""), (0xED, b"8BIM")]
    {
        jpeg = with_segment(&jpeg, marker, &[name, SECRET].concat());
    }
    let mut png = encode(image.clone(), ImageFormat::Png);
    for (kind, name) in [(b"tEXt", &b"Comment\0"[..]), (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0"), (b"eXIf", b"MM\0*")] {
        png = with_png_chunk(&png, kind, &[name, SECRET].concat());
    }
    let webp = encode(image, ImageFormat::WebP);
    let chunks = [(b"EXIF", &block[..]), (b"XMP ", SECRET), (b"ICCP", SECRET)];
    let chunks = chunks.map(|(kind, body)| riff_chunk(kind, body)).concat();
    let webp = with_webp_chunks(&webp, 0b10_1100, (64, 32), &chunks);
    let marks: [&[u8]; 13] = [
        SECRET,
        b"Exif",
        b"EXIF",
        b"eXIf",
        b"ns.adobe.com",
        b"XMP ",
        b"ICC_PROFILE",
        b"ICCP",
        b"iCCP",
        b"tEXt",
        b"iTXt",
        b"zTXt",
        b"8BIM",
    ];
    for bytes in [jpeg, png, webp] {
        assert!(contains(&bytes, SECRET));
        for (_, format) in FORMATS {
            for to in [64, 20] {
                let result = convert(&bytes, &width(to, format)).unwrap();
                for mark in marks {
                    assert!(!contains(&result.results[0].data, mark), "{format:?}: {}", mark.escape_ascii());
                }
            }
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn sizes_keep_their_order_names_and_dimensions() {
    let bytes = encode(quarters(400, 200), ImageFormat::Png);
    let sizes = vec![
        size("thumbnail", 100, None, Fit::Contain),
        size("square", 64, Some(64), Fit::Cover),
        size("large", 8192, None, Fit::Contain),
        size("banner", 8192, Some(1024), Fit::Cover),
        size("tall", 10, Some(100), Fit::Cover),
    ];
    let converted = convert(&bytes, &options(sizes, OutputFormat::Webp)).unwrap();
    let found: Vec<_> = converted.results.iter().map(|r| (r.info.name.as_str(), r.info.width, r.info.height)).collect();
    let expected =
        [("thumbnail", 100, 50), ("square", 64, 64), ("large", 400, 200), ("banner", 400, 50), ("tall", 10, 100)];
    assert_eq!(found, expected);
    for result in &converted.results {
        assert_eq!(result.info.format, Format::Webp);
        let image = decode(&result.data);
        assert_eq!((image.width(), image.height()), (result.info.width, result.info.height));
        assert_quarters(&image, COLORS, 2);
    }
    let json = serde_json::to_value((converted.original, &converted.results[0].info)).unwrap();
    let bytes = converted.results[0].data.len();
    let expected = serde_json::json!([
        {"width": 400, "height": 200, "format": "png"},
        {"name": "thumbnail", "width": 100, "height": 50, "bytes": bytes, "format": "webp"}
    ]);
    assert_eq!(json, expected);
}

#[test]
fn colors_of_transparent_pixels_do_not_bleed() {
    // Left: opaque. Right: transparent. The edge keeps the left colour, with a part of its alpha.
    for (left, right) in [(255, 0), (0, 255)] {
        let pixel = |x| if x < 31 { Rgba([left, left, left, 255]) } else { Rgba([right, right, right, 0]) };
        for format in [ImageFormat::Png, ImageFormat::WebP] {
            let bytes = encode(RgbaImage::from_fn(64, 8, |x, _| pixel(x)), format);
            let result = converted(&bytes, 16, OutputFormat::Png).to_rgba8();
            assert!(result.pixels().any(|pixel| (1..255).contains(&pixel.0[3])));
            for pixel in result.pixels() {
                assert!(pixel.0[3] == 0 || pixel.0[..3] == [left; 3], "{pixel:?}");
            }
            let flat = converted(&bytes, 16, OutputFormat::Jpeg).to_rgb8();
            for (x, color) in [(0, left), (15, 255)] {
                assert!(flat.get_pixel(x, 1).0.iter().all(|sample| sample.abs_diff(color) <= 3), "{x}");
            }
        }
    }
}

#[test]
fn an_image_that_is_not_scaled_keeps_its_pixels_beside_scaled_ones() {
    let image = gradient(40, 30);
    let bytes = encode(image.clone(), ImageFormat::Png);
    let sizes = vec![size("small", 20, None, Fit::Contain), size("same", 40, None, Fit::Contain)];
    let converted = convert(&bytes, &options(sizes, OutputFormat::Png)).unwrap();
    assert_eq!(decode(&converted.results[1].data).to_rgba8(), image);
}

#[test]
fn gray_and_16_bit_images_are_scaled_as_the_image_crate_scales_them() {
    let gray = GrayImage::from_fn(64, 48, |x, y| Luma([(x * 3 + y) as u8]));
    let deep = ImageBuffer::from_fn(64, 48, |x, y| Rgb([x as u16 * 1000, y as u16 * 1300, 65_535]));
    let alpha = DynamicImage::from(gradient(64, 48)).to_luma_alpha16();
    let images = [DynamicImage::from(gray), DynamicImage::ImageRgb16(deep), DynamicImage::ImageLumaA16(alpha)];
    for image in images {
        let bytes = encode(image.clone(), ImageFormat::Png);
        let found = converted(&bytes, 16, OutputFormat::Png);
        assert_eq!(found.color().has_alpha(), image.color().has_alpha());
        assert_eq!(found.color().has_color(), image.color().has_color());
        if !image.color().has_alpha() {
            let expected = resize(&image.to_rgb8(), 16, 12, FilterType::Lanczos3);
            let found = found.to_rgb8();
            assert!(found.iter().zip(expected.iter()).all(|(a, b)| a.abs_diff(*b) <= 3));
        }
    }
}

#[test]
fn files_of_another_program_are_read() {
    let [red, green, blue, white] = COLORS;
    for (bytes, first, last, tolerance) in [
        (&include_bytes!("files/progressive.jpg")[..], red, white, 6),
        (include_bytes!("files/cmyk.jpg"), red, white, 12),
        (include_bytes!("files/animated.png"), red, white, 0),
        (include_bytes!("files/lossy.webp"), red, white, 6),
        (include_bytes!("files/animated.webp"), red, white, 6),
        (include_bytes!("files/lossy-alpha.webp"), red, white, 6),
    ] {
        let converted = convert(bytes, &width(32, OutputFormat::Png)).unwrap();
        assert_eq!((converted.original.width, converted.original.height), (64, 48));
        assert_quarters(&decode(&converted.results[0].data), [first, green, blue, last], tolerance);
    }
    let palette = converted(include_bytes!("files/palette.png"), 32, OutputFormat::Png).to_rgba8();
    let alphas = [(4, 4), (28, 4), (4, 20), (28, 20)].map(|(x, y)| palette.get_pixel(x, y).0[3]);
    assert_eq!(alphas.iter().filter(|alpha| **alpha == 0).count(), 1, "one colour is transparent");
    let alpha = converted(include_bytes!("files/lossy-alpha.webp"), 32, OutputFormat::Png).to_rgba8();
    assert_eq!([alpha.get_pixel(4, 4).0[3], alpha.get_pixel(28, 20).0[3]], [255, 128]);
}
