//! Passes the next items of an attempt to the handler.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use longshore_domain::job::Source;
use longshore_domain::ports::{Files, Queues, Store};

use super::attempt::Attempt;
use super::delivery::{ChunkError, Mode};
use super::items::Items;
use super::reasons;
use super::stored::StoredItems;
use crate::handler::{AnyRecordReader, JobContext, Outputs, PreparedJob, Processed, RawItem};

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    /// Returns the outcomes of the next items, or `None` if the handler panicked with several items. The caller then
    /// passes them one by one, so that only the item that panics fails.
    pub(super) async fn outcomes(
        &self,
        items: &Items,
        stored: &StoredItems,
        batch: usize,
    ) -> Result<Option<Processed>, ChunkError> {
        let count = batch.min(items.len() - self.tally.position);
        if self.mode == Mode::GiveUp {
            return Ok(Some(Processed::rejected(vec![reasons::dead_lettered(); count])));
        }
        let prepared = self.definition.prepared.as_ref();
        let prepared = prepared.ok_or_else(|| self.unusable("its definition was read without a handler"))?;
        let start = self.tally.position;
        if items.is_too_long(start) {
            let outcome = prepared.unreadable(reasons::row_too_long(self.definition.limits().item_bytes));
            return Ok(Some(Processed { outcomes: vec![outcome], ..Processed::default() }));
        }
        let is_next = |i: &usize| !items.is_too_long(*i) && items.waiting(*i).is_none();
        let count = (start..start + count).take_while(is_next).count();
        let Some(Source::Dataset(_)) = &self.job.source else {
            let format = self.job.record_format();
            let raw: Vec<_> = (start..start + count).map(|i| items.item(i, format, self.definition)).collect();
            return self.run_handler(prepared.as_ref(), &raw).await;
        };
        let records = stored.records(&(start..start + count));
        let raw = StoredItems::items(items, start, records);
        let processed =
            if raw.is_empty() { Some(Processed::default()) } else { self.run_handler(prepared.as_ref(), &raw).await? };
        let has_record: Vec<_> = records.iter().map(Option::is_some).collect();
        Ok(processed.map(|processed| processed.with_removed(&has_record, &prepared.removed())))
    }

    /// Passes items to the handler, at least one. Returns `None` if it panicked with several items.
    async fn run_handler(
        &self,
        prepared: &dyn PreparedJob,
        raw: &[RawItem<'_>],
    ) -> Result<Option<Processed>, ChunkError> {
        let count = raw.len();
        let context = JobContext {
            job_id: self.message.job_id,
            tenant: self.job.tenant.clone(),
            dataset: self.job.dataset(),
            round: self.round(),
        };
        // A job without a form for its results was created by a version whose handler had no output.
        let outputs = if self.definition.stored.results.is_some() { Outputs::Kept } else { Outputs::Dropped };
        match AssertUnwindSafe(prepared.run(&context, raw, outputs)).catch_unwind().await {
            Ok(Processed { outcomes, .. }) if outcomes.is_empty() || outcomes.len() > count => {
                Err(ChunkError::Handler { outcomes: outcomes.len(), items: count })
            }
            Ok(processed) => Ok(Some(processed)),
            Err(_) if count > 1 => Ok(None),
            Err(_) => Ok(Some(Processed::rejected(vec![reasons::handler_panicked()]))),
        }
    }

    /// Returns the records that a job over a dataset reads.
    pub(super) fn reader(&self) -> Result<&'a dyn AnyRecordReader, ChunkError> {
        self.worker.registry.records().ok_or_else(|| self.unusable("this function reads no datasets"))
    }

    pub(super) fn unusable(&self, reason: &str) -> ChunkError {
        ChunkError::Definition { job_type: self.job.job_type.clone(), reason: reason.to_owned() }
    }
}
