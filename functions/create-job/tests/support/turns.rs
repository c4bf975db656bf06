//! A split of many short turns: a clock that advances with each read, and a job type with small chunks.

use std::cell::Cell;

use longshore::handler::{ItemKey, JobContext, JobType, Outcome, TypeLimits};
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(0) });

/// A clock that advances by a second with each read: a turn is a few groups.
pub(crate) fn clock() -> Timestamp {
    Timestamp(CLOCK.replace(CLOCK.get() + 1_000))
}

/// A job type with chunks of ten items.
pub(crate) struct Each;

impl JobType for Each {
    const NAME: &'static str = "each";
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 10, ..TypeLimits::DEFAULT };
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        Outcome::Ok(())
    }
}
