//! The keys of a dataset in order, as the items of a walk. The place is the last key up to which everything was read.

use std::collections::VecDeque;

use longshore::handler::AnyRecordReader;
use longshore_domain::dataset::Dataset;
use longshore_domain::group::CHUNKS_PER_GROUP;
use longshore_domain::job::{DatasetSource, Job, JobError};
use longshore_domain::ports::{Files, KeyWalk, Queues, Store};
use longshore_domain::split::{ChunkLimits, Growth};

use crate::item_file_builder::WalkedItem;
use crate::outcome::{Halt, SplitEnd, SplitError};
use crate::splitter::{Splitter, Turn};
use crate::walk::{ItemSource, Walk};

/// The keys of a dataset, from the job's place on.
pub(crate) struct DatasetKeys<'a> {
    reader: &'a dyn AnyRecordReader,
    dataset: Dataset,
    /// Keys that were read and not returned.
    keys: VecDeque<String>,
    /// Last key that was returned, or the job's place.
    passed: Option<String>,
    /// Where the next read begins.
    next: KeyWalk,
}

impl<'a> DatasetKeys<'a> {
    pub(crate) fn new(reader: &'a dyn AnyRecordReader, job: &Job, source: &DatasetSource) -> Result<Self, Halt> {
        let dataset = job.dataset().ok_or_else(|| SplitError::Definition(job.job_id.to_string()))?;
        let passed = job.split.place.clone();
        let next = KeyWalk { after: passed.clone(), updated_since: source.updated_since };
        Ok(Self { reader, dataset, keys: VecDeque::new(), passed, next })
    }
}

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Plans the keys of a dataset as the items of the job, from its place on.
    pub(crate) async fn walk_dataset(
        &self,
        job: &Job,
        source: &DatasetSource,
        limits: ChunkLimits,
        turn: Turn,
    ) -> Result<SplitEnd, Halt> {
        let reader = self.registry.records().ok_or_else(|| SplitError::Definition(job.job_id.to_string()))?;
        let keys = DatasetKeys::new(reader, job, source)?;
        Walk::new(self, job, keys, limits, turn).run(&[]).await
    }
}

impl ItemSource for DatasetKeys<'_> {
    const CHUNKS: usize = CHUNKS_PER_GROUP;

    async fn read(&mut self) -> Result<bool, Halt> {
        let page = self.reader.walk_keys(&self.dataset, &self.next).await?;
        self.keys.extend(page.keys);
        let has_more = page.next.is_some();
        self.next.after = page.next.or(self.next.after.take());
        Ok(has_more)
    }

    fn next(&mut self) -> Option<WalkedItem> {
        let key = self.keys.pop_front()?;
        let line = serde_json::Value::from(key.as_str()).to_string();
        self.passed = Some(key);
        Some(WalkedItem::Record(line.into_bytes()))
    }

    fn place(&self) -> Option<String> {
        // After the last key, no record up to the place of the read is new enough.
        if self.keys.is_empty() { self.passed.clone().max(self.next.after.clone()) } else { self.passed.clone() }
    }

    fn chunk_bytes(_: ChunkLimits, _: Growth) -> u64 {
        u64::MAX
    }

    fn too_large(&self) -> JobError {
        let name = &self.dataset.name;
        let message = format!("the dataset {name:?} has more keys than one job can hold; use updatedSince");
        JobError::new("dataset_too_large", message)
    }
}
