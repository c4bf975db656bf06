//! Resized copies of an untrusted image, in memory: JPEG, PNG and WebP.
//!
//! The bytes come from anyone. Their type is recognized by their first bytes, their dimensions are checked before a
//! pixel is decoded, and memory is bounded by the constants of [`limits`]. A refusal is a [`Rejection`] with a code and
//! a text for the user.
//!
//! Results contain pixels only. EXIF, XMP, IPTC, text and ICC profiles of the original are dropped; its EXIF
//! orientation is applied first. Colours are not converted: samples of an image with another profile than sRGB, such as
//! Display P3 or Adobe RGB, are kept and are shown as sRGB, usually less saturated. CMYK becomes RGB without its
//! profile. 16-bit samples become 8-bit. Of an animation, the first frame is kept; of an animated PNG, the image that
//! viewers without animation show.
//!
//! | module | contents |
//! | --- | --- |
//! | `convert` | [`convert()`]: one image to all its sizes |
//! | `probe` | [`probe()`]: type and dimensions, without decoding |
//! | [`options`] | sizes, format and quality, checked |
//! | [`limits`] | limits of files, pixels, memory and results |
//! | [`rejection`] | reasons for which an image is refused |
//! | `format` | recognition of the type |
//! | `header`, `jpeg_header`, `webp_header`, `webp_lossless` | dimensions and memory, read before decoding |
//! | `decode`, `pixels` | decoding; pixels of 8 bits per sample |
//! | `geometry`, `resize` | crop and dimensions of a result; resampling |
//! | `encode`, `bounded` | encoding, within a limit of bytes |

mod bounded;
mod convert;
mod decode;
mod encode;
mod format;
mod geometry;
mod header;
mod jpeg_header;
pub mod limits;
pub mod options;
mod pixels;
mod probe;
pub mod rejection;
mod resize;
mod webp_header;
mod webp_lossless;

pub use convert::{ConvertedImage, OriginalInfo, ResultImage, ResultInfo, convert};
pub use format::Format;
pub use options::{CheckedOptions, Fit, Options, OutputFormat, SizeOptions};
pub use probe::{Probed, probe};
pub use rejection::Rejection;
