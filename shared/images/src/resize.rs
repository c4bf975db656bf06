//! Resampling with Lanczos3, on colours multiplied by alpha.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use crate::geometry::Placement;
use crate::pixels::Pixels;

/// An error of resampling, which is a defect.
pub(crate) type ResizeError = Box<dyn std::error::Error>;

/// Returns the placed part of an image. Colours must be multiplied by alpha if the placement scales, and stay so.
///
/// The resizer's buffer is not kept for the next result, so that it is free while this one is encoded.
pub(crate) fn resize(source: &Pixels, placement: &Placement) -> Result<Pixels, ResizeError> {
    let layout = source.layout;
    let view = ImageRef::new(source.width, source.height, &source.samples, layout.pixel_type())?;
    let mut result = Image::new(placement.width, placement.height, layout.pixel_type());
    let left = offset(source.width, placement.crop_width, placement);
    let top = offset(source.height, placement.crop_height, placement);
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
        .crop(left, top, placement.crop_width, placement.crop_height)
        .use_alpha(false);
    Resizer::new().resize(&view, &mut result, &options)?;
    Ok(Pixels { width: placement.width, height: placement.height, layout, samples: result.into_vec() })
}

/// Returns the start of a centred part: of a part that is copied, at a whole pixel.
fn offset(whole: u32, part: f64, placement: &Placement) -> f64 {
    let start = ((f64::from(whole) - part) / 2.0).max(0.0);
    if placement.is_scaled() { start } else { start.floor() }
}
