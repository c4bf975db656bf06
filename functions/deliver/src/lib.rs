//! Calls the endpoints of tenants: with events, and with checks.
//!
//! - **Trigger:** the queue of messages about webhooks, from the functions that move events, from the API, from itself for
//!   a next attempt within 15 minutes, and from the sweeper for later ones and for lost messages.
//! - **Reads and writes:** deliveries and endpoints. No job, no file, no record.
//! - **Calls:** the endpoint's URL, if its host has only public addresses. The call is signed with the endpoint's secret,
//!   follows no redirect, and takes 15 seconds at most.
//! - **Delivered twice:** see `longshore::webhooks`. An endpoint can get an event twice, under one id.
//! - **If it fails:** the message is delivered again. A delivery whose message is lost is found by the sweeper.
//! - **Never:** shows a tenant what an endpoint has answered, besides the status; sends an event to an endpoint that is disabled.
//!
//! The deliveries themselves are [`longshore::webhooks`].

mod endpoints;
mod function;

pub use endpoints::Endpoints;
pub use function::{Deliver, serve};
