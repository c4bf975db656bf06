//! The frame and scan headers of a JPEG file (ITU-T T.81, annex B; <https://www.w3.org/Graphics/JPEG/itu-t81.pdf>).

use crate::format::Format;
use crate::header::Header;
use crate::rejection::Rejection;

const START_OF_SCAN: u8 = 0xDA;
const END_OF_IMAGE: u8 = 0xD9;

/// Bytes of a coefficient in the decoder.
const COEFFICIENT_BYTES: u64 = 2;

/// The frame header, of which a file has one.
struct Frame {
    width: u32,
    height: u32,
    progressive: bool,
    components: usize,
    /// Coefficients per pixel, as a fraction: those of a unit of coding, and its pixels.
    coefficients: (u64, u64),
}

/// A marker segment, and the bytes behind it.
struct Segment<'a> {
    marker: u8,
    body: &'a [u8],
    rest: &'a [u8],
}

/// Reads the segments up to the first scan, and searches the end of the image.
///
/// A file without its end is refused. The decoder would fill the missing rows with grey.
pub(crate) fn read(bytes: &[u8]) -> Result<Header, Rejection> {
    let mut frame = None;
    let mut rest = bytes.get(2..).unwrap_or_default();
    loop {
        let segment = Segment::read(rest).ok_or_else(|| damaged("it ends before its first scan"))?;
        match segment.marker {
            START_OF_SCAN => {
                let frame: Frame = frame.ok_or_else(|| damaged("it has no frame header"))?;
                if !segment.rest.windows(2).any(|marker| marker == [0xFF, END_OF_IMAGE]) {
                    return Err(damaged("its end is missing"));
                }
                let scanned = segment.body.first().copied().unwrap_or_default();
                return Ok(frame.header(usize::from(scanned), bytes.len()));
            }
            END_OF_IMAGE => return Err(damaged("it has no image")),
            // Start of frame: all of C0 to CF but DHT, JPG and DAC.
            0xC0..=0xCF if !matches!(segment.marker, 0xC4 | 0xC8 | 0xCC) => {
                if frame.is_some() {
                    return Err(damaged("it has two frame headers"));
                }
                frame = Some(Frame::read(&segment).ok_or_else(|| damaged("its frame header is not valid"))?);
            }
            _ => {}
        }
        rest = segment.rest;
    }
}

impl<'a> Segment<'a> {
    /// Reads the next segment. Bytes before its marker are skipped, as the decoder skips them.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let start = bytes.windows(2).position(|pair| pair[0] == 0xFF && !matches!(pair[1], 0x00 | 0xFF))?;
        let marker = bytes[start + 1];
        let behind = &bytes[start + 2..];
        // Markers without a segment: TEM, RSTn, SOI, EOI.
        if matches!(marker, 0x01 | 0xD0..=0xD9) {
            return Some(Self { marker, body: &[], rest: behind });
        }
        let length = usize::from(u16::from_be_bytes([*behind.first()?, *behind.get(1)?]));
        Some(Self { marker, body: behind.get(2..length)?, rest: behind.get(length..)? })
    }
}

