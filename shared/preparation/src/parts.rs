//! The output of a conversion, in parts.

use std::io::{self, Write};

use tokio::sync::mpsc;

use crate::conversion::{Step, gone};
use crate::sink::{BLOCK_BYTES, Sink, append};

/// Size of the parts of the output, which all but the last one have. A bucket takes no smaller ones than 5 MiB.
const PART_BYTES: usize = 8 << 20;

/// A writer that collects parts for the caller.
pub(crate) struct Parts {
    steps: mpsc::Sender<Step>,
    /// The current part; without memory before its first byte.
    part: Vec<u8>,
}

impl Parts {
    pub(crate) fn new(steps: mpsc::Sender<Step>) -> Self {
        Self { steps, part: Vec::new() }
    }

    /// Returns the number of bytes, up to this many, that the current part still takes. The part gets memory for all its
    /// bytes at once.
    fn room(&mut self, bytes: usize) -> usize {
        self.part.reserve_exact(PART_BYTES - self.part.len());
        bytes.min(PART_BYTES - self.part.len())
    }

    /// Passes on the current part if it is full.
    fn send_full(&mut self) -> io::Result<()> {
        if self.part.len() == PART_BYTES { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> io::Result<()> {
        self.steps.blocking_send(Step::Part(std::mem::take(&mut self.part))).map_err(|_| gone())
    }

    /// Passes on the last part.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if self.part.is_empty() { Ok(()) } else { self.send() }
    }
}

impl Sink for Parts {
    fn fill(&mut self, read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let room = self.room(BLOCK_BYTES);
        let filled = append(&mut self.part, room, read)?;
        self.send_full()?;
        Ok(filled)
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room(bytes.len());
        self.part.extend_from_slice(&bytes[..room]);
        self.send_full()?;
        Ok(room)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
