//! The function, called by the contract, with a server of images on loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

mod contract;
mod faults;
mod guide;
mod images;
mod server;
mod times;
mod world;
