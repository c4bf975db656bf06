//! Reasons for which an image is refused. Their texts are for the user who sent it.

use image::ImageError;

use crate::format::Format;
use crate::limits::{FILE_BYTES, METADATA_BYTES, PIXELS, RESULT_BYTES, SIDE};

const MIB: u64 = 1024 * 1024;

/// Maximum characters of a decoder's reason.
const REASON_CHARS: usize = 200;

/// A refusal. The same bytes and options are always refused: a retry is of no use.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum Rejection {
    /// No bytes.
    #[error("The file is empty. Send a JPEG, PNG or WebP image.")]
    Empty,
    /// Bytes that are not known to be an image.
    #[error("The file is not an image. Send a JPEG, PNG or WebP image.")]
    NotAnImage,
    /// An image of another type.
    #[error("The file is a {0} image, which is not supported. Convert it to JPEG, PNG or WebP.")]
    UnsupportedType(&'static str),
    /// A feature that the decoder does not know, such as arithmetic coding.
    #[error("The {format} file uses a feature that is not supported: {reason}. Save it again with default settings.")]
    UnsupportedFeature {
        /// The type.
        format: Format,
        /// The feature.
        reason: String,
    },
    /// Too many bytes.
    #[error("The file has {0} bytes, and at most {FILE_BYTES} are allowed. Send a smaller or more compressed image.")]
    FileTooLarge(usize),
    /// Too many bytes of texts, profiles and EXIF.
    #[error("The {0} file has more than {mib} MiB of metadata. Remove the metadata.", mib = METADATA_BYTES / MIB)]
    MetadataTooLarge(Format),
    /// A side that is too long.
    #[error("The image has {width} x {height} pixels, and at most {SIDE} per side are allowed. Send a smaller image.")]
    SideTooLong {
        /// The width.
        width: u32,
        /// The height.
        height: u32,
    },
    /// Too many pixels.
    #[error(
        "The image has {width} x {height} pixels, and at most {mp} megapixels are allowed. Send a smaller image.",
        mp = PIXELS / 1_000_000
    )]
    TooManyPixels {
        /// The width.
        width: u32,
        /// The height.
        height: u32,
    },
    /// Pixels within the limit, of a kind of file that takes too much memory.
    #[error(
        "The image has {width} x {height} pixels, which is too much for this kind of {format} file (progressive, \
         animated, or 16 bits). Send a smaller image, or save it as a baseline JPEG."
    )]
    TooMuchMemory {
        /// The type.
        format: Format,
        /// The width.
        width: u32,
        /// The height.
        height: u32,
    },
    /// A file that contradicts its type's specification, or ends too early.
    #[error("The {format} file is damaged: {reason}. Export or upload it again.")]
    Damaged {
        /// The type.
        format: Format,
        /// The contradiction.
        reason: String,
    },
    /// A file at which the decoder panicked.
    #[error("The {0} file is damaged. Export or upload it again.")]
    DecoderPanicked(Format),
    /// Results that are too large together.
    #[error(
        "The results have more than {mib} MiB together. Use smaller or fewer sizes, or the format \"jpeg\".",
        mib = RESULT_BYTES as u64 / MIB
    )]
    ResultsTooLarge,
    /// A failure of resampling or encoding, which is a defect.
    #[error("The image could not be converted to {format}: {reason}.")]
    Failed {
        /// The result's format.
        format: Format,
        /// The reason.
        reason: String,
    },
}

impl Rejection {
    /// Returns a stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty | Self::NotAnImage => "not_an_image",
            Self::UnsupportedType(_) | Self::UnsupportedFeature { .. } => "unsupported_type",
            Self::FileTooLarge(_) | Self::MetadataTooLarge(_) => "too_large",
            Self::SideTooLong { .. } | Self::TooManyPixels { .. } | Self::TooMuchMemory { .. } => "too_many_pixels",
            Self::Damaged { .. } | Self::DecoderPanicked(_) => "damaged_image",
            Self::ResultsTooLarge => "results_too_large",
            Self::Failed { .. } => "conversion_failed",
        }
    }

    pub(crate) fn damaged(format: Format, reason: &str) -> Self {
        let text: String = reason.chars().filter(|c| !c.is_control()).take(REASON_CHARS).collect();
        Self::Damaged { format, reason: text.trim_end_matches('.').to_owned() }
    }

    /// Describes an error of a decoder. Limits of dimensions are checked before, so a limit is that of metadata.
    pub(crate) fn from_decoder(format: Format, error: &ImageError) -> Self {
        match error {
            ImageError::Limits(_) => Self::MetadataTooLarge(format),
            ImageError::Unsupported(error) => {
                let reason: String = error.to_string().chars().take(REASON_CHARS).collect();
                Self::UnsupportedFeature { format, reason }
            }
            error => Self::damaged(format, &error.to_string()),
        }
    }

    pub(crate) fn failed(format: Format, error: &dyn std::error::Error) -> Self {
        Self::Failed { format, reason: error.to_string().chars().take(REASON_CHARS).collect() }
    }
}
