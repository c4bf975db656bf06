//! Pixels of 8 bits per sample.

use fast_image_resize::images::Image;
use fast_image_resize::{MulDiv, PixelType};
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ExtendedColorType, ImageBuffer};

const WHITE: u32 = 255;

/// The samples of a pixel.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Layout {
    Gray,
    GrayAlpha,
    Rgb,
    Rgba,
}

/// An image in memory, row by row.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) layout: Layout,
    pub(crate) samples: Vec<u8>,
}

impl Layout {
    pub(crate) fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    pub(crate) fn has_alpha(self) -> bool {
        matches!(self, Self::GrayAlpha | Self::Rgba)
    }

    pub(crate) fn pixel_type(self) -> PixelType {
        match self {
            Self::Gray => PixelType::U8,
            Self::GrayAlpha => PixelType::U8x2,
            Self::Rgb => PixelType::U8x3,
            Self::Rgba => PixelType::U8x4,
        }
    }

    pub(crate) fn color_type(self) -> ExtendedColorType {
        match self {
            Self::Gray => ExtendedColorType::L8,
            Self::GrayAlpha => ExtendedColorType::La8,
            Self::Rgb => ExtendedColorType::Rgb8,
            Self::Rgba => ExtendedColorType::Rgba8,
        }
    }
}

impl Pixels {
    /// Creates pixels from a decoder's samples. Samples of 16 bits, in the machine's byte order, become 8-bit in place.
    /// `None` for types that no decoder of the supported formats returns.
    pub(crate) fn from_decoded(width: u32, height: u32, color: ColorType, mut samples: Vec<u8>) -> Option<Self> {
        let layout = match color {
            ColorType::L8 | ColorType::L16 => Layout::Gray,
            ColorType::La8 | ColorType::La16 => Layout::GrayAlpha,
            ColorType::Rgb8 | ColorType::Rgb16 => Layout::Rgb,
            ColorType::Rgba8 | ColorType::Rgba16 => Layout::Rgba,
            _ => return None,
        };
        if color.bytes_per_pixel() / color.channel_count() == 2 {
            for at in 0..samples.len() / 2 {
                let sample = u32::from(u16::from_ne_bytes([samples[2 * at], samples[2 * at + 1]]));
                // The nearest of 256 steps of 257.
                samples[at] = u8::try_from((sample + 128) / 257).unwrap_or(u8::MAX);
            }
            samples.truncate(samples.len() / 2);
            samples.shrink_to_fit();
        }
        Some(Self { width, height, layout, samples })
    }

    /// Multiplies colours by alpha, in place.
    pub(crate) fn premultiply(&mut self) {
        self.with_alpha(|math, image| math.multiply_alpha_inplace(image).is_ok());
    }

    /// Divides colours by alpha, in place.
    pub(crate) fn unpremultiply(&mut self) {
        self.with_alpha(|math, image| math.divide_alpha_inplace(image).is_ok());
    }

    /// Runs an operation that fails for layouts without alpha only.
    fn with_alpha(&mut self, run: impl FnOnce(MulDiv, &mut Image<'_>) -> bool) {
        let Self { width, height, layout, .. } = *self;
        if !layout.has_alpha() {
            return;
        }
        if let Ok(mut image) = Image::from_slice_u8(width, height, &mut self.samples, layout.pixel_type()) {
            let done = run(MulDiv::new(), &mut image);
            debug_assert!(done, "both layouts with alpha are supported");
        }
    }

    /// Returns the pixels on white, without alpha.
    pub(crate) fn flatten(&self) -> Self {
        let Self { width, height, layout, .. } = *self;
        let flat = if layout == Layout::GrayAlpha { Layout::Gray } else { Layout::Rgb };
        let mut samples = Vec::with_capacity(self.samples.len() / layout.channels() * flat.channels());
        for pixel in self.samples.chunks_exact(layout.channels()) {
            let (colors, alpha) = pixel.split_at(flat.channels());
            let alpha = alpha.first().map_or(255, |alpha| u32::from(*alpha));
            samples.extend(colors.iter().map(|color| {
                let sum = u32::from(*color) * alpha + WHITE * (255 - alpha);
                u8::try_from((sum + 127) / 255).unwrap_or(u8::MAX)
            }));
        }
        Self { width, height, layout: flat, samples }
    }

    /// Applies an orientation. `None` if the samples do not fit the dimensions.
    pub(crate) fn orient(self, orientation: Orientation) -> Option<Self> {
        if orientation == Orientation::NoTransforms {
            return Some(self);
        }
        let Self { width, height, layout, samples } = self;
        let mut image: DynamicImage = match layout {
            Layout::Gray => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageLuma8),
            Layout::GrayAlpha => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageLumaA8),
            Layout::Rgb => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageRgb8),
            Layout::Rgba => ImageBuffer::from_raw(width, height, samples).map(DynamicImage::ImageRgba8),
        }?;
        image.apply_orientation(orientation);
        Some(Self { width: image.width(), height: image.height(), layout, samples: image.into_bytes() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_16_bits_become_the_nearest_of_8_bits() {
        let samples = [0_u16, 128, 129, 257, 385, 386, 65_407, 65_535].map(u16::to_ne_bytes).concat();
        let pixels = Pixels::from_decoded(8, 1, ColorType::L16, samples).unwrap();
        assert_eq!(pixels.samples, [0, 0, 1, 1, 1, 2, 255, 255]);
    }

    #[test]
    fn transparent_pixels_are_white_without_alpha() {
        let samples = vec![10, 20, 30, 0, 10, 20, 30, 255, 0, 100, 200, 51];
        let flat = Pixels { width: 3, height: 1, layout: Layout::Rgba, samples }.flatten();
        assert_eq!((flat.layout, flat.samples), (Layout::Rgb, vec![255, 255, 255, 10, 20, 30, 204, 224, 244]));
        let gray = Pixels { width: 2, height: 1, layout: Layout::GrayAlpha, samples: vec![7, 0, 7, 255] }.flatten();
        assert_eq!((gray.layout, gray.samples), (Layout::Gray, vec![255, 7]));
    }
}
