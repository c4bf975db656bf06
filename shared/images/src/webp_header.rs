//! The chunks of a WebP file (<https://developers.google.com/speed/webp/docs/riff_container>).
//!
//! The decoder allocates as many bytes as a chunk claims to have, and as many pixels as a frame claims to have, before
//! it compares them with the file and with the canvas. Both are compared here first, and groups of Huffman codes are
//! counted.

use crate::format::Format;
use crate::header::Header;
use crate::rejection::Rejection;
use crate::webp_lossless::{GROUP_BYTES, count_groups};

/// Bytes before the first chunk: `RIFF`, a size, `WEBP`.
const RIFF_HEADER: usize = 12;
/// Bytes of a frame of an animation before its chunks.
const FRAME_HEADER: usize = 16;

const ANIMATION: u8 = 0b10;
const ALPHA: u8 = 0b1_0000;
/// The compression of an `ALPH` chunk that has lossless data.
const LOSSLESS_ALPHA: u8 = 1;

/// A chunk, and the bytes behind it.
struct Chunk<'a> {
    kind: [u8; 4],
    body: &'a [u8],
    rest: &'a [u8],
}

/// The first chunk: the dimensions of the image, and the bytes per pixel of the decoder's buffers.
struct Canvas {
    width: u32,
    height: u32,
    decoder_bytes: u64,
    animated: bool,
}

/// The search for the most groups of Huffman codes in data that the decoder may decode: the first of each kind among
/// the chunks of the file, and of the first frame.
struct Check<'a> {
    canvas: &'a Canvas,
    groups: u32,
    frames: usize,
}

/// Reads and checks the chunks. Returns the file without the bytes behind its RIFF container, too.
pub(crate) fn read(bytes: &[u8]) -> Result<(Header, &[u8]), Rejection> {
    let size = bytes.get(4..8).and_then(|size| size.try_into().ok()).map_or(0, u32::from_le_bytes);
    let end = usize::try_from(size).ok().and_then(|size| size.checked_add(8));
    let bytes = end.and_then(|end| bytes.get(..end)).ok_or_else(|| damaged("its end is missing"))?;
    let chunks = bytes.get(RIFF_HEADER..).unwrap_or_default();
    let canvas = Canvas::read(chunks).ok_or_else(|| damaged("its first chunk is not valid"))?;
    let Canvas { width, height, decoder_bytes, .. } = canvas;
    let decoder_bytes = decoder_bytes * u64::from(width) * u64::from(height);
    let mut header = Header { format: Format::Webp, width, height, decoder_bytes };
    header.check_dimensions()?;
    let mut check = Check { canvas: &canvas, groups: 0, frames: 0 };
    check.file(chunks)?;
    header.decoder_bytes += u64::from(check.groups) * GROUP_BYTES;
    Ok((header, bytes))
}

impl Check<'_> {
    /// Checks that every chunk ends within its container, and that every lossy frame fits on the canvas.
    fn file(&mut self, bytes: &[u8]) -> Result<(), Rejection> {
        self.chunks(bytes, (self.canvas.width, self.canvas.height), |check, chunk| check.frame(chunk.body))
    }

    /// Checks a frame of an animation, which contains no frames.
    fn frame(&mut self, body: &[u8]) -> Result<(), Rejection> {
        let side = |at: usize| side(body, at).ok_or_else(|| damaged("a frame has no header"));
        let size = if self.canvas.animated { (side(6)?, side(9)?) } else { (self.canvas.width, self.canvas.height) };
        let chunks = body.get(FRAME_HEADER..).ok_or_else(|| damaged("a frame has no header"))?;
        self.frames += 1;
        self.chunks(chunks, size, |_, _| Err(damaged("a frame contains a frame")))
    }

    fn chunks(
        &mut self,
        mut bytes: &[u8],
        size: (u32, u32),
        frame: impl Fn(&mut Self, &Chunk<'_>) -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        let decoded = self.frames <= 1;
        let (mut lossless, mut alpha) = (false, false);
        while bytes.len() >= 8 {
            let chunk = Chunk::read(bytes).ok_or_else(|| damaged("a chunk is longer than the file"))?;
            match &chunk.kind {
                b"VP8 " => self.lossy(chunk.body)?,
                b"VP8L" if decoded && !std::mem::replace(&mut lossless, true) => {
                    let size = lossless_size(chunk.body).ok_or_else(|| damaged("a frame is not valid"))?;
                    self.lossless(&chunk.body[5..], size)?;
                }
                b"ALPH" if decoded && !std::mem::replace(&mut alpha, true) => {
                    if let [flags, data @ ..] = chunk.body
                        && flags & 0b11 == LOSSLESS_ALPHA
                    {
                        self.lossless(data, size)?;
                    }
                }
                b"ANMF" => frame(self, &chunk)?,
                _ => {}
            }
            bytes = chunk.rest;
        }
        Ok(())
    }

    fn lossy(&self, body: &[u8]) -> Result<(), Rejection> {
        let (width, height) = lossy_size(body).ok_or_else(|| damaged("a frame is not valid"))?;
        if width > self.canvas.width || height > self.canvas.height {
            return Err(damaged("a frame is larger than the image"));
        }
        Ok(())
    }

    fn lossless(&mut self, data: &[u8], (width, height): (u32, u32)) -> Result<(), Rejection> {
        if width > self.canvas.width || height > self.canvas.height {
            return Err(damaged("a frame is larger than the image"));
        }
        let groups = count_groups(data, (width, height)).ok_or_else(|| damaged("its lossless data are not valid"))?;
        self.groups = self.groups.max(groups);
        Ok(())
    }
}