impl Frame {
    fn read(segment: &Segment<'_>) -> Option<Self> {
        let body = segment.body;
        let side = |at: usize| Some(u32::from(u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?])));
        let components = usize::from(*body.get(5)?);
        let factors: Vec<(u64, u64)> = body
            .get(6..6 + 3 * components)?
            .chunks_exact(3)
            .map(|component| (u64::from(component[1] >> 4), u64::from(component[1] & 15)))
            .collect();
        let widest = factors.iter().map(|(horizontal, _)| *horizontal).max()?;
        let highest = factors.iter().map(|(_, vertical)| *vertical).max()?;
        let blocks = factors.iter().map(|(horizontal, vertical)| horizontal * vertical).sum();
        Some(Self {
            height: side(1)?,
            width: side(3)?,
            progressive: segment.marker == 0xC2,
            components,
            coefficients: (blocks, (widest * highest).max(1)),
        })
    }

    /// Returns the header. The decoder copies the file. Only if the first scan contains all of a baseline image, it does
    /// not keep the coefficients of all pixels.
    fn header(&self, scanned: usize, file_bytes: usize) -> Header {
        let kept = self.progressive || scanned != self.components;
        let (coefficients, pixels) = self.coefficients;
        // Units of coding are complete at the right and at the bottom: 32 x 32 pixels at most.
        let area = u64::from(self.width.next_multiple_of(32)) * u64::from(self.height.next_multiple_of(32));
        let kept_bytes = if kept { area * coefficients * COEFFICIENT_BYTES / pixels } else { 0 };
        Header {
            format: Format::Jpeg,
            width: self.width,
            height: self.height,
            decoder_bytes: kept_bytes + file_bytes as u64,
        }
    }
}

fn damaged(reason: &str) -> Rejection {
    Rejection::damaged(Format::Jpeg, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of 320 x 160 pixels with this frame marker, factors of sampling and components in its first scan.
    fn file(marker: u8, factors: &[u8], scanned: u8) -> Vec<u8> {
        let count = factors.len() as u8;
        let mut bytes = vec![0xFF, 0xD8, 0xFF, marker, 0, 8 + 3 * count, 8, 0, 160, 1, 64, count];
        for (id, factor) in factors.iter().enumerate() {
            bytes.extend([id as u8, *factor, 0]);
        }
        bytes.extend([0xFF, START_OF_SCAN, 0, 3, scanned, 1, 2, 0xFF, END_OF_IMAGE]);
        bytes
    }

    #[test]
    fn coefficients_are_counted_if_the_decoder_keeps_them() {
        let pixels = 320 * 160;
        for (marker, factors, scanned, expected) in [
            (0xC0, &[0x22, 0x11, 0x11][..], 3, 0),
            (0xC0, &[0x11], 1, 0),
            (0xC0, &[0x22, 0x11, 0x11], 1, 3 * pixels),
            (0xC2, &[0x22, 0x11, 0x11], 3, 3 * pixels),
            (0xC2, &[0x21, 0x11, 0x11], 3, 4 * pixels),
            (0xC2, &[0x11, 0x11, 0x11], 1, 6 * pixels),
            (0xC2, &[0x11, 0x11, 0x11, 0x11], 1, 8 * pixels),
            (0xC2, &[0x44, 0x44, 0x44, 0x44], 1, 8 * pixels),
        ] {
            let bytes = file(marker, factors, scanned);
            let header = read(&bytes).unwrap();
            assert_eq!((header.width, header.height), (320, 160));
            assert_eq!(header.decoder_bytes - bytes.len() as u64, expected, "{marker:x} {factors:x?} {scanned}");
        }
    }

    #[test]
    fn a_file_without_a_part_of_its_structure_is_damaged() {
        let good = file(0xC0, &[0x11], 1);
        let twice = [&good[..13 + 2], &good[2..]].concat();
        for (bytes, reason) in [
            (&good[..good.len() - 1], "its end is missing"),
            (&good[..good.len() - 5], "it ends before its first scan"),
            (&good[..2], "it ends before its first scan"),
            (&[0xFF, 0xD8, 0xFF, 0xD9], "it has no image"),
            (&[0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0xFF, 0xD9], "it has no frame header"),
            (&[0xFF, 0xD8, 0xFF, 0xC0, 0, 4, 8, 0, 0xFF, 0xD9], "its frame header is not valid"),
            (&[0xFF, 0xD8, 0xFF, 0xC0, 0, 0, 8, 0, 0xFF, 0xD9], "it ends before its first scan"),
            (&twice, "it has two frame headers"),
        ] {
            assert_eq!(read(bytes), Err(damaged(reason)), "{}", bytes.escape_ascii());
        }
    }
}
