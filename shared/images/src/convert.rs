//! Conversion of one image to all its sizes.

use std::borrow::Cow;

use image::metadata::Orientation;
use serde::Serialize;

use crate::decode::{Source, decode};
use crate::encode::Encoding;
use crate::format::Format;
use crate::geometry::{Placement, is_transposed};
use crate::limits::RESULT_BYTES;
use crate::options::{CheckedOptions, SizeOptions};
use crate::pixels::Pixels;
use crate::rejection::Rejection;
use crate::resize::{ResizeError, resize};

/// The results of one image.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ConvertedImage {
    /// The original.
    pub original: OriginalInfo,
    /// A result for each size, in the order of the options.
    pub results: Vec<ResultImage>,
}

/// Facts about the original.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginalInfo {
    /// The width, after orientation.
    pub width: u32,
    /// The height, after orientation.
    pub height: u32,
    /// The format.
    pub format: Format,
}

/// One result.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ResultImage {
    /// Facts about the result.
    pub info: ResultInfo,
    /// The encoded image.
    pub data: Vec<u8>,
}

/// Facts about a result.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultInfo {
    /// The name of its size.
    pub name: String,
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
    /// The number of bytes.
    pub bytes: usize,
    /// The format.
    pub format: Format,
}

/// A result to be made: its index among the sizes, and its placement on the pixels before orientation.
struct Step<'a> {
    index: usize,
    name: &'a str,
    placement: Placement,
}

/// Converts an image to all sizes. The image is decoded once.
///
/// # Errors
/// Returns the reason for which the image is refused. There is no partial result.
pub fn convert(bytes: &[u8], options: &CheckedOptions) -> Result<ConvertedImage, Rejection> {
    let mut source = decode(bytes)?;
    let original = original(&source);
    let options_of = options.get();
    let encoding = Encoding { format: options_of.format.resolve(source.format), quality: options.quality() };
    let mut room = RESULT_BYTES;
    let mut results = Vec::new();
    // Copies first: multiplying by alpha, in place, loses colours of transparent pixels.
    let mut steps = steps(options, original, source.orientation);
    steps.sort_by_key(|step| step.placement.is_scaled());
    let mut premultiplied = false;
    for step in steps {
        if step.placement.is_scaled() && !premultiplied {
            source.pixels.premultiply();
            premultiplied = true;
        }
        let pixels = result_pixels(&source, &step.placement)
            .map_err(|error| Rejection::failed(encoding.format, error.as_ref()))?;
        let data = encoding.encode(&pixels, room)?;
        room -= data.len();
        let (width, height) = (pixels.width, pixels.height);
        let info = ResultInfo { name: step.name.to_owned(), width, height, bytes: data.len(), format: encoding.format };
        results.push((step.index, ResultImage { info, data }));
    }
    results.sort_by_key(|(index, _)| *index);
    Ok(ConvertedImage { original, results: results.into_iter().map(|(_, result)| result).collect() })
}

fn original(source: &Source) -> OriginalInfo {
    let (width, height) = (source.pixels.width, source.pixels.height);
    let (width, height) = if is_transposed(source.orientation) { (height, width) } else { (width, height) };
    OriginalInfo { width, height, format: source.format }
}

fn steps<'a>(options: &'a CheckedOptions, original: OriginalInfo, orientation: Orientation) -> Vec<Step<'a>> {
    let step = |(index, size): (usize, &'a SizeOptions)| {
        let placement = Placement::new(size, original.width, original.height).before(orientation);
        Step { index, name: &size.name, placement }
    };
    options.get().sizes.iter().enumerate().map(step).collect()
}

/// Returns the pixels of a result, after orientation. The whole image, if nothing changes, is not copied.
fn result_pixels<'a>(source: &'a Source, placement: &Placement) -> Result<Cow<'a, Pixels>, ResizeError> {
    let Source { orientation, pixels, .. } = source;
    let whole = (placement.width, placement.height) == (pixels.width, pixels.height);
    if whole && *orientation == Orientation::NoTransforms {
        return Ok(Cow::Borrowed(pixels));
    }
    let mut result = resize(pixels, placement)?;
    if placement.is_scaled() {
        result.unpremultiply();
    }
    let oriented = result.orient(*orientation).ok_or("the samples do not fit the dimensions")?;
    Ok(Cow::Owned(oriented))
}
