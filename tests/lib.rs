//! Test support: an emulator of AWS, the tables, queues and bucket on it, and faults.

pub mod harness;
