//! The tally of an attempt: what its items have come to since the last commit.

use std::borrow::Cow;
use std::mem;
use std::time::Duration;

use longshore_domain::cursor::Cursor;
use longshore_domain::next_tries::NextTries;
use longshore_domain::outcome::{Counts, Outcome, Rejection};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{End, Entry};

use super::items::Items;
use super::reasons::{self, HandlerKind};
use crate::handler::Processed;

/// Bytes of rows in memory above which a commit is due.
const LARGE_BYTES: usize = 2 << 20;
/// Bytes of outputs in memory above which a commit is due. S3 copies an object of 5 MiB into the results file without a
/// read.
const LARGE_OUTPUTS_BYTES: usize = 8 << 20;
/// Approximate size of an entry without its row.
const ENTRY_BYTES: usize = 100;

/// The tally of one attempt.
pub(super) struct Tally {
    /// Number of the round's items that are processed.
    pub(super) position: usize,
    /// Items that the round has deferred to the next one, including those of earlier attempts.
    pub(super) deferred: u32,
    /// Times of the next tries of the deferred items.
    pub(super) next_tries: NextTries,
    /// Earliest next try of an item without capacity, if known.
    pub(super) busy_until: Option<Timestamp>,
    item_retries: u32,
    handler: HandlerKind,
    counts: Counts,
    entries: Vec<Entry>,
    bytes: usize,
    /// One line for each item that succeeded, if the job type has an output.
    outputs: Lines,
}

/// Lines of the results.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) bytes: Vec<u8>,
    pub(super) rows: u64,
}

impl Tally {
    /// Creates the tally after this cursor's commit.
    pub(super) fn at(cursor: Option<&Cursor>, handler: HandlerKind, item_retries: u32, next_tries: NextTries) -> Self {
        Self {
            position: cursor.map_or(0, |c| c.position as usize),
            deferred: cursor.map_or(0, |c| c.deferred),
            next_tries,
            busy_until: None,
            item_retries,
            handler,
            counts: Counts::default(),
            entries: Vec::new(),
            bytes: 0,
            outputs: Lines::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts == Counts::default() && self.entries.is_empty()
    }

    pub(super) fn is_large(&self) -> bool {
        self.bytes >= LARGE_BYTES || self.outputs.bytes.len() >= LARGE_OUTPUTS_BYTES
    }

    pub(super) fn take_counts(&mut self) -> Counts {
        mem::take(&mut self.counts)
    }

    /// Takes the entries; `None` if there are none.
    pub(super) fn take_entries(&mut self) -> Option<Vec<Entry>> {
        self.bytes = 0;
        Some(mem::take(&mut self.entries)).filter(|entries| !entries.is_empty())
    }

    /// Takes the outputs; `None` if there are none.
    pub(super) fn take_outputs(&mut self) -> Option<Lines> {
        Some(mem::take(&mut self.outputs)).filter(|outputs| outputs.rows > 0)
    }

    /// Defers the next items again that are not due yet, without an attempt, up to the first one that is due.
    pub(super) fn defer_waiting(&mut self, items: &Items) {
        while self.position < items.len() {
            let Some(wait) = items.waiting(self.position) else { return };
            let due = self.next_tries.not_before(wait.due);
            let attempts = items.attempts(self.position);
            let end = End::Transient { attempts, reason: wait.reason.clone(), due: Some(due) };
            self.record(items, self.position, end);
            self.position += 1;
        }
    }

    /// Counts the outcomes of the next items that are due, keeps the outputs of those that succeeded, and records an
    /// entry for each of the others. Returns the rejection of a fatal outcome.
    pub(super) fn take(&mut self, items: &Items, processed: Processed, now: Timestamp) -> Option<Rejection> {
        self.outputs.bytes.extend_from_slice(&processed.lines);
        self.outputs.rows += processed.rows;
        for outcome in processed.outcomes {
            self.defer_waiting(items);
            let i = self.position;
            self.position += 1;
            let end = match outcome {
                Outcome::Ok(()) => {
                    self.counts.succeeded += 1;
                    continue;
                }
                Outcome::Skip { reason } => End::Skipped { reason },
                Outcome::Reject(rejection) => End::Failed(rejection),
                Outcome::Retry { after, reason } => self.transient(items.attempts(i) + 1, after, reason, now),
                Outcome::Busy { reason } => {
                    let due = match self.busy_until {
                        Some(until) => self.next_tries.not_before(until),
                        None => self.next_tries.after_attempts(1, now),
                    };
                    End::Transient { attempts: items.attempts(i), reason, due: Some(due) }
                }
                Outcome::Fatal(rejection) => {
                    self.record(items, i, End::Failed(rejection.clone()));
                    return Some(rejection);
                }
            };
            self.record(items, i, end);
        }
        self.defer_waiting(items);
        None
    }

    fn transient(&mut self, attempts: u32, after: Option<Duration>, reason: String, now: Timestamp) -> End {
        if attempts > self.item_retries {
            return End::Failed(reasons::retries_exhausted(self.handler, attempts, &reason));
        }
        let due = match after {
            Some(after) => self.next_tries.after_wait(i64::try_from(after.as_millis()).unwrap_or(i64::MAX), now),
            None => self.next_tries.after_attempts(attempts, now),
        };
        End::Transient { attempts, reason, due: Some(due) }
    }

    fn record(&mut self, items: &Items, i: usize, end: End) {
        match &end {
            End::Failed(_) => self.counts.failed += 1,
            End::Skipped { .. } => self.counts.skipped += 1,
            End::Transient { .. } => self.deferred += 1,
        }
        let raw = String::from_utf8_lossy(items.raw(i));
        let damaged = items.is_damaged(i) || matches!(raw, Cow::Owned(_));
        let raw = raw.into_owned();
        self.bytes += raw.len() + ENTRY_BYTES;
        self.entries.push(Entry { n: items.number(i), end, raw, damaged });
    }
}
