//! The header of a file: its dimensions and the memory that its decoder takes, read before anything is decoded.

use crate::format::Format;
use crate::limits::{MEMORY_BYTES, PIXELS, SIDE};
use crate::rejection::Rejection;
use crate::{jpeg_header, webp_header};

/// The dimensions of a file as they are stored, and the memory for its decoder.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) struct Header {
    pub(crate) format: Format,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Bytes that the decoder allocates besides the decoded image.
    pub(crate) decoder_bytes: u64,
}

/// Reads the header, and checks the dimensions. Returns the bytes that the decoder may see, too.
pub(crate) fn read(bytes: &[u8], format: Format) -> Result<(Header, &[u8]), Rejection> {
    let (header, bytes) = match format {
        Format::Jpeg => (jpeg_header::read(bytes)?, bytes),
        Format::Png => (read_png(bytes)?, bytes),
        Format::Webp => webp_header::read(bytes)?,
    };
    header.check_dimensions()?;
    Ok((header, bytes))
}

impl Header {
    pub(crate) fn check_dimensions(&self) -> Result<(), Rejection> {
        let Self { format, width, height, .. } = *self;
        if width == 0 || height == 0 {
            return Err(Rejection::damaged(format, "its width or height is 0"));
        }
        if width > SIDE || height > SIDE {
            return Err(Rejection::SideTooLong { width, height });
        }
        if u64::from(width) * u64::from(height) > PIXELS {
            return Err(Rejection::TooManyPixels { width, height });
        }
        Ok(())
    }

    /// Checks the memory for the decoder and the decoded image.
    pub(crate) fn check_memory(&self, image_bytes: u64) -> Result<(), Rejection> {
        if image_bytes.saturating_add(self.decoder_bytes) > MEMORY_BYTES {
            return Err(self.too_much_memory());
        }
        Ok(())
    }

    pub(crate) fn too_much_memory(&self) -> Rejection {
        let Self { format, width, height, .. } = *self;
        Rejection::TooMuchMemory { format, width, height }
    }
}

/// Reads the `IHDR` chunk, which must be the first (<https://www.w3.org/TR/png-3/#11IHDR>).
fn read_png(bytes: &[u8]) -> Result<Header, Rejection> {
    let side = |at: usize| bytes.get(at..at + 4).and_then(|side| side.try_into().ok()).map(u32::from_be_bytes);
    match (bytes.get(12..16), side(16), side(20)) {
        (Some(b"IHDR"), Some(width), Some(height)) => {
            Ok(Header { format: Format::Png, width, height, decoder_bytes: 0 })
        }
        _ => Err(Rejection::damaged(Format::Png, "it has no header")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_checked_at_their_limits() {
        for (width, height, code) in [
            (1, 1, None),
            (16_384, 3_051, None),
            (16_384, 3_052, Some("too_many_pixels")),
            (16_385, 1, Some("too_many_pixels")),
            (1, 16_385, Some("too_many_pixels")),
            (0, 1, Some("damaged_image")),
            (1, 0, Some("damaged_image")),
            (u32::MAX, u32::MAX, Some("too_many_pixels")),
        ] {
            let header = Header { format: Format::Png, width, height, decoder_bytes: 0 };
            assert_eq!(header.check_dimensions().err().map(|rejection| rejection.code()), code, "{width} x {height}");
        }
    }

    #[test]
    fn memory_is_that_of_the_decoder_and_the_image() {
        let header = Header { format: Format::Png, width: 1, height: 1, decoder_bytes: 100 };
        assert_eq!(header.check_memory(MEMORY_BYTES - 100), Ok(()));
        for bytes in [MEMORY_BYTES - 99, u64::MAX] {
            assert_eq!(header.check_memory(bytes).unwrap_err().code(), "too_many_pixels");
        }
    }
}
