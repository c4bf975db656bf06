//! One suite for every implementation of a port: the in-memory adapters have the same behavior as DynamoDB, SQS and
//! S3.
//!
//! Each test of a store runs on the in-memory store and on DynamoDB in an emulator. `interleavings` compares the two
//! on random sequences of operations, and `repeated_calls` shows that nothing counts twice when a reply is lost.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

#[macro_use]
mod on_both;

mod concurrency;
mod costs;
mod dead_letters;
mod events;
mod files;
mod fixtures;
mod interleavings;
mod job_lists;
mod job_types;
mod ledger;
mod limits;
mod operator_log;
mod pauses;
mod preparations;
mod presets;
mod queues;
mod record_deletes;
mod record_fixtures;
mod record_reads;
mod record_versions;
mod records;
mod repeated_calls;
mod retries;
mod schedules;
mod stored_jobs;
mod sweeps;
mod tenant_bytes;
mod tenant_limits;
mod transitions;
mod undos;
mod webhooks;
