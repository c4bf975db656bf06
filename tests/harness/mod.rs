//! A local AWS for one test, and the faults that can be injected into it. The emulator itself, and the calls of its
//! services, are those of the package `local-cloud`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`resources`] | a table, queues and a bucket, created directly in milliseconds |
//! | [`faults`] | a proxy in front of the emulator that loses replies, refuses, or throttles |
//! | [`aws_limits`] | a proxy in front of the emulator that refuses what AWS refuses |
//! | [`stack`], [`backdoor`] | the whole system, deployed from the template, and access to its resources |
//! | [`users`] | users of the stack's pool, signed in |
//! | [`client`], [`jobs`], [`parts`], [`watch`], [`report`] | a browser that checks every response |
//! | [`crafted`] | states that a crash leaves behind, made without one |

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
pub mod staging;
pub mod users;
pub mod watch;
