//! The conversion in a thread of its own. The libraries read files as they like, and wait for them; the files are in a
//! bucket, and are read and written by the caller, which is asynchronous.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use longshore_domain::records::Form;
use tokio::sync::mpsc;

use crate::convert::{Prepared, convert};
use crate::error::PreparationError;
use crate::limits::Limits;
use crate::sink::{BLOCK_BYTES, Sink};
use longshore_workbooks::SheetChoice;

/// Bytes of the first read after a change of the position, and of the largest read. Each read of a file that is read from
/// its start to its end is four times as large as the one before, up to the largest.
const FIRST_READ_BYTES: u64 = 256 << 10;
const MAX_READ_BYTES: u64 = 8 << 20;

/// Size of the parts of the output, which all but the last one have. A bucket takes no smaller ones than 5 MiB.
const PART_BYTES: usize = 8 << 20;

/// The next step of a conversion.
#[derive(Debug)]
pub enum Step {
    /// These bytes of the file are needed; see [`Conversion::answer`].
    Read(Range<u64>),
    /// The next part of the output. All parts except the last have the same size; an empty output has none.
    Part(Vec<u8>),
    /// The conversion has ended.
    Ended(Result<Prepared, PreparationError>),
}

/// A conversion in a thread, which ends soon after this is dropped.
#[derive(Debug)]
pub struct Conversion {
    steps: mpsc::Receiver<Step>,
    answers: SyncSender<Vec<u8>>,
}

impl Conversion {
    /// Starts the conversion of a file of this form and size.
    ///
    /// # Errors
    /// If there can be no other thread.
    pub fn start(form: Form, size_bytes: u64, sheet: SheetChoice, limits: Limits) -> io::Result<Self> {
        // One step is prepared while the caller handles another one.
        let (steps, received) = mpsc::channel(1);
        let (answers, answered) = sync_channel(1);
        let run = move || {
            let file = RemoteFile {
                steps: steps.clone(),
                answered,
                size_bytes,
                at: 0,
                block: Vec::new(),
                block_at: 0,
                ahead: None,
            };
            let mut parts = Parts { steps: steps.clone(), part: Vec::new(), length: 0 };
            let prepared = convert(form, file, &sheet, &limits, &mut parts).and_then(|prepared| {
                parts.finish()?;
                Ok(prepared)
            });
            // Without a receiver, nobody waits for the end.
            let _ = steps.blocking_send(Step::Ended(prepared));
        };
        thread::Builder::new().name("conversion".to_owned()).spawn(run)?;
        Ok(Self { steps: received, answers })
    }

    /// Returns the next step. A conversion whose thread has panicked ends with an error.
    pub async fn next(&mut self) -> Step {
        self.steps.recv().await.unwrap_or_else(panicked)
    }

    /// Returns the next step, and blocks the thread until there is one.
    pub fn blocking_next(&mut self) -> Step {
        self.steps.blocking_recv().unwrap_or_else(panicked)
    }

    /// Passes on the bytes that the last step has asked for: all of them, or the read fails.
    pub fn answer(&self, bytes: Vec<u8>) {
        // Without a receiver, the thread has ended, which the next step tells.
        let _ = self.answers.send(bytes);
    }
}

fn panicked() -> Step {
    Step::Ended(Err(PreparationError::damaged("it cannot be read")))
}

fn gone() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// A file that the caller reads.
struct RemoteFile {
    steps: mpsc::Sender<Step>,
    answered: Receiver<Vec<u8>>,
    size_bytes: u64,
    /// The position.
    at: u64,
    /// The bytes that were read last, from `block_at` on.
    block: Vec<u8>,
    block_at: u64,
    /// Bytes that were asked for while the ones before are used, and not received yet.
    ahead: Option<Range<u64>>,
}

impl RemoteFile {
    /// Reads the bytes from the position on. While a file is read in order, the next bytes are on their way.
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
        if self.at == next && range.end < self.size_bytes {
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

/// A writer that collects parts for the caller.
struct Parts {
    steps: mpsc::Sender<Step>,
    /// Space for a whole part; empty before its first byte. Only what is written of it takes memory.
    part: Vec<u8>,
    /// Length of what is written of it.
    length: usize,
}

impl Parts {
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

    fn finish(&mut self) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts a file that is read by range, and returns the parts.
    fn parts(form: Form, file: &[u8]) -> (Vec<Vec<u8>>, Result<Prepared, PreparationError>) {
        let conversion = Conversion::start(form, file.len() as u64, SheetChoice::default(), Limits::default());
        let (mut conversion, mut parts) = (conversion.unwrap(), Vec::new());
        loop {
            match conversion.blocking_next() {
                Step::Read(range) => conversion.answer(file[range.start as usize..range.end as usize].to_vec()),
                Step::Part(part) => parts.push(part),
                Step::Ended(end) => return (parts, end),
            }
        }
    }

    fn utf16(text: &str) -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn parts_are_of_one_size_and_make_up_the_output() {
        let text = "id,name\r\n".repeat(2_000_000);
        let (parts, end) = parts(Form::Utf16, &utf16(&text));
        assert_eq!(end.unwrap().bytes, text.len() as u64);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [8 << 20, 8 << 20, text.len() - (16 << 20)]);
        assert!(parts.concat() == text.as_bytes());
    }

    #[test]
    fn an_empty_output_has_no_part() {
        assert_eq!(parts(Form::Utf16, b"\xff\xfe").0.len(), 0);
    }

    #[test]
    fn a_short_answer_is_an_error_of_the_storage() {
        let mut conversion = Conversion::start(Form::Utf16, 10, SheetChoice::default(), Limits::default()).unwrap();
        assert!(matches!(conversion.blocking_next(), Step::Read(range) if range == (0..10)));
        conversion.answer(vec![0xff, 0xfe]);
        let Step::Ended(Err(error)) = conversion.blocking_next() else { panic!("the conversion goes on") };
        assert_eq!(error.code(), None);
    }
}
