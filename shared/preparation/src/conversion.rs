//! The conversion in a thread of its own. The libraries read files as they like, and wait for them; the files are in a
//! bucket, and are read and written by the caller, which is asynchronous.

use std::io;
use std::ops::Range;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use longshore_domain::records::Form;
use tokio::sync::mpsc;

use crate::convert::{Prepared, convert};
use crate::error::PreparationError;
use crate::limits::Limits;
use crate::parts::Parts;
use crate::remote_file::RemoteFile;
use longshore_workbooks::SheetChoice;

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
    /// If the thread cannot be started.
    pub fn start(form: Form, size_bytes: u64, sheet: SheetChoice, limits: Limits) -> io::Result<Self> {
        // One step is prepared while the caller handles another one.
        let (steps, received) = mpsc::channel(1);
        let (answers, answered) = sync_channel(1);
        let run = move || {
            let reads_ahead = limits.enough_bytes == u64::MAX;
            let file = RemoteFile::new(steps.clone(), answered, size_bytes, reads_ahead);
            let mut parts = Parts::new(steps.clone());
            let prepared = convert(form, file, &sheet, &limits, &mut parts).and_then(|prepared| {
                parts.finish()?;
                Ok(prepared)
            });
            // It fails only if the caller has dropped the conversion.
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

    /// Sends the bytes of the last [`Step::Read`]. The read fails if any are missing.
    pub fn answer(&self, bytes: Vec<u8>) {
        // Without a receiver, the thread has ended, which the next step tells.
        let _ = self.answers.send(bytes);
    }
}

fn panicked() -> Step {
    Step::Ended(Err(PreparationError::damaged("it cannot be read")))
}

/// Returns the error of a conversion whose caller has gone.
pub(crate) fn gone() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

#[cfg(test)]
#[path = "conversion_tests.rs"]
mod tests;
