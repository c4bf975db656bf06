//! The production undo, in chunks of few rows.

use std::sync::Arc;

use longshore::field_error::FieldError;
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Record, Rejection, TypeLimits};
use longshore::job_types::undo::{NAME, Undo, UndoOptions, UndoRow};
use longshore_testing::{MemoryFiles, MemoryRecords};

use crate::imports::{Records, Stored};
use crate::pauses;
use crate::stepwise::Stepwise;
use crate::unguarded::Unguarded;

/// The production undo, in chunks of few rows.
pub(crate) struct SmallUndo(Undo<Records, Stored>);

impl SmallUndo {
    pub(crate) fn of(records: &MemoryRecords, files: &MemoryFiles) -> Self {
        Self(Undo::new(Arc::new(Stepwise(Unguarded(records.clone()))), Stepwise(Unguarded(files.clone()))))
    }
}

impl JobType for SmallUndo {
    const NAME: &'static str = NAME;
    const INTERNAL: bool = true;
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 5, batch_items: 3, item_retries: 2, ..TypeLimits::DEFAULT };
    type Options = UndoOptions;
    type Item = UndoRow;
    type Output = ();

    fn check(&self, options: &UndoOptions) -> Vec<FieldError> {
        self.0.check(options)
    }

    fn read(&self, options: &UndoOptions, record: &Record<'_>) -> Result<UndoRow, Rejection> {
        self.0.read(options, record)
    }

    async fn process(&self, job: &JobContext, options: &UndoOptions, key: ItemKey, item: UndoRow) -> Outcome {
        self.0.process(job, options, key, item).await
    }

    async fn process_batch(
        &self,
        job: &JobContext,
        options: &UndoOptions,
        items: Vec<(ItemKey, UndoRow)>,
    ) -> Vec<Outcome> {
        pauses::batch(Self::NAME, &job.tenant, self.0.process_batch(job, options, items)).await
    }
}
