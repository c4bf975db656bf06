//! Everything that is stored about jobs: the DynamoDB adapter, the in-memory fake, and imported records.
//!
//! Both stores pass one conformance suite (`tests/conformance`). [`replay`] is what they share beyond the domain's
//! transitions: how a store knows its own write again when the reply was lost.

pub mod dynamo;
pub mod memory;
pub mod records;
pub mod replay;
