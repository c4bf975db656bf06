//! The part of an image that a result shows, and the result's dimensions.

use image::metadata::Orientation;

use crate::limits::RESULT_SIDE;
use crate::options::{Fit, SizeOptions};

/// A centred part of an image, and the dimensions to which it is scaled down.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Placement {
    pub(crate) crop_width: f64,
    pub(crate) crop_height: f64,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Returns true if the orientation exchanges width and height.
pub(crate) fn is_transposed(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
}

impl Placement {
    /// Places an image of these dimensions, after orientation, into a size.
    pub(crate) fn new(size: &SizeOptions, width: u32, height: u32) -> Self {
        let box_height = size.height.unwrap_or(RESULT_SIDE);
        match size.fit {
            Fit::Contain => Self::contain((size.width, box_height), (width, height)),
            Fit::Cover => Self::cover((size.width, box_height), (width, height)),
        }
    }

    fn contain(size: (u32, u32), (width, height): (u32, u32)) -> Self {
        let scale = ratio(size.0, width).min(ratio(size.1, height)).min(1.0);
        Self {
            crop_width: f64::from(width),
            crop_height: f64::from(height),
            width: scaled(width, scale),
            height: scaled(height, scale),
        }
    }

    /// Scales the box down until the image covers it, so that nothing is scaled up.
    fn cover(size: (u32, u32), (width, height): (u32, u32)) -> Self {
        let shrink = ratio(width, size.0).min(ratio(height, size.1)).min(1.0);
        let (result_width, result_height) = (scaled(size.0, shrink).min(width), scaled(size.1, shrink).min(height));
        let scale = ratio(result_width, width).max(ratio(result_height, height));
        Self {
            crop_width: (f64::from(result_width) / scale).min(f64::from(width)),
            crop_height: (f64::from(result_height) / scale).min(f64::from(height)),
            width: result_width,
            height: result_height,
        }
    }

    /// Returns the placement on the pixels before orientation.
    pub(crate) fn before(self, orientation: Orientation) -> Self {
        if !is_transposed(orientation) {
            return self;
        }
        let Self { crop_width, crop_height, width, height } = self;
        Self { crop_width: crop_height, crop_height: crop_width, width: height, height: width }
    }

    /// Returns true if pixels are resampled, and not only copied.
    pub(crate) fn is_scaled(&self) -> bool {
        self.crop_width != f64::from(self.width) || self.crop_height != f64::from(self.height)
    }
}

fn ratio(part: u32, whole: u32) -> f64 {
    f64::from(part) / f64::from(whole)
}

/// Scales a side. A result has one pixel at least.
fn scaled(side: u32, scale: f64) -> u32 {
    // The scale is at most 1, so the result is at most `side`.
    ((f64::from(side) * scale).round() as u32).max(1)
}

#[cfg(test)]
#[path = "geometry_tests.rs"]
mod tests;
