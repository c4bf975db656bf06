//! End-to-end tests: the real template and the real binaries on the emulator, used over HTTP as a browser does.
//!
//! All stories of a process share two stacks, each started by the first story that uses it: [`stack`] with a fault
//! proxy, and [`impatient`] with a short stall time. Both enforce IAM policies. Run the stories with
//! `cargo test -p longshore-tests --test flows -- --test-threads 8`, because they mostly wait. A runner with one
//! process per test works, too, and starts a stack for each test.
//!
//! With `LONGSHORE_ENDPOINT`, the stories use a running emulator, and those that need their own one are skipped.

mod access;
mod api_document;
mod at_least_once;
mod audits;
mod bad_files;
mod bad_input;
mod cancels;
mod command_line;
mod conventions;
mod corrected_workbooks;
mod corrections;
mod costs;
mod datasets;
mod dead_letters;
mod events;
mod exports;
mod files;
mod handlers;
mod https_server;
mod images;
mod imports;
mod items;
mod large_uploads;
mod later;
mod limits;
mod malformed;
mod metrics;
mod operations;
mod operators;
mod parts;
mod read_back;
mod readings;
mod results;
mod retries;
mod routes;
mod shared;
mod tenants;
mod undos;
mod webhook_receivers;
mod webhooks;
