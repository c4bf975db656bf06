//! A local AWS for tests, and the faults that can be injected into it. The emulator and the calls of its services are
//! in the package `local-cloud`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`resources`] | a table, queues and a bucket, created directly in milliseconds |
//! | [`faults`] | a proxy in front of the emulator that loses replies, refuses, or throttles |
//! | [`aws_limits`] | a proxy in front of the emulator that enforces the limits of AWS |
//! | [`stack`], [`backdoor`] | the system, deployed from the template, and access to its resources |
//! | [`users`] | users of the stack's pool, signed in |
//! | [`client`], [`jobs`], [`parts`], [`watch`], [`report`] | a browser that checks every response |
//! | [`crafted`] | states that a crash leaves behind, created without a crash |

pub mod aws_limits;
pub mod backdoor;
pub mod client;
pub mod crafted;
pub mod faults;
pub mod jobs;
pub mod parts;
pub mod report;
pub mod resources;
pub mod stack;
mod stack_options;
pub mod staging;
pub mod users;
pub mod watch;
