//! Storage of jobs: the DynamoDB adapter, the in-memory fake, and imported records.
//!
//! Both stores pass one conformance suite (`tests/conformance`). Beside the domain's transitions they share
//! [`replay`]: it recognises a store's own earlier write when the reply was lost.

pub mod dynamo;
pub mod records;
pub mod replay;
