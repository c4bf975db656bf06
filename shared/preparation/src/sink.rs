//! A writer that lends its free space, so that bytes are unpacked where they stay.

use std::io::{self, Read, Write};

use crate::error::PreparationError;

/// Bytes that are unpacked at once.
pub(crate) const BLOCK_BYTES: usize = 64 << 10;

/// A writer with free space of its own.
pub trait Sink: Write {
    /// Lets `read` put bytes into free space of up to 64 KiB, and writes them. Returns their number, which is 0 at the
    /// end of what is read.
    ///
    /// # Errors
    /// Those of `read`, and those of a write.
    fn fill(&mut self, read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize>;
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn fill(&mut self, read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        (**self).fill(read)
    }
}

impl Sink for Vec<u8> {
    fn fill(&mut self, read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        append(self, BLOCK_BYTES, read)
    }
}

/// Lets `read` append up to this many bytes. Only they are set to zero before, while they are in the processor's cache.
pub(crate) fn append(
    to: &mut Vec<u8>,
    bytes: usize,
    read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let start = to.len();
    to.resize(start + bytes, 0);
    let filled = read(&mut to[start..]);
    to.truncate(start + *filled.as_ref().unwrap_or(&0));
    filled
}

/// Copies everything. An error of the decoder is one of the file; one of the sink stays as it is.
pub(crate) fn copy(mut decoder: impl Read, sink: &mut impl Sink) -> Result<(), PreparationError> {
    loop {
        let mut failed = None;
        let filled = sink.fill(&mut |space| loop {
            match decoder.read(space) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    failed = Some(of_decoder(error));
                    return Ok(0);
                }
                read => return read,
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if filled == 0 {
            return Ok(());
        }
    }
}

/// Decoders report damage with the kind `Other`, or with one of the kinds of bad data.
fn of_decoder(error: io::Error) -> PreparationError {
    let reason = error.to_string();
    match PreparationError::from(error) {
        PreparationError::Io(io::ErrorKind::Other) => PreparationError::damaged(reason),
        error => error,
    }
}
