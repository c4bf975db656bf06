//! The items of one round of a chunk: from the message, from a range of the source, or from the round before.

use longshore_domain::cursor::Cursor;
use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Files, Read};
use longshore_domain::records::records;
use longshore_domain::work_file::{End, WorkFile};
use serde_json::Value;

use super::chain::filed_in;
use super::{ChunkError, KnownJob, read_chain};
use crate::handler::{RawItem, Shape};
use crate::ports::JobFolder;

/// One item that is still to do: its number, how often it was tried, and where its bytes lie.
struct Todo {
    number: u64,
    attempts: u32,
    start: usize,
    end: usize,
    unterminated: bool,
}

/// All items of a round, in the order in which the cursor's position counts them.
pub(super) struct Items {
    bytes: Vec<u8>,
    todo: Vec<Todo>,
    /// The one item is longer than an item may be; its bytes are not here.
    pub(super) oversize: bool,
}

/// The items, or why the whole job must stop.
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

    /// Its bytes are not all of it, or its end is not known.
    pub(super) fn is_damaged(&self, i: usize) -> bool {
        self.oversize || self.todo[i].unterminated
    }

    pub(super) fn raw(&self, i: usize) -> &[u8] {
        &self.bytes[self.todo[i].start..self.todo[i].end]
    }

    /// An item as a handler's reader wants it.
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

    fn single(number: u64, bytes: Vec<u8>, oversize: bool) -> Self {
        let todo = vec![Todo { number, attempts: 0, start: 0, end: bytes.len(), unterminated: false }];
        Self { bytes, todo, oversize }
    }

    /// The records of a chunk.
    fn of_chunk(message: &ChunkMessage, source: &SourceFile, bytes: Vec<u8>) -> Result<Self, ChunkError> {
        let spans = records(source.format, &bytes).zip(message.plan.first..);
        let todo: Vec<_> = spans
            .map(|(span, number)| Todo {
                number,
                attempts: 0,
                start: span.start as usize,
                end: span.content_end as usize,
                unterminated: span.unterminated,
            })
            .collect();
        if todo.len() != message.plan.items as usize {
            return Err(ChunkError::Plan { found: todo.len(), planned: message.plan.items });
        }
        Ok(Self { bytes, todo, oversize: false })
    }

    /// The items that the round before has filed, by number.
    fn of_round(chain: &[WorkFile], before: u32) -> Self {
        let (mut bytes, mut todo) = (Vec::new(), Vec::new());
        for entry in filed_in(chain, before) {
            let attempts = if let End::Transient { attempts, .. } = entry.end { attempts } else { 0 };
            let start = bytes.len();
            bytes.extend_from_slice(entry.raw.as_bytes());
            todo.push(Todo { number: entry.n, attempts, start, end: bytes.len(), unterminated: false });
        }
        Self { bytes, todo, oversize: false }
    }
}

/// Finds the items of the round that the cursor is in.
pub(super) async fn find(
    files: &impl Files,
    message: &ChunkMessage,
    cursor: Option<&Cursor>,
    source: Option<&SourceFile>,
    options: &Value,
) -> Result<Found, ChunkError> {
    if let Some(cursor) = cursor.filter(|c| c.round > 0) {
        let place = (message.group, message.chunk);
        let folder = JobFolder { tenant: &message.tenant, id: message.job_id };
        let chain = read_chain(files, folder, place, cursor.file.as_deref(), cursor.round - 1).await?;
        return Ok(Found::Items(Items::of_round(&chain, cursor.round - 1)));
    }
    let plan = &message.plan;
    let Some(source) = source else {
        return Ok(Found::Items(Items::single(plan.first, options.to_string().into_bytes(), false)));
    };
    if plan.oversize {
        return Ok(Found::Items(Items::single(plan.first, Vec::new(), true)));
    }
    if let Some(inline) = &message.inline {
        return Items::of_chunk(message, source, inline.clone().into_bytes()).map(Found::Items);
    }
    match files.read(&source.key, Some(&source.etag), Some(plan)).await? {
        Read::Found(bytes) => Items::of_chunk(message, source, bytes).map(Found::Items),
        Read::Absent => Ok(Found::SourceGone(source_missing(source))),
        Read::Changed => Ok(Found::SourceGone(source_changed(source))),
    }
}

/// The file is gone from the bucket.
pub fn source_missing(source: &SourceFile) -> JobError {
    JobError::new("source_missing", format!("the file {:?} is not there any more; upload it again", source.name))
}

/// The file is another than it was when the job was created.
pub fn source_changed(source: &SourceFile) -> JobError {
    let message = format!("the file {:?} was replaced while the job ran; upload it again as a new file", source.name);
    JobError::new("source_changed", message)
}
