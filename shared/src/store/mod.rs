//! Storage of jobs: the DynamoDB adapter, the in-memory fake, and imported records.
//!
//! Both stores pass one conformance suite (`tests/conformance`). Beside the domain's transitions they share
//! [`own_write`]: it recognizes a store's own earlier write when the response was lost.

pub mod dynamo;
pub mod own_write;
pub mod records;
