//! Types of images, recognized by their first bytes.
//!
//! `image::guess_format` decides. The decoders accept the same signatures, so recognition and decoding agree, and no
//! other crate is needed. Two types that users send often are recognized besides, for a better text.

use std::fmt;

use image::ImageFormat;
use serde::Serialize;

use crate::rejection::Rejection;

/// Bytes in which the root element of an SVG file is searched.
const SVG_BYTES: usize = 1024;

/// A type that can be read and written.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Webp => "WebP",
        })
    }
}

/// Recognizes the type of a file.
pub(crate) fn recognize(bytes: &[u8]) -> Result<Format, Rejection> {
    if bytes.is_empty() {
        return Err(Rejection::Empty);
    }
    match image::guess_format(bytes) {
        Ok(ImageFormat::Jpeg) => Ok(Format::Jpeg),
        Ok(ImageFormat::Png) => Ok(Format::Png),
        Ok(ImageFormat::WebP) => Ok(Format::Webp),
        Ok(other) => Err(Rejection::UnsupportedType(name(other))),
        Err(_) if is_heif(bytes) => Err(Rejection::UnsupportedType("HEIC or HEIF")),
        Err(_) if is_svg(bytes) => Err(Rejection::UnsupportedType("SVG")),
        Err(_) => Err(Rejection::NotAnImage),
    }
}

fn name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Gif => "GIF",
        ImageFormat::Tiff => "TIFF",
        ImageFormat::Bmp => "BMP",
        ImageFormat::Ico => "ICO",
        ImageFormat::Avif => "AVIF",
        _ => "different",
    }
}

/// Recognizes photos of iPhones by the brands of their `ftyp` box (ISO/IEC 23008-12, Annex B; <https://mp4ra.org>).
fn is_heif(bytes: &[u8]) -> bool {
    let brands: [&[u8]; 6] = [b"heic", b"heix", b"hevc", b"heim", b"mif1", b"msf1"];
    bytes.get(4..8) == Some(b"ftyp") && bytes.get(8..12).is_some_and(|brand| brands.contains(&brand))
}

fn is_svg(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(SVG_BYTES)];
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    text.starts_with(b"<svg") || (text.starts_with(b"<?xml") && text.windows(4).any(|part| part == b"<svg"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_recognized_by_its_first_bytes() {
        for (bytes, expected) in [
            (&b"\xFF\xD8\xFF"[..], Ok(Format::Jpeg)),
            (b"\x89PNG\r\n\x1a\n", Ok(Format::Png)),
            (b"RIFF\x01\x02\x03\x04WEBP", Ok(Format::Webp)),
            (b"RIFF\x01\x02\x03\x04WAVE", Err(Rejection::NotAnImage)),
            (b"GIF89a", Err(Rejection::UnsupportedType("GIF"))),
            (b"BM\x36\x00", Err(Rejection::UnsupportedType("BMP"))),
            (b"II*\x00", Err(Rejection::UnsupportedType("TIFF"))),
            (b"MM\x00*", Err(Rejection::UnsupportedType("TIFF"))),
            (b"\x00\x00\x01\x00\x01", Err(Rejection::UnsupportedType("ICO"))),
            (b"\x00\x00\x00\x1cftypavif", Err(Rejection::UnsupportedType("AVIF"))),
            (b"\x00\x00\x00\x24ftypheic", Err(Rejection::UnsupportedType("HEIC or HEIF"))),
            (b"\x00\x00\x00\x24ftypisom", Err(Rejection::NotAnImage)),
            (b"qoif", Err(Rejection::UnsupportedType("different"))),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", Err(Rejection::UnsupportedType("SVG"))),
            (b"\xEF\xBB\xBF<?xml version='1.0'?>\n<svg/>", Err(Rejection::UnsupportedType("SVG"))),
            (b"<!doctype html><svg/>", Err(Rejection::NotAnImage)),
            (b"%PDF-1.7", Err(Rejection::NotAnImage)),
            (b"\xFF", Err(Rejection::NotAnImage)),
            (b"\xFF\xD8", Err(Rejection::NotAnImage)),
            (b"", Err(Rejection::Empty)),
        ] {
            assert_eq!(recognize(bytes), expected, "{}", bytes.escape_ascii());
        }
    }
}
