//! Job types: the one trait that a team implements. Longshore does everything else.
//!
//! A handler decides the outcome of an item; it never sees queues, chunks, retries or counts. It may be
//! called twice for the same item, because a worker can die after the work and before the commit. So it gets
//! an idempotency key per item and makes its effects idempotent under that key.

mod cells;
mod job_type;
mod limits;
mod options;
mod record;
mod registry;

pub use longshore_domain::outcome::{Outcome, Rejection};

pub use cells::{CellReader, Cells};
pub use job_type::{ItemKey, JobContext, JobType};
pub use limits::{Input, TypeLimits};
pub use record::Record;
pub use registry::{AnyJobType, PreparedJob, RawItem, Registry, Shape};
