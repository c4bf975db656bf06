//! The items of one round of a chunk: from the message, from a range of the source, or from the previous round.

use std::ops::Range;

use longshore_domain::cursor::Cursor;
use longshore_domain::group::ChunkPlan;
use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Read};
use longshore_domain::records::{Format, TextEncoding};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{End, WorkFile};
use serde_json::Value;

use super::chain::{deferred_in, read_chain};
use super::chunk_records::{ChunkRecord, chunk_records};
use super::definition_cache::PreparedDefinition;
use super::delivery::ChunkError;
use super::reasons::{source_changed, source_missing};
use crate::handler::{RawItem, Shape};
use crate::ports::JobFolder;

/// One remaining item: its number, its attempts, and the range of its bytes.
struct PendingItem {
    number: u64,
    attempts: u32,
    start: usize,
    end: usize,
    unterminated: bool,
    /// True if the item exceeds the maximum size; its bytes are not in memory.
    too_long: bool,
    /// Its earliest next attempt, if it has one.
    wait: Option<Wait>,
}

/// The wait of an item for its next attempt.
pub(super) struct Wait {
    /// Earliest time of the attempt.
    pub(super) due: Timestamp,
    /// Reason of the last attempt.
    pub(super) reason: String,
}

impl PendingItem {
    /// An item without bytes, before its first attempt.
    fn first(number: u64) -> Self {
        Self { number, attempts: 0, start: 0, end: 0, unterminated: false, too_long: false, wait: None }
    }
}

/// All items of a round, in the order in which the cursor's position counts them.
pub(super) struct Items {
    bytes: Vec<u8>,
    pending: Vec<PendingItem>,
    /// Time up to which items are due; `None` if all are.
    due_by: Option<Timestamp>,
}

/// The items, or the reason to stop the whole job.
pub(super) enum Found {
    Items(Items),
    SourceGone(JobError),
}

impl Items {
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn number(&self, i: usize) -> u64 {
        self.pending[i].number
    }

    pub(super) fn attempts(&self, i: usize) -> u32 {
        self.pending[i].attempts
    }

    /// Returns true if the item's bytes are incomplete, or its end is unknown.
    pub(super) fn is_damaged(&self, i: usize) -> bool {
        self.pending[i].too_long || self.pending[i].unterminated
    }

    pub(super) fn is_too_long(&self, i: usize) -> bool {
        self.pending[i].too_long
    }

    /// Makes the items wait that are due later than `time`. The time stays the same in an attempt, so that an item does
    /// not become due between two batches.
    pub(super) fn hold_until_due(&mut self, time: Timestamp) {
        self.due_by = Some(time);
    }

    /// Returns the wait of an item that is not due yet.
    pub(super) fn waiting(&self, i: usize) -> Option<&Wait> {
        let due_by = self.due_by?;
        self.pending[i].wait.as_ref().filter(|wait| wait.due > due_by)
    }

    pub(super) fn raw(&self, i: usize) -> &[u8] {
        &self.bytes[self.pending[i].start..self.pending[i].end]
    }

    /// Returns the key that an item of a dataset is.
    pub(super) fn key(&self, i: usize) -> Result<String, ChunkError> {
        serde_json::from_slice(self.raw(i)).map_err(ChunkError::Key)
    }

