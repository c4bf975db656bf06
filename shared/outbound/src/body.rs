//! Bodies of answers, read with limits.

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};
use tokio::time::Instant;

use crate::dial::within;
use crate::failure::{CallFailure, Part, Phase};
use crate::limits::Limits;

/// A body that is being read.
pub(crate) struct BodyReader {
    incoming: Incoming,
    limit: usize,
    read: Vec<u8>,
}

impl BodyReader {
    pub(crate) fn new(incoming: Incoming, limit: usize) -> Self {
        Self { incoming, limit, read: Vec::new() }
    }

    /// Returns true if the answer's headers announce more than the limit.
    pub(crate) fn is_announced_too_large(&self) -> bool {
        self.incoming.size_hint().lower() > self.limit as u64
    }

    /// Reads until the end of the body. After a failure, [`BodyReader::into_bytes`] returns what had arrived.
    pub(crate) async fn read_to_end(&mut self, limits: &Limits, deadline: Instant) -> Result<(), CallFailure> {
        loop {
            let until = deadline.min(Instant::now() + limits.idle);
            match within(until, Phase::Body, self.next()).await? {
                Some(data) => self.push(&data)?,
                None => return Ok(()),
            }
        }
    }

    /// Returns the next data; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, CallFailure> {
        while let Some(frame) = self.incoming.frame().await {
            let frame = frame.map_err(|error| CallFailure::of_http(&error, Part::Body))?;
            // Trailers are dropped.
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Appends the data, up to the limit.
    fn push(&mut self, data: &[u8]) -> Result<(), CallFailure> {
        let room = self.limit - self.read.len();
        self.read.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room { Err(CallFailure::TooLarge(Part::Body)) } else { Ok(()) }
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.read.into()
    }
}
