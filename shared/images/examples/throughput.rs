//! Megapixels per second of a JPEG of 12 megapixels to three sizes: through the library, and through a bare loop over
//! the same crates.
//!
//!     cargo run --release -p longshore-images --example throughput

use std::error::Error;
use std::io::Cursor;
use std::time::Instant;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::{ExtendedColorType, ImageDecoder, ImageEncoder, Rgb, RgbImage};
use longshore_images::{CheckedOptions, Fit, Options, OutputFormat, SizeOptions, convert};

const WIDTH: u32 = 4_000;
const HEIGHT: u32 = 3_000;
const SIDES: [u32; 3] = [320, 1_024, 2_048];
const QUALITY: u8 = 80;
const RUNS: usize = 5;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let jpeg = photo()?;
    let options = options()?;
    let (mut library, mut bare) = (Vec::new(), Vec::new());
    for run in 0..=RUNS {
        let started = Instant::now();
        let results = convert(&jpeg, &options)?.results;
        let of_library = started.elapsed().as_secs_f64();
        let started = Instant::now();
        let others = bare_loop(&jpeg)?;
        let of_bare = started.elapsed().as_secs_f64();
        if !results.iter().map(|result| &result.data).eq(&others) {
            return Err("the results differ".into());
        }
        // The first run warms caches.
        if run > 0 {
            library.push(of_library);
            bare.push(of_bare);
        }
    }
    let (library, bare) = (megapixels_per_second(library), megapixels_per_second(bare));
    println!("library {library:.1} MP/s, bare loop {bare:.1} MP/s, ratio {:.3}", library / bare);
    Ok(())
}

/// Returns a JPEG with gradients and noise, about as large as a photo.
fn photo() -> Outcome<Vec<u8>> {
    let mut state = 1_u32;
    let image = RgbImage::from_fn(WIDTH, HEIGHT, |x, y| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = state >> 28;
        Rgb([x / 17 + noise, y / 13 + noise, (x ^ y) / 17 + noise].map(|sample| sample as u8))
    });
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, 90).encode_image(&image)?;
    Ok(bytes)
}

fn options() -> Outcome<CheckedOptions> {
    let sizes = SIDES.map(|width| SizeOptions { name: width.to_string(), width, height: None, fit: Fit::Contain });
    let options = Options { sizes: sizes.to_vec(), format: OutputFormat::Jpeg, quality: QUALITY.into() };
    options.check().map_err(|errors| format!("{errors:?}").into())
}

fn bare_loop(jpeg: &[u8]) -> Outcome<Vec<Vec<u8>>> {
    let decoder = JpegDecoder::new(Cursor::new(jpeg))?;
    let mut samples = vec![0; usize::try_from(decoder.total_bytes())?];
    decoder.read_image(&mut samples)?;
    let source = ImageRef::new(WIDTH, HEIGHT, &samples, PixelType::U8x3)?;
    let mut resizer = Resizer::new();
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
    let mut results = Vec::new();
    for side in SIDES {
        let mut result = Image::new(side, side * HEIGHT / WIDTH, PixelType::U8x3);
        resizer.resize(&source, &mut result, &options)?;
        let mut bytes = Vec::new();
        let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
        encoder.write_image(result.buffer(), result.width(), result.height(), ExtendedColorType::Rgb8)?;
        results.push(bytes);
    }
    Ok(results)
}

fn megapixels_per_second(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    f64::from(WIDTH) * f64::from(HEIGHT) / 1e6 / seconds[seconds.len() / 2]
}
