//! Calls of functions and endpoints over real connections, the root secret, and the pings of registrations.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step fails the test")]

mod endpoints;
mod functions;
mod messages;
mod pings;
mod root_secret;
mod stub;
#[path = "../../../../shared/outbound/tests/support/mod.rs"]
mod tls;
mod world;
