//! Job types: the only trait that a team implements.
//!
//! A handler decides the outcome of an item. Queues, chunks, retries and counts are handled for it. It can be called
//! twice for the same item, because a worker can die after the work and before the commit. Therefore, it gets an
//! idempotency key for each item, and must make its effects idempotent under that key.

mod any_job_type;
mod datasets;
mod header;
mod job_type;
mod limits;
mod options;
mod prepared;
mod processed;
mod raw_item;
mod record;
mod registry;

pub use longshore_domain::ids::ItemKey;
pub use longshore_domain::outcome::{Outcome, Rejection};
pub use longshore_domain::results::ResultRow;
pub use longshore_tabular::{CellReader, Cells};

pub use crate::first_rows::FirstCell;
pub use any_job_type::{AnyJobType, PreparedJob};
pub use datasets::AnyRecordReader;
pub use header::{CheckedHeader, DetectedMembers, Header};
pub use job_type::{JobContext, JobType};
pub use limits::{Input, ItemShape, TypeLimits};
pub(crate) use prepared::unterminated;
pub use processed::{MAX_OUTPUT_BYTES, Outputs, Processed};
pub use raw_item::{RawItem, Shape};
pub use record::Record;
pub(crate) use record::{cell_error, first_cell_error, malformed_json};
pub use registry::{FoundType, Registry};
