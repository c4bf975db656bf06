//! `delete-dataset`: deletes the records of a dataset.
//!
//! Each record is deleted as a later writer would overwrite it: the job and the number of the item are the writer, and a
//! record that a job created later has written stays. So a worker that comes late deletes no record that was imported
//! after the deletion, and a second delivery finds the record gone.

use std::sync::Arc;

use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::writer::{Rule, Writer, Written};
use serde::Deserialize;
use serde_json::Map;

use crate::handler::{Input, ItemKey, JobContext, JobType, Outcome, Record, Rejection, TypeLimits};

/// Name of the job type.
pub const NAME: &str = "delete-dataset";

/// Deletes the records of a dataset.
#[derive(Debug)]
pub struct DeleteDataset<R> {
    records: Arc<R>,
}

impl<R> DeleteDataset<R> {
    /// Creates the job type, which deletes from this store.
    pub fn new(records: Arc<R>) -> Self {
        Self { records }
    }
}

/// The options of a deletion: none.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteOptions {}

/// Key of a record to delete.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize)]
pub struct RecordKey(String);

impl<R: RecordStore> JobType for DeleteDataset<R> {
    const NAME: &'static str = NAME;
    const INPUT: Input = Input::Dataset;
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 10_000, batch_items: 1_000, ..TypeLimits::DEFAULT };
    const REMOVED_IS_DONE: bool = true;
    type Options = DeleteOptions;
    type Item = RecordKey;
    type Output = ();

    fn read(&self, _: &DeleteOptions, record: &Record<'_>) -> Result<RecordKey, Rejection> {
        match record {
            Record::Stored(stored) => Ok(RecordKey(stored.key.clone())),
            Record::Row { .. } | Record::Line(_) | Record::Options(_) => {
                Err(Rejection::new("no_dataset", None, "a deletion requires a dataset"))
            }
        }
    }

    async fn process(&self, job: &JobContext, options: &DeleteOptions, key: ItemKey, item: RecordKey) -> Outcome {
        let mut outcomes = self.process_batch(job, options, vec![(key, item)]).await;
        // A single item is always tried.
        outcomes.pop().unwrap_or_else(|| Outcome::Retry { after: None, reason: String::from("not processed") })
    }

    async fn process_batch(
        &self,
        job: &JobContext,
        _: &DeleteOptions,
        items: Vec<(ItemKey, RecordKey)>,
    ) -> Vec<Outcome> {
        let Some(dataset) = &job.dataset else {
            return vec![Outcome::Fatal(Rejection::new("no_dataset", None, "a deletion requires a dataset"))];
        };
        let records = items.into_iter().map(|(item, RecordKey(key))| NewRecord {
            key,
            data: Map::new(),
            writer: Writer { job: item.job_id, row: item.number },
        });
        let written = self.records.put(dataset, Rule::Delete, records.collect()).await;
        written.into_iter().map_while(outcome).collect()
    }
}

/// Returns the outcome of a deletion, or `None` if it was not tried.
fn outcome(written: Written) -> Option<Outcome> {
    Some(match written {
        Written::Stored | Written::Missing => Outcome::Ok(()),
        Written::Superseded(holder) => {
            let reason = format!("job {}, created later, has written this record since", holder.job);
            Outcome::Skip { reason }
        }
        Written::Taken(_) => Outcome::Skip { reason: String::from("another writer has this record") },
        Written::Refused(reason) => Outcome::reject("record_refused", None, format!("the record stays: {reason}")),
        Written::Changed => Outcome::Retry { after: None, reason: String::from("the record has changed") },
        Written::Unknown(reason) => Outcome::Retry { after: None, reason },
        Written::Throttled(reason) => Outcome::Busy { reason },
        Written::Untried => return None,
    })
}
