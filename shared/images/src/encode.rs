//! Encoding of results, without metadata.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::codecs::webp::WebPEncoder;
use image::{ImageEncoder, ImageResult};

use crate::bounded::BoundedBuffer;
use crate::format::Format;
use crate::pixels::Pixels;
use crate::rejection::Rejection;

/// The encoding of results.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Encoding {
    pub(crate) format: Format,
    pub(crate) quality: u8,
}

impl Encoding {
    /// Encodes pixels into at most so many bytes.
    pub(crate) fn encode(self, pixels: &Pixels, maximum: usize) -> Result<Vec<u8>, Rejection> {
        let flat = (self.format == Format::Jpeg && pixels.layout.has_alpha()).then(|| pixels.flatten());
        let mut buffer = BoundedBuffer::new(maximum);
        match self.write(flat.as_ref().unwrap_or(pixels), &mut buffer) {
            Ok(()) => Ok(buffer.into_bytes()),
            Err(_) if buffer.is_exceeded() => Err(Rejection::ResultsTooLarge),
            Err(error) => Err(Rejection::failed(self.format, &error)),
        }
    }

    fn write(self, pixels: &Pixels, buffer: &mut BoundedBuffer) -> ImageResult<()> {
        let Pixels { width, height, layout, samples } = pixels;
        let color = layout.color_type();
        match self.format {
            Format::Jpeg => {
                JpegEncoder::new_with_quality(buffer, self.quality).write_image(samples, *width, *height, color)
            }
            Format::Png => PngEncoder::new_with_quality(buffer, CompressionType::Default, FilterType::Adaptive)
                .write_image(samples, *width, *height, color),
            Format::Webp => WebPEncoder::new_lossless(buffer).write_image(samples, *width, *height, color),
        }
    }
}
