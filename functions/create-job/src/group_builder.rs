//! The group that is being filled with chunks, and the messages of a full one.

use std::borrow::Cow;
use std::mem;

use longshore_domain::group::{ChunkPlan, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::split::{INLINE_BYTES, chunks_in_group};

/// Maximum bytes of rows in a message: a full chunk, plus the row that filled it.
pub(crate) const MESSAGE_ROWS_BYTES: u64 = INLINE_BYTES + INLINE_BYTES / 8;

/// The group that is being filled.
#[derive(Clone, Debug)]
pub(crate) struct GroupBuilder {
    number: u32,
    chunks: Vec<ChunkPlan>,
}

impl GroupBuilder {
    pub(crate) fn new(number: u32) -> Self {
        Self { number, chunks: Vec::new() }
    }

    pub(crate) fn push(&mut self, plan: ChunkPlan) {
        self.chunks.push(plan);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.chunks.len() >= chunks_in_group(self.number)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the group's manifest, and starts the next group.
    pub(crate) fn take(&mut self) -> Manifest {
        self.number += 1;
        Manifest { group: self.number - 1, chunks: mem::take(&mut self.chunks) }
    }
}

/// Returns the messages of a group. `bytes` returns the rows of a chunk that are sent in its message.
pub(crate) fn messages<'a>(
    job: &Job,
    manifest: &Manifest,
    bytes: impl Fn(&ChunkPlan) -> Option<&'a [u8]>,
) -> Vec<ChunkMessage> {
    let encoding = job.file().and_then(|file| file.reading).unwrap_or_default().encoding;
    let text = |rows| encoding.decode(rows).filter(|text| text.len() as u64 <= MESSAGE_ROWS_BYTES);
    let message = |(chunk, plan): (u32, &ChunkPlan)| ChunkMessage {
        inline: bytes(plan).and_then(text).map(Cow::into_owned),
        ..ChunkMessage::new(job, ChunkId::new(manifest.group, chunk), plan)
    };
    (0..).zip(&manifest.chunks).map(message).collect()
}
