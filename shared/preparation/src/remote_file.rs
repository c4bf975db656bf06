//! The file of a conversion: each read asks the caller.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::mpsc::Receiver;

use tokio::sync::mpsc;

use crate::conversion::{Step, gone};

/// Bytes of the first read after a change of the position, and of the largest read. Each read of a file that is read
/// from its start to its end is four times as large as the one before, up to the largest.
const FIRST_READ_BYTES: u64 = 256 << 10;
const MAX_READ_BYTES: u64 = 8 << 20;

/// A file that the caller reads.
pub(crate) struct RemoteFile {
    steps: mpsc::Sender<Step>,
    answered: Receiver<Vec<u8>>,
    size_bytes: u64,
    /// The position.
    at: u64,
    /// The bytes that were read last, from `block_at` on.
    block: Vec<u8>,
    block_at: u64,
    /// True if the whole file is read: bytes are asked for before they are needed.
    reads_ahead: bool,
    /// Bytes that were asked for while the ones before are used, and not received yet.
    ahead: Option<Range<u64>>,
}

impl RemoteFile {
    /// Creates a file of this size. With `reads_ahead`, bytes are asked for before they are needed.
    pub(crate) fn new(
        steps: mpsc::Sender<Step>,
        answered: Receiver<Vec<u8>>,
        size_bytes: u64,
        reads_ahead: bool,
    ) -> Self {
        Self { steps, answered, size_bytes, at: 0, block: Vec::new(), block_at: 0, reads_ahead, ahead: None }
    }

    /// Reads the bytes from the position on. Sequential reads request the next block ahead.
    fn fetch(&mut self) -> io::Result<()> {
        let next = self.block_at + self.block.len() as u64;
        let mut length = (self.block.len() as u64 * 4).clamp(FIRST_READ_BYTES, MAX_READ_BYTES);
        self.block = Vec::new();
        let range = match self.ahead.take() {
            Some(ahead) if self.at == next => ahead,
            unused => {
                unused.map(|range| self.receive(&range)).transpose()?;
                length = if self.at == next { length } else { FIRST_READ_BYTES };
                self.ask(self.at, length)?
            }
        };
        (self.block, self.block_at) = (self.receive(&range)?, range.start);
        if self.reads_ahead && self.at == next && range.end < self.size_bytes {
            self.ahead = Some(self.ask(range.end, (length * 4).min(MAX_READ_BYTES))?);
        }
        Ok(())
    }

    /// Asks for bytes, and returns their range.
    fn ask(&self, start: u64, length: u64) -> io::Result<Range<u64>> {
        let range = start..self.size_bytes.min(start + length);
        self.steps.blocking_send(Step::Read(range.clone())).map_err(|_| gone())?;
        Ok(range)
    }

    fn receive(&self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        let block = self.answered.recv().map_err(|_| gone())?;
        if block.len() as u64 == range.end - range.start {
            Ok(block)
        } else {
            Err(io::ErrorKind::ConnectionAborted.into())
        }
    }
}

impl Read for RemoteFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A hostile file can take long without asking for anything.
        if self.steps.is_closed() {
            return Err(gone());
        }
        if self.at >= self.size_bytes || buffer.is_empty() {
            return Ok(0);
        }
        if !(self.block_at..self.block_at + self.block.len() as u64).contains(&self.at) {
            self.fetch()?;
        }
        let rest = &self.block[(self.at - self.block_at) as usize..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.at += length as u64;
        Ok(length)
    }
}

impl Seek for RemoteFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let to = match position {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::End(by) => self.size_bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
