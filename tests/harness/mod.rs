//! A local AWS for one test, and the faults that can be injected into it.
//!
//! | module | contents |
//! | --- | --- |
//! | [`emulator`] | an emulator on a free port, killed when it is dropped |
//! | [`resources`] | a table, queues and a bucket, created directly in milliseconds |
//! | [`faults`], [`scoped_faults`] | a proxy in front of the emulator that loses replies, refuses, or throttles |
//! | [`aws_limits`] | a proxy in front of the emulator that refuses what AWS refuses |
//! | [`stack`], [`backdoor`] | the whole system, deployed from the template, and access to its resources |
//! | [`users`] | users of the stack's pool, signed in |
//! | [`client`], [`jobs`], [`parts`], [`watch`], [`report`] | a browser that checks every response |
//! | [`crafted`] | states that a crash leaves behind, made without one |
//! | [`schedule`] | the sweeper's own schedule, started and stopped |

pub mod aws_limits;
pub mod backdoor;
pub mod children;
pub mod client;
pub mod cloud;
pub mod crafted;
pub mod emulator;
pub mod faults;
pub mod guard;
pub mod jobs;
pub mod leftovers;
pub mod parts;
pub mod process;
pub mod report;
pub mod resources;
pub mod schedule;
pub mod scoped_faults;
pub mod stack;
pub mod staging;
pub mod users;
pub mod watch;
