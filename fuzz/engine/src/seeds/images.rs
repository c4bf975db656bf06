//! Seeds of the target `images`: the file.

pub(super) const SEEDS: &[(&str, &[u8])] = &[
    ("a-bitmap-of-windows", b"BM\x36\0"),
    (
        "a-chunk-that-claims-four-gigabytes",
        seed![b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0", &[8, 0, 0, 0, 15, 0, 0, 15, 0, 0], b"EXIF\0\0\0\xf0MM"],
    ),
    ("a-cmyk-jpeg", include_bytes!("../../../../shared/images/tests/files/cmyk.jpg")),
    ("a-jpeg-of-markers-only", b"\xff\xd8\xff\xe0\0\x04JF\xff\xd9"),
    ("a-lossless-webp-header", seed![b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f", &[15, 192, 3, 0], &[0; 9]]),
    ("a-lossy-webp", include_bytes!("../../../../shared/images/tests/files/lossy.webp")),
    ("a-lossy-webp-with-alpha", include_bytes!("../../../../shared/images/tests/files/lossy-alpha.webp")),
    ("a-palette-png", include_bytes!("../../../../shared/images/tests/files/palette.png")),
    (
        "a-png-of-four-gigapixels",
        seed![b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", &[0, 1, 0, 0, 0, 1, 0, 0, 8, 2, 0, 0, 0], &[0; 4]],
    ),
    ("a-progressive-jpeg", include_bytes!("../../../../shared/images/tests/files/progressive.jpg")),
    ("an-animated-png", include_bytes!("../../../../shared/images/tests/files/animated.png")),
    ("an-animated-webp", include_bytes!("../../../../shared/images/tests/files/animated.webp")),
    (
        "an-orientation-without-an-image",
        seed![b"\xff\xd8\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01", &[1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0], &[0; 4]],
    ),
];
