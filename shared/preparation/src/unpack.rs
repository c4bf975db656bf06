//! gzip and Zstandard.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use zstd::Decoder;

use crate::error::PreparationError;
use crate::limits::Limits;
use crate::sink::{BLOCK_BYTES, Sink, copy};

/// Writes the content of all gzip members. Some programs pad files with zeros behind the last one.
pub(crate) fn gzip(file: impl Read, sink: &mut impl Sink) -> Result<(), PreparationError> {
    let mut file = BufReader::with_capacity(BLOCK_BYTES, file);
    while has_member(&mut file)? {
        copy(GzDecoder::new(&mut file), sink)?;
    }
    Ok(())
}

/// Skips zeros. Returns false at the end of the file.
fn has_member(file: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let block = file.fill_buf()?;
        let zeros = block.iter().take_while(|byte| **byte == 0).count();
        if block.is_empty() || zeros < block.len() {
            let is_member = !block.is_empty();
            file.consume(zeros);
            return Ok(is_member);
        }
        file.consume(zeros);
    }
}

/// Writes the content of all Zstandard frames.
pub(crate) fn zstandard(file: impl Read, limits: &Limits, sink: &mut impl Sink) -> Result<(), PreparationError> {
    let mut decoder = Decoder::new(file)?;
    decoder.window_log_max(limits.window_bytes.ilog2())?;
    copy(decoder, sink).map_err(|error| match error {
        // The library reports it in the message only.
        PreparationError::Damaged(reason) if reason.contains("memory") => PreparationError::Window(limits.window_bytes),
        error => error,
    })
}
