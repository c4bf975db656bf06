//! Limits of files, pixels, memory and results.
//!
//! Decoding takes at most [`MEMORY_BYTES`]. The pixels that fit depend on the file:
//!
//! | file | bytes per pixel | megapixels |
//! | --- | --- | --- |
//! | JPEG, baseline | 3 | 50 |
//! | JPEG, progressive, 4:2:0 or 4:4:4 | 6 or 9 | 44 or 29 |
//! | PNG, 8 bits, without and with alpha | 3 or 4 | 50 |
//! | PNG, 16 bits, without and with alpha | 6 or 8 | 44 or 33 |
//! | WebP, lossy, without and with alpha | 5 or 11 | 50 or 24 |
//! | WebP, lossless, without and with alpha | 8 or 5 | 33 or 50 |
//! | WebP, animated, without and with alpha | 14 or 15 | 19 or 17 |
//!
//! A result takes, besides, two buffers that are at most as large as the decoded image, and its encoder's, which are
//! small for small results. One result is made after the other.

const MIB: usize = 1024 * 1024;

/// Maximum bytes of a file. JPEG files of cameras with 50 megapixels have 10 to 25 MiB.
pub const FILE_BYTES: usize = 32 * MIB;

/// Maximum width and height. WebP cannot have more than 16,383, and panoramas of phones stay below.
pub const SIDE: u32 = 16_384;

/// Maximum pixels: those of current phones and cameras (48 and 50 megapixels).
pub const PIXELS: u64 = 50_000_000;

/// Maximum bytes of memory for decoding: the decoded image, and the decoder's own buffers that grow with it.
pub const MEMORY_BYTES: u64 = 256 * MIB as u64;

/// Maximum bytes of memory for texts, profiles and EXIF of a PNG, which may be compressed.
pub const METADATA_BYTES: u64 = 8 * MIB as u64;

/// Maximum number of sizes of one image.
pub const SIZES: usize = 8;

/// Maximum characters of a size's name, which becomes a part of a file's name.
pub const NAME_CHARS: usize = 32;

/// Maximum width and height of a result.
pub const RESULT_SIDE: u32 = 8_192;

/// Maximum bytes of all results of one image together, which are in memory at once.
pub const RESULT_BYTES: usize = 64 * MIB;
