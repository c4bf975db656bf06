//! The output of a conversion, in parts.

use std::io::{self, Write};

use tokio::sync::mpsc;

use crate::conversion::{Step, gone};
use crate::sink::{BLOCK_BYTES, Sink};

/// Size of the parts of the output, which all but the last one have. A bucket takes no smaller ones than 5 MiB.
const PART_BYTES: usize = 8 << 20;

/// A writer that collects parts for the caller.
pub(crate) struct Parts {
    steps: mpsc::Sender<Step>,
    /// Space for a whole part; empty before its first byte. Only what is written of it takes memory.
    part: Vec<u8>,
    /// Length of what is written of it.
    length: usize,
}

impl Parts {
    pub(crate) fn new(steps: mpsc::Sender<Step>) -> Self {
        Self { steps, part: Vec::new(), length: 0 }
    }

    /// Returns free space of up to this size.
    fn space(&mut self, bytes: usize) -> &mut [u8] {
        if self.part.is_empty() {
            self.part = vec![0; PART_BYTES];
        }
        &mut self.part[self.length..PART_BYTES.min(self.length + bytes)]
    }

    /// Adds bytes that were written to the space.
    fn add(&mut self, bytes: usize) -> io::Result<()> {
        self.length += bytes;
        if self.length == PART_BYTES { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> io::Result<()> {
        let mut part = std::mem::take(&mut self.part);
        part.truncate(std::mem::take(&mut self.length));
        self.steps.blocking_send(Step::Part(part)).map_err(|_| gone())
    }

    /// Passes on the last part.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if self.length == 0 { Ok(()) } else { self.send() }
    }
}

impl Sink for Parts {
    fn fill(&mut self, read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let filled = read(self.space(BLOCK_BYTES))?;
        self.add(filled)?;
        Ok(filled)
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let space = self.space(bytes.len());
        let length = space.len();
        space.copy_from_slice(&bytes[..length]);
        self.add(length)?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
