//! The probe's job types, which differ in their limits and their input.

use longshore::handler::{Input, ItemKey, JobContext, JobType, Outcome, TypeLimits};
use longshore_domain::job::Tolerance;
use serde_json::Value;

use crate::row::Row;

/// Options of the job, as clients send them.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Options {
    max_failed: Option<u64>,
    max_failed_percent: Option<f64>,
}

/// Small chunks, few retries.
const LIMITS: TypeLimits = TypeLimits { chunk_items: 50, batch_items: 10, item_retries: 2, ..TypeLimits::DEFAULT };

/// A job type that processes a file of rows.
pub struct Probe;

impl JobType for Probe {
    const NAME: &'static str = "probe";
    const LIMITS: TypeLimits = LIMITS;
    type Options = Options;
    type Item = Row;

    fn tolerance(&self, options: &Options) -> Tolerance {
        Tolerance { max_failed: options.max_failed, max_failed_percent: options.max_failed_percent }
    }

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome {
        row.process(job, key).await
    }
}

/// [`Probe`] with chunks of the default size, for many rows.
pub struct Bulk;

impl JobType for Bulk {
    const NAME: &'static str = "probe-bulk";
    type Options = Options;
    type Item = Row;

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome {
        row.process(job, key).await
    }
}

/// [`Probe`] with small chunks and a concurrency limit of two. Each row records the start and the end of its
/// processing.
pub struct Limited;

impl JobType for Limited {
    const NAME: &'static str = "probe-limited";
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 5, chunks_at_once: Some(2), ..LIMITS };
    type Options = Options;
    type Item = Row;

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome {
        row.process_recorded(job, key).await
    }
}

/// [`Probe`] with a time limit of four seconds.
pub struct Brief;

impl JobType for Brief {
    const NAME: &'static str = "probe-brief";
    const LIMITS: TypeLimits = TypeLimits { job_time_limit_s: Some(4), ..LIMITS };
    type Options = Options;
    type Item = Row;

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome {
        row.process(job, key).await
    }
}

/// A job type without a file: the options are its one row.
pub struct Once;

impl JobType for Once {
    const NAME: &'static str = "probe-once";
    const INPUT: Input = Input::Options;
    const LIMITS: TypeLimits = LIMITS;
    type Options = Value;
    type Item = Row;

    async fn process(&self, job: &JobContext, _: &Value, key: ItemKey, row: Row) -> Outcome {
        row.process(job, key).await
    }
}
