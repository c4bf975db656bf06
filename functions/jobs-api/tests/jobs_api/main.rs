//! The HTTP API of jobs through its router, over in-memory services.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

mod admission;
mod audit;
mod callbacks;
mod cancel;
mod changed_schedules;
mod corrected;
mod costs;
mod create;
mod datasets;
mod delete;
mod documents;
mod events;
mod exports;
mod failures;
mod fixtures;
mod items;
mod job_type_changes;
mod job_type_races;
mod job_type_requests;
mod job_types;
mod jobs_of_registered_types;
mod limits;
mod list;
mod metadata;
mod parts;
mod pauses;
mod read;
mod reply;
mod requests;
mod retry;
mod scheduled;
mod schedules;
mod start;
mod tenants;
mod throttling;
mod traces;
mod undo;
mod unsent;
mod webhooks;
mod world;
