//! The first check of a file: its type and its dimensions, without decoding.

use crate::decode::checked_header;
use crate::format::Format;
use crate::rejection::Rejection;

/// Facts that the header of a file claims. They are within the limits, but only decoding shows whether they are true.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Probed {
    /// The format.
    pub format: Format,
    /// The width, before orientation.
    pub width: u32,
    /// The height, before orientation.
    pub height: u32,
}

/// Recognizes a file, and reads its dimensions. A file that is refused here is refused by
/// [`convert`](crate::convert()) for the same reason.
///
/// # Errors
/// The reason for which the file is refused.
pub fn probe(bytes: &[u8]) -> Result<Probed, Rejection> {
    let (header, _) = checked_header(bytes)?;
    Ok(Probed { format: header.format, width: header.width, height: header.height })
}
