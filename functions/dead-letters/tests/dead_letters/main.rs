//! Dead letters over HTTP, on fakes; and the alarms that the template has for them.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

mod alarms;
mod list;
mod replay;
mod resolve;
mod world;
