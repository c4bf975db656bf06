//! The records table. It also has an item for each dataset, from which datasets are listed.
//!
//! Attributes of a record: `PK` (dataset and shard), `SK` (key), `data`, `writer`, `updatedAt`, `createdBy`; `previous`
//! once an import has overwritten it, `restoredBy` once an undo has restored it, and `expiresAt` if another program sets
//! it.
//!
//! A write under a rule is an `INSERT`; if the key exists, an `UPDATE` with the rule as its condition. A write that
//! replaces a version (`versions`) is one statement, on condition that the record still is the version that was read.
//! All are sent in batches of PartiQL, because `BatchWriteItem` has no conditions
//! (docs/decisions/0004-records-partiql.md).

mod batch;
mod datasets;
mod list;
mod reader;
mod reads;
mod sql;
mod statement;
mod store;
mod table;
mod version_reads;
mod versions;
mod write_rate;

pub use datasets::list_key;
pub use table::DynamoRecords;
