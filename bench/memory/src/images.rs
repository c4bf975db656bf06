//! Megapixels per second of a JPEG of 12 megapixels to three sizes: by the library of image jobs, and by a bare loop over
//! the same crates.

use std::io::Cursor;

use anyhow::{Result, anyhow, ensure};
use bench::markdown;
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::{ExtendedColorType, ImageDecoder, ImageEncoder, Rgb, RgbImage};
use longshore_images::{CheckedOptions, Fit, Options, OutputFormat, SizeOptions, convert};

use crate::goal::Goal;
use crate::job::seconds;
use crate::statistics::median;

const WIDTH: u32 = 4_000;
const HEIGHT: u32 = 3_000;
const SIDES: [u32; 3] = [320, 1_024, 2_048];
const QUALITY: u8 = 80;

/// Number of runs, after a first one that warms up.
const RUNS: usize = 15;

/// Minimum speed of the library in proportion to the bare loop.
const RATIO: f64 = 0.85;

/// The medians of the runs.
pub(crate) struct Measured {
    ours_s: f64,
    bare_s: f64,
    /// Speed of the library in proportion to the bare loop beside it.
    ratio: f64,
}

/// Converts the image by the library and by the loop in turn, and verifies that the results are equal.
pub(crate) fn measure() -> Result<Measured> {
    eprintln!("images");
    let (jpeg, options) = (photo()?, options()?);
    let mut runs = Vec::new();
    for _ in 0..=RUNS {
        let (mut results, mut others) = (Vec::new(), Vec::new());
        let ours_s = seconds(|| {
            let converted = convert(&jpeg, &options).map_err(|rejection| anyhow!("{rejection:?}"))?;
            results = converted.results;
            Ok(())
        })?;
        let bare_s = seconds(|| {
            others = bare_loop(&jpeg)?;
            Ok(())
        })?;
        ensure!(results.iter().map(|result| &result.data).eq(&others), "the results differ");
        runs.push((ours_s, bare_s));
    }
    runs.remove(0);
    Ok(Measured {
        ours_s: median(runs.iter().map(|(ours_s, _)| *ours_s)),
        bare_s: median(runs.iter().map(|(_, bare_s)| *bare_s)),
        ratio: median(runs.iter().map(|(ours_s, bare_s)| bare_s / ours_s)),
    })
}

/// Returns a JPEG with gradients and noise, about as large as a photo.
fn photo() -> Result<Vec<u8>> {
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

fn options() -> Result<CheckedOptions> {
    let sizes = SIDES.map(|width| SizeOptions { name: width.to_string(), width, height: None, fit: Fit::Contain });
    let options = Options { sizes: sizes.to_vec(), format: OutputFormat::Jpeg, quality: QUALITY.into() };
    options.check().map_err(|errors| anyhow!("{errors:?}"))
}

fn bare_loop(jpeg: &[u8]) -> Result<Vec<Vec<u8>>> {
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

impl Measured {
    /// Returns the table.
    pub(crate) fn table(&self) -> String {
        let megapixels = f64::from(WIDTH) * f64::from(HEIGHT) / 1e6;
        let speeds = [megapixels / self.ours_s, megapixels / self.bare_s, self.ratio];
        let mut text = String::new();
        let title = format!("Images: a JPEG of {megapixels} megapixels to three sizes (medians of {RUNS})");
        let headings = ["library, MP/s", "bare loop, MP/s", "library / bare loop"];
        let cells = speeds.iter().zip([1, 1, 3]).map(|(speed, digits)| format!("{speed:.digits$}")).collect();
        markdown::table(&mut text, &title, &headings, vec![cells]);
        text
    }

    /// Returns the goal.
    pub(crate) fn goal(&self) -> Goal {
        Goal {
            name: "images: within 15 % of the speed of a bare loop over the same crates",
            measured: format!("{:.0} %", self.ratio * 100.0),
            is_met: self.ratio >= RATIO,
        }
    }
}
