//! Tests of WebP headers, with chunks made by hand.

use super::*;

fn chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = [&kind[..], &(body.len() as u32).to_le_bytes(), body].concat();
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    bytes
}

fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
    let chunks = chunks.concat();
    [b"RIFF", &(chunks.len() as u32 + 4).to_le_bytes()[..], b"WEBP", &chunks].concat()
}

fn extended(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let sides = [(width - 1).to_le_bytes(), (height - 1).to_le_bytes()];
    chunk(b"VP8X", &[&[flags, 0, 0, 0], &sides[0][..3], &sides[1][..3]].concat())
}

fn lossy(width: u16, height: u16) -> Vec<u8> {
    chunk(b"VP8 ", &[&[0, 0, 0, 0x9D, 1, 0x2A], &width.to_le_bytes()[..], &height.to_le_bytes()[..]].concat())
}

fn lossless(width: u32, height: u32, alpha: u32) -> Vec<u8> {
    let bits = (width - 1) | ((height - 1) << 14) | (alpha << 28);
    // No transform, no cache, no meta codes.
    chunk(b"VP8L", &[&[0x2F], &bits.to_le_bytes()[..], &[0]].concat())
}

fn frame(chunks: &[Vec<u8>]) -> Vec<u8> {
    chunk(b"ANMF", &[&[0; FRAME_HEADER], &chunks.concat()[..]].concat())
}

#[test]
fn dimensions_and_memory_follow_from_the_chunks() {
    let pixels = 300 * 20;
    for (chunks, bytes) in [
        (vec![lossy(300, 20)], 2),
        (vec![lossless(300, 20, 0)], 5),
        (vec![lossless(300, 20, 1)], 1),
        (vec![extended(0, 300, 20), lossy(300, 20)], 2),
        (vec![extended(ALPHA, 300, 20), chunk(b"ALPH", &[0]), lossy(300, 20)], 7),
        (vec![extended(ALPHA, 300, 20), lossless(300, 20, 1)], 1),
        (vec![extended(0, 300, 20), lossless(300, 20, 1)], 5),
        (vec![extended(ANIMATION, 300, 20), frame(&[lossy(10, 10)])], 11),
    ] {
        let file = file(&chunks);
        let (header, seen) = read(&[&file[..], b"trailing bytes"].concat()).map(|(h, s)| (h, s.to_vec())).unwrap();
        let codes = if file.windows(4).any(|kind| kind == b"VP8L") { GROUP_BYTES } else { 0 };
        let expected = (300, 20, bytes * pixels + codes);
        assert_eq!((header.width, header.height, header.decoder_bytes), expected, "{file:?}");
        assert_eq!(seen, file);
    }
}

#[test]
fn the_widest_lossless_image_keeps_its_dimensions() {
    let file = file(&[lossless(16_384, 1, 0)]);
    let (header, _) = read(&file).unwrap();
    assert_eq!((header.width, header.height), (16_384, 1));
}

#[test]
fn chunks_and_frames_that_lie_are_damaged() {
    let huge = |kind: &[u8; 4]| [&kind[..], &0xFFFF_FFF0_u32.to_le_bytes()].concat();
    for (chunks, reason) in [
        (vec![], "its first chunk is not valid"),
        (vec![chunk(b"EXIF", &[])], "its first chunk is not valid"),
        (vec![chunk(b"VP8 ", &[0; 9])], "its first chunk is not valid"),
        (vec![chunk(b"VP8L", &[0; 4])], "its first chunk is not valid"),
        (vec![chunk(b"VP8X", &[0; 9])], "its first chunk is not valid"),
        (vec![chunk(b"VP8X", &[0; 5])], "its first chunk is not valid"),
        (vec![extended(8, 10, 10), lossy(10, 10), huge(b"EXIF")], "a chunk is longer than the file"),
        (vec![extended(2, 10, 10), frame(&[lossy(10, 10), huge(b"EXIF")])], "a chunk is longer than the file"),
        (vec![extended(0, 10, 10), lossy(16_383, 16_383)], "a frame is larger than the image"),
        (vec![extended(2, 10, 10), frame(&[lossy(11, 10)])], "a frame is larger than the image"),
        (vec![extended(2, 10, 10), frame(&[chunk(b"VP8 ", &[])])], "a frame is not valid"),
        (vec![extended(2, 10, 10), chunk(b"ANMF", &[0; 15])], "a frame has no header"),
        (vec![extended(2, 10, 10), frame(&[frame(&[])])], "a frame contains a frame"),
    ] {
        assert_eq!(read(&file(&chunks)).map(|(header, _)| header), Err(damaged(reason)));
    }
}

#[test]
fn only_data_that_the_decoder_decodes_are_read_so_that_many_frames_take_no_time() {
    let bad = chunk(b"VP8L", &[&lossless(10, 10, 1)[8..13], &[0xFF; 8]].concat());
    let both = frame(&[lossless(10, 10, 1), bad.clone()]);
    let (good, bad) = (frame(&[lossless(10, 10, 1)]), frame(&[bad]));
    let extended = extended(ANIMATION, 10, 10);
    for (frames, valid) in
        [(vec![good.clone(), bad.clone(), bad.clone()], true), (vec![both], true), (vec![bad, good], false)]
    {
        assert_eq!(read(&file(&[vec![extended.clone()], frames].concat())).is_ok(), valid);
    }
}

#[test]
fn a_file_shorter_than_its_container_is_damaged() {
    let file = file(&[lossy(10, 10)]);
    for end in RIFF_HEADER..file.len() {
        assert_eq!(read(&file[..end]).map(|(header, _)| header), Err(damaged("its end is missing")), "{end}");
    }
}
