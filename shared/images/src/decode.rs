//! Decoding of a file whose header has been checked.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ImageDecoder, ImageResult, Limits};

use crate::format::{Format, recognize};
use crate::header::{self, Header};
use crate::limits::{FILE_BYTES, METADATA_BYTES, SIDE};
use crate::pixels::Pixels;
use crate::rejection::Rejection;

/// A decoded image. Its orientation is not yet applied to its pixels: that is cheaper for results, which are smaller.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) format: Format,
    pub(crate) orientation: Orientation,
    pub(crate) pixels: Pixels,
}

/// Recognizes a file, and reads its header. Returns the bytes that the decoder may see, too.
pub(crate) fn checked_header(bytes: &[u8]) -> Result<(Header, &[u8]), Rejection> {
    if bytes.len() > FILE_BYTES {
        return Err(Rejection::FileTooLarge(bytes.len()));
    }
    header::read(bytes, recognize(bytes)?)
}

/// Decodes a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<Source, Rejection> {
    let (header, bytes) = checked_header(bytes)?;
    let format = header.format;
    without_panics(format, || match format {
        Format::Jpeg => read(&header, JpegDecoder::new(Cursor::new(bytes))),
        Format::Png => read(&header, PngDecoder::with_limits(Cursor::new(bytes), limits())),
        Format::Webp => read(&header, WebPDecoder::new(Cursor::new(bytes))),
    })
}

/// Limits that decoders check themselves, after the header has been checked.
fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(SIDE);
    limits.max_image_height = Some(SIDE);
    limits.max_alloc = Some(METADATA_BYTES);
    limits
}

/// Runs a decoder. A panic rejects the image: the decoder is dropped, and nothing else was borrowed mutably.
fn without_panics(format: Format, run: impl FnOnce() -> Result<Source, Rejection>) -> Result<Source, Rejection> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(Rejection::DecoderPanicked(format)))
}

fn read(header: &Header, decoder: ImageResult<impl ImageDecoder>) -> Result<Source, Rejection> {
    let format = header.format;
    let rejected = |error| Rejection::from_decoder(format, &error);
    let mut decoder = decoder.map_err(rejected)?;
    if decoder.dimensions() != (header.width, header.height) {
        return Err(Rejection::damaged(format, "its headers contradict each other"));
    }
    let bytes = decoder.total_bytes();
    header.check_memory(bytes)?;
    let orientation = decoder.orientation().map_err(rejected)?;
    let color = decoder.color_type();
    let length = usize::try_from(bytes).map_err(|_| header.too_much_memory())?;
    let mut samples = vec![0; length];
    decoder.read_image(&mut samples).map_err(rejected)?;
    let pixels = Pixels::from_decoded(header.width, header.height, color, samples);
    let pixels = pixels.ok_or_else(|| Rejection::damaged(format, "its colours are not known"))?;
    Ok(Source { format, orientation, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_decoder_rejects_the_image() {
        let rejection = without_panics(Format::Webp, || panic!("a defect of a decoder")).unwrap_err();
        assert_eq!(rejection, Rejection::DecoderPanicked(Format::Webp));
        assert_eq!(rejection.code(), "damaged_image");
    }

    #[test]
    fn a_decoder_that_reads_other_dimensions_than_the_header_is_not_trusted() {
        let mut png = Vec::new();
        image::RgbImage::new(3, 2).write_with_encoder(image::codecs::png::PngEncoder::new(&mut png)).unwrap();
        for (width, height, accepted) in [(3, 2, true), (2, 3, false), (1, 1, false)] {
            let header = Header { format: Format::Png, width, height, decoder_bytes: 0 };
            assert_eq!(read(&header, PngDecoder::new(Cursor::new(&png))).is_ok(), accepted, "{width} x {height}");
        }
    }

    #[test]
    fn a_file_of_the_maximum_size_is_read_and_one_more_byte_is_too_large() {
        for (bytes, code) in [(FILE_BYTES, "not_an_image"), (FILE_BYTES + 1, "too_large")] {
            assert_eq!(decode(&vec![0; bytes]).unwrap_err().code(), code);
        }
    }
}
