//! The chunks of a WebP file (<https://developers.google.com/speed/webp/docs/riff_container>).
//!
//! The decoder allocates as many bytes as a chunk claims to have, and as many pixels as a frame claims to have, before
//! it compares them with the file and with the canvas. Both are compared here first.

use crate::format::Format;
use crate::header::Header;
use crate::rejection::Rejection;

/// Bytes before the first chunk: `RIFF`, a size, `WEBP`.
const RIFF_HEADER: usize = 12;
/// Bytes of a frame of an animation before its chunks.
const FRAME_HEADER: usize = 16;

const ANIMATION: u8 = 0b10;
const ALPHA: u8 = 0b1_0000;

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
}

/// Reads and checks the chunks. Returns the file without the bytes behind its RIFF container, too.
pub(crate) fn read(bytes: &[u8]) -> Result<(Header, &[u8]), Rejection> {
    let size = bytes.get(4..8).and_then(|size| size.try_into().ok()).map_or(0, u32::from_le_bytes);
    let end = usize::try_from(size).ok().and_then(|size| size.checked_add(8));
    let bytes = end.and_then(|end| bytes.get(..end)).ok_or_else(|| damaged("its end is missing"))?;
    let chunks = bytes.get(RIFF_HEADER..).unwrap_or_default();
    let canvas = Canvas::read(chunks).ok_or_else(|| damaged("its first chunk is not valid"))?;
    check_chunks(chunks, &canvas)?;
    let Canvas { width, height, decoder_bytes } = canvas;
    let decoder_bytes = decoder_bytes * u64::from(width) * u64::from(height);
    Ok((Header { format: Format::Webp, width, height, decoder_bytes }, bytes))
}

/// Checks that every chunk ends within its container, and that every lossy frame fits on the canvas.
fn check_chunks(mut bytes: &[u8], canvas: &Canvas) -> Result<(), Rejection> {
    while bytes.len() >= 8 {
        let chunk = Chunk::read(bytes).ok_or_else(|| damaged("a chunk is longer than the file"))?;
        match &chunk.kind {
            b"VP8 " => {
                let (width, height) = lossy_size(chunk.body).ok_or_else(|| damaged("a frame is not valid"))?;
                if width > canvas.width || height > canvas.height {
                    return Err(damaged("a frame is larger than the image"));
                }
            }
            b"ANMF" => {
                let chunks = chunk.body.get(FRAME_HEADER..).ok_or_else(|| damaged("a frame has no header"))?;
                check_frame_chunks(chunks, canvas)?;
            }
            _ => {}
        }
        bytes = chunk.rest;
    }
    Ok(())
}

/// Checks the chunks of a frame. A frame within a frame is not followed, so that the depth of calls is bounded.
fn check_frame_chunks(bytes: &[u8], canvas: &Canvas) -> Result<(), Rejection> {
    let mut rest = bytes;
    while let Some(chunk) = Chunk::read(rest) {
        if &chunk.kind == b"ANMF" {
            return Err(damaged("a frame contains a frame"));
        }
        rest = chunk.rest;
    }
    check_chunks(bytes, canvas)
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
    /// - lossless: the data of transforms and of Huffman codes, at most 1; without alpha, all pixels with alpha, 4 more;
    /// - animation: a frame and the canvas, 4 each, and the planes of alpha, or as much for the frame's decoder.
    fn read(bytes: &[u8]) -> Option<Self> {
        let Chunk { kind, body, rest } = Chunk::read(bytes)?;
        match &kind {
            b"VP8 " => lossy_size(body).map(|(width, height)| Self { width, height, decoder_bytes: 2 }),
            b"VP8L" => {
                let bits = u32::from_le_bytes(body.get(1..5)?.try_into().ok()?);
                let decoder_bytes = lossless_bytes(bits & (1 << 28) != 0);
                Some(Self { width: 1 + (bits & 0x3FFF), height: 1 + ((bits >> 14) & 0x3FFF), decoder_bytes })
            }
            b"VP8X" => {
                let flags = *body.first()?;
                let side = |at: usize| match body.get(at..at + 3) {
                    Some(&[low, middle, high]) => Some(1 + u32::from_le_bytes([low, middle, high, 0])),
                    _ => None,
                };
                let alpha = flags & ALPHA != 0;
                let decoder_bytes = match (flags & ANIMATION != 0, has_lossless(rest)) {
                    (true, _) => 11,
                    (false, true) => lossless_bytes(alpha),
                    (false, false) => 2 + if alpha { 5 } else { 0 },
                };
                Some(Self { width: side(4)?, height: side(7)?, decoder_bytes })
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
