//! The next batch of a remote handler: the first items without an outcome, as a request.

use longshore_domain::ids::ItemKey;
use longshore_domain::outcome::Outcome;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::remote::{
    Batch, BatchBuilder, ItemOutcome, Pushed, RequestBatch, RequestHead, RequestItem, RequestJob,
};
use longshore_domain::timestamp::Timestamp;

use super::attempt::Attempt;
use super::delivery::ChunkError;
use super::items::Items;
use super::reasons;
use super::remote_calls::{count, later};
use super::stored::StoredItems;
use crate::handler::{CellReader, RawItem, Shape};
use crate::remote::RemoteJob;

/// A batch, and the positions of its items.
pub(super) struct SentBatch {
    pub(super) id: String,
    pub(super) batch: Batch,
    pub(super) positions: Vec<usize>,
    pub(super) deadline: Timestamp,
}

/// An item before it is sent.
enum Raw<'a> {
    Item(RawItem<'a>),
    /// It has an outcome without a call.
    Ended(ItemOutcome),
    /// Its record has not been read yet.
    Unread,
}

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    /// Builds the next batch from the first items without an outcome. Items that cannot be read have one at once.
    /// Returns `None` if no item is left to send.
    pub(super) fn next_batch(
        &mut self,
        remote: &RemoteJob,
        items: &Items,
        stored: &StoredItems,
        most: u32,
    ) -> Result<Option<SentBatch>, ChunkError> {
        self.calls.count += 1;
        let (fitted, mut fits) = (self.calls.fits, None);
        let deadline = later((self.worker.clock)(), remote.timeout());
        let (job, message) = (self.job, self.message);
        let id = format!(
            "{}-{}-{}-{}-{}{}",
            job.job_id, job.generation, message.group, message.chunk, self.nonce, self.calls.count
        );
        let head = RequestHead {
            mode: remote.mode(),
            job: RequestJob {
                id: job.job_id,
                job_type: &job.job_type,
                tenant: &job.tenant,
                generation: job.generation + 1,
                options: remote.options(),
            },
            batch: RequestBatch { id: &id, deadline },
        };
        let unusable = |error: serde_json::Error| self.unusable(&format!("the request cannot be written: {error}"));
        let mut builder = BatchBuilder::new(&head, remote.batch_limits().at_most(most)).map_err(unusable)?;
        let (mut cells, mut positions, mut unreadable) = (CellReader::default(), Vec::new(), Vec::new());
        for i in self.tally.position..items.len() {
            if self.calls.answers.contains_key(&i) || items.waiting(i).is_some() {
                continue;
            }
            let value = match self.raw_item(items, stored, i) {
                Raw::Item(item) => remote.value(&item, &mut cells).map_err(Outcome::Reject),
                Raw::Ended(outcome) => Err(outcome),
                Raw::Unread => break,
            };
            let value = match value {
                Ok(value) => value,
                Err(outcome) => {
                    unreadable.push((i, outcome));
                    continue;
                }
            };
            let key = ItemKey { job_id: job.job_id, number: items.number(i) };
            let item = RequestItem { key, attempt: items.attempts(i) + 1, value };
            match builder.push(&item).map_err(unusable)? {
                Pushed::Added => positions.push(i),
                Pushed::Full => {
                    let items = count(positions.len());
                    fits = match items < most {
                        true => Some(items),
                        // The next items can be a little smaller than those before.
                        false => fitted.map(|_| items + (items / 8).max(1)),
                    };
                    break;
                }
            }
        }
        self.calls.fits = fits;
        self.calls.answers.extend(unreadable);
        Ok(builder.finish().map(|batch| SentBatch { id, batch, positions, deadline }))
    }

    /// Returns an item as the input of a handler.
    fn raw_item<'i>(&'i self, items: &'i Items, stored: &'i StoredItems, i: usize) -> Raw<'i> {
        if items.is_too_long(i) {
            return Raw::Ended(Outcome::Reject(reasons::row_too_long(self.definition.limits().item_bytes)));
        }
        if self.job.dataset().is_none() {
            return Raw::Item(items.item(i, self.job.record_format(), self.definition));
        }
        match stored.records(&(i..i + 1)) {
            [Some(record)] => Raw::Item(RawItem { number: items.number(i), shape: Shape::Stored(record) }),
            [None] => Raw::Ended(Outcome::Skip { reason: reasons::REMOVED.to_owned() }),
            _ => Raw::Unread,
        }
    }
}
