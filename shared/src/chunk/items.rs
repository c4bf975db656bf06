//! The items of one round of a chunk: from the message, from a range of the source, or from the previous
//! round.

use longshore_domain::cursor::Cursor;
use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Read};
use longshore_domain::records::records;
use longshore_domain::work_file::{End, WorkFile};
use serde_json::Value;

use super::chain::{deferred_in, read_chain};
use super::delivery::ChunkError;
use super::known::KnownJob;
use crate::handler::{RawItem, Shape};
use crate::ports::JobFolder;

/// One remaining item: its number, its attempts, and the range of its bytes.
struct Todo {
    number: u64,
    attempts: u32,
    start: usize,
    end: usize,
    unterminated: bool,
    /// True if the item exceeds the maximum size; its bytes are not here.
    too_long: bool,
}

/// All items of a round, in the order in which the cursor's position counts them.
pub(super) struct Items {
    bytes: Vec<u8>,
    todo: Vec<Todo>,
}

/// The items, or the reason to stop the whole job.
pub(super) enum Found {
    Items(Items),
    SourceGone(JobError),
}

impl Items {
    pub(super) fn len(&self) -> usize {
        self.todo.len()
    }

    pub(super) fn number(&self, i: usize) -> u64 {
        self.todo[i].number
    }

    pub(super) fn attempts(&self, i: usize) -> u32 {
        self.todo[i].attempts
    }

    /// Returns true if the item's bytes are incomplete, or its end is unknown.
    pub(super) fn is_damaged(&self, i: usize) -> bool {
        self.todo[i].too_long || self.todo[i].unterminated
    }

    pub(super) fn is_too_long(&self, i: usize) -> bool {
        self.todo[i].too_long
    }

    pub(super) fn raw(&self, i: usize) -> &[u8] {
        &self.bytes[self.todo[i].start..self.todo[i].end]
    }

    /// Returns an item in the form that a handler's reader takes.
    pub(super) fn item<'a>(&'a self, i: usize, source: Option<&SourceFile>, known: &'a KnownJob) -> RawItem<'a> {
        let shape = match source {
            None => Shape::Options(&known.definition.options),
            Some(source) => Shape::Record {
                format: source.format,
                columns: known.columns(),
                bytes: self.raw(i),
                unterminated: self.todo[i].unterminated,
            },
        };
        RawItem { number: self.number(i), shape }
    }

    fn of_options(number: u64, options: &Value) -> Self {
        let bytes = options.to_string().into_bytes();
        let todo = Todo { number, attempts: 0, start: 0, end: bytes.len(), unterminated: false, too_long: false };
        Self { bytes, todo: vec![todo] }
    }

    /// Returns the single record of a chunk that is not read.
    fn unread(number: u64) -> Self {
        let todo = Todo { number, attempts: 0, start: 0, end: 0, unterminated: false, too_long: true };
        Self { bytes: Vec::new(), todo: vec![todo] }
    }

    /// Returns the records of a chunk. Records of more than `longest` bytes are treated as unread.
    fn of_chunk(message: &ChunkMessage, source: &SourceFile, longest: u64, bytes: Vec<u8>) -> Result<Self, ChunkError> {
        let spans = records(source.format, &bytes).zip(message.plan.first..);
        let todo: Vec<_> = spans
            .map(|(span, number)| {
                let too_long = span.content_end - span.start > longest;
                let (start, end) = (span.start as usize, span.content_end as usize);
                let end = if too_long { start } else { end };
                Todo { number, attempts: 0, start, end, unterminated: span.unterminated, too_long }
            })
            .collect();
        if todo.len() != message.plan.items as usize {
            return Err(ChunkError::Plan { found: todo.len(), planned: message.plan.items });
        }
        Ok(Self { bytes, todo })
    }

    /// Returns the items that the previous round deferred, by number. Items of more than `longest` bytes are
    /// treated as unread: an item that was given up may be one, since its chunk was written without the
    /// limits of its type.
    fn of_round(chain: &[WorkFile], before: u32, longest: u64) -> Self {
        let (mut bytes, mut todo) = (Vec::new(), Vec::new());
        for entry in deferred_in(chain, before) {
            let attempts = if let End::Transient { attempts, .. } = entry.end { attempts } else { 0 };
            let (start, too_long) = (bytes.len(), entry.raw.len() as u64 > longest);
            if !too_long {
                bytes.extend_from_slice(entry.raw.as_bytes());
            }
            todo.push(Todo { number: entry.n, attempts, start, end: bytes.len(), unterminated: false, too_long });
        }
        Self { bytes, todo }
    }
}

/// Finds the items of the round that the cursor is in.
pub(super) async fn find(
    files: &impl Files,
    message: &ChunkMessage,
    cursor: Option<&Cursor>,
    source: Option<&SourceFile>,
    known: &KnownJob,
) -> Result<Found, ChunkError> {
    // The limit applies to records only: a job without a file has its options as its item.
    let longest = if source.is_some() { known.limits().item_bytes } else { u64::MAX };
    if let Some(cursor) = cursor.filter(|c| c.round > 0) {
        let folder = JobFolder { tenant: &message.tenant, id: message.job_id }.chunk(message.id());
        let chain = read_chain(files, folder, cursor.file.as_deref(), cursor.round - 1).await?;
        return Ok(Found::Items(Items::of_round(&chain, cursor.round - 1, longest)));
    }
    let plan = &message.plan;
    let Some(source) = source else {
        return Ok(Found::Items(Items::of_options(plan.first, &known.definition.options)));
    };
    if plan.oversize {
        return Ok(Found::Items(Items::unread(plan.first)));
    }
    if let Some(inline) = &message.inline {
        return Items::of_chunk(message, source, longest, inline.clone().into_bytes()).map(Found::Items);
    }
    match files.read(&source.key, Some(&source.etag), Some(plan)).await? {
        Read::Found(bytes) => Items::of_chunk(message, source, longest, bytes).map(Found::Items),
        Read::Absent => Ok(Found::SourceGone(source_missing(source))),
        Read::Changed => Ok(Found::SourceGone(source_changed(source))),
    }
}

/// Error: the file is gone from the bucket.
pub fn source_missing(source: &SourceFile) -> JobError {
    JobError::new("source_missing", format!("the file {:?} no longer exists; upload it again", source.name))
}

/// Error: the file has changed since the job was created.
pub fn source_changed(source: &SourceFile) -> JobError {
    let message = format!("the file {:?} was replaced while the job ran; upload it again as a new file", source.name);
    JobError::new("source_changed", message)
}
