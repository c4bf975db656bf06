//! What the tests have in common: an emulator of AWS, the tables, queues and bucket on it, and faults.

pub mod harness;