impl<'a> Chunk<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let kind = bytes.get(..4)?.try_into().ok()?;
        let size = usize::try_from(u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?)).ok()?;
        let body = bytes[8..].get(..size)?;
        // A chunk of an odd size has one more byte, which some programs leave out at the end.
        let rest = bytes[8 + size..].get(size % 2..).unwrap_or_default();
        Some(Self { kind, body, rest })
    }
}

impl Canvas {
    /// Reads the first chunk. The bytes per pixel follow from the code of `image-webp` 0.2:
    ///
    /// - lossy: the planes, 1.5; with alpha, its pixels and one plane, 5 more;
    /// - lossless: the data of transforms, at most 1; without alpha, all pixels with alpha, 4 more;
    /// - animation: a frame and the canvas, 4 each, and the planes of alpha, or as much for the frame's decoder.
    fn read(bytes: &[u8]) -> Option<Self> {
        let Chunk { kind, body, rest } = Chunk::read(bytes)?;
        match &kind {
            b"VP8 " => {
                let (width, height) = lossy_size(body)?;
                Some(Self { width, height, decoder_bytes: 2, animated: false })
            }
            b"VP8L" => {
                let (width, height) = lossless_size(body)?;
                let decoder_bytes = lossless_bytes(body[4] & 0b1_0000 != 0);
                Some(Self { width, height, decoder_bytes, animated: false })
            }
            b"VP8X" => {
                let flags = *body.first()?;
                let (alpha, animated) = (flags & ALPHA != 0, flags & ANIMATION != 0);
                let decoder_bytes = match (animated, has_lossless(rest)) {
                    (true, _) => 11,
                    (false, true) => lossless_bytes(alpha),
                    (false, false) => 2 + if alpha { 5 } else { 0 },
                };
                Some(Self { width: side(body, 4)?, height: side(body, 7)?, decoder_bytes, animated })
            }
            _ => None,
        }
    }
}

fn lossless_bytes(alpha: bool) -> u64 {
    if alpha { 1 } else { 5 }
}

fn has_lossless(bytes: &[u8]) -> bool {
    let next = |bytes| Chunk::read(bytes);
    std::iter::successors(next(bytes), |chunk| next(chunk.rest)).any(|chunk| &chunk.kind == b"VP8L")
}

/// Returns a side, which is stored in three bytes, less one.
fn side(body: &[u8], at: usize) -> Option<u32> {
    match body.get(at..at + 3) {
        Some(&[low, middle, high]) => Some(1 + u32::from_le_bytes([low, middle, high, 0])),
        _ => None,
    }
}

/// Returns the dimensions of lossless data.
fn lossless_size(body: &[u8]) -> Option<(u32, u32)> {
    let bits = u32::from_le_bytes(body.get(1..5)?.try_into().ok()?);
    Some((1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF)))
}

/// Returns the dimensions of a key frame (RFC 6386, section 9.1).
fn lossy_size(body: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| Some(u32::from(u16::from_le_bytes([*body.get(at)?, *body.get(at + 1)?]) & 0x3FFF));
    Some((side(6)?, side(8)?))
}

fn damaged(reason: &str) -> Rejection {
    Rejection::damaged(Format::Webp, reason)
}

#[cfg(test)]
#[path = "webp_header_tests.rs"]
mod tests;