    /// Returns an item as the input of a handler: the options if records have no format.
    pub(super) fn item<'a>(
        &'a self,
        i: usize,
        format: Option<Format>,
        definition: &'a PreparedDefinition,
    ) -> RawItem<'a> {
        let shape = match format {
            None => Shape::Options(&definition.stored.options),
            Some(format) => Shape::Record {
                format,
                columns: definition.columns(),
                bytes: self.raw(i),
                unterminated: self.pending[i].unterminated,
            },
        };
        RawItem { number: self.number(i), shape }
    }

    fn from_options(number: u64, options: &Value) -> Self {
        let bytes = options.to_string().into_bytes();
        let pending = PendingItem { end: bytes.len(), ..PendingItem::first(number) };
        Self { bytes, pending: vec![pending], due_by: None }
    }

    /// Returns the records of an oversize chunk, which are not read.
    fn unread(plan: &ChunkPlan) -> Self {
        let numbers = plan.first..plan.first + u64::from(plan.items);
        let pending = |number| PendingItem { too_long: true, ..PendingItem::first(number) };
        Self { bytes: Vec::new(), pending: numbers.map(pending).collect(), due_by: None }
    }

    /// Returns the records of a chunk in this `encoding`. The bytes of records of more than `longest` bytes are omitted.
    fn from_chunk(
        message: &ChunkMessage,
        source: &SourceFile,
        encoding: TextEncoding,
        longest: u64,
        bytes: Vec<u8>,
    ) -> Result<Self, ChunkError> {
        let mut pending = Vec::with_capacity(message.plan.items as usize);
        let bytes = chunk_records(source, encoding, longest, bytes, |record| {
            let ChunkRecord { range: Range { start, end }, unterminated, too_long } = record;
            let number = message.plan.first + pending.len() as u64;
            pending.push(PendingItem { start, end, unterminated, too_long, ..PendingItem::first(number) });
        });
        if pending.len() != message.plan.items as usize {
            return Err(ChunkError::Plan { found: pending.len(), planned: message.plan.items });
        }
        Ok(Self { bytes, pending, due_by: None })
    }

    /// Returns the items that the previous round deferred, by number. The bytes of items of more than `longest` bytes
    /// are omitted: an item that was given up can be one, because its work file was written without the limits of its
    /// type.
    fn from_round(chain: &[WorkFile], previous: u32, longest: u64) -> Self {
        let (mut bytes, mut pending) = (Vec::new(), Vec::new());
        for entry in deferred_in(chain, previous) {
            let (attempts, wait) = match &entry.end {
                End::Transient { attempts, reason, due } => {
                    (*attempts, due.map(|due| Wait { due, reason: reason.clone() }))
                }
                End::Failed(_) | End::Skipped { .. } => (0, None),
            };
            let (start, too_long) = (bytes.len(), entry.raw.len() as u64 > longest);
            // Without its bytes, an item cannot be deferred again: it fails now.
            let wait = wait.filter(|_| !too_long);
            if !too_long {
                bytes.extend_from_slice(entry.raw.as_bytes());
            }
            let end = bytes.len();
            pending.push(PendingItem { attempts, start, end, too_long, wait, ..PendingItem::first(entry.n) });
        }
        Self { bytes, pending, due_by: None }
    }
}

/// Reads the items of the cursor's round. Those of more than `longest` bytes are too long.
pub(super) async fn find(
    files: &impl Files,
    message: &ChunkMessage,
    cursor: Option<&Cursor>,
    source: Option<&SourceFile>,
    definition: &PreparedDefinition,
    longest: u64,
) -> Result<Found, ChunkError> {
    if let Some(cursor) = cursor.filter(|c| c.round > 0) {
        let folder = JobFolder { tenant: &message.tenant, id: message.job_id }.chunk(message.id());
        let chain = read_chain(files, folder, cursor.file.as_deref(), cursor.round - 1).await?;
        return Ok(Found::Items(Items::from_round(&chain, cursor.round - 1, longest)));
    }
    let plan = &message.plan;
    if plan.oversize {
        return Ok(Found::Items(Items::unread(plan)));
    }
    let Some(source) = source else {
        return Ok(Found::Items(Items::from_options(plan.first, &definition.stored.options)));
    };
    if let Some(inline) = &message.inline {
        let rows = inline.clone().into_bytes();
        return Items::from_chunk(message, source, TextEncoding::UTF_8, longest, rows).map(Found::Items);
    }
    match files.read(&source.key, Some(&source.etag), Some(plan)).await? {
        Read::Found(bytes) => {
            let encoding = source.reading.unwrap_or_default().encoding;
            Items::from_chunk(message, source, encoding, longest, bytes).map(Found::Items)
        }
        Read::Absent => Ok(Found::SourceGone(source_missing(source))),
        Read::Changed => Ok(Found::SourceGone(source_changed(source))),
    }
}
